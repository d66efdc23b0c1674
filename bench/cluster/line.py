"""One HTTP connection that is kept open, as cheap as a client can be: the load must not take the cores of
what it loads.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

_PATIENCE = 60.0  # seconds for one request


@dataclass(frozen=True, slots=True)
class NodeReply:
    """An answer: `node` is who gave it, `seconds` how long it took."""

    status: int
    body: bytes
    node: str
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None

    @property
    def sentence(self) -> str:
        """Why it was refused, in the server's own words."""
        try:
            found = self.json
        except ValueError:
            return " ".join(self.body.decode("utf-8", "replace").split())[:200]
        return str(found.get("detail") or found.get("error") or "") if isinstance(found, dict) else ""


class Lost(Exception):
    """The connection ended before the answer came: what was asked may have happened or not."""


class Line:
    """A client of one account. With `sticky` it keeps the proxy's cookie, as browsers do, and stays at one node."""

    def __init__(self, address: str, token: str, *, sticky: bool = True) -> None:
        self.host, self.token = address.removeprefix("http://"), token
        self.sticky, self.cookie = sticky, ""
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> NodeReply:
        return await self.ask("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path)

    async def post(self, path: str, body: Any, head: str = "") -> NodeReply:
        """Send JSON; `head` is the text of a change that was read."""
        return await self.ask("POST", path, json.dumps(body).encode(), {"If-Match": f'"{head}"'} if head else {})

    async def ask(self, method: str, path: str, body: bytes = b"", more: Mapping[str, str] | None = None) -> NodeReply:
        started = time.perf_counter()
        try:
            status, headers, content = await asyncio.wait_for(self._exchange(method, path, body, more or {}), _PATIENCE)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError) as error:
            await self.close()
            raise Lost(type(error).__name__) from None
        if self.sticky and "set-cookie" in headers:
            self.cookie = headers["set-cookie"].partition(";")[0]
        if headers.get("connection") == "close":
            await self.close()
        return NodeReply(status, content, headers.get("x-concord-node", ""), time.perf_counter() - started)

    async def _exchange(
        self, method: str, path: str, body: bytes, more: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if self.streams is None:
            host, _, port = self.host.partition(":")
            self.streams = await asyncio.open_connection(host, int(port), limit=1 << 22)
        reader, writer = self.streams
        fields = {"Host": self.host, "Authorization": f"Bearer {self.token}", "Content-Length": str(len(body)), **more}
        if body:
            fields["Content-Type"] = "application/json"
        if self.cookie:
            fields["Cookie"] = self.cookie
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"{method} /api/v1{path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        content = (
            await reader.readexactly(int(headers["content-length"]))
            if "content-length" in headers
            else await self._parts(reader)
        )
        return int(head[0].split()[1]), headers, content

    async def _parts(self, reader: asyncio.StreamReader) -> bytes:
        """A body that comes in parts, or until the end of the connection."""
        parts = []
        while size := int((await reader.readline()).split(b";")[0] or b"0", 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)

    async def close(self) -> None:
        if self.streams:
            self.streams[1].close()
        self.streams = None
