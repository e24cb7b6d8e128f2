"""Language toolchains and the verdicts they share with the harness."""
