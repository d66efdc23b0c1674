"""An answer from passages: every sentence cites those that bear it out, the others are withheld; else the best
extract.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from core.access import ANYONE, LEDGER, Actor, use_case
from core.analysis import analyser
from core.curation.text.markup import uncommented
from core.curation.text.render import plain
from core.errors import BadInput, OverBudget, Unavailable, Unfit, Unusable
from core.llm.asking import ModelTask, ask
from core.llm.prompt import RULE, gives_orders, quoted
from core.llm.statements import CitedSentence, statements
from core.llm.usable import content_words
from core.ports import Models
from core.retrieval.snippets import snippet
from core.services.search.searcher import Searcher
from core.types import Answer, Filters, Hit, LexicalOptions, Result

PASSAGES = 6
SYSTEM = (
    "Answer the question from the numbered passages alone, in at most five sentences. After each statement name its "
    "passage like [2]. If the passages do not answer the question, say only that. " + RULE
)
MAX_TOKENS = 400
NO_ANSWER = "The passages do not answer the question."
NOT_SAID = "The knowledge base does not say."
NOT_BORNE = "No answer could be written that the passages bear out."
_KEPT_BACK = "Not shown to the model, because they give it orders: {} of the passages."
_EXTRACT = "This is the sentence that fits best, word for word; it may not answer the question."


@dataclass(frozen=True, slots=True)
class Reply:
    """The sentences of an answer that its passages bear out, none when they do not answer; and those withheld.

    `extract` is true when no model wrote it; `advice` says why not, or what was kept from the model.
    """

    statements: tuple[CitedSentence, ...]
    passages: tuple[Hit, ...]  # what the numbers of citations mean
    withheld: tuple[CitedSentence, ...] = ()
    extract: bool = False
    advice: str = ""
    model: str = ""
    dollars: float = 0.0

    @property
    def text(self) -> str:
        """The answer in one piece, with its citations; an extract stands alone."""
        said = [statement.text if self.extract else statement.marked for statement in self.statements]
        return " ".join(said) or NO_ANSWER

    @property
    def cited(self) -> tuple[Hit, ...]:
        """The hits in the order in which they are cited."""
        numbers = dict.fromkeys(number for statement in self.statements for number in statement.cited)
        return tuple(self.passages[number - 1] for number in numbers)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What a search of the knowledge base found, and the answer from it."""

    result: Result
    reply: Reply


class Answerer:
    """Answers from hits, never from memory. `fit` refuses a model that was found unfit."""

    def __init__(
        self,
        models: Models,
        searcher: Searcher | None = None,
        fit: Callable[[str, str, str], None] = lambda model, server, purpose: None,
    ) -> None:
        self.models, self.searcher, self.fit = models, searcher, fit

    @use_case(ANYONE)
    def offered(self) -> bool:
        """Whether there is a model that may write answers."""
        try:
            llm = self.models.llm()
            self.fit(llm.name, llm.server, "ask")
        except (Unavailable, BadInput):
            return False
        return True

    @use_case("get a written answer", LEDGER)
    def answer(self, actor: Actor, query: str, filters: Filters = Filters(), as_of: str = "") -> WrittenAnswer:
        """An answer from what the search in production finds among documents in effect. Without a hit that fits, no
        model is asked; without a model, Unavailable says what to configure."""
        if self.searcher is None:
            raise Unavailable("There is no search to answer from.")
        llm = self.models.llm()
        self.fit(llm.name, llm.server, "ask")
        in_effect = replace(filters, history=False, statuses=())
        result = self.searcher.search(query, filters=in_effect, as_of=as_of)
        passages = [passage for hit in result.hits for passage in (hit, *hit.further)]
        if not passages or not result.fits:
            return WrittenAnswer(result, Reply((), ()))
        return WrittenAnswer(result, _fitting(self._written(query, passages, strict=True), query))

    @use_case("compare configurations", LEDGER)
    def ask(self, actor: Actor, question: str, hits: Sequence[Hit]) -> Reply:
        """An answer from given hits; without a model, or without a sentence that they bear out, the best extract."""
        if not hits:
            raise BadInput("This column found nothing, so there is nothing to answer from.")
        return self._written(question, hits, strict=False)

    def _written(self, question: str, hits: Sequence[Hit], strict: bool) -> Reply:
        """What a model writes; where it cannot be asked, an extract, or with `strict` the error."""
        hits = [replace(hit, text=uncommented(hit.text)) for hit in hits[:PASSAGES]]
        shown = [hit for hit in hits if not gives_orders(hit.text)]
        kept_back = min(PASSAGES, len(hits)) - len(shown)
        said = _KEPT_BACK.format(kept_back) if kept_back else ""
        if not shown:
            return _extract(question, hits[:PASSAGES], f"{said} {_EXTRACT}")
        try:
            every, answer = ask(self.models.llm(), task(question, shown))
        except (Unusable, Unfit) as error:
            return _extract(question, shown, f"{error} {_EXTRACT} {said}".strip())
        except (Unavailable, OverBudget) as error:
            if strict:
                raise
            return _extract(
                question, shown, f"{error} Configure a model to get written answers. {_EXTRACT} {said}".strip()
            )
        return _reply(question, shown, every, answer, said)


def task(question: str, shown: Sequence[Hit]) -> ModelTask[tuple[CitedSentence, ...]]:
    """What a model is asked about passages. A sentence must cite its passages and say nothing that they do not."""
    texts = [f"{_place(hit)}\n{hit.text}" for hit in shown]
    prompt = _prompt(question, shown)
    return ModelTask("ask", prompt, lambda answer: statements(answer, question, texts), SYSTEM, MAX_TOKENS)


def in_words(reply: Reply) -> str:
    """What a reply says to whoever asked the knowledge base."""
    if reply.statements:
        return reply.text
    return NOT_BORNE if reply.extract else NOT_SAID


def _fitting(reply: Reply, question: str) -> Reply:
    """Without an extract that has fewer than half of the question's words: above the hits it would pass for an
    answer.
    """
    asked = content_words(question)
    shared = asked & content_words(" ".join(statement.text for statement in reply.statements))
    return replace(reply, statements=()) if reply.extract and 2 * len(shared) < len(asked) else reply


def as_json(answer: WrittenAnswer) -> dict[str, Any]:
    """The contract of `ask --json` and of the API: sentences with citations, what was withheld and why, what it
    cost.
    """
    result, reply = answer.result, answer.reply
    return {
        "query": result.query,
        "answered": bool(reply.statements),
        "extract": reply.extract and bool(reply.statements),
        "text": in_words(reply),
        "sentences": [{"text": said.text, "citations": list(said.cited)} for said in reply.statements],
        "passages": [_passage(number, hit) for number, hit in enumerate(reply.passages, 1)],
        "withheld": [{"text": said.text, "citations": list(said.cited), "why": said.why} for said in reply.withheld],
        "advice": reply.advice,
        "model": reply.model,
        "dollars": reply.dollars,
        "confidence": round(result.confidence, 4),
        "fits": result.fits,
        "generation": result.generation,
        "commit": result.commit,
        "as_of": result.as_of,
    }


def _passage(number: int, hit: Hit) -> dict[str, Any]:
    names = ("doc", "path", "title", "chunk", "start", "end", "status", "version", "text")
    return {"number": number, **{name: getattr(hit, name) for name in names}, "heading": list(hit.heading)}


def _reply(question: str, shown: Sequence[Hit], every: Sequence[CitedSentence], answer: Answer, said: str) -> Reply:
    """The sentences that may be shown; where all are withheld, the best extract."""
    kept = tuple(statement for statement in every if not statement.why)
    withheld = tuple(statement for statement in every if statement.why)
    if withheld and not kept:
        why = f"The answer of {answer.model} was not used: {withheld[0].why}."
        extract = _extract(question, shown, f"{why} {_EXTRACT} {said}".strip())
        return replace(extract, withheld=withheld, model=answer.model, dollars=answer.dollars)
    return Reply(kept, tuple(shown), withheld, False, said, answer.model, answer.dollars)


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
    return Reply((CitedSentence(sentences[best], (1,)),), (hits[best],), extract=True, advice=advice)


def _best_sentence(hit: Hit, question: str, rarity: Callable[[str], float]) -> str:
    segments = snippet(plain(hit.text), question, LexicalOptions(), rarity).segments
    best = "".join(segment.text for segment in segments if segment.best)
    return " ".join((best or "".join(segment.text for segment in segments)).split())
