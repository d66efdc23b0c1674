"""Any endpoint with OpenAI's chat and embeddings API: OpenAI, Azure, vLLM, Ollama, LM Studio, LiteLLM."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from core.adapters.web.http import Status, check_url, post, redact
from core.adapters.web.remote_embedder import Card, RemoteEmbedder, read_card
from core.adapters.web.retries import RetryingClient
from core.errors import BadInput, Unavailable
from core.ports import Meter
from core.types import Answer, LlmRequest

CARDS: Mapping[str, Card] = {
    "text-embedding-3-small": Card(1536, 8191),
    "text-embedding-3-large": Card(3072, 8191),
    "text-embedding-ada-002": Card(1536, 8191),
    "nomic-embed-text": Card(768, 2048, prefix="search_query: ", opening="search_document: "),
    "mxbai-embed-large": Card(1024, 512, prefix="Represent this sentence for searching relevant passages: "),
    "bge-m3": Card(1024, 8192),
    "all-minilm": Card(384, 256),
}  # anything else: 512 tokens, and the dimension is asked of the endpoint


THINKING = 2000  # tokens added to a limit for a model that thinks before it answers


@dataclass(slots=True)
class Dialect:
    """What a model was found to want; learned from its first answers and remembered for the next."""

    newer: bool = False  # max_completion_tokens instead of max_tokens
    fixed: bool = False  # no temperature
    free: bool = False  # no response_format
    silent: bool = False  # no log-probabilities
    thinks: bool = False  # needs room for thoughts


class Endpoint:
    """One URL with its key. No exception it raises contains the key."""

    def __init__(self, url: str, key: str, timeout: float, concurrency: int) -> None:
        self.url, self._key = check_url(url, "CONCORD_OPENAI_URL"), key
        self.host = urlsplit(self.url).hostname or ""
        self.retrying = RetryingClient(f"The model endpoint {self.host}", timeout, concurrency)
        self.dialects: defaultdict[str, Dialect] = defaultdict(Dialect)

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
        self.server, self._dialect = endpoint.url, endpoint.dialects[name]

    def complete(self, request: LlmRequest) -> Answer:
        """Ask once, and again in the form that the model wants. The check is the caller's."""
        if not request.prompt.strip():
            raise BadInput("The prompt is empty.")
        started, used = time.perf_counter(), (0, 0)
        for _ in range(6):
            body = self._body(request)
            try:
                raw = self._endpoint.ask("chat/completions", body)
            except Status as error:
                self._learn(error, body)
                continue
            answer = self._answer(raw, used, time.perf_counter() - started)
            if not self._was_thinking(raw, answer) or request.alternatives:
                return answer
            used = answer.input_tokens, answer.output_tokens
        raise Unavailable(f"{self.name} accepts neither max_tokens nor max_completion_tokens.")

    def _body(self, request: LlmRequest) -> dict[str, Any]:
        dialect = self._dialect
        limit = request.max_tokens + (THINKING if dialect.thinks or dialect.newer else 0)
        first = [{"role": "system", "content": request.system}] if request.system else []
        messages = [*first, {"role": "user", "content": request.prompt}]
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        body["max_completion_tokens" if dialect.newer else "max_tokens"] = limit
        if not dialect.fixed:
            body["temperature"] = request.temperature
        if request.schema and not dialect.free:
            named = {"name": request.purpose.replace(" ", "_"), "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.alternatives and not dialect.silent:
            body |= {"logprobs": True, "top_logprobs": request.alternatives}
        return body

    def _learn(self, error: Status, body: Mapping[str, Any]) -> None:
        """An endpoint refuses what it does not know with 400 or 422, and most name it."""
        dialect, said = self._dialect, error.message
        if error.code not in (400, 422):
            raise Unavailable(f"{self.name} refused the call with {error}.")
        if "max_completion_tokens" in said and not dialect.newer:
            dialect.newer = True
        elif "temperature" in said and not dialect.fixed:
            dialect.fixed = True
        elif "logprobs" in body and ("logprobs" in said or "response_format" not in body):
            dialect.silent = True
        elif "response_format" in body:
            dialect.free = True
        else:
            raise Unavailable(f"{self.name} refused the call with {error}.")

    def _was_thinking(self, raw: Any, answer: Answer) -> bool:
        """Whether an answer ended in the middle of thoughts; from then on the model gets room for them."""
        message = raw["choices"][0]["message"]
        thoughts = bool(message.get("reasoning_content") or message.get("reasoning"))
        opened = answer.text.count("<think>") > answer.text.count("</think>")
        if answer.finish != "length" or self._dialect.thinks or not (opened or (thoughts and not answer.text.strip())):
            return False
        self._dialect.thinks = True
        return True

    def _answer(self, raw: Any, before: tuple[int, int], seconds: float) -> Answer:
        try:
            choice = raw["choices"][0]
            text, refusal = choice["message"].get("content") or "", choice["message"].get("refusal")
            used = raw.get("usage") or {}
            counts = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
            finish = "refusal" if refusal else str(choice.get("finish_reason") or "")
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise Unavailable(f"{self.name} answered without a message.") from None
        totals = counts[0] + before[0], counts[1] + before[1]
        return Answer(text, self.name, *totals, seconds=seconds, finish=finish, first=_first(choice))


def _first(choice: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """The alternatives for the first token; none where the endpoint does not give them."""
    try:
        rows = choice["logprobs"]["content"][0]["top_logprobs"]
        return tuple((str(row["token"]), float(row["logprob"])) for row in rows)
    except (KeyError, IndexError, TypeError, ValueError):
        return ()


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
