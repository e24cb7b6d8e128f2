"""A run with one trial of every kind, for the golden files."""

from __future__ import annotations

import datetime
import pathlib

from harness.case.model import Expectation, Known, Quarantine, Sabotage, Where
from harness.evidence.documents import RunRecord, TrialRecord
from harness.evidence.model import Evidence, FaultRecord, ModelRecord
from harness.judge.judging import Facts, Kind, Looked, TrialVerdict, Trouble, judge_trial
from harness.judge.known import known_mark
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.registry import ORACLES
from harness.sabotage.sabotaged import Sabotaged
from harness.subjects.base import Identity
from verifiers.verdicts import Reason

CUT = FaultRecord("cut", "model.truncate", True, True, 1, "request 2 was cut after 3 events")
MISSED = FaultRecord("cut", "model.truncate", True, False, 0, "request 2 never came")
EVIDENCE = Evidence(
    faults=(CUT,), model=ModelRecord(turns=4, served=3), ended_by="exit", exit_code=0
)
QUARANTINE = Quarantine("ops", "races with the clock", datetime.date(2031, 5, 1))
KNOWN = Known("codex", ">=0.40,<0.50", frozenset({"home"}), "upstream defect", "2031-01-02")
CODEX = Identity("codex", "0.46.0", "sha256:" + "c" * 64)
NO_ROW = Sabotaged(
    Sabotage("no-row", frozenset({"home"}), {"patch": "runtime.recovery.guard:TABLE"}),
    of="rate-limit-once",
    folder=pathlib.Path(),
    own=True,
    stand_in=None,
    digest="sha256:" + "5" * 64,
)
AGENTD = Identity("agentd", "0.1.0", "sha256:" + "a" * 64)


def looked(name: str, oracle: str, written: object, finding: Finding) -> Looked:
    params = ORACLES[oracle].parse(written)
    expectation = Expectation(name, oracle, params, Where("cases/a [b].yaml", 9, 5))
    return Looked(expectation, finding, final=ORACLES[oracle].final(params))


HOME_HELD = looked("home", "home", "untouched", held("the home as it was", "9 sentinels"))
HOME_BROKEN = looked(
    "home",
    "home",
    "untouched",
    broken("the home as it was", "removed <b>[red]&\x1b[31m.bashrc\x00", "files.json"),
)
ASKED = looked(
    "asked-twice",
    "requests",
    {"service": "upstream", "exactly": 2},
    held("exactly 2 requests to upstream", "2", "requests.jsonl"),
)
CONTAINED = Looked(
    Expectation("containment", "containment", {}),
    held("nothing outside the sandbox touched, nothing of it left", "neither", "journal.jsonl"),
    final=True,
    implied=True,
)
SILENT = looked("output", "output", {"lacks": "x"}, unseen("stdout lacks /x/", "it was cut"))

PASSED = judge_trial(Facts(faults=[CUT], expectations=[HOME_HELD, ASKED, CONTAINED]))
FAILED = judge_trial(Facts(expectations=[HOME_BROKEN, CONTAINED], left=1))
WITHIN = judge_trial(Facts(expectations=[HOME_BROKEN, CONTAINED]))
TIMED_OUT = judge_trial(
    Facts(faults=[CUT], expectations=[HOME_HELD, ASKED, CONTAINED], ended_by="deadline")
)
UNAVAILABLE = judge_trial(Facts(faults=[MISSED], expectations=[HOME_HELD, ASKED, CONTAINED]))
UNSEEN = judge_trial(Facts(expectations=[SILENT, CONTAINED]))
LACKING = judge_trial(
    Facts(
        ran=False,
        expectations=[HOME_HELD],
        troubles=[Trouble(Reason.CAPABILITY_MISSING, "limits.disk is missing; run as root")],
    )
)
ERROR = judge_trial(
    Facts(expectations=[HOME_HELD], troubles=[Trouble(Reason.RESIDUE, "a mount is left")])
)


def record(
    name: str,
    judged: TrialVerdict,
    *,
    kind: Kind = Kind.TRIAL,
    repeat: int = 1,
    of: int = 1,
    subject: Identity | None = AGENTD,
    known: tuple[Known, ...] = (),
    quarantine: Quarantine | None = None,
    sabotaged: Sabotaged | None = None,
) -> TrialRecord:
    subject_name = subject.name if subject else ""
    parts = [name, subject_name or "none", "bubblewrap"]
    if kind is not Kind.TRIAL:
        parts.append(sabotaged.label if sabotaged else "control")
    group = ".".join(parts)
    trial = f"{group}.r{repeat}" if of > 1 else group
    version = subject.version if subject else ""
    return TrialRecord(
        id=trial,
        repeated=group,
        case=name,
        kind=kind,
        subject_name=subject_name,
        subject=subject,
        backend="bubblewrap" if subject else "",
        grade="root" if subject else "",
        seed=7,
        repeat=repeat,
        judged=judged,
        known=known_mark(judged, kind, known, subject_name, version),
        quarantine=quarantine,
        dir=f"trials/{trial}",
        sabotaged=sabotaged,
        where=Where(f"cases/{name}.yaml", 1, 7),
    )


TRIALS = (
    record("rate-limit-once", PASSED),
    record("rate-limit-once", PASSED, kind=Kind.CONTROL),
    record("rate-limit-once", WITHIN, kind=Kind.SABOTAGE, sabotaged=NO_ROW),
    record("wipes-home", FAILED),
    record("wipes-home-known", WITHIN, subject=CODEX, known=(KNOWN,)),
    record("spares-home-known", PASSED, subject=CODEX, known=(KNOWN,)),
    record("hangs", TIMED_OUT),
    record("misses", UNAVAILABLE),
    record("unseen", UNSEEN),
    record("lacks", LACKING, subject=None),
    record("leaves", ERROR),
    record("races", FAILED, quarantine=QUARANTINE),
    record("wavers", PASSED, repeat=1, of=2),
    record("wavers", UNSEEN, repeat=2, of=2),
)


def run(*trials: TrialRecord, **facts: object) -> RunRecord:
    made: dict[str, object] = {
        "run": "20310203t040506z-0a1b2c",
        "sealed": False,
        "seed": 7,
        "started": "2031-02-03T04:05:06.000Z",
        "ended": "2031-02-03T04:06:07.890Z",
        "version": "0.1.0",
        "digest": "sha256:" + "d" * 64,
        "argv": ["shakeout", "run", "cases/"],
        "selected": len({trial.case for trial in trials}),
        "trials": trials,
    }
    return RunRecord(**{**made, **facts})  # type: ignore[arg-type]
