"""One module for each verb: ``configure(parser)`` and ``run(args) -> int``."""
