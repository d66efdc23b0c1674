"""Work in a second thread while a model computes outside of Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from core.errors import ConcordError
from core.ports import Progress

T = TypeVar("T")


@contextmanager
def in_background(work: Callable[[Progress], T]) -> Iterator[Callable[[], T]]:
    """Run `work` in a second thread during the block; leaving the block cancels it at its next step.

    >>> with in_background(lambda step: sum(range(5))) as total:
    ...     total()
    10
    """
    cancelled = threading.Event()

    def step(done: int, total: int, what: str) -> None:
        if cancelled.is_set():
            raise ConcordError(f"{what} was cancelled.")

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, step)
        try:
            yield future.result
        finally:
            cancelled.set()
