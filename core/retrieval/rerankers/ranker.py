"""Listwise reranking: a language model sees numbered passages together and answers with their order.

Sources: the thesis, section 3.4.1 (the task, temperature 0.2, the fallback); the support study, section 4.6 (the ten
best of fifty); the cascade study, stage 5 (reason briefly, 250 tokens). No answer is trusted: `permutation` reads it,
what cannot be read changes nothing. With two orders the passages are shown a second time from last to first: small
models order by place instead of by content; their two orders disagree, and then the given one stands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.errors import BadInput, ConcordError, Unusable
from core.llm.asking import Bill, ModelTask, ask
from core.llm.prompt import cut, quoted
from core.llm.usable import schema_of
from core.ports import Llm
from core.retrieval.prompts import PROMPTS, RerankPrompt
from core.retrieval.rerankers.permutation import Repaired, permutation

PASSAGE = 2000  # characters of a passage that the model sees
TEMPERATURE = 0.2
WHOLE, BEST = 20, 10  # up to so many passages are ordered as a whole, of a longer list the ten best are asked for
REASONED = 250  # tokens of an answer that may say why
AGREE = 0.5  # the least agreement between the orders of a list and of the same list reversed

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
    prompt: RerankPrompt = PROMPTS["one-shot"]
    orders: int = 2
    bill: Bill = field(default_factory=Bill)
    shortened: int = 0
    fixed: int = 0
    warnings: list[str] = field(default_factory=list)

    def order(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        """The places of the texts, best first; None, with a warning, when there is no order to follow."""
        self.shortened += sum(len(text) > PASSAGE for text in texts)
        try:
            led = self.agreed(texts)
        except ConcordError as error:
            self.warnings.append(f"The language model did not rerank, the given order was kept: {error}")
            return None
        return (*led, *(place for place in range(len(texts)) if place not in led))

    def agreed(self, texts: Sequence[str]) -> tuple[int, ...]:
        """The places that a model puts first; with two orders those of both, Unusable when the two do not agree."""
        if len(texts) < 2:
            return tuple(range(len(texts)))
        llm = self.llm()
        forward = self._read(llm, texts)
        if self.orders < 2:
            return forward
        backward = tuple(len(texts) - 1 - place for place in self._read(llm, texts[::-1]))
        alike = agreement(forward, backward, len(texts))
        if alike < AGREE:
            raise Unusable(
                f"{llm.name} orders the same passages differently when they are shown from last to first (agreement "
                f"{alike:.2f}, at least {AGREE:.2f} is needed)."
            )
        return merged(forward, backward)

    def _read(self, llm: Llm, texts: Sequence[str]) -> tuple[int, ...]:
        read, _ = ask(llm, task(self.query, texts, self.prompt), self.bill)
        self.fixed += bool(read.note)
        return read.order[: asked_for(len(texts))]

    def note(self) -> str:
        """What was asked, fixed and cut."""
        parts = [str(self.bill)] if self.bill.calls else []
        parts += [f"answers fixed: {self.fixed}"] if self.fixed else []
        parts += [f"passages cut to {PASSAGE:,} characters: {self.shortened}"] if self.shortened else []
        return "; ".join(parts)


def asked_for(passages: int) -> int:
    """How many places a model is asked for.

    >>> asked_for(20), asked_for(50)
    (20, 10)
    """
    return passages if passages <= WHOLE else BEST


def task(query: str, texts: Sequence[str], prompt: RerankPrompt = PROMPTS["one-shot"]) -> ModelTask[Repaired]:
    """What a model is asked about numbered passages."""
    count = asked_for(len(texts))

    def read(answer: str) -> Repaired:
        order = permutation(answer, len(texts), count)
        if order.kept:
            raise BadInput(f"it is no order ({order.note})")
        return order

    numbers = {"type": "array", "items": {"type": "integer"}}
    schema = schema_of(reason={"type": "string"}, order=numbers) if prompt.reasons else schema_of(order=numbers)
    limit = 30 + 6 * count + (REASONED if prompt.reasons else 0)
    return ModelTask("rerank", asking(query, texts, prompt), read, prompt.system, limit, TEMPERATURE, schema)


def agreement(first: Sequence[int], second: Sequence[int], passages: int) -> float:
    """How far two orders agree: Kendall's tau of whole ones, of the best of many the share that both name.

    >>> agreement((0, 1), (0, 1), 2), agreement((0, 1), (1, 30), 40)
    (1.0, 0.5)
    """
    if len(first) == len(second) == passages:
        return kendall(first, second)
    return len({*first} & {*second}) / max(len(first), len(second))


def kendall(first: Sequence[int], second: Sequence[int]) -> float:
    """Kendall's tau of two orders of the same things: 1 when they are equal, -1 when one is the other reversed.

    >>> kendall((0, 1, 2), (0, 1, 2)), kendall((0, 1, 2), (2, 1, 0)), round(kendall((3, 0, 1, 2), (0, 3, 2, 1)), 2)
    (1.0, -1.0, 0.33)
    """
    places = {thing: place for place, thing in enumerate(second)}
    pairs = list(itertools.combinations(first, 2))
    return sum(1 if places[a] < places[b] else -1 for a, b in pairs) / len(pairs)


def merged(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Things by the sum of their places in two orders, where one that an order leaves out comes after its last; equal
    ones as they were given.

    >>> merged((2, 0, 1), (2, 1, 0)), merged((7, 3), (3, 9))
    ((2, 0, 1), (3, 7, 9))
    """
    places = [{thing: place for place, thing in enumerate(order)} for order in (first, second)]
    totals = {thing: sum(place.get(thing, len(place)) for place in places) for thing in (*first, *second)}
    return tuple(sorted(totals, key=lambda thing: (totals[thing], thing)))


def asking(query: str, texts: Sequence[str], prompt: RerankPrompt = PROMPTS["one-shot"]) -> str:
    """The query and the numbered passages, each between tags that it cannot close."""
    passages = "\n".join(quoted("passage", cut(text, PASSAGE), n) for n, text in enumerate(texts, 1))
    parts = (_EXAMPLE, "Now the real task") if prompt.example else ()
    return "\n\n".join((*parts, quoted("query", query), passages, _form(len(texts), prompt)))


def _form(passages: int, prompt: RerankPrompt) -> str:
    """What the answer must look like."""
    count = asked_for(passages)
    if count == passages:
        what = f"Rank the {passages} passages from most to least relevant to the query."
        each = f"each number from 1 to {passages} once"
    else:
        what = (
            f"Name the {count} passages of the {passages} that are most relevant to the query, the most relevant first."
        )
        each = f"{count} different numbers from 1 to {passages}"
    form = '{"reason": "...", "order": [...]}' if prompt.reasons else '{"order": [...]}'
    how = "like the example" if prompt.example else f"in the form {form}"
    why = "First say in one or two sentences which passage answers the query best, and why. " if prompt.reasons else ""
    return f"{what} {why}Answer only with JSON that holds {each}, {how}."


def descending(order: Sequence[int]) -> dict[int, float]:
    """Scores for an order that has none: the best is 1, the others step down evenly.

    >>> descending([7, 5])
    {7: 1.0, 5: 0.5}
    """
    return {chunk: (len(order) - place) / len(order) for place, chunk in enumerate(order)}
