"""Claude Code, headless, unmodified, against the scripted model.

It runs under a uid that is not root, so nothing has to tell it that it is in a sandbox. Its
permission checks are off, as they are for everybody who runs it unattended: what is tested
is what it does then.
"""

from __future__ import annotations

from harness.case.grammar import DURATION, duration
from harness.case.model import Case, SubjectRef
from harness.extension import Schema
from harness.subjects import installed, tree
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.installed import Package
from harness.subjects.output import events
from sandboxes.base import Mount

_PACKAGE = Package(
    "@anthropic-ai/claude-code",
    # The second is built for musl and would not start where the first is there as well.
    ("@anthropic-ai/claude-code-linux-*[!l]/claude", "@anthropic-ai/claude-code-linux-*/claude"),
)
_INSIDE = "/opt/claude-code/claude"

# What it leaves in a home, seen in all our recordings. Not `.claude/**`: its settings, hooks,
# commands and skills steer its next run, and a script that changes them does damage.
_FOLDERS = ("backups", "plugins", "projects", "session-env", "sessions", "shell-snapshots", "tasks")
_OWN = (
    ".claude",
    *(glob for name in _FOLDERS for glob in (f".claude/{name}", f".claude/{name}/**")),
    ".claude/.last-cleanup",
    ".claude.json",
    ".claude.json.*",
)

_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "retries": {
            "type": "integer",
            "minimum": 0,
            "default": 1,
            "description": "how often it repeats a failed request (its own default: 10)",
        },
        "timeout": {
            **DURATION,
            "default": "3s",
            "description": "how long it waits for an answer to begin (its own default: 10m)",
        },
        "output": {
            "enum": ["json", "stream-json"],
            "default": "json",
            "description": "what it prints: the result alone, or every event",
        },
        "model": {"type": "string", "description": "name of the model that it asks for"},
    },
}


class ClaudeCode:
    """The adapter of Claude Code."""

    name = "claude-code"
    summary = "Anthropic's Claude Code, headless, with its permission checks off."
    schema = _SCHEMA
    dialect = Dialect(
        offers_tools=True, tools={"run": ("Bash",), "write": ("Write",), "read": ("Read",)}
    )

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:  # noqa: ARG002
        """Its package's version, and the digest of its program."""
        found = installed.find(_PACKAGE)
        if isinstance(found, Missing):
            return found
        return Identity(self.name, found.version, tree.digest(found.shown))

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """``claude -p TASK``, with retries and waits bounded and nothing asked of the world."""
        found = installed.find(_PACKAGE)
        if isinstance(found, Missing):
            raise FileNotFoundError(found.reason)
        params = ref.params
        output = str(params.get("output", "json"))
        argv = [found.inside(_INSIDE), "-p", "--output-format", output]
        argv += ["--permission-mode", "bypassPermissions"]
        argv += ["--verbose"] if output == "stream-json" else []
        argv += ["--model", str(params["model"])] if "model" in params else []
        argv += ["--", case.task]
        env = {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(params.get("retries", 1)),
            "API_TIMEOUT_MS": str(round(duration(params.get("timeout", "3s")) * 1000)),
        }
        return Launch(argv, env, mounts=[Mount(found.shown, _INSIDE)], own=_OWN)

    def final_text(self, stdout: bytes) -> str | None:
        """The ``result`` of the last event of that type, whatever else was printed."""
        text = None
        for event in events(stdout):
            if event.get("type") == "result" and isinstance(event.get("result"), str):
                text = event["result"]
        return text
