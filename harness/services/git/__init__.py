"""``git``: bare repositories over smart HTTP, in memory."""
