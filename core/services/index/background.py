"""Work beside other work: what needs Python goes on in a second thread while a model computes outside of it."""

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
def meanwhile(work: Callable[[Progress], T]) -> Iterator[Callable[[], T]]:
    """Do some work in a second thread while the block runs. A block that ends early stops it at its next step.

    >>> with meanwhile(lambda step: sum(range(5))) as total:
    ...     total()
    10
    """
    left = threading.Event()

    def step(done: int, total: int, what: str) -> None:
        if left.is_set():
            raise ConcordError(f"{what} was given up: nobody waits for it any more.")

    with ThreadPoolExecutor(1) as second:
        found = second.submit(work, step)
        try:
            yield found.result
        finally:
            left.set()
