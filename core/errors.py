"""The exception tree. Every message is written for the person who will read it: what, where, what next."""

from __future__ import annotations


class ConcordError(Exception):
    """Anything Concord says no to. Doors show its text as it is; everything else is a bug."""


class BadInput(ConcordError):
    """The input cannot be used; the sentence says which part and how to fix it."""


class NotFound(ConcordError):
    """There is no such thing; the sentence names what there is."""


class Refused(ConcordError):
    """The rules do not allow it; the sentence is the rule."""


class Conflict(ConcordError):
    """Somebody else was faster, or two edits touch the same lines."""

    def __init__(self, message: str, paths: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.paths = paths


class Unavailable(ConcordError):
    """A part that is needed is not there now (a model, an index, a package); the sentence carries the cure."""


class TimedOut(Unavailable):
    """A model gave no answer in time. It may have been at work, and paid for, all the same."""


class Throttled(Unavailable):
    """A model's endpoint wants fewer calls, and went on saying so."""


class OverBudget(Unavailable):
    """A paid call would go beyond the month's budget; it was not made."""


class Corrupt(ConcordError):
    """Stored data does not agree with itself; the sentence says which and how to rebuild it."""


class Cancelled(ConcordError):
    """Somebody asked for the work to stop. What was finished stays."""
