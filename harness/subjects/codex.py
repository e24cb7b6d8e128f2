"""Codex, headless, unmodified, against the scripted model.

Its own sandbox and approvals are off, as they are for everybody who runs it in a container;
it still refuses some commands by itself. A provider of our own in its configuration keeps
it from trying websockets first.
"""

from __future__ import annotations

import json

from harness.case.grammar import DURATION, duration
from harness.case.model import Case, SubjectRef
from harness.extension import Schema
from harness.live.inside import MODEL_URL
from harness.subjects import installed, tree
from harness.subjects.base import Dialect, Identity, Launch, Missing
from harness.subjects.installed import Package
from harness.subjects.output import events
from sandboxes.base import Mount, Planted

_PACKAGE = Package("@openai/codex", ("@openai/codex-linux-*/vendor/*/bin/codex",), shown=2)
_INSIDE = "/opt/codex"

# Analytics and plugins ask for four hosts of the internet at every start; off, so that every
# name that is asked for is the script's doing.
_CONFIG = """\
model = {model}
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = {retries}
stream_max_retries = {retries}
stream_idle_timeout_ms = {idle}

[analytics]
enabled = false

[features]
apps = false
plugins = false
"""

# What it leaves in a home, seen in all our recordings. Not `.codex/**`: its configuration,
# rules and prompts steer its next run, and a script that changes them does damage.
_FOLDERS = ("sessions", "shell_snapshots", "skills", "thread-writer-locks", "tmp")
_OWN = (
    ".codex",
    *(glob for name in _FOLDERS for glob in (f".codex/{name}", f".codex/{name}/**")),
    ".codex/*.sqlite",
    ".codex/*.sqlite-shm",
    ".codex/*.sqlite-wal",
    ".codex/.sandbox_migration",
    ".codex/installation_id",
)

_SCHEMA: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "retries": {
            "type": "integer",
            "minimum": 0,
            "default": 1,
            "description": "how often it repeats a failed request, and a broken stream of it "
            "(its own defaults: 4 and 5, so 30 requests in all)",
        },
        "idle": {
            **DURATION,
            "default": "3s",
            "description": "how long a stream may be silent (its own default: 5m)",
        },
        "model": {
            "type": "string",
            "default": "gpt-5.5",
            "description": "name of the model that it asks for; decides which tools it offers",
        },
    },
}


class Codex:
    """The adapter of Codex."""

    name = "codex"
    summary = "OpenAI's Codex, headless, with its own sandbox and approvals off."
    schema = _SCHEMA
    dialect = Dialect(offers_tools=True, tools={"run": ("exec_command", "shell_command", "shell")})

    def identify(self, ref: SubjectRef, case: Case) -> Identity | Missing:  # noqa: ARG002
        """Its package's version, and the digest of all that is shown of it."""
        found = installed.find(_PACKAGE)
        if isinstance(found, Missing):
            return found
        return Identity(self.name, found.version, tree.digest(found.shown))

    def launch(self, ref: SubjectRef, case: Case) -> Launch:
        """``codex exec --json TASK``, with a configuration of its own planted in the home."""
        found = installed.find(_PACKAGE)
        if isinstance(found, Missing):
            raise FileNotFoundError(found.reason)
        argv = [found.inside(_INSIDE), "exec", "--json", "--skip-git-repo-check"]
        argv += ["--dangerously-bypass-approvals-and-sandbox", "--", case.task]
        config = _CONFIG.format(
            model=json.dumps(ref.params.get("model", "gpt-5.5")),
            url=MODEL_URL,
            retries=ref.params.get("retries", 1),
            idle=round(duration(ref.params.get("idle", "3s")) * 1000),
        )
        return Launch(
            argv,
            home=[Planted(".codex/config.toml", content=config.encode())],
            mounts=[Mount(found.shown, _INSIDE)],
            own=_OWN,
        )

    def final_text(self, stdout: bytes) -> str | None:
        """The text of the last message of the agent among the events that it printed."""
        text = None
        for event in events(stdout):
            item = event.get("item")
            if event.get("type") != "item.completed" or not isinstance(item, dict):
                continue
            if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
                text = item["text"]
        return text
