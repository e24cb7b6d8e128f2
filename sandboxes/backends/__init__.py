"""One module for each backend; the table is in ``sandboxes/registry.py``."""
