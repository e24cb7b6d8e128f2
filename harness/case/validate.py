"""Structure: plain data against a schema, by jsonschema, which is slow to import."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.case import grammar
from harness.case.flaws import Flaw, explain, told
from harness.case.yaml_build import Keys

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def validator(schema: Mapping[str, Any]) -> Validator:
    """A validator that knows our formats and takes no 1.0 for a whole number."""
    return _validator_class()(schema, format_checker=_formats())


def flaws(check: Validator, data: Any, path: Keys = ()) -> Iterator[Flaw]:
    """Everything that is wrong with the structure of ``data``, which lies at ``path``."""
    yield from told(flaw for error in check.iter_errors(data) for flaw in explain(error, path))


@functools.cache
def _validator_class() -> Callable[..., Validator]:
    from jsonschema import Draft202012Validator, ValidationError, validators  # noqa: PLC0415 - slow

    def whole(_: Any, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and _ecma(wanted).search(value) is None:
            yield ValidationError(f"{value!r} does not match {wanted!r}")

    base = Draft202012Validator
    made: Callable[..., Validator] = validators.extend(  # type: ignore[no-untyped-call]
        base, {"pattern": pattern}, type_checker=base.TYPE_CHECKER.redefine("integer", whole)
    )
    return made


@functools.cache
def _ecma(pattern: str) -> re.Pattern[str]:
    """A final ``$`` is the end of the text, as editors read it, and not before a last line end."""
    ends = pattern.endswith("$") and not pattern.endswith("\\$")
    return re.compile(pattern[:-1] + r"\Z" if ends else pattern)


@functools.cache
def _formats() -> Any:
    from jsonschema import FormatChecker  # noqa: PLC0415 - slow

    checker = FormatChecker(formats=())

    def register(name: str, reads: Callable[[str], object]) -> None:
        @checker.checks(name, raises=grammar.GrammarError)
        def _(value: object) -> bool:
            if isinstance(value, str):
                reads(value)
            return True

    for name, reads in grammar.FORMATS.items():
        register(name, reads)
    return checker
