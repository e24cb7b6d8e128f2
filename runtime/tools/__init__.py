"""What an agent can call: the core tools, and those that are plugged in at run time."""
