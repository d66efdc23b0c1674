"""Public collections as query sets, each with its own index, and a cross-encoder that scores no pair twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from core.access import SYSTEM
from core.bootstrap import App, build, evaluation_workspace
from core.evaluation.querysets import beir
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.runs.run import Run
from core.services.evaluation import collections
from core.services.evaluation.runs import RunPlan
from core.settings import load
from core.types import Profile, SearchConfig


@dataclass(frozen=True)
class IndexedCollection:
    """A public collection with its index."""

    name: str
    folder: Path
    app: App
    profile: Profile

    def queries(self, split: str, sample: int = 0) -> QuerySet:
        """The judged queries of a split, or a sample spread evenly over their ids."""
        collection = beir.read(self.folder, split)
        paths = {collection.records[PurePath(path).stem]: path for path in collection.files}
        chosen = spread(sorted(collection.queries), sample or len(collection.queries))
        judged = [
            Judgment(query, paths[record], grade=grade)
            for query in chosen
            for record, grade in collection.qrels[query].items()
            if record in paths
        ]
        return QuerySet(split, tuple(Question(query, collection.queries[query]) for query in chosen), tuple(judged))

    def run(self, queries: QuerySet, configs: Sequence[SearchConfig], profile: Profile | None = None) -> list[Run]:
        """One run per configuration, stored in the collection's own workspace."""
        return list(
            self.app.evaluation.runs.evaluate(queries, [RunPlan(profile or self.profile, config) for config in configs])
        )


def spread(items: Sequence[str], count: int) -> list[str]:
    """`count` of the items, at equal distances.

    >>> spread("abcdef", 3)
    ['a', 'c', 'e']
    """
    count = min(count, len(items))
    return [items[n * len(items) // count] for n in range(count)]


def index_collection(home: Path, folder: Path) -> IndexedCollection:
    """Index a collection with the default profile; its vectors come from the cache of the workspace."""
    main = build(load(home=home / "methods"))
    collection = beir.read(folder)
    models = PairCachingModels(main.models.registry, home / "methods" / "cache" / "pairs.db")
    caching = replace(main, models=replace(main.models, registry=models))
    app = evaluation_workspace(caching, SYSTEM, f"beir-{collection.name}-{collection.digest}")
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(collections.AUTHOR, collection.files, [], f"Records of {collection.name}")
    indexed = IndexedCollection(collection.name, folder, app, app.platform.settings.profile())
    app.index.builder.build(indexed.profile)
    return indexed


class PairCachingModels:
    """Models whose cross-encoder caches its scores on disk, so that another blend or tau is arithmetic."""

    def __init__(self, models: Any, path: Path) -> None:
        self._models, self._path = models, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._models, name)

    def reranker(self, name: str) -> Any:
        return PairCache(self._models.reranker(name), self._path)


class PairCache:
    """A reranker that scores each (query, passage) pair once."""

    def __init__(self, reranker: Any, path: Path) -> None:
        self._reranker, self.name = reranker, reranker.name
        self._file = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS pairs (pair BLOB PRIMARY KEY, score REAL) WITHOUT ROWID")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reranker, name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        keys = [hashlib.sha256(f"{self.name}\0{query}\0{text}".encode()).digest() for text in texts]
        marks = ",".join("?" * len(keys))
        known = dict(self._file.execute(f"SELECT pair, score FROM pairs WHERE pair IN ({marks})", keys))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            scores = dict(zip(new, self._reranker.scores(query, list(new.values())), strict=True))
            self._file.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", list(scores.items()))
            known |= scores
        return [known[key] for key in keys]
