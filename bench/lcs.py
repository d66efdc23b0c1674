"""The longest common subsequence beside the plain dynamic programme, on 250-word passages of the knowledge base."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from bench.corpus import ROOT
from bench.measure import timed
from core.evaluation.measures import passages

WORDS, PAIRS = 250, 40


def table(first: Sequence[str], second: Sequence[str]) -> int:
    """The textbook: a table of all prefixes."""
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, x in enumerate(first, 1):
        for j, y in enumerate(second, 1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if x == y else max(rows[i - 1][j], rows[i][j - 1])
    return rows[-1][-1]


def one_row(first: Sequence[str], second: Sequence[str]) -> int:
    """The same with one row kept, as fast as plain Python gets."""
    row = [0] * (len(second) + 1)
    for x in first:
        corner = 0
        for j, y in enumerate(second, 1):
            above = row[j]
            if x == y:
                row[j] = corner + 1
            elif row[j - 1] > above:
                row[j] = row[j - 1]
            corner = above
    return row[-1]


def measure() -> dict[str, Any]:
    """CPU of each way, and whether they agree."""
    text = passages.words(" ".join(path.read_text() for path in sorted((ROOT / "kb").rglob("*.md"))))
    rng = random.Random(42)
    starts = [(rng.randrange(len(text) - WORDS), rng.randrange(len(text) - WORDS)) for _ in range(PAIRS)]
    pairs = [(text[i : i + WORDS], text[j : j + WORDS]) for i, j in starts]
    functions = {"concord": passages.length, "plain, table": table, "plain, one row": one_row}
    timings = {
        name: timed(lambda pair, function=function: function(*pair), pairs) for name, function in functions.items()
    }
    agree = all(passages.length(*pair) == table(*pair) == one_row(*pair) for pair in pairs)
    return {"timings": timings, "agree": agree}


def rows(measured: dict[str, Any]) -> list[list[str]]:
    """Lines of a table, as ratios."""
    ours = measured["timings"]["concord"].cpu50
    return [
        [name, f"{timing.cpu50:.3f}", f"{timing.cpu50 / ours:.0f}x"] for name, timing in measured["timings"].items()
    ]
