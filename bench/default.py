"""What the recommended search costs beside plain fusion of two legs, without the vector of the question, in turns."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.building import workspace
from bench.corpus import queries
from bench.measure import Timing, in_turns
from bench.sessions import starter
from core.bootstrap import App
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.storage.index.arrays import kernels
from core.types import SearchConfig

ASKED, TURNS = 200, 5


def measure(home: Path, sizes: list[int]) -> list[tuple[str, int, Timing, Timing]]:
    """Name, chunks, plain fusion and the recommended configuration: of the starter knowledge base, and of
    made-up ones.
    """
    bases: list[tuple[str, Callable[[], App]]] = [("starter knowledge base", lambda: starter(home / "app"))]
    bases += [("made-up vectors", partial(workspace, home / f"w{n}", n)) for n in sizes if n <= 20_000]
    return [(name, *_timings(opened())) for name, opened in bases]


def _timings(app: App) -> tuple[int, Timing, Timing]:
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    index = app.index.generations.open(profile)
    kernels.warm()  # as the app does when it starts
    embedder = app.models.registry.of(profile)
    own = [question for document in app.knowledge.documents.all() for question in document.meta.answers]
    known = {
        query: embedder.query(query) for query in (" ".join(text.split()) for text in (own or queries(ASKED))[:ASKED])
    }
    context = pipeline.SearchContext(embed=known.__getitem__)

    def search(config: SearchConfig) -> Callable[[str], object]:
        return lambda query: pipeline.search(query, config, index, context)

    gc.freeze()
    plain, default = in_turns([search(configs.DEFAULT), search(configs.RECOMMENDED)], list(known) * TURNS, len(known))
    return index.size, plain, default
