"""An answer that cites the passages of one column; without a language model, the best extract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from core.access import Actor, require
from core.analysis import analyser
from core.curation.render import plain
from core.errors import BadInput, Unavailable
from core.llm.prompt import RULE, quoted
from core.ports import Models
from core.retrieval.snippets import snippet
from core.types import Answer, Hit, LexicalOptions

PASSAGES = 6
SYSTEM = (
    "Answer the question from the numbered passages alone, in at most five sentences. After each statement name its "
    "passage like [2]. If the passages do not answer the question, say so. " + RULE
)
_CITED = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and the hits it cites. `extract` is true when no model wrote it; `advice` says what to configure."""

    text: str
    cited: tuple[Hit, ...]
    extract: bool = False
    advice: str = ""
    model: str = ""
    dollars: float = 0.0


class Answerer:
    """Answers from hits, never from memory."""

    def __init__(self, models: Models) -> None:
        self.models = models

    def plain(self, actor: Actor, prompt: str, model: str = "") -> Answer:
        """What a language model says to a prompt, to see whether it works and what it costs."""
        require(actor, "ask a language model")
        return self.models.llm(model).complete(prompt, purpose="ask")

    def ask(self, actor: Actor, question: str, hits: Sequence[Hit]) -> Reply:
        """An answer whose every citation exists; without a model, or without citations, the best extract."""
        require(actor, "compare configurations")
        if not hits:
            raise BadInput("This column found nothing, so there is nothing to answer from.")
        shown = hits[:PASSAGES]
        try:
            llm = self.models.llm()
            answer = llm.complete(_prompt(question, shown), purpose="ask", system=SYSTEM, max_tokens=400)
        except Unavailable as error:
            return _extract(question, shown, f"{error} Configure one to get written answers; this is the best extract.")
        numbers = [int(n) for n in dict.fromkeys(_CITED.findall(answer.text))]
        if not numbers or any(not 1 <= n <= len(shown) for n in numbers):
            return _extract(question, shown, "The model's answer did not cite its passages, so it is not shown.")
        cited = tuple(shown[n - 1] for n in numbers)
        return Reply(answer.text, cited, model=answer.model, dollars=answer.dollars)


def _prompt(question: str, hits: Sequence[Hit]) -> str:
    places = [" › ".join((hit.title, *hit.heading)) for hit in hits]
    passages = [
        quoted("passage", f"{place}\n{hit.text}", n) for n, (place, hit) in enumerate(zip(places, hits, strict=True), 1)
    ]
    return "\n\n".join([*passages, quoted("query", question)])


def _extract(question: str, hits: Sequence[Hit], advice: str) -> Reply:
    """The best sentence of the first hit; rare words count more."""
    analyse = analyser(LexicalOptions())
    used = [set(analyse(hit.text)) for hit in hits]
    rarity = lambda term: log(1 + len(hits) / (1 + sum(term in terms for terms in used)))
    best_snippet = snippet(plain(hits[0].text), question, LexicalOptions(), rarity)
    best = "".join(segment.text for segment in best_snippet.segments if segment.best)
    text = best or "".join(segment.text for segment in best_snippet.segments)
    return Reply(" ".join(text.split()), (hits[0],), True, advice)
