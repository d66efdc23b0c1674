"""Search for somebody who may read half of the knowledge base, beside one without a filter, in turns."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import threadpoolctl

from bench.building import workspace
from bench.corpus import queries, vectors
from bench.measure import cpu, in_turns
from core.access import SYSTEM, Actor, reading_as
from core.storage.serving import kernels
from core.storage.serving.kernels import Postings
from core.storage.serving.mapped import Bm25Leg, DenseLeg, MappedIndex

FOLDERS, GROUPS, ASKED, DEPTH = 500, 200, 200, 100
BUILT = 20_000  # chunks up to which a whole index is built
HALF = Actor("ann", "Ann", "ann@example.org", "reader")
MEMBER = Actor("bob", "Bob", "bob@example.org", "reader", groups=("g0",))


def policy(own_index: bool = False) -> bytes:
    """500 folders and 200 groups; half of the folders of the corpus are for groups."""
    groups = ", ".join(f"group:g{n}" for n in range(GROUPS))
    lines = [f"  f{n:02d}/: [{groups if n < 2 else 'group:g0'}]" for n in range(25)]
    lines += [f"  other{n}/: [group:g{n % GROUPS}]" for n in range(FOLDERS - 25)]
    own = f"own_index: [{', '.join(f'f{n:02d}/' for n in range(25))}]\n" if own_index else ""
    return ("readers:\n" + "\n".join(lines) + "\n" + own).encode()


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """CPU milliseconds of a search, and of the first one after a change of the policy."""
    app = workspace(home / f"readers{chunks}", chunks)
    app.index.builder.words_first = math.inf
    profile = replace(app.platform.settings.profile(), graph="none")
    built = app.index.builder.build(profile).generation
    kernels.warm()
    asked = queries(ASKED)
    embedder = app.models.registry.embedder("")
    known = {query: embedder.query(query) for query in asked}
    searcher = app.search.searcher
    searcher.query_vector = lambda profile, text: known[text]
    config = app.platform.settings.production().config

    def search(actor: Actor, query: str) -> Any:
        with reading_as(actor):
            return searcher.search_in(searcher.generations.open(profile), query, config)

    def first(text: bytes) -> float:
        """CPU seconds of the first search after a change of the policy, where a server runs already."""
        app.knowledge.documents.whole()
        app.knowledge.repository.commit("main", {"review-rules.yaml": text}, SYSTEM.person, "policy")
        before = cpu()
        search(HALF, asked[0])
        return cpu() - before

    def median(*actors: Actor) -> list[float]:
        return [one.cpu50 for one in in_turns([lambda query, who=who: search(who, query) for who in actors], asked)]

    search(SYSTEM, asked[0])
    app.knowledge.repository.commit("main", {"review-rules.yaml": b"rules: []\n"}, SYSTEM.person, "no policy")
    seconds, times = first(policy()), median(SYSTEM, HALF, MEMBER)
    own_seconds, (alone, own) = first(policy(own_index=True)), median(SYSTEM, HALF)
    return {"chunks": built.chunks, "times": times, "first_s": seconds, "own": own / alone, "own_first_s": own_seconds}


def legs(chunks: int) -> list[float]:
    """CPU milliseconds of both legs over made-up postings and vectors, without a mask and with one for half: for sizes that take long to build."""
    random, terms = np.random.default_rng(1), 3_000
    holders = np.maximum(1, 0.4 * chunks / np.arange(1, terms + 1) ** 0.9).astype(np.int64)  # by Zipf
    where = np.concatenate([np.sort(random.choice(chunks, count, replace=False)) for count in holders])
    gains = random.random(len(where), dtype=np.float32)
    postings = Postings(np.concatenate([[0], np.cumsum(holders)]), where.astype(np.uint32), gains)
    rows, index = vectors(chunks), cast("MappedIndex", SimpleNamespace(size=chunks, _exact_limit=chunks))
    half: np.ndarray = np.repeat(random.random(-(-chunks // 10)) < 0.5, 10)[:chunks]
    asked = [(random.integers(0, terms, 8), rows[random.integers(0, chunks)]) for _ in range(40)]
    kernels.warm()
    threadpoolctl.threadpool_limits(1, user_api="blas")

    def search(allowed: np.ndarray | None, query: tuple[np.ndarray, np.ndarray]) -> None:
        Bm25Leg(postings, chunks, query[0]).search(DEPTH, allowed)
        DenseLeg(index, rows, query[1]).search(DEPTH, allowed)

    return [one.cpu50 for one in in_turns([partial(search, None), partial(search, half)], asked)]


HEADS = (
    *("chunks", "without a filter: CPU ms", "half hidden", "ratio", "all, by a group", "first after a change: CPU s"),
    *("with an own index: ratio", "first: CPU s"),
)


def about(machine: str) -> str:
    """What the table says."""
    return (
        f"{machine}. Production's search, {ASKED} questions, CPU p50; a policy of {FOLDERS} folders and {GROUPS} groups hides half of the "
        "documents, or lets somebody read all of them by a group. They took turns. Then the hidden half has an index of its own. First: the first search "
        "after a change of the policy. Vectors are synthetic, the query's included; no graph, no reranker.\n\n"
    )


def row(figures: dict[str, Any]) -> list[str]:
    """A line of the table."""
    alone, half, group = figures["times"]
    return [
        *(f"{figures['chunks']:,}", f"{alone:.2f}", f"{half:.2f}", f"{half / alone:.2f}x", f"{group:.2f}"),
        *(f"{figures['first_s']:.2f}", f"{figures['own']:.2f}x", f"{figures['own_first_s']:.2f}"),
    ]
