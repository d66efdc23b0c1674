"""Forty questions as people ask them, on the starter knowledge base: is the right document first?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import ROOT
from core.access import SYSTEM
from core.bootstrap import App, build
from core.retrieval.config import PRODUCTION
from core.retrieval.presets import presets
from core.settings import load
from core.types import SearchConfig

QUESTIONS = ROOT / "kb" / "sample" / "questions.jsonl"
BEFORE, AFTER = "convex-0.5, depth 30", "Documents 0.9"


@dataclass(frozen=True)
class AnsweredByPeople:
    """A question of a person: its kind, what was found first, the rank of a right document, and how sure the
    search was.
    """

    question: str
    kind: str
    right: tuple[str, ...]
    first: str
    rank: int
    confidence: float
    why: str  # what makes it hard


def configurations() -> dict[str, SearchConfig]:
    """What was in production before anything was promoted, and the preset for documents."""
    return {BEFORE: PRODUCTION, AFTER: presets()[AFTER]}


def starter(home: Path) -> App:
    """The starter knowledge base with its index; the questions that documents list count in no configuration."""
    app = build(load(home=home / "people"))
    if not app.knowledge.repository.head():
        app.platform.workspace.create()
        app.knowledge.documents.import_folder(SYSTEM, ROOT / "kb", "Start")
        app.index.builder.build(app.platform.settings.profile())
    return app


def measure(app: App) -> dict[str, list[AnsweredByPeople]]:
    """Every question under every configuration."""
    asked = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    return {name: [_answered(app, row, config) for row in asked] for name, config in configurations().items()}


def _answered(app: App, row: Mapping[str, object], config: SearchConfig) -> AnsweredByPeople:
    result = app.search.searcher.search(str(row["text"]), config=config)
    right = tuple(judged["path"] for judged in row["judgments"] if judged["grade"] >= 2)  # type: ignore[attr-defined]
    found = list(dict.fromkeys(hit.path for hit in result.hits))
    rank = next((place for place, path in enumerate(found, 1) if path in right), 0)
    return AnsweredByPeople(
        str(row["text"]),
        str(row["category"]),
        right,
        found[0] if found else "",
        rank,
        result.confidence,
        str(row.get("why", "")),
    )


def rows(measured: Mapping[str, list[AnsweredByPeople]]) -> Iterator[list[str]]:
    """The share with the right document first, by kind and in all."""
    totals = Counter(each.kind for each in next(iter(measured.values())))
    hits = {name: Counter(each.kind for each in answers if each.rank == 1) for name, answers in measured.items()}
    for kind, total in totals.items():
        yield [kind, *(f"{first[kind]} of {total}" for first in hits.values())]
    yield ["all", *(f"{first.total()} of {totals.total()}" for first in hits.values())]


def misses(answers: list[AnsweredByPeople]) -> list[AnsweredByPeople]:
    """Questions whose right document is not first."""
    return [each for each in answers if each.rank != 1]
