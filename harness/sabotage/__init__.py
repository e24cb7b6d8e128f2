"""Protections removed from a copy of the subject, to see that the case then fails."""
