"""A line to one endpoint: so many calls at a time, so long to wait, again when it is worth it, silent when it is dead."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

from core.errors import Throttled, TimedOut, Unavailable

T = TypeVar("T")

ATTEMPTS = 5
FIRST, LONGEST = 0.5, 30.0  # seconds between two attempts: doubled each time, never more than the longest
TRIPS, REST = 3, 30.0  # after so many dead calls in a row nothing is asked for so many seconds


class Again(Exception):
    """An attempt failed in a way that may pass. `after` is how long the endpoint asks to be left alone."""

    def __init__(self, why: str, after: float = 0.0, throttled: bool = False) -> None:
        super().__init__(why)
        self.after, self.throttled = after, throttled


class Late(Exception):
    """An attempt used up its time."""


def pause(attempt: int, after: float, chance: float) -> float:
    """Seconds to wait: what the endpoint asks for, else half to all of a doubling step, so that callers spread out.

    >>> pause(0, 0.0, 1.0), pause(2, 0.0, 0.5), pause(0, 7.0, 0.0)
    (0.5, 1.5, 7.0)
    """
    step = min(LONGEST, FIRST * 2.0**attempt)
    return after + chance * 0.1 * after if after else step * (0.5 + 0.5 * chance)


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of work that is given up after so many seconds, whatever it waits for: a name, a byte, a role.

    >>> within(1.0, lambda: 6 * 7)
    42
    """
    box: SimpleQueue[Future[T]] = SimpleQueue()

    def run() -> None:
        done: Future[T] = Future()
        try:
            done.set_result(work())
        except BaseException as error:  # handed on to whoever waits
            done.set_exception(error)
        box.put(done)

    threading.Thread(target=run, daemon=True).start()  # a daemon: nobody waits for it at the end of the process
    try:
        return box.get(timeout=seconds).result()
    except Empty:
        raise Late from None


class Connection:
    """Calls to one endpoint. `timeout` bounds a whole call: its place in the queue, its attempts, its waits."""

    def __init__(
        self,
        place: str,
        timeout: float,
        concurrency: int,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.place, self.timeout, self.concurrency = place, timeout, max(1, concurrency)
        self._sleep, self._chance = sleep, chance
        self._free = threading.BoundedSemaphore(self.concurrency)
        self._dead, self._until = 0, 0.0

    def call(self, attempt: Callable[[float], T]) -> T:
        """The result of the first attempt that succeeds; each is given the seconds that are left."""
        deadline = time.monotonic() + self.timeout
        self._check_alive()
        with self._turn():
            try:
                made = self._attempts(attempt, deadline)
            except TimedOut:
                self._fell_silent()
                raise
        self._dead = 0
        return made

    def _attempts(self, attempt: Callable[[float], T], deadline: float) -> T:
        for n in range(ATTEMPTS):
            left = max(0.05, deadline - time.monotonic())
            try:
                return within(left, partial(attempt, left))
            except Late:
                raise self._late() from None
            except Again as error:
                last, wait = error, pause(n, error.after, self._chance())
            if n + 1 < ATTEMPTS:
                if time.monotonic() + wait >= deadline:
                    raise self._gave_up(last, f"; the next attempt would be later than {self.timeout:g} s") from None
                self._sleep(wait)
        raise self._gave_up(last, f" {ATTEMPTS} times in a row")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._free.acquire(timeout=self.timeout):
            raise TimedOut(
                f"{self.place} had {self.concurrency} calls under way for {self.timeout:g} s. Raise CONCORD_LLM_CONCURRENCY or CONCORD_LLM_TIMEOUT, or try again."
            )
        try:
            yield
        finally:
            self._free.release()

    def _late(self) -> TimedOut:
        return TimedOut(
            f"{self.place} gave no answer within {self.timeout:g} s. Try again, or raise CONCORD_LLM_TIMEOUT."
        )

    def _gave_up(self, last: Again, when: str) -> Unavailable:
        if last.throttled:
            return Throttled(f"{self.place} asks for fewer calls{when}. Try later, or lower CONCORD_LLM_CONCURRENCY.")
        self._fell_silent()
        return Unavailable(f"{self.place} failed{when}: {last}. Try later.")

    def _fell_silent(self) -> None:
        self._dead += 1
        if self._dead >= TRIPS:
            self._until = time.monotonic() + REST

    def _check_alive(self) -> None:
        left = self._until - time.monotonic()
        if left > 0:
            raise Unavailable(
                f"{self.place} did not answer {self._dead} calls in a row; it is asked again in {left:.0f} s."
            )
