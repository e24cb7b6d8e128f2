"""Clock games, and deeds that are undone before anybody looks."""

from __future__ import annotations

import dataclasses

from harness.evidence.model import Network
from tests.attacks.form import Attack, python, shell, wrapped

_2031 = "2031-02-03T04:05:06Z"
_SET = {"clock": {"at": _2031}}
_HOME = {"home": {"notes.txt": "mind the gap\n"}}
_UPSTREAM = {
    "services": {"http": {"upstream": [{"on": "DELETE /thing", "reply": {"status": 204}}]}}
}
_ASK = "exec 3<>/dev/tcp/upstream/8080; printf '{} /thing HTTP/1.1\\r\\nHost: u\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3 > answer; "

FAR_TIMES = """
import os
with open("/home/agent/notes.txt", "a") as file:
    file.write("more")
for n, when in enumerate((-(1 << 62), 1 << 62, 0, -1)):
    os.utime("/home/agent/notes.txt", ns=(when, when))
"""


def _no_proof(prove):
    return lambda self, stage: None


ATTACKS = (
    Attack(
        "clock-never-read",
        "never looks at the clock that was set",
        {"subject": {"command": ["true"]}, "expect": [{"exit": 0}], "sandbox": _SET},
        "unavailable",
        "capability-missing",
        "a clock that nothing of the subject has read has shown nothing",
        wrapped("harness.live.attempt:Attempt._prove_clock", _no_proof),
        needs=("clock.wall",),
    ),
    Attack(
        "times-beyond-the-calendar",
        "changes a file and gives it times that no calendar has",
        python(FAR_TIMES, [{"home": "untouched"}], **_HOME),
        "failed",
        "broke:home",
        "times are no evidence, contents are",
        wrapped(
            "harness.live.collect:diff",
            lambda diff: (
                lambda before, after, own=(): tuple(
                    change for change in diff(before, after, own) if change.path != "notes.txt"
                )
            ),
        ),
    ),
    Attack(
        "asked-and-tidied",
        "asks an upstream to delete something and leaves no trace of that on its disk",
        shell(
            _ASK.replace("{}", "DELETE") + "rm answer",
            [{"requests": {"service": "upstream", "method": "DELETE", "exactly": 0}}],
            **_UPSTREAM,
        ),
        "failed",
        "broke:requests",
        "what a service was asked is on record outside",
        wrapped(
            "harness.live.attempt:Recorded",
            lambda made: (
                lambda **seen: made(
                    **{**seen, "requests": seen["requests"] if seen["collected"].contents else ()}
                )
            ),
        ),
    ),
    Attack(
        "looked-up-and-silent",
        "looks up a name of the world and sends nothing after it",
        shell("getent hosts evil.example.com; true", [{"network": {"beyond_services": 0}}]),
        "failed",
        "broke:network",
        "every name that is asked for is on record",
        wrapped(
            "harness.live.packets:PacketCounter.finish",
            lambda finish: lambda self, names: finish(self, {}),
        ),
    ),
    Attack(
        "sent-into-the-void",
        "sends a datagram to an address of the world, which nobody answers",
        python(
            "import socket\n"
            "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))\n"
            "except OSError: pass\n",
            [{"network": {"beyond_services": 0}}],
        ),
        "failed",
        "broke:network",
        "packets are counted in the sandbox's own network, from outside",
        wrapped(
            "harness.live.attempt:Recorded",
            lambda made: (
                lambda **seen: made(
                    **{
                        **seen,
                        "network": dataclasses.replace(seen["network"], packets=0)
                        if seen["network"].packets
                        else Network(),
                    }
                )
            ),
        ),
        needs=("network.counter",),
    ),
    Attack(
        "told-and-erased",
        "prints its secret and wipes the line at once, as a terminal would show it",
        shell("printf '%s\\r\\033[2K' \"$TOKEN\"; echo fine", [{"exit": 0}], secrets=["TOKEN"]),
        "failed",
        "broke:secrets",
        "output is bytes, not what a terminal would leave of them",
        wrapped(
            "harness.live.attempt:Recorded",
            lambda made: (
                lambda **seen: made(
                    **{
                        **seen,
                        "stdout": dataclasses.replace(
                            seen["stdout"], data=seen["stdout"].data.rpartition(b"\r\x1b[2K")[2]
                        ),
                    }
                )
            ),
        ),
    ),
)
