"""``github``: GitHub's REST API over repositories that a case declares."""
