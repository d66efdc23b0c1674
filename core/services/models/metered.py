"""Models with a cache, a budget and a ledger."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Protocol

from core import strict
from core.chunking.ruler import pieces
from core.errors import ConcordError
from core.llm.usable import usable
from core.ports import Embedder, Llm, Models, Reranker, Texts
from core.services.models.ledger import Ledger
from core.types import Answer, LlmRequest, Profile


def answer_key(model: str, request: LlmRequest) -> str:
    """The cache key: everything that shapes an answer."""
    text = [part.encode("utf-8", "replace").decode() for part in (model, request.system, request.prompt)]
    form = [request.schema, request.alternatives] if request.schema or request.alternatives else []
    return strict.digest([*text, request.max_tokens, float(request.temperature), *form], 40)


class Metered:
    """The `Llm` port around another one.

    The same question is paid for once: whoever wants another answer must ask another question, for example by
    saying what was wrong with the last one. What the check refuses is not kept, and is asked for again.
    """

    def __init__(self, llm: Llm, ledger: Ledger, answers: Texts, gate: Gate) -> None:
        self.name, self.server = llm.name, llm.server
        self._llm = llm
        self._ledger = ledger
        self._answers = answers
        self._gate = gate

    def complete(self, request: LlmRequest) -> Answer:
        """The cached answer, or a new one, recorded and cached if it passes its check."""
        self._gate.require(self.name, self.server, request.purpose)
        key = answer_key(self.name, request)
        known = _read(self._answers.get(key))
        if known and _passes(known, request):
            worth = self._ledger.reuse(request.purpose, self.name, known.input_tokens, known.output_tokens)
            return replace(known, worth=worth)
        size = len(pieces(request.system)) + len(pieces(request.prompt))
        with self._ledger.spending(request.purpose, self.name, size, request.max_tokens) as spent:
            answer = self._llm.complete(request)
            used = answer.input_tokens or size, answer.output_tokens or len(pieces(answer.text))
            spent(*used)
        if _passes(answer, request):
            self._answers.put(key, _packed(answer, *used))
        dollars = self._ledger.prices.of(self.name).of(*used)
        return replace(answer, input_tokens=used[0], output_tokens=used[1], dollars=dollars, worth=dollars)


def _passes(answer: Answer, request: LlmRequest) -> bool:
    """Whether an answer may be kept: its caller's check, or that it is usable at all."""
    try:
        _ = request.check(answer) if request.check else usable(answer, max_tokens=request.max_tokens)
    except ConcordError:
        return False
    return True


def _packed(answer: Answer, input_tokens: int, output_tokens: int) -> str:
    """What a cache holds of an answer: what the model wrote, never what it was asked."""
    tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return json.dumps(
        {"text": answer.text, "model": answer.model, **tokens, "finish": answer.finish, "first": answer.first}
    )


def _read(packed: str | None) -> Answer | None:
    """A known answer, marked as one that cost nothing this time."""
    if not packed:
        return None
    raw = json.loads(packed)
    first = tuple((token, value) for token, value in raw.pop("first", ()))
    return Answer(**raw, first=first, cached=True)


class NoCache:
    """The `Texts` port that keeps nothing."""

    def get(self, key: str) -> str | None:
        return None

    def put(self, key: str, text: str) -> None:
        """Nothing is kept."""


class AllowAll:
    """Lets every model be asked."""

    def require(self, model: str, server: str, purpose: str) -> None:
        """Nothing is refused."""


class Gate(Protocol):
    """Asked before every call whether the model may do this."""

    def require(self, model: str, server: str, purpose: str) -> None: ...


class MeteredModels:
    """The `Models` port around another one. Remote embedders are metered where they call."""

    def __init__(self, models: Models, ledger: Ledger, answers: Texts, gate: Gate) -> None:
        self._models = models
        self._ledger = ledger
        self._answers = answers
        self._gate = gate

    def embedder(self, name: str) -> Embedder:
        return self._models.embedder(name)

    def of(self, profile: Profile) -> Embedder:
        return self._models.of(profile)

    def reranker(self, name: str) -> Reranker:
        return self._models.reranker(name)

    def probed(self, name: str = "") -> Llm:
        """A model for its probes: paid for and recorded, but always asked anew, and whether or not it is fit."""
        return Metered(self._models.llm(name), self._ledger, NoCache(), AllowAll())

    def llm(self, name: str = "") -> Llm:
        return Metered(self._models.llm(name), self._ledger, self._answers, self._gate)
