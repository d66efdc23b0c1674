"""Query sets: questions, and judgments of which passages answer them.

A judgment is anchored to a file, a heading path and a quoted span, not to a chunk, so that it survives another
chunker and later edits of the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core import strict
from core.curation.document.questions import same_form
from core.errors import BadInput, one_of

FRONTMATTER = "frontmatter"
SOURCES = ("person", "known-item (rules)", "known-item (llm)", "qa (llm)", "import", FRONTMATTER, "llm judge")
UNITS = ("document", "passage")  # what a ranking is a ranking of
MAX_QUESTIONS = 100_000
MAX_TEXT = 2_000
GRADES = (0, 3)  # the lowest and the highest
HALVED = 60  # questions; of fewer, no half could show anything

NOT_NAMED = "A question about a document that you may not read"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with an optional category."""

    id: str
    text: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """How well a place in a document answers a question: 0 not at all, above 0 relevant.

    Without a quote the whole section is meant, without a heading the whole document.
    """

    question: str
    path: str
    heading: tuple[str, ...] = ()
    quote: str = ""
    grade: float = 1.0
    source: str = "import"
    judge: str = ""
    note: str = ""  # why; it says nothing about the grade, so digests leave it out


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Questions with judgments, under a name."""

    name: str
    questions: tuple[Question, ...]
    judgments: tuple[Judgment, ...] = ()
    about: str = ""

    @property
    def digest(self) -> str:
        """A digest of the content, whatever the set is called."""
        graded = [{key: value for key, value in strict.plain(each).items() if key != "note"} for each in self.judgments]
        return strict.digest([self.questions, graded])


def check(queryset: QuerySet) -> QuerySet:
    """The set without duplicates; BadInput if ids, texts or judgments do not fit together.

    >>> check(QuerySet("a", (Question("1", "why"),), (Judgment("2", "a.md"),)))
    Traceback (most recent call last):
        ...
    core.errors.BadInput: A judgment names the question '2', which is not in the set 'a'.
    """
    questions: dict[str, Question] = {}
    for question in queryset.questions:
        if questions.setdefault(question.id, question).text.split() != question.text.split():
            raise BadInput(f"The set {queryset.name!r} asks two things under the id {question.id!r}.")
    if len(questions) > MAX_QUESTIONS:
        raise BadInput(f"The set {queryset.name!r} has {len(questions):,} questions; the limit is {MAX_QUESTIONS:,}.")
    for question in questions.values():
        if not question.id or not question.text.strip() or len(question.text) > MAX_TEXT:
            raise BadInput(
                f"The question {question.id!r} must have an id and a text of at most {MAX_TEXT:,} characters."
            )
    for judgment in queryset.judgments:
        if judgment.question not in questions:
            raise BadInput(
                f"A judgment names the question {judgment.question!r}, which is not in the set {queryset.name!r}."
            )
    return replace(queryset, questions=tuple(questions.values()), judgments=tuple(dict.fromkeys(queryset.judgments)))


def without(queryset: QuerySet, ids: Iterable[str]) -> QuerySet:
    """The set without some questions and their judgments."""
    removed = set(ids)
    return replace(
        queryset,
        questions=tuple(question for question in queryset.questions if question.id not in removed),
        judgments=tuple(judgment for judgment in queryset.judgments if judgment.question not in removed),
    )


def for_choosing(text: str) -> bool:
    """Whether alpha, tau and the like are chosen on a question; what was chosen is judged on the other half. A
    question is in one half by its words, whatever its id and its query set.

    >>> [for_choosing(text) for text in ("Who pays?", "who  pays", "Who is paid?", "Who paid?")]
    [False, False, True, True]
    """
    return int(strict.digest([same_form(text)])[:8], 16) % 2 == 0


def choosing(questions: Sequence[Question]) -> set[str]:
    """The ids of the questions that things are chosen on: half of them, or all where half would be too few to judge
    on.
    """
    return {each.id for each in questions if len(questions) < HALVED or for_choosing(each.text)}


def once(querysets: Iterable[QuerySet]) -> tuple[QuerySet, ...]:
    """The sets, each without the questions that an earlier one asks: a copy of a set counts once.

    >>> first, again = (QuerySet(name, (Question(name, "Who pays?"),)) for name in "ab")
    >>> [len(each.questions) for each in once([first, again])]
    [1, 0]
    """
    seen: set[str] = set()
    left = []
    for queryset in querysets:
        forms = {question.id: same_form(question.text) for question in queryset.questions}
        left.append(without(queryset, [number for number, form in forms.items() if form in seen]))
        seen.update(forms.values())
    return tuple(left)


def known_unit(unit: str) -> str:
    """The unit, if rankings can be made of it."""
    one_of(unit, UNITS, "unit")
    return unit


def by_question(judgments: Iterable[Judgment]) -> dict[str, list[Judgment]]:
    grouped: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        grouped.setdefault(judgment.question, []).append(judgment)
    return grouped


def settled(judgments: Iterable[Judgment]) -> tuple[Judgment, ...]:
    """One judgment per place with the mean grade of its judges; where people judged, models do not count.

    >>> ann, ben = Judgment("1", "a.md", judge="ann", grade=1.0), Judgment("1", "a.md", judge="ben", grade=0.0)
    >>> settled([ann, ben])[0].grade
    0.5
    """
    places: dict[tuple[str, str, tuple[str, ...], str], list[Judgment]] = {}
    for judgment in judgments:
        places.setdefault((judgment.question, judgment.path, judgment.heading, judgment.quote), []).append(judgment)
    return tuple(map(_settle, places.values()))


def _settle(judgments: list[Judgment]) -> Judgment:
    counted = [judgment for judgment in judgments if judgment.source == "person"] or judgments
    return replace(counted[0], grade=sum(judgment.grade for judgment in counted) / len(counted))


def by_category(queryset: QuerySet) -> Mapping[str, tuple[str, ...]]:
    """Question ids by category, categories in order of appearance."""
    grouped: dict[str, list[str]] = {}
    for question in queryset.questions:
        grouped.setdefault(question.category or "uncategorised", []).append(question.id)
    return {category: tuple(ids) for category, ids in grouped.items()}
