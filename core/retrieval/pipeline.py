"""The search pipeline, top to bottom: candidates from each leg, normalise, fuse, rerank if unconvincing, cut.

Search page, playground, evaluation, API and CLI all call `search`. It returns every stage with its scores and
its time, so any screen can explain any rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, cast

from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Guide, Index, Leg, Llm, Ranking, Reranker
from core.retrieval.combining import dense_leg
from core.retrieval.config import weights as leg_weights
from core.retrieval.families import families
from core.retrieval.features import Seen
from core.retrieval.fusion import FUSIONS, Legs, best_first, ceiling, on_one_scale
from core.retrieval.graph import LocalLeg, PageRankLeg
from core.retrieval.hyde import Embed, hypothetical
from core.retrieval.rerank import Outcome, Task, rerank
from core.retrieval.slidegar import NEIGHBOURS
from core.retrieval.table import Table, stacked
from core.retrieval.trace import Trace
from core.retrieval.weighing import Balance
from core.types import Filters, Frozen, Hit, LegScore, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

MAX_QUERY = 10_000


@dataclass(frozen=True)
class Candidates:
    """Everything the legs found for one query: enough to fuse again without searching again."""

    retrieved: Mapping[str, Ranking]
    scores: Mapping[str, Mapping[int, float]]
    floors: Mapping[str, float]
    guides: Mapping[str, Guide] = field(default_factory=dict)  # legs that know by which path they came

    @cached_property
    def table(self) -> Table:
        """The same as arrays: made when first fused, and not again when a slider moves."""
        return stacked(self.retrieved, self.scores)


@dataclass(frozen=True, slots=True)
class Fused:
    """One ranking from all legs, with what each leg gave."""

    ranking: Ranking
    chunks: np.ndarray  # all candidates, in the order of their numbers
    legs: Legs
    weights: Mapping[str, float]
    confidence: float

    def normalised(self, leg: str) -> dict[int, float]:
        """What a leg gave, on the common scale, to each candidate that it says anything about."""
        n = self.legs.names.index(leg)
        here = self.legs.here[n]
        return dict(zip(self.chunks[here].tolist(), self.legs.scores[n, here].tolist(), strict=True))


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


def fuse(candidates: Candidates, config: SearchConfig) -> Fused:
    """Candidates to one ranking: arithmetic alone, so sliders can call it as often as they move."""
    import numpy as np

    table, names = candidates.table, sorted(candidates.scores)
    floors = np.array([candidates.floors[name] for name in names])
    legs = on_one_scale(names, table.scores, table.here, table.places, config.normalisation, floors)
    given = leg_weights(config)
    weights = [given[name] for name in legs.names]
    scores = FUSIONS[config.fusion](legs, weights, config.rrf_k)
    order = best_first(scores)
    ranking = dict(zip(table.chunks[order].tolist(), scores[order].tolist(), strict=True))
    best = next(iter(ranking.values()), 0.0)
    top = ceiling(config.fusion, weights, config.rrf_k, best)
    return Fused(ranking, table.chunks, legs, given, best / top if top > 0 else 0.0)


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


class Explainer:
    """Turns chunk numbers into hits that say why they stand where they stand."""

    def __init__(self, index: Index, candidates: Candidates, fused: Fused, reranked: Outcome) -> None:
        self.index, self.candidates, self.fused, self.reranked = index, candidates, fused, reranked
        self.places = {chunk: place for place, chunk in enumerate(fused.ranking, 1)}
        self.columns = {chunk: column for column, chunk in enumerate(fused.chunks.tolist())}
        rows = zip(fused.legs.names, fused.legs.scores.tolist(), fused.legs.places.tolist(), strict=True)
        self.rows = {name: (scaled, places) for name, scaled, places in rows}

    def hit(self, place: int, chunk: int) -> Hit:
        """One chunk as a hit at a place."""
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        given = self.reranked.scores.get(chunk)
        return Hit(
            rank=place,
            doc=facts.doc,
            path=facts.path,
            title=facts.title,
            heading=passage.heading,
            chunk=passage.id,
            start=passage.start,
            end=passage.end,
            text=self.index.excerpt(chunk),
            score=self.fused.ranking[chunk] if given is None else given,
            legs={
                name: self._leg(name, chunk, scores[chunk])
                for name, scores in self.candidates.scores.items()
                if chunk in scores
            },
            status=facts.status,
            version=facts.version,
            fused_rank=self.places.get(chunk, 0),
            rerank_score=self.reranked.said.get(chunk),
        )

    def parent(self, place: int, chunk: int) -> Hit:
        """The parent of a chunk as a hit: `chunk` still names the child that was found."""
        hit, above = self.hit(place, chunk), self.index.passage(chunk).parent
        if above is None:
            return hit
        text = self.index.text(self.index.document_of(chunk))
        return replace(hit, start=above[0], end=above[1], text=text[above[0] : above[1]])

    def _leg(self, name: str, chunk: int, score: float) -> LegScore:
        column, (scaled, places) = self.columns[chunk], self.rows[name]
        guide = self.candidates.guides.get(name)
        note = guide.path(chunk) if guide else ""
        return LegScore(score, scaled[column], self.fused.weights[name], places[column], note)
