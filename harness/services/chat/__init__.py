"""What services through which a subject talks with a person have in common."""
