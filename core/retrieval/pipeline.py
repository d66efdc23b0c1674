"""The search pipeline, top to bottom: candidates from each leg, normalise, fuse, rerank if unconvincing, cut.

Search page, playground, evaluation, API and CLI all call `search`. It returns every stage with its scores and
its time, so any screen can explain any rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Index, Leg, Ranking, Reranker
from core.retrieval.config import weights as leg_weights
from core.retrieval.families import families
from core.retrieval.features import Seen
from core.retrieval.fusion import FUSIONS, NORMALISATIONS, Legs, ceiling, rank
from core.retrieval.weighing import Balance
from core.types import Filters, Frozen, Hit, LegScore, Result, SearchConfig, Stage

if TYPE_CHECKING:
    import numpy as np

MAX_QUERY = 10_000


@dataclass(slots=True)
class Trace:
    """What happened so far: stages with their times, and what went wrong on the way."""

    clock: Callable[[], float] = time.perf_counter
    stages: list[Stage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[list[object]]:
        """Time a stage; the block puts what it hands on, and a note if it has one, into the list."""
        out: list[object] = []
        started = self.clock()
        try:
            yield out
        finally:
            count = len(out[0]) if out and hasattr(out[0], "__len__") else 0  # type: ignore[arg-type]
            note = str(out[1]) if len(out) > 1 else ""
            self.stages.append(Stage(name, (self.clock() - started) * 1000.0, count, note))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything the legs found for one query: enough to fuse again without searching again."""

    retrieved: Mapping[str, Ranking]
    scores: Mapping[str, Mapping[int, float]]
    floors: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fused:
    """One ranking from all legs, with what each leg gave."""

    ranking: Ranking
    normalised: Mapping[str, Mapping[int, float]]
    weights: Mapping[str, float]
    confidence: float


def search(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Callable[[str], np.ndarray],
    reranker: Callable[[], Reranker],
    filters: Filters = Filters(),
    today: date | None = None,
    clock: Callable[[], float] = time.perf_counter,
    balance: Callable[[Seen, SearchConfig], Balance] | None = None,
) -> Result:
    """Answer one query from one generation. The only search there is."""
    query, trace = check_query(query), Trace(clock)
    allowed = index.allowed(filters, today or date.today())
    candidates = gather(query, config, index, embed, allowed, trace)
    weighed, note = weigh(query, candidates, config, balance, trace)
    with trace.stage("fuse") as out:
        fused = fuse(candidates, weighed)
        out += [fused.ranking, note]
    order, reranked = rerank(query, fused, config, index, reranker, trace)
    with trace.stage("cut") as out:
        explain = Explainer(index, candidates, fused, reranked)
        if config.parents:
            further = lambda depth: _further(query, replace(weighed, depth=depth), index, embed, allowed)
            hits, said = families(explain, order, config, further)
            out += [hits, said]
        else:
            hits = tuple(explain.hit(n, chunk) for n, chunk in enumerate(order[: config.k], 1))
            out.append(hits)
    made, near = index.generation, documents_near(index, candidates)
    stages, warnings = tuple(trace.stages), tuple(trace.warnings)
    return Result(query, made.profile, made.number, made.commit, config, hits, stages, warnings, near)


def documents_near(index: Index, candidates: Candidates) -> tuple[int, ...]:
    """Every document that any leg retrieved."""
    return tuple(dict.fromkeys(index.document_of(chunk) for leg in candidates.retrieved.values() for chunk in leg))


def check_query(query: str) -> str:
    """The query without odd white space; an empty or endless one is refused."""
    text = " ".join(query.split())
    if not text:
        raise BadInput("The query is empty. Type what you are looking for.")
    if len(text) > MAX_QUERY:
        raise BadInput(f"The query has {len(text):,} characters; the limit is {MAX_QUERY:,}.")
    return text


def gather(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Callable[[str], np.ndarray],
    allowed: np.ndarray | None,
    trace: Trace,
) -> Candidates:
    """Ask each leg for its best, then score each leg's missing candidates. A failed leg is named, never silent."""
    legs: dict[str, Leg] = {}
    retrieved: dict[str, Ranking] = {}
    for name in config.legs:
        try:
            legs[name] = _open_leg(name, query, index, embed, trace)
            with trace.stage(name) as out:
                retrieved[name] = legs[name].search(config.depth, allowed)
                out.append(retrieved[name])
        except ConcordError as error:
            trace.warnings.append(f"The {name} leg failed: {error}")
    if not retrieved:
        raise Unavailable("No leg could answer. " + " ".join(trace.warnings))
    return Candidates(retrieved, _complete(legs, retrieved, config), {name: legs[name].floor for name in retrieved})


def _open_leg(name: str, query: str, index: Index, embed: Callable[[str], np.ndarray], trace: Trace) -> Leg:
    by_words = {"bm25": index.bm25, "tfidf": index.tfidf, "sparse": index.sparse}
    if name in by_words:
        return by_words[name](query)
    with trace.stage("embed"):
        vector = embed(query)
    return index.dense(vector)


def _complete(
    legs: Mapping[str, Leg], retrieved: Mapping[str, Ranking], config: SearchConfig
) -> dict[str, Mapping[int, float]]:
    """A chunk that a leg did not retrieve gets its exact score, the leg's floor, or nothing."""
    if config.missing == "absent" or len(retrieved) == 1:
        return {name: dict(found) for name, found in retrieved.items()}
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
    normalise = NORMALISATIONS[config.normalisation]
    normalised = {name: normalise(scores, candidates.floors[name]) for name, scores in candidates.scores.items()}
    weights = leg_weights(config)
    legs = Legs(candidates.retrieved, normalised, weights, config.rrf_k)
    ranking = rank(FUSIONS[config.fusion](legs))
    best = next(iter(ranking.values()), 0.0)
    top = ceiling(config.fusion, legs, best)
    return Fused(ranking, normalised, weights, best / top if top > 0 else 0.0)


def rerank(
    query: str, fused: Fused, config: SearchConfig, index: Index, reranker: Callable[[], Reranker], trace: Trace
) -> tuple[list[int], Mapping[int, float]]:
    """The final order. The cross-encoder reads the top only when the fused ranking is not convincing."""
    order = list(fused.ranking)
    if config.rerank == "off" or not order:
        return order, {}
    if config.rerank == "conditional" and fused.confidence >= config.tau:
        with trace.stage("rerank") as out:
            out += [(), f"not reranked: best score {fused.confidence:.3f} is not below tau {config.tau:g}"]
        return order, {}
    head = order[: config.rerank_depth]
    with trace.stage("rerank") as out:
        try:
            given = reranker().scores(query, [_text(index, chunk) for chunk in head])
        except ConcordError as error:
            trace.warnings.append(f"Not reranked: {error}")
            return order, {}
        scores = rank(dict(zip(head, given, strict=True)))
        out += [scores, _why(config, fused)]
    return [*scores, *order[config.rerank_depth :]], scores


def _why(config: SearchConfig, fused: Fused) -> str:
    if config.rerank == "always":
        return f"reranked the top {config.rerank_depth}, always"
    return f"reranked the top {config.rerank_depth}: best score {fused.confidence:.3f} is below tau {config.tau:g}"


def _text(index: Index, chunk: int) -> str:
    """What the cross-encoder reads: where the passage stands, then the passage."""
    context, text = index.passage(chunk).context, index.excerpt(chunk)
    return f"{context}\n\n{text}" if context else text


def _further(
    query: str,
    config: SearchConfig,
    index: Index,
    embed: Callable[[str], np.ndarray],
    allowed: np.ndarray | None,
) -> Explainer:
    """The same query asked deeper; its time counts as part of the cut."""
    candidates = gather(query, config, index, embed, allowed, Trace())
    return Explainer(index, candidates, fuse(candidates, config), {})


class Explainer:
    """Turns chunk numbers into hits that say why they stand where they stand."""

    def __init__(self, index: Index, candidates: Candidates, fused: Fused, reranked: Mapping[int, float]) -> None:
        self.index, self.candidates, self.fused, self.reranked = index, candidates, fused, reranked
        self.fused_places = _places(fused.ranking)
        self.leg_places = {name: _places(found) for name, found in candidates.retrieved.items()}

    def hit(self, place: int, chunk: int) -> Hit:
        """One chunk as a hit at a place."""
        passage = self.index.passage(chunk)
        facts = self.index.documents[passage.document]
        again = self.reranked.get(chunk)
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
            score=self.fused.ranking[chunk] if again is None else again,
            legs={name: self._leg(name, chunk) for name, scores in self.candidates.scores.items() if chunk in scores},
            status=facts.status,
            version=facts.version,
            fused_rank=self.fused_places[chunk],
            rerank_score=again,
        )

    def parent(self, place: int, chunk: int) -> Hit:
        """The parent of a chunk as a hit: `chunk` still names the child that was found."""
        hit, above = self.hit(place, chunk), self.index.passage(chunk).parent
        if above is None:
            return hit
        text = self.index.text(self.index.document_of(chunk))
        return replace(hit, start=above[0], end=above[1], text=text[above[0] : above[1]])

    def _leg(self, name: str, chunk: int) -> LegScore:
        return LegScore(
            score=self.candidates.scores[name][chunk],
            normalised=self.fused.normalised[name][chunk],
            weight=self.fused.weights[name],
            rank=self.leg_places[name].get(chunk, 0),
        )


def _places(ranking: Ranking) -> dict[int, int]:
    return {chunk: place for place, chunk in enumerate(ranking, 1)}
