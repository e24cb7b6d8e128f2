"""The attacks, a module for each kind."""
