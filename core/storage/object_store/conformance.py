"""Whether a store keeps its word: of several who write one object on a condition, exactly one may win.

A store that ignores `If-None-Match` or `If-Match` lets the last one win: published generations would be lost without a word.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from core import strict
from core.adapters.system.files import read_json, write_atomic
from core.errors import Conflict, Refused
from core.storage.object_store.objects import ObjectStore

RACERS = 6
_DAY = 24 * 3600


class Conformance:
    """Checks a store once, and again after a day. What was found is kept in a file of this machine."""

    def __init__(self, objects: ObjectStore, found: Path) -> None:
        self.objects, self.found, self._passed = objects, found, False

    def require(self) -> None:
        """Refuse a store that ignores conditions."""
        if self._passed:
            return
        known = read_json(self.found) or {}
        same = (known.get("store"), known.get("endpoint")) == (self.objects.url, self.objects.endpoint)
        if not same or self._old():
            self.again()
        self._passed = True

    def again(self) -> None:
        """Check whatever was found before."""
        check(self.objects)
        facts = {"store": self.objects.url, "endpoint": self.objects.endpoint}
        with suppress(OSError):  # then it is checked at every start
            write_atomic(self.found, strict.canonical(facts))

    def _old(self) -> bool:
        return time.time() - self.found.stat().st_mtime > _DAY


def check(objects: ObjectStore) -> None:
    """Race for one object twice: who makes it, and who replaces it. Refused, unless each race has one winner."""
    key = f"conformance/{secrets.token_hex(8)}"
    try:
        first = _race(objects, key, lambda data: objects.put(key, data, if_none_match=True))
        second = _race(objects, key, lambda data: objects.put(key, data, if_match=first))
        _stale(objects, key, first, second)
    finally:
        objects.delete([key])


def _race(objects: ObjectStore, key: str, write: Callable[[bytes], str]) -> str:
    """The ETag of what the one winner wrote."""
    ready = threading.Barrier(RACERS)

    def run(number: int) -> tuple[bytes, str] | None:
        data = f"{number} {secrets.token_hex(8)}".encode()
        ready.wait()
        try:
            return data, write(data)
        except Conflict:
            return None

    with ThreadPoolExecutor(RACERS) as racers:
        winners = [won for won in racers.map(run, range(RACERS)) if won]
    stored = objects.get(key)
    if len(winners) != 1 or stored is None or stored.data != winners[0][0]:
        raise _refused(objects, f"{len(winners)} of {RACERS} writers of one object won, and one may")
    return stored.etag


def _stale(objects: ObjectStore, key: str, old: str, new: str) -> None:
    """What was replaced may not be replaced again, and what is there may not be made again."""
    for condition in ({"if_match": old}, {"if_none_match": True}):
        try:
            objects.put(key, secrets.token_bytes(8), **condition)  # type: ignore[arg-type]
        except Conflict:
            continue
        raise _refused(objects, "it replaced an object although the condition of the request was not met")
    if (stored := objects.get(key)) is None or stored.etag != new:
        raise _refused(objects, "it does not return what was written last")


def _refused(objects: ObjectStore, why: str) -> Refused:
    return Refused(
        f"The store {objects.url} at {objects.endpoint} ignores conditions of writes: {why}. Work of one machine would be lost"
        " to another. Use a store that honours If-None-Match and If-Match, such as Amazon S3 or SeaweedFS."
    )
