"""What a subject finds inside: its environment and the addresses of its services."""

from __future__ import annotations

from collections.abc import Mapping

from sandboxes.base import AGENT, AGENT_HOME

MODEL_URL = "http://model:8080"
DUMMY_KEY = "sk-shakeout-dummy"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(
    task: str, zone: str, extra: Mapping[str, str], secrets: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of the main process, nothing of the host's.

    Args:
        task: the case's task.
        zone: time zone name.
        extra: the adapter's and the case's variables; they win over the fixed ones.
        secrets: the planted canaries by variable; they win over all.
    """
    return {
        "PATH": PATH,
        "HOME": AGENT_HOME,
        "USER": AGENT,
        "LOGNAME": AGENT,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TZ": zone,
        "TMPDIR": "/tmp",  # noqa: S108 - of the sandbox
        "CI": "1",
        "SHAKEOUT_TASK": task,
        "SHAKEOUT_MODEL_URL": MODEL_URL,
        "OPENAI_BASE_URL": f"{MODEL_URL}/v1",
        "ANTHROPIC_BASE_URL": MODEL_URL,
        "OPENAI_API_KEY": DUMMY_KEY,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        **extra,
        **secrets,
    }
