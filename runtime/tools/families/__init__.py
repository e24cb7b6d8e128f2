"""The core tools, one module for each family; each has a tuple ``TOOLS``."""
