"""A git host in miniature: smart HTTP by `git http-backend`, with a name and a token where one is asked for.

Run it by: python -m tests.support.git_server ROOT PORT [TOKEN]
"""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]


class GitHandler(BaseHTTPRequestHandler):
    """One request, handed to git."""

    root, token = "", ""

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._serve(body)

    def _chunk(self) -> bytes:
        part = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return part

    def _serve(self, body: bytes) -> None:
        expected = "Basic " + base64.b64encode(f"git:{self.token}".encode()).decode()
        if self.token and self.headers.get("Authorization") != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        head, _, answer = self._backend(body).partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        fields = dict(lines)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in {**fields, "Content-Length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def _backend(self, body: bytes) -> bytes:
        parts = urlsplit(self.path)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "REMOTE_USER": "git",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        return subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True).stdout

    def log_message(self, *_: object) -> None:
        """Silent."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    """Until somebody listens."""
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on {port}")


def started(root: Path, port: int, token: str = "") -> subprocess.Popen[bytes]:
    """The host as a process of its own, which may be killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.git_server", str(root), str(port), token], cwd=ROOT
    )
    wait_for(port)
    return process


@contextmanager
def http_host(root: Path, token: str = "") -> Iterator[str]:
    """Its address, while it serves the repositories below a folder."""
    port = free_port()
    process = started(root, port, token)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@contextmanager
def daemon(root: Path) -> Iterator[str]:
    """The same by `git daemon`."""
    port = free_port()
    options = ["--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1", f"--port={port}"]
    process = subprocess.Popen(["git", "daemon", *options, f"--base-path={root}", str(root)], start_new_session=True)
    try:
        wait_for(port)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 9)
        process.wait()


if __name__ == "__main__":
    GitHandler.root, GitHandler.token = sys.argv[1], (sys.argv[3:] or [""])[0]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), GitHandler).serve_forever()
