"""One POST to a URL that an admin named: a public address, checked after it was resolved and then used as it is; no
redirects.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

from core.adapters.web.http import cause, client_options, hang_up, retry_after, why_failed
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
        literal = _literal(parts.hostname)
        if not literal and _ENDS_IN_NUMBER.search(parts.hostname):
            raise BadInput(f"{parts.hostname} is not a name. Write an IPv4 address as four decimal numbers.")
        if literal and not (self.private or is_public(parts.hostname)):
            raise BadInput(_REFUSAL)
        return url

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Receipt:
        """One attempt; whatever goes wrong is a receipt."""
        import httpx2

        try:
            call = PinnedCall(_split(self.check(url)), self._address, self.seconds)
        except BadInput as error:  # it was allowed when the webhook was added
            return Receipt("refused", 0, str(error))
        try:
            return with_deadline(self.seconds, partial(call.post, body, headers), call.abandon)
        except DeadlineExceeded:
            return call.answered or Receipt("again", 0, f"no answer within {self.seconds:g} s", reachable=False)
        except ForbiddenAddress:
            return Receipt("refused", 0, _REFUSAL)
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            if isinstance(cause(error), ssl.SSLCertVerificationError):
                return Receipt("again", 0, why_failed(error), reachable=False)
            return Receipt("again", 0, f"the connection failed ({why_failed(error)})", reachable=False)

    def _address(self, parts: SplitResult) -> str:
        """What the name leads to; one address that may not be called is enough to call none."""
        found = socket.getaddrinfo(parts.hostname, parts.port or _port(parts), type=socket.SOCK_STREAM)
        addresses = [str(place[4][0]) for place in found]
        if not self.private and not all(map(is_public, addresses)):
            raise ForbiddenAddress
        return addresses[0]


class PinnedCall:
    """A POST to the address that was checked, under the name that was asked for; no proxy resolves it again."""

    answered: Receipt | None = None  # once the status is known; the rest of an answer may take for ever
    abandoned = False
    _socket: socket.socket | None = None

    def __init__(self, parts: SplitResult, resolve: Callable[[SplitResult], str], seconds: float) -> None:
        self.parts, self.resolve, self.seconds = parts, resolve, seconds

    def post(self, body: bytes, headers: Mapping[str, str]) -> Receipt:
        import httpx2

        url = httpx2.URL(self.parts.geturl()).copy_with(host=self.resolve(self.parts))
        options = client_options(self.parts.geturl(), 2 * self.seconds)  # the deadline comes first
        sent = {**headers, "Host": self.parts.netloc}
        pinned = {"sni_hostname": self.parts.hostname, "trace": self._trace}
        with (
            httpx2.Client(**options, trust_env=False) as client,
            client.stream("POST", url, content=body, headers=sent, extensions=pinned) as answer,
        ):
            receipt = _receipt(answer.status_code, answer.headers.get("Retry-After", ""))
            if not self.abandoned:
                self.answered = receipt
            _drop(answer.iter_raw())
            return receipt

    def _trace(self, event: str, told: Mapping[str, Any]) -> None:
        """Keeps the socket of the connection, to hang up on it."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = told["return_value"].get_extra_info("socket")
            if self.abandoned:
                hang_up(self._socket)

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        self.abandoned = True
        hang_up(self._socket)


def _drop(parts: Iterable[bytes]) -> None:
    """Read the beginning of an answer, so that the receiver may finish it."""
    size = 0
    for part in parts:
        size += len(part)
        if size >= _READ:
            return


_REFUSAL = (
    "It leads to this machine or a private network, which webhooks may not call. Whoever runs the app can allow it with"
    " CONCORD_WEBHOOKS_PRIVATE=yes."
)


def is_public(address: str) -> bool:
    """Whether an address lies in the open internet.

    >>> [is_public(a) for a in ("93.184.215.14", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1")]
    [True, False, False, False, False, False]
    >>> [
    ...     is_public(a)
    ...     for a in ("fe80::1%eth0", "100.64.0.1", "224.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "0.0.0.0")
    ... ]
    [False, False, False, False, False, False]
    >>> [
    ...     is_public(a)
    ...     for a in ("fec0::1", "3fff::1", "2001:db8::1", "::10.0.0.1", "192.0.0.8", "192.88.99.1", "240.0.0.1")
    ... ]
    [False, False, False, False, False, False, False]
    """
    number = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(number, ipaddress.IPv6Address):
        inside = number.ipv4_mapped or number.sixtofour or (number.teredo or (None, None))[1]
        if inside is not None:
            return is_public(str(inside))
        if number in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)))
    if any(number in network for network in _NOT_HOSTS):
        return False
    return number.is_global and not (number.is_multicast or number.is_reserved)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What `is_global` lets through: protocol assignments, relays of 6to4, addresses of one site, and those for
# documentation.
_NOT_HOSTS = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "3fff::/20")))
_ENDS_IN_NUMBER = re.compile(r"(^|\.)(\d+|0x[\da-f]*)\.?$")  # resolvers read 0177.0.0.1, 0x7f.1 and 127.1 as addresses


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
