"""No Python file that a case mounts is run on the host."""

from __future__ import annotations

import pytest

from tests.functional.items.sessions import GOOD, Session, case

pytest_plugins = ["pytester"]

SUBJECTS_OWN = "import pathlib; pathlib.Path('/proc/self/cwd/ran').touch()\n"


@pytest.mark.parametrize("words", [("--co",), (), ("-n", "2")], ids=["collected", "run", "xdist"])
def test_no_file_of_a_subject_runs_on_the_host(session: Session, words: tuple[str, ...]):
    mount = "workspace: {mount: {./agent: /opt/agent}}"
    session.write(good=case("good", "echo 42 > report.txt", mount), broken="case: [")
    for folder in ("cases/agent", "cases/agent/deep"):
        (session.pytester.path / folder).mkdir(parents=True)
        for name in ("conftest.py", "test_it.py"):
            (session.pytester.path / folder / name).write_text(SUBJECTS_OWN)
    (session.pytester.path / "cases" / "link").symlink_to("agent")

    result = session("--continue-on-collection-errors", *words)

    assert not (session.pytester.path / "ran").exists()
    result.stdout.fnmatch_lines(["*good*" if words == ("--co",) else "*1 passed, 1 error*"])


@pytest.mark.parametrize("place", ["cases/schema", "linked"])
def test_nor_where_only_pytest_looks(session: Session, place: str):
    folder = session.pytester.path / place
    (folder / "agent").mkdir(parents=True)
    session.write(good=GOOD)
    mount = "workspace: {mount: {./agent: /opt/agent}}"
    (folder / "a.yaml").write_text(case("a", "true", mount))
    (folder / "agent" / "conftest.py").write_text(SUBJECTS_OWN)
    (folder / "agent" / "test_it.py").write_text(SUBJECTS_OWN)
    (session.pytester.path / "cases" / "link").symlink_to("../linked")

    result = session("--co")

    assert not (session.pytester.path / "ran").exists()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*a?command?*"])


def test_a_mount_of_a_link_to_itself_is_an_error_with_its_place(session: Session):
    session.write(good=GOOD, loop=case("loop", "true", "workspace: {mount: {./l: /opt/agent}}"))
    (session.pytester.path / "cases" / "l").symlink_to("l")

    result = session("--continue-on-collection-errors")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*cases/loop.yaml:*:*"])


@pytest.mark.parametrize(
    ("folder", "words"), [("cases/test-agent", ()), ("agent", ("agent",))], ids=["inside", "named"]
)
def test_a_conftest_that_pytest_takes_at_once_is_refused(
    session: Session, folder: str, words: tuple[str, ...]
):
    session.write(good=case("good", "true", f"workspace: {{mount: {{../{folder}: /opt/agent}}}}"))
    (session.pytester.path / folder).mkdir()
    (session.pytester.path / folder / "conftest.py").write_text(SUBJECTS_OWN)

    result = session(*words)

    assert not (session.pytester.path / "ran").exists()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*agent is mounted by a case*another name*"])


def subject(session: Session, *folders: str) -> None:
    """Python files, each of which says that it was run."""
    for folder in folders:
        place = session.pytester.path / folder
        place.mkdir(parents=True, exist_ok=True)
        for name in ("conftest.py", "test_it.py", "__init__.py"):
            (place / name).write_text(SUBJECTS_OWN)


def ran(session: Session) -> bool:
    return (session.pytester.path / "ran").exists()


def mounting(name: str, source: str) -> str:
    return case(name, "true", f"workspace: {{mount: {{{source}: /opt/agent}}}}")


#: A case that lies elsewhere than what is named, what it mounts, what is named, what pytest is set.
AROUND = {
    "above": ("cases/a.yaml", "./agent", "cases/agent/tests", ""),
    "above-by-file": ("cases/a.yaml", "./agent", "cases/agent/tests/test_it.py", ""),
    "beside": ("cases/a.yaml", "../agent", "agent", ""),
    "testpaths": ("cases/a.yaml", "../agent", "", "testpaths = agent"),
    "holding": ("agent/a.yaml", ".", "agent", ""),
    "whole": ("agent/cases/a.yaml", "..", "agent/cases", ""),
}


@pytest.mark.parametrize("name", AROUND)
def test_nor_where_a_case_is_around_what_is_named(session: Session, name: str):
    place, source, named, setting = AROUND[name]
    pytester = session.pytester
    subject(session, "agent", "agent/tests", "cases/agent", "cases/agent/tests")
    (pytester.path / place).parent.mkdir(exist_ok=True)
    (pytester.path / place).write_text(mounting("a", source))
    pytester.makeini(f"[pytest]\n{setting}\n")

    result = pytester.runpytest_subprocess("-p", "harness.pytest_plugin", *filter(None, [named]))

    assert not ran(session)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*is mounted by a case*--noconftest*"])


def test_a_folder_that_is_mounted_with_its_case_is_searched_for_cases_alone(session: Session):
    subject(session, "cases/agent")
    (session.pytester.path / "cases" / "agent" / "a.yaml").write_text(mounting("a", "."))

    result = session("--noconftest")

    assert not ran(session)
    result.assert_outcomes(errors=0, failed=1)  # nothing writes the report that is expected
    result.stdout.fnmatch_lines(["left alone, since a case mounts them: 1 files with tests"])


def test_a_test_that_is_named_itself_is_refused(session: Session):
    subject(session, "cases/agent")
    session.write(a=mounting("a", "./agent"))

    words = ("-p", "harness.pytest_plugin", "--noconftest", "cases/agent/test_it.py")
    result = session.pytester.runpytest_subprocess(*words)

    assert not ran(session)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*is mounted by a case*test_it.py*"])


@pytest.mark.parametrize(
    ("words", "code"), [((), 4), (("--noconftest",), 1)], ids=["conftest", "tests"]
)
def test_while_a_case_is_no_yaml_nothing_is_run_that_it_may_mount(
    session: Session, words: tuple[str, ...], code: int
):
    subject(session, "agent")
    session.write(broken=f"{mounting('broken', '../agent')}\n]")

    result = session(*words, "--continue-on-collection-errors", "agent")

    assert not ran(session)
    assert result.ret == code
    output = result.stderr if code == pytest.ExitCode.USAGE_ERROR else result.stdout
    output.fnmatch_lines(["*cases/broken.yaml:*:*: is no YAML*"])


def test_a_users_own_python_runs_beside_cases(session: Session):
    session.write(good=mounting("good", "./agent").replace("true", "echo 42 > report.txt"))
    subject(session, "cases/agent")
    own = "import pytest\n@pytest.fixture\ndef six():\n    return 6\n"
    (session.pytester.path / "conftest.py").write_text(own)
    session.pytester.makepyfile(test_own="def test_six(six):\n    assert six == 6\n")

    result = session("test_own.py")

    assert not ran(session)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2)
