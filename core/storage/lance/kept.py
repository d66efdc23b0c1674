"""What was read last stays in memory, up to a number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LruCache(Generic[Value]):
    """The values used last, by chunk. Threads may share it.

    >>> kept = LruCache(1)
    >>> kept.put(1, "one"); kept.put(2, "two"); kept.get(1), kept.get(2)
    (None, 'two')
    """

    def __init__(self, most: int) -> None:
        self._most, self._values = most, OrderedDict[int, Value]()
        self._lock = threading.Lock()

    def __contains__(self, chunk: int) -> bool:
        return chunk in self._values

    def get(self, chunk: int) -> Value | None:
        with self._lock:
            if chunk in self._values:
                self._values.move_to_end(chunk)
            return self._values.get(chunk)

    def put(self, chunk: int, value: Value) -> None:
        with self._lock:
            self._values[chunk] = value
            self._values.move_to_end(chunk)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
