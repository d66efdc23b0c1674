"""Runs: configurations over a query set. Every one is kept with what it takes to trace it; the same one again is free."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.access import Actor, require
from core.curation.names import top_folder
from core.errors import BadInput, NotFound
from core.evaluation import anchoring
from core.evaluation.querysets import Judgment, QuerySet, Question, known_unit, of_question, settled
from core.evaluation.runs import Answered, Run, label, means, pack, times_of, unpack
from core.evaluation.scoring import READ, Gold, score
from core.ports import Clock, Index, Progress, no_progress
from core.retrieval import config as configs
from core.services.evaluation.candidates import CandidateCache, Kept, RankedQuestion, search_key
from core.services.evaluation.querysets import QuerySets
from core.services.platform.jobs import Job, Jobs
from core.services.platform.settings import TeamSettings
from core.services.search.searcher import Searcher
from core.types import Profile, SearchConfig

if TYPE_CHECKING:
    from core.adapters.state.database import Database

SHOWN = 20  # documents of a question that a run keeps for people to look at


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One configuration of one profile."""

    profile: Profile
    config: SearchConfig


class Runs:
    """Makes, keeps and finds runs."""

    def __init__(
        self,
        database: Database,
        querysets: QuerySets,
        searcher: Searcher,
        team_settings: TeamSettings,
        jobs: Jobs,
        clock: Clock,
    ) -> None:
        self.database, self.querysets, self.searcher = database, querysets, searcher
        self.team_settings, self.jobs, self.clock = team_settings, jobs, clock

    # ------------------------------------------------------------ making

    def plan(self, profile: str = "", config: str = "") -> RunPlan:
        """A plan from names; what is not named is what is in production."""
        production = self.team_settings.production()
        found = self.team_settings.profile(profile) if profile else production.profile
        return RunPlan(found, configs.parse(config) if config else production.config)

    def start(self, actor: Actor, queryset: str, pairs: Sequence[tuple[str, str]], unit: str = "document") -> Job:
        """Run (profile, configuration) pairs in the background."""
        require(actor, "run an evaluation")
        self.querysets.get(queryset)
        for profile, config in pairs:
            self.plan(profile, config)
        arguments = {"queryset": queryset, "pairs": [list(pair) for pair in pairs], "unit": known_unit(unit)}
        return self.jobs.start("evaluate", arguments, actor)

    def measure(
        self,
        actor: Actor,
        queryset: str,
        pairs: Sequence[tuple[str, str]],
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> tuple[Run, ...]:
        """Run (profile, configuration) pairs for somebody who waits."""
        require(actor, "run an evaluation")
        return self.evaluate(queryset, [self.plan(*pair) for pair in pairs], unit, progress)

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `evaluate`."""
        if "who" in arguments:  # jobs that were queued before this was kept have nobody to ask
            self.jobs.actor(arguments, "run an evaluation")
        plans = [self.plan(*pair) for pair in arguments["pairs"]]
        made = self.evaluate(arguments["queryset"], plans, arguments.get("unit", "document"), progress)
        return {"runs": [run.id for run in made]}

    def evaluate(
        self,
        queryset: str | QuerySet,
        plans: Sequence[RunPlan],
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> tuple[Run, ...]:
        """One run per plan, for services and jobs; people come through `measure` and `start`.

        Legs are searched once per profile and depth; finished runs and questions are reused.
        """
        known_unit(unit)
        found = self.querysets.get(queryset) if isinstance(queryset, str) else queryset
        if not found.judgments:
            raise BadInput(f"Nobody judged anything in {found.name!r} yet, so there is nothing to measure.")
        bench: dict[str, _Bench] = {}
        made = []
        for n, plan in enumerate(plans):
            digest = profiles.identity(plan.profile)
            if digest not in bench:
                index = self.searcher.generations.open(plan.profile)
                bench[digest] = _Bench(self.searcher, self.database, index, found, unit)
                for other in sorted(plans, key=lambda one: -len(one.config.legs)):  # pairs first: they hold the singles
                    if profiles.identity(other.profile) == digest:
                        bench[digest].legs(other.config)
            made.append(self._run(bench[digest], plan, n, len(plans), progress))
        return tuple(made)

    def _run(self, bench: _Bench, plan: RunPlan, n: int, plans: int, progress: Progress) -> Run:
        search = search_key(self.searcher, bench.index, plan.config)
        number = strict.digest([search, bench.queryset.name, bench.queryset.digest, bench.unit])
        if known := self._find(number):
            return known
        started = time.perf_counter()
        total = len(bench.queryset.questions)
        report: Progress = lambda done, _, what: progress(n * total + done, plans * total, what)
        ranked = bench.rank(plan.config, search, report)
        results = {question.id: bench.answered(question, ranked[question.id]) for question in bench.judged}
        if not results:
            raise BadInput(
                f"No judgment of {bench.queryset.name!r} finds its place in this generation. "
                f"The first: {bench.gains.unmapped[0].why if bench.gains.unmapped else 'no question is judged'}"
            )
        run = self._assemble(number, bench, plan, results, ranked, round(time.perf_counter() - started, 3))
        run = replace(run, id=_degraded(run)) if run.warnings else run
        self._keep(run, search)
        return run

    def _assemble(
        self,
        number: str,
        bench: _Bench,
        plan: RunPlan,
        results: Mapping[str, Answered],
        ranked: Mapping[str, RankedQuestion],
        seconds: float,
    ) -> Run:
        made = bench.index.generation
        return Run(
            id=number,
            queryset=bench.queryset.name,
            queryset_digest=bench.queryset.digest,
            unit=bench.unit,
            profile=plan.profile.name,
            profile_digest=profiles.identity(plan.profile),
            config=plan.config,
            config_digest=configs.identity(plan.config),
            generation=made.number,
            commit=made.commit,
            models=self.searcher.asked(plan.profile, plan.config),
            created=self.clock.stamp(),
            seconds=seconds,
            questions=len(results),
            unmapped=tuple(
                {"question": one.judgment.question, "path": one.judgment.path, "why": one.why}
                for one in bench.gains.unmapped
            ),
            figures=means(results.values()),
            times=times_of([one.ms for one in ranked.values()]),
            warnings=tuple(dict.fromkeys(line for one in ranked.values() for line in one.warnings)),
            cost=sum(one.cost for one in ranked.values()) / len(ranked),
            results=results,
        )

    # ------------------------------------------------------------ keeping and finding

    def _keep(self, run: Run, search: str) -> None:
        facts, packed = pack(run)
        with self.database.transaction() as state:
            state.runs.keep(
                id=run.id,
                queryset=run.queryset,
                queryset_digest=run.queryset_digest,
                unit=run.unit,
                search=search,
                profile=run.profile,
                config=run.config_digest,
                generation=run.generation,
                commit_id=run.commit,
                facts=facts,
                results=packed,
                created=run.created,
            )

    def get(self, number: str) -> Run:
        """A run with all its questions, by its id or the beginning of it."""
        rows = self.database.runs.starting(number)
        if len(rows) != 1 or len(number) < 4:
            known = ", ".join(run.id for run in self.all()[:5]) or "none yet"
            raise NotFound(
                f"There is no single run {number!r}. The newest: {known}. Make one with: python -m core eval run"
            )
        return unpack(rows[0])

    def _find(self, number: str) -> Run | None:
        row = self.database.runs.get(number)
        return unpack(row) if row else None

    def all(self, queryset: str = "", limit: int = 500) -> tuple[Run, ...]:
        """Runs without their questions, newest first."""
        return tuple(unpack(row) for row in self.database.runs.newest(queryset, limit))


class _Bench:
    """A query set laid out over one generation."""

    def __init__(self, searcher: Searcher, database: Database, index: Index, queryset: QuerySet, unit: str) -> None:
        self.searcher, self.database, self.index = searcher, database, index
        self.queryset, self.unit = queryset, unit
        self.gains = anchoring.gains(queryset.judgments, index, unit)
        self.judged = [one for one in queryset.questions if any(self.gains.gains.get(one.id, {}).values())]
        self._given = of_question(settled(queryset.judgments))
        self._legs: list[CandidateCache] = []

    def legs(self, config: SearchConfig) -> CandidateCache:
        """The candidates that a configuration ranks; gathered once for all configurations that can share them."""
        for cache in self._legs:
            if cache.serves(config):
                return cache
        self._legs.append(CandidateCache(self.searcher, self.database, self.index, config))
        return self._legs[-1]

    def rank(self, config: SearchConfig, search: str, progress: Progress) -> dict[str, RankedQuestion]:
        """Every judged question under a configuration; what was ranked before is taken from the database."""
        legs, kept = self.legs(config), Kept(self.database, search)
        costly = config.rerank != "off" or config.alpha_from == "llm" or config.parents  # the rest is arithmetic
        known = {query: _ranked(raw) for query, raw in kept.all().items()} if costly else {}
        ranked: dict[str, RankedQuestion] = {}
        try:
            for n, question in enumerate(self.judged, 1):
                text = " ".join(question.text.split())
                ranked[question.id] = known.get(text) or legs.rank(text, config)
                if costly and text not in known and not ranked[question.id].warnings:
                    kept.put(text, strict.plain(ranked[question.id]))
                progress(n, len(self.judged), f"Searching with {label(config)}")
        finally:
            kept.save()
            legs.kept.save()
        return ranked

    def answered(self, question: Question, ranked: RankedQuestion) -> Answered:
        """A question with its measures."""
        documents = dict.fromkeys(self.index.document_of(chunk) for chunk in ranked.chunks)
        passages = ranked.texts or [self.index.excerpt(chunk) for chunk in ranked.chunks[:READ]]
        units = list(documents) if self.unit == "document" else list(ranked.chunks)
        values = score(units, passages, max(ranked.scores[:1], default=0.0), self.gold(question.id))
        home = self.index.documents[self._home(question.id)]
        return Answered(
            question=question,
            values={name: round(value, 12) for name, value in values.items()},
            documents=tuple(self.index.documents[number].doc for number in list(documents)[:SHOWN]),
            passages=tuple(self.index.passage(chunk).id for chunk in ranked.chunks[:SHOWN]),
            ms=ranked.ms,
            confidence=round(ranked.confidence, 9),
            folder=top_folder(home.path),
            tags=home.tags,
            cost=ranked.cost,
        )

    def gold(self, question: str) -> Gold:
        """What should be found."""
        quoted = [one for one in self._given[question] if one.quote and one.grade > 0]
        best = max(quoted, key=lambda one: one.grade, default=Judgment("", ""))
        return Gold(self.gains.gains[question], best.quote, self._segments(quoted))

    def _segments(self, quoted: Sequence[Judgment]) -> tuple[str, ...]:
        found = [anchoring.section_text(one, self.index) for one in quoted if one.heading]
        return tuple(text for text in found if text)

    def _home(self, question: str) -> int:
        """The document of the best judgment."""
        gains = self.gains.gains[question]
        best = min(gains, key=lambda unit: (-gains[unit], unit))
        return best if self.unit == "document" else self.index.document_of(best)


def _degraded(run: Run) -> str:
    """The number of a run where something failed: it is kept and shown, and never taken for what was asked for."""
    return strict.digest([run.id, run.warnings, [one.passages for one in run.results.values()]])


def _ranked(raw: Mapping[str, Any]) -> RankedQuestion:
    tuples = {name: tuple(raw.get(name, ())) for name in ("chunks", "scores", "warnings", "texts")}
    return RankedQuestion(**{**raw, **tuples})
