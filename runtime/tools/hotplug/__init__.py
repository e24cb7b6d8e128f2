"""Tools that are plugged in while the daemon runs: packages, MCP servers, skills."""
