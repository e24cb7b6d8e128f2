"""A sabotage in one trial: what is shown inside, and what proves that it was applied."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.case.model import Sabotage
from harness.errors import SabotageNotApplied, Unavailable
from harness.sabotage.sabotaged import Sabotaged
from harness.sabotage.tamper import INSIDE, Tamper, tampering
from sandboxes.base import Limits, Mount, Planted, SandboxSpec
from tests.unit.evidence.records import NO_ROW
from verifiers.verdicts import Reason

SPEC = SandboxSpec("t", Limits())


def removed(folder: pathlib.Path, **params: Any) -> Sabotaged:
    return replace(NO_ROW, sabotage=Sabotage("s", frozenset({"home"}), params), folder=folder)


PATCH = {"patch": "m:TABLE", "drop": "row"}


@pytest.fixture
def patched(tmp_path: pathlib.Path) -> Iterator[Tamper]:
    with tampering(removed(tmp_path, **PATCH), tmp_path) as tamper:
        tamper.placed(SPEC)
        yield tamper


def tell(tamper: Tamper, *events: Mapping[str, str], more: bytes = b"") -> None:
    pipe = os.open(tamper.folder / "record", os.O_WRONLY | os.O_NONBLOCK)
    os.write(pipe, b"".join(json.dumps(event).encode() + b"\n" for event in events) + more)
    os.close(pipe)


def event(name: str, words: str = "") -> Mapping[str, str]:
    return {"event": name, "words": words}


def test_a_patch_shows_the_hook_and_only_the_main_process_is_led_to_it(tmp_path: pathlib.Path):
    with tampering(removed(tmp_path, **PATCH), tmp_path) as tamper:
        spec = tamper.placed(SPEC)
        env = {"PYTHONPATH": "/opt/mine"}
        tamper.hook(env)

        assert spec.mounts == (Mount(tamper.folder, INSIDE),)
        assert env == {"PYTHONPATH": f"{INSIDE}:/opt/mine"}
        order = json.loads((tamper.folder / "order.json").read_text())
        assert order == {"module": "m", "qualname": "TABLE", "drop": "row"}
    assert not tamper.folder.exists()


def test_without_a_sabotage_nothing_is_done(tmp_path: pathlib.Path):
    with tampering(None, tmp_path) as tamper:
        env: dict[str, str] = {}
        tamper.hook(env)
        tamper.reach(lambda argv: pytest.fail(f"{argv} was run"))
        tamper.prove()

        assert (tamper.placed(SPEC), env, list(tmp_path.iterdir())) == (SPEC, {}, [])


def test_what_was_done_in_one_process_and_failed_in_none_is_proved(patched: Tamper):
    tell(patched, event("started"), event("started"), event("done"), more=b"not JSON\n[]\n")

    patched.prove()

    assert patched.account()["processes"] == {"started": 2, "done": 1, "failed": 0}


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ((), "no Python process of the subject ran its start-up hook"),
        ((event("started"),), "no Python process of the subject imported m; 1 started"),
        ((event("failed", "there is no row in it"),), "there is no row in it"),
        ((event("done"), event("failed", "m has no TABLE")), "m has no TABLE"),
    ],
)
def test_what_was_done_nowhere_or_failed_somewhere_is_not(
    events: tuple[Mapping[str, str], ...], why: str, patched: Tamper
):
    tell(patched, *events)

    with pytest.raises(SabotageNotApplied, match=why):
        patched.prove()


def test_where_no_record_comes_out_a_patch_is_unavailable(patched: Tamper):
    with pytest.raises(Unavailable) as raised:
        patched.reach(lambda _: None)

    assert [lack.reason for lack in raised.value.lacks] == [Reason.CAPABILITY_MISSING]


def test_where_one_comes_out_it_is_no_proof_of_anything_else(patched: Tamper):
    patched.reach(lambda _: tell(patched, event("canary")))

    with pytest.raises(SabotageNotApplied):
        patched.prove()


def changed(folder: pathlib.Path, path: str, spec: SandboxSpec) -> SandboxSpec:
    removal = removed(folder, change={"path": path, "content": "new"})
    with tampering(removal, folder) as tamper:
        spec = tamper.placed(spec)
        for mount in spec.mounts:
            if mount.target == path:
                assert mount.source.read_text() == "new"
                assert mount.source.stat().st_mode & 0o777 == 0o755
        return spec


def test_a_file_in_a_mount_is_shown_changed_by_the_innermost(tmp_path: pathlib.Path):
    for name in ("outer", "inner"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text(name)
        (tmp_path / name / "tool").chmod(0o755)
    mounts = (Mount(tmp_path / "outer", "/opt/a"), Mount(tmp_path / "inner", "/opt/a/b"))

    spec = changed(tmp_path, "/opt/a/b/tool", replace(SPEC, mounts=mounts))

    assert spec.mounts[:2] == mounts
    assert [mount.target for mount in spec.mounts[2:]] == ["/opt/a/b/tool"]


@pytest.mark.parametrize("path", ["~/.rc", "/home/agent/.rc"])
def test_a_planted_file_has_other_content_and_is_else_as_it_was(path: str, tmp_path: pathlib.Path):
    home = (Planted(".rc", content=b"old", mode=0o600), Planted("other", content=b"old"))

    spec = changed(tmp_path, path, replace(SPEC, home=home))

    assert spec.home == (replace(home[0], content=b"new"), home[1])


@pytest.mark.parametrize("path", ["a", "b/c", "/etc/passwd", "~/a", "/opt/m/none", "/opt/m/link"])
def test_what_is_not_there_cannot_be_changed(path: str, tmp_path: pathlib.Path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "link").symlink_to("/etc/passwd")
    mounts = (Mount(tmp_path / "m", "/opt/m"),)

    with pytest.raises(SabotageNotApplied):
        changed(tmp_path, path, replace(SPEC, mounts=mounts))
