"""The one cache in memory: what was used last stays, up to a number or a weight. `functools.lru_cache` serves where a
function is all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Generic, TypeVar
from weakref import WeakMethod

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """The values used last, at most `most` of them, or as many as `weigh` at most `most` together. Threads may share
    it.

    >>> cache = LruCache(2)
    >>> cache["a"], cache["b"] = 1, 2
    >>> cache.get("a"), cache.find("c", lambda: 3), cache.get("b"), len(cache)
    (1, 3, None, 2)
    >>> texts = LruCache(5, len)
    >>> texts["a"], texts["b"] = b"xxx", b"xxx"
    >>> "a" in texts, "b" in texts
    (False, True)
    """

    def __init__(self, most: int, weigh: Callable[[Value], int] = lambda value: 1) -> None:
        self.most, self._weigh, self._weight = most, weigh, 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def __setitem__(self, key: Key, value: Value) -> None:
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self.most:
                self._drop(next(iter(self._values)))

    def find(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key, made where it is missing; two threads may both make it."""
        value = self.get(key)
        if value is None:
            value = self[key] = make()
        return value

    def find_all(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], Sequence[Value]]) -> list[Value]:
        """The values of keys in their order; those that are missing are made together, each once."""
        known = {key: self.get(key) for key in keys}
        missing = [key for key, value in known.items() if value is None]
        for key, value in zip(missing, make(missing) if missing else (), strict=True):
            known[key] = self[key] = value
        return [known[key] for key in keys]  # type: ignore[misc]

    def trim(self, most: int, among: Callable[[Key], bool]) -> None:
        """Drop the oldest of some until they weigh at most so much."""
        with self._lock:
            keys = [key for key in self._values if among(key)]
            weight = sum(self._weigh(self._values[key]) for key in keys)
            for key in keys:
                if weight <= most:
                    return
                weight -= self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0

    def values(self) -> list[Value]:
        with self._lock:
            return list(self._values.values())

    def _drop(self, key: Key) -> int:
        weight = self._weigh(self._values.pop(key)) if key in self._values else 0
        self._weight -= weight
        return weight


def last_results(method: Callable[..., Value], most: int) -> Callable[..., Value]:
    """A method that keeps its last results, for an attribute of its own object.

    `lru_cache` holds the method and the method its object, which would then wait for the garbage collector, with every
    file it has open; so it goes with its last reader.
    """
    held = WeakMethod(method)
    return lru_cache(most)(lambda *asked: held()(*asked))  # type: ignore[misc]
