"""What every replay needs: a workspace, a query set, runs, and the common parts of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.access import Actor
from core.bootstrap import App
from core.chunking import profile_chunker
from core.errors import ConcordError, NotFound
from core.evaluation.generators import known_items
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.querysets.queryset import QuerySet, Question, by_category, by_question
from core.evaluation.reports import run_report
from core.evaluation.reports.report import Part, Report
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run
from core.ports import Llm, Models, Progress
from core.services.evaluation.question_generator import QuestionGenerator
from core.services.evaluation.runs import RunPlan, Runs
from core.services.index.builder import Built, IndexBuilder
from core.services.index.model_calls import build_calls
from core.services.knowledge.documents import Documents
from core.services.models.call_estimates import CallEstimate
from core.types import NOTHING, Chunk, Document, Frozen, Profile, SearchConfig

SAMPLED = 6  # documents that an estimate chunks
DEPTH = 30  # candidates per leg, as in production
KNOWN = "known-items"
QA = "questions-and-answers"
BENCHMARK: Mapping[str, int] = {  # the compliance benchmark's questions, 1,706 in all
    "heading_direct": 505,
    "entity_lookup": 537,
    "heading_paraphrase": 311,
    "exact_phrase": 213,
    "first_sentence": 140,
}


@dataclass(frozen=True, slots=True)
class PaperOptions:
    """What may be chosen of a replay: language models to compare, the first of which does the rest; more embedders; how
    often
    the calls of one row are repeated; the size of the questions that are made; and how many documents are taken, 0 for
    all.
    """

    models: tuple[str, ...] = ()
    embedders: tuple[str, ...] = ()
    repeats: int = 3
    questions: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class PaperContext:
    """The workspace a replay runs in, and its query set."""

    app: App
    runs: Runs
    queryset: QuerySet = QuerySet("", ())
    options: PaperOptions = PaperOptions()
    limited: Mapping[str, str] = NOTHING  # what is less or other than one would think, for the facts of the report

    @property
    def builder(self) -> IndexBuilder:
        return self.app.index.builder

    @property
    def documents(self) -> Documents:
        return self.app.knowledge.documents

    @property
    def models(self) -> Models:
        return self.app.models.registry

    @property
    def generator(self) -> QuestionGenerator:
        return self.app.evaluation.generator

    def limited_by(self, what: str, how: str) -> PaperContext:
        """The context with one more fact for the report."""
        return replace(self, limited=Frozen({**self.limited, what: how}))

    @property
    def known(self) -> str:
        """The known items that a replay runs on where no set is named."""
        return f"{KNOWN}-{self.options.questions}" if self.options.questions else KNOWN

    def known_items(self, actor: Actor, progress: Progress) -> QuerySet:
        """Known items, as many as are asked for; made if need be."""
        try:
            return self.runs.querysets.get(self.known)
        except NotFound:
            sizes = shared_out(self.options.questions) if self.options.questions else NOTHING
            return self.generator.known_items(actor, KnownItemSettings(name=self.known, sizes=sizes), progress)

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
            rows += self.generator.estimate(
                *(("qa", limit or known_items.PER_CATEGORY) if default == QA else ("known-items", self._paraphrased))
            )
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
        return shared_out(asked)["heading_paraphrase"] if asked else known_items.PER_CATEGORY

    def _chunked(self, profile: Profile, documents: int) -> tuple[list[tuple[Document, Sequence[Chunk]]], float]:
        """A few documents with their chunks, and how many times that is everything, or so many documents."""
        everything = self.documents.all()
        sample = everything[:: max(1, len(everything) // SAMPLED)]
        split = profile_chunker(profile, self.models.of(profile))
        return [(document, split(document)) for document in sample], (documents or len(everything)) / max(
            1, len(sample)
        )

    def llm(self) -> Llm | None:
        """The language model, where one is configured."""
        return self.generator.llm()

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
        facts = {**run_report.facts(self.queryset, runs, self.runs.clock.stamp()), **self.limited}
        return Report(name, title, about, facts, tuple(parts), {"experiment": name, "facts": facts, **values})


def shared_out(total: int) -> dict[str, int]:
    """So many questions in the shares of the compliance benchmark.

    >>> shared_out(1706) == dict(BENCHMARK), sum(shared_out(100).values()), shared_out(100)["entity_lookup"]
    (True, 100, 31)
    """
    exact = {category: total * size / sum(BENCHMARK.values()) for category, size in BENCHMARK.items()}
    floors = {category: int(share) for category, share in exact.items()}
    rest = sorted(exact, key=lambda category: floors[category] - exact[category])[: total - sum(floors.values())]
    return {category: size + (category in rest) for category, size in floors.items()}


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
