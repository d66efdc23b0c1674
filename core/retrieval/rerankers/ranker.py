"""Listwise reranking: a language model sees numbered passages together and answers with their order.

Sources: the thesis, section 3.4.1 (the task, temperature 0.2, the fallback); the chatbot study, sections 4.6
and 4.7 (one-shot, meta-prompting). No answer is trusted: `permutation` reads it, what cannot be read changes nothing,
and the passages are shown a second time from last to first. Small models order by place instead of by content; their
two orders disagree, and then the given one stands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import BadInput, ConcordError, Unusable
from core.llm.asking import ModelTask, ask
from core.llm.bill import Bill
from core.llm.prompt import RULE, cut, quoted
from core.llm.reading import schema_of
from core.ports import Llm
from core.retrieval.rerankers.permutation import Repaired, permutation

PASSAGE = 2000  # characters of a passage that the model sees
TEMPERATURE = 0.2
ORDERS = 2  # in which the same passages are shown
AGREE = 0.5  # the least Kendall's tau between the orders of a list and of the same list reversed

_TASK = "You rank passages of a knowledge base by how well each of them answers a query. " + RULE

_LESSONS = """

Rankings like yours failed in these ways before; avoid them:
- A passage that covers the topic broadly was put above the one that states the fact. The passage that answers the
  query directly comes first, however short it is.
- Identifiers, numbers, dates, form names and negations were read loosely. They must match the query exactly.
- Passages from the second half of the list were hardly read. Read all of them before you order any.
- A passage was ranked by what it says about itself. Only what it says about the query counts."""

SYSTEMS: Mapping[str, str] = {"one-shot": _TASK, "meta": _TASK + _LESSONS}
PROMPTS: Mapping[str, str] = {
    "one-shot": "The task with one example.",
    "meta": "The task with one example and what went wrong in earlier rankings.",
}

_EXAMPLE = "\n".join(
    (
        "Example",
        quoted("query", "How long are currency reports kept?"),
        quoted("passage", "Currency reports are filed within 15 days.", 1),
        quoted("passage", "Holiday requests are approved by the manager.", 2),
        quoted("passage", "Copies of currency reports are kept for five years.", 3),
        'Answer: {"order": [3, 1, 2]}',
    )
)


@dataclass(slots=True)
class Ranker:
    """Asks one model for orders, and remembers what that cost and what had to be fixed."""

    query: str
    llm: Callable[[], Llm]
    style: str = "one-shot"
    bill: Bill = field(default_factory=Bill)
    shortened: int = 0
    fixed: int = 0
    warnings: list[str] = field(default_factory=list)

    def order(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        """The places of the texts, best first; None, with a warning, when there is no order to follow."""
        self.shortened += sum(len(text) > PASSAGE for text in texts)
        try:
            return self.agreed(texts)
        except ConcordError as error:
            self.warnings.append(f"The language model did not rerank, the given order was kept: {error}")
            return None

    def agreed(self, texts: Sequence[str]) -> tuple[int, ...]:
        """The order that a model gives from both ends; Unusable when the two do not agree."""
        if len(texts) < 2:
            return tuple(range(len(texts)))
        llm = self.llm()
        forward, reverse = self._read(llm, texts), self._read(llm, texts[::-1])
        backward = tuple(len(texts) - 1 - place for place in reverse)
        alike = kendall(forward, backward)
        if alike < AGREE:
            raise Unusable(
                f"{llm.name} orders the same passages differently when they are shown from last to first (agreement "
                f"{alike:.2f}, at least {AGREE:.2f} is needed)."
            )
        return merged(forward, backward)

    def _read(self, llm: Llm, texts: Sequence[str]) -> tuple[int, ...]:
        read, _ = ask(llm, task(self.query, texts, self.style), self.bill)
        self.fixed += bool(read.note)
        return read.order

    def note(self) -> str:
        """What was asked, fixed and cut."""
        parts = [str(self.bill)] if self.bill.calls else []
        parts += [f"answers fixed: {self.fixed}"] if self.fixed else []
        parts += [f"passages cut to {PASSAGE:,} characters: {self.shortened}"] if self.shortened else []
        return "; ".join(parts)


def task(query: str, texts: Sequence[str], style: str = "one-shot") -> ModelTask[Repaired]:
    """What a model is asked about numbered passages."""
    schema = schema_of(order={"type": "array", "items": {"type": "integer"}})

    def read(answer: str) -> Repaired:
        order = permutation(answer, len(texts))
        if order.kept:
            raise BadInput(f"it is no order ({order.note})")
        return order

    limit = 30 + 6 * len(texts)
    return ModelTask("rerank", prompt(query, texts), read, SYSTEMS[style], limit, TEMPERATURE, schema)


def kendall(first: Sequence[int], second: Sequence[int]) -> float:
    """Kendall's tau of two orders of the same things: 1 when they are equal, -1 when one is the other reversed.

    >>> kendall((0, 1, 2), (0, 1, 2)), kendall((0, 1, 2), (2, 1, 0)), round(kendall((3, 0, 1, 2), (0, 3, 2, 1)), 2)
    (1.0, -1.0, 0.33)
    """
    places = {thing: place for place, thing in enumerate(second)}
    pairs = list(itertools.combinations(first, 2))
    return sum(1 if places[a] < places[b] else -1 for a, b in pairs) / len(pairs)


def merged(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Things by the sum of their places in two orders; equal ones as they were given.

    >>> merged((2, 0, 1), (2, 1, 0))
    (2, 0, 1)
    """
    return tuple(sorted(first, key=lambda thing: (first.index(thing) + second.index(thing), thing)))


def prompt(query: str, texts: Sequence[str]) -> str:
    """The query and the numbered passages, each between tags that it cannot close."""
    passages = "\n".join(quoted("passage", cut(text, PASSAGE), n) for n, text in enumerate(texts, 1))
    return "\n\n".join(
        (
            _EXAMPLE,
            "Now the real task",
            quoted("query", query),
            passages,
            f"Rank the {len(texts)} passages from most to least relevant to the query. "
            f"Answer only with JSON that holds each number from 1 to {len(texts)} once, like the example.",
        )
    )


def descending(order: Sequence[int]) -> dict[int, float]:
    """Scores for an order that has none: the best is 1, the others step down evenly.

    >>> descending([7, 5])
    {7: 1.0, 5: 0.5}
    """
    return {chunk: (len(order) - place) / len(order) for place, chunk in enumerate(order)}
