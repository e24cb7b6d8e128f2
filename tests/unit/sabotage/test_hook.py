"""What the start-up hook does to a module, and what it refuses as nothing done."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest

from harness.sabotage import hook
from harness.sabotage.hook import Unchanged, carry_out, without


class Kind(enum.Enum):
    RATE = "rate_limit"
    NETWORK = "network"


@pytest.mark.parametrize(
    ("old", "name", "left"),
    [
        ({"a": 1, "b": 2}, "a", {"b": 2}),
        ({Kind.RATE: 1, Kind.NETWORK: 2}, "rate_limit", {Kind.NETWORK: 2}),
        ({Kind.RATE: 1, Kind.NETWORK: 2}, "RATE", {Kind.NETWORK: 2}),
        ({429: 1, 503: 2}, "429", {503: 2}),
        (MappingProxyType({"a": 1, "b": 2}), "a", {"b": 2}),
        (["a", "b", "a"], "a", ["b"]),
        ({"a", "b"}, "a", {"b"}),
        (("a", "b"), "a", ("b",)),
        (frozenset("ab"), "a", frozenset("b")),
    ],
)
def test_a_key_or_an_element_is_dropped(old: Any, name: str, left: Any):
    assert without(old, name) == left


@pytest.mark.parametrize("old", [{"a": 1}, ["a"], {"a"}], ids=repr)
def test_what_can_be_changed_is_changed_in_place_so_that_whoever_holds_it_sees_it(old: Any):
    assert without(old, "a") is old
    assert not old


@pytest.mark.parametrize("old", [{"a": 1}, ("a",), frozenset("a"), 3, None, "b"], ids=repr)
def test_dropping_what_is_not_there_is_no_change(old: Any):
    with pytest.raises(Unchanged):
        without(old, "b")


def module(**names: Any) -> ModuleType:
    made = ModuleType("rules")
    vars(made).update(names)
    return made


def order(qualname: str, **way: Any) -> Mapping[str, Any]:
    return {"module": "rules", "qualname": qualname, **way}


def test_a_value_is_put_in_whole_or_in_a_class():
    class Guard:
        limit = 3

    rules = module(LIMIT=3, Guard=Guard)

    carry_out(order("LIMIT", value=4), rules)
    carry_out(order("Guard.limit", value=5), rules)

    assert (rules.LIMIT, Guard.limit) == (4, 5)


@pytest.mark.parametrize(
    ("qualname", "way", "why"),
    [
        ("LIMIT", {"value": 3}, "it was 3 before"),
        ("NONE", {"value": 3}, "rules has no NONE"),
        ("Guard.none", {"value": 3}, "Guard has no none"),
        ("LIMIT", {"drop": "a"}, "a int has no keys"),
        ("TABLE", {"drop": "b"}, "there is no b in it"),
    ],
)
def test_nothing_is_taken_for_done_that_changes_nothing(
    qualname: str, way: Mapping[str, Any], why: str
):
    rules = module(LIMIT=3, TABLE={"a": 1}, Guard=type("Guard", (), {}))

    with pytest.raises(Unchanged, match=why):
        carry_out(order(qualname, **way), rules)


def test_true_is_not_one():
    rules = module(ON=True)

    carry_out(order("ON", value=1), rules)

    assert rules.ON is not True


# -- in a Python of its own

RULES = "def allows(what): return what == 'good'\nclass Guard:\n  @staticmethod\n  def plain(): return 1\n"
FUNCTIONS = (
    "def yes(what): return True\ndef two(): return 2\ndef same(what): return what == 'good'\n"
)


def planted(folder: Path, **way: Any) -> Path:
    """The hook as the harness plants it, and a program's module beside it."""
    inside = folder / "hook"
    inside.mkdir()
    (inside / "sitecustomize.py").write_bytes(Path(hook.__file__).read_bytes())
    (inside / hook.ORDER).write_text(json.dumps({"module": "rules", **way}))
    (inside / hook.FUNCTIONS).write_text(FUNCTIONS)
    os.mkfifo(inside / hook.RECORD)
    (folder / "rules.py").write_text(RULES)
    return inside


def ran(folder: Path, inside: Path, program: str, *more: Path) -> tuple[str, list[Any]]:
    """What a program prints, and what the hook put on record."""
    pipe = os.open(inside / hook.RECORD, os.O_RDWR | os.O_NONBLOCK)
    path = ":".join(map(str, (inside, *more, folder)))
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        told = [json.loads(line) for line in os.read(pipe, 1 << 16).splitlines()]
    finally:
        os.close(pipe)
    assert done.stderr == ""
    return done.stdout, [record["event"] for record in told]


def test_a_function_is_replaced_before_anybody_gets_hold_of_it(tmp_path: Path):
    inside = planted(tmp_path, qualname="allows", **{"with": "yes"})

    said, told = ran(tmp_path, inside, "from rules import allows; print(allows('bad'))")

    assert (said, told) == ("True\n", ["started", "done"])


def test_a_static_method_stays_one(tmp_path: Path):
    inside = planted(tmp_path, qualname="Guard.plain", **{"with": "two"})

    said, _ = ran(tmp_path, inside, "from rules import Guard; print(Guard().plain())")

    assert said == "2\n"


@pytest.mark.parametrize("name", ["same", "nothing"])
def test_a_function_that_does_the_same_or_is_not_there_is_on_record_as_failed(
    tmp_path: Path, name: str
):
    inside = planted(tmp_path, qualname="allows", **{"with": name})

    said, told = ran(tmp_path, inside, "from rules import allows; print(allows('bad'))")

    assert (said, told) == ("False\n", ["started", "failed"])


def test_a_process_that_never_imports_the_module_tells_only_that_it_started(tmp_path: Path):
    inside = planted(tmp_path, qualname="allows", **{"with": "yes"})

    assert ran(tmp_path, inside, "print(1)") == ("1\n", ["started"])


def test_children_are_sabotaged_too(tmp_path: Path):
    inside = planted(tmp_path, qualname="allows", **{"with": "yes"})
    child = "import rules; print(rules.allows('bad'))"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"

    said, told = ran(tmp_path, inside, program)

    assert (said, told) == ("True\n", ["started", "started", "done"])


def test_another_start_up_hook_runs_as_before_and_nothing_of_ours_is_in_the_way(tmp_path: Path):
    inside = planted(tmp_path, qualname="allows", **{"with": "yes"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('the other')\n")

    said, _ = ran(tmp_path, inside, f"import sys; print({str(inside)!r} in sys.path)", other)

    assert said == "the other\nFalse\n"


def test_what_asks_the_module_for_its_source_is_answered(tmp_path: Path):
    inside = planted(tmp_path, qualname="allows", **{"with": "yes"})
    program = "import inspect, rules; print(inspect.getsource(rules).splitlines()[0])"

    said, _ = ran(tmp_path, inside, program)

    assert said == f"{RULES.splitlines()[0]}\n"
