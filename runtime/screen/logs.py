"""Logging through the screen: what a handler gets or writes has no secret in it."""

from __future__ import annotations

import logging

from runtime.screen.screen import Screen

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}


class ScreenFilter(logging.Filter):
    """Screens a record in place: message with its arguments, exception, stack and extras.

    To be put on handlers: a logger's filters do not see its children's records.
    """

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen

    def filter(self, record: logging.LogRecord) -> bool:
        """Screens the record and lets it pass."""
        record.msg = self._screen.text(_message(record))
        record.args = None
        if record.exc_info and record.exc_info[1]:
            record.exc_text = self._screen.exception(record.exc_info[1]).rstrip("\n")
        elif record.exc_text:
            record.exc_text = self._screen.text(record.exc_text)
        record.exc_info = None
        if record.stack_info:
            record.stack_info = self._screen.text(record.stack_info)
        for name in record.__dict__.keys() - _OWN:
            record.__dict__[name] = self._screen.field(name, record.__dict__[name])
        return True


class ScreenFormatter(logging.Formatter):
    """Screens the whole of what another formatter makes of a record."""

    def __init__(self, screen: Screen, inner: logging.Formatter | None = None) -> None:
        super().__init__()
        self._screen = screen
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """The line or lines of the record, screened."""
        return self._screen.text(self._inner.format(record))


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not fit lose no record
        return f"{record.msg!s} {record.args!r}"
