"""The command line's parser: of a wrong word it says which right one is near."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, TypeVar

N = TypeVar("N")


class Parser(argparse.ArgumentParser):
    """Says ``did you mean`` of verbs, values and options; each verb of its own options."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: N | None = None
    ) -> tuple[argparse.Namespace | N, list[str]]:
        """Parse; an option that is not known ends it here, where the known ones are."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}{self._meant(left)}")
        return found, left

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, f"unknown {value!r}; {_one_of(value, action)}")

    def _meant(self, left: Sequence[str]) -> str:
        from harness.case.errors import closest  # noqa: PLC0415 - not for --help

        words = [word.partition("=")[0] for word in left if word.startswith("-")]
        near = [closest(word, self._option_string_actions) for word in words]
        names = list(dict.fromkeys(name for name in near if name is not None))
        return f"; did you mean {' '.join(names)}?" if names else ""


def _one_of(value: Any, action: argparse.Action) -> str:
    from harness.case.errors import closest  # noqa: PLC0415 - not for --help

    names = [str(choice) for choice in action.choices or ()]
    near = closest(str(value), names)
    return f"did you mean {near}?" if near else f"write one of {', '.join(names)}"
