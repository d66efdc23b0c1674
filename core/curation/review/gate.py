"""What the review rules say about search: questions that must be found, losses, disagreements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.curation.review.policy import Rule, applicable, applies_to

UNKNOWN = "What it does to search is not known yet: it is being measured."


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where a question that a document lists is found, before a change and after it; 0 is not found."""

    path: str
    question: str
    before: int
    after: int
    own: bool  # the change edits the document


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known about a change's impact on search."""

    answers: tuple[AnswerPlace, ...] = ()
    losses: tuple[str, ...] = ()  # a sentence per set of questions
    disagreements: tuple[tuple[str, str], ...] = ()  # path and sentence


class SearchRequirement(NamedTuple):
    """One thing that a rule wants and a change lacks. `severity`: block or warn."""

    severity: str
    sentence: str


def demands(
    rules: Sequence[Rule],
    paths: Sequence[str],
    listed: Mapping[str, int],
    measured: Measured | None,
) -> tuple[SearchRequirement, ...]:
    """What the rules want and a change lacks; each sentence once, at its highest severity.

    `listed` is how many questions each edited document lists.
    """
    found = [
        *_lists(rules, listed),
        *_found(rules, measured),
        *_losses(applicable(rules, paths), measured),
        *_disagreements(applicable(rules, paths), measured),
    ]
    blocking = {demand.sentence for demand in found if demand.severity == "block"}
    return tuple(
        dict.fromkeys(
            SearchRequirement("block" if each.sentence in blocking else "warn", each.sentence) for each in found
        )
    )


def _lists(rules: Sequence[Rule], listed: Mapping[str, int]) -> Iterator[SearchRequirement]:
    for path, count in listed.items():
        wanted = max((rule.answers for rule in rules if applies_to(rule, path)), default=0)
        if count < wanted:
            noun = "question" if wanted == 1 else "questions"
            yield SearchRequirement(
                "block", f"{path} lists {count} of the {wanted} {noun} that its folder wants under `answers:`."
            )


def _found(rules: Sequence[Rule], measured: Measured | None) -> Iterator[SearchRequirement]:
    """A rule speaks about the document whose question it is: another folder's change may not push it away."""
    for rule in (rule for rule in rules if rule.found != "off"):
        if measured is None:
            yield SearchRequirement(rule.found, UNKNOWN)
            continue
        for each in measured.answers:
            missed, stood = not 0 < each.after <= rule.first, 0 < each.before <= rule.first
            if applies_to(rule, each.path) and missed and (each.own or stood):
                yield SearchRequirement(rule.found, _missed(each, rule.first))


def _missed(each: AnswerPlace, first: int) -> str:
    """A question that is not found well enough.

    >>> _missed(AnswerPlace("hr/leave.md", "How much leave?", 1, 5, False), 3)
    'hr/leave.md: “How much leave?” must be found among the first 3; with this change it falls from 1 to 5.'
    """
    where = f"at {each.after}" if each.after else "nowhere"
    words = f"it is found {where}"
    if each.before and each.before != each.after:
        words = (
            f"with this change it falls from {each.before} "
            f"{f'to {each.after}' if each.after else 'out of what is found'}"
        )
    return f"{each.path}: “{each.question}” must be found among the first {first}; {words}."


def _losses(rules: Sequence[Rule], measured: Measured | None) -> Iterator[SearchRequirement]:
    for rule in (rule for rule in rules if rule.loss != "off"):
        for sentence in (UNKNOWN,) if measured is None else measured.losses:
            yield SearchRequirement(rule.loss, sentence)


def _disagreements(rules: Sequence[Rule], measured: Measured | None) -> Iterator[SearchRequirement]:
    for rule in (rule for rule in rules if rule.disagreement != "off"):
        if measured is None:
            yield SearchRequirement(rule.disagreement, UNKNOWN)
            continue
        for path, sentence in measured.disagreements:
            if applies_to(rule, path):
                yield SearchRequirement(rule.disagreement, sentence)
