"""What a measurement would ask language models for, counted on a few questions or documents before it starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from core.evaluation.generators import paraphrase, qa
from core.evaluation.generators.known_items import sections
from core.evaluation.querysets.queryset import QuerySet
from core.evaluation.runs.pooling import Pooled
from core.llm.asking import ModelTask
from core.retrieval import hyde
from core.retrieval.alpha import llm as weights
from core.retrieval.prompts import RerankPrompt
from core.retrieval.rerankers import RERANKERS, ranker, yes_no
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.models.call_estimates import CallEstimate, CallEstimator
from core.services.search.searcher import Searcher
from core.types import Document, Profile, SearchConfig

T = TypeVar("T")
SAMPLE = 3  # questions, sections or segments that are looked at


def run_calls(
    searcher: Searcher, estimator: CallEstimator, queryset: QuerySet, profile: Profile, config: SearchConfig
) -> tuple[CallEstimate, ...]:
    """The calls of one configuration over a query set; with a condition, from none to all."""
    uses = searcher.model_uses(config)
    if not uses or not queryset.questions:
        return ()
    index, name = searcher.generations.open(profile), searcher.llm(config).name
    bare = replace(config, rerank="off", alpha_from="fixed", hyde=False, k=min(config.depth, config.rerank_depth))
    asked = [question.text for question in _some(queryset.questions)]
    texts = {query: [hit.text for hit in searcher.search_in(index, query, bare).hits] for query in asked}
    rows = []
    prompt = searcher.team_settings.prompt(config.rerank_prompt)
    for use in uses:
        tasks = [task for query in asked for task in _tasks(use, query, texts[query], config, prompt)]
        calls = round(len(tasks) / len(asked) * len(queryset.questions))
        conditional = config.rerank in BY_TAU and use == RERANKERS[config.reranker].purpose
        rows.append(estimator.of(tasks, (0 if conditional else calls, calls), name))
    return tuple(row for row in rows if row)


def _tasks(use: str, query: str, texts: Sequence[str], config: SearchConfig, prompt: RerankPrompt) -> list[ModelTask]:
    """What one question asks a model, for one use."""
    if use == "weights":
        return [weights.task(query)]
    if use == "hyde":
        return [hyde.task(query)]
    calls, shown = RERANKERS[config.reranker].reads(len(texts))
    if use == "yes or no":
        return [ModelTask(use, yes_no.prompt(query, text), str, yes_no.SYSTEM, 1) for text in texts]
    return [ranker.task(query, texts[:shown], prompt)] * calls * config.rerank_orders if texts else []


def paraphrase_calls(
    estimator: CallEstimator, documents: Sequence[Document], per_category: int
) -> tuple[CallEstimate, ...]:
    """The calls of making known items."""
    every = [section for document in documents for section in sections(document)]
    tasks = [paraphrase.task(section.heading[-1], section.document.title, section.body) for section in _some(every)]
    count = min(per_category, len(every))
    row = estimator.of(tasks, (count, count))
    return (row,) if row else ()


def qa_calls(estimator: CallEstimator, documents: Sequence[Document], per_kind: int) -> tuple[CallEstimate, ...]:
    """The calls of making questions with answers: about segments alone, or also about pairs and their entities."""
    every = [document.text[a:b] for document in documents for a, b in qa.segments(document)]
    tasks = [qa.task([text], Counter()) for text in _some(every)]
    singles = min(per_kind, len(every))
    row = estimator.of(tasks, (singles, len(every) + singles + 2 * per_kind))
    return (row,) if row else ()


def judge_calls(estimator: CallEstimator, pool: Sequence[Pooled], guidelines: str) -> tuple[CallEstimate, ...]:
    """The calls of judging a pool: one for each passage."""
    row = estimator.of([item.task(guidelines) for item in _some(pool)], (len(pool), len(pool)))
    return (row,) if row else ()


def _some(things: Sequence[T]) -> Sequence[T]:
    """A few, evenly from the whole."""
    return things[:: max(1, len(things) // SAMPLE)][:SAMPLE]
