"""What a change does to search: the same questions, asked before it and after it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core import strict
from core.evaluation.measures.by_name import ndcg
from core.evaluation.statistics import Interval, PairedComparison, compare, holm

FIRST = 3  # documents that people look at, and that are shown of each state
SCORED = 10  # documents that the score of a question looks at
OWN, ANSWERS = "own", "answers"
GUARD, ASKED = "guard", "asked"
LOSS, GAIN, TIE = "loss", "gain", "tie"


@dataclass(frozen=True, slots=True)
class ImpactQuestion:
    """A question, where it comes from, and the documents that answer it: path to grade, in each state.

    `kind`: own (`answers:` of a document that the change edits), answers (of another one), guard (a query set), asked.
    """

    text: str
    kind: str
    source: str = ""  # the path of a document, or the name of a query set
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    times: int = 0  # how often people asked it


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document with its best passage for a question."""

    path: str
    title: str
    heading: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Shift:
    """One question before and after: the place of the document that answers it (0: not found), and the first
    documents.
    """

    text: str
    kind: str
    source: str
    before: int
    after: int
    score_before: float
    score_after: float
    top_before: tuple[FoundDocument, ...] = ()
    top_after: tuple[FoundDocument, ...] = ()
    judged: bool = True  # whether somebody said what answers it
    gone: bool = False  # the change removes every document that answers it
    new: bool = False  # nothing answered it before
    times: int = 0
    disagreement: str = ""  # what two of the first documents say differently

    @property
    def lost(self) -> bool:
        """It stood among the first and does no longer."""
        return self.judged and 0 < self.before <= FIRST and not 0 < self.after <= FIRST

    @property
    def won(self) -> bool:
        """It stands among the first and did not before."""
        return self.judged and not self.new and 0 < self.after <= FIRST and not 0 < self.before <= FIRST

    @property
    def outcome(self) -> str:
        """Loss, gain or tie, as everything calls it that shows one: what happens among the first places counts.

        >>> [
        ...     Shift("", ANSWERS, "", before, after, 0, 0).outcome
        ...     for before, after in ((1, 2), (26, 27), (5, 3), (2, 2))
        ... ]
        ['loss', 'tie', 'gain', 'tie']
        """
        before, after = (place if 0 < place <= FIRST else FIRST + 1 for place in (self.before, self.after))
        if not self.judged:
            return TIE
        if after > before or self.gone or (self.kind == OWN and after > FIRST):
            return LOSS
        return GAIN if after < before else TIE

    @property
    def places(self) -> tuple[str, str]:
        """Before and after as people read them: a place, or the first document where nobody said which one answers."""
        if not self.judged:
            first, second = (
                f"first: {top[0].title}" if top else "nothing found" for top in (self.top_before, self.top_after)
            )
            return first, second
        return in_words(self.before), in_words(self.after)

    @property
    def moved(self) -> bool:
        """Whether anybody could notice: another place, or other documents first."""
        return self.before != self.after or _paths(self.top_before) != _paths(self.top_after)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What a document of the change says and another document says otherwise. The key is that of the disagreement."""

    key: str
    path: str
    sentence: str
    other: str = ""  # the other document, and under which headings the two say it
    heading: tuple[str, ...] = ()
    other_heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change does to search. `shifts` are its own questions and every question that moved."""

    change: int
    head: str
    main: str
    profile: str
    config: str
    questions: Mapping[str, int]  # by kind
    shifts: tuple[Shift, ...]
    verdicts: Mapping[str, PairedComparison]  # by query set; "answers" is what documents list
    chunks: Mapping[str, int]  # appear, vanish, stay
    created: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    def of(self, *kinds: str) -> tuple[Shift, ...]:
        """The shifts of some kinds, losses first."""
        chosen = [shift for shift in self.shifts if shift.kind in kinds]
        chosen.sort(key=lambda shift: (shift.outcome != LOSS, shift.score_after - shift.score_before, shift.text))
        return tuple(chosen)

    @property
    def losses(self) -> tuple[str, ...]:
        """The query sets on which it is worse, and not by chance."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.verdict == "worse")

    @property
    def outcome(self) -> str:
        """A loss as soon as one question loses: green is for changes that take nothing from anybody."""
        outcomes = {each.outcome for each in self.shifts}
        if self.losses or LOSS in outcomes:
            return LOSS
        return GAIN if GAIN in outcomes else TIE

    @property
    def rows(self) -> tuple[tuple[str, str, str, str, str], ...]:
        """Question, whose it is, before, after, outcome: losses first."""
        shown = self.of(OWN, ANSWERS, GUARD, ASKED)
        return tuple((each.text, each.source or "asked", *each.places, each.outcome) for each in shown)

    @property
    def sentence(self) -> str:
        """What a reviewer needs to know first: the worst thing."""
        return " ".join(_sentences(self))


def shift(question: ImpactQuestion, before: Sequence[FoundDocument], after: Sequence[FoundDocument]) -> Shift:
    """A question with what each state answers.

    >>> a, b = (FoundDocument(path, path, (), "") for path in "ab")
    >>> moved = shift(ImpactQuestion("Why?", "answers", "a", {"a": 1}, {"a": 1}), [a, b], [b, a])
    >>> moved.before, moved.after, moved.lost, round(moved.score_after, 2)
    (1, 2, False, 0.63)
    """
    judged = bool(question.before or question.after)
    return Shift(
        question.text,
        question.kind,
        question.source,
        place(before, question.before),
        place(after, question.after),
        _score(before, question.before),
        _score(after, question.after),
        tuple(before[:FIRST]),
        tuple(after[:FIRST]),
        judged=judged,
        gone=bool(question.before) and not question.after,
        new=judged and not question.before,
        times=question.times,
    )


def _score(found: Sequence[FoundDocument], gains: Mapping[str, float]) -> float:
    return round(ndcg(_paths(found), gains, SCORED), 9)


def place(found: Sequence[FoundDocument], gains: Mapping[str, float]) -> int:
    """Where the first document stands that answers; 0 if none was found."""
    return next((n for n, document in enumerate(found, 1) if gains.get(document.path, 0) > 0), 0)


def verdicts(shifts: Iterable[Shift]) -> dict[str, PairedComparison]:
    """Whether the change makes search worse or better, by query set, corrected for their number.

    Questions that are new or whose answer was removed on purpose say nothing about search: they are left out.
    """
    groups: dict[str, list[Shift]] = {}
    for each in shifts:
        if each.judged and not each.new and not each.gone:
            groups.setdefault(each.source if each.kind == GUARD else ANSWERS, []).append(each)
    compared = [compare([s.score_before for s in group], [s.score_after for s in group]) for group in groups.values()]
    return dict(zip(groups, holm(compared), strict=True))


def _paths(found: Iterable[FoundDocument]) -> list[str]:
    return [document.path for document in found]


# ---------------------------------------------------------------- in words


def _sentences(impact: Impact) -> Iterable[str]:
    own = [each for each in impact.of(OWN) if not each.gone]
    missed = [each for each in own if not 0 < each.after <= FIRST]
    lost = [each for each in impact.of(ANSWERS, GUARD) if each.lost and not each.gone]
    fallen = [each for each in impact.of(OWN, ANSWERS, GUARD) if each.outcome == LOSS and 0 < each.after <= FIRST]
    gone = [each for each in impact.shifts if each.gone]
    if missed:
        yield (
            f"{len(missed):,} of its own questions {_is(missed)} not found among the first {FIRST}: {_quoted(missed)}."
        )
    if lost:
        yield f"{_count(len(lost), 'question')} {_is(lost)} lost: {_quoted(lost)} (the first {_fall(lost[0])})."
    if gone:
        yield f"{_count(len(gone), 'question')} {_has(gone)} no document any more: {_quoted(gone)}."
    if fallen:
        yield _falls(fallen)
    for name in impact.losses:
        yield f"On {_set(name)} search gets worse: {impact.verdicts[name].sentence}"
    if impact.contradictions:
        yield _contradicts(impact.contradictions)
    disagreeing = sum(bool(each.disagreement) for each in impact.shifts)
    if disagreeing:
        yield (
            f"{_count(disagreeing, 'question')} now {'finds' if disagreeing == 1 else 'find'} two documents that "
            "say different things."
        )
    won = sum(each.won for each in impact.shifts)
    if won:
        yield f"{_count(won, 'question')} {'is' if won == 1 else 'are'} now found among the first {FIRST}."
    if own and not missed:
        yield "Its own question is found." if len(own) == 1 else f"All {len(own)} of its own questions are found."
    yield _rest(impact)


def _contradicts(found: Sequence[Contradiction]) -> str:
    more = (
        f" {_count(len(found) - 1, 'more statement')} {'differs' if len(found) == 2 else 'differ'}."
        if len(found) > 1
        else ""
    )
    return f"Another document disagrees: {found[0].sentence}{more}"


def _rest(impact: Impact) -> str:
    asked = sum(impact.questions.values())
    if not asked:
        return "There is no question to ask: no document lists any under `answers:`, and no query set is a guard."
    moved = sum(each.moved for each in impact.shifts)
    return (
        f"Results change for {moved:,} of {_count(asked, 'question')}."
        if moved
        else f"No result changes, for {_count(asked, 'question')}."
    )


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _is(shifts: Sequence[Shift]) -> str:
    return "is" if len(shifts) == 1 else "are"


def _has(shifts: Sequence[Shift]) -> str:
    return "has" if len(shifts) == 1 else "have"


def _quoted(shifts: Sequence[Shift]) -> str:
    more = f" and {len(shifts) - 2} more" if len(shifts) > 2 else ""
    return ", ".join(f"“{each.text}”" for each in shifts[:2]) + more


def _falls(shifts: Sequence[Shift]) -> str:
    """Who takes whose place: the question that stood highest first."""
    worst = min(shifts, key=lambda each: each.before)
    taken = (
        f"loses its first place to {worst.top_after[0].title}"
        if worst.before == 1 and worst.top_after
        else _fall(worst)
    )
    more = len(shifts) - 1
    others = f", and {_count(more, 'more question')} {'falls' if more == 1 else 'fall'}" if more else ""
    return f"“{worst.text}” {taken}{others}."


def _fall(shift: Shift) -> str:
    where = f"to {shift.after}" if shift.after else "out of what is found"
    return f"falls from {shift.before} {where}"


def _set(name: str) -> str:
    return "the questions that documents list" if name == ANSWERS else name


def in_words(place: int) -> str:
    """A place as people read it.

    >>> in_words(2), in_words(0)
    ('found at 2', 'not found')
    """
    return f"found at {place}" if place else "not found"


# ---------------------------------------------------------------- on disk


def pack(impact: Impact) -> bytes:
    """Compressed JSON."""
    return zlib.compress(json.dumps(as_json(impact), separators=(",", ":")).encode(), 6)


def as_json(impact: Impact) -> dict[str, Any]:
    """The contract of `change impact --json`."""
    plain: dict[str, Any] = strict.plain(impact)
    for row, each in zip(plain["shifts"], impact.shifts, strict=True):
        row |= {"lost": each.lost, "won": each.won, "outcome": each.outcome}
    return {**plain, "losses": list(impact.losses), "outcome": impact.outcome, "sentence": impact.sentence}


def unpack(packed: bytes) -> Impact:
    raw = json.loads(zlib.decompress(packed))
    for derived in ("losses", "outcome", "sentence"):
        raw.pop(derived, None)
    verdicts = {name: _verdict(value) for name, value in raw["verdicts"].items()}
    listed = {"shifts": tuple(map(_shift, raw["shifts"])), "verdicts": verdicts, "notes": tuple(raw["notes"])}
    contradictions = tuple(map(_contradiction, raw.get("contradictions", ())))
    return Impact(**{**raw, **listed, "contradictions": contradictions})


def _contradiction(raw: Mapping[str, Any]) -> Contradiction:
    return Contradiction(**{**raw, **{name: tuple(raw[name]) for name in ("heading", "other_heading")}})


def _shift(raw: dict[str, Any]) -> Shift:
    tops = {name: tuple(map(_found, raw[name])) for name in ("top_before", "top_after")}
    return Shift(**{key: value for key, value in {**raw, **tops}.items() if key not in ("lost", "won", "outcome")})


def _found(raw: Mapping[str, Any]) -> FoundDocument:
    return FoundDocument(**{**raw, "heading": tuple(raw["heading"])})


def _verdict(raw: Mapping[str, Any]) -> PairedComparison:
    return PairedComparison(**{**raw, "difference": Interval(**raw["difference"])})


def contradicted(found: Sequence[FoundDocument], contradictions: Sequence[Contradiction]) -> str:
    """What two of the first documents for a question say differently, in the passages that it finds."""
    headings = {document.path: document.heading for document in found[:FIRST]}
    for each in contradictions:
        if {each.path, each.other} <= set(headings):
            mine, theirs = headings[each.path], headings[each.other]
            if each.heading[: len(mine)] == mine and each.other_heading[: len(theirs)] == theirs:
                return each.sentence
    return ""
