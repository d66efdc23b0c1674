"""Any endpoint with OpenAI's chat and embeddings API: OpenAI, Azure, vLLM, Ollama, LM Studio, LiteLLM."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from core.adapters.web.http import Status, check_url, post, redact
from core.adapters.web.remote import Card, RemoteEmbedder, read_card
from core.adapters.web.retries import RetryingClient
from core.errors import BadInput, Unavailable
from core.ports import Meter
from core.types import Answer

CARDS: Mapping[str, Card] = {
    "text-embedding-3-small": Card(1536, 8191),
    "text-embedding-3-large": Card(3072, 8191),
    "text-embedding-ada-002": Card(1536, 8191),
    "nomic-embed-text": Card(768, 2048, prefix="search_query: ", opening="search_document: "),
    "mxbai-embed-large": Card(1024, 512, prefix="Represent this sentence for searching relevant passages: "),
    "bge-m3": Card(1024, 8192),
    "all-minilm": Card(384, 256),
}  # anything else: 512 tokens, and the dimension is asked of the endpoint


class Endpoint:
    """One URL with its key. No exception it raises contains the key."""

    def __init__(self, url: str, key: str, timeout: float, concurrency: int) -> None:
        self.url, self._key = check_url(url, "CONCORD_OPENAI_URL"), key
        self.host = urlsplit(self.url).hostname or ""
        self.retrying = RetryingClient(f"The model endpoint {self.host}", timeout, concurrency)

    def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """One call, with retries. Raises Status where another body might succeed."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            return self.retrying.call(lambda seconds: post(f"{self.url}/{path}", body, headers, seconds))
        except Status as error:
            raise self._final(error, str(body.get("model"))) from None

    def _final(self, error: Status, model: str) -> Exception:
        if error.code in (401, 403):
            return Unavailable(f"{self.host} does not accept the key. Check CONCORD_OPENAI_KEY.")
        if error.code == 404:
            return Unavailable(
                f"{self.host} knows no model {model!r} at this address. Check the model and CONCORD_OPENAI_URL."
            )
        return Status(error.code, redact(error.message, [self._key]))


class OpenAiLlm:
    """The `Llm` port on chat completions."""

    def __init__(self, name: str, endpoint: Endpoint) -> None:
        self.name, self._model, self._endpoint = name, name.partition(":")[2], endpoint
        self._newer = self._fixed = False

    def complete(
        self, prompt: str, *, purpose: str, system: str = "", max_tokens: int = 1000, temperature: float = 0.0
    ) -> Answer:
        """Ask once, and again under the option names that the model asks for."""
        if not prompt.strip():
            raise BadInput("The prompt is empty.")
        started = time.perf_counter()
        for _ in range(3):
            try:
                raw = self._endpoint.ask("chat/completions", self._body(prompt, system, max_tokens, temperature))
                return self._answer(raw, time.perf_counter() - started)
            except Status as error:
                self._learn(error)
        raise Unavailable(f"{self.name} accepts neither max_tokens nor max_completion_tokens.")

    def _body(self, prompt: str, system: str, max_tokens: int, temperature: float) -> dict[str, Any]:
        first = [{"role": "system", "content": system}] if system else []
        body: dict[str, Any] = {"model": self._model, "messages": [*first, {"role": "user", "content": prompt}]}
        body["max_completion_tokens" if self._newer else "max_tokens"] = max_tokens
        return body if self._fixed else {**body, "temperature": temperature}

    def _learn(self, error: Status) -> None:
        """Reasoning models refuse `max_tokens` and `temperature`, and their error says what they want."""
        if error.code == 400 and "max_completion_tokens" in error.message and not self._newer:
            self._newer = True
        elif error.code == 400 and "temperature" in error.message and not self._fixed:
            self._fixed = True
        else:
            raise Unavailable(f"{self.name} refused the call with {error}.")

    def _answer(self, raw: Any, seconds: float) -> Answer:
        try:
            text = raw["choices"][0]["message"]["content"] or ""
            used = raw.get("usage") or {}
            counts = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise Unavailable(f"{self.name} answered without a message.") from None
        return Answer(text, self.name, *counts, seconds=seconds)


def embedder(name: str, endpoint: Endpoint, meter: Meter) -> RemoteEmbedder:
    """An embedder by its name in a profile: `openai:MODEL`, with options after a question mark."""
    model = name.partition(":")[2].partition("?")[0]
    known = CARDS.get(model, Card())
    card = read_card(name, known)
    shorter = {"dimensions": card.dimension} if known.dimension and card.dimension != known.dimension else {}

    def send(texts: Sequence[str]) -> tuple[list[list[float]], int]:
        try:
            raw = endpoint.ask("embeddings", {"model": model, "input": list(texts), **shorter})
        except Status as error:
            raise Unavailable(f"{name} refused the call with {error}.") from None
        return _vectors(raw, name)

    return RemoteEmbedder(name, card, send, meter, endpoint.retrying.concurrency)


def _vectors(raw: Any, name: str) -> tuple[list[list[float]], int]:
    try:
        rows = [row["embedding"] for row in sorted(raw["data"], key=lambda row: int(row["index"]))]
        return rows, int((raw.get("usage") or {}).get("total_tokens") or 0)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unavailable(f"{name} answered without vectors.") from None
