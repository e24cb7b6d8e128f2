"""The tables. Moments are microseconds since the epoch; money is micro-dollars; both are integers."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts rows by INTEGER alone.
_Serial = BigInteger().with_variant(Integer, "sqlite")

#: A conversation; ``kind`` is ``chat`` or ``project``, ``state`` is ``open``, ``running``,
#: ``done``, ``failed`` or ``interrupted``.
CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("model", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
)

#: What was said in it, by ``user``, ``assistant``, ``tool`` or, as a card for people, ``card``.
MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("conversation", String(32), nullable=False),
    Column("position", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("content", JSON, nullable=False),
    Column("created", BigInteger, nullable=False),
    UniqueConstraint("conversation", "position"),
)

#: The one stream of events, in the order of their numbers.
EVENTS = Table(
    "events",
    METADATA,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("conversation", String(32)),
    Column("data", JSON, nullable=False),
    sqlite_autoincrement=True,
)

#: What went wrong with a tool's call, and what it was taken for. ``evidence`` is for people, and
#: never part of a transcript. ``owed`` says that it is to be mended or given to a person.
FAILURES = Table(
    "failures",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("conversation", String(32)),
    Column("call", String(128), nullable=False),
    Column("tool", String(128), nullable=False),
    Column("exit_code", Integer),
    Column("class", String(32), nullable=False),
    Column("rule", String(64), nullable=False),
    Column("evidence", JSON, nullable=False),
    Column("owed", Boolean, nullable=False),
)

#: The ledger: each attempt, ``reserved`` before it runs; ``settled`` after it, ``released`` where it
#: was not made after all, and ``lost`` where the daemon ended in between. All but what was released
#: counts as spent.
ATTEMPTS = Table(
    "attempts",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("failure", String(32), nullable=False),
    Column("conversation", String(32)),
    Column("tool", String(128), nullable=False),
    Column("number", Integer, nullable=False),
    Column("day", String(10), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reserved_micro_usd", BigInteger, nullable=False),
    Column("settled_micro_usd", BigInteger),
    Column("reserved", BigInteger, nullable=False),
    Column("settled", BigInteger),
    Column("outcome", String(32)),
    # What is summed before each attempt is in the index itself.
    Index("ix_attempts_day", "day", "state", "settled_micro_usd", "reserved_micro_usd"),
    Index(None, "conversation"),
    Index(None, "failure"),
)

#: What was given to a person. ``state`` is ``open``, ``approved``, ``rejected``, ``silent``, or, for
#: a retry, ``retrying`` until the conversation goes on, and then ``retried``; ``sinks`` says for each of the places it goes to whether it arrived, ``delivered`` whether all did.
HANDOFFS = Table(
    "handoffs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("failure", String(32), nullable=False, unique=True),
    Column("conversation", String(32)),
    Column("why", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("sinks", JSON, nullable=False),
    Column("delivered", Boolean, nullable=False),
    Column("note", Text),
    Column("created", BigInteger, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("answered", BigInteger),
)

#: The register: entries that every agent can read, each with an owner and a scope.
REGISTER = Table(
    "register",
    METADATA,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    Column("scope_kind", String(16), nullable=False),
    Column("scope", String(128), nullable=False),
    Column("key", Text, nullable=False),
    Column("value", JSON, nullable=False),
    Column("owner", String(128), nullable=False),
    Column("created", BigInteger, nullable=False),
)

#: What was plugged in at run time: packages, MCP servers, skills.
PLUGS = Table(
    "plugs",
    METADATA,
    Column("name", String(128), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("spec", JSON, nullable=False),
    Column("pinned", JSON, nullable=False),
    Column("created", BigInteger, nullable=False),
)
