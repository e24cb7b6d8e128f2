"""PostgreSQL as SQL, by its own program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from runtime.processes import run
from runtime.tools.base import Context, ToolResult
from runtime.tools.define import as_text, refused

#: Parameters of a URL by the variable that stands for each: no password is seen among arguments.
_VARIABLES: Final[Mapping[str, str]] = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "options": "PGOPTIONS",
}


async def dumped(url: str, context: Context) -> ToolResult:
    """Run ``pg_dump``.

    Raises:
        ProgramMissing: there is none.
    """
    try:
        given = _parameters(url)
    except ValueError as error:
        return refused(f"not a URL: {error}")
    if unknown := given.keys() - _VARIABLES:
        return refused(
            f"pg_dump is not given {', '.join(sorted(unknown))}; leave it out of the URL"
        )
    variables = {_VARIABLES[name]: value for name, value in given.items()}
    settings = context.settings.tools
    ended = await run(
        ["pg_dump", "--no-password"],
        folder=Path("/"),
        environment={**context.environment, **variables, "PGCONNECT_TIMEOUT": "10"},
        seconds=settings.seconds * 0.98,
        most=settings.output,
    )
    output, said = as_text(ended.output), as_text(ended.error)
    return ToolResult(output, said, ended.exit_code, truncated=ended.truncated)


def _parameters(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    found = {
        "host": unquote(parts.hostname or ""),
        "port": str(parts.port or ""),
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "dbname": unquote(parts.path.removeprefix("/")),
        **dict(parse_qsl(parts.query)),
    }
    return {name: value for name, value in found.items() if value}
