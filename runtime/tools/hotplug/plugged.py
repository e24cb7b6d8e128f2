"""One thing that is plugged in: its tools in the registry, its pins, its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import anyio

from runtime.errors import AgentdError
from runtime.tools.base import Arguments, Context, Run, Tool, ToolResult
from runtime.tools.hotplug.offers import Offer, summary, tool_name
from runtime.tools.hotplug.pins import Pins
from runtime.tools.hotplug.schemas import safe_schema
from runtime.tools.hotplug.source import GONE, Source
from runtime.tools.hotplug.specs import BadPlug, Spec
from runtime.tools.registry import BadTool, DuplicateTool, Registry, check

State: TypeAlias = Literal["starting", "up", "down", "removed"]
Emit: TypeAlias = Callable[..., Awaitable[None]]
Keep: TypeAlias = Callable[[str, Pins], Awaitable[None]]


class Plugged:
    """One plug.

    Args:
        spec: what it is.
        source: where its tools come from.
        pins: the definitions that may be used.
        registry: where its tools go.
        emit: tells of events.
        keep: writes pins down.

    Attributes:
        spec: what it is.
        pins: the definitions that may be used, and those that wait to be accepted.
        state: whether its tools can be called.
        why: why not, where they cannot.
        first: set once it is up, or is known not to be.
    """

    def __init__(
        self, spec: Spec, source: Source, pins: Pins, registry: Registry, emit: Emit, keep: Keep
    ) -> None:
        self.spec = spec
        self.pins = pins
        self.state: State = "starting"
        self.why = ""
        self.first = anyio.Event()
        self._source = source
        self._registry = registry
        self._emit = emit
        self._keep = keep
        self._offers: Mapping[str, Offer] = {}
        self._unfit: dict[str, str] = {}
        self._calls = 0
        self._idle = anyio.Event()
        self._scope = anyio.CancelScope()

    @property
    def family(self) -> str:
        """The family of its tools."""
        return f"{self.spec.kind}:{self.spec.name}"

    async def live(self) -> None:
        """Hold it open, until :meth:`close`; what goes wrong with it harms nothing else."""
        with self._scope:
            try:
                await self._source.serve(self._listed, self._troubled)
            except Exception as error:  # noqa: BLE001 - a plug brings about whatever it likes
                said = str(error) if isinstance(error, AgentdError) else repr(error)
                await self._troubled(said)

    async def comes_up(self) -> None:
        """Wait until it is up.

        Raises:
            BadPlug: it did not come up.
        """
        await self.first.wait()
        if self.state != "up":
            raise BadPlug(f"{self.spec.name} was not plugged in: {self.why}", "")

    async def _listed(self, offers: Sequence[Offer]) -> None:
        """Take what it has now: all of it, or nothing where a name is taken."""
        if self.state == "removed":
            return
        try:
            fit, unfit = self._fit(offers)
            usable = self.pins.usable([each for each in offers if each.name in fit])
            self._registry.replace(self.family, [fit[each.name] for each in usable])
        except AgentdError as error:
            await self._troubled(str(error))
            return
        self._offers = {each.name: each for each in offers}
        self._unfit = unfit
        self.state, self.why = "up", ""
        await self._keep(self.spec.name, self.pins)
        self.first.set()
        await self._emit("plug.listed", plug=self.report())

    def _fit(self, offers: Sequence[Offer]) -> tuple[dict[str, Tool], dict[str, str]]:
        """The tools that can be used, and why others cannot."""
        fit: dict[str, Tool] = {}
        unfit: dict[str, str] = {}
        for offer in offers:
            if offer.name in fit or offer.name in unfit:
                raise DuplicateTool(f"{self._source.said} has two tools {offer.name!r}", "")
            try:
                fit[offer.name] = self._tool(offer)
            except (BadPlug, BadTool) as error:
                unfit[offer.name] = str(error)
        return fit, unfit

    def _tool(self, offer: Offer) -> Tool:
        # What it says of its tools' harmlessness is not taken from it.
        tool = Tool(
            offer.shown or tool_name(self.spec.name, offer.name),
            self.family,
            summary(self._source.said, offer.description),
            safe_schema(offer.schema),
            self._run(offer),
        )
        check(tool)
        return tool

    def _run(self, offer: Offer) -> Run:
        async def run(arguments: Arguments, context: Context) -> ToolResult:
            if why := self._refuses(offer):
                return ToolResult(error=why, exit_code=GONE)
            self._calls += 1
            try:
                return await self._source.call(offer.name, arguments, context)
            finally:
                self._calls -= 1
                if not self._calls:
                    self._idle.set()

        return run

    def _refuses(self, offer: Offer) -> str:
        """Why a call is not made that was found before something changed."""
        if self.state == "removed":
            return f"{self._source.said} was unplugged"
        now = self._offers.get(offer.name)
        if now is None:
            return f"{self._source.said} has no tool {offer.name!r} any longer"
        if now.digest != offer.digest:
            return f"{self._source.said} changed {offer.name!r}, and nobody has accepted that"
        return ""

    async def _troubled(self, why: str) -> None:
        if self.state == "removed":
            return
        self.state, self.why = "down", why
        self.first.set()
        await self._emit("plug.down", name=self.spec.name, why=why)

    async def accept(self) -> tuple[str, ...]:
        """Use the definitions that it has now, and say which of them are new."""
        if (found := await self._source.look_again()) is not None:
            await self._listed(found)
        accepted = self.pins.accept()
        await self._listed(list(self._offers.values()))
        await self._keep(self.spec.name, self.pins)
        return accepted

    def remove(self) -> tuple[str, ...]:
        """Take its tools out: no new call finds them. Calls that run go on."""
        self.state = "removed"
        return self._registry.remove(self.family)

    async def close(self) -> None:
        """End it, once no call of it runs any longer."""
        while self._calls:
            self._idle = anyio.Event()
            await self._idle.wait()
        self._scope.cancel()

    @property
    def running(self) -> int:
        """Calls that run."""
        return self._calls

    def report(self) -> dict[str, Any]:
        """What there is to say of it, as JSON."""
        return {
            "name": self.spec.name,
            "kind": self.spec.kind,
            "state": self.state,
            "why": self.why,
            "tools": sorted(tool.name for tool in self._registry if tool.family == self.family),
            "changed": sorted(self.pins.changed),
            "unfit": dict(sorted(self._unfit.items())),
        }
