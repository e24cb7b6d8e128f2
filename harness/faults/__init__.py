"""Faults: one module for each injector; the table is ``registry``."""
