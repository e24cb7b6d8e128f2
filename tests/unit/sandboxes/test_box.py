"""What the keeper does among the mounts of a sandbox, it does in a child."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sandboxes.helper import kernel
from sandboxes.helper.box import Box
from sandboxes.helper.ground import Failed


def test_a_child_that_breaks_in_whatever_way_ends_and_says_so(monkeypatch):
    monkeypatch.setattr(kernel, "setns", lambda *_: None)
    here = os.getpid()

    def breaks() -> None:
        raise ValueError("no error of the system")

    nothing = cast("Any", None)
    try:
        with pytest.raises(Failed, match="Input/output error"):
            Box(nothing, {}, nothing, namespace=0).inside(breaks)
    finally:
        if os.getpid() != here:
            os._exit(7)  # the child must not go on with our tests


@pytest.mark.parametrize(
    ("provides", "unified", "thawed"),
    [({"memory"}, False, 0), ({"freezer"}, False, 1), ({"freezer"}, True, 0)],
)
def test_only_an_old_freezer_is_let_go_of_before_everybody_can_die(provides, unified, thawed):
    calls: list[bool] = []
    group = SimpleNamespace(unified_freezer=unified, freeze=lambda on, timeout: calls.append(on))
    ground = SimpleNamespace(site=SimpleNamespace(provides=frozenset(provides)))
    box = Box(cast("Any", ground), {}, cast("Any", None), group=cast("Any", group), frozen=True)

    box.let_die()

    assert calls == [False] * thawed
    assert not box.frozen
