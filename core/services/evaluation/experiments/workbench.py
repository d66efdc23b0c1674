"""What every experiment needs: a query set, indexes built on the way, runs, and parts of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.access import Actor, require
from core.errors import BadInput, ConcordError, NotFound
from core.evaluation.generators import known_items, qa
from core.evaluation.generators.paraphrase import by_llm
from core.evaluation.querysets.queryset import QuerySet, by_category, by_question
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Part, Report, ReportTable
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run
from core.llm.bill import dollars_of
from core.ports import Llm, Models, Progress, no_progress
from core.retrieval.filters import admits
from core.services.evaluation.runs import RunPlan, Runs
from core.services.index.builder import Built, IndexBuilder
from core.services.knowledge.documents import Documents
from core.types import NOTHING, Document, Filters, Profile

DEPTH = 30  # candidates per leg, as in production
KNOWN = "known-items"
QA = "questions-and-answers"


@dataclass(frozen=True, slots=True)
class Workbench:
    """The parts an experiment works with, and the query set it works on."""

    runs: Runs
    builder: IndexBuilder
    documents: Documents
    models: Models
    queryset: QuerySet = QuerySet("", ())

    def prepared(self, actor: Actor, name: str, limit: int, progress: Progress) -> Workbench:
        """The workbench with a query set on it, and the production profile built."""
        self.builder.build(self.runs.team_settings.production().profile, progress=progress)
        try:
            found = self.runs.querysets.get(name or KNOWN)
        except NotFound:
            if name:
                raise
            found = self.generate(actor, progress=progress)
        return replace(self, queryset=sampled(found, limit))

    def generate(
        self,
        actor: Actor,
        seed: int = 42,
        per_category: int = known_items.PER_CATEGORY,
        name: str = KNOWN,
        progress: Progress = no_progress,
    ) -> QuerySet:
        """Known items of what people can find; paraphrased by a language model where there is one."""
        require(actor, "keep a query set")
        some(per_category)
        llm = self.llm()
        paraphrase = by_llm(llm, known_items.RULES, known_items.LLM) if llm else None
        made = known_items.generate(self.findable(), seed, per_category, paraphrase, name, progress)
        return self.runs.querysets.keep(actor, made)

    def interview(
        self,
        actor: Actor,
        seed: int = 42,
        per_kind: int = known_items.PER_CATEGORY,
        name: str = "",
        progress: Progress = no_progress,
    ) -> tuple[QuerySet, Mapping[str, int]]:
        """Questions and answers that a language model makes of what people can find, and what was refused why."""
        require(actor, "keep a query set")
        some(per_kind)
        llm = self.models.llm()
        found = qa.generate(self.findable(), llm, seed, per_kind, name or QA, progress)
        return self.runs.querysets.keep(actor, found.queryset), dict(found.refused)

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

    def build(self, profile: Profile, progress: Progress) -> Built:
        """An index for an experiment."""
        return self.builder.build(profile, progress=progress)

    def evaluate(self, plans: Sequence[RunPlan], progress: Progress, unit: str = "document") -> tuple[Run, ...]:
        """Runs on the query set."""
        return self.runs.evaluate(self.queryset, plans, unit, progress)

    def report(
        self, name: str, title: str, about: str, runs: Sequence[Run], parts: Sequence[Part], values: Mapping[str, Any]
    ) -> Report:
        """A report that can be traced."""
        facts = {
            "query set": f"{self.queryset.name}, {len(self.queryset.questions)} questions ({self.queryset.about})",
            "query set digest": self.queryset.digest,
            "questions per category": ", ".join(f"{c} {len(q)}" for c, q in by_category(self.queryset).items()),
            "commit": runs[0].commit if runs else self.runs.searcher.index().generation.commit,
            "profiles": ", ".join(dict.fromkeys(run.profile for run in runs)),
            "depth": f"{', '.join(dict.fromkeys(str(run.config.depth) for run in runs))} candidates per leg",
            "models": ", ".join(dict.fromkeys(model for run in runs for model in run.models)) or "none",
            "runs": ", ".join(run.id for run in runs),
            "made": self.runs.clock.stamp(),
        }
        return Report(name, title, about, facts, tuple(parts), {"experiment": name, "facts": facts, **values})


def some(per_category: int) -> int:
    """How many questions of each category, if that makes any."""
    if per_category < 1:
        raise BadInput(f"At least one question of each category is needed, not {per_category}.")
    return per_category


def sampled(queryset: QuerySet, limit: int) -> QuerySet:
    """At most `limit` questions, evenly from every category; the whole set without a limit."""
    if not limit or limit >= len(queryset.questions):
        return queryset
    groups = list(by_category(queryset).values())
    turns = [ids[n] for n in range(max(map(len, groups))) for ids in groups if n < len(ids)]
    kept = set(turns[:limit])
    judged = by_question(queryset.judgments)
    return QuerySet(
        f"{queryset.name} ({limit} questions)",
        tuple(one for one in queryset.questions if one.id in kept),
        tuple(one for question in queryset.questions if question.id in kept for one in judged.get(question.id, ())),
        queryset.about,
    )


def standings(
    runs: Sequence[Run], columns: Sequence[str], measure: str = comparisons.MEASURE, names: Mapping[str, str] = NOTHING
) -> list[Part]:
    """The leaderboard as a table and a chart, and the heat map by category; `names` may call runs by other names."""
    order = comparisons.leaderboard(runs, measure)
    called = [names.get(one.run.id, one.run.name) for one in order]
    columns = [column for column in columns if any(column in run.figures for run in runs)]
    paid = any(run.cost for run in runs)
    rows = tuple(
        (
            name,
            *(f"{one.run.figures.get(column, 0.0):.4f}" for column in columns),
            f"{one.figure.low:.3f} to {one.figure.high:.3f}",
            f"{one.run.times['total']['p50']:.2f}",
            *([dollars_of(1000 * one.run.cost)] if paid else []),
            one.against_best.sentence if one.against_best else "the best",
        )
        for name, one in zip(called, order, strict=True)
    )
    price = ["1,000 questions"] if paid else []
    heads = ("Configuration", *columns, f"95 % interval of {measure}", "p50 ms", *price, "Against the best")
    categories = list(comparisons.grouped(order[0].run))
    groups = [comparisons.grouped(one.run) for one in order]
    table = [[group.get(name, (0.0, 0))[0] for name in categories] for group in groups]
    by = tuple((name, *(f"{value:.3f}" for value in line)) for name, line in zip(called, table, strict=True))
    return [
        ReportTable("Leaderboard", heads, rows, "Intervals and differences are paired bootstraps over the questions."),
        Chart("Leaderboard with intervals", charts.leaderboard(called, [one.figure for one in order], measure)),
        ReportTable(f"{measure} by category", ("Configuration", *categories), by),
        Chart("By category", charts.heatmap(called, categories, table, measure)),
    ]


def figures(runs: Sequence[Run]) -> dict[str, Any]:
    """Runs for programs."""
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
