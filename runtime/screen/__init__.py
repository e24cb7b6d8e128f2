"""The one screen for secrets that every sink of the runtime goes through."""
