"""The subject `command`: where its program is found, and what its digest stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.case.model import Case, SubjectRef, Where, Workspace
from harness.subjects.base import Identity, Missing
from harness.subjects.command import Command
from sandboxes.base import Planted


def case(
    files: Sequence[Planted] = (), mounts: Mapping[Path, str] | None = None, task: str = "Do it"
) -> Case:
    source = Path("case.yaml")
    workspace = Workspace(files=files, mounts=mounts or {})
    return Case("c", source, Where("case.yaml", 1, 1), {}, task=task, workspace=workspace)


def argv(program: str, of: Case, *more: str) -> list[str]:
    ref = SubjectRef("command", argv=[program, *more])
    assert isinstance(Command().identify(ref, of), Identity)
    return list(Command().launch(ref, of).argv)


def digest(of: Case, *words: str) -> str:
    found = Command().identify(SubjectRef("command", argv=words or ["sh"]), of)
    assert isinstance(found, Identity)
    return found.digest


def missing(program: str, of: Case) -> Missing:
    found = Command().identify(SubjectRef("command", argv=[program]), of)
    assert isinstance(found, Missing)
    return found


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "go").write_text("#!/bin/sh\n")
    (folder / "bin" / "go").chmod(0o755)
    return folder


def test_placeholders_are_replaced_inside_words_and_no_shell_sees_them():
    found = argv("sh", case(task="a; b $HOME"), "-c", "say={task}", "{model}", "{workspace}/{home}")
    assert found[1:] == ["-c", "say=a; b $HOME", "http://model:8080", "/workspace//home/agent"]


def test_doubled_braces_are_single_ones_and_a_shell_variable_is_left():
    assert argv("sh", case(), "{{task}}", "${task}")[1:] == ["{task}", "${task}"]


def test_a_program_is_looked_for_in_the_mounts_before_the_workspace(agent: Path):
    both = case([Planted("bin/go", content=b"#!/bin/sh\n")], {agent: "/opt/subject"})
    assert argv("bin/go", both) == ["/opt/subject/bin/go"]


def test_a_mounted_file_is_found_by_its_name(agent: Path):
    assert argv("go", case(mounts={agent / "bin" / "go": "/opt/start"})) == ["/opt/start"]


def test_a_program_is_looked_for_in_the_workspace_before_path():
    assert argv("ls", case([Planted("ls", content=b"#!/bin/sh\n")])) == ["/workspace/ls"]


def test_a_mount_inside_the_workspace_counts_as_the_workspace(agent: Path):
    found = argv("tools/bin/go", case(mounts={agent: "/workspace/tools"}))
    assert found == ["/workspace/tools/bin/go"]


def test_a_bare_name_is_left_to_path():
    assert argv("python3", case(), "x.py") == ["python3", "x.py"]


@pytest.mark.parametrize("program", ["bin/gone", "./gone", "/opt/subject/gone", "../agent/bin/go"])
def test_a_program_that_is_nowhere_is_missing_and_named(agent: Path, program: str):
    assert program in missing(program, case(mounts={agent: "/opt/subject"})).reason


def test_a_mount_that_is_not_there_is_missing_and_named(tmp_path: Path):
    assert "nothing-here" in missing("sh", case(mounts={tmp_path / "nothing-here": "/x"})).reason


def test_the_digest_changes_with_a_byte_of_the_mount_and_not_with_its_place(
    agent: Path, tmp_path: Path
):
    before = digest(case(mounts={agent: "/opt/subject"}))
    moved = agent.rename(tmp_path / "elsewhere")
    assert digest(case(mounts={moved: "/opt/subject"})) == before
    (moved / "bin" / "go").write_text("#!/bin/sh\n#\n")
    assert digest(case(mounts={moved: "/opt/subject"})) != before


def test_the_digest_sees_what_can_be_executed_and_where_a_link_points(agent: Path):
    mounted = case(mounts={agent: "/opt/subject"})
    seen = {digest(mounted)}
    (agent / "bin" / "go").chmod(0o644)
    seen.add(digest(mounted))
    (agent / "link").symlink_to("bin/go")
    seen.add(digest(mounted))
    (agent / "link").unlink()
    (agent / "link").symlink_to("bin")
    seen.add(digest(mounted))
    assert len(seen) == 4


def test_the_digest_sees_argv_and_planted_files():
    one = Planted("a", content=b"bc")
    cases = [case(), case([one]), case([Planted("ab", content=b"c")]), case([one], task="Other")]
    digests = [digest(each) for each in cases]
    assert len({*digests[:3], digest(case(), "sh", "-x"), digest(case(), "sh -x")}) == 5
    assert digests[3] == digests[1]  # the task is the case's, not the subject's


def test_its_last_message_is_all_that_it_printed():
    assert Command().final_text(b"one\ntwo\xff\n") == "one\ntwo\N{REPLACEMENT CHARACTER}\n"
    assert Command().final_text(b"") is None
