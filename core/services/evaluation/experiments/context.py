"""What every experiment needs: a query set, indexes, runs, and the common parts of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.access import Actor, require
from core.chunking import profile_chunker
from core.errors import BadInput, ConcordError, NotFound
from core.evaluation.generators import known_items, qa
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.paraphrase import by_llm
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.queryset import QuerySet, Question, by_category, by_question
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Part, Report, ReportTable
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run
from core.llm.asking import dollars_of
from core.ports import Llm, Models, Progress, no_progress
from core.retrieval.filters import admits
from core.services.evaluation.estimates import paraphrase_calls, qa_calls
from core.services.evaluation.runs import RunPlan, Runs
from core.services.index.builder import Built, IndexBuilder
from core.services.index.model_calls import build_calls
from core.services.knowledge.documents import Documents
from core.services.models.call_estimates import CallEstimate
from core.types import NOTHING, Chunk, Document, Filters, Frozen, Profile, SearchConfig

SAMPLED = 6  # documents that an estimate chunks
DEPTH = 30  # candidates per leg, as in production
KNOWN = "known-items"
QA = "questions-and-answers"


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """What somebody may choose of an experiment: language models to compare, the first of which does the rest; more
    embedders; how often the calls of one row are repeated; the size of the questions that are made; and how many documents
    are taken, 0 for all; and where the report goes, if not among the others."""

    models: tuple[str, ...] = ()
    embedders: tuple[str, ...] = ()
    repeats: int = 3
    questions: int = 0
    documents: int = 0
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class ExperimentContext:
    """The services an experiment uses, and the query set it runs on."""

    runs: Runs
    builder: IndexBuilder
    documents: Documents
    models: Models
    queryset: QuerySet = QuerySet("", ())
    options: ExperimentOptions = ExperimentOptions()
    names: qa.Names | None = None  # a recogniser of names, where one is installed
    aside: Callable[[Actor, Sequence[Document]], ExperimentContext] | None = None  # a workspace with a few documents
    limited: Mapping[str, str] = NOTHING  # what is less or other than one would think, for the facts of the report

    def limited_by(self, what: str, how: str) -> ExperimentContext:
        """The context with one more fact for the report."""
        return replace(self, limited=Frozen({**self.limited, what: how}))

    @property
    def known(self) -> str:
        """The known items that an experiment runs on where no set is named."""
        return f"{KNOWN}-{self.options.questions}" if self.options.questions else KNOWN

    def generate(
        self,
        actor: Actor,
        seed: int = 42,
        per_category: int = known_items.PER_CATEGORY,
        name: str = KNOWN,
        progress: Progress = no_progress,
        failed: Counter[str] | None = None,
    ) -> QuerySet:
        """Known items of the documents that search admits; paraphrased by a language model where there is one."""
        require(actor, "keep a query set")
        check_count(per_category)
        llm = self.llm()
        paraphrase = by_llm(llm, known_items.RULES, known_items.LLM, failed) if llm else None
        sizes = known_items.shared_out(self.options.questions) if self.options.questions else NOTHING
        queryset = known_items.generate(
            self.findable(), KnownItemSettings(seed, per_category, name, sizes), paraphrase, progress
        )
        return self.runs.querysets.keep(actor, queryset)

    def left_out(self, queryset: QuerySet) -> dict[str, str]:
        """The categories of known items that were not made, and paraphrases by a model where there is none."""
        missing = known_items.left_out(queryset)
        if "heading_paraphrase" not in missing and self.llm() is None:
            missing["paraphrases by a language model"] = "none is configured, so they are by rules"
        return missing

    def generate_qa(
        self,
        actor: Actor,
        seed: int = 42,
        per_kind: int = known_items.PER_CATEGORY,
        name: str = "",
        progress: Progress = no_progress,
        size: int = qa.WORDS,
    ) -> qa.GeneratedSet:
        """Questions and answers that a language model writes, how many were refused and which kinds are missing, and why."""
        require(actor, "keep a query set")
        check_count(per_kind)
        llm = self.models.llm()
        generated = qa.generate(
            self.findable(), llm, QaSettings(seed, per_kind, name or QA, size), self.names, self.runs.at_once, progress
        )
        return replace(generated, queryset=self.runs.querysets.keep(actor, generated.queryset))

    def calls_of(
        self,
        asking: Iterable[SearchConfig],
        built: Callable[[Profile], Iterable[Profile]],
        name: str,
        limit: int,
        default: str = KNOWN,
        documents: int = 0,
    ) -> tuple[CallEstimate, ...]:
        """What language models would be asked: for questions that are made first, for runs, and for builds."""
        rows: list[CallEstimate] = []
        try:
            queryset = sampled(self.runs.querysets.get(name or default), limit)
        except NotFound:
            rows += self.generating(*(("qa", limit or known_items.PER_CATEGORY) if default == QA else ("known-items", self._paraphrased)))  # fmt: skip
            size = limit or self.options.questions or known_items.PER_CATEGORY * len(known_items.CATEGORIES)
            titles = [document.title for document in self.documents.all()] or ["?"]
            queryset = QuerySet("", tuple(Question(str(n), titles[n % len(titles)]) for n in range(size)))
        profile = self.runs.team_settings.production().profile
        rows += self.runs.calls_of(queryset, [RunPlan(profile, config) for config in asking])
        sample, scale = self._chunked(profile, documents)
        for other in built(profile):
            rows += build_calls(self.runs.estimator, self.builder.texts, other, sample, scale)
        return tuple(rows)

    @property
    def _paraphrased(self) -> int:
        """How many headings the known items paraphrase at most."""
        asked = self.options.questions
        return known_items.shared_out(asked)["heading_paraphrase"] if asked else known_items.PER_CATEGORY

    def generating(self, kind: str, count: int) -> tuple[CallEstimate, ...]:
        """What making a query set would ask a language model."""
        if self.llm() is None or self.runs.estimator is None:
            return ()
        calls = qa_calls if kind == "qa" else paraphrase_calls
        return calls(self.runs.estimator, self.findable(), count)

    def _chunked(self, profile: Profile, documents: int) -> tuple[list[tuple[Document, Sequence[Chunk]]], float]:
        """A few documents with their chunks, and how many times that is everything, or so many documents."""
        everything = self.documents.all()
        sample = everything[:: max(1, len(everything) // SAMPLED)]
        split = profile_chunker(profile, self.models.of(profile))
        return [(document, split(document)) for document in sample], (documents or len(everything)) / max(
            1, len(sample)
        )

    def findable(self) -> list[Document]:
        """Documents that search admits today."""
        profile = self.runs.team_settings.production().profile
        self.builder.build(profile)
        index, today = self.runs.searcher.generations.open(profile), self.runs.clock.today()
        paths = {facts.path for facts in index.documents if admits(Filters(), facts, today)}
        return [document for document in self.documents.all() if document.path in paths]

    def llm(self) -> Llm | None:
        """The language model, where one is configured."""
        try:
            return self.models.llm()
        except ConcordError:
            return None

    def answerable(self, rows: Mapping[str, SearchConfig]) -> tuple[dict[str, SearchConfig], list[str]]:
        """The rows that can be run here, and a sentence for each that needs a language model where there is none."""
        try:
            self.models.llm()
        except ConcordError as error:
            asking = {name for name, config in rows.items() if self.runs.searcher.model_uses(config)}
            left = [f"{name} was left out: {error}" for name in rows if name in asking]
            return {name: config for name, config in rows.items() if name not in asking}, left
        return dict(rows), []

    def build(self, profile: Profile, progress: Progress) -> Built:
        return self.builder.build(profile, progress=progress)

    def evaluate(self, plans: Sequence[RunPlan], progress: Progress, unit: str = "document") -> tuple[Run, ...]:
        return self.runs.evaluate(self.queryset, plans, unit, progress)

    def report(
        self, name: str, title: str, about: str, runs: Sequence[Run], parts: Sequence[Part], values: Mapping[str, Any]
    ) -> Report:
        """A report with the facts that make it reproducible."""
        facts = {
            "query set": f"{self.queryset.name}, {len(self.queryset.questions)} questions ({self.queryset.about})",
            "query set digest": self.queryset.digest,
            "questions per category": ", ".join(f"{c} {len(q)}" for c, q in by_category(self.queryset).items()),
            "commit": runs[0].commit if runs else self.runs.searcher.index().generation.commit,
            "profiles": ", ".join(dict.fromkeys(run.profile for run in runs)),
            "depth": f"{', '.join(dict.fromkeys(str(run.config.depth) for run in runs))} candidates per leg",
            "models": ", ".join(dict.fromkeys(model for run in runs for model in run.models)) or "none",
            "runs": ", ".join(dict.fromkeys(run.id for run in runs)),
            **self.limited,
            **_paraphrases(self.queryset),
            "made": self.runs.clock.stamp(),
        }
        return Report(name, title, about, facts, tuple(parts), {"experiment": name, "facts": facts, **values})


def _paraphrases(queryset: QuerySet) -> dict[str, str]:
    """Who reworded the headings of known items: a language model, or rules where its answers were of no use."""
    reworded = {question.id for question in queryset.questions if question.category == "heading_paraphrase"}
    written = {row.question for row in queryset.judgments if row.question in reworded and row.source == known_items.LLM}
    if not reworded:
        return {}
    return {"paraphrases": f"{len(written)} by a language model, {len(reworded) - len(written)} by rules"}


def check_count(per_category: int) -> int:
    """The number of questions per category, if it is positive."""
    if per_category < 1:
        raise BadInput(f"At least one question of each category is needed, not {per_category}.")
    return per_category


def sampled(queryset: QuerySet, limit: int) -> QuerySet:
    """At most `limit` questions, evenly from every category; the whole set without a limit."""
    if not limit or limit >= len(queryset.questions):
        return queryset
    groups = list(by_category(queryset).values())
    turns = [group[n] for n in range(max(map(len, groups))) for group in groups if n < len(group)]
    ids = set(turns[:limit])
    judged = by_question(queryset.judgments)
    return QuerySet(
        f"{queryset.name} ({limit} questions)",
        tuple(item for item in queryset.questions if item.id in ids),
        tuple(item for question in queryset.questions if question.id in ids for item in judged.get(question.id, ())),
        queryset.about,
    )


def leaderboard_parts(
    runs: Sequence[Run], columns: Sequence[str], measure: str = comparisons.MEASURE, names: Mapping[str, str] = NOTHING
) -> list[Part]:
    """The leaderboard as a table and a chart, and the heat map by category; `names` are labels by run."""
    order = comparisons.leaderboard(runs, measure)
    labels = [names.get(row.run.id, row.run.name) for row in order]
    columns = [column for column in columns if any(column in run.figures for run in runs)]
    paid = any(run.cost for run in runs)
    rows = tuple(
        (
            name,
            *(f"{row.run.figures[column]:.4f}" if column in row.run.figures else "-" for column in columns),
            f"{row.figure.low:.3f} to {row.figure.high:.3f}",
            f"{row.run.times['total']['p50']:.2f}",
            *([dollars_of(1000 * row.run.cost)] if paid else []),
            row.against.sentence if row.against else "the best",
        )
        for name, row in zip(labels, order, strict=True)
    )
    price = ["1,000 questions"] if paid else []
    heads = ("Configuration", *columns, f"95 % interval of {measure}", "p50 ms", *price, "Against the best")
    groups = [comparisons.grouped(row.run, measure=measure) for row in order]
    categories = list(groups[0])
    table = [[group.get(name, (0.0, 0))[0] for name in categories] for group in groups]
    by_category = tuple((name, *(f"{value:.3f}" for value in line)) for name, line in zip(labels, table, strict=True))
    return [
        ReportTable("Leaderboard", heads, rows, "Intervals and differences are paired bootstraps over the questions."),
        Chart("Leaderboard with intervals", charts.leaderboard(labels, [row.figure for row in order], measure)),
        ReportTable(f"{measure} by category", ("Configuration", *categories), by_category),
        Chart("By category", charts.heatmap(labels, categories, table, measure)),
    ]


def figures(runs: Sequence[Run]) -> dict[str, Any]:
    """Runs as plain values."""
    return {
        "runs": [
            {
                "run": run.id,
                "name": run.name,
                "figures": dict(run.figures),
                "times": {stage: dict(times) for stage, times in run.times.items()},
                "cost": run.cost,
                "categories": {name: round(value, 6) for name, (value, _) in comparisons.grouped(run).items()},
            }
            for run in runs
        ]
    }
