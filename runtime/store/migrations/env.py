"""What alembic runs a migration with: the connection that it was given."""

from __future__ import annotations

from alembic import context

from runtime.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
