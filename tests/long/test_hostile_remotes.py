"""Remotes that mean harm: a sentence, nothing half taken, and an end."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.bootstrap import App
from core.errors import Refused, Unavailable
from tests.conftest import NoProcesses, demo, put, small_app
from tests.support.git_server import daemon, http_host
from tests.support.hostile_remotes import LARGE, REFUSED, TAKEN, Make, Remote
from tests.support.remotes import bare

ADMIN = demo("admin")


def everything(app: App) -> tuple[set[str], set[str]]:
    """Every branch with its commit, and every file of the repository but logs and locks."""
    path = app.knowledge.repository.path
    refs = set(app.knowledge.repository.git.ask("for-each-ref").decode().splitlines())
    return refs, {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file() and file.suffix != ".lock"}


@pytest.fixture
def shared(tmp_path: Path) -> Remote:
    return Remote(bare(tmp_path / "host" / "kb.git"))


def connected(home: Path, url: str) -> App:
    app = small_app(home, NoProcesses())
    put(app, {"a.md": "# A\n\nOne.\n"})
    app.remote.remotes.add(ADMIN, url)
    app.remote.remotes.push(ADMIN)
    return app


def attacked(app: App, shared: Remote, refused_ones: Mapping[str, tuple[Make, str]] = REFUSED) -> None:
    """Each hostile history in the place of the remote's branch, one after the other."""
    base = app.knowledge.repository.head()
    for name, (make, sentence) in refused_ones.items():
        shared.point(make(shared, base))
        before = everything(app)
        with pytest.raises((Refused, Unavailable)) as refused:
            app.remote.remotes.fetch(ADMIN)
        assert re.search(sentence, str(refused.value)), f"{name}: {refused.value}"
        assert everything(app) == before, name
    shared.point(base)
    assert app.remote.remotes.fetch(ADMIN).state == "up to date"
    for name, make in TAKEN.items():
        shared.point(make(shared, app.knowledge.repository.head()))
        assert app.remote.remotes.fetch(ADMIN).state == "up to date", name
        assert [entry.path for entry in app.knowledge.documents.all()] == ["a.md"], name
    assert app.index.builder.build(app.platform.settings.profile()).fresh
    assert app.index.verifier.problems() == ()


def test_a_hostile_history_is_refused_in_a_sentence_and_leaves_nothing_behind(tmp_path: Path, shared: Remote) -> None:
    attacked(connected(tmp_path / "home", str(shared.path)), shared)


@pytest.mark.slow
@pytest.mark.parametrize("host", [daemon, http_host])
def test_the_same_over_the_network(tmp_path: Path, shared: Remote, host: type) -> None:
    with host(shared.path.parent) as address:
        attacked(connected(tmp_path / "home", f"{address}/kb.git"), shared, {**REFUSED, **LARGE})


def test_branches_named_like_ours_stay_where_they_are(tmp_path: Path, shared: Remote) -> None:
    app = connected(tmp_path / "home", str(shared.path))
    other = shared.commit(
        shared.tree(("100644", b"x.md", shared.write("blob", b"# X\n"))), app.knowledge.repository.head()
    )
    (shared.path / "refs" / "heads" / "change").mkdir()
    for branch in ("settings", "change/1", "change/2"):
        shared.point(other, branch)
    before = everything(app)
    assert app.remote.remotes.fetch(ADMIN).state == "up to date"
    assert everything(app) == before


@contextmanager
def endless(first: bytes, more: bytes) -> Iterator[str]:
    """A host that answers every connection, and does not stop."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        def talk(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.recv(1000)
                    connection.sendall(first)
                    while True:
                        connection.sendall(more)
                        time.sleep(0.01)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield f"git://127.0.0.1:{server.getsockname()[1]}/kb.git"
        server.shutdown(socket.SHUT_RDWR)


def packet(line: bytes) -> bytes:
    return b"%04x" % (len(line) + 4) + line


@pytest.mark.parametrize(
    "more",
    [packet(b"a" * 40 + b" refs/heads/x\n"), packet(b"a" * 40 + b" refs/heads/main\n"), b"z"],
    ids=["branches", "one branch", "nonsense"],
)
def test_a_host_that_never_stops_is_given_up(tmp_path: Path, more: bytes) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    app.remote.remotes.git.transport.access = replace(app.remote.remotes.git.transport.access, longest=0.5)
    began = time.monotonic()
    first = packet(b"b" * 40 + b" HEAD\0multi_ack\n")
    with endless(first, more * 50) as address, pytest.raises(Unavailable, match=r"did not come to an end|cannot be"):
        app.remote.remotes.add(ADMIN, address)
    assert time.monotonic() - began < 60
    assert app.remote.remotes.show(ADMIN) is None
