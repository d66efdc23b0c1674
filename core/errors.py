"""The exception tree. Each message tells its reader what, where, and what next."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.cures import Cure


class ConcordError(Exception):
    """Anything Concord refuses, and what helps. Entry points show both; any other exception is a bug."""

    def __init__(self, message: str = "", cure: Cure | None = None) -> None:
        super().__init__(message)
        self.message, self.cure = message, cure

    def __str__(self) -> str:
        return f"{self.message} {self.cure.sentence}" if self.cure else self.message

    def at_terminal(self) -> str:
        """For whoever runs Concord, at the command line and in its log: with the command that helps."""
        return f"{self.message} {self.cure}" if self.cure else self.message


class BadInput(ConcordError):
    """The input cannot be used; the message says which part and how to fix it."""


class NotFound(ConcordError):
    """There is no such thing; the message names what there is."""


class Refused(ConcordError):
    """The rules do not allow it; the message is the rule."""


class Unauthenticated(Refused):
    """Nobody known is asking: an access token is unknown, expired or revoked, or its account is switched off."""


class Stale(Refused):
    """What the caller saw is not what is there any more; the message says what to look at again."""


class Busy(Refused):
    """Somebody asks for more at a time than one may; the message says when to go on."""


class Conflict(ConcordError):
    """Somebody else was faster, or two edits touch the same lines."""

    def __init__(self, message: str, paths: tuple[str, ...] = (), cure: Cure | None = None) -> None:
        super().__init__(message, cure)
        self.paths = paths


class Moved(Conflict):
    """A branch moved before it could be written. Nothing was changed, and whoever looks again may try again."""


class Reached(Conflict):
    """It is so already: somebody was faster, or the first try came through."""


class TookEffect(Conflict):
    """A request that came again has done its work, and its answer is lost."""


class UnderWay(Conflict):
    """The same request is being worked on right now; whoever asks again in a moment gets its answer."""


class Unavailable(ConcordError):
    """A model, an index or a package is missing; the message says how to get it."""


class Outdated(Unavailable):
    """The workspace is of an earlier version; the message says what saves and upgrades it."""


class TimedOut(Unavailable):
    """A model did not answer in time. The call may still have been paid for."""


class Throttled(Unavailable):
    """An endpoint kept asking for fewer calls."""


class Unusable(Unavailable):
    """A model answered with something that may not be used; the message says why."""


class Unfit(Unavailable):
    """A model was checked and found unfit for what it is asked to do."""


class OverBudget(ConcordError):
    """A paid call would exceed the month's budget; it was not made. Long work stops and keeps what is done."""


class Corrupt(ConcordError):
    """Stored data is inconsistent; the message says which and how to rebuild it."""


class Cancelled(ConcordError):
    """The work was cancelled. What was finished stays."""


class StorageFailed(ConcordError):
    """The disk is full, read-only or broken; the message says where, and what to do about it."""


_AT_ONCE = 64 << 10  # bytes
_SIGNS = (
    (
        "The disk is full: {} could not be written. What was finished stays, nothing is half-written: free space and "
        "try again.",
        (errno.ENOSPC, errno.EDQUOT),
        ("no space left on device", "out of diskspace", "disk quota exceeded", "database or disk is full"),
    ),
    (
        "The disk is read-only: {} cannot be written. Searching and reading go on; make it writable and try again.",
        (errno.EROFS,),
        ("read-only file system", "readonly database", "insufficient permission", "unable to open database file"),
    ),
    (
        "The disk reports an error: {} could not be written. Free space, or look into the machine's log, and try "
        "again.",
        (errno.EIO,),
        ("disk i/o error", "input/output error", "unable to create temporary object directory"),
    ),
)


def storage_failure(error: BaseException | str, where: object = "") -> StorageFailed | None:
    """What a disk refused, whichever library reports it; None when it is something else.

    >>> print(storage_failure(OSError(errno.ENOSPC, "No space left on device", "data/index/a")))
    The disk is full: data/index/a could not be written. What was finished stays, nothing is half-written: free space
    and try again.
    >>> storage_failure(OSError(errno.ENOENT, "No such file or directory"))
    """
    number, text = getattr(error, "errno", None), str(error).lower()
    copy = getattr(error, "filename2", None)  # a copy fails where it is written
    place = copy or getattr(error, "filename", None) or where or "the workspace"
    for sentence, numbers, signs in _SIGNS:
        if number in numbers or any(sign in text for sign in signs):
            return StorageFailed((_SIGNS[0][0] if _is_full(place) else sentence).format(place))
    cause = getattr(error, "__cause__", None) or getattr(error, "__context__", None)
    return storage_failure(cause, where) if cause else None


def _is_full(place: object) -> bool:
    """Whether a disk has no space for what SQLite takes at a time, or no name for another file: SQLite calls that an
    I/O error.
    """
    try:
        disk = os.statvfs(os.path.dirname(os.path.abspath(os.fspath(place))))  # type: ignore[call-overload]
    except (OSError, TypeError, ValueError):
        return False
    return not disk.f_flag & os.ST_RDONLY and (
        disk.f_bavail * disk.f_frsize < _AT_ONCE or (disk.f_files > 0 and not disk.f_favail)
    )


@contextmanager
def storing(where: object) -> Iterator[None]:
    """Say in our words what a disk refuses during the block."""
    try:
        yield
    except ConcordError:
        raise
    except Exception as error:
        failure = storage_failure(error, where)
        if failure is None:
            raise
        raise failure from error


def in_one_line(error: Exception, most: int = 200) -> str:
    """What a library said, for a sentence of ours.

    >>> in_one_line(OSError("no\\n  space"))
    'no space'
    """
    return " ".join(str(error).split())[:most]


def one_of(name: str, known: Collection[str], what: str, several: str = "") -> None:
    """Refuse a name that is none of those that are known, and say which there are.

    >>> one_of("red", ("green", "blue"), "colour")
    Traceback (most recent call last):
    core.errors.BadInput: There is no colour 'red'. Colours: green, blue.
    """
    if name not in known:
        raise BadInput(f"There is no {what} {name!r}. {several or what.capitalize() + 's'}: {', '.join(known)}.")
