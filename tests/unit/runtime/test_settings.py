"""Settings say what is wrong with them, where; out of the box nothing acts."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from runtime.settings import SettingsError, load


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    return path


def test_out_of_the_box_nothing_acts(tmp_path: Path):
    recovery = load(tmp_path / "absent.yaml", {}).recovery

    assert (recovery.observe, recovery.act) == (False, False)
    assert recovery.attempts == recovery.usd_per_run == recovery.usd_per_day == 0


def test_an_empty_file_sets_nothing(tmp_path: Path):
    assert load(written(tmp_path, "# nothing\n"), {}) == load(tmp_path / "absent.yaml", {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("recovery:\n  atempts: 1\n", "2:3: recovery.atempts: Extra inputs are not permitted"),
        (
            "recovery: {attempts: many}\n",
            "1:12: recovery.attempts: Input should be a valid integer",
        ),
        (
            "recovery:\n  act: true\n  deadline: 61\n",
            "3:3: recovery.deadline: Input should be less",
        ),
        ("recovery: {zone: Mars/Olympus}\n", "1:12: recovery.zone: Value error, there is no time"),
        ("model: {protocol: gopher}\n", "1:9: model.protocol: Input should be 'anthropic'"),
        ("recovery: {usd_per_day: -1}\n", "1:12: recovery.usd_per_day: Input should be greater"),
        ("recovery: {usd_per_day: 0.0000001}\n", "1:12: recovery.usd_per_day: Decimal input"),
        ("a: 1\na: 2\n", "2:1: found duplicate key"),
        ("recovery: [\n", "2:1: expected the node content"),
        ("- 1\n", "1:1: : Input should be a valid dictionary"),
        ("listen: {port: 70000}\n", "1:10: listen.port: Input should be less"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, problem: str):
    path = written(tmp_path, text)

    with pytest.raises(SettingsError) as caught:
        load(path, {})

    assert str(caught.value).startswith(f"{path}:{problem}")


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path):
    path = written(tmp_path, "recovery: {attempts: x}\nmodel: {native: 5}\n")

    with pytest.raises(SettingsError) as caught:
        load(path, {})

    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(("value", "on"), [("1", True), ("TRUE", True), ("off", False), ("", True)])
def test_a_switch_of_the_environment_ranks_above_the_file(tmp_path: Path, value: str, on: bool):
    path = written(tmp_path, "recovery: {act: true}\n")

    assert load(path, {"AGENTD_RESILIENCE_ACT": value}).recovery.act is on


def test_a_switch_that_is_neither_is_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match="AGENTD_RESILIENCE_OBSERVE is 'maybe'"):
        load(tmp_path / "absent.yaml", {"AGENTD_RESILIENCE_OBSERVE": "maybe"})


def test_yaml_is_read_by_its_rules_of_today(tmp_path: Path):
    """In those of 1.1, ``no`` would be false and ``1:30`` ninety."""
    path = written(tmp_path, "model: {name: no}\nrecovery: {prices: {grep: 1, stat: null}}\n")

    settings = load(path, {})

    assert settings.model.name == "no"
    assert settings.recovery.prices == {"grep": Decimal(1), "stat": None}


def test_the_day_begins_where_the_budget_is_kept(tmp_path: Path):
    recovery = load(written(tmp_path, "recovery: {zone: Asia/Kathmandu}\n"), {}).recovery
    evening = datetime.datetime(2031, 2, 3, 18, 14, 59, tzinfo=datetime.UTC)

    assert recovery.day(evening) == "2031-02-03"
    assert recovery.day(evening + datetime.timedelta(seconds=1)) == "2031-02-04"
