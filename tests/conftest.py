"""Settings of all tests.

Properties have no deadline for a single example: the machine may be busy, and slowness that
matters has tests of its own.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shakeout", deadline=None)
settings.load_profile("shakeout")
