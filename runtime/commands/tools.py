"""``agentd tools``: the tools there are; and what is plugged in, added, removed and accepted.

The daemon of the state folder is asked where one runs. Else the store is changed, for its next
start.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from runtime.daemon import folder
from runtime.places import Places

_WIDTH: Final = 72
_MCP_USAGE: Final = (
    "agentd tools plug mcp NAME [--env VARIABLE]… -- COMMAND…\n"
    "       agentd tools plug mcp NAME --url URL [--bearer VARIABLE]"
)
_ENV: Final[Mapping[str, Any]] = {
    "action": "append",
    "default": [],
    "metavar": "VARIABLE",
    "help": "a variable of agentd's that it is given",
}


class _Plugs(Protocol):
    def list(self) -> dict[str, Any]: ...

    def plug(self, given: dict[str, Any]) -> dict[str, Any]: ...

    def unplug(self, name: str) -> dict[str, Any]: ...

    def accept(self, name: str) -> dict[str, Any]: ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what it takes."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(work=_list)
    works = parser.add_subparsers(metavar="WORK", title="works")
    _plug_arguments(works.add_parser("plug", help="plug something in"))
    for name, work, said in (
        ("unplug", _unplug, "take something out; calls that run end first"),
        ("accept", _accept, "let definitions be used that have changed"),
    ):
        sub = works.add_parser(name, help=said, description=said)
        sub.add_argument("name", help="what it is called")
        sub.set_defaults(work=work)


def _plug_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="KIND", title="kinds", required=True)
    package = kinds.add_parser("package", help="an installed Python package")
    package.add_argument("distribution", metavar="NAME", help="of the package, as it is installed")
    package.add_argument("--as", dest="name", metavar="NAME", help="what to call it here")
    package.add_argument(
        "--path", action="append", default=[], metavar="DIR", help="look here first"
    )
    package.set_defaults(work=_plug, spec=_package)
    package.add_argument("--env", **_ENV)
    mcp = kinds.add_parser("mcp", help="an MCP server", usage=_MCP_USAGE)
    mcp.add_argument("name", metavar="NAME", help="what to call it")
    # What comes behind the name may be split by a --, which this parser cannot do in the middle.
    mcp.add_argument("rest", nargs=argparse.REMAINDER, help="--url URL, or -- COMMAND…")
    mcp.set_defaults(work=_plug, spec=_mcp)
    skill = kinds.add_parser("skill", help="a folder with a SKILL.md")
    skill.add_argument("folder", metavar="DIR", type=Path)
    skill.set_defaults(work=_plug, spec=_skill)


def run(options: argparse.Namespace) -> int:
    """Do it, and say what came of it."""
    with _opened(Places.of(os.environ)) as plugs:
        done = options.work(plugs, options)
    if options.json:
        sys.stdout.write(f"{json.dumps(done, indent=2)}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(done))
    return 0


@contextmanager
def _opened(places: Places) -> Iterator[_Plugs]:
    with folder.beside(places) as share:
        if share is None:
            yield _Daemon(places)
            return
        share.settle()
        from runtime.tools.hotplug.offline import Offline  # noqa: PLC0415 - where no daemon runs

        offline = Offline(places, os.environ)
        try:
            yield offline
        finally:
            offline.close()


class _Daemon:
    """A daemon that runs."""

    def __init__(self, places: Places) -> None:
        from runtime.daemon.client import Client  # noqa: PLC0415 - where one runs

        self._client = Client(places)

    def list(self) -> dict[str, Any]:
        return {**self._client.ask("GET", "/tools"), **self._client.ask("GET", "/plugs")}

    def plug(self, given: dict[str, Any]) -> dict[str, Any]:
        return dict(self._client.ask("POST", "/plugs", given))

    def unplug(self, name: str) -> dict[str, Any]:
        return dict(self._client.ask("DELETE", _path(name)))

    def accept(self, name: str) -> dict[str, Any]:
        return dict(self._client.ask("POST", f"{_path(name)}/accept"))


def _path(name: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - where a daemon runs

    return f"/plugs/{quote(name, safe='')}"


def _list(plugs: _Plugs, options: argparse.Namespace) -> Any:  # noqa: ARG001
    return plugs.list()


def _plug(plugs: _Plugs, options: argparse.Namespace) -> Any:
    return {"plugged": plugs.plug(options.spec(options))}


def _unplug(plugs: _Plugs, options: argparse.Namespace) -> Any:
    return {"unplugged": plugs.unplug(options.name)}


def _accept(plugs: _Plugs, options: argparse.Namespace) -> Any:
    return {"accepted": plugs.accept(options.name)}


def _package(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "kind": "package",
        "name": options.name or options.distribution.lower().replace(".", "-"),
        "distribution": options.distribution,
        "path": [str(Path(each).absolute()) for each in options.path],
        "env": options.env,
    }


def _mcp(options: argparse.Namespace) -> dict[str, Any]:
    own, command = _split(options.rest)
    parser = argparse.ArgumentParser(usage=_MCP_USAGE, add_help=False)
    parser.add_argument("--url")
    parser.add_argument("--bearer")
    parser.add_argument("--env", **_ENV)
    more = parser.parse_args(own)
    return {"kind": "mcp", "name": options.name, "command": command, **vars(more)}


def _split(rest: list[str]) -> tuple[list[str], list[str]]:
    """Options, and the command behind the first ``--``."""
    # argparse swallows one that is right behind the name.
    if rest and not rest[0].startswith("-"):
        return [], rest
    split = rest.index("--") if "--" in rest else len(rest)
    return rest[:split], rest[split + 1 :]


def _skill(options: argparse.Namespace) -> dict[str, Any]:
    from runtime.tools.hotplug.manifest import manifest_of  # noqa: PLC0415 - for skills alone

    place = options.folder.resolve()
    return {"kind": "skill", "name": manifest_of(place).name, "folder": str(place)}


def _lines(done: Any) -> Iterator[str]:
    """What was done, for people."""
    if "plugged" in done:
        yield from _plug_lines(done["plugged"])
    elif "unplugged" in done:
        report = done["unplugged"]
        running = f"; calls that still run: {report['running']}" if report["running"] else ""
        yield f"unplugged {report['name']}{running}"
    elif "accepted" in done:
        report = done["accepted"]
        names = ", ".join(report["accepted"]) or "nothing had changed"
        yield f"accepted of {report['name']}: {names}"
    else:
        for tool in done["tools"]:
            summary = tool["summary"]
            short = summary if len(summary) <= _WIDTH else f"{summary[: _WIDTH - 1]}…"
            yield f"{tool['name']:32} {tool['family']:16} {short}"
        for plug in done["plugs"]:
            yield from _plug_lines(plug)


def _plug_lines(plug: Any) -> Iterator[str]:
    state = "comes up with the daemon" if plug["state"] == "stored" else plug["state"]
    why = f": {plug['why']}" if plug["why"] else ""
    yield f"{plug['kind']} {plug['name']}: {state}{why}"
    yield from (f"  {name}" for name in plug["tools"])
    if plug.get("changed"):
        names = ", ".join(plug["changed"])
        yield f"  changed, and not used until `agentd tools accept {plug['name']}`: {names}"
    for name, problem in plug.get("unfit", {}).items():
        yield f"  cannot be used: {name}: {problem}"
