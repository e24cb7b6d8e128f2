"""What the loader refuses of faults in the place, because it could never do what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.faults.filesystem_permission import barred
from harness.faults.paths import inside, locate
from sandboxes.base import Act, Depth, Kind, Root

CASE = """\
case: c
title: t
proves: p
subject: {{command: [sh]}}
task: t
services: {{http: {{up: [{{on: GET /, reply: {{status: 200}}}}]}}}}
faults:
  - {fault}
expect: [{{exit: 0}}]
"""


def read(folder: Path, fault: str):
    path = folder / "case.yaml"
    path.write_text(CASE.format(fault=fault), "utf-8")
    return load_case(path).faults[0]


@pytest.mark.parametrize(
    ("when", "until"),
    [
        ("{request: 3}", "{request: 1}"),
        ("{request: 3}", "{request: 3}"),
        ("{service: up, request: 2}", "{service: up, request: 1}"),
        ("{after: 2s}", "{after: 1500ms}"),
        ("{after: 2s}", "{after: 2s}"),
        ("{file: f}", "{file: f}"),
        ("{output: x}", "start"),
        ("start", "start"),
    ],
)
def test_an_end_that_comes_no_later_than_the_beginning_is_refused(tmp_path, when, until):
    with pytest.raises(CaseErrors, match="until comes no later than when"):
        read(tmp_path, f"{{fault: process.stop, when: {when}, until: {until}}}")


@pytest.mark.parametrize(
    ("when", "until"),
    [
        ("{request: 1}", "{request: 2}"),
        ("{request: 3}", "{service: up, request: 1}"),
        ("{after: 1s}", "{request: 1}"),
        ("{output: x}", "{output: x}"),
        ("start", "{after: 0s}"),
    ],
)
def test_an_end_that_may_come_later_is_taken(tmp_path, when, until):
    fault = read(tmp_path, f"{{fault: process.stop, when: {when}, until: {until}}}")

    assert fault.until is not None


@pytest.mark.parametrize("path", ["/etc/passwd", "..", "../x", "a/../../x", "~/../x", "~", "''"])
def test_a_path_that_leads_out_is_refused(tmp_path, path):
    for fault in (
        f"{{fault: filesystem.permission, with: {{path: {path}}}}}",
        f"{{fault: filesystem.missing-path, with: {{path: {path}}}}}",
        f"{{fault: process.kill, when: {{file: {path}}}}}",
    ):
        with pytest.raises(CaseErrors):
            read(tmp_path, fault)


@pytest.mark.parametrize("path", ["f", "a/b", "~/x", "~/.config/a b", "..a", "a..b/..c"])
def test_a_path_inside_is_taken(tmp_path, path):
    for name in ("permission", "missing-path"):
        fault = read(tmp_path, f"{{fault: filesystem.{name}, with: {{path: {path}}}}}")
        assert fault.params["path"] == path
    assert read(tmp_path, f"{{fault: process.kill, when: {{file: {path}}}}}").when.path == path


@pytest.mark.parametrize("written", ["a/b", "./a/b", "a//b", "a/./b/", "a/b/."])
def test_a_path_is_the_same_however_it_is_written(written):
    assert locate(written) == (Root.WORKSPACE, "a/b")
    assert locate(f"~/{written}") == (Root.HOME, "a/b")
    assert inside(f"~/{written}") == "/home/agent/a/b"


def test_times_goes_only_with_faults_of_replies(tmp_path):
    with pytest.raises(CaseErrors, match="times goes only with"):
        read(tmp_path, "{fault: process.kill, times: 2}")


@pytest.mark.parametrize("mode", ["'0007'", "'0777'", "'777'", "'0088'", "0"])
def test_a_mode_that_lets_everybody_in_is_refused(tmp_path, mode):
    with pytest.raises(CaseErrors):
        read(tmp_path, f"{{fault: filesystem.permission, with: {{path: f, mode: {mode}}}}}")


EVERYTHING = "look read run write name link"


@pytest.mark.parametrize(
    ("mode", "kind", "on", "within", "below"),
    [
        (0o000, Kind.FILE, "read write run", "", ""),
        (0o444, Kind.FILE, "write run", "", ""),
        (0o555, Kind.FILE, "write", "", ""),
        (0o770, Kind.FILE, "read write run", "", ""),
        (0o000, Kind.DIR, "read write run", EVERYTHING, EVERYTHING),
        (0o555, Kind.DIR, "write", "name", ""),
        (0o711, Kind.DIR, "read write", "name", ""),
        (0o666, Kind.DIR, "run", EVERYTHING, EVERYTHING),
    ],
)
def test_a_mode_bars_what_it_refuses_and_nothing_else(mode, kind, on, within, below):
    acts = {depth: {Act(word) for word in words.split()} for depth, words in
            ((Depth.ON, on), (Depth.IN, within), (Depth.BELOW, below))}  # fmt: skip

    assert {depth: set(found) for depth, found in barred(mode, kind).items()} == acts
