"""Questions to begin with: those that configurations answered most differently, and the difference in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.access import READS, Actor, use_case
from core.evaluation.querysets.queryset import by_question
from core.evaluation.runs.comparisons import MEASURE
from core.evaluation.runs.run import latest
from core.services.evaluation.runs import Runs
from core.services.knowledge.documents import Documents
from core.services.playground.compare import ColumnOutcome

LETTERS = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A judged question, the document that answers it best, and how far apart the configurations are on it."""

    text: str
    document: str
    apart: float


class Examples:
    """Finds them in what was measured."""

    def __init__(self, runs: Runs, documents: Documents) -> None:
        self.runs, self.documents = runs, documents
        self._found = lru_cache(maxsize=2)(self._find)

    @use_case("compare configurations", READS)
    def listed(self, actor: Actor, limit: int = 5) -> tuple[ExampleQuestion, ...]:
        """The farthest apart first, those of small sets before others: people made them by hand. None before anything
        was measured.
        """
        ids = tuple(run.id for run in latest(self.runs.all()))
        return self._found(ids, self.documents.repository.head(), self.documents.readership.audience())[:limit]

    def _find(self, ids: Sequence[str], head: str, audience: str) -> tuple[ExampleQuestion, ...]:
        by_set: dict[str, list[str]] = {}
        for run in (self.runs.get(number) for number in ids):
            by_set.setdefault(run.queryset, []).append(run.id)
        known = {summary.name for summary in self.runs.querysets.all()}
        several = sorted((name for name, runs in by_set.items() if len(runs) > 1 and name in known), key=self._size)
        return tuple(example for name in several for example in self._of(name, by_set[name]))

    def _size(self, queryset: str) -> tuple[int, str]:
        return len(self.runs.querysets.get(queryset).questions), queryset

    def _of(self, queryset: str, ids: Sequence[str]) -> list[ExampleQuestion]:
        known = {document.path: document.id for document in self.documents.all()}
        judged = by_question(self.runs.querysets.shown(self.runs.querysets.get(queryset)).judgments)
        results = [self.runs.get(number).results for number in ids]
        found = []
        for number, answered in results[0].items():
            values = [result[number].values[MEASURE] for result in results if number in result]
            best = max(judged.get(number, ()), key=lambda judgment: judgment.grade, default=None)
            if best and best.path in known and max(values) > min(values):
                found.append(ExampleQuestion(answered.question.text, known[best.path], max(values) - min(values)))
        return sorted(found, key=lambda example: (-example.apart, example.text))


def difference(outcomes: Sequence[ColumnOutcome], document: str = "") -> str:
    """What the columns make of one question: where they find a document, or which ones they find first."""
    ranks: dict[str, int | None] = {}
    firsts: dict[str, str] = {}
    titles: dict[str, str] = {}
    for letter, outcome in zip(LETTERS, outcomes, strict=False):
        if outcome.result:
            order = list(dict.fromkeys(hit.doc for hit in outcome.result.hits))
            ranks[letter] = order.index(document) + 1 if document in order else None
            firsts[letter] = outcome.result.hits[0].title if outcome.result.hits else "nothing"
            titles |= {hit.doc: hit.title for hit in outcome.result.hits}
    return f"“{titles[document]}”: {placed(ranks)}" if document in titles else first_found(firsts)


def placed(ranks: Mapping[str, int | None]) -> str:
    """Where each column finds the document that answers.

    >>> placed({"A": None, "B": 1, "C": 1})
    'B and C find it first, A does not find it.'
    >>> placed({"A": 3, "B": 1})
    'B finds it first, A finds it at 3.'
    """
    groups: dict[int | None, list[str]] = {}
    for letter, rank in ranks.items():
        groups.setdefault(rank, []).append(letter)
    order = sorted(groups, key=lambda rank: rank or 10**9)
    return ", ".join(f"{_joined(groups[rank])} {_verb(len(groups[rank]), rank)}" for rank in order) + "."


def _verb(columns: int, rank: int | None) -> str:
    if rank is None:
        return f"{'does' if columns == 1 else 'do'} not find it"
    return f"{'finds' if columns == 1 else 'find'} it {'first' if rank == 1 else f'at {rank}'}"


def first_found(firsts: Mapping[str, str]) -> str:
    """Which documents come first.

    >>> first_found({"A": "Leave", "B": "Leave"}), first_found({"A": "Leave", "B": "Pay", "C": "Pay"})
    ('All find “Leave” first.', 'First in A: “Leave”, in B and C: “Pay”.')
    """
    groups: dict[str, list[str]] = {}
    for letter, title in firsts.items():
        groups.setdefault(title, []).append(letter)
    if len(groups) == 1:
        return f"All find “{next(iter(groups))}” first." if len(firsts) > 1 else ""
    said = ", ".join(f"in {_joined(letters)}: “{title}”" for title, letters in groups.items())
    return f"First {said}." if groups else ""


def _joined(letters: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))
