"""An answer that cites the passages of one column and says nothing they do not; else the best extract, called so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from core.access import Actor, require
from core.analysis import analyser
from core.curation.render import plain
from core.errors import BadInput, OverBudget, Unavailable, Unfit, Unusable
from core.llm.asking import ModelTask, ask
from core.llm.grounding import unsupported
from core.llm.prompt import RULE, gives_orders, quoted
from core.llm.usable import prose
from core.ports import Models
from core.retrieval.snippets import snippet
from core.types import Answer, Hit, LexicalOptions

PASSAGES = 6
SYSTEM = (
    "Answer the question from the numbered passages alone, in at most five sentences. After each statement name its "
    "passage like [2]. If the passages do not answer the question, say only that. " + RULE
)
MAX_TOKENS = 400
_CITED = re.compile(r"\[(\d+)\]")
_SPELLINGS = re.compile(  # [1, 2], [passage 2], (passage 1), 【1】
    r"[\[(【]\s*(?:passages?\s*)?(?:n\s*=\s*)?[\"“]?(\d{1,2}(?:\s*(?:,|and|&|;)\s*(?:passage\s*)?\d{1,2})*)[\"”]?\s*[\])】]",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:do(?:es)? not|don['’]t|doesn['’]t|did not|cannot|can['’]t|no)\b[^.]{0,60}\b"
    r"(?:answer|information|contain|mention|say|state|specif|provide|address)|\bnot (?:stated|mentioned|specified|given)\b",
    re.IGNORECASE,
)
NO_ANSWER = "The passages do not answer the question."
_KEPT_BACK = "Not shown to the model, because they give it orders: {} of the passages."
_EXTRACT = "This is the sentence that fits best, word for word; it may not answer the question."


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and the hits it cites: none when the passages do not answer.

    `extract` is true when no model wrote it; `advice` says why not, or what was kept from the model.
    """

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
        shown = [hit for hit in hits[:PASSAGES] if not gives_orders(hit.text)]
        kept_back = min(PASSAGES, len(hits)) - len(shown)
        said = _KEPT_BACK.format(kept_back) if kept_back else ""
        if not shown:
            return _extract(question, hits[:PASSAGES], f"{said} {_EXTRACT}")
        try:
            text, answer = ask(self.models.llm(), task(question, shown))
        except (Unusable, Unfit) as error:
            return _extract(question, shown, f"{error} {_EXTRACT} {said}".strip())
        except (Unavailable, OverBudget) as error:
            return _extract(
                question, shown, f"{error} Configure a model to get written answers. {_EXTRACT} {said}".strip()
            )
        numbers = [int(n) for n in dict.fromkeys(_CITED.findall(text))]
        return Reply(text, tuple(shown[n - 1] for n in numbers), False, said, answer.model, answer.dollars)


def task(question: str, shown: Sequence[Hit]) -> ModelTask[str]:
    """What a model is asked about passages. A statement must cite its passages and name nothing that they do not."""
    texts = [f"{_place(hit)}\n{hit.text}" for hit in shown]
    return ModelTask(
        "ask", _prompt(question, shown), lambda answer: _checked(answer, question, texts), SYSTEM, MAX_TOKENS
    )


def _checked(answer: str, question: str, texts: Sequence[str]) -> str:
    """An answer whose every citation exists, or that there is none in the passages."""
    text = _SPELLINGS.sub(lambda match: "".join(f"[{n}]" for n in re.findall(r"\d+", match[1])), prose(answer))
    numbers = [int(n) for n in _CITED.findall(text)]
    if not numbers and _NOTHING.search(text):
        return NO_ANSWER
    if not numbers:
        raise BadInput("it does not cite its passages")
    if any(not 1 <= n <= len(texts) for n in numbers):
        raise BadInput("it cites a passage that was not shown")
    for statement in re.findall(r".+?(?:[.!?](?:\s*\[\d+\])*(?=\s|$)|$)", text):
        cited = [int(n) for n in _CITED.findall(statement)] or numbers
        missing = unsupported(_CITED.sub("", statement), [question, *(texts[n - 1] for n in cited)])
        if missing:
            raise BadInput(f"it states what its passages do not: {', '.join(missing[:3])}")
    return text


def _place(hit: Hit) -> str:
    return " › ".join((hit.title, *hit.heading))


def _prompt(question: str, hits: Sequence[Hit]) -> str:
    passages = [quoted("passage", f"{_place(hit)}\n{hit.text}", n) for n, hit in enumerate(hits, 1)]
    return "\n\n".join([*passages, quoted("query", question)])


def _extract(question: str, hits: Sequence[Hit], advice: str) -> Reply:
    """The sentence of all hits that holds most of the question; rare words count more, of equals the first."""
    analyse = analyser(LexicalOptions())
    used = [set(analyse(hit.text)) for hit in hits]

    def rarity(term: str) -> float:
        return log(1 + len(hits) / (1 + sum(term in terms for terms in used)))

    asked = {*analyse(question)}
    sentences = [_best_sentence(hit, question, rarity) for hit in hits]
    worth = [sum(rarity(term) for term in asked & set(analyse(sentence))) for sentence in sentences]
    best = worth.index(max(worth))
    return Reply(sentences[best], (hits[best],), True, advice)


def _best_sentence(hit: Hit, question: str, rarity: Callable[[str], float]) -> str:
    segments = snippet(plain(hit.text), question, LexicalOptions(), rarity).segments
    best = "".join(segment.text for segment in segments if segment.best)
    return " ".join((best or "".join(segment.text for segment in segments)).split())
