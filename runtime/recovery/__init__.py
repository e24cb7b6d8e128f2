"""What is done about a tool that failed: understood, checked, bounded, tried again or handed over."""
