"""A folder of cases is the same folder of cases after a run that left its evidence there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandboxes.registry import BACKENDS
from tests.functional.verbs.shakeout import Ended, shakeout

CASE = """\
case: {0}
subject: {{command: [sh, -c, "echo 'case: nested' > nested.yaml"]}}
workspace: {{files: {{suite.yaml: "suite: none"}}}}
expect: [{{exit: 0}}, {{home: untouched}}]
"""

pytestmark = pytest.mark.skipif(
    not any(backend.probe().available for backend in BACKENDS.values()),
    reason="no sandbox can be made here; see shakeout doctor",
)


def ids(ended: Ended) -> list[str]:
    return [item["id"] for item in ended.json["items"]]


@pytest.mark.parametrize("out", [(), ("--out", "deep/evidence"), ("--out", "trials")])
def test_a_folder_can_be_run_checked_and_listed_again(out: tuple[str, ...], tmp_path: Path):
    for name in ("one", "deep/two"):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(CASE.format(path.stem))

    first = shakeout("run", ".", "--json", *out, cwd=tmp_path)
    copies = list(tmp_path.rglob("trials/*/case.yaml"))
    again = shakeout("run", ".", "--json", cwd=tmp_path)

    assert (first.code, first.json["selected"]) == (0, 2), first.err
    assert len(copies) == 2
    assert (again.code, again.json["selected"]) == (0, 2), again.err
    assert ids(shakeout("list", ".", "--json", cwd=tmp_path)) == ["one", "two"]
    assert ids(shakeout("check", ".", "--json", cwd=tmp_path)) == ["one", "two"]


def test_the_folder_of_a_run_given_by_itself_holds_no_case(tmp_path: Path):
    (tmp_path / "one.yaml").write_text(CASE.format("one"))
    shakeout("run", "one.yaml", cwd=tmp_path)

    for folder in ("out", "out/latest", "out/latest/trials"):
        ended = shakeout("check", folder, cwd=tmp_path)
        assert (ended.code, ended.out) == (3, ""), folder
        assert "the folder of a run is not searched" in ended.err
    (copy,) = (tmp_path / "out/latest/trials").glob("*/case.yaml")
    assert shakeout("check", copy, cwd=tmp_path).code == 0
