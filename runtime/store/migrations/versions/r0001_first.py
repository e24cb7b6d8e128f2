"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make them."""
    _attempts()
    _conversations()
    _events()
    _failures()
    _handoffs()
    _messages()
    _plugs()
    _register()


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("failure", sa.String(length=32), nullable=False),
        sa.Column("conversation", sa.String(length=32), nullable=True),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reserved_micro_usd", sa.BigInteger(), nullable=False),
        sa.Column("settled_micro_usd", sa.BigInteger(), nullable=True),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
    )
    op.create_index("ix_attempts_conversation", "attempts", ["conversation"], unique=False)
    summed = ["day", "state", "settled_micro_usd", "reserved_micro_usd"]
    op.create_index("ix_attempts_day", "attempts", summed, unique=False)
    op.create_index("ix_attempts_failure", "attempts", ["failure"], unique=False)


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("conversation", sa.String(length=32), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,
    )


def _failures() -> None:
    op.create_table(
        "failures",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("conversation", sa.String(length=32), nullable=True),
        sa.Column("call", sa.String(length=128), nullable=False),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("class", sa.String(length=32), nullable=False),
        sa.Column("rule", sa.String(length=64), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("owed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_failures"),
    )


def _handoffs() -> None:
    op.create_table(
        "handoffs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("failure", sa.String(length=32), nullable=False),
        sa.Column("conversation", sa.String(length=32), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("sinks", sa.JSON(), nullable=False),
        sa.Column("delivered", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_handoffs"),
        sa.UniqueConstraint("failure", name="uq_handoffs_failure"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("conversation", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        sa.UniqueConstraint("conversation", "position", name="uq_messages_conversation_position"),
    )


def _plugs() -> None:
    op.create_table(
        "plugs",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("pinned", sa.JSON(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_plugs"),
    )


def _register() -> None:
    op.create_table(
        "register",
        sa.Column("id", _SERIAL, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("scope_kind", sa.String(length=16), nullable=False),
        sa.Column("scope", sa.String(length=128), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("owner", sa.String(length=128), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_register"),
    )
