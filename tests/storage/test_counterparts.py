"""How the parts of a cluster reach each other: by a certificate authority of one's own, and with keys that expire.

Mail by such an authority is in test_deliveries.py.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sqlalchemy import make_url

from core.errors import Unavailable
from core.storage.git.shared import SharedRepository
from core.storage.git.transport import RemoteAccess
from core.storage.object_store import objects
from core.storage.object_store.objects import ObjectStore
from core.storage.state.postgres import PostgresDatabase
from tests.support.receivers import certificate

COMMIT = "c" * 40
STORE = {
    "/bucket/main/a": b"text",
    "/bucket": b"<ListBucketResult><Name>bucket</Name><KeyCount>0</KeyCount><MaxKeys>9</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>",  # noqa: E501
}


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The authority of somebody else."""
    return certificate(tmp_path_factory.mktemp("other"))


def context(pem: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate(pem.parent, authority=pem))
    return made


class QuietServer(ThreadingHTTPServer):
    """Says nothing of callers who refuse its certificate."""

    def handle_error(self, *_: object) -> None: ...


Answers = Callable[[str], bytes | None]


@contextmanager
def serving(answers: Answers, pem: Path | None = None) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server, over TLS with a certificate of an authority: its address, and what was asked of it by whom."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append((path, self.headers.get("Authorization", "")))
            body = answers(path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("ETag", '"1"')
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None: ...

    server = QuietServer(("127.0.0.1", 0), Handler)
    if pem:
        server.socket = context(pem).wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"{'https' if pem else 'http'}://localhost:{server.server_port}", asked
    server.shutdown()
    thread.join(60)
    server.server_close()


def test_the_shared_repository_is_reached_by_the_authority_that_git_is_told(
    pem: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "/kb.git/info/refs": f"{COMMIT}\trefs/heads/main\n".encode(),
        "/kb.git/HEAD": b"ref: refs/heads/main\n",
    }
    with serving(files.get, pem) as (url, asked):
        shared = SharedRepository(tmp_path, f"{url}/kb.git", RemoteAccess())
        monkeypatch.setenv("GIT_SSL_CAINFO", str(other))
        with pytest.raises(Unavailable, match="cannot be reached"):
            shared.head("refs/heads/main")
        assert not asked
        monkeypatch.setenv("GIT_SSL_CAINFO", str(pem))
        assert shared.head("refs/heads/main") == COMMIT


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr(objects, "ATTEMPTS", 1)
    monkeypatch.setattr(objects, "READ", 2)


def test_files_of_the_store_are_reached_by_the_authority_that_boto3_is_told(
    pem: Path, other: Path, keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(STORE.get, pem) as (url, asked):
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        monkeypatch.setenv("AWS_CA_BUNDLE", str(other))
        with pytest.raises(Unavailable):
            ObjectStore("s3://bucket/main").get("a")
        assert not asked
        monkeypatch.setenv("AWS_CA_BUNDLE", str(pem))
        stored = ObjectStore("s3://bucket/main").get("a")
        assert stored
        assert stored.data == b"text"


@contextmanager
def database(pem: Path) -> Iterator[tuple[int, list[str]]]:
    """As much of PostgreSQL as comes before the password, over TLS: its port, and who asked for what."""
    asked: list[str] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                plain, _ = server.accept()
                with suppress(OSError), plain:
                    plain.recv(8)  # SSLRequest
                    plain.sendall(b"S")
                    with context(pem).wrap_socket(plain, server_side=True) as line:
                        asked.append(line.recv(1000)[8:].decode("latin-1"))
                        said = b"SFATAL\0C28P01\0Mpassword authentication failed\0\0"
                        line.sendall(b"E" + (len(said) + 4).to_bytes(4, "big") + said)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1], asked
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(60)


def test_postgresql_is_reached_by_the_authority_of_its_address(pem: Path, other: Path) -> None:
    with database(pem) as (port, asked):
        for trusted, reached in ((other, False), (pem, True)):
            url = f"postgresql://ann@localhost:{port}/kb?sslmode=verify-full&sslrootcert={trusted}"
            opened = PostgresDatabase(make_url(url))
            sentence = "authentication failed" if reached else "SSL error"
            with opened.within(300), pytest.raises(Unavailable, match=sentence):
                opened.audit.last_commit()
            assert any("ann" in one for one in asked) is reached, "nobody is named before the certificate is checked"


def test_keys_of_a_role_that_change_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A role of a container: every answer has other keys, which run out in a moment."""
    given: list[str] = []

    def role(path: str) -> bytes:
        given.append(f"KEY{len(given)}")
        soon = (datetime.now(UTC) + timedelta(seconds=20)).strftime("%Y-%m-%dT%H:%M:%SZ")
        return json.dumps(
            {"AccessKeyId": given[-1], "SecretAccessKey": "secret", "Token": "token", "Expiration": soon}
        ).encode()

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(role) as (keys_at, _), serving(STORE.get) as (url, asked):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", keys_at.replace("localhost", "127.0.0.1"))
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        store = ObjectStore("s3://bucket/main")
        for _ in range(2):
            store.get("a")
        used = {who.partition("Credential=")[2].partition("/")[0] for _, who in asked}
        assert len(used) > 1, "the second request has other keys than the first"
        assert used <= {*given}
