"""The agent runtime; nothing is here yet."""
