"""Authors and reviewers at work: they propose, comment, approve, merge and read, and write down what went
wrong for them.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from bench.cluster.line import Line, Lost, NodeReply

FOLDER = "people/walk"
_WRITES = {"propose", "comment", "submit", "approve", "merge", "close"}
_SHARED = 4  # documents that several authors edit, so that some changes conflict


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that a person saw: when (seconds since the start), doing what, and how it was put."""

    at: float
    who: str
    doing: str
    status: int  # 0: the connection ended without an answer
    sentence: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge that was acknowledged to somebody."""

    change: int
    commit: str
    path: str
    mark: str
    at: float  # when it was acknowledged, by the wall clock
    node: str


@dataclass
class Diary:
    """What all people did and saw."""

    started: float = field(default_factory=time.monotonic)
    merges: list[Merged] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    refusals: list[Trouble] = field(default_factory=list)  # by the rules: conflicts, somebody was faster
    doings: dict[str, list[float]] = field(default_factory=dict)  # what was done to how long each took
    unknown: int = 0  # merges without an answer that turned out to have happened
    stale: int = 0  # documents that were read without a line of the reader that was merged
    wrote: list[float] = field(default_factory=list)  # when something was written, in seconds since the start

    def did(self, what: str, seconds: float) -> None:
        self.doings.setdefault(what, []).append(seconds)
        if what in _WRITES:
            self.wrote.append(time.monotonic() - self.started)

    def met(self, who: str, doing: str, reply: NodeReply | None, why: str = "") -> None:
        """Write an answer down that was no success."""
        at = time.monotonic() - self.started
        if reply is None:
            self.troubles.append(Trouble(at, who, doing, 0, why))
        else:
            kept = self.troubles if reply.status >= 500 or reply.status in (401, 429) else self.refusals
            kept.append(Trouble(at, who, doing, reply.status, reply.sentence, reply.node))


class Visitor:
    """One account with a browser's habits: one connection, one node, a pause before every click."""

    def __init__(self, account: Mapping[str, str], address: str, diary: Diary, pause: float, seed: int) -> None:
        self.name, self.role = account["name"], account["role"]
        self.line, self.diary, self.pause = Line(address, account["token"]), diary, pause
        self.rng = random.Random(f"{self.name} {seed}")
        self.written = self.last = 0
        self.mark = ("", "")  # path and mark of the last change
        self.merged: dict[str, str] = {}  # path to the last mark that was merged
        self.unsure = False  # whether the last click that failed may have happened all the same

    async def live(self, until: float) -> None:
        """Work until the walk ends."""
        await asyncio.sleep(self.rng.uniform(0, self.pause))
        turn = self.review if self.role == "reviewer" else self.write
        while time.monotonic() < until:
            await turn()
            await self.think()
        await self.line.close()

    async def think(self) -> None:
        await asyncio.sleep(min(4 * self.pause, self.rng.expovariate(1 / self.pause)))

    async def try_to(self, doing: str, ask: Callable[[], Awaitable[NodeReply]], tries: int = 1) -> NodeReply | None:
        """One click. None if it failed; the diary has the reason. Reading is tried again, as people reload a page."""
        for attempt in range(tries):
            try:
                reply = await ask()
            except Lost as error:
                self.diary.met(self.name, doing, None, str(error))
                self.unsure = True
            else:
                if reply.status < 400:
                    self.diary.did(doing, reply.seconds)
                    return reply
                if reply.status == 404 and doing == "read":
                    return reply
                self.diary.met(self.name, doing, reply)
                self.unsure = reply.status >= 500
                if not self.unsure:
                    return None
            if attempt + 1 < tries:
                await asyncio.sleep(1 + attempt)
        return None

    # ------------------------------------------------------------ authors

    async def write(self) -> None:
        """Read a document, add a line, propose it, say why, submit it."""
        if await self._waits():
            return
        shared = self.rng.random() < 0.15
        path = f"{FOLDER}/shared-{self.rng.randrange(_SHARED)}.md" if shared else f"{FOLDER}/{self.name}.md"
        self.written += 1
        mark = f"{self.name.replace('-', '')}x{self.written}x{self.rng.randrange(10**6)}"
        found = await self._text(path)
        if found is None:
            return
        text, blob = found
        self.diary.stale += self.merged.get(path, "") not in text
        line = f"- Item {mark}: count the drawer, {self.rng.choice(_WORDS)} the {self.rng.choice(_WORDS)} and sign.\n"
        files = [{"path": path, "text": text + line}]
        proposal = {"title": f"Add {mark}", "files": files, "message": f"Needed for {mark}.", "read": {path: blob}}
        made = await self.try_to("propose", lambda: self.line.post("/changes", proposal))
        if made is None:
            return
        number = self.last = made.json["id"]
        self.mark = (path, mark)
        await self.think()
        await self.try_to("comment", lambda: self.line.post(f"/changes/{number}/comments", {"message": f"See {mark}."}))
        await self.try_to("submit", lambda: self.line.post(f"/changes/{number}/submit", {}), tries=3)

    async def _waits(self) -> bool:
        """Whether the last change of this author is still open: one at a time, or they would conflict with
        each other.
        """
        if not self.last:
            return False
        shown = await self.try_to("open change", lambda: self.line.get(f"/changes/{self.last}"), tries=3)
        if shown is not None and shown.json["state"] == "draft":  # its submission was lost
            await self.try_to("submit", lambda: self.line.post(f"/changes/{self.last}/submit", {}))
        if shown is not None and shown.json["merged"]:
            self.merged |= dict([self.mark])
        return shown is None or not (shown.json["merged"] or shown.json["state"] == "closed")

    async def _text(self, path: str) -> tuple[str, str] | None:
        """A document and the name of this text of it; that of one to begin with where there is none."""
        reply = await self.try_to("read", lambda: self.line.get(f"/documents/{quote(path)}"), tries=3)
        if reply is None:
            return None
        if reply.status == 404:
            return f"# Walk of {path.rpartition('/')[2].removesuffix('.md')}\n\nWhat is done every day.\n\n", ""
        return str(reply.json["text"]), str(reply.json["blob"])

    # ------------------------------------------------------------ reviewers

    async def review(self) -> None:
        """Take a change that waits, read it, say something, approve it, merge it."""
        listed = await self.try_to("list changes", lambda: self.line.get("/changes", {"state": "in review"}), tries=3)
        waiting = [row["id"] for row in listed.json] if listed else []
        if not waiting:
            return
        number = self.rng.choice(waiting[:6])
        shown = await self.try_to("open change", lambda: self.line.get(f"/changes/{number}"), tries=3)
        read = await self.try_to("read diff", lambda: self.line.get(f"/changes/{number}/diff"), tries=3)
        if shown is None or read is None:
            return
        await self.think()
        head = shown.json["head"]
        if self.rng.random() < 0.3:
            await self.try_to("comment", lambda: self.line.post(f"/changes/{number}/comments", {"message": "Read."}))
        verdict = {"verdict": "approve", "message": "Right."}
        judged = await self.try_to("approve", lambda: self.line.post(f"/changes/{number}/verdicts", verdict, head))
        if judged is not None:
            await self.merge(number, head, shown.json)

    async def merge(self, number: int, head: str, change: Mapping[str, Any]) -> None:
        """Merge, and write it down when it is acknowledged; after a lost answer, look what became of it."""
        path, mark = change["documents"][0]["path"], change["title"].removeprefix("Add ")
        done = await self.try_to(
            "merge", lambda: self.line.ask("POST", f"/changes/{number}/merge", b"", {"If-Match": f'"{head}"'})
        )
        if done is not None:
            self.diary.merges.append(Merged(number, done.json["merged"], path, mark, time.time(), done.node))
            return
        unsure = self.unsure
        looked = await self.try_to("open change", lambda: self.line.get(f"/changes/{number}"), tries=5)
        if looked is not None and looked.json["merged"] and unsure:
            self.diary.unknown += 1
            self.diary.merges.append(Merged(number, looked.json["merged"], path, mark, time.time(), looked.node))
        elif looked is not None and looked.json["conflicts"]:
            await self.try_to("close", lambda: self.line.post(f"/changes/{number}/close", {"message": "It conflicts."}))


_WORDS = ("carrier", "label", "invoice", "pallet", "claim", "badge", "ledger", "forklift", "seal", "customs")
