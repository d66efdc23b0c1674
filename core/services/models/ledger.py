"""The ledger: every call of a paid model, what it was for and what it cost; the month's budget stops the next one.

A call is written down with the most it may cost before it is made, and corrected after it: two processes cannot
both spend the last dollar, and a killed one leaves its estimate behind.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.access import READS, Actor, use_case
from core.errors import BadInput, ConcordError, OverBudget, TimedOut, Unavailable
from core.llm.asking import dollars_of
from core.ports import Clock, Spent
from core.services.models.prices import Prices
from core.storage.state.records import Call, PastCalls, SpendingOnPurpose

if TYPE_CHECKING:
    from core.storage.state.database import Database

_OPEN = "not finished"
_STOPS: ContextVar[bool] = ContextVar("stops", default=False)


@dataclass(slots=True)
class Tally:
    """What the calls of a block are worth."""

    dollars: float = 0.0
    tokens: int = 0


_TALLY: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tally() -> Iterator[Tally]:
    """Sum what the calls in the block are worth. Cached answers count too: a cache does not make a search cheaper."""
    worth = Tally()
    before = _TALLY.set(worth)
    try:
        yield worth
    finally:
        _TALLY.reset(before)


@dataclass(frozen=True, slots=True)
class Spending:
    """A month: what was spent on what, and what is left. Tokens and seconds are of calls that were made."""

    month: str
    budget: float
    spent: float
    left: float
    calls: int
    rows: tuple[SpendingOnPurpose, ...]


class Ledger:
    """The `Meter` port, and its records."""

    def __init__(self, database: Database, clock: Clock, prices: Prices, budget: float) -> None:
        self.database = database
        self.clock = clock
        self.prices = prices
        self.budget = budget
        self._ready = False

    @contextmanager
    def spending(self, purpose: str, model: str, input_tokens: int, output_tokens: int = 0) -> Iterator[Spent]:
        """Reserve the most a call may use, then record what it used, also when it failed."""
        price = self.prices.of(model)
        most = price.of(input_tokens, output_tokens)
        number, started, used = self._reserve(purpose, model, most), time.perf_counter(), [0, 0]

        def spent(input_tokens: int, output_tokens: int = 0) -> None:
            used[0], used[1] = used[0] + input_tokens, used[1] + output_tokens

        failed, dollars = "", 0.0
        try:
            yield spent
        except BaseException as error:
            failed = str(error)[:300] if isinstance(error, ConcordError) else type(error).__name__
            dollars = most if isinstance(error, TimedOut) else 0.0  # it may have been at work all the same
            raise
        finally:
            dollars = max(dollars, price.of(*used))
            _count(dollars, used[0] + used[1])
            self._settle(number, used[0], used[1], time.perf_counter() - started, dollars, failed)

    def reuse(self, purpose: str, model: str, input_tokens: int, output_tokens: int) -> float:
        """Record an answer from the cache; what it would cost."""
        worth = 0.0
        with suppress(Unavailable):  # a price that is not known any more
            worth = self.prices.of(model).of(input_tokens, output_tokens)
            _count(worth, input_tokens + output_tokens)
        self._created().calls.add(
            at=self.clock.stamp(),
            purpose=purpose,
            model=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached=1,
        )
        return worth

    @use_case("see the ledger", READS)
    def recent(self, actor: Actor, month: str = "", limit: int = 100) -> tuple[Call, ...]:
        """The last calls of a month, newest first."""
        return tuple(self._created().calls.newest(*_span(self._month(month)), max(1, limit)))

    @use_case("see the ledger", READS)
    def summary(self, actor: Actor, month: str = "") -> Spending:
        """A month by purpose and model, most expensive first."""
        month = self._month(month)
        rows = self._created().calls.by_purpose(*_span(month))
        spent = math.fsum(row.dollars for row in rows)
        return Spending(
            month, self.budget, spent, max(0.0, self.budget - spent), sum(row.calls for row in rows), tuple(rows)
        )

    def past(self, model: str, purpose: str) -> PastCalls | None:
        """What finished calls for this purpose took so far; None before the first."""
        return self._created().calls.averages(model, purpose)

    def _reserve(self, purpose: str, model: str, most: float) -> int:
        """Record a call at its highest price, if the budget allows it."""
        now = self.clock.stamp()
        with self._created().transaction() as state:
            spent = state.calls.spent(*_span(now[:7]))
            if most > 0 and spent + most > self.budget:
                raise (_Spent if _STOPS.get() else OverBudget)(
                    f"A call of {model} for up to {dollars_of(most)} was not made: {dollars_of(spent)} of this "
                    "month's budget of "
                    f"{dollars_of(self.budget)} is spent. Raise CONCORD_MONTHLY_BUDGET, or wait for the next month."
                )
            return state.calls.add(at=now, purpose=purpose, model=model, dollars=most, failed=_OPEN)

    def _settle(self, number: int, input_: int, output: int, seconds: float, dollars: float, failed: str) -> None:
        used = {"input_tokens": input_, "output_tokens": output, "seconds": round(seconds, 3)}
        self._created().calls.set(number, **used, dollars=dollars, failed=failed)

    def _created(self) -> Database:
        """The database with its tables: an evaluation may be the first to need them."""
        if not self._ready:
            self.database.create()
            self._ready = True
        return self.database

    def _month(self, month: str) -> str:
        month = month or self.clock.stamp()[:7]
        year, _, number = month.partition("-")
        if not (len(year) == 4 and year.isdigit() and len(number) == 2 and number.isdigit() and 1 <= int(number) <= 12):
            raise BadInput(f"A month must look like 2026-11, got {month!r}.")
        return month


@contextmanager
def stopping() -> Iterator[None]:
    """Work that is worth nothing without its model: in the block a spent budget stops it instead of a fallback."""
    before = _STOPS.set(True)
    try:
        yield
    except _Spent as error:
        raise OverBudget(f"{error} What is done is kept; start it again to go on.") from None
    finally:
        _STOPS.reset(before)


class _Spent(Exception):
    """Passes every fallback on its way to `stopping`."""


def _count(dollars: float, tokens: int) -> None:
    worth = _TALLY.get()
    if worth is not None:
        worth.dollars += dollars
        worth.tokens += tokens


def _span(month: str) -> tuple[str, str]:
    """The bounds of a month as sortable text."""
    return month, f"{month}~"
