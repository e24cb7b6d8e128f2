"""Case files: what they mean (``model``), how they are read (``load``), their public schema."""
