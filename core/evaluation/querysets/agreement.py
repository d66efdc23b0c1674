"""Agreement of judges beyond chance: Cohen's kappa for two (1960), Fleiss' kappa for more (1971)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.evaluation.querysets.queryset import Judgment

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
