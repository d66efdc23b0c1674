"""An S3 store on the loopback for tests: SeaweedFS, as it comes from the package registry."""

from __future__ import annotations

import hashlib
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

BUCKET = "concord"
KEYS = {"AWS_ACCESS_KEY_ID": "concord", "AWS_SECRET_ACCESS_KEY": "concord-secret", "AWS_REGION": "us-east-1"}
_WEED = Path(sys.executable).with_name("weed")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, with the one 10,000 above each, which SeaweedFS takes too."""
    ports: list[int] = []
    while len(ports) < count:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            if port < 20_000 or port > 55_000 or port in ports:
                continue
            try:
                second.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            ports.append(port)
    return ports


class SeaweedFS:
    """One server of every kind in one process, with its files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = dict(zip(("master", "volume", "filer", "s3"), free_ports(4), strict=True))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['s3']}"

    @property
    def environment(self) -> Mapping[str, str]:
        """What a process needs to reach it."""
        return {**KEYS, "AWS_ENDPOINT_URL_S3": self.url}

    def start(self) -> None:
        """Start it, or start it again where it was killed."""
        data = self.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        (self.folder / "s3.json").write_text(json.dumps({"identities": [_identity()]}), encoding="utf-8")
        command = [
            *(str(_WEED), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"),
            *(f"-{name}.port={port}" for name, port in self.ports.items()),
            *(f"-{name}.port.grpc={port + 10_000}" for name, port in self.ports.items()),
            *(f"-s3.config={self.folder / 's3.json'}", "-master.telemetry=false", "-master.volumeSizeLimitMB=64"),
            *("-master.peers=none", "-volume.max=40", "-volume.preStopSeconds=0"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0"),
        ]
        log = (self.folder / "weed.log").open("ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self._wait(self.url)

    def _wait(self, url: str) -> None:
        for _ in range(300):
            try:
                urlopen(url, timeout=2)
                return
            except HTTPError:
                return
            except (URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError((self.folder / "weed.log").read_text(encoding="utf-8")[-3000:])

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def _identity() -> dict[str, object]:
    credentials = {"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}
    return {"name": "concord", "credentials": [credentials], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}


@contextmanager
def seaweedfs(folder: Path) -> Iterator[SeaweedFS]:
    """A store with an empty bucket; it ends with the block."""
    server = SeaweedFS(folder)
    try:
        server.start()
        make_bucket(server)
        yield server
    finally:
        server.kill()


def make_bucket(server: SeaweedFS) -> None:
    """Once it takes writes, which is some seconds after it answers."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    client = boto3.client(
        "s3",
        endpoint_url=server.url,
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        region_name=KEYS["AWS_REGION"],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    for attempt in range(100):
        try:
            client.create_bucket(Bucket=BUCKET)
            client.put_object(Bucket=BUCKET, Key="ready", Body=b"yes")
            client.delete_object(Bucket=BUCKET, Key="ready")
            return
        except ClientError:
            if attempt == 99:
                raise
            time.sleep(0.2)


def environment(server: SeaweedFS) -> dict[str, str]:
    """This process's environment, with the store."""
    return {**os.environ, **server.environment}


class Careless(BaseHTTPRequestHandler):
    """An S3 store in memory that ignores every condition of a write."""

    objects: ClassVar[dict[str, bytes]] = {}
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.objects[self._key()] = data
        self._answer(200, b"", data)

    def do_GET(self) -> None:
        data = self.objects.get(self._key())
        self._answer(200 if data is not None else 404, data or b"", data or b"")

    def do_POST(self) -> None:
        """Objects are deleted together."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(200, b"<DeleteResult/>", b"")

    def _key(self) -> str:
        return self.path.partition("?")[0]

    def _answer(self, status: int, body: bytes, data: bytes) -> None:
        self.send_response(status)
        self.send_header("ETag", f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def careless_store() -> Iterator[str]:
    """The address of a store that ignores conditions."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Careless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class Line:
    """A line to a store that can be cut and mended. It breaks after `budget` bytes of answers; with `mends`, only for
    a moment.
    """

    def __init__(self, port: int) -> None:
        self.port, self.budget, self.mends, self._cut = port, math.inf, False, False
        self.breaks = self.answered = 0
        self._open: list[socket.socket] = []
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.getsockname()[1]}"

    def cut(self) -> None:
        self._cut = True
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def mend(self) -> None:
        self._cut, self.budget = False, math.inf

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.server.accept()
                if self._cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.port))
                self._open += [near, far]
                threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if answers and (left := int(min(self.budget, len(data)))) < len(data):
                    target.sendall(data[:left])
                    self.breaks += 1
                    self.cut()
                    if self.mends:
                        self.mend()
                    return
                if answers:
                    self.budget -= len(data)
                    self.answered += len(data)
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.close()
