"""HyDE: the dense leg searches with the vector of a hypothetical answer instead of the question's.

Source: Gao et al. 2023; the support study, appendix E, where the hypothetical document's vector replaces the
query's and recall@10 fell from 66.4 % to 62.8 %. So it is off by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import BadInput, ConcordError
from core.llm.asking import Bill, ModelTask, ask
from core.llm.prompt import RULE, cut, quoted
from core.llm.usable import REPEATS, content_words, prose, repeats
from core.ports import Llm
from core.retrieval.trace import Trace

if TYPE_CHECKING:
    import numpy as np

Embed = Callable[[str], "np.ndarray"]

MAX_TOKENS = 300
LONGEST = 4000  # characters of an answer that are embedded
_SYSTEM = "You write short passages in the style of a company's knowledge base. " + RULE


def hypothetical(query: str, embed: Embed, embed_passage: Embed, llm: Callable[[], Llm], trace: Trace) -> Embed:
    """How to embed this query: as a passage that would answer it; as it is, with a warning, when no model answers."""
    bill = Bill()
    with trace.stage("hyde") as stage:
        try:
            text, _ = ask(llm(), task(query), bill)
        except ConcordError as error:
            trace.warnings.append(f"HyDE was left out, the query was embedded as it is: {error}")
            stage.note, stage.cost = str(bill) if bill.calls else "", bill.dollars
            return embed
        stage.note, stage.cost = f"{bill}; embedded instead of the query: {cut(text, 300)}", bill.dollars
    return lambda _: embed_passage(text)


def task(query: str) -> ModelTask[str]:
    """Asks for a passage; it is used if it is about the query and more than the query again."""

    def read(answer: str) -> str:
        text = prose(answer)[:LONGEST]
        asked = content_words(query)
        if asked and not asked & content_words(text):
            raise BadInput("it has not one word in common with the query")
        if repeats(text, query) >= REPEATS:
            raise BadInput("it repeats the query")
        return text

    return ModelTask("hyde", prompt(query), read, _SYSTEM, MAX_TOKENS)


def prompt(query: str) -> str:
    """Asks for a passage that answers the query; whether it is true does not matter, only what it is about."""
    return (
        f"{quoted('query', query)}\n\nWrite one passage of three to five sentences that answers the query. Answer "
        "only with the passage."
    )
