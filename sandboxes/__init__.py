"""Disposable places to run a subject in: one contract, several backends."""
