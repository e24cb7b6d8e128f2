"""The rehearsal: cases, trials, faults, services, oracles, evidence, the ``shakeout`` command."""
