"""Real receivers on the loopback: a mail server with TLS and sign-in, and an HTTP receiver; both fail as a test
scripts them.
"""

from __future__ import annotations

import asyncio
import datetime
import email
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

USER, SECRET = "concord", "s3cret word"


def certificate(folder: Path, days: int = 2, authority: Path | None = None) -> Path:
    """A certificate for the loopback, with its key in one file; it ends in so many days. Self-made, or by the
    authority in a file.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server" if authority else "localhost")])
    places = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(x509.load_pem_x509_certificate(authority.read_bytes()).subject if authority else name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=9))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(places), critical=False)
        .add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
        .sign(_signer(authority) if authority else key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / ("signed.pem" if authority else "certificate.pem")
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


def _signer(authority: Path) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return load_pem_private_key(authority.read_bytes(), None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class MailServer:
    """Letters that arrived, and what happens to the next ones: a reply such as "451 later", or hang, drop, lost, keep.

    `lost` takes the letter and drops the connection without saying so; `keep` takes it and says nothing until `go` is
    set.
    """

    faults: list[str] = field(default_factory=list)
    choose: Callable[[], str] = lambda: ""  # where no fault is scripted
    letters: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)  # the same letters as they came
    readers: list[list[str]] = field(default_factory=list)  # of the envelopes
    bounces: dict[str, str] = field(default_factory=dict)  # address to the reply that it gets, or hang
    attempts: int = 0
    went: dict[str, int] = field(default_factory=dict)  # what became of the attempts
    go: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        reply = self.bounces.get(address, "250 OK")
        if reply == "hang":
            await asyncio.sleep(60)
        envelope.rcpt_tos += [address] if reply.startswith("2") else []
        return reply

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        fault = self.faults.pop(0) if self.faults else self.choose()
        self.attempts += 1
        self.went[fault or "250"] = self.went.get(fault or "250", 0) + 1
        if fault in ("", "lost", "keep"):
            self.raw.append(envelope.content)
            self.readers.append(envelope.rcpt_tos)
            self.letters.append(email.message_from_bytes(envelope.content, policy=default))  # type: ignore[arg-type]
        if fault == "hang":
            await asyncio.sleep(60)
        while fault == "keep" and not self.go.is_set():
            await asyncio.sleep(0.02)
        if fault in ("drop", "lost"):
            server.transport.abort()
        return fault if fault[:1].isdigit() else "250 taken"

    @property
    def ids(self) -> list[str]:
        return [letter["Message-ID"] for letter in self.letters]

    def to(self, address: str) -> list[EmailMessage]:
        return [letter for letter in self.letters if address in letter["To"]]


def _signed_in(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    given = (data.login.decode(), data.password.decode()) if isinstance(data, LoginPassword) else ("", "")
    return AuthResult(success=given == (USER, SECRET), handled=False)


@contextmanager
def mail_server(pem: Path | None = None, *, implicit: bool = False, utf8: bool = True) -> Iterator[MailServer]:
    """A server that wants STARTTLS and a sign-in where it has a certificate, implicit TLS if so asked, else plain
    text.
    """
    held, port, options = MailServer(), free_port(), {}
    if pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        options = {"authenticator": _signed_in, "auth_required": True}
        options |= (
            {"ssl_context": context, "auth_require_tls": False}
            if implicit
            else {"tls_context": context, "require_starttls": True}
        )
    controller = Controller(held, hostname="127.0.0.1", port=port, enable_SMTPUTF8=utf8, **options)
    controller.start()
    account = f"{USER}:{SECRET.replace(' ', '%20')}@" if pem else ""
    held.url = f"{'smtps' if implicit else 'smtp'}://{account}127.0.0.1:{port}{'' if pem else '?tls=none'}"
    try:
        yield held
    finally:
        held.go.set()
        controller.stop()


@dataclass
class Post:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Requests that arrived, and what the next ones are answered with: a status, or hang, drop, lost.

    `lost` counts as taken, and the connection ends without an answer.
    """

    faults: list[int | str] = field(default_factory=list)
    choose: Callable[[], int | str] = lambda: 200
    headers: dict[str, str] = field(default_factory=dict)  # of answers
    posts: list[Post] = field(default_factory=list)
    taken: list[Post] = field(default_factory=list)
    went: dict[str, int] = field(default_factory=dict)
    seconds: float = 60.0  # that it hangs
    url: str = ""


@contextmanager
def receiver(*faults: int | str, pem: Path | None = None) -> Iterator[Receiver]:
    """An HTTP receiver, by TLS where it has a certificate."""
    held, lock = Receiver(list(faults)), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            post = Post(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            with lock:
                held.posts.append(post)
                fault = held.faults.pop(0) if held.faults else held.choose()
                held.went[str(fault)] = held.went.get(str(fault), 0) + 1
                if fault == "lost" or (isinstance(fault, int) and fault < 300):
                    held.taken.append(post)
            if fault == "hang":
                time.sleep(held.seconds)
            if isinstance(fault, str):
                self.close_connection = True
                return
            self.send_response(fault)
            for name, value in held.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Tests look at what arrived."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    held.url = f"http{'s' if pem else ''}://127.0.0.1:{server.server_address[1]}/hook"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Dripping:
    """What came of a receiver that takes a connection and then says little: how many called, and how many hung up."""

    called: int = 0
    hung_up: int = 0
    url: str = ""


@contextmanager
def dripping(text: bytes = b"", then: bytes = b"") -> Iterator[Dripping]:
    """A receiver that says `text`, and then one byte of `then` twenty times a second for as long as somebody
    listens.
    """
    held, ending = Dripping(), threading.Event()

    def serve(caller: socket.socket) -> None:
        with caller:
            held.called += 1
            try:
                caller.sendall(text)
                while not ending.wait(0.05):
                    caller.sendall(then)
                    if _gone(caller):
                        break
            except OSError:
                pass
            held.hung_up += not ending.is_set()

    def listen() -> None:
        while not ending.is_set():
            with suppress(OSError):
                threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(0.1)
        held.url = f"http://127.0.0.1:{door.getsockname()[1]}/hook"
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield held
        finally:
            ending.set()
            thread.join()


def _gone(caller: socket.socket) -> bool:
    """Whether the other side closed; what it sent is dropped."""
    caller.setblocking(False)
    try:
        while caller.recv(65_536):
            pass
        return True
    except BlockingIOError:
        caller.setblocking(True)
        return False
