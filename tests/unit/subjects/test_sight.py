"""What is tested is what was planned, and stays so: also what was put back is noticed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.case.load import load_case
from harness.errors import Unavailable
from harness.plan import Selection, Trial, plan
from harness.sight import look
from verifiers.verdicts import Reason

CASE = """\
case: mounted
subject: {subject}
workspace: {{mount: {{./m: /opt/m}}}}
expect: [{{home: untouched}}]
"""
COMMAND = "{command: [sh, /opt/m/code]}"
AGENT = "{shakeout: {}}"


@pytest.fixture(params=[COMMAND, AGENT], ids=["a command", "an agent"])
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Trial:
    (tmp_path / "m" / "part").mkdir(parents=True)
    (tmp_path / "m" / "code").write_text("echo old\n")
    (tmp_path / "m" / "part" / "more").write_text("old\n")
    (tmp_path / "m" / "link").symlink_to("code")
    path = tmp_path / "mounted.yaml"
    path.write_text(CASE.format(subject=request.param))
    (made,) = plan([load_case(path)], {}, Selection())
    return made


def _by_rename(m: Path) -> None:
    (m / "code").rename(m.parent / "kept")
    (m / "code").write_text("echo new\n")
    (m.parent / "kept").replace(m / "code")


def _in_place(m: Path) -> None:
    code, info = m / "code", (m / "code").stat()
    code.write_text("echo new\n")
    code.write_text("echo old\n")
    os.utime(code, ns=(info.st_atime_ns, info.st_mtime_ns))


def _a_folder(m: Path) -> None:
    (m / "part").rename(m / "aside")
    (m / "part").mkdir()
    (m / "part").rmdir()
    (m / "aside").rename(m / "part")


def _the_whole(m: Path) -> None:
    m.rename(m.with_name("aside"))
    shutil.copytree(m.with_name("aside"), m, symlinks=True)


def _a_link(m: Path) -> None:
    (m / "link").unlink()
    (m / "link").symlink_to("part/more")
    (m / "link").unlink()
    (m / "link").symlink_to("code")


def _one_more(m: Path) -> None:
    (m / "yaml.py").touch()
    (m / "yaml.py").unlink()


@pytest.mark.parametrize(
    "how",
    [_by_rename, _in_place, _a_folder, _the_whole, _a_link, _one_more],
    ids=lambda f: f.__name__,
)
def test_what_was_changed_and_put_back_is_noticed(
    trial: Trial, tmp_path: Path, how: Callable[[Path], None]
):
    sight = look(trial)

    how(tmp_path / "m")

    assert sight.lost().endswith("was changed while it was tested, and put back")


@pytest.mark.parametrize("path", ["m/code", "m/part/more"])
def test_what_stays_changed_is_noticed(trial: Trial, tmp_path: Path, path: str):
    sight = look(trial)

    (tmp_path / path).write_text("new")

    assert sight.lost() == "the subject was changed while it was tested"


def test_what_is_gone_is_noticed(trial: Trial, tmp_path: Path):
    sight = look(trial)

    shutil.rmtree(tmp_path / "m")

    assert sight.lost().startswith("the subject was changed while it was tested")


def _read(m: Path) -> None:
    assert (m / "code").read_text()


def _another_name(m: Path) -> None:
    (m.parent / "elsewhere").hardlink_to(m / "code")


@pytest.mark.parametrize("how", [_read, _another_name], ids=lambda f: f.__name__)
def test_what_changes_nothing_is_no_change(
    trial: Trial, tmp_path: Path, how: Callable[[Path], None]
):
    sight = look(trial)

    how(tmp_path / "m")

    assert sight.lost() == ""


@pytest.mark.parametrize("trial", [COMMAND], indirect=True)
def test_what_was_changed_since_it_was_planned_is_not_started(trial: Trial, tmp_path: Path):
    (tmp_path / "m" / "code").write_text("echo new\n")

    with pytest.raises(Unavailable) as refused:
        look(trial)

    (lack,) = refused.value.lacks
    assert lack.reason is Reason.WRONG_CODE
    assert str(lack) == "the subject was changed since its digest was taken; run it again"


@pytest.mark.parametrize("trial", [AGENT], indirect=True)
def test_a_mount_that_is_gone_is_asked_for(trial: Trial, tmp_path: Path):
    shutil.rmtree(tmp_path / "m")

    with pytest.raises(
        Unavailable, match=r"the mount cannot be read: .*; make it readable"
    ) as refused:
        look(trial)

    assert [lack.reason for lack in refused.value.lacks] == [Reason.TOOL_MISSING]
