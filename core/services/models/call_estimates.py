"""What calls of a language model would take, before they are made: counted on a sample of the real questions, as a
range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from core.chunking.ruler import pieces
from core.llm.asking import THREADS, ModelTask, dollars_of
from core.ports import Models
from core.services.models.fitness import Fitness
from core.services.models.ledger import Ledger

USUAL = 0.25  # of the allowed output is what an answer has, where no earlier call says otherwise
SLACK = 1.15  # tokens are estimated, since the tokenizer is not here


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """Calls for one purpose: from and to. Seconds are unknown (None) until the model was asked for this once."""

    purpose: str
    model: str
    calls: tuple[int, int]
    tokens: tuple[int, int]
    dollars: tuple[float, float]
    seconds: tuple[float, float] | None = None


class CallEstimator:
    """Estimates from questions that would be asked, prices, and what earlier calls took."""

    def __init__(self, models: Models, ledger: Ledger, at_once: int = THREADS, fitness: Fitness | None = None) -> None:
        """`at_once`: calls that a build makes at the same time; `fitness` knows which calls are refused."""
        self.models = models
        self.ledger = ledger
        self.at_once = at_once
        self.fitness = fitness

    def of(self, sample: Sequence[ModelTask], calls: tuple[int, int], name: str = "") -> CallEstimate | None:
        """What so many calls like those of the sample take; None when there is nothing to ask, or the model is unfit
        for it.
        """
        if not sample or not calls[1]:
            return None
        llm = self.models.llm(name)
        purpose, past = sample[0].purpose, self.ledger.past(llm.name, sample[0].purpose)
        known = self.fitness.of(llm.name, llm.server, purpose) if self.fitness else None
        if known and not known.allowed:  # it is not asked for that
            return None
        size = fsum(len(pieces(task.system)) + len(pieces(task.prompt)) for task in sample) / len(sample)
        most = max(task.max_tokens for task in sample)
        usual = past.output_tokens if past else USUAL * most
        price = self.ledger.prices.of(llm.name)
        low = round(calls[0] * size), round(calls[0] * usual)
        high = round(calls[1] * size * SLACK), round(calls[1] * most)
        seconds = (calls[0] * past.seconds / self.at_once, calls[1] * past.seconds * 1.5) if past else None
        return CallEstimate(
            purpose,
            llm.name,
            calls,
            (sum(low), sum(high)),
            (price.of(*low), price.of(*high)),
            seconds,
        )


def total(rows: Sequence[CallEstimate]) -> str:
    """Calls, tokens and dollars of all rows, in words.

    >>> total([CallEstimate("context", "m", (40, 120), (30_000, 90_000), (0.01, 0.05))])
    '40 to 120 calls of m, 30,000 to 90,000 tokens, $0.01 to $0.05'
    """
    sums = [(sum(row.calls[n] for row in rows), sum(row.tokens[n] for row in rows)) for n in (0, 1)]
    dollars = [dollars_of(fsum(row.dollars[n] for row in rows)) for n in (0, 1)]
    models = ", ".join(dict.fromkeys(row.model for row in rows))
    return (
        f"{_range(f'{sums[0][0]:,}', f'{sums[1][0]:,}')} calls of {models}, "
        f"{_range(f'{sums[0][1]:,}', f'{sums[1][1]:,}')} tokens, {_range(*dollars)}"
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
