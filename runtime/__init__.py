"""The agent runtime behind the `agentd` command."""

__version__ = "0.1.0"
