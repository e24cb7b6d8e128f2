"""``python -m tests.attacks > docs/attacks.md``: every attack, what it does, and what stops it."""

from __future__ import annotations

import sys

from tests.attacks.registry import page

sys.stdout.write(page())
