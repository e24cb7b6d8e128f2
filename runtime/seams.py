"""The names that a sabotage may patch, each with the protection that stands or falls with it.

What shows that a case can fail takes one of these away from a copy of agentd. Nothing in agentd
reads this table; a name that is not in it is nobody's business outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: ``module:qualname`` to what is lost without it.
SEAMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "runtime.recovery.classify.decide:classify": (
            "What failed is told by its error output first, and what must escalate is told apart."
        ),
        "runtime.recovery.guard.table:TABLE": (
            "A class that the table does not name is never retried, and one that it names only so."
        ),
        "runtime.recovery.guard.table:WORKAROUNDS": (
            "What works around an open failure of a class is not done meanwhile."
        ),
        "runtime.recovery.supervise:Supervisor._wait": (
            "The wait that a server asks for is kept, and nothing goes beyond the deadline."
        ),
        "runtime.recovery.supervise:Supervisor._recover": (
            "Only the ten tools that read are tried again, behind every gate."
        ),
        "runtime.recovery.killswitch:tripped": (
            "The kill switch is looked at each time, and what cannot be looked at counts as tripped."
        ),
        "runtime.recovery.budget:Budget._insert": (
            "An attempt is reserved in the one statement that looks at the limits."
        ),
        "runtime.recovery.budget:Budget.price": "What nobody stated a price for is refused.",
        "runtime.recovery.budget:Budget.close_lost": (
            "What was reserved when the daemon died stays spent."
        ),
        "runtime.recovery.handoff:Handoffs.give": "What is not mended is given to a person.",
        "runtime.recovery.handoff:Handoffs._take": (
            "What a place refused is brought to it again, and no other place goes without."
        ),
        "runtime.recovery.verify:verify": "What cannot be verified counts as no.",
        "runtime.recovery.guard.followups:workaround": (
            "A call of the model that works around an open failure is not made."
        ),
        "runtime.recovery.guard.spelled:plain": (
            "Letter case, Unicode forms and look-alikes make no difference to the guard."
        ),
        "runtime.recovery.guard.changes:changed": "A retry is the one call that the class allows.",
        "runtime.settings:load": "What the user did not switch on or fund is off and zero.",
    }
)
