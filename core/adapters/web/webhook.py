"""One POST to a URL that an admin named: a public address, checked after it was resolved and then used as it is; no redirects."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import SplitResult, urlsplit

from core.adapters.web.http import hang_up, in_words, retry_after, short
from core.adapters.web.retries import DeadlineExceeded, with_deadline
from core.errors import BadInput
from core.types import Receipt

SECONDS = 10.0  # that an attempt may take, resolving included
_READ = 65_536  # bytes of an answer that are read and dropped
_GONE = 410


class ForbiddenAddress(Exception):
    """The name leads to an address that may not be called."""


class WebhookPoster:
    """The `Poster` port."""

    def __init__(self, private: bool = False, seconds: float = SECONDS) -> None:
        self.private, self.seconds = private, seconds

    def check(self, url: str) -> str:
        """The URL, if it can be one of a webhook; where its name leads is looked up at every attempt."""
        parts = _split(url)
        schemes = ("https", "http") if self.private else ("https",)
        if parts.scheme not in schemes or not parts.hostname or "@" in parts.netloc or parts.fragment:
            also = " (http:// needs CONCORD_WEBHOOKS_PRIVATE=yes)" if parts.scheme == "http" else ""
            raise BadInput(
                f"A webhook needs a whole address that starts with https://, without a name or password{also}."
            )
        if _literal(parts.hostname) and not (self.private or is_public(parts.hostname)):
            raise BadInput(_REFUSAL)
        return url

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Receipt:
        """One attempt; whatever goes wrong is a receipt."""
        try:
            connection = PinnedConnection(_split(self.check(url)), self._address, self.seconds)
        except BadInput as error:  # it was allowed when the webhook was added
            return Receipt("refused", 0, str(error))
        try:
            return with_deadline(self.seconds, partial(_post, connection, body, headers), connection.abandon)
        except DeadlineExceeded:
            return connection.answered or Receipt("again", 0, f"no answer within {self.seconds:g} s", reachable=False)
        except ForbiddenAddress:
            return Receipt("refused", 0, _REFUSAL)
        except ssl.SSLCertVerificationError as error:
            return Receipt("again", 0, f"its certificate is not trusted ({error.verify_message})", reachable=False)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Receipt("again", 0, f"the connection failed ({_why(error)})", reachable=False)

    def _address(self, parts: SplitResult) -> str:
        """What the name leads to; one address that may not be called is enough to call none."""
        found = socket.getaddrinfo(parts.hostname, parts.port or _port(parts), type=socket.SOCK_STREAM)
        addresses = [str(place[4][0]) for place in found]
        if not self.private and not all(map(is_public, addresses)):
            raise ForbiddenAddress
        return addresses[0]


class PinnedConnection(http.client.HTTPConnection):
    """A connection to the address that was checked, under the name that was asked for."""

    answered: Receipt | None = None  # once the status is known; the rest of an answer may take for ever

    def __init__(self, parts: SplitResult, resolve: Callable[[SplitResult], str], seconds: float) -> None:
        super().__init__(
            str(parts.hostname), parts.port or _port(parts), timeout=2 * seconds
        )  # the deadline comes first
        self.parts, self.resolve, self.abandoned = parts, resolve, False
        self.default_port = _port(parts)  # type: ignore[misc]

    def connect(self) -> None:
        self.sock = socket.create_connection((self.resolve(self.parts), self.port), self.timeout)
        if self.parts.scheme == "https":
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
        if self.abandoned:
            hang_up(self.sock)

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        self.abandoned = True
        hang_up(self.sock)


def _post(connection: PinnedConnection, body: bytes, headers: Mapping[str, str]) -> Receipt:
    parts = connection.parts
    try:
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        receipt = _receipt(answer.status, answer.getheader("Retry-After", ""))
        if not connection.abandoned:
            connection.answered = receipt
        answer.read(_READ)
        return receipt
    finally:
        connection.close()


_REFUSAL = (
    "It leads to this machine or a private network, which webhooks may not call. Whoever runs the app can allow it with"
    " CONCORD_WEBHOOKS_PRIVATE=yes."
)


def is_public(address: str) -> bool:
    """Whether an address lies in the open internet.

    >>> [is_public(a) for a in ("93.184.215.14", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1")]
    [True, False, False, False, False, False]
    >>> [is_public(a) for a in ("fe80::1%eth0", "100.64.0.1", "224.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "0.0.0.0")]
    [False, False, False, False, False, False]
    """
    number = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(number, ipaddress.IPv6Address):
        inside = number.ipv4_mapped or number.sixtofour or (number.teredo or (None, None))[1]
        if inside is not None:
            return is_public(str(inside))
        if number in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)))
    return number.is_global and not (number.is_multicast or number.is_reserved)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _receipt(status: int, after: str) -> Receipt:
    if 200 <= status < 300:
        return Receipt("sent", status)
    if status == _GONE:
        return Receipt("refused", status, "the receiver says that it is gone for good")
    words = "it leads elsewhere, and redirects are not followed" if 300 <= status < 400 else f"status {status}"
    return Receipt("again", status, words, after=retry_after(after) if status in (429, 503) else 0.0)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() and url.isascii() and " " not in url else urlsplit("")


def _port(parts: SplitResult) -> int:
    return 443 if parts.scheme == "https" else 80


def _literal(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _why(error: Exception) -> str:
    return short(in_words(error) if isinstance(error, OSError) else str(error)) or type(error).__name__
