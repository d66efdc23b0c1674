"""Fine-tuned embedders: trained on half of the judged questions, and measured as a profile on the half that they have
not seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from core.access import Actor, use_case
from core.curation.document.names import free_name
from core.curation.text.render import in_words
from core.errors import BadInput
from core.evaluation.learning.triplets import LEAST, TUNED, FineTuning, Lesson, mined
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import for_choosing, once
from core.evaluation.runs.comparisons import RunComparison, judge
from core.evaluation.statistics import PairedComparison, compare
from core.ports import Index, Progress, no_progress
from core.services.evaluation.cached_candidates import CandidateCache
from core.services.evaluation.runs import RunPlan, Runs
from core.types import Profile, SearchConfig

if TYPE_CHECKING:
    from core.services.index.admin import IndexAdmin
    from core.services.index.builder import IndexBuilder

JUDGED = 30  # questions that must be left to judge on
LEGS = ("bm25", "dense")  # where hard negatives come from
DEPTH = 30


class Trainer(Protocol):
    """Trains an embedder and keeps it in the workspace."""

    def names(self) -> tuple[str, ...]: ...
    def base(self, embedder: str) -> str: ...
    def train(
        self,
        base: str,
        name: str,
        lessons: Sequence[Lesson],
        text: Callable[[int], str],
        settings: FineTuning,
        progress: Progress,
    ) -> dict[str, Any]: ...
    def describe(self, name: str, card: str) -> Path: ...


@dataclass(frozen=True, slots=True)
class TunedEmbedder:
    """A trained embedder as a profile, and its search against that of production on questions it has not seen."""

    name: str
    base: str
    profile: Profile
    learned_from: int
    facts: dict[str, Any]  # device, steps, seconds, losses
    compared: tuple[RunComparison, ...]  # one per query set
    apart: PairedComparison | None  # only questions none of whose answers stands in a document that was trained on

    @property
    def wins(self) -> bool:
        """Whether it is better on one set and worse on none."""
        verdicts = [one.overall.verdict for one in self.compared]
        return "better" in verdicts and "worse" not in verdicts

    @property
    def advice(self) -> str:
        said = " ".join(f"{one.after.queryset}: {one.overall.sentence}" for one in self.compared)
        if self.apart:
            said += f" Where the answer stands in a document that was not trained on: {self.apart.sentence}"
        if self.wins:
            return f"The trained embedder wins on questions it has not seen. {said}"
        return f"Keep production: the trained embedder is not shown to be better on questions it has not seen. {said}"


class EmbedderTuning:
    """Trains embedders, builds their index, and measures them."""

    def __init__(self, runs: Runs, builder: IndexBuilder, admin: IndexAdmin, trainer: Trainer) -> None:
        self.runs = runs
        self.builder = builder
        self.admin = admin
        self.trainer = trainer

    @use_case("change what is in production", whole=True)
    def train(
        self,
        actor: Actor,
        querysets: Sequence[str],
        *,
        settings: FineTuning = FineTuning(),
        progress: Progress = no_progress,
    ) -> TunedEmbedder:
        """Fine-tune the embedder of production on query sets; the result is a new profile that nothing uses yet."""
        plan = self.runs.plan()
        base = self._base(plan.profile)
        index = self.runs.searcher.generations.open(plan.profile)
        lessons = self.lessons(index, querysets, progress)
        taken = {*self.trainer.names(), *(profile.name for profile in self.runs.team_settings.profiles())}
        name = free_name(f"{querysets[0]}-embedder", taken)
        facts = self.trainer.train(base, name, lessons, partial(_text, index), settings, progress)
        saved = self.admin.add_profile(actor, replace(plan.profile, name=name, embedder=f"{TUNED}{name}"))
        self.builder.build(saved, progress=progress)
        compared = tuple(self._compared(queryset, plan, saved, progress) for queryset in querysets)
        apart = self._apart(compared, lessons, index)
        tuned = TunedEmbedder(name, plan.profile.embedder, saved, len(lessons), facts, compared, apart)
        self.trainer.describe(name, _card(tuned, querysets, index))
        self.runs.audit.note(actor, "train an embedder", name, detail=", ".join(querysets))
        return tuned

    def _base(self, profile: Profile) -> str:
        if profile.embedders:
            raise BadInput(
                f"The profile {profile.name!r} has several embedders. Train one of them in a profile of its own."
            )
        return self.trainer.base(profile.embedder)

    def lessons_of(self, index: Index, querysets: Sequence[str]) -> list[tuple[str, str, dict[int, float]]]:
        """The teaching half of the judged questions with the passages that answer them; BadInput where it is too
        small.
        """
        found, judged = [], 0
        for queryset in once(map(self.runs.querysets.get, querysets)):
            passages = anchoring.gains(queryset.judgments, index, "passage").gains
            for question in queryset.questions:
                relevant = {chunk: grade for chunk, grade in passages.get(question.id, {}).items() if grade > 0}
                if relevant and for_choosing(question.text):
                    found.append((f"{queryset.name} {question.id}", " ".join(question.text.split()), relevant))
                judged += bool(relevant) and not for_choosing(question.text)
        if len(found) < LEAST or judged < JUDGED:
            raise BadInput(
                f"An embedder needs at least {LEAST} judged questions to learn from and {JUDGED} that it has not "
                "seen; here are "
                f"{len(found)} and {judged}. Judge more, or generate a query set, and name both."
            )
        return found

    def lessons(self, index: Index, querysets: Sequence[str], progress: Progress = no_progress) -> list[Lesson]:
        """The same with hard negatives from both legs: passages that rank high, of documents that hold no answer."""
        found = self.lessons_of(index, querysets)
        cache = CandidateCache(self.runs.searcher, self.runs.database, index, SearchConfig(legs=LEGS, depth=DEPTH))
        lessons = []
        for n, (key, text, relevant) in enumerate(found, 1):
            legs = [list(ranking) for ranking in cache.of(text).candidates.retrieved.values()]
            answers = {index.document_of(chunk) for chunk in relevant}
            near = {chunk for leg in legs for chunk in leg if index.document_of(chunk) in answers}
            lessons.append(Lesson(key, text, relevant, mined(legs, near)))
            progress(n, len(found), "Looking for hard negatives")
        cache.save()
        return lessons

    def _apart(
        self, compared: Sequence[RunComparison], lessons: Sequence[Lesson], index: Index
    ) -> PairedComparison | None:
        """The same without questions whose documents were trained on: questions come in pairs, and that can leak."""
        trained = {index.document_of(chunk) for lesson in lessons for chunk in lesson.relevant}
        pairs = []
        for one in compared:
            gains = anchoring.gains(self.runs.querysets.get(one.after.queryset).judgments, index).gains
            pairs += [
                (row.before, row.after)
                for row in one.rows
                if not trained & {document for document, gain in gains[row.question].items() if gain > 0}
            ]
        return compare([before for before, _ in pairs], [after for _, after in pairs]) if pairs else None

    def _compared(self, queryset: str, plan: RunPlan, profile: Profile, progress: Progress) -> RunComparison:
        plans = [plan, RunPlan(profile, plan.config)]
        before, after = self.runs.evaluate(queryset, plans, progress=progress)
        return judge(before, after)


def _text(index: Index, chunk: int) -> str:
    """What the index embeds of a passage."""
    context, text = index.context(chunk), in_words(index.excerpt(chunk))
    return f"{context}\n\n{text}" if context else text


def _card(tuned: TunedEmbedder, querysets: Sequence[str], index: Index) -> str:
    """What the model is, beside its weights."""
    facts = {
        "name": tuned.name,
        "base": tuned.base,
        "querysets": list(querysets),
        "learned_from": tuned.learned_from,
        "commit": index.generation.commit,
        "training": tuned.facts,
        "advice": tuned.advice,
    }
    return json.dumps(facts, indent=1, sort_keys=True)
