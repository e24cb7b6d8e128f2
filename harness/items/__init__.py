"""Cases as items of pytest; what ``harness.pytest_plugin`` is made of."""
