"""A model endpoint on loopback that speaks OpenAI's chat and embeddings and Bedrock's Converse and invoke-model.

What it says is scripted: answers in order (the last one is repeated), and faults that meet the next calls.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote

from tests.conftest import HashEmbedder, Mirror

Say = str | Callable[[str], str]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one call."""

    status: int = 200
    after: str = ""  # a Retry-After header
    seconds: float = 0.0  # how long nothing is said
    raw: bytes | None = None  # a body instead of the proper one
    message: str = ""
    drip: bool = False  # the body comes byte by byte
    hang_up: bool = False  # the connection is closed without a word
    short: int = 0  # bytes that are announced and never come


def throttled(after: str = "") -> Fault:
    return Fault(429, after, message="Too many requests, please wait.")


def slow(seconds: float) -> Fault:
    return Fault(seconds=seconds)


def refused(status: int, message: str) -> Fault:
    return Fault(status, message=message)


BROKEN, GARBLED, SILENT, DRIPPING = (
    Fault(500, message="Internal error."),
    Fault(raw=b'{"choices": [{"mess'),
    Fault(hang_up=True),
    Fault(drip=True),
)


@dataclass
class Seen:
    """One call as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ScriptedServer:
    """Use it as a context manager; `url` is its address."""

    answers: list[Say] = field(default_factory=lambda: ["yes"])
    faults: list[Fault] = field(default_factory=list)
    seconds: float = 0.0  # how long every call takes
    dimension: int = 64
    limit: int = 10_000  # words an embedding may have; longer ones are refused
    finish: str = "stop"  # why answers end
    first: tuple[tuple[str, float], ...] = ()  # log-probabilities of the first token, where they are asked for
    plain: bool = False  # refuses response_format
    mirror: Mirror = field(default_factory=Mirror)
    seen: list[Seen] = field(default_factory=list)
    busy: int = 0
    most_busy: int = 0

    def __enter__(self) -> ScriptedServer:
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def arrive(self, seen: Seen) -> Fault:
        with self._lock:
            self.seen.append(seen)
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            return self.faults.pop(0) if self.faults else Fault()

    def leave(self) -> None:
        with self._lock:
            self.busy -= 1

    def say(self, prompt: str) -> str:
        return self.mirror.answer(prompt, self._next)

    def _next(self, prompt: str) -> str:
        with self._lock:
            said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return said if isinstance(said, str) else said(prompt)

    def reply(self, seen: Seen) -> tuple[int, dict[str, Any]]:
        """Status and body for a well-formed call; a malformed one is refused as the real endpoints refuse it."""
        body = seen.body
        if seen.path.endswith("/chat/completions"):
            if self.plain and "response_format" in body:
                return 400, {"error": {"message": "Unrecognized request argument supplied: response_format"}}
            return 200, self._chat(body["messages"], "logprobs" in body)
        if seen.path.endswith("/embeddings"):
            return self._embeddings(body["input"], body.get("dimensions", self.dimension))
        if seen.path.startswith("/model/") and seen.path.endswith("/converse"):
            return 200, self._converse(body["messages"])
        if seen.path.startswith("/model/") and seen.path.endswith("/invoke"):
            status, made = self._embeddings([body["inputText"]], body["dimensions"])
            if status != 200:
                return status, {"message": made["error"]["message"]}
            return 200, {
                "embedding": made["data"][0]["embedding"],
                "inputTextTokenCount": made["usage"]["total_tokens"],
            }
        return 404, {"error": {"message": "no such path"}}

    def _chat(self, messages: list[dict[str, str]], logprobs: bool) -> dict[str, Any]:
        text = self.say(messages[-1]["content"])
        used = {
            "prompt_tokens": sum(len(m["content"].split()) for m in messages),
            "completion_tokens": len(text.split()),
        }
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}, "finish_reason": self.finish}
        if logprobs and self.first:
            rows = [{"token": token, "logprob": value} for token, value in self.first]
            choice["logprobs"] = {"content": [{"token": text, "top_logprobs": rows}]}
        return {"choices": [choice], "usage": used}

    def _converse(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        asked = messages[-1]["content"][0]["text"]
        text = self.say(asked)
        used = {"inputTokens": len(asked.split()), "outputTokens": len(text.split())}
        return {
            "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
            "stopReason": "max_tokens" if self.finish == "length" else "end_turn",
            "usage": {**used, "totalTokens": sum(used.values())},
            "metrics": {"latencyMs": 1},
        }

    def _embeddings(self, texts: list[str], dimension: int) -> tuple[int, dict[str, Any]]:
        """Three times the unit vector: whoever wants unit vectors must make them. Rows come in no order."""
        if any(not text.strip() or len(text.split()) > self.limit for text in texts):
            return 400, {"error": {"message": "An input is empty or over the limit."}}
        model = HashEmbedder()
        model.dimension = dimension
        rows = [{"index": n, "embedding": [3 * float(x) for x in model.query(text)]} for n, text in enumerate(texts)]
        return 200, {"data": rows[::-1], "usage": {"total_tokens": sum(len(text.split()) for text in texts)}}


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            seen = Seen(unquote(self.path), dict(self.headers), json.loads(raw))
            fault = server.arrive(seen)
            time.sleep(fault.seconds or server.seconds)
            server.leave()  # before the answer: whoever has it may call again before this thread goes on
            try:
                if fault.hang_up:
                    self.close_connection = True
                    return
                self._answer(seen, fault)
            except (BrokenPipeError, ConnectionResetError):
                pass

        def _answer(self, seen: Seen, fault: Fault) -> None:
            if fault.status != 200:
                status, body = fault.status, {"error": {"message": fault.message}, "message": fault.message}
            else:
                status, body = server.reply(seen)
            raw = json.dumps(body).encode() if fault.raw is None else fault.raw
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw) + fault.short))
            self.close_connection = bool(fault.short)
            if fault.after:
                self.send_header("Retry-After", fault.after)
            if status == 429:
                self.send_header("x-amzn-ErrorType", "ThrottlingException")
            if status >= 300 and status < 400:
                self.send_header("Location", fault.message)
            self.end_headers()
            for byte in [raw[n : n + 1] for n in range(len(raw))] if fault.drip else [raw]:
                self.wfile.write(byte)
                self.wfile.flush()
                time.sleep(0.3 if fault.drip else 0)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    return Handler
