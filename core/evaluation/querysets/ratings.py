"""Whole answers as judges rate them, and what judges added to pools because no configuration had found it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evaluation.querysets.agreement import JudgeAgreement, agreement
from core.evaluation.querysets.queryset import Judgment, QuerySet
from core.evaluation.statistics import wilson_lower, wilson_upper

RATINGS = ("yes", "partly", "no")
FIRST, WRITTEN = "first result", "written answer"
KINDS = (FIRST, WRITTEN)


@dataclass(frozen=True, slots=True)
class Rating:
    """Whether one person found the answer to a query good. `judge` is an account's id, `name` its display name."""

    query: str
    kind: str
    answer: str
    rating: str
    judge: str
    note: str = ""
    created: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class AddedPassage:
    """A passage that a judge added to the pool of a query; `new_document`: nothing else of its document was there."""

    query: str
    path: str
    heading: str
    quote: str
    judge: str
    new_document: bool
    created: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % Wilson interval of the share."""

    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_lower(self.count, self.of), wilson_upper(self.count, self.of)

    def __str__(self) -> str:
        """
        >>> str(Share(2, 10))
        '2 of 10 (20 %, 6 to 51 %)'
        """
        low, high = self.interval
        return f"{self.count} of {self.of} ({self.share:.0%}, {100 * low:.0f} to {high:.0%})".replace("%", " %")


@dataclass(frozen=True, slots=True)
class AnswerQuality:
    """For how many questions an answer of one kind was good: more than half of its judges said yes."""

    kind: str
    good: Share
    partly: int
    judges: tuple[JudgeAgreement, ...]


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """What people who judged a set say beyond grades; counted are the questions that somebody judged."""

    answers: tuple[AnswerQuality, ...]
    added: Share
    new_documents: Share


def pool_summary(queryset: QuerySet, ratings: Iterable[Rating], added: Iterable[AddedPassage]) -> PoolSummary:
    """The ratings and additions of the questions of a set; they are known by the words of the question."""
    asked = {words_of(question.text): question.id for question in queryset.questions}
    own = [rating for rating in ratings if rating.query in asked]
    extra = [passage for passage in added if passage.query in asked]
    judged = {asked[rating.query] for rating in own} | {asked[passage.query] for passage in extra}
    judged |= {judgment.question for judgment in queryset.judgments if judgment.source == "person"}
    kinds = [(kind, [rating for rating in own if rating.kind == kind]) for kind in KINDS]
    return PoolSummary(
        tuple(_quality(kind, given) for kind, given in kinds if given),
        Share(len({passage.query for passage in extra}), len(judged)),
        Share(len({passage.query for passage in extra if passage.new_document}), len(judged)),
    )


def words_of(query: str) -> str:
    """A query as judges' work on it is kept: white space makes no difference."""
    return " ".join(query.split())


def _quality(kind: str, ratings: Sequence[Rating]) -> AnswerQuality:
    by_query: dict[str, list[str]] = {}
    for rating in ratings:
        by_query.setdefault(rating.query, []).append(rating.rating)
    good = sum(2 * said.count("yes") > len(said) for said in by_query.values())
    partly = sum(2 * said.count("yes") <= len(said) and "no" not in said for said in by_query.values())
    return AnswerQuality(kind, Share(good, len(by_query)), partly, agreement(map(_verdict, ratings)))


def _verdict(rating: Rating) -> Judgment:
    """A rating as a judgment of the answer that was shown: judges agree only about the same answer."""
    grade = float(rating.rating == "yes")
    return Judgment(rating.query, rating.kind, (), rating.answer, grade, "person", rating.name or rating.judge)
