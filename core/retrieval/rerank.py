"""Reranking: a model that reads the query with the passages has the last word, when the fused ranking is unconvincing.

Every method gets the same task and gives an outcome. None of them raises: what fails leaves the given order as it
was, with a warning. Sources: the cascade study (cross-encoder, cascade), the thesis (conditional, listwise), the
chatbot study (prompts, SlideGAR).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.errors import ConcordError, Unavailable
from core.ports import Llm, Ranking, Reranker
from core.retrieval.fusion import minmax, rank
from core.retrieval.listwise import SYSTEMS, Ranker, descending
from core.retrieval.slidegar import slide
from core.retrieval.trace import Trace
from core.types import SearchConfig

PROMPTS = tuple(SYSTEMS)
CASCADE = (100, 10, 5)  # retrieved, kept by the cross-encoder, put first by the language model


@dataclass(frozen=True, slots=True)
class Task:
    """What a reranker may use. Models are asked for when they are needed, and may turn out to be missing."""

    query: str
    ranking: Ranking
    config: SearchConfig
    text: Callable[[int], str]
    neighbours: Callable[[int], Sequence[int]]
    reranker: Callable[[], Reranker]
    llm: Callable[[], Llm]

    def head(self) -> list[int]:
        """The chunks that are reranked."""
        return list(self.ranking)[: self.config.rerank_depth]

    def ranker(self) -> Ranker:
        """A language model that orders passages for this query."""
        return Ranker(self.query, self.llm, self.config.rerank_prompt)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new order with its scores, best first; empty when the given order stands. `said` is what the model scored."""

    scores: Mapping[int, float] = field(default_factory=dict)
    said: Mapping[int, float] = field(default_factory=dict)
    note: str = ""
    warnings: tuple[str, ...] = ()
    cost: float = 0.0

    def order(self, ranking: Ranking) -> list[int]:
        """Everything in its final order: what was not reranked follows as it was."""
        return [*self.scores, *(chunk for chunk in ranking if chunk not in self.scores)]


def rerank(task: Task, confidence: float, trace: Trace) -> Outcome:
    """Rerank always, never, or when the best fused score is below tau (thesis, section 3.4.2)."""
    if task.config.rerank == "off" or not task.ranking:
        return Outcome()
    sure = task.config.rerank == "conditional" and confidence >= task.config.tau
    with trace.stage("rerank") as out:
        done = Outcome() if sure else blended(_read(task), task)
        out += [done.scores, "; ".join(filter(None, (_why(task.config, confidence), done.note))), done.cost]
    trace.warnings += done.warnings
    return done


def _read(task: Task) -> Outcome:
    try:
        return METHODS[task.config.reranker](task)
    except ConcordError as error:
        return Outcome(note="the given order was kept", warnings=(f"Not reranked: {error}",))


def _why(config: SearchConfig, confidence: float) -> str:
    """The decision with its numbers.

    >>> _why(SearchConfig(rerank="conditional", tau=0.95), 0.71)
    'reranked because best score 0.71 < tau 0.95'
    """
    if config.rerank == "always":
        return "reranked always"
    if confidence < config.tau:
        return f"reranked because best score {confidence:.4g} < tau {config.tau:g}"
    return f"not reranked because best score {confidence:.4g} >= tau {config.tau:g}"


def blended(done: Outcome, task: Task) -> Outcome:
    """The outcome ordered by (1 - blend) x its own score + blend x the fused one, both min-max over what it read."""
    share = task.config.rerank_blend
    if not share or not done.scores:
        return done
    own = _scaled(done.scores)
    fused = _scaled({chunk: task.ranking[chunk] for chunk in done.scores if chunk in task.ranking})
    mixed = {chunk: (1.0 - share) * own[chunk] + share * fused.get(chunk, 0.0) for chunk in own}
    return replace(done, scores=rank(mixed), note=f"{done.note}; fused score blended in at {share:g}")


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    import numpy as np

    return dict(zip(scores, minmax(np.array(list(scores.values()))).tolist(), strict=True))


# ---------------------------------------------------------------- methods


def cross_encoder(task: Task) -> Outcome:
    """Score each of the top passages together with the query; the scores are the order."""
    head, model = task.head(), task.reranker()
    texts = [task.text(chunk) for chunk in head]
    given = model.scores(task.query, texts)
    if not all(math.isfinite(score) for score in given):
        raise Unavailable(f"the reranker {model.name!r} gave scores that are no numbers.")
    scores, cuts = rank(dict(zip(head, given, strict=True))), model.cuts(task.query, texts)
    note = f"{model.name} read the top {len(head)}" + (f", {cuts} of them cut at its limit" if cuts else "")
    return Outcome(scores, scores, note)


def listwise(task: Task) -> Outcome:
    """A language model orders the top passages at once."""
    ranker = task.ranker()
    order = _ordered(ranker, task, task.head())
    return _told(ranker, order or (), f"listwise over the top {len(task.head())}")


def slidegar(task: Task) -> Outcome:
    """Listwise windows over the ranking and over neighbours of what ranked high; reads `rerank_depth` chunks."""
    ranker, budget = task.ranker(), task.config.rerank_depth
    slid = slide(list(task.ranking), budget, lambda chunks: _ordered(ranker, task, chunks), task.neighbours)
    what = (
        f"SlideGAR read {len(slid.order)} passages in {slid.windows} windows, {len(slid.joined)} joined as neighbours"
    )
    return _told(ranker, slid.order, what)


def cascade(task: Task) -> Outcome:
    """The cross-encoder reads the top, a language model orders its best ten, and the first five of those lead."""
    first, ranker = _read(replace(task, config=replace(task.config, reranker="cross-encoder"))), task.ranker()
    order = first.order(task.head())  # type: ignore[arg-type]
    best = (_ordered(ranker, task, order[: CASCADE[1]]) or ())[: CASCADE[2]]
    if not best:
        return replace(first, warnings=(*first.warnings, *ranker.warnings), cost=ranker.bill.dollars)
    what = f"{first.note}; then listwise over {min(CASCADE[1], len(order))}, of which {len(best)} lead"
    told = _told(ranker, (*best, *(chunk for chunk in order if chunk not in best)), what)
    return replace(told, said=first.said or told.said, warnings=(*first.warnings, *told.warnings))


METHODS: Mapping[str, Callable[[Task], Outcome]] = {
    "cross-encoder": cross_encoder,
    "listwise": listwise,
    "slidegar": slidegar,
    "cascade": cascade,
}


def _ordered(ranker: Ranker, task: Task, chunks: Sequence[int]) -> tuple[int, ...] | None:
    places = ranker.order([task.text(chunk) for chunk in chunks])
    return None if places is None else tuple(chunks[place] for place in places)


def _told(ranker: Ranker, order: Sequence[int], what: str) -> Outcome:
    """The outcome of a language model: an order, and what it took to get it."""
    what = what if order else "the given order was kept"
    scores = descending(order)
    note = "; ".join(filter(None, (what, ranker.note())))
    return Outcome(scores, scores, note, tuple(ranker.warnings), ranker.bill.dollars)
