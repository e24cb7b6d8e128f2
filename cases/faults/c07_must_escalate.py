"""A classifier without what must escalate, for the sabotage of c07-must-escalate."""

from dataclasses import replace

from runtime.recovery.classes import Classified, Failure, FailureClass
from runtime.recovery.classify.decide import classify


def all_network(failure: Failure) -> Classified:
    """Whatever it is, it may be tried again."""
    return replace(classify(failure), cls=FailureClass.NETWORK)
