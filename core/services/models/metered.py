"""Models with a cache, a budget and a ledger."""

from __future__ import annotations

import json
from dataclasses import replace

from core import strict
from core.chunking.ruler import pieces
from core.ports import Embedder, Llm, Models, Reranker, Texts
from core.services.models.ledger import Ledger
from core.types import Answer, Profile


def answer_key(model: str, system: str, prompt: str, max_tokens: int, temperature: float) -> str:
    """The cache key: everything that shapes an answer."""
    text = [part.encode("utf-8", "replace").decode() for part in (model, system, prompt)]
    return strict.digest([*text, max_tokens, float(temperature)], 40)


class Metered:
    """The `Llm` port around another one.

    The same question is paid for once: whoever wants another answer must ask another question, for example by
    saying what was wrong with the last one.
    """

    def __init__(self, llm: Llm, ledger: Ledger, answers: Texts) -> None:
        self.name, self._llm, self._ledger, self._answers = llm.name, llm, ledger, answers

    def complete(
        self, prompt: str, *, purpose: str, system: str = "", max_tokens: int = 1000, temperature: float = 0.0
    ) -> Answer:
        """The cached answer, or a new one, recorded and cached."""
        key = answer_key(self.name, system, prompt, max_tokens, temperature)
        known = _read(self._answers.get(key))
        if known:
            self._ledger.reuse(purpose, self.name, known.input_tokens, known.output_tokens)
            return known
        size = len(pieces(system)) + len(pieces(prompt))
        with self._ledger.spending(purpose, self.name, size, max_tokens) as spent:
            answer = self._llm.complete(
                prompt, purpose=purpose, system=system, max_tokens=max_tokens, temperature=temperature
            )
            used = answer.input_tokens or size, answer.output_tokens or len(pieces(answer.text))
            spent(*used)
        if answer.text.strip():
            self._answers.put(key, _packed(answer, *used))
        dollars = self._ledger.prices.of(self.name).of(*used)
        return replace(answer, input_tokens=used[0], output_tokens=used[1], dollars=dollars)


def _packed(answer: Answer, input_tokens: int, output_tokens: int) -> str:
    """What a cache holds of an answer: what the model wrote, never what it was asked."""
    tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return json.dumps({"text": answer.text, "model": answer.model, **tokens})


def _read(packed: str | None) -> Answer | None:
    """A known answer, marked as one that cost nothing this time."""
    return Answer(**json.loads(packed), cached=True) if packed else None


class MeteredModels:
    """The `Models` port around another one. Remote embedders are metered where they call."""

    def __init__(self, models: Models, ledger: Ledger, answers: Texts) -> None:
        self._models, self._ledger, self._answers = models, ledger, answers

    def embedder(self, name: str) -> Embedder:
        return self._models.embedder(name)

    def of(self, profile: Profile) -> Embedder:
        return self._models.of(profile)

    def reranker(self, name: str) -> Reranker:
        return self._models.reranker(name)

    def llm(self, name: str = "") -> Llm:
        return Metered(self._models.llm(name), self._ledger, self._answers)
