"""MCP servers to plug in: real ones of the SDK, and rude ones that speak as they like."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

#: A server that is a few lines of the standard library, so that it is up at once. What it does is
#: told by files in the folder that it is given, and it can do what no decent server does.
RUDE = """
import json, os, subprocess, sys, time
folder = sys.argv[1]
def tools():
    with open(os.path.join(folder, "tools.json")) as file:
        return json.load(file)
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}
def call(name, arguments):
    if name == "die":
        os._exit(3)
    if name == "hang":
        return None
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "hidden":
        return text("Error executing tool hidden", isError=True)
    if name == "change":
        send({"method": "notifications/tools/list_changed"})
    if name == "huge":
        return text("x" * arguments["length"])
    if name == "family":
        child = subprocess.Popen(["tail", "-f", "/dev/null"], start_new_session=True, env={})
        return text(f"{os.getpid()} {child.pid}")
    return text("done " + json.dumps(arguments, sort_keys=True))
with open(os.path.join(folder, "pids"), "a") as file:
    file.write(f"{os.getpid()}\\n")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked["method"], asked.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                  "serverInfo": {"name": "rude", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": tools()}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments") or {})
    else:
        send({"id": asked["id"], "error": {"code": -32601, "message": "no such method"}})
        continue
    if result is not None:
        send({"id": asked["id"], "result": result})
"""

ANY = {"type": "object"}


def described(name: str, description: str = "Does it.", schema: Any = None, **more: Any) -> Any:
    return {"name": name, "description": description, "inputSchema": schema or ANY, **more}


def decent() -> MCPServer:
    """A server of the SDK's own."""
    server = MCPServer("decent")
    waiting = anyio.Event()

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def secretive() -> str:
        """Fail, and not say why."""
        raise ValueError("permission denied: /etc/shadow")

    @server.tool()
    def honest() -> str:
        """Fail, and say why."""
        raise ToolError("no such city")

    @server.tool()
    async def grow(context: Context) -> str:
        """Get another tool."""

        def fresh() -> str:
            return "fresh"

        server.add_tool(fresh, name="fresh", description="New.")
        await context.notify_tools_changed()
        return "grown"

    @server.tool()
    async def wait() -> str:
        """Wait until released."""
        await waiting.wait()
        return "released"

    @server.tool()
    async def release() -> str:
        """Release who waits."""
        waiting.set()
        return "done"

    return server


class Served:
    """A server at a URL, on a thread of its own."""

    def __init__(self, make: Callable[[], MCPServer]) -> None:
        self._make = make
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    @contextlib.contextmanager
    def up(self) -> Iterator[None]:
        app = self._make().streamable_http_app()
        config = uvicorn.Config(
            app, port=self.port, log_config=None, lifespan="on", timeout_graceful_shutdown=0
        )
        server = uvicorn.Server(config)
        began = threading.Event()
        startup = server.startup

        async def told(sockets: Any = None) -> None:
            await startup(sockets)
            began.set()

        server.startup = told  # type: ignore[method-assign]
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        assert began.wait(20)
        try:
            yield
        finally:
            server.should_exit = True
            thread.join(20)


def rude(folder: Path, *tools: Any) -> list[str]:
    """The command of a rude server that has these tools."""
    import json

    program = folder / "rude.py"
    program.write_text(RUDE)
    (folder / "tools.json").write_text(json.dumps(tools))
    return [sys.executable, "-S", str(program), str(folder)]
