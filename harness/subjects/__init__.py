"""Subjects: adapters that start an agent unmodified. The table is ``registry``."""
