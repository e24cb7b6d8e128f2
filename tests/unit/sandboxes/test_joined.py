"""What is no container's own program is not joined."""

from __future__ import annotations

import os

import pytest

from sandboxes.helper import joined
from sandboxes.helper.ground import Failed


def test_a_process_that_is_another_program_is_named_and_refused(monkeypatch):
    monkeypatch.setattr(joined, "_START_SECONDS", 0.05)

    with pytest.raises(Failed, match=f"process {os.getpid()}, .* and not /bin/cat: .*gVisor"):
        joined._check_program(os.getpid(), "/bin/cat")


def test_the_containers_own_program_is_let_be():
    joined._check_program(os.getpid(), joined._program(os.getpid()))
