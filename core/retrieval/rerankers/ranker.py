"""Listwise reranking: a language model sees numbered passages together and answers with their order.

Sources: the thesis, section 3.4.1 (the task, temperature 0.2, the fallback); the chatbot study, sections 4.6
and 4.7 (one-shot, meta-prompting). No answer is trusted: `permutation` reads it, and what cannot be read changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import ConcordError
from core.llm.bill import Bill
from core.llm.prompt import RULE, cut, quoted
from core.ports import Llm
from core.retrieval.rerankers.permutation import permutation

PASSAGE = 2000  # characters of a passage that the model sees
MAX_TOKENS = 1000
TEMPERATURE = 0.2

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
        "Answer: [3, 1, 2]",
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
        """The places of the texts, best first; None, with a warning, when there is no answer to follow."""
        self.shortened += sum(len(text) > PASSAGE for text in texts)
        try:
            answer = self.llm().complete(
                prompt(self.query, texts),
                purpose="rerank",
                system=SYSTEMS[self.style],
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
            )
        except ConcordError as error:
            self.warnings.append(f"The language model did not rerank, the given order was kept: {error}")
            return None
        self.bill.add(answer)
        read = permutation(answer.text, len(texts))
        if read.kept:
            self.warnings.append(f"The answer of {answer.model} is no order ({read.note}); the given one was kept.")
            return None
        self.fixed += bool(read.note)
        return read.order

    def note(self) -> str:
        """What was asked, fixed and cut."""
        parts = [str(self.bill)] if self.bill.calls else []
        parts += [f"answers fixed: {self.fixed}"] if self.fixed else []
        parts += [f"passages cut to {PASSAGE:,} characters: {self.shortened}"] if self.shortened else []
        return "; ".join(parts)


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
            f"Answer only with a JSON array that holds each number from 1 to {len(texts)} once, like the example.",
        )
    )


def descending(order: Sequence[int]) -> dict[int, float]:
    """Scores for an order that has none: the best is 1, the others step down evenly.

    >>> descending([7, 5])
    {7: 1.0, 5: 0.5}
    """
    return {chunk: (len(order) - place) / len(order) for place, chunk in enumerate(order)}
