"""Several questions to a language model at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
THREADS = 4  # at once: an endpoint counts the wait for its turn as time of the call


@contextmanager
def together(work: Callable[[A], B], things: Sequence[A], at_once: int = THREADS) -> Iterator[Iterable[B]]:
    """The work on each thing, in order, some at once; what was not begun when the block ends is dropped.

    >>> with together(str.upper, ["a", "b"]) as results:
    ...     list(results)
    ['A', 'B']
    """
    if at_once < 2:
        yield map(work, things)
        return
    pool = ThreadPoolExecutor(at_once)
    try:
        waiting = [pool.submit(copy_context().run, work, thing) for thing in things]
        yield (future.result() for future in waiting)
    finally:
        pool.shutdown(cancel_futures=True)
