"""What segments cost: searches over one to eight of them, on the same chunks, in one run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bench.building import workspace
from bench.corpus import queries
from bench.measure import in_turns
from core.access import SYSTEM
from core.bootstrap import App
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.storage.index.arrays import kernels
from core.storage.index.record import segments
from core.types import Profile

COUNTS = (1, 2, 4, 8)
EDITED = 30  # documents in each of the later segments
LEGS = ("bm25", "dense", "hybrid")


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """CPU per search over 1, 2, 4 and 8 segments; the generations take turns."""
    app = workspace(home / f"w{chunks}", chunks)
    profile = app.platform.settings.profile()
    folded, segments.FOLDED = segments.FOLDED, 0
    try:
        indexes = dict(_grown(app, profile))
    finally:
        segments.FOLDED = folded
    kernels.warm()
    embedder = app.models.registry.embedder("")
    asked = {query: embedder.query(query) for query in queries(200)}
    ask = pipeline.SearchContext(embed=asked.__getitem__)
    out: dict[str, Any] = {"chunks": indexes[1].size}
    for leg in LEGS:
        calls = [_call(leg, index, asked, ask) for index in indexes.values()]
        timings = in_turns(calls, list(asked))
        out[leg] = {count: timing.cpu50 for count, timing in zip(indexes, timings, strict=True)}
    return out


def _grown(app: App, profile: Profile) -> Any:
    """The open index at each number of segments."""
    app.index.builder.build(profile, full=True)
    yield 1, app.index.generations.open(profile)
    for count in range(2, max(COUNTS) + 1):
        paths = [f"f{n % 50:02d}/{n:06d}.md" for n in range(count * EDITED, (count + 1) * EDITED)]
        texts = {
            path: app.knowledge.repository.read("main", path) + f"\nSeen {time.time_ns()}.\n".encode() for path in paths
        }
        app.knowledge.repository.commit("main", texts, SYSTEM.person, "edit")
        app.index.builder.build(profile)
        if count in COUNTS:
            index = app.index.generations.open(profile)
            if len(index.segments) != count:
                raise RuntimeError(f"{len(index.segments)} segments instead of {count}")
            yield count, index


def _call(leg: str, index: Any, asked: Any, ask: pipeline.SearchContext) -> Any:
    if leg == "bm25":
        return lambda query: index.bm25(query).search(10, None)
    if leg == "dense":
        return lambda query: index.dense(asked[query]).search(10, None)
    return lambda query: pipeline.search(query, configs.DEFAULT, index, ask)
