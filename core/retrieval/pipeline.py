"""The one search: gather -> rank -> hits.

`gather` asks each leg for its best. `rank` normalises, fuses and reranks if the best fused score is unconvincing:
arithmetic on what was gathered, and a reranker where one is asked for. `hits` cuts and explains. `search` is those
three; evaluation, sweeps, playground and tuning are a cached `gather` and the same `rank`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from core.errors import BadInput, ConcordError, Unavailable
from core.ports import ExplainsPath, Index, Leg, Llm, Ranking, Reranker
from core.retrieval import config as configs
from core.retrieval import document_ranking, listing
from core.retrieval.candidates import Candidates, Fused, fuse
from core.retrieval.confidence import LOOKED_AT, chances, confidence, lacking
from core.retrieval.hits import Explainer
from core.retrieval.hyde import Embed, hypothetical
from core.retrieval.legs import LEGS
from core.retrieval.listing import Placed
from core.retrieval.method_values import CandidateFeatures, LegScores
from core.retrieval.methods import UNCHANGED, LegQuery, LegWeights, Outcome, Task, no_ranker
from core.retrieval.prompts import RerankPrompt, built_in
from core.retrieval.query_rules import NO_RULES, QueryRules, SynonymLeg, Wording, pin_of, wordings
from core.retrieval.rerankers.features import features
from core.retrieval.rerankers.rerank import rerank
from core.retrieval.rerankers.sliding import NEIGHBOURS
from core.retrieval.trace import Trace
from core.types import NOTHING, Filters, Frozen, Hit, Result, SearchConfig

if TYPE_CHECKING:
    import numpy as np

    from core.retrieval.method_values import RankerModel

MAX_QUERY = 10_000


def open_leg(name: str, asked: LegQuery, index: Index) -> Leg:
    """A leg of an index for one query."""
    return LEGS[name].open(asked, index)


def no_reranker() -> Reranker:
    """For callers that have none."""
    raise Unavailable("No reranker is at hand.")


def no_llm() -> Llm:
    """For callers that have none."""
    raise Unavailable("No language model is configured.")


class SearchContext(NamedTuple):
    """What a search may use besides the index: filters, the day, and models that are loaded when first needed."""

    embed: Embed
    reranker: Callable[[], Reranker] = no_reranker
    llm: Callable[[], Llm] = no_llm
    embed_passage: Embed | None = None
    weigh: Callable[[LegScores, SearchConfig], LegWeights] | None = None
    filters: Filters = Filters()
    today: date | None = None
    open_leg: Callable[[str, LegQuery, Index], Leg] = open_leg
    clock: Callable[[], float] = time.perf_counter
    prompt: Callable[[str], RerankPrompt] = built_in
    rules: QueryRules = NO_RULES
    ranker: Callable[[SearchConfig], RankerModel] = no_ranker

    def allowed(self, index: Index) -> np.ndarray | None:
        """Which chunks may be found; None when all may."""
        return index.allowed(self.filters, self.today or date.today())


class Pinned(NamedTuple):
    """The passage that stands first because it is pinned to a question."""

    chunk: int
    question: str


class Ranked(NamedTuple):
    """One ranking, with everything that explains it. `config` holds this query's own weights."""

    candidates: Candidates
    config: SearchConfig
    fused: Fused
    outcome: Outcome
    pinned: Pinned | None = None

    @property
    def order(self) -> list[int]:
        """Every chunk in its final order."""
        order = self.outcome.order(self.fused.ranking)
        if self.pinned is None:
            return order
        return [self.pinned.chunk, *(chunk for chunk in order if chunk != self.pinned.chunk)]


def search(query: str, config: SearchConfig, index: Index, ask: SearchContext) -> Result:
    """Answer one query from one generation."""
    trace = Trace(ask.clock)
    candidates = gather(query, config, index, ask, trace)
    ranked = rank(candidates, config, index, ask, trace)
    results = hits(ranked, config, index, ask, trace)
    generation = index.generation
    return Result(
        candidates.query,
        generation.profile,
        generation.number,
        generation.commit,
        config,
        results,
        tuple(trace.stages),
        tuple(trace.warnings),
        confidence_of(ranked, config, index),
        also=candidates.also,
        doubt=_doubt(ranked, results, index),
    )


def _doubt(ranked: Ranked, results: Sequence[Hit], index: Index) -> str:
    """A sentence where the first result holds little of the question and a later one far more."""
    if ranked.pinned or ranked.candidates.also:
        return ""
    numbers = [number for hit in results[:LOOKED_AT] if (number := index.number(hit.chunk)) is not None]
    words = " or ".join(f"“{word}”" for word in lacking(ranked.candidates.query, numbers, index))
    return f"The first result does not mention {words}. A later one does." if words else ""


def confidence_of(ranked: Ranked, config: SearchConfig, index: Index) -> float:
    """The confidence in the wording that fits best; what somebody pinned answers for sure."""
    if ranked.pinned:
        return 1.0
    wordings = (replace(ranked.candidates, query=words) for words in (ranked.candidates.query, *ranked.candidates.also))
    return max(confidence(candidates, ranked.fused.ranking, config, index) for candidates in wordings)


def first_chance(ranked: Ranked, config: SearchConfig, index: Index) -> float:
    """How likely it is that the first hit of the fusion answers: the scale of tau, whatever the fusion; 0 where nothing
    was found."""
    if ranked.pinned:
        return 1.0
    return next(iter(chances(ranked.candidates, list(ranked.fused.ranking)[:1], config, index)), 0.0)


# ---------------------------------------------------------------- gather


def gather(query: str, config: SearchConfig, index: Index, ask: SearchContext, trace: Trace) -> Candidates:
    """Ask each leg for its best. A leg that fails is named, never silent."""
    query, allowed = check_query(query), ask.allowed(index)
    asked = _asked(query, config, ask, trace)
    also = wordings(query, ask.rules, index) if config.synonyms and ask.rules.leads else ()
    legs: dict[str, Leg] = {}
    retrieved: dict[str, Ranking] = {}
    for name in config.legs:
        try:
            leg = _open(name, _for_leg(name, asked, config), also, index, ask)
            with trace.stage(name) as stage:
                legs[name], retrieved[name] = leg, leg.search(document_ranking.passages(config), allowed)
                stage.hits = len(retrieved[name])
                stage.note = getattr(leg, "note", "")
        except ConcordError as error:
            trace.warnings.append(f"The {name} leg failed: {error}")
    if not retrieved:
        raise Unavailable("No leg could answer. " + " ".join(trace.warnings))
    guides = {name: guide for name in retrieved if (guide := _guide(legs[name]))}
    floors = {name: legs[name].floor for name in retrieved}
    found = Candidates(query, retrieved, floors, lambda leg, chunks: legs[leg].score(chunks), guides, asked.vector)
    found = replace(found, also=tuple(wording.text for wording in also)) if also else found
    return (
        document_ranking.reduced(found, index, config.depth, partial(document_ranking.highest, legs))
        if config.documents
        else found
    )


def _for_leg(name: str, asked: LegQuery, config: SearchConfig) -> LegQuery:
    """The query as one leg sees it: with the engine and the fields of the configuration."""
    engine = config.engines.get(name, "")
    fields = config.fields if LEGS[name].fields and "bm25" in config.legs else NOTHING
    return asked._replace(engine=engine, fields=fields) if engine or fields else asked


def _open(name: str, asked: LegQuery, also: Sequence[Wording], index: Index, ask: SearchContext) -> Leg:
    """A leg for the query; one that searches for words also for its other wordings."""
    leg = ask.open_leg(name, asked, index)
    if not also or LEGS[name].side != "sparse":
        return leg
    others = [(wording, ask.open_leg(name, asked._replace(query=wording.text), index)) for wording in also]
    return SynonymLeg(leg, others)


def check_query(query: str) -> str:
    """The query with single spaces; empty ones and those over the limit are refused."""
    text = " ".join(query.encode("utf-8", "replace").decode().split())  # half of a surrogate pair is no character
    if not text:
        raise BadInput("The query is empty. Type what you are looking for.")
    if len(text) > MAX_QUERY:
        raise BadInput(f"The query has {len(text):,} characters; the limit is {MAX_QUERY:,}.")
    return text


def _asked(query: str, config: SearchConfig, ask: SearchContext, trace: Trace) -> LegQuery:
    """The query as legs see it: embedded once, when the first leg asks; with HyDE as a passage that would answer it."""
    embed = ask.embed
    if configs.imagines(config):
        embed = hypothetical(query, ask.embed, ask.embed_passage or ask.embed, ask.llm, trace)

    @cache
    def vector() -> np.ndarray:
        with trace.stage("embed"):
            return embed(query)

    return LegQuery(query, vector, ask.open_leg)


def _guide(leg: Leg) -> ExplainsPath | None:
    """The leg, if it explains its path. `hasattr`, because a protocol check costs a tenth of a search."""
    return cast("ExplainsPath", leg) if hasattr(leg, "path") else None


# ---------------------------------------------------------------- rank


def rank(candidates: Candidates, config: SearchConfig, index: Index, ask: SearchContext, trace: Trace) -> Ranked:
    """One ranking of what was gathered: weigh, normalise, fuse, rerank if unconvincing."""
    candidates = candidates.only(config.legs)
    weighed, note = weigh(candidates, config, ask, trace)
    with trace.stage("fuse") as stage:
        fused = fuse(candidates, weighed)
        stage.hits, stage.note = len(fused.ranking), note
    pinned = pin(candidates.query, fused.ranking, config, index, ask)
    ranked = Ranked(candidates, weighed, fused, UNCHANGED, pinned)
    if config.rerank == "off":
        return ranked
    text, near = partial(_text, index), partial(_neighbours, index, ask)
    see = partial(_features, candidates, fused, index, ask)
    task = Task(candidates.query, fused.ranking, config, text, near, ask.reranker, ask.llm, ask.prompt, ask.ranker, see)
    sureness = first_chance(ranked, config, index) if config.rerank == "unsure" else fused.confidence
    return ranked._replace(outcome=rerank(task, sureness, trace))


def pin(query: str, ranking: Ranking, config: SearchConfig, index: Index, ask: SearchContext) -> Pinned | None:
    """The passage that is pinned to a query: of its section, else of its document, the one that ranks best.

    None where nothing is pinned, or where what is pinned may not be found or is gone.
    """
    wanted = pin_of(query, ask.rules) if config.pins else None
    if wanted is None:
        return None
    number = next((n for n, facts in enumerate(index.documents) if facts.path == wanted.document), None)
    if number is None:
        return None
    allowed = ask.allowed(index)
    chunks = [chunk for chunk in index.chunks_of(number) if allowed is None or allowed[chunk]]
    inside = [chunk for chunk in chunks if wanted.section and _in_section(chunk, wanted.section.casefold(), index)]
    places = {chunk: place for place, chunk in enumerate(ranking)}
    best = min(inside or chunks, key=lambda chunk: places.get(chunk, len(places)), default=None)
    return None if best is None else Pinned(best, wanted.question)


def _in_section(chunk: int, section: str, index: Index) -> bool:
    """Whether a passage stands below a heading, or holds it: short sections are joined."""
    below = section in map(str.casefold, index.passage(chunk).heading)
    lines = (line for line in index.excerpt(chunk).splitlines() if line.startswith("#"))
    return below or any(line.strip("# ").casefold() == section for line in lines)


def weigh(candidates: Candidates, config: SearchConfig, ask: SearchContext, trace: Trace) -> tuple[SearchConfig, str]:
    """The configuration with this query's own weights, and where they came from. Without them alpha stays fixed."""
    if config.alpha_from == "fixed":
        return config, ""
    with trace.stage("alpha"):
        try:
            if ask.weigh is None:
                raise Unavailable("nothing here can weigh the legs of a query.")
            weights = ask.weigh(seen(candidates), config)
        except ConcordError as error:
            trace.warnings.append(f"Alpha stays at {config.alpha:g}: {error}")
            return config, f"alpha {config.alpha:g}, fixed"
    if weights.warning:
        trace.warnings.append(weights.warning)
    return replace(config, weights=Frozen(weights.weights)), weights.note


def seen(candidates: Candidates) -> LegScores:
    """What a predictor of alpha may look at: the query and what the dense and the other leg answered."""
    query, floors, retrieved = candidates.query, candidates.floors, candidates.retrieved
    other = next((leg for leg in retrieved if leg != "dense"), "")
    if "dense" not in retrieved or not other:
        return LegScores(query, retrieved.get("dense", {}), retrieved.get(other, {}))
    return LegScores(query, retrieved["dense"], retrieved[other], floors["dense"], floors[other])


def _neighbours(index: Index, ask: SearchContext, chunk: int) -> list[int]:
    """The chunks nearest to a chunk by its own vector, among those that may be found."""
    nearest = index.dense(index.vector(chunk)).search(NEIGHBOURS + 1, ask.allowed(index))
    return [other for other in nearest if other != chunk][:NEIGHBOURS]


def _features(
    candidates: Candidates, fused: Fused, index: Index, ask: SearchContext, chunks: Sequence[int]
) -> CandidateFeatures:
    return features(chunks, candidates, fused, index, ask.today or date.today())


def _text(index: Index, chunk: int) -> str:
    """What a reranker reads: where the passage stands, then the passage."""
    context, text = index.context(chunk), index.excerpt(chunk)
    return f"{context}\n\n{text}" if context else text


# ---------------------------------------------------------------- hits


def hits(ranked: Ranked, config: SearchConfig, index: Index, ask: SearchContext, trace: Trace) -> tuple[Hit, ...]:
    """The first k as hits that say why they stand there; with `parents`, the larger parts they were cut from."""
    with trace.stage("cut") as stage:
        if config.parents:
            deeper = partial(_deeper, ranked, index, ask)
            results, stage.note = listing.parents(_explainer(ranked, index), ranked.order, config, deeper)
        else:
            shown = list(islice(listed(ranked, config, index, ask), config.k))
            results = tuple(each.hit(n) for n, each in enumerate(shown, 1))
            stage.note = listing.note(sum(len(each.copies) for each in shown))
        if ranked.pinned and results:
            results = (replace(results[0], pinned=ranked.pinned.question), *results[1:])
            stage.note = "; ".join(filter(None, (stage.note, f"pinned answer to “{ranked.pinned.question}”")))
        stage.hits = len(results)
    return results


def listed(ranked: Ranked, config: SearchConfig, index: Index, ask: SearchContext) -> Iterator[Placed]:
    """Every candidate in its final place; copies stand with the best of them where they collapse."""
    deeper = partial(_deeper, ranked, index, ask)
    return listing.listed(_explainer(ranked, index), ranked.order, config, deeper)


def _explainer(ranked: Ranked, index: Index) -> Explainer:
    return Explainer(index, ranked.candidates, ranked.fused, ranked.outcome, ranked.config.fields)


def _deeper(ranked: Ranked, index: Index, ask: SearchContext, depth: int) -> Explainer:
    """The same query asked deeper, with the vector it had; its time counts as part of the cut."""
    config, vector = replace(ranked.config, depth=depth), ranked.candidates.vector
    if vector is not None:
        config, ask = replace(config, hyde=False), ask._replace(embed=lambda _: vector())
    candidates = gather(ranked.candidates.query, config, index, ask, Trace())
    return Explainer(index, candidates, fuse(candidates, config), UNCHANGED)
