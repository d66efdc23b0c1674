"""Calls to one endpoint with a concurrency limit, a deadline, retries with backoff, and a circuit breaker."""

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
FIRST, LONGEST = 0.5, 30.0  # seconds of backoff: doubled each time, up to the longest
FAILURES, OPEN_SECONDS = 3, 30.0  # so many failed calls in a row open the circuit for so long


class Retryable(Exception):
    """An attempt failed in a way that may pass. `after` is the endpoint's Retry-After in seconds."""

    def __init__(self, why: str, after: float = 0.0, throttled: bool = False) -> None:
        super().__init__(why)
        self.after, self.throttled = after, throttled


class DeadlineExceeded(Exception):
    """An attempt ran out of time."""


def backoff(attempt: int, after: float, jitter: float) -> float:
    """Seconds to wait: Retry-After if given, else half to all of a doubling step, so that callers spread out.

    >>> backoff(0, 0.0, 1.0), backoff(2, 0.0, 0.5), backoff(0, 7.0, 0.0)
    (0.5, 1.5, 7.0)
    """
    step = min(LONGEST, FIRST * 2.0**attempt)
    return after + jitter * 0.1 * after if after else step * (0.5 + 0.5 * jitter)


def with_deadline(seconds: float, work: Callable[[], T], abandon: Callable[[], object] = lambda: None) -> T:
    """The result of `work`, abandoned after so many seconds whatever it waits for: DNS, a byte, credentials.

    `abandon` then wakes it where it can: the other side may go on for hours, a byte at a time.

    >>> with_deadline(1.0, lambda: 6 * 7)
    42
    """
    results: SimpleQueue[Future[T]] = SimpleQueue()

    def run() -> None:
        future: Future[T] = Future()
        try:
            future.set_result(work())
        except BaseException as error:  # re-raised in the waiting thread
            future.set_exception(error)
        results.put(future)

    threading.Thread(target=run, daemon=True).start()  # a daemon does not hold up the end of the process
    try:
        return results.get(timeout=seconds).result()
    except Empty:
        abandon()
        raise DeadlineExceeded from None


class CircuitBreaker:
    """Refuses calls for `OPEN_SECONDS` after `FAILURES` failed ones in a row."""

    def __init__(self, place: str) -> None:
        self.place, self._failures, self._open_until = place, 0, 0.0

    def check(self) -> None:
        left = self._open_until - time.monotonic()
        if left > 0:
            raise Unavailable(
                f"{self.place} did not answer {self._failures} calls in a row; it is asked again in {left:.0f} s."
            )

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._open_until = time.monotonic() + OPEN_SECONDS

    def succeeded(self) -> None:
        self._failures = 0


class RetryingClient:
    """Calls to one endpoint. `timeout` bounds a whole call: its place in the queue, its attempts, its waits."""

    def __init__(
        self,
        place: str,
        timeout: float,
        concurrency: int,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.place, self.timeout, self.concurrency = place, timeout, max(1, concurrency)
        self._sleep, self._jitter = sleep, jitter
        self._slots = threading.BoundedSemaphore(self.concurrency)
        self._breaker = CircuitBreaker(place)

    def call(self, attempt: Callable[[float], T]) -> T:
        """The result of the first successful attempt; each gets the seconds that are left."""
        deadline = time.monotonic() + self.timeout
        self._breaker.check()
        with self._slot():
            try:
                result = self._retry(attempt, deadline)
            except TimedOut:
                self._breaker.failed()
                raise
        self._breaker.succeeded()
        return result

    def _retry(self, attempt: Callable[[float], T], deadline: float) -> T:
        for n in range(ATTEMPTS):
            left = max(0.05, deadline - time.monotonic())
            try:
                return with_deadline(left, partial(attempt, left))
            except DeadlineExceeded:
                raise self._timed_out() from None
            except Retryable as error:
                last, wait = error, backoff(n, error.after, self._jitter())
            if n + 1 < ATTEMPTS:
                if time.monotonic() + wait >= deadline:
                    raise self._gave_up(last, f"; the next attempt would be later than {self.timeout:g} s") from None
                self._sleep(wait)
        raise self._gave_up(last, f" {ATTEMPTS} times in a row")

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=self.timeout):
            raise TimedOut(
                f"{self.place} had {self.concurrency} calls under way for {self.timeout:g} s. Raise "
                "CONCORD_LLM_CONCURRENCY or CONCORD_LLM_TIMEOUT, or try again."
            )
        try:
            yield
        finally:
            self._slots.release()

    def _timed_out(self) -> TimedOut:
        return TimedOut(
            f"{self.place} gave no answer within {self.timeout:g} s. Try again, or raise CONCORD_LLM_TIMEOUT."
        )

    def _gave_up(self, last: Retryable, when: str) -> Unavailable:
        if last.throttled:
            return Throttled(f"{self.place} asks for fewer calls{when}. Try later, or lower CONCORD_LLM_CONCURRENCY.")
        self._breaker.failed()
        return Unavailable(f"{self.place} failed{when}: {last}. Try later.")
