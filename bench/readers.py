"""Search for somebody who may read half of the knowledge base, beside one without a filter, in turns."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.building import workspace
from bench.corpus import queries
from bench.measure import cpu, in_turns
from core.access import SYSTEM, Actor, reading_as
from core.storage.index.arrays import kernels

FOLDERS, GROUPS, ASKED = 500, 200, 200
BUILT = 20_000  # chunks up to which a whole index is built
HALF = Actor("ann", "Ann", "ann@example.org", "reader")
MEMBER = Actor("bob", "Bob", "bob@example.org", "reader", groups=("g0",))


def policy() -> bytes:
    """500 folders and 200 groups; half of the folders of the corpus are for groups."""
    groups = ", ".join(f"group:g{n}" for n in range(GROUPS))
    lines = [f"  f{n:02d}/: [{groups if n < 2 else 'group:g0'}]" for n in range(25)]
    lines += [f"  other{n}/: [group:g{n % GROUPS}]" for n in range(FOLDERS - 25)]
    return ("readers:\n" + "\n".join(lines) + "\n").encode()


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
    again = median(SYSTEM, HALF)
    return {"chunks": built.chunks, "times": times, "first_s": seconds, "again": again[1] / again[0]}


HEADS = (
    *("chunks", "everything: CPU ms", "half hidden", "ratio", "all, by a group", "ratio of words asked before"),
    "first after a change: CPU s",
)


def about(machine: str) -> str:
    """What the table says."""
    return (
        f"{machine}. Production's search, {ASKED} questions, CPU p50; a policy of {FOLDERS} folders and {GROUPS} groups"
        " hides half of the documents, or opens all of them to a group. They took turns; a second round asks the same"
        " words again. First: the first search after a change of the policy. Vectors are synthetic, the query's"
        " included; no graph, no reranker.\n\n"
    )


def row(figures: dict[str, Any]) -> list[str]:
    """A line of the table."""
    alone, half, group = figures["times"]
    return [
        *(f"{figures['chunks']:,}", f"{alone:.2f}", f"{half:.2f}", f"{half / alone:.2f}x", f"{group:.2f}"),
        *(f"{figures['again']:.2f}x", f"{figures['first_s']:.2f}"),
    ]
