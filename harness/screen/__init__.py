"""Planted secrets, found in every encoding and replaced by marks."""
