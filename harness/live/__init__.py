"""The part of a trial that is alive: the sandbox, what is around it, and what is taken from it."""
