"""Searches at a steady rate, whether or not the last ones were answered: that is how a crowd asks."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.cluster.line import Line, Lost
from bench.cluster.people import Diary

LINES = 32  # searches under way at a time; beyond that they wait, and their wait counts
PATIENCE = 30.0  # seconds that somebody waits for a line before giving up
WORDS = [
    "retention",
    "vendor",
    "bank",
    "change",
    "forklift",
    "hazmat",
    "label",
    "queue",
    "invoice",
    "month",
    "close",
    "leave",
    "injury",
    "vpn",
    "password",
    "restore",
    "claim",
    "carrier",
    "cash",
    "report",
    "audit",
    "shift",
    "overtime",
    "customs",
    "recall",
    "drawer",
    "pallet",
    "badge",
    "ledger",
    "seal",
]


def questions(number: int = 400) -> list[str]:
    """Three words each, drawn once."""
    rng = random.Random("questions of a crowd")
    return [" ".join(rng.sample(WORDS, 3)) for _ in range(number)]


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A hit that an answer of a commit gave: what must be in that commit, word by word."""

    commit: str
    path: str
    start: int
    end: int
    digest: str


@dataclass
class Answers:
    """What the searches got: seconds with the time of asking, passages by commit, answers by node."""

    took: list[tuple[float, float]] = field(default_factory=list)
    passages: set[CitedPassage] = field(default_factory=set)
    commits: dict[str, set[str]] = field(
        default_factory=dict
    )  # generation of a profile to the commits it was said to be
    nodes: dict[str, int] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    late: int = 0  # searches that found all lines busy
    gave_up: int = 0  # of these, those that never got one

    def keep(self, body: bytes, node: str) -> None:
        """Take an answer apart."""
        answer = json.loads(body)
        commit = answer["commit"]
        self.commits.setdefault(f"{answer['profile']} {answer['generation']}", set()).add(commit)
        self.nodes[node] = self.nodes.get(node, 0) + 1
        for warning in answer["warnings"]:
            self.warnings[warning] = self.warnings.get(warning, 0) + 1
        for hit in answer["hits"]:
            for passage in (hit, *hit["further"]):
                digest = hashlib.sha256(passage["text"].encode()).hexdigest()
                self.passages.add(CitedPassage(commit, passage["path"], passage["start"], passage["end"], digest))


async def crowd(
    address: str, tokens: Sequence[str], rate: float, until: float, diary: Diary, answers: Answers, marks: list[str]
) -> None:
    """Ask `rate` questions a second until the walk ends; one in ten asks for what was merged last."""
    free: asyncio.Queue[Line] = asyncio.Queue()
    for n in range(LINES):
        free.put_nowait(Line(address, tokens[n % len(tokens)], sticky=False))
    rng, every = random.Random("a crowd"), questions()
    running, number = set(), 0
    due = time.monotonic()
    while due < until:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        question = rng.choice(marks[-5:]) if marks and rng.random() < 0.1 else every[number % len(every)]
        if free.empty():
            answers.late += 1
        task = asyncio.create_task(_search(free, question, tokens[number % len(tokens)], due, diary, answers))
        running.add(task)
        task.add_done_callback(running.discard)
        due, number = due + 1 / rate, number + 1
    await asyncio.gather(*running)


async def _search(
    free: asyncio.Queue[Line], question: str, token: str, due: float, diary: Diary, answers: Answers
) -> None:
    try:
        line = await asyncio.wait_for(free.get(), PATIENCE)
    except TimeoutError:
        answers.gave_up += 1
        return
    line.token = token
    try:
        reply = await line.get("/search", {"q": question})
    except Lost as error:
        diary.met("a searcher", "search", None, str(error))
    else:
        if reply.status == 200:
            answers.took.append((due - diary.started, time.monotonic() - due))
            answers.keep(reply.body, reply.node)
        else:
            diary.met("a searcher", "search", reply)
    finally:
        free.put_nowait(line)
