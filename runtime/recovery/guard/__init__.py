"""What a retry may change, and what no call may write while a failure waits for a person."""
