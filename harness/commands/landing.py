"""How a fault is known to have landed, layer by layer, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.faults.base import Layer

LANDS: Final[Mapping[Layer, str]] = {
    Layer.MODEL: "a request on record was answered that way",
    Layer.UPSTREAM: "a request or a handshake on record was answered that way",
    Layer.PROCESS: "the kernel says that it hit the subject: a wait status, a counter, a call "
    "that failed, or a process that was seen",
    Layer.FILESYSTEM: "a call of the subject met it, as the kernel tells, or has left no room",
    Layer.NETWORK: "a connection, a packet or a look-up of the subject met it, as those tell who "
    "serve and count them",
    Layer.CLOCK: "a program of the subject has read the clock, or the zone, that was set",
    Layer.STATE: "a call of the subject came to what was left there, as the kernel tells",
    Layer.IDENTITY: "the subject was seen to begin that way and, where it says so, to come "
    "against it",
    Layer.HUMAN: "the service on record had a question of the subject and treated it that way",
}
