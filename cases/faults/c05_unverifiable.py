"""A verifier that takes no answer for a yes, for the sabotage of c05-unverifiable."""

from dataclasses import replace

from runtime.recovery.observe import Failed
from runtime.recovery.verify import Checked, verify
from runtime.tools.base import Context


async def verified(failed: Failed, context: Context) -> Checked:
    """What cannot be verified will hold."""
    checked = await verify(failed, context)
    return replace(checked, ok=True) if checked.ok is None else checked
