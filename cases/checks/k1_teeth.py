"""Judges that are worse than ours, for the sabotages of k1-teeth."""

from harness.judge.exitcode import Outcome
from verifiers.verdicts import Verdict


def any_break(outcome: Outcome) -> Verdict:
    """A sabotage counts as caught as soon as anything broke."""
    if outcome.verdict is Verdict.FAILED:
        return Verdict.PASSED
    return Verdict.FAILED if outcome.verdict is Verdict.PASSED else outcome.verdict


def no_break_either(outcome: Outcome) -> Verdict:
    """A sabotage counts as caught also where nothing broke."""
    return Verdict.PASSED if outcome.verdict is Verdict.FAILED else outcome.verdict


def believed(tamper: object) -> None:
    """No proof is asked for that a sabotage was applied."""
