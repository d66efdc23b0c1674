"""Whole answers as judges rate them, what judges added to pools, and how far judges agree beyond chance (kappa)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.evaluation.querysets.queryset import Judgment, QuerySet
from core.evaluation.statistics import wilson_lower, wilson_upper

Place = tuple[str, str, tuple[str, ...], str]  # question, path, heading, quote


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far judges agree on the places that all of them judged; `kappa` is None where there are none."""

    judges: tuple[str, ...]
    places: int
    same: float
    kappa: float | None


def cohen(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Cohen's kappa: agreement of two judges, 0 at chance and 1 when they never differ.

    >>> yes, no = True, False
    >>> cohen([yes] * 20 + [yes] * 5 + [no] * 10 + [no] * 15, [yes] * 20 + [no] * 5 + [yes] * 10 + [no] * 15)
    0.4
    """
    return fleiss([Counter(pair) for pair in zip(first, second, strict=True)], _margins(first, second))


def _margins(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Chance agreement from each judge's own share of yes; Fleiss pools the judges instead."""
    a, b = sum(first) / len(first), sum(second) / len(second)
    return a * b + (1 - a) * (1 - b)


def fleiss(table: Sequence[Mapping[bool, int]], chance: float | None = None) -> float:
    """Fleiss' kappa: one row per place, how many judges gave each verdict; every row has the same number of judges.

    >>> round(fleiss([{True: 3}, {True: 2, False: 1}, {False: 3}, {True: 1, False: 2}]), 4)
    0.3333
    """
    judges = sum(table[0].values())
    pairs = judges * (judges - 1)
    observed = sum(n * (n - 1) for row in table for n in row.values()) / (pairs * len(table))
    if chance is None:
        share = sum(row.get(True, 0) for row in table) / (judges * len(table))
        chance = share**2 + (1 - share) ** 2
    return 1.0 if chance >= 1.0 else round((observed - chance) / (1 - chance), 12)


def agreement(judgments: Iterable[Judgment]) -> tuple[JudgeAgreement, ...]:
    """Every pair of judges by Cohen, then all of them by Fleiss if there are more than two."""
    verdicts: dict[str, dict[Place, bool]] = {}
    for judgment in judgments:
        if name := _name(judgment):
            place = (judgment.question, judgment.path, judgment.heading, judgment.quote)
            verdicts.setdefault(name, {})[place] = judgment.grade > 0
    names = sorted(verdicts)
    agreements = [_among(pair, verdicts) for pair in combinations(names, 2)]
    return tuple([*agreements, _among(tuple(names), verdicts)] if len(names) > 2 else agreements)


def _name(judgment: Judgment) -> str:
    """The judge's name; a model is marked as one."""
    return f"{judgment.judge} (llm)" if judgment.source == "llm judge" else judgment.judge


def _among(names: tuple[str, ...], verdicts: Mapping[str, Mapping[Place, bool]]) -> JudgeAgreement:
    shared = sorted(set.intersection(*(set(verdicts[name]) for name in names)))
    if not shared:
        return JudgeAgreement(names, 0, 0.0, None)
    rows = [[verdicts[name][place] for name in names] for place in shared]
    same = sum(len(set(row)) == 1 for row in rows) / len(rows)
    if len(names) == 2:
        kappa = cohen([row[0] for row in rows], [row[1] for row in rows])
    else:
        kappa = fleiss([Counter(row) for row in rows])
    return JudgeAgreement(names, len(shared), same, kappa)


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
