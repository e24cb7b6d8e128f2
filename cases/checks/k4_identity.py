"""Judges that take any code for their own, for the sabotages of k4-identity."""

from harness.identity import Asked
from harness.state import PACKAGE


def believed() -> str:
    """Whatever is loaded is what was asked for."""
    return ""


def unaltered(*_: object) -> str:
    """No module has another content than is on record."""
    return ""


def where_it_lies() -> dict[object, Asked]:
    """Whatever folder the code came out of is the one that was asked for."""
    return {PACKAGE.parent: Asked(PACKAGE.parent, {})}
