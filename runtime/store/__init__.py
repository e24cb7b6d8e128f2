"""The one store: SQLAlchemy Core over SQLite, or over PostgreSQL by URL."""
