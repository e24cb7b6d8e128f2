"""Databases that tools work on: files of SQLite's, and PostgreSQL by URL."""
