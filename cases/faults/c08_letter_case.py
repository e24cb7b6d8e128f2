"""A guard that compares what is written, for the sabotage of c08-letter-case."""


def as_written(text: str) -> str:
    """One spelling is as good as another."""
    return text
