"""What a change is asked: everything that documents say they answer, the guards among the query sets, and what people
ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from core.curation.words import pins
from core.evaluation.impact import ANSWERS, ASKED, GUARD, OWN, ImpactQuestion
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import QuerySet
from core.ports import Index
from core.retrieval.query_rules import NO_RULES, QueryRules
from core.types import Edit

MOST_ASKED = 100  # questions of the query log

Popular = Callable[[int], Iterable[tuple[str, int]]]


def questions(
    before: Index,
    after: Index,
    edits: Sequence[Edit],
    guards: Iterable[QuerySet],
    popular: Iterable[tuple[str, int]],
    rules: tuple[QueryRules, QueryRules] = (NO_RULES, NO_RULES),
) -> list[ImpactQuestion]:
    """Every question once per source. A document that the change moves is one document.

    `rules` are the synonyms and pins before and after: those that the change adds or takes out are asked for, too.
    """
    moved = {edit.old_path: edit.path for edit in edits if edit.kind == "renamed"}
    listed = list(_listed(before, after, moved, {edit.path for edit in edits}))
    listed += _pinned(before, after, *rules)
    judged = [question for queryset in guards for question in _judged(queryset, before, after)]
    known = {question.text.casefold() for question in (*listed, *judged)}
    asked = [
        ImpactQuestion(text, ASKED, times=times)
        for text, times in (*popular, *((phrase, 0) for phrase in _changed_phrases(*rules)))
        if " ".join(text.split()).casefold() not in known
    ]
    return [*listed, *judged, *asked]


def _listed(before: Index, after: Index, moved: Mapping[str, str], edited: Collection[str]) -> Iterator[ImpactQuestion]:
    """The `answers:` of every document after the change, and of those that it removes."""
    paths = {facts.path for facts in before.documents}
    sources = {new: old for old, new in moved.items()}
    for number, facts in enumerate(after.documents):
        old = sources.get(facts.path, facts.path)
        for text in _texts(after, number):
            kind = OWN if facts.path in edited else ANSWERS
            yield ImpactQuestion(text, kind, facts.path, {old: 1.0} if old in paths else {}, {facts.path: 1.0})
    kept = {facts.path for facts in after.documents} | set(moved)
    for number, facts in enumerate(before.documents):
        if facts.path not in kept:
            for text in _texts(before, number):
                yield ImpactQuestion(text, OWN, facts.path, {facts.path: 1.0}, {})


def _pinned(before: Index, after: Index, old: QueryRules, new: QueryRules) -> Iterator[ImpactQuestion]:
    """The questions of pins that the change adds, edits or takes out; what is pinned should be found."""
    paths_before, paths_after = ({facts.path for facts in index.documents} for index in (before, after))
    for pin in dict.fromkeys((*new.pins.values(), *old.pins.values())):
        if (pin in new.pins.values()) != (pin in old.pins.values()):
            grade = {pin.document: 1.0}
            was, will = (grade if pin.document in paths else {} for paths in (paths_before, paths_after))
            yield from (ImpactQuestion(question, OWN, pins.FILE, was, will) for question in pin.questions)


def _changed_phrases(old: QueryRules, new: QueryRules) -> list[str]:
    """What somebody may type and the change gives other synonyms."""
    both = {**old.typed, **new.typed}
    return [phrase for key, phrase in both.items() if old.leads.get(key) != new.leads.get(key)]


def _texts(index: Index, document: int) -> list[str]:
    return list(dict.fromkeys(" ".join(text.split()) for text in index.answers(document)))


def _judged(queryset: QuerySet, before: Index, after: Index) -> Iterator[ImpactQuestion]:
    """The questions of a guard that somebody judged."""
    gains = [_by_path(queryset, index) for index in (before, after)]
    for question in queryset.questions:
        old, new = (each.get(question.id, {}) for each in gains)
        if any(old.values()) or any(new.values()):
            yield ImpactQuestion(" ".join(question.text.split()), GUARD, queryset.name, old, new)


def _by_path(queryset: QuerySet, index: Index) -> dict[str, dict[str, float]]:
    found = anchoring.gains(queryset.judgments, index).gains
    return {
        question: {index.documents[number].path: gain for number, gain in gains.items()}
        for question, gains in found.items()
    }
