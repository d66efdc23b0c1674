"""The search pipeline, top to bottom: candidates from each leg, normalise, fuse, rerank if unconvincing, cut.

Search page, playground, evaluation, API and CLI all call `search`. It returns every stage with its scores and
its time, so any screen can explain any rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Guide, Index, Leg, Llm, Ranking, Reranker
from core.retrieval.candidates import Candidates, Fused, fuse
from core.retrieval.combining import dense_leg
from core.retrieval.families import families
from core.retrieval.features import Seen
from core.retrieval.graph import LocalLeg, PageRankLeg
from core.retrieval.hits import Explainer
from core.retrieval.hyde import Embed, hypothetical
from core.retrieval.rerank import Outcome, Task, rerank
from core.retrieval.slidegar import NEIGHBOURS
from core.retrieval.trace import Trace
from core.retrieval.weighing import Balance
from core.types import Filters, Frozen, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

MAX_QUERY = 10_000


def no_llm() -> Llm:
    """For callers that have none."""
    raise Unavailable("No language model is configured.")


def search(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Embed,
    reranker: Callable[[], Reranker],
    filters: Filters = Filters(),
    today: date | None = None,
    clock: Callable[[], float] = time.perf_counter,
    llm: Callable[[], Llm] = no_llm,
    embed_passage: Embed | None = None,
    balance: Callable[[Seen, SearchConfig], Balance] | None = None,
) -> Result:
    """Answer one query from one generation. The only search there is."""
    query, trace = check_query(query), Trace(clock)
    allowed = index.allowed(filters, today or date.today())
    embed = embedding(query, config, embed, embed_passage or embed, llm, trace)
    candidates = gather(query, config, index, embed, allowed, trace)
    weighed, note = weigh(query, candidates, config, balance, trace)
    with trace.stage("fuse") as out:
        fused = fuse(candidates, weighed)
        out += [fused.ranking, note]
    done = reranked(query, fused, config, index, allowed, reranker, llm, trace)
    order = done.order(fused.ranking)
    with trace.stage("cut") as out:
        explain = Explainer(index, candidates, fused, done)
        if config.parents:
            further = lambda depth: _further(query, replace(weighed, depth=depth), index, embed, allowed)
            hits, said = families(explain, order, config, further)
            out += [hits, said]
        else:
            hits = tuple(explain.hit(n, chunk) for n, chunk in enumerate(order[: config.k], 1))
            out.append(hits)
    made, found = index.generation, documents_near(index, candidates)
    stages, warnings = tuple(trace.stages), tuple(trace.warnings)
    return Result(query, made.profile, made.number, made.commit, config, hits, stages, warnings, found)


def documents_near(index: Index, candidates: Candidates) -> tuple[int, ...]:
    """Every document that any leg retrieved."""
    return tuple(dict.fromkeys(index.document_of(chunk) for leg in candidates.retrieved.values() for chunk in leg))


def check_query(query: str) -> str:
    """The query without odd white space; an empty or endless one is refused."""
    text = " ".join(query.encode("utf-8", "replace").decode().split())  # half of a surrogate pair is no character
    if not text:
        raise BadInput("The query is empty. Type what you are looking for.")
    if len(text) > MAX_QUERY:
        raise BadInput(f"The query has {len(text):,} characters; the limit is {MAX_QUERY:,}.")
    return text


def embedding(
    query: str, config: SearchConfig, embed: Embed, embed_passage: Embed, llm: Callable[[], Llm], trace: Trace
) -> Embed:
    """How the dense leg sees the query: as it is, or as a passage that would answer it."""
    imagined = config.hyde and "dense" in config.legs
    return hypothetical(query, embed, embed_passage, llm, trace) if imagined else embed


def gather(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Embed,
    allowed: np.ndarray | None,
    trace: Trace,
) -> Candidates:
    """Ask each leg for its best, then score each leg's missing candidates. A failed leg is named, never silent."""
    legs: dict[str, Leg] = {}
    retrieved: dict[str, Ranking] = {}
    vector = _once(query, embed, trace)
    for name in config.legs:
        try:
            legs[name] = _open_leg(name, query, index, vector)
            with trace.stage(name) as out:
                retrieved[name] = (leg := legs[name]).search(config.depth, allowed)
                out += [retrieved[name], guide.note] if (guide := _guide(leg)) else [retrieved[name]]
        except ConcordError as error:
            trace.warnings.append(f"The {name} leg failed: {error}")
    if not retrieved:
        raise Unavailable("No leg could answer. " + " ".join(trace.warnings))
    guides = {name: guide for name in retrieved if (guide := _guide(legs[name]))}
    floors = {name: legs[name].floor for name in retrieved}
    return Candidates(retrieved, _complete(legs, retrieved, config), floors, guides)


def _guide(leg: Leg) -> Guide | None:
    """The leg, if it knows by which path it came. One attribute tells; checking the whole protocol costs a tenth of a search."""
    return cast("Guide", leg) if hasattr(leg, "path") else None


def _once(query: str, embed: Embed, trace: Trace) -> Callable[[], np.ndarray]:
    """The vector of the query, made when the first leg asks for it."""

    @cache
    def vector() -> np.ndarray:
        with trace.stage("embed"):
            return embed(query)

    return vector


def _open_leg(name: str, query: str, index: Index, vector: Callable[[], np.ndarray]) -> Leg:
    by_words = {"bm25": index.bm25, "tfidf": index.tfidf, "sparse": index.sparse}
    if name in by_words:
        return by_words[name](query)
    if name == "graph":
        return LocalLeg(index.graph(), dense_leg(index, vector()), query)
    if name == "pagerank":
        return PageRankLeg(index.graph(), query)
    return dense_leg(index, vector())


def _complete(
    legs: Mapping[str, Leg], retrieved: Mapping[str, Ranking], config: SearchConfig
) -> dict[str, Mapping[int, float]]:
    """A chunk that a leg did not retrieve gets its exact score, the leg's floor, or nothing."""
    if config.missing == "absent" or len(retrieved) == 1:
        return dict(retrieved)
    union = sorted({chunk for found in retrieved.values() for chunk in found})
    complete: dict[str, Mapping[int, float]] = {}
    for name, found in retrieved.items():
        absent = [chunk for chunk in union if chunk not in found]
        extra = legs[name].score(absent) if config.missing == "exact" and absent else [legs[name].floor] * len(absent)
        complete[name] = {**found, **dict(zip(absent, extra, strict=True))}
    return complete


def weigh(
    query: str,
    candidates: Candidates,
    config: SearchConfig,
    balance: Callable[[Seen, SearchConfig], Balance] | None,
    trace: Trace,
) -> tuple[SearchConfig, str]:
    """The configuration with this query's own weights, and where they came from. Without them alpha stays fixed."""
    if config.alpha_from == "fixed":
        return config, ""
    with trace.stage("alpha"):
        try:
            if balance is None:
                raise Unavailable("nobody here can weigh the legs.")
            given = balance(seen(query, candidates), config)
        except ConcordError as error:
            trace.warnings.append(f"Alpha stays at {config.alpha:g}: {error}")
            return config, f"alpha {config.alpha:g}, fixed"
    if given.warning:
        trace.warnings.append(given.warning)
    return replace(config, weights=Frozen(given.weights)), given.note


def seen(query: str, candidates: Candidates) -> Seen:
    """What a predictor of alpha may look at: the query and what the dense and the other leg answered."""
    other = next((leg for leg in candidates.retrieved if leg != "dense"), "")
    if "dense" not in candidates.retrieved or not other:
        return Seen(query, candidates.retrieved.get("dense", {}), candidates.retrieved.get(other, {}))
    floors, found = candidates.floors, candidates.retrieved
    return Seen(query, found["dense"], found[other], floors["dense"], floors[other])


def reranked(
    query: str,
    fused: Fused,
    config: SearchConfig,
    index: Index,
    allowed: np.ndarray | None,
    reranker: Callable[[], Reranker],
    llm: Callable[[], Llm],
    trace: Trace,
) -> Outcome:
    """What the reranker of the configuration makes of a fused ranking."""
    text, near = partial(_text, index), partial(neighbours, index, allowed)
    return rerank(Task(query, fused.ranking, config, text, near, reranker, llm), fused.confidence, trace)


def neighbours(index: Index, allowed: np.ndarray | None, chunk: int) -> list[int]:
    """The chunks nearest to a chunk by its own vector, among those that may be found."""
    found = index.dense(index.vector(chunk)).search(NEIGHBOURS + 1, allowed)
    return [other for other in found if other != chunk][:NEIGHBOURS]


def _text(index: Index, chunk: int) -> str:
    """What a reranker reads: where the passage stands, then the passage."""
    context, text = index.context(chunk), index.excerpt(chunk)
    return f"{context}\n\n{text}" if context else text


def _further(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Embed,
    allowed: np.ndarray | None,
) -> Explainer:
    """The same query asked deeper; its time counts as part of the cut."""
    candidates = gather(query, config, index, embed, allowed, Trace())
    return Explainer(index, candidates, fuse(candidates, config), Outcome())
