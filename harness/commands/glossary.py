"""What the words of a verdict, of the page about verdicts, and of the formats mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from verifiers.verdicts import LIMIT, Reason, Verdict, broke

VERDICTS: Final[Mapping[Verdict, str]] = {
    Verdict.PASSED: "at least one expectation, all of them observed, all held; every fault landed",
    Verdict.FAILED: "an expectation was observed, and broken; the reason is broke:ID",
    Verdict.TIMED_OUT: "the trial's own limit stopped the subject before it could be judged",
    Verdict.UNAVAILABLE: "it could not be tried or observed here; nothing is known, so not passed",
    Verdict.ERROR: "the harness or the sandbox broke; nothing is known of the subject",
}

REASONS: Final[Mapping[Reason, str]] = {
    Reason.BACKEND_MISSING: "no sandbox backend works on this machine; see shakeout doctor",
    Reason.CAPABILITY_MISSING: "the sandbox cannot do what the case needs",
    Reason.TOOL_MISSING: "a program that is to be run is not there",
    Reason.SUBJECT_MISSING: "the agent is not installed here",
    Reason.NOT_WRITTEN: "the suite names this check, and its case is not written yet",
    Reason.FAULT_NOT_DELIVERED: "a declared fault did not land, so nothing was tried",
    Reason.NOT_PROVOKED: "what the case provokes the subject with did not happen",
    Reason.SCRIPT_NOT_FINISHED: "turns of the model's script were left over",
    Reason.NOTHING_EXPECTED: "the case expects nothing, so nothing could hold",
    Reason.NOT_OBSERVED: "what an expectation is about could not be seen",
    Reason.NOTHING_RAN: "there was nothing to merge a verdict from",
    Reason.BREAKER_OPEN: "evidence could not be sealed earlier; nothing runs until it is reset",
    Reason.SANDBOX_LOST: "the sandbox died or stopped answering",
    Reason.EVIDENCE_LOST: "evidence that must be there could not be taken",
    Reason.RESIDUE: "something was left behind, or touched, outside the sandbox",
    Reason.HARNESS_BUG: "the harness itself is wrong; please report it",
    Reason.NOT_SEALED: "the evidence could not be sealed",
    Reason.INTERRUPTED: "the user stopped the run",
    Reason.SABOTAGE_NOT_APPLIED: "the sabotage found nothing to remove",
    Reason.TOOL_CRASHED: "a tool of the harness or of a verifier died",
    Reason.REPORT_UNREADABLE: "a tool's report could not be read",
    Reason.WRONG_CODE: "what ran is not the code that was asked for",
}


@dataclass(frozen=True, slots=True)
class Word:
    """One word: what it means, and what else leads to it.

    Attributes:
        also: other names, and the values that it can have in a table.
    """

    name: str
    meaning: str
    also: tuple[str, ...] = ()


#: The reasons that the other two verdicts carry.
OTHER_REASONS: Final[Mapping[Verdict, Word]] = {
    Verdict.FAILED: Word(
        broke("ID"),
        "the expectation with this id was observed, and did not hold; containment and an implied "
        "secrets are told in the same way",
        ("broke",),
    ),
    Verdict.TIMED_OUT: Word(
        LIMIT, "sandbox.limits.seconds were over, and the harness stopped the subject"
    ),
}

FORMATS: Final[Mapping[str, str]] = {
    "duration": "a whole number and ms, s, m or h",
    "size": "a whole number and KiB, MiB or GiB",
    "regex": "a Python regular expression that is searched for; ^ and $ match at every line",
    "glob": "a relative path: * stays within a name, ** crosses /, both match dotfiles; "
    "? is one character, [abc] one of a set; such as .cache/**",
    "date": "a day in UTC",
    "instant": "a point in time, with Z or an offset such as +05:45",
    "version-range": "versions as in PEP 440",
    "signal": "the name of a signal, with or without SIG, or its number",
}

WORDS: Final = (
    Word("trial", "one execution of a case: one subject, one sandbox, one seed"),
    Word("run", "the trials of one command, with one folder of evidence and one exit code"),
    Word("started", "whether the subject was ever started", ("not started",)),
    Word(
        "stages",
        "the harness's own part of a trial: it went well; it lacked something that this machine "
        "or the case does not have, so unavailable; or it broke, so error",
        ("went well", "lacked something", "broke", "stage"),
    ),
    Word(
        "landed",
        "a fault has landed when its effect was proven from outside of the subject; where one "
        "did not, nothing was tried",
        ("faults", "all landed", "one did not", "landing"),
    ),
    Word(
        "met",
        "a stimulus is met when what provokes the subject happened; without one it is met",
        ("stimulus", "unmet"),
    ),
    Word(
        "played",
        "every turn of the model's script was served; left over: some were not, which is "
        "unavailable unless the case allows it",
        ("script", "left over"),
    ),
    Word(
        "turn",
        "a request to the model that goes on with the agent's work; the script's next reply is its "
        "answer",
        ("turns",),
    ),
    Word(
        "side",
        "a request to the model beside the agent's work and without tools, such as one for a title; "
        "it takes no turn of the script",
    ),
    Word(
        "probe",
        "a request that looks at the model's service, such as for its list of models or a number of "
        "tokens; it takes no turn of the script",
    ),
    Word(
        "beyond",
        "a request to the model when no turn of the script is left: recorded, and answered with a "
        "400, which clients do not retry",
    ),
    Word(
        "time",
        "enough, or the trial's own limit was reached and the harness stopped the subject",
        ("enough", "limit reached"),
    ),
    Word(
        "held",
        "an expectation was observed and held; broken: observed, and it did not hold; not seen: "
        "what it is about could not be observed",
        ("expectations", "all held", "none written", "one not seen", "one broken", "not seen"),
    ),
    Word("broken", "an expectation was observed and did not hold; it gives failed"),
    Word(
        "lasting",
        "an expectation that more time could not mend: home, files, secrets, network, every "
        "at_most, lacks and absent; judged also where the limit was reached",
        ("a lasting one broken",),
    ),
    Word(
        "containment",
        "judged in every trial: nothing outside of the sandbox was touched, and nothing was left "
        "there; belongs to the harness and is no expectation of the case",
        ("home, secrets, containment", "residue"),
    ),
    Word(
        "not_judged",
        "an expectation that says nothing in this trial: a fault did not land, a stimulus was "
        "unmet, or the limit was reached",
    ),
    Word(
        "mark",
        "what the case's known says of a trial that failed: none, known (all that broke is "
        "named there), or known-fixed (nothing of it broke: remove the entry)",
        ("none",),
    ),
    Word(
        "known",
        "what broke is a known defect of somebody else's agent: still failed, and the exit code "
        "is not raised",
    ),
    Word("known-fixed", "a known defect that did not show: weighs as failed; remove the entry"),
    Word(
        "repeats",
        "whether the trials of --repeat agree; where they differ they are flaky and weigh as "
        "failed at least",
        ("agree", "differ", "flaky"),
    ),
    Word(
        "in force",
        "a quarantine holds until its last day, in UTC: the trial is left out of the exit code, "
        "and never out of the report",
        ("quarantine", "no"),
    ),
    Word(
        "weighs",
        "what a trial counts as in the exit code, which is that of the worst",
        ("weighs as", "weight"),
    ),
    Word("left out", "does not count in the exit code; reported all the same"),
    Word("--fail-on", "makes what it names weigh as failed", ("fail-on",)),
    Word(
        "sabotage",
        "a protection taken away, to see that exactly the expectations that it names break; "
        "shakeout teeth shows it",
        ("sabotaged", "teeth"),
    ),
    Word(
        "what broke",
        "of a sabotaged trial: exactly what it names, nothing, less or more",
        ("nothing", "exactly what it names", "less", "more"),
    ),
    Word("control", "the case without its faults or its harm, which must pass", ("clean control",)),
    Word(
        "seal",
        "the signed statement on a trial and its evidence; a run without it is not sealed",
        ("made", "could not be made"),
    ),
    Word(
        "sealed",
        "signed with every file's digest, so that one changed byte is found",
        ("attested",),
    ),
    Word("any", "in a table: each of the values gives the same"),
    Word("verdict", "passed, failed, timed_out, unavailable or error; the worst decides"),
    Word("reason", "what stands against a pass; a verdict lists every one", ("reasons",)),
    Word(
        "exit code",
        "0 passed, 1 failed or timed out, 2 bad usage or an invalid file, 3 unavailable, "
        "4 error, 130 interrupted",
        ("exit codes",),
    ),
)
