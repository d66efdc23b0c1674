"""The exception tree. Each message tells its reader what, where, and what next."""

from __future__ import annotations


class ConcordError(Exception):
    """Anything Concord refuses. Entry points show its text; any other exception is a bug."""


class BadInput(ConcordError):
    """The input cannot be used; the message says which part and how to fix it."""


class NotFound(ConcordError):
    """There is no such thing; the message names what there is."""


class Refused(ConcordError):
    """The rules do not allow it; the message is the rule."""


class Conflict(ConcordError):
    """Somebody else was faster, or two edits touch the same lines."""

    def __init__(self, message: str, paths: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.paths = paths


class Unavailable(ConcordError):
    """A model, an index or a package is missing; the message says how to get it."""


class TimedOut(Unavailable):
    """A model did not answer in time. The call may still have been paid for."""


class Throttled(Unavailable):
    """An endpoint kept asking for fewer calls."""


class OverBudget(Unavailable):
    """A paid call would exceed the month's budget; it was not made."""


class Corrupt(ConcordError):
    """Stored data is inconsistent; the message says which and how to rebuild it."""


class Cancelled(ConcordError):
    """The work was cancelled. What was finished stays."""
