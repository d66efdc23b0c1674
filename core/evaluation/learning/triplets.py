"""What an embedder learns from: questions, each with what answers it and with passages that only look like it.

Hard negatives come from both legs: what words and meaning rank high and nobody judged relevant (the support study,
appendix D).
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

TUNED = "tuned:"  # before the name of an embedder that was trained here
NEGATIVES = 3
POOL = 20  # passages of both legs among which each epoch draws its negatives
LEAST = 40  # questions to learn from; fewer teach their own wording


@dataclass(frozen=True, slots=True)
class Lesson:
    """One question: passages that answer it by grade, and the pool of those that do not, the hardest first."""

    question: str
    text: str
    relevant: Mapping[int, float]
    pool: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Triplet:
    """One example: a question, a passage that answers it, hard negatives, and what must not count against it."""

    text: str
    positive: int
    negatives: tuple[int, ...]
    relevant: frozenset[int]


@dataclass(frozen=True, slots=True)
class FineTuning:
    """How an embedder is trained. `batch` 0 is what the device holds; `tokens` are read of each text."""

    epochs: int = 4
    rate: float = 2e-5
    negatives: int = NEGATIVES
    temperature: float = 0.03
    warmup: float = 0.1
    batch: int = 0
    tokens: int = 256
    seed: int = 42


def mined(legs: Sequence[Sequence[int]], relevant: Collection[int], size: int = POOL) -> tuple[int, ...]:
    """The best of every leg in turn that are not relevant, each once.

    >>> mined([[1, 2, 3], [9, 2, 4]], {1})
    (9, 2, 3, 4)
    """
    mixed = dict.fromkeys(chunk for row in zip_longest(*legs) for chunk in row if chunk is not None)
    return tuple(chunk for chunk in mixed if chunk not in relevant)[:size]


def epoch(lessons: Sequence[Lesson], settings: FineTuning, number: int) -> list[Triplet]:
    """One triplet per question in an order of its own; positives by their grade, negatives evenly from the pool.

    The same for the same seed and epoch.
    """
    rng = random.Random(f"{settings.seed}:{number}")
    triplets = []
    for lesson in sorted(lessons, key=lambda lesson: lesson.question):
        chunks = sorted(lesson.relevant)
        positive = rng.choices(chunks, [lesson.relevant[chunk] for chunk in chunks])[0]
        negatives = rng.sample(lesson.pool, min(settings.negatives, len(lesson.pool)))
        triplets.append(Triplet(lesson.text, positive, tuple(negatives), frozenset(chunks)))
    rng.shuffle(triplets)
    return triplets


def batches(triplets: Sequence[Triplet], size: int) -> Iterator[Sequence[Triplet]]:
    """Groups of one size; a last one of a single question teaches nothing from its neighbours and is left out."""
    for at in range(0, len(triplets), size):
        if len(triplets) - at > 1:
            yield triplets[at : at + size]


def steps(questions: int, size: int, epochs: int) -> int:
    """How many batches a training has.

    >>> steps(65, 32, 4), steps(66, 32, 4)
    (8, 12)
    """
    whole, rest = divmod(questions, size)
    return epochs * (whole + (rest > 1))
