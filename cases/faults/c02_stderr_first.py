"""A classifier that believes the wrong stream, for the sabotage of c02-stderr-first."""

from dataclasses import replace

from runtime.recovery.classes import Classified, Failure
from runtime.recovery.classify.decide import classify


def output_first(failure: Failure) -> Classified:
    """The normal output is believed before the error output."""
    return classify(replace(failure, output=failure.error, error=failure.output))
