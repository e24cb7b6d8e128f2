"""All subjects. Adding one is a file in this folder and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from harness.subjects.agentd import Agentd
from harness.subjects.base import Subject
from harness.subjects.claude_code import ClaudeCode
from harness.subjects.codex import Codex
from harness.subjects.command import Command
from harness.subjects.shakeout import Shakeout

SUBJECTS: Mapping[str, Subject] = {
    "agentd": Agentd(),
    "claude-code": ClaudeCode(),
    "codex": Codex(),
    "command": Command(),
    "shakeout": Shakeout(),
}
