"""Mail over SMTP, by STARTTLS or implicit TLS with the certificate checked. One letter is bounded in time."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from email.utils import parseaddr
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from core.adapters.web.http import hang_up, in_words, is_local, redact, short
from core.adapters.web.retries import DeadlineExceeded, with_deadline
from core.errors import BadInput
from core.types import Receipt

SECONDS = 30.0  # that a letter may take, connecting included
_PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where letters are handed in, and how."""

    host: str
    port: int
    tls: str  # starttls, implicit or none
    user: str = ""
    password: str = field(default="", repr=False)


def parse_server(url: str, password: str = "") -> SmtpServer:
    """A URL as a server; plain text is for a relay on this machine alone, and carries no password.

    >>> parse_server("smtps://ann%40example.org:secret@mail.example.org").port
    465
    >>> parse_server("smtp://mail.example.org").tls, parse_server("smtp://localhost:25?tls=none").tls
    ('starttls', 'none')
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise BadInput("CONCORD_SMTP_URL must look like smtp://user@mail.example.org:587 or smtps://mail.example.org.")
    plain = parse_qs(parts.query) == {"tls": ["none"]}
    user, secret = unquote(parts.username or ""), password or unquote(parts.password or "")
    if (parts.query and not plain) or (
        plain and (user or parts.scheme == "smtps" or not is_local(f"//{parts.netloc}"))
    ):
        raise BadInput("CONCORD_SMTP_URL: tls=none is only for smtp:// to a relay on this machine, without a user.")
    tls = "implicit" if parts.scheme == "smtps" else "starttls"
    tls = "none" if plain else tls
    return SmtpServer(parts.hostname, port, tls, user, secret)


class SmtpMailer:
    """The `Mailer` port."""

    def __init__(
        self, server: SmtpServer, sender: str, name: str, certificates: Path | None = None, seconds: float = SECONDS
    ) -> None:
        self.server = server
        self.sender = parseaddr(sender)[1]
        self.name = name
        self.seconds = seconds
        self.certificates = certificates
        if "@" not in self.sender:
            raise BadInput("CONCORD_SMTP_FROM must hold an address, such as Concord <concord@example.org>.")

    @contextmanager
    def connected(self) -> Iterator[Callable[[EmailMessage], Receipt]]:
        """A function that hands in letters; it connects at the first one, and again after a connection broke."""
        connection = SmtpConnection(self)
        try:
            yield connection.send
        finally:
            connection.close()

    def refusal(self) -> str:
        """Why no letter can be handed in, "" where the server lets this one in; none is sent."""
        line = SmtpLine(self)
        try:
            with_deadline(self.seconds, line._greet, line.abandon)
        except DeadlineExceeded:
            return f"no answer within {self.seconds:g} s"
        except (smtplib.SMTPException, OSError, ValueError) as error:
            return redact(explained(error).note, [self.server.password])
        finally:
            line.drop()
        return ""


class SmtpConnection:
    """One connection for several letters; after it broke, a new one."""

    _line: SmtpLine | None = None

    def __init__(self, mailer: SmtpMailer) -> None:
        self.mailer, self._stumbled = mailer, False

    def send(self, letter: EmailMessage) -> Receipt:
        """Hand in a letter; whatever goes wrong is a receipt.

        A server that was greeted and then breaks off may mind this letter alone: only the second in a row counts as
        down.
        """
        receipt = self._hand_in(letter)
        down = not receipt.reachable and (self._stumbled or not (self._line and self._line.greeted))
        self._stumbled = not receipt.reachable
        if self._line and not receipt.reachable:
            self._line.drop()
            self._line = None
        return replace(receipt, note=redact(receipt.note, [self.mailer.server.password]), reachable=not down)

    def _hand_in(self, letter: EmailMessage) -> Receipt:
        try:
            line = self._line = self._line or SmtpLine(self.mailer)
            return with_deadline(self.mailer.seconds, partial(line.hand_in, letter), line.abandon)
        except DeadlineExceeded:
            return Receipt("again", 0, f"no answer within {self.mailer.seconds:g} s", reachable=False)
        except (smtplib.SMTPException, OSError, ValueError) as error:
            return explained(error)

    def close(self) -> None:
        """Say goodbye where somebody listens."""
        if self._line:
            with suppress(smtplib.SMTPException, OSError, DeadlineExceeded):
                with_deadline(2.0, self._line.smtp.quit, self._line.abandon)


class SmtpLine:
    """A connection that one thread uses, and another may give up."""

    def __init__(self, mailer: SmtpMailer) -> None:
        self.mailer, self.greeted, self.abandoned = mailer, False, False
        kind = partial(smtplib.SMTP_SSL, context=self.context) if mailer.server.tls == "implicit" else smtplib.SMTP
        self.smtp: smtplib.SMTP = kind(
            local_hostname=mailer.name, timeout=2 * mailer.seconds
        )  # the deadline comes first
        setattr(self.smtp, "_host", mailer.server.host)  # noqa: B010 - whom a certificate must name

    @cached_property
    def context(self) -> ssl.SSLContext:
        """Whom it trusts. Reading the system's certificates takes longer than a letter, so it is made where a server
        encrypts.
        """
        made = ssl.create_default_context()
        if self.mailer.certificates:
            made.load_verify_locations(self.mailer.certificates)
        return made

    def hand_in(self, letter: EmailMessage) -> Receipt:
        """Greet whoever listens, if that was not done, and hand in a letter."""
        try:
            if not self.greeted:
                self._greet()
            self.smtp.send_message(letter, self.mailer.sender, [reader.addr_spec for reader in letter["To"].addresses])
        finally:
            if self.abandoned:
                self.smtp.close()
        return Receipt("sent", 250)

    def _greet(self) -> None:
        """Connected, encrypted, signed in."""
        server = self.mailer.server
        code, words = self.smtp.connect(server.host, server.port)
        if code != 220:
            raise smtplib.SMTPConnectError(code, words)
        if server.tls == "starttls":
            self.smtp.starttls(context=self.context)
        if server.user and not self.abandoned:
            self.smtp.login(server.user, server.password)
        if self.abandoned:
            raise DeadlineExceeded
        self.greeted = True

    def abandon(self) -> None:
        """End it under the thread that uses it, which then closes it."""
        self.abandoned = True
        hang_up(self.smtp.sock)

    def drop(self) -> None:
        """Close it without a word, unless a thread still does."""
        if not self.abandoned:
            self.smtp.close()


def explained(error: Exception) -> Receipt:
    """A failure as a receipt: 5xx about a letter or its reader is final, what is wrong with the server may pass.

    >>> explained(smtplib.SMTPDataError(451, b"later")).state, explained(smtplib.SMTPDataError(554, b"no")).state
    ('again', 'refused')
    >>> explained(smtplib.SMTPAuthenticationError(535, b"who?")).state
    'again'
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, words = next(iter(error.recipients.values()))
        return Receipt("refused" if code >= 500 else "again", code, _said(words))
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return Receipt("again", error.smtp_code, f"the sign-in was refused: {_said(error.smtp_error)}", reachable=False)
    if isinstance(error, smtplib.SMTPDataError):
        return Receipt("refused" if error.smtp_code >= 500 else "again", error.smtp_code, _said(error.smtp_error))
    if isinstance(error, smtplib.SMTPResponseException):
        return Receipt("again", error.smtp_code, _said(error.smtp_error), reachable=False)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Receipt("again", 0, f"its certificate is not trusted ({error.verify_message})", reachable=False)
    if isinstance(error, smtplib.SMTPNotSupportedError) and "SMTPUTF8" in str(error):
        return Receipt("refused", 0, "the mail server takes no addresses with letters beyond ASCII")
    return Receipt("again", 0, f"the connection failed ({_said(error)})", reachable=False)


def _said(words: object) -> str:
    words = in_words(words) if isinstance(words, OSError) and not isinstance(words, smtplib.SMTPException) else words
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
    return short(text)
