"""The rehearsal: cases, trials, faults, services, oracles, evidence, the ``shakeout`` command."""

__version__ = "0.1.0"
