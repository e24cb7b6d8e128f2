"""A landing proof that always holds, for the sabotage of k2-landed."""

from collections.abc import Sequence

from harness.case.model import Case
from harness.evidence.model import FaultRecord


def landed(case: Case) -> Sequence[FaultRecord]:
    """Every fault of a case that nobody injected, as landed once."""
    return [
        FaultRecord(fault.id, fault.fault, armed=True, landed=True, count=1, proof="it must have")
        for fault in case.faults
    ]
