"""Public collections as query sets over an index of their own, and a cross-encoder that reads no pair twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from core.bootstrap import App, beside, build
from core.evaluation import beir
from core.evaluation.querysets import Judgment, QuerySet, Question
from core.evaluation.runs import Run
from core.services.evaluation import collections
from core.services.evaluation.runs import RunPlan
from core.settings import load
from core.types import Profile, SearchConfig


@dataclass(frozen=True)
class Laid:
    """One collection, indexed."""

    name: str
    folder: Path
    app: App
    profile: Profile

    def queries(self, split: str, sample: int = 0) -> QuerySet:
        """The judged queries of a split, or so many of them, evenly spread over their ids."""
        found = beir.read(self.folder, split)
        paths = {found.records[PurePath(path).stem]: path for path in found.files}
        chosen = spread(sorted(found.queries), sample or len(found.queries))
        judged = [
            Judgment(query, paths[record], grade=grade)
            for query in chosen
            for record, grade in found.qrels[query].items()
            if record in paths
        ]
        return QuerySet(split, tuple(Question(query, found.queries[query]) for query in chosen), tuple(judged))

    def run(self, queries: QuerySet, configs: Sequence[SearchConfig], profile: Profile | None = None) -> list[Run]:
        """One run per configuration, kept in the collection's own workspace."""
        return list(
            self.app.evaluation.runs.evaluate(queries, [RunPlan(profile or self.profile, one) for one in configs])
        )


def spread(items: Sequence[str], count: int) -> list[str]:
    """So many of the items, at equal distances.

    >>> spread("abcdef", 3)
    ['a', 'c', 'e']
    """
    count = min(count, len(items))
    return [items[n * len(items) // count] for n in range(count)]


def lay(home: Path, folder: Path) -> Laid:
    """Index a collection with the default profile, beside the workspace; vectors are found in its cache."""
    main = build(load(home=home / "methods"))
    collection = beir.read(folder)
    kept = replace(main, models=KeptModels(main.models.registry, home / "methods" / "cache" / "pairs.db"))
    app = beside(kept, f"beir-{collection.name}-{collection.digest}")
    if not app.knowledge.store.head():
        app.knowledge.documents.save(collection.files, [], collections.AUTHOR, f"Records of {collection.name}")
    laid = Laid(collection.name, folder, app, app.platform.settings.profile())
    app.index.builder.build(laid.profile)
    return laid


class KeptModels:
    """Models whose cross-encoder keeps its scores on disk: a blend or a tau is then arithmetic."""

    def __init__(self, models: Any, path: Path) -> None:
        self._models, self._path = models, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._models, name)

    def reranker(self, name: str) -> Any:
        """A reranker, ready to use."""
        return KeptReranker(self._models.reranker(name), self._path)


class KeptReranker:
    """A reranker that judges each passage by itself, once."""

    def __init__(self, reranker: Any, path: Path) -> None:
        self._reranker, self.name = reranker, reranker.name
        self._file = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS pairs (pair BLOB PRIMARY KEY, score REAL) WITHOUT ROWID")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reranker, name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query."""
        keys = [hashlib.sha256(f"{self.name}\0{query}\0{text}".encode()).digest() for text in texts]
        marks = ",".join("?" * len(keys))
        known = dict(self._file.execute(f"SELECT pair, score FROM pairs WHERE pair IN ({marks})", keys))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            given = dict(zip(new, self._reranker.scores(query, list(new.values())), strict=True))
            self._file.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", list(given.items()))
            known |= given
        return [known[key] for key in keys]
