"""Stored trials once more: judged again out of their files, or run again by their schedule."""
