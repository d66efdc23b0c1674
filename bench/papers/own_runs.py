"""Runs that only replays make: each question with a configuration of its own, and the same calls of a model
once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core import strict
from core.evaluation.querysets.queryset import QuerySet
from core.evaluation.runs.run import Run
from core.ports import Llm, Progress
from core.services.evaluation.cached_candidates import CandidateCache, RankedQuestion, search_key
from core.services.evaluation.runs import RunPlan, Runs, SetRunner
from core.types import Answer, LlmRequest, Profile, SearchConfig


class OwnConfigurations(CandidateCache):
    """Ranks every question by its own configuration."""

    chosen: Mapping[str, SearchConfig] = {}  # by the words of a question

    def rank(self, query: str, config: SearchConfig) -> RankedQuestion:
        return super().rank(query, self.chosen.get(query, config))


class OneCache(SetRunner):
    """A runner whose configurations are all ranked from one cache."""

    cache: CandidateCache

    def candidates(self, config: SearchConfig) -> CandidateCache:
        return self.cache


def each(
    runs: Runs, queryset: QuerySet, profile: Profile, chosen: Mapping[str, SearchConfig], progress: Progress
) -> Run:
    """A run in which every question has a configuration of its own, such as its own alpha; it is not stored."""
    runner = OneCache(runs, runs.searcher.generations.open(profile), queryset)
    first = next(iter(chosen.values()))
    cache = OwnConfigurations(runner.searcher, runner.database, runner.index, first, runner.reader)
    cache.chosen = {" ".join(asked.text.split()): chosen[asked.id] for asked in queryset.questions}
    runner.cache = cache
    number = strict.digest([runner.digest, runner.index.generation.digest, strict.plain(chosen)])
    return _run(runs, runner, RunPlan(profile, first), number, progress)


def again(runs: Runs, queryset: QuerySet, plan: RunPlan, repeat: int, progress: Progress) -> Run:
    """The same run with calls of its own; its rankings are stored, the run is not."""
    runner = OneCache(runs, runs.searcher.generations.open(plan.profile), queryset)
    searcher: Any = Asking(runs.searcher, lambda asked: asked._replace(llm=lambda: _Again(asked.llm(), repeat)))
    runner.cache = CandidateCache(searcher, runner.database, runner.index, plan.config, runner.reader)
    number = f"{search_key(runs.searcher, runner.index, plan.config)}-{repeat}"
    return _run(runs, runner, plan, number, progress)


def _run(runs: Runs, runner: SetRunner, plan: RunPlan, number: str, progress: Progress) -> Run:
    ranked = runner.rank(plan.config, number, progress)
    results = {asked.id: runner.answered(asked, ranked[asked.id], plan.config) for asked in runner.judged}
    return runs.assemble(number, runner, plan, results, ranked, 0.0)


class Asking:
    """A searcher that asks for a ranking in another way."""

    def __init__(self, searcher: Any, change: Callable[[Any], Any]) -> None:
        self._searcher, self._change = searcher, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._searcher, name)

    def ask(self, *arguments: Any, **named: Any) -> Any:
        return self._change(self._searcher.ask(*arguments, **named))


class _Again:
    """A model that is given a few tokens more to answer with: the same question, but another one to a cache."""

    def __init__(self, llm: Llm, repeat: int) -> None:
        self.name, self.server = llm.name, llm.server
        self._llm, self._repeat = llm, repeat

    def complete(self, request: LlmRequest) -> Answer:
        return self._llm.complete(replace(request, max_tokens=request.max_tokens + self._repeat))
