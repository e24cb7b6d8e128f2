"""No session ends green with a trial that failed, was unavailable, or was not tried."""

from __future__ import annotations

import pytest

from tests.functional.items.sessions import CASES, GOOD, Session, case

pytest_plugins = ["pytester"]

BOTH = [pytest.param((), id="alone"), pytest.param(("-n", "2"), id="xdist", marks=pytest.mark.long)]
SKIPS = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        if "bad" in item.name:
            item.add_marker(pytest.mark.skip(reason="not today"))
"""


@pytest.mark.parametrize("words", BOTH)
def test_what_was_selected_and_not_tried_is_no_pass(session: Session, words: tuple[str, ...]):
    session.write(good=GOOD, bad=CASES["bad"])
    (session.pytester.path / "conftest.py").write_text(SKIPS)

    result = session(*words)

    assert result.parseoutcomes() == {"passed": 1, "skipped": 1}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["selected, and not tried: cases/bad.yaml::*"])


SWALLOWS = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if "bad" in item.name else None
"""
EXITS = """
import pytest
def pytest_runtest_setup(item):
    if "good" in item.name:
        pytest.exit("enough", returncode=0)
"""


@pytest.mark.parametrize(
    ("conftest", "words", "untried", "code"),
    [
        (SWALLOWS, (), ["bad"], 1),
        (SWALLOWS, ("-n", "2"), ["bad"], 1),
        (EXITS, ("-k", "good"), ["good"], 2),
    ],
    ids=["swallowed", "swallowed-xdist", "exited"],
)
def test_what_no_report_tells_of_is_no_pass(
    session: Session, conftest: str, words: tuple[str, ...], untried: list[str], code: int
):
    session.write(good=GOOD, bad=CASES["bad"])
    (session.pytester.path / "conftest.py").write_text(conftest)

    result = session(*words)

    assert result.ret == code
    told = [line for line in result.outlines if line.startswith("selected, and not tried: ")]
    assert [line.rpartition("::")[2] for line in told] == [f"{name}[command]" for name in untried]


#: What another plugin may do, with the words of the command line, and the code that it ends with.
ATTACKS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "loop-swallowed": ("def pytest_runtestloop(): return True", (), 1),
    "items-dropped": ("def pytest_collection_modifyitems(items): del items[0]", (), 1),
    "all-dropped": ("def pytest_collection_modifyitems(items): items.clear()", (), 5),
    "exit-at-configure": ("def pytest_configure(): pytest.exit('no', returncode=0)", (), 2),
    "exit-at-start": ("def pytest_sessionstart(): pytest.exit('no', returncode=0)", (), 2),
    "exit-in-collection": ("def pytest_collectstart(): pytest.exit('no', returncode=0)", (), 2),
    "exit-after-collection": ("def pytest_collection_finish(): pytest.exit('', 0)", (), 2),
    "code-set-at-the-end": (
        "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session): session.exitstatus = 0",
        (),
        1,
    ),
    "exit-at-the-end": ("def pytest_sessionfinish(): pytest.exit('done', returncode=0)", (), 1),
    "command-answered": (
        "@pytest.hookimpl(wrapper=True)\ndef pytest_cmdline_main():\n    yield\n    return 0",
        (),
        1,
    ),
    "report-changed": (
        (
            "@pytest.hookimpl(wrapper=True)\n"
            "def pytest_runtest_makereport():\n"
            "    report = yield\n"
            "    report.outcome = 'passed'\n"
            "    return report"
        ),
        (),
        1,
    ),
    "failure-expected": (
        (
            "def pytest_collection_modifyitems(items):\n"
            "    for item in items: item.add_marker(pytest.mark.xfail(strict=False))"
        ),
        (),
        1,
    ),
    "reports-swallowed": (
        (
            "from _pytest.runner import runtestprotocol\n"
            "def pytest_runtest_protocol(item):\n"
            "    return bool(runtestprotocol(item, log=False))"
        ),
        (),
        1,
    ),
    "forked": (
        (
            "import os\nfrom _pytest.runner import runtestprotocol\n"
            "def pytest_runtest_protocol(item):\n"
            "    if not (child := os.fork()):\n"
            "        runtestprotocol(item, log=False)\n"
            "        os._exit(0)\n"
            "    return bool(os.waitpid(child, 0))"
        ),
        (),
        1,
    ),
    "only-set-up": ("", ("--setup-only",), 1),
    "worker-lost": (
        (
            "import os\n"
            "def pytest_runtest_setup(item): os._exit(0)\n"
            "@pytest.hookimpl(trylast=True)\n"
            "def pytest_sessionfinish(session): session.exitstatus = 0"
        ),
        ("-n", "1", "--max-worker-restart", "0"),
        2,
    ),
    "nothing-selected": (
        "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session): session.exitstatus = 0",
        ("-k", "nothing"),
        5,
    ),
    "told-as-one": (
        (
            "def pytest_collection_modifyitems(items):\n"
            "    for item in items: item._nodeid = 'one'\n"
            "def pytest_runtest_protocol(item): return True if 'bad' in item.name else None"
        ),
        (),
        1,
    ),
    "no-terminal": (
        "def pytest_runtest_protocol(): return True",
        ("-p", "no:terminal", "-o", "addopts="),
        1,
    ),
}


#: What the default tier tries: one of each way, to lose a trial, to change its report, to set the code.
QUICK = {"items-dropped", "report-changed", "code-set-at-the-end", "worker-lost", "told-as-one"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in ATTACKS],
)
def test_no_plugin_makes_a_session_green(session: Session, name: str):
    conftest, words, code = ATTACKS[name]
    session.write(bad=CASES["bad"], good=GOOD)
    (session.pytester.path / "conftest.py").write_text(f"import pytest\n{conftest}\n")

    assert session(*words).ret == code


UNCOLLECTED = {
    "code-set": (
        "@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session): session.exitstatus = 0"
    ),
    "error-swallowed": (
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_make_collect_report():\n"
        "    report = yield\n"
        "    if report.failed: report.outcome, report.result = 'passed', []\n"
        "    return report"
    ),
}


@pytest.mark.parametrize("words", BOTH)
@pytest.mark.parametrize("name", UNCOLLECTED)
def test_what_could_not_be_collected_is_no_pass(
    session: Session, name: str, words: tuple[str, ...]
):
    session.write(broken="case: [", good=GOOD)
    (session.pytester.path / "conftest.py").write_text(f"import pytest\n{UNCOLLECTED[name]}\n")

    assert session("--continue-on-collection-errors", *words).ret == 1


AGAIN = """
from _pytest.runner import runtestprotocol
def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=nextitem, log=False)
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""


def test_a_trial_is_tried_once(session: Session):
    session.write(good=GOOD)
    (session.pytester.path / "conftest.py").write_text(AGAIN)

    result = session()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*it was tried already; --shakeout-repeat*"])
    assert session.run["counts"]["passed"] == 1


def test_a_time_limit_of_pytest_is_no_pass(session: Session):
    session.write(stays=case("stays", "sleep 60"))
    (session.pytester.path / "conftest.py").write_text(
        f"import pytest\n{UNCOLLECTED['code-set']}\n"
    )

    assert session("--timeout", "3").ret == pytest.ExitCode.TESTS_FAILED
    assert "interrupted" in session.run["trials"][0]["reasons"]


def test_what_is_deselected_is_the_users_choice(session: Session):
    session.write(bad=CASES["bad"], good=GOOD)

    result = session("--deselect", "cases/bad.yaml::bad[command]", "-p", "no:randomly")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, deselected=1)
