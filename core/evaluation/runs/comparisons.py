"""Comparison of runs: which is better, by how much, how sure, and on which questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import BadInput
from core.evaluation.querysets.queryset import HALVED, for_choosing
from core.evaluation.runs.run import Answered, Run
from core.evaluation.statistics import VERDICTS, Interval, PairedComparison, bootstrap, holm
from core.evaluation.statistics import compare as paired
from core.llm.asking import dollars_of

MEASURE = "nDCG@10"


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question under two runs."""

    question: str
    text: str
    category: str
    before: float
    after: float
    first_before: str
    first_after: str

    @property
    def difference(self) -> float:
        """What the second run adds."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs over the questions that both answered, question by question, the largest loss first."""

    before: Run
    after: Run
    measure: str
    overall: PairedComparison
    by_category: Mapping[str, PairedComparison]
    rows: tuple[QuestionRow, ...]
    note: str = ""
    basis: str = ""  # on which questions it was judged, where not on all

    @property
    def spent(self) -> str:
        """Time, where both were timed on one machine and day, and cost of both, where anything is paid for."""
        runs = (self.before, self.after)
        p50, p95 = (_both(f"{run.times['total'][at]:.1f} ms" for run in runs) for at in ("p50", "p95"))
        alike = self.before.timed == self.after.timed and self.after.machine
        sentence = f"Time of a question: p50 {p50}; p95 {p95}." if alike else ""
        if any(run.cost for run in runs):
            single, thousand = (_both(dollars_of(by * run.cost) for run in runs) for by in (1, 1000))
            sentence += f" Cost of a question: {single}; of 1,000: {thousand}."
        return sentence.strip()


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One line of a leaderboard: a run's figure with its interval, and how it compares with the baseline, which is one
    of them.
    """

    run: Run
    figure: Interval
    against: PairedComparison | None


def _both(values: Iterable[str]) -> str:
    first, second = values
    return f"{first} before, {second} after"


def compare(before: Run, after: Run, measure: str = MEASURE) -> RunComparison:
    """How much better the second run is; paired by question, with a 95 % interval."""
    rows = _rows(before, after, measure)
    groups: dict[str, list[QuestionRow]] = {}
    for row in rows:
        groups.setdefault(row.category or "uncategorised", []).append(row)
    return RunComparison(
        before,
        after,
        measure,
        _paired(rows),
        dict(zip(groups, holm([_paired(group) for group in groups.values()]), strict=True)),
        tuple(sorted(rows, key=lambda row: (row.difference, row.question))),
        _note(before, after, len(rows)),
    )


def judge(before: Run, after: Run, measure: str = MEASURE) -> RunComparison:
    """What was chosen, on the half of the questions that nothing is chosen on; `corrected` for all that were tried."""
    compared = compare(before, after, measure)
    rows = tuple(row for row in compared.rows if not for_choosing(row.text))
    if not rows:
        raise BadInput(f"No question of {after.queryset!r} is left to judge on; the others are for choosing.")
    basis = f"Judged on the {len(rows):,} of {len(compared.rows):,} questions that nothing is chosen on."
    if len(compared.rows) < HALVED:
        basis = (
            f"Judged on {len(rows):,} of {len(compared.rows):,} questions. Under {HALVED}, settings are chosen "
            "on all of them."
        )
    return replace(compared, overall=_paired(rows), rows=rows, basis=basis)


def corrected(compared: RunComparison, tried: int) -> RunComparison:
    """The same with its p corrected for a number of tries."""
    return replace(compared, overall=holm([compared.overall], of=tried)[0])


def _rows(before: Run, after: Run, measure: str) -> list[QuestionRow]:
    both = [question for question in before.results if question in after.results]
    if not both:
        raise BadInput(f"The runs {before.id} and {after.id} have no question in common.")
    rows = []
    for question in both:
        old, new = before.results[question], after.results[question]
        if measure in old.values and measure in new.values:
            rows.append(
                QuestionRow(
                    question,
                    old.question.text,
                    old.question.category,
                    old.values[measure],
                    new.values[measure],
                    next(iter(old.documents), ""),
                    next(iter(new.documents), ""),
                )
            )
    if not rows:
        known = ", ".join(before.results[both[0]].values)
        raise BadInput(f"These runs have no measure {measure!r}. They have: {known}.")
    return rows


def _paired(rows: Sequence[QuestionRow]) -> PairedComparison:
    return paired([row.before for row in rows], [row.after for row in rows])


def _note(before: Run, after: Run, shared: int) -> str:
    """Why the runs may not be comparable."""
    notes = []
    if before.queryset_digest != after.queryset_digest:
        notes.append(f"The query set changed between the runs; {shared} questions are in both.")
    if before.commit != after.commit:
        notes.append("The runs saw different commits.")
    if before.unit != after.unit:
        notes.append(f"One run ranks {before.unit}s, the other {after.unit}s.")
    return " ".join(notes)


def leaderboard(runs: Sequence[Run], measure: str = MEASURE, baseline: str = "") -> tuple[LeaderboardRow, ...]:
    """Runs by their mean, each with its interval and its paired difference from the baseline, the id of one of them.

    Without a baseline it is the best. That one is known only afterwards, as if every pair had been compared, so Holm's
    correction is over all pairs.
    """
    usable = [run for run in runs if any(measure in result.values for result in run.results.values())]
    scored = [(run, bootstrap(_column(run, measure))[0]) for run in usable]
    ordered = sorted(scored, key=lambda pair: (-pair[1].mean, pair[0].name))
    given = [run for run, _ in ordered if run.id == baseline]
    base = (given or [run for run, _ in ordered[:1]])[:1]
    others = [run for run, _ in ordered if run not in base]
    pairs = len(others) if given else len(ordered) * (len(ordered) - 1) // 2
    compared = holm([_paired(_rows(base[0], run, measure)) for run in others], of=pairs)
    against = dict(zip((run.id for run in others), compared, strict=True))
    return tuple(LeaderboardRow(run, figure, against.get(run.id)) for run, figure in ordered)


def by_verdict(rows: Sequence[LeaderboardRow], names: Mapping[str, str]) -> str:
    """Which runs are better, worse, no different or open against the baseline, in one line."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row.against:
            groups.setdefault(row.against.verdict, []).append(names[row.run.id])
    listed = [f"{word}: {', '.join(groups[word])}" for word in VERDICTS if word in groups]
    return f"{'; '.join(listed).capitalize()}." if listed else ""


def _column(run: Run, measure: str):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.array([[result.values[measure]] for result in run.results.values() if measure in result.values])


GROUPS: Mapping[str, Callable[[Answered], Sequence[str]]] = {
    "category": lambda result: (result.question.category or "uncategorised",),
    "folder": lambda result: (result.folder or "(top)",),
    "tag": lambda result: result.tags,
}


def grouped(run: Run, by: str = "category", measure: str = MEASURE) -> dict[str, tuple[float, int]]:
    """The mean and the number of questions of each group."""
    if by not in GROUPS:
        raise BadInput(f"Questions cannot be grouped by {by!r}. Known: {', '.join(GROUPS)}.")
    table: dict[str, list[float]] = {}
    for result in run.results.values():
        if measure in result.values:
            for name in GROUPS[by](result):
                table.setdefault(name, []).append(result.values[measure])
    return {name: (sum(values) / len(values), len(values)) for name, values in table.items()}
