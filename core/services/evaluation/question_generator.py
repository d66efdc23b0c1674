"""Query sets made from the documents that search finds: known items, and questions that a language model writes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from core.access import ALREADY_CHECKED, ANYONE, Actor, use_case
from core.errors import BadInput, ConcordError
from core.evaluation.generators import known_items, qa
from core.evaluation.generators.known_items import KnownItemSettings
from core.evaluation.generators.paraphrase import by_llm
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.queryset import QuerySet
from core.ports import Llm, Models, Progress, no_progress
from core.retrieval.filters import admits
from core.services.evaluation.estimates import paraphrase_calls, qa_calls
from core.services.evaluation.runs import Runs
from core.services.index.builder import IndexBuilder
from core.services.knowledge.documents import Documents
from core.services.models.call_estimates import CallEstimate
from core.types import Document, Filters


@dataclass(frozen=True, slots=True)
class QuestionGenerator:
    """Makes query sets and keeps them."""

    runs: Runs
    builder: IndexBuilder
    documents: Documents
    models: Models
    names: qa.Names | None = None  # a recogniser of names, where one is installed

    @use_case("keep a query set")
    def known_items(
        self,
        actor: Actor,
        settings: KnownItemSettings = KnownItemSettings(),
        progress: Progress = no_progress,
        failed: Counter[str] | None = None,
        by_rules: bool = False,
    ) -> QuerySet:
        """Known items of the documents that search admits; paraphrased by a language model where there is one, unless
        `by_rules`."""
        check_count(settings.per_category)
        llm = None if by_rules else self.llm()
        paraphrase = by_llm(llm, known_items.RULES, known_items.LLM, failed) if llm else None
        queryset = known_items.generate(self.findable(), settings, paraphrase, progress)
        return self.runs.querysets.keep(actor, queryset)

    @use_case(ALREADY_CHECKED)
    def left_out(self, queryset: QuerySet) -> dict[str, str]:
        """The categories of known items that were not made, and paraphrases by a model where there is none."""
        missing = known_items.left_out(queryset)
        if "heading_paraphrase" not in missing and self.llm() is None:
            missing["paraphrases by a language model"] = "none is configured, so they are by rules"
        return missing

    @use_case("keep a query set")
    def qa(
        self, actor: Actor, settings: QaSettings = QaSettings(), progress: Progress = no_progress
    ) -> qa.GeneratedSet:
        """Questions and answers that a language model writes, how many were refused and which kinds are missing, and
        why.
        """
        check_count(settings.per_kind)
        llm = self.models.llm()
        generated = qa.generate(self.findable(), llm, settings, self.names, self.runs.at_once, progress)
        return replace(generated, queryset=self.runs.querysets.keep(actor, generated.queryset))

    def estimate(self, kind: str, count: int) -> tuple[CallEstimate, ...]:
        """What making a query set would ask a language model."""
        if self.llm() is None or self.runs.estimator is None:
            return ()
        calls = qa_calls if kind == "qa" else paraphrase_calls
        return calls(self.runs.estimator, self.findable(), count)

    def findable(self) -> list[Document]:
        """Documents that search admits today."""
        profile = self.runs.team_settings.production().profile
        self.builder.build(profile)
        index, today = self.runs.searcher.generations.open(profile), self.runs.clock.today()
        paths = {facts.path for facts in index.documents if admits(Filters(), facts, today)}
        return [document for document in self.documents.all() if document.path in paths]

    @use_case(ANYONE)
    def llm(self) -> Llm | None:
        """The language model, where one is configured."""
        try:
            return self.models.llm()
        except ConcordError:
            return None


def check_count(per_category: int) -> int:
    """The number of questions per category, if it is positive."""
    if per_category < 1:
        raise BadInput(f"At least one question of each category is needed, not {per_category}.")
    return per_category
