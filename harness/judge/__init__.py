"""Verdicts and the exit code, from facts alone."""
