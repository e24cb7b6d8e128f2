"""A probe whose sandboxes fail says so of each capability, and goes on."""

from __future__ import annotations

from sandboxes import probing
from sandboxes.capabilities import CAPABILITIES
from sandboxes.checks import CHECKS
from sandboxes.errors import SandboxError


class Broken:
    """A sandbox in which nothing works."""

    packets = None

    @property
    def listeners(self):
        raise SandboxError("no listeners")

    def __getattr__(self, name):
        def refuse(*_, **__):
            if name != "destroy":
                raise SandboxError(f"no {name}")

        return refuse


class Site:
    def create(self, spec):
        if spec.nest:
            raise SandboxError("no second /proc")
        return Broken()


def test_a_sandbox_that_cannot_be_made_for_nesting_leaves_the_others_their_say():
    found = probing.examine(Site(), "user")

    assert set(found) == set(CAPABILITIES)
    assert not any(capability.available for capability in found.values())
    assert found["nest"].detail == "no second /proc"
    assert found["remount"].detail == "no remount"


def test_what_tells_of_two_capabilities_is_tried_once(monkeypatch):
    tried = []

    def fails(bench):
        tried.append(bench)
        raise SandboxError("no memory")

    monkeypatch.setattr(probing, "CHECKS", {**CHECKS, "limits.memory": fails, "oom": fails})

    found = probing.examine(Site(), "user")

    assert len(tried) == 1
    assert (found["oom"].name, found["limits.memory"].name) == ("oom", "limits.memory")
    assert found["oom"].detail == found["limits.memory"].detail == "no memory"
