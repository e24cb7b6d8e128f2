"""What the harness has sealed: of each trial its verdict and evidence, of the run the whole."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.code import harness_document
from harness.errors import Lack
from harness.evidence import store
from harness.evidence.model import Evidence
from harness.judge.judging import TrialVerdict
from harness.plan import Trial
from harness.state import state_folder
from harness.subjects.base import Identity
from verifiers.seals.breaker import REMEDY
from verifiers.seals.envelope import Artifact
from verifiers.seals.sealer import RUN, Claim, Sealer
from verifiers.seals.state import State
from verifiers.verdicts import Reason

TRIAL = "urn:shakeout:attestation:trial:v1"


#: Of a trial that did not begin, since it could not have been sealed.
UNSEALABLE = frozenset({Reason.BREAKER_OPEN, Reason.NOT_SEALED})


def attach(run: str, folder: Path) -> Sealer:
    """Begin to seal a run, or take part where another of its processes has begun.

    What stands against it, if anything does, is in ``broken`` of what is given.

    Args:
        run: its id.
        folder: of the run; it is there.
    """
    sealer = Sealer(run, folder, State(state_folder().absolute()))
    sealer.attach()
    return sealer


def obstacle(sealer: Sealer) -> Lack | None:
    """Why no trial is to begin, since it could not be sealed."""
    if sealer.broken is None:
        return None
    found_now = not (sealer.refused or sealer.begun)
    reason = Reason.NOT_SEALED if found_now else Reason.BREAKER_OPEN
    return Lack(reason, sealer.broken.what, sealer.broken.remedy or REMEDY)


def seal_trial(
    sealer: Sealer, trial: Trial, folder: Path, judged: TrialVerdict, evidence: Evidence | None
) -> None:
    """Seal a trial's folder.

    Raises:
        NotSealed: it could not be.
    """
    sealer.seal(folder, trial_claim(trial, folder, judged, evidence))


def trial_claim(
    trial: Trial, folder: Path, judged: TrialVerdict, evidence: Evidence | None
) -> Claim:
    """What is said of a trial; of a sabotaged one the verdict is not said of its subject."""
    case = _digest_of(folder / store.CASE)
    predicate = {
        "trial": trial.id,
        "kind": trial.kind,
        "verdict": None if trial.sabotaged else judged.verdict.value,
        "reasons": list(judged.reasons),
        "sabotage": _sabotage(trial, judged),
        "attested": judged.attestable,
        "case": {"id": trial.case.id, "sha256": case},
        "subject": _subject(trial),
        "sandbox": _sandbox(trial),
        "harness": harness_document(),
        "seed": trial.seed,
        "repeat": trial.repeat,
        "counts": _counts(judged, evidence),
    }
    return Claim(TRIAL, [_about(trial, case)], predicate)


def run_claim(document: Mapping[str, Any], folder: Path) -> Claim:
    """What is said of a run: what ``run.json`` says, by its digest and in short."""
    kept = ("exit", "verdict", "reasons", "seed", "started", "ended", "harness", "counts")
    predicate = {name: document[name] for name in kept}
    return Claim(RUN, [Artifact("run.json", _digest_of(folder / "run.json"))], predicate)


def _about(trial: Trial, case: str) -> Artifact:
    """What the statement is about: the subject, or where there is none the case."""
    if trial.identity is None:
        return Artifact(store.CASE, case)
    name = f"{trial.identity.name} {trial.identity.version}"
    digest = trial.identity.digest
    if trial.sabotaged is None:
        return Artifact(name, digest.removeprefix("sha256:"))
    both = f"{digest}\0{trial.sabotaged.digest}"  # never the subject's own: nobody shall look it up
    return Artifact(f"{name}, sabotaged", hashlib.sha256(both.encode()).hexdigest())


def _sabotage(trial: Trial, judged: TrialVerdict) -> Mapping[str, object] | None:
    """What was removed, and what came of it; it says nothing of the subject as it is."""
    if trial.sabotaged is None:
        return None
    return {
        "name": trial.sabotaged.sabotage.name,
        "of": trial.sabotaged.of,
        "digest": trial.sabotaged.digest or None,
        "verdict": judged.verdict.value,
        "broke": sorted(judged.broken),
    }


def _subject(trial: Trial) -> Mapping[str, str | None]:
    identity: Identity | None = trial.identity
    return {
        "name": trial.ref.name,
        "version": identity.version if identity else None,
        "digest": identity.digest if identity else None,
    }


def _sandbox(trial: Trial) -> Mapping[str, object]:
    """Where it ran: by the image it was made of, else by the system that it shows."""
    return {
        "backend": trial.backend or None,
        "grade": trial.grade or None,
        "image": trial.image or None,
        "system": None if trial.image or not trial.backend else system(),
    }


@functools.cache
def system() -> Mapping[str, str]:
    """This machine's own system, as far as it names itself."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    machine = os.uname()
    return {"name": name, "kernel": machine.release, "machine": machine.machine}


def _counts(judged: TrialVerdict, evidence: Evidence | None) -> Mapping[str, object]:
    faults = evidence.faults if evidence else ()
    return {
        "expectations": dict(Counter(one.standing.value for one in judged.expectations)),
        "stimulus": dict(Counter(one.standing.value for one in judged.stimulus)),
        "faults": {"declared": len(faults), "landed": sum(fault.landed for fault in faults)},
        "requests": len(evidence.requests) if evidence else 0,
    }


def _digest_of(path: Path) -> str:
    """SHA-256 of a file; of one that was lost, of nothing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return hashlib.sha256().hexdigest()
