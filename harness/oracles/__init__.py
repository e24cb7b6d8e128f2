"""Oracles: pure functions of evidence. One module for each; the table is ``registry``."""
