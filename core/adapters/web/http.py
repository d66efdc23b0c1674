"""HTTP out of this house: how every client is made, and JSON in one attempt, bounded in time and size.

Redirects of a call with a key are not followed: they would carry it along.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.adapters.web.retries import DeadlineExceeded, Retryable
from core.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from httpx2 import Response

LARGEST = 64 * 2**20  # bytes of an answer
_PASSES = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class Status(Exception):
    """The endpoint refused, and a retry would not help."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"status {code}{': ' if message else ''}{message}")
        self.code, self.message = code, message


def check_url(url: str, variable: str) -> str:
    """The URL without its last slash; one with a password in it is refused and not repeated.

    >>> check_url("http://localhost:11434/v1/", "CONCORD_OPENAI_URL")
    'http://localhost:11434/v1'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise BadInput(
            f"{variable} must look like https://api.example.org/v1, without a name, password or query in it."
        )
    return url.rstrip("/")


_WORDS: tuple[tuple[type[OSError], str], ...] = (
    (ConnectionRefusedError, "nothing listens at that host and port"),
    (ConnectionResetError, "the other side cut the connection"),
    (ConnectionAbortedError, "the connection was cut"),
    (BrokenPipeError, "the other side cut the connection"),
    (socket.gaierror, "no host of that name was found"),
    (ssl.SSLError, "no encrypted connection could be made; the other side may not speak TLS there"),
    (TimeoutError, "no answer in time"),
)


def in_words(error: OSError) -> str:
    """Why a connection failed, without the system's numbers and file names.

    >>> in_words(ConnectionRefusedError(111, "Connection refused"))
    'nothing listens at that host and port'
    >>> in_words(OSError(113, "No route to host"))
    'no route to host'
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    known = next((words for kind, words in _WORDS if isinstance(error, kind)), "")
    said = error.strerror or str(error) or type(error).__name__
    return known or f"{said[:1].lower()}{said[1:]}"


def hang_up(sock: socket.socket | None) -> None:
    """End a connection without a word; whoever still waits on it is woken."""
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def is_local(url: str) -> bool:
    """Whether a URL stays on this machine.

    >>> is_local("http://127.0.0.1:8080/v1"), is_local("https://api.example.org/v1")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))


def redact(text: str, secrets: Iterable[str]) -> str:
    """A text without the secrets that an endpoint may have echoed.

    >>> redact("no such key: sk-1234", ["sk-1234", ""])
    'no such key: ***'
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text


def client_options(url: str, seconds: float) -> dict[str, Any]:
    """What every HTTP client of the house is made with. Proxies are those of the environment.

    For a plain address no certificates are read, which takes 15 ms; none is trusted then.
    """
    tls = ssl.create_default_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    headers = {"User-Agent": "concord", "Accept-Encoding": "identity"}
    return {"verify": tls, "timeout": seconds, "headers": headers, "follow_redirects": False}


def get(url: str, seconds: float, largest: int = LARGEST) -> Any:
    """JSON from an address; it may lead elsewhere. Raises as `post` does."""
    return _asked("GET", url, seconds, largest, follow_redirects=True)


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str], seconds: float) -> Any:
    """Send JSON, get JSON. Raises Retryable, DeadlineExceeded or Status; an unusable answer is Unavailable, as it was
    paid for.
    """
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return _asked("POST", url, seconds, content=raw, headers={"Content-Type": "application/json", **headers})


def _asked(method: str, url: str, seconds: float, largest: int = LARGEST, **sent: Any) -> Any:
    import httpx2

    deadline = time.monotonic() + seconds
    try:
        with (
            httpx2.Client(**client_options(url, seconds)) as client,
            client.stream(method, url, **sent) as response,
        ):
            if response.is_success:
                return _json(_read(response, deadline, largest), url)
            raise refusal(response.status_code, _message(response, deadline), response.headers.get("Retry-After", ""))
    except httpx2.TimeoutException:
        raise DeadlineExceeded from None
    except httpx2.ConnectError as error:
        raise Retryable(f"it cannot be reached ({why_failed(error)})") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Retryable(f"the connection broke ({type(error).__name__})") from None


def cause(error: BaseException) -> OSError | None:
    """The system's own error behind one of the HTTP client."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, OSError):
        behind = behind.__cause__ or behind.__context__
    return behind


def why_failed(error: Exception) -> str:
    """Why a call failed, in a few words."""
    system = cause(error)
    return short(in_words(system) if system else str(error)) or type(error).__name__


def refusal(code: int, message: str, after: str) -> Exception:
    """Retryable or final, by the status."""
    if code in _PASSES:
        return Retryable(f"status {code}", retry_after(after), throttled=code in (429, 529))
    return Status(code, message)


def retry_after(header: str, now: datetime | None = None) -> float:
    """A Retry-After header, in seconds or as a date; 0 when there is none.

    >>> retry_after("3"), retry_after(""), retry_after("soon")
    (3.0, 0.0, 0.0)
    >>> retry_after("Sun, 15 Nov 2026 10:00:05 GMT", datetime(2026, 11, 15, 10, tzinfo=UTC))
    5.0
    """
    if re.fullmatch(r"\d{1,9}(\.\d+)?", header.strip()):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - (now or datetime.now(UTC))).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def _read(response: Response, deadline: float, largest: int) -> bytes:
    """The whole body, within the deadline and the size."""
    parts, size = [], 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise DeadlineExceeded
        if size > largest:
            raise Unavailable(f"{response.url.host} answered with more than {largest >> 20} MiB.")
    return b"".join(parts)


def _json(raw: bytes, url: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise Unavailable(f"{urlsplit(url).hostname} answered with something that is not JSON.") from None


def _message(response: Response, deadline: float) -> str:
    """The endpoint's error message, if it sent one."""
    import httpx2

    try:
        raw = json.loads(_read(response, deadline, LARGEST))
        error_body = raw.get("error", raw)
        return short(str(error_body.get("message", "") if isinstance(error_body, dict) else error_body))
    except (DeadlineExceeded, Unavailable, httpx2.HTTPError, ValueError, AttributeError, RecursionError):
        return ""


def short(text: str) -> str:
    """What the other side said in one line that every database takes.

    >>> short("no\\x00 such  \\n\\ud800key")
    'no such key'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:200]
