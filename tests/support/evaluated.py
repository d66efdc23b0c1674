"""A small workspace with a judged query set, for tests of runs and tuning."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

from core.access import Actor
from core.bootstrap import App
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from tests.conftest import indexed, put

ADMIN = Actor("ann", "Ann", "ann@example.org", "admin")
AUTHOR = Actor("art", "Art", "art@example.org", "author")

WORDS = [
    "apple",
    "river",
    "stone",
    "cloud",
    "paper",
    "metal",
    "ocean",
    "forest",
    "candle",
    "mirror",
    "ladder",
    "window",
    "bridge",
    "garden",
    "engine",
    "planet",
]


def corpus(count: int = 24, seed: int = 1) -> dict[str, str]:
    """Documents of two sections; every section has words of its own and words it shares with others."""
    chance = random.Random(seed)
    files: dict[str, str | None] = {}
    for n in range(count):
        parts = [f"---\ntitle: Document {n}\ntags: [t{n % 3}]\n---\n# Document {n}\n"]
        for part in ("first", "second"):
            words = " ".join(chance.choices(WORDS, k=14))
            parts.append(f"## Part {part} {n}\n\nIn {part} key{n}{part} we say {words}.\n")
        files[f"{'ab'[n % 2]}/doc{n}.md"] = "\n".join(parts)
    return files


def questions(count: int = 24, seed: int = 2, each: int = 1, name: str = "small") -> QuerySet:
    """Questions for every section: some by their own word, some by words that others share."""
    chance = random.Random(seed)
    asked, judged = [], []
    for n in range(count):
        for part, turn in product(("first", "second"), range(each)):
            own = f"key{n}{part}" if chance.random() < 0.5 else f"Document {n}"
            ident = f"q{n}{part}{turn or ''}"
            asked.append(Question(ident, f"{own} {' '.join(chance.choices(WORDS, k=4))}", part))
            judged.append(
                Judgment(ident, f"{'ab'[n % 2]}/doc{n}.md", (f"Part {part} {n}",), f"In {part} key{n}{part} we say")
            )
    return QuerySet(name, tuple(asked), tuple(judged), "made by hand")


def evaluated(app: App, each: int = 1) -> App:
    """The workspace with documents, an index and the query set."""
    put(app, corpus())
    app.index.builder.build(app.platform.settings.profile())
    app.evaluation.querysets.keep(ADMIN, questions(each=each))
    return app


def judged(home: Path) -> App:
    """The same in a new place, as a copy of the first."""
    return indexed(home, corpus(), _judge)


def _judge(app: App) -> None:
    app.evaluation.querysets.keep(ADMIN, questions())
