"""Programs that try to live on unseen after the end."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.attacks.kinds.frozen import THREAD_ONLY

NONE_LEFT = "expect: [{processes: none-left}]\n"

NEVER_THE_SAME = """
#include <unistd.h>
int main(void)
{
    if (fork() == 0) {
        setsid();
        for (;;)
            if (fork() > 0)
                _exit(0);
    }
    usleep(50000);
    return 0;
}
"""

BOMB = """
import os
while True:
    try: os.fork()
    except OSError: pass
"""


def python(code: str) -> str:
    return f"title: t\nsubject: {{command: [python3, -c, {json.dumps(code)}]}}\n"


def test_a_process_of_which_only_a_second_thread_lives_is_seen(verdict_of):
    code, trial = verdict_of("thread-only", python(THREAD_ONLY) + NONE_LEFT)

    assert (code, trial["reasons"]) == (1, ["broke:processes"])
    assert "python3" in trial["message"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_process_that_replaces_itself_without_end_is_seen(verdict_of, tmp_path):
    (tmp_path / "m").mkdir()
    source = tmp_path / "churn.c"
    source.write_text(NEVER_THE_SAME)
    subprocess.run(["cc", "-O2", "-static", "-o", tmp_path / "m" / "churn", source], check=True)
    subject = "title: t\nsubject: {command: [/opt/m/churn]}\n"

    code, trial = verdict_of(
        "churn", f"{subject}workspace: {{mount: {{./m: /opt/m}}}}\n{NONE_LEFT}"
    )

    assert (code, trial["reasons"]) == (1, ["broke:processes"])


def test_a_fork_bomb_is_timed_out_in_time_and_looked_at(verdict_of):
    limits = "sandbox: {limits: {seconds: 2}}\nexpect: [{home: untouched}]\n"

    code, trial = verdict_of("bomb", python(BOMB) + limits)

    assert (code, trial["reasons"]) == (1, ["limit"])
