"""The adapter of agentd: what a case says of it becomes settings that agentd itself takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from jsonschema import Draft202012Validator

from harness.case.model import Case, SubjectRef
from harness.subjects.agentd import Agentd
from harness.subjects.base import Identity, Missing
from harness.subjects.packages import Packages
from runtime.settings import Settings, load

CASE = cast("Case", SimpleNamespace(task="Say hello"))
PARAMS = {
    "act": True,
    "observe": True,
    "attempts": 2,
    "usd_per_run": 0.5,
    "usd_per_day": 1.25,
    "zone": "Asia/Kathmandu",
    "prices": {"http_get": 0.01, "read_file": None},
    "deadline": 10,
    "answer_within": 60,
    "in_chats": True,
    "aliases": {"readme": "README.md"},
    "kill_switch": "ops/OFF",
    "protected": ["deploy/**"],
    "protocol": "openai-responses",
    "native": True,
    "timeout": 5,
    "retries": 0,
    "disabled": ["run"],
    "seconds": 3,
    "output": 4096,
}


def settings_of(params: dict[str, object], folder: Path) -> Settings:
    """What agentd makes of what the adapter plants."""
    launch = Agentd().launch(SubjectRef("agentd", params), case=CASE)
    (planted,) = launch.home
    path = folder / "settings.yaml"
    path.write_bytes(planted.content)
    return load(path, {})


def test_every_parameter_arrives_in_the_settings(tmp_path: Path) -> None:
    settings = settings_of(dict(PARAMS), tmp_path)
    parts = (settings.recovery, settings.model, settings.tools)
    for name, said in PARAMS.items():
        (found,) = (getattr(part, name) for part in parts if name in type(part).model_fields)
        assert plain(found) == said, name


def plain(value: object) -> object:
    """A setting as a case writes it."""
    match value:
        case Decimal():
            return float(value)
        case Path():
            return str(value)
        case tuple() | frozenset():
            return list(value)
        case Mapping():
            return {key: plain(inner) for key, inner in value.items()}
        case _:
            return value


def test_every_parameter_is_tried_here() -> None:
    assert {*PARAMS, "via"} == set(Agentd.schema["properties"])
    Draft202012Validator(Agentd.schema).validate(PARAMS)


def test_another_program_may_start_it() -> None:
    launch = Agentd().launch(SubjectRef("agentd", {"via": ["sh", "many.sh"]}), CASE)
    assert launch.argv[:2] == ["sh", "many.sh"]
    assert launch.argv[3:] == ["-m", "runtime", "run", "Say hello"]


def test_nothing_said_is_nothing_switched_on(tmp_path: Path) -> None:
    recovery = settings_of({}, tmp_path).recovery
    assert not recovery.act
    assert not recovery.attempts
    assert not recovery.usd_per_day


def test_a_run_may_spend_what_a_day_may(tmp_path: Path) -> None:
    assert settings_of({"usd_per_day": 1}, tmp_path).recovery.usd_per_run == 1
    assert settings_of({"usd_per_day": 1, "usd_per_run": 0}, tmp_path).recovery.usd_per_run == 0


def test_the_harness_imports_nothing_of_it() -> None:
    look = (
        "import sys; from harness.subjects.registry import SUBJECTS; "
        "SUBJECTS['agentd'].identify(None, None); "
        "print(*(name for name in sys.modules if name.split('.')[0] == 'runtime'))"
    )
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""


def test_its_digest_is_of_its_code_and_of_what_it_needs() -> None:
    shown = {Path(mount.target).name for mount in Agentd().launch(_ref(), CASE).mounts}
    assert {"runtime", "verifiers", "sandboxes", "sqlalchemy", "openai"} <= shown
    assert "harness" not in shown
    identity = Agentd().identify(_ref(), CASE)
    assert isinstance(identity, Identity)
    assert identity.digest == Agentd().identify(_ref(), CASE).digest  # type: ignore[union-attr]
    assert identity.digest != Packages("/opt/agentd", ("harness",)).identify("agentd").digest  # type: ignore[union-attr]


def test_a_package_that_is_not_there_is_said() -> None:
    missing = Packages("/opt/agentd", ("no_such_package",)).identify("agentd")
    assert isinstance(missing, Missing)
    assert "no_such_package" in missing.reason


@pytest.mark.parametrize("params", [{"attempts": -1}, {"usd": 1}, {"protocol": "gemini"}])
def test_what_it_does_not_know_is_refused(params: dict[str, object]) -> None:
    assert not Draft202012Validator(Agentd.schema).is_valid(params)


def _ref() -> SubjectRef:
    return SubjectRef("agentd", {})
