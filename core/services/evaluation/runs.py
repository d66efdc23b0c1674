"""Runs: configurations over a query set, stored with all that reproduces them; the same run again is free."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core import profiles, strict
from core.access import ALREADY_CHECKED, ANYONE, READS, SYSTEM, Actor, reading_as, use_case
from core.curation.document.names import top_folder
from core.cures import EVALUATE
from core.errors import BadInput, ConcordError, NotFound, Unavailable
from core.evaluation.measures.by_name import RANKED, READ, Gold, named, score
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question, by_question, known_unit, settled
from core.evaluation.reports import run_report
from core.evaluation.reports.report import Report
from core.evaluation.runs import comparisons
from core.evaluation.runs.comparisons import RunComparison
from core.evaluation.runs.pooling import Pooled
from core.evaluation.runs.run import Answered, Run, label, means, pack, reaches, times_of, unpack
from core.llm.asking import together
from core.ports import Index, Progress, no_progress
from core.retrieval import config as configs
from core.services.evaluation.cached_candidates import (
    CandidateCache,
    KnownScores,
    RankedQuestion,
    RankingCache,
    ReadOnce,
    search_key,
)
from core.services.evaluation.estimates import judge_calls, run_calls
from core.services.evaluation.querysets import QuerySets
from core.services.jobs.jobs import Job, Jobs
from core.services.models.call_estimates import CallEstimate, CallEstimator
from core.services.models.ledger import stopping
from core.services.search.searcher import Searcher
from core.types import Profile, SearchConfig

if TYPE_CHECKING:
    from core.services.platform.base import Base


@lru_cache(maxsize=1)
def machine() -> str:
    """What tells the machine that times are taken on from others, without its name."""
    return f"{os.cpu_count()} CPUs, {platform.machine()}, {strict.digest([platform.node()], 6)}"


def last_timed(runs: Iterable[Run]) -> tuple[str, str]:
    """This machine, and the last day on which it timed one of these runs; "" where it timed none."""
    here = machine()
    return here, max((run.timed[1] for run in runs if run.machine == here), default="")


SHOWN = 20  # passages of a question that a run stores; it stores all of its documents
EVERY = 1_000_000  # runs: all that there are
MEASURED = 4  # raise it when runs measure something else or in another way: older ones are made again


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A profile and a configuration to run."""

    profile: Profile
    config: SearchConfig


class Runs:
    """Makes, stores and finds runs."""

    def __init__(
        self,
        base: Base,
        querysets: QuerySets,
        searcher: Searcher,
        jobs: Jobs,
        estimator: CallEstimator,
        scores: KnownScores,
    ) -> None:
        self.database = base.database
        self.clock = base.clock
        self.audit = base.audit
        self.team_settings = base.team_settings
        self.querysets = querysets
        self.searcher = searcher
        self.jobs = jobs
        self.estimator = estimator
        self.at_once = base.settings.llm_concurrency  # questions that a language model is asked at the same time
        self.scores = scores  # of rerankers, known before

    # ------------------------------------------------------------ run

    @use_case(ANYONE)
    def plan(self, profile: str = "", config: str = "") -> RunPlan:
        """A plan from names; the defaults are those in production."""
        production = self.team_settings.production()
        chosen = self.team_settings.profile(profile) if profile else production.profile
        return RunPlan(chosen, configs.parse(config) if config else production.config)

    @use_case("run an evaluation")
    def start(self, actor: Actor, queryset: str, pairs: Sequence[tuple[str, str]], unit: str = "document") -> Job:
        """Run (profile, configuration) pairs as a job."""
        self.querysets.get(queryset)
        for profile, config in pairs:
            self.plan(profile, config)
        arguments = {"queryset": queryset, "pairs": [list(pair) for pair in pairs], "unit": known_unit(unit)}
        return self.jobs.start("evaluate", arguments, actor)

    @use_case("run an evaluation", READS)
    def estimate(self, actor: Actor, queryset: str, pairs: Sequence[tuple[str, str]]) -> tuple[CallEstimate, ...]:
        """What language models would be asked by (profile, configuration) pairs; nothing is asked for it."""
        return self.calls_of(self.querysets.get(queryset), [self.plan(*pair) for pair in pairs])

    @use_case("run an evaluation", READS)
    def estimate_judging(self, actor: Actor, queryset: str, pool: Sequence[Pooled]) -> tuple[CallEstimate, ...]:
        """What a language model would be asked to judge a pool."""
        guidelines = self.querysets.guidelines(actor, queryset)
        return judge_calls(self.estimator, pool, guidelines) if self.estimator else ()

    def calls_of(self, queryset: QuerySet, plans: Sequence[RunPlan]) -> tuple[CallEstimate, ...]:
        """The same for plans, for services; a model that is not configured is not asked."""
        if self.estimator is None:
            return ()
        rows: list[CallEstimate] = []
        for plan in plans:
            with suppress(Unavailable):
                rows += run_calls(self.searcher, self.estimator, queryset, plan.profile, plan.config)
        return tuple(rows)

    @use_case("run an evaluation")
    def measure(
        self,
        actor: Actor,
        queryset: str,
        pairs: Sequence[tuple[str, str]],
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> tuple[Run, ...]:
        """Run (profile, configuration) pairs now."""
        runs = self.evaluate(queryset, [self.plan(*pair) for pair in pairs], unit, progress)
        self.audit.note(actor, "run an evaluation", queryset, detail=", ".join(run.id for run in runs))
        return tuple(map(self.shown, runs))

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `evaluate`."""
        self.jobs.actor(arguments, "run an evaluation")
        plans = [self.plan(*pair) for pair in arguments["pairs"]]
        runs = self.evaluate(arguments["queryset"], plans, arguments.get("unit", "document"), progress)
        return {"runs": [run.id for run in runs]}

    @reading_as(SYSTEM)  # figures are of everything, whoever asks for them
    def evaluate(
        self,
        queryset: str | QuerySet,
        plans: Sequence[RunPlan],
        unit: str = "document",
        progress: Progress = no_progress,
    ) -> tuple[Run, ...]:
        """One run per plan, for services and jobs; doors call `measure` or `start`, which check rights.

        Legs are searched once per profile and depth; finished runs and questions are reused.
        """
        known_unit(unit)
        judged_set = self.querysets.get(queryset) if isinstance(queryset, str) else queryset
        if not judged_set.judgments:
            raise BadInput(f"Nobody judged anything in {judged_set.name!r} yet, so there is nothing to measure.")
        runners: dict[str, SetRunner] = {}
        runs = []
        for n, plan in enumerate(plans):
            digest = profiles.identity(plan.profile)
            if digest not in runners:
                index = self.searcher.generations.open(plan.profile)
                runners[digest] = SetRunner(self, index, judged_set, unit)
                for other in sorted(
                    plans, key=lambda plan: -len(plan.config.legs)
                ):  # pairs first: single legs are ranked from them
                    if profiles.identity(other.profile) == digest:
                        runners[digest].candidates(other.config)
            runs.append(self._run(runners[digest], plan, n, len(plans), progress))
        return tuple(runs)

    def _run(self, runner: SetRunner, plan: RunPlan, n: int, plans: int, progress: Progress) -> Run:
        search = search_key(self.searcher, runner.index, plan.config)
        number = strict.digest([search, plan.config.pins, runner.queryset.name, runner.digest, runner.unit, MEASURED])
        if (known := self._find(number)) and _complete(known):
            return known
        started = time.perf_counter()
        total = len(runner.queryset.questions)

        def report(done: int, _: int, what: str) -> None:
            progress(n * total + done, plans * total, what)

        ranked = runner.rank(plan.config, search, report)
        results = {each.id: runner.answered(each, ranked[each.id], plan.config) for each in runner.judged}
        if not results:
            raise BadInput(
                f"No judgment of {runner.queryset.name!r} finds its place in this generation. "
                f"The first: {runner.gains.unmapped[0].why if runner.gains.unmapped else 'no question is judged'}"
            )
        run = self.assemble(number, runner, plan, results, ranked, round(time.perf_counter() - started, 3))
        run = replace(run, id=_degraded(run)) if run.warnings else run
        self._keep(run, search)
        return run

    def assemble(
        self,
        number: str,
        runner: SetRunner,
        plan: RunPlan,
        results: Mapping[str, Answered],
        ranked: Mapping[str, RankedQuestion],
        seconds: float,
    ) -> Run:
        generation = runner.index.generation
        return Run(
            id=number,
            queryset=runner.queryset.name,
            queryset_digest=runner.digest,
            unit=runner.unit,
            profile=plan.profile.name,
            profile_digest=profiles.identity(plan.profile),
            config=plan.config,
            config_digest=configs.identity(plan.config),
            generation=generation.number,
            commit=generation.commit,
            models=self.searcher.models_used(plan.profile, plan.config),
            created=self.clock.stamp(),
            seconds=seconds,
            questions=len(results),
            unmapped=tuple(
                {"question": unmapped.judgment.question, "path": unmapped.judgment.path, "why": unmapped.why}
                for unmapped in runner.gains.unmapped
            ),
            figures=means(results.values()),
            times=times_of([answer.ms for answer in ranked.values()]),
            warnings=tuple(dict.fromkeys(line for answer in ranked.values() for line in answer.warnings)),
            cost=sum(answer.cost for answer in ranked.values()) / len(ranked),
            machine="" if runner.reader.elsewhere else machine(),
            results=results,
        )

    @use_case("run an evaluation", READS)
    def report(self, actor: Actor, runs: Sequence[Run], measure: str = comparisons.MEASURE) -> Report:
        """Runs of one query set as a report: leaderboard, intervals, categories."""
        if not runs:
            raise NotFound("There is no run to report on. Start one on the Evaluation page.")
        facts = run_report.facts(self.querysets.get(runs[0].queryset), runs, self.clock.stamp())
        title = f"Evaluation on {runs[0].queryset}"
        about = f"{len(runs)} configurations by {measure}, every difference paired by question."
        parts = run_report.leaderboard_parts(runs, run_report.COLUMNS, measure)
        return Report("evaluation", title, about, facts, tuple(parts))

    # ------------------------------------------------------------ store and find

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

    @use_case("run an evaluation", READS)
    def show(self, actor: Actor, number: str) -> Run:
        """A run, with the questions about documents that this person may read; its figures are those of all."""
        return self.shown(self.get(number))

    def shown(self, run: Run) -> Run:
        """Without what whoever reads now may not read: questions that such a document answers, and what was found of
        them.
        """
        seen = self.querysets.documents.readership.now()
        if seen is None:
            return run
        asked, shown = set(self._readable_questions(run.queryset)), self._readable_passages(run)
        readable = {document.id for document in self.querysets.documents.all()}  # of others nobody knows what they were
        results = {
            number: replace(
                one,
                documents=tuple(doc for doc in one.documents if doc in readable),
                passages=tuple(filter(shown, one.passages)),
            )
            for number, one in run.results.items()
            if number in asked and seen.path(f"{one.folder}/")
        }
        unmapped = tuple(row for row in run.unmapped if row.get("question") in asked)
        return replace(run, results=results, unmapped=unmapped)

    def _readable_questions(self, queryset: str) -> Iterator[str]:
        """Of a set that is gone nobody knows what its questions are about."""
        with suppress(NotFound):
            yield from (question.id for question in self.querysets.shown(self.querysets.get(queryset)).questions)

    def _readable_passages(self, run: Run) -> Callable[[str], bool]:
        """Which passages the index holds for whoever reads now; none where it cannot be opened."""
        with suppress(ConcordError):
            index = self.searcher.generations.open(self.team_settings.profile(run.profile))
            return lambda passage: index.number(passage) is not None
        return lambda passage: False

    def shown_comparison(self, compared: RunComparison) -> RunComparison:
        """Two runs, as whoever reads now may see them."""
        if self.querysets.documents.readership.now() is None:
            return compared
        before, after = self.shown(compared.before), self.shown(compared.after)
        rows = tuple(
            replace(row, first_before=_first(before, row.question), first_after=_first(after, row.question))
            for row in compared.rows
            if row.question in before.results and row.question in after.results
        )
        return replace(compared, before=before, after=after, rows=rows)

    @use_case(ALREADY_CHECKED)
    def serving(self, runs: Iterable[Run]) -> str:
        """The id of the first run of what is in production; "" where none is of it."""
        now = self.team_settings.production()
        setup = profiles.identity(now.profile), configs.identity(now.config)
        return next((run.id for run in runs if (run.profile_digest, run.config_digest) == setup), "")

    @use_case("run an evaluation", READS)
    def listed(self, actor: Actor, queryset: str = "", limit: int = 500) -> tuple[Run, ...]:
        """Runs without their questions, for those who may see them."""
        return tuple(self.shown(run) if run.unmapped else run for run in self.all(queryset, limit))

    def get(self, number: str) -> Run:
        """A run with all its questions, by its id or a unique prefix; for services, doors call `show`."""
        rows = self.database.runs.starting(number)
        if len(rows) != 1 or len(number) < 4:
            known = ", ".join(run.id for run in self.all()[:5]) or "none yet"
            raise NotFound(f"There is no single run {number!r}. The newest: {known}.", EVALUATE)
        return unpack(rows[0].facts, rows[0].results)

    def _find(self, number: str) -> Run | None:
        row = self.database.runs.get(number)
        return unpack(row.facts, row.results) if row else None

    def tried(self, run: Run, questions: Iterable[str]) -> set[tuple[str, str]]:
        """Every profile and configuration, as digests, that was ever run on one of these questions of a run.

        Whatever a set was called or held at the time: another name or another edit of it forgives no try.
        """
        asked, every = _keys(run, questions), self.all(limit=EVERY)
        of_set = {other.queryset_digest: other.id for other in every}
        known = {digest: self.get(number) for digest, number in of_set.items()}
        shared = {digest for digest, other in known.items() if asked & _keys(other, other.results)}
        return {(other.profile_digest, other.config_digest) for other in every if other.queryset_digest in shared}

    def all(self, queryset: str = "", limit: int = 500) -> tuple[Run, ...]:
        """Runs without their questions, newest first; for services, doors call `listed`."""
        return tuple(unpack(row.facts, row.results) for row in self.database.runs.newest(queryset, limit))


def _keys(run: Run, questions: Iterable[str]) -> set[tuple[str, str]]:
    """What makes a question the same one: its text, or its id in a set of the same name."""
    texts = {number: " ".join(run.results[number].question.text.casefold().split()) for number in questions}
    return {("", text) for text in texts.values()} | {(run.queryset, number) for number in texts}


def _complete(run: Run) -> bool:
    """Whether a run has all that is measured now; one that was made before is measured again."""
    fused = run.config.rerank != "off" or all(answer.chance is not None for answer in run.results.values())
    return fused and run.figures.keys() >= {name for name in RANKED if reaches(run.config, name)}


class SetRunner:
    """Runs configurations of one query set on one generation."""

    def __init__(
        self,
        runs: Runs,
        index: Index,
        queryset: QuerySet,
        unit: str = "document",
    ) -> None:
        self.searcher, self.database, self.index = runs.searcher, runs.database, index
        self.at_once, self.reader = runs.at_once, ReadOnce(runs.scores)
        self.queryset, self.digest, self.unit = queryset, queryset.digest, unit
        self.gains = anchoring.gains(queryset.judgments, index, unit)
        self.judged = [
            question for question in queryset.questions if any(self.gains.gains.get(question.id, {}).values())
        ]
        self._judgments = by_question(settled(queryset.judgments))
        self._caches: list[CandidateCache] = []

    def candidates(self, config: SearchConfig) -> CandidateCache:
        """The cache that a configuration is ranked from; configurations share one where they can."""
        for cache in self._caches:
            if cache.serves(config):
                return cache
        self._caches.append(CandidateCache(self.searcher, self.database, self.index, config, self.reader))
        return self._caches[-1]

    def rank(self, config: SearchConfig, search: str, progress: Progress) -> dict[str, RankedQuestion]:
        """Every judged question under a configuration; costly rankings are stored in the database."""
        candidates, saved, what = self.candidates(config), RankingCache(self.database, search), label(config)
        costly = config.rerank != "off" or config.alpha_from == "llm" or config.parents  # the rest is arithmetic
        known = {query: _ranked(raw) for query, raw in saved.all().items()} if costly else {}
        ranked: dict[str, RankedQuestion] = {}
        try:
            for n, (question, text, answer) in enumerate(self._ranked(candidates, config, known), 1):
                ranked[question.id] = answer
                if costly and text not in known and not answer.warnings:
                    saved.put(text, strict.plain(answer))
                progress(n, len(self.judged), f"Searching with {what}")
        finally:
            saved.save()
            candidates.save()
        return ranked

    def _ranked(
        self, candidates: CandidateCache, config: SearchConfig, known: Mapping[str, RankedQuestion]
    ) -> Iterator[tuple[Question, str, RankedQuestion]]:
        """Questions in order with what is found for them; where a language model is asked, several at once."""

        def answer(question: Question) -> RankedQuestion:
            text = _plain(question)
            with stopping():
                return known.get(text) or candidates.rank(text, config)

        at_once = self.at_once if self.searcher.model_uses(config) else 1
        with together(answer, self.judged, at_once) as answers:
            yield from zip(self.judged, map(_plain, self.judged), answers, strict=True)

    def answered(self, question: Question, ranked: RankedQuestion, config: SearchConfig) -> Answered:
        documents: dict[int, float] = {}
        for chunk, score_of in zip(ranked.chunks, ranked.scores, strict=True):
            documents.setdefault(self.index.document_of(chunk), score_of)
        passages = ranked.texts or [self.index.excerpt(chunk) for chunk in ranked.chunks[:READ]]
        units = list(documents) if self.unit == "document" else list(ranked.chunks)
        copies = [tuple(map(self.index.document_of, group)) for group in ranked.copies]
        units, wanted = named(units, copies if self.unit == "document" else ranked.copies, self.gold(question.id))
        values = score(units, passages, max(ranked.scores[:1], default=0.0), wanted)
        home = self.index.documents[self._home(question.id)]
        return Answered(
            question=question,
            values={name: round(value, 12) for name, value in values.items() if reaches(config, name)},
            documents=tuple(self.index.documents[number].doc for number in documents),
            scores=tuple(round(score, 9) for score in documents.values()),
            passages=tuple(self.index.passage(chunk).id for chunk in ranked.chunks[:SHOWN]),
            ms=ranked.ms,
            confidence=round(ranked.confidence, 9),
            folder=top_folder(home.path),
            tags=home.tags,
            cost=ranked.cost,
            tokens=ranked.tokens,
            chance=None if ranked.chance is None else round(ranked.chance, 9),
        )

    def gold(self, question: str) -> Gold:
        return gold(self._judgments[question], self.gains.gains[question], self.index)

    def _home(self, question: str) -> int:
        """The document of the best judgment."""
        gains = self.gains.gains[question]
        best = min(gains, key=lambda unit: (-gains[unit], unit))
        return best if self.unit == "document" else self.index.document_of(best)


def gold(judgments: Sequence[Judgment], gains: Mapping[int, float], index: Index) -> Gold:
    """What should be found for a question: its gains, the answer that its best judgment quotes, its source segments."""
    quoted = [judgment for judgment in judgments if judgment.quote and judgment.grade > 0]
    best = max(quoted, key=lambda judgment: judgment.grade, default=Judgment("", ""))
    segments = filter(None, dict.fromkeys(anchoring.segment_text(judgment, index) for judgment in quoted))
    return Gold(gains, best.quote, tuple(segments))


def _degraded(run: Run) -> str:
    """The id of a run with warnings: it is stored and shown, but never reused for the plan."""
    return strict.digest([run.id, run.warnings, [answer.passages for answer in run.results.values()]])


def _plain(question: Question) -> str:
    return " ".join(question.text.split())


def _ranked(raw: Mapping[str, Any]) -> RankedQuestion:
    tuples = {name: tuple(raw.get(name, ())) for name in ("chunks", "scores", "warnings", "texts")}
    return RankedQuestion(**{**raw, **tuples, "copies": tuple(map(tuple, raw.get("copies", ())))})


def _first(run: Run, question: str) -> str:
    """The document that a run found first."""
    return next(iter(run.results[question].documents), "")
