"""A node in a process of its own, which may be killed: ten people merge what it is told to, and it follows the other
nodes.

Run it by: python -m tests.programs.node_worker FOLDER NAME URL. Each line of its input is a number; somebody writes a
document of that number, has it approved and merges it. The answer is the number and the commit once the merge was
acknowledged, or the number, a dash and the reason.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from core.access import Actor
from core.bootstrap import App
from core.errors import BadInput, ConcordError, Unavailable
from tests.support.nodes import REVIEWER, node

PEOPLE = 10
T = TypeVar("T")
SPEAKING = threading.Lock()


def merge(app: App, n: int) -> str:
    """One reviewed change; every fifth edits what everybody edits."""
    who = Actor(f"author{n % 30}", f"Author {n % 30}", f"author{n % 30}@example.org", "author")
    path = "shared.md" if n % 5 == 0 else f"merged/{n}.md"
    files = {path: f"# Text\n\nMerge {n}.\n".encode()}
    number = patiently(lambda: app.reviews.changes.propose(who, f"Merge {n}", files)).id
    patiently(lambda: app.reviews.changes.submit(who, number))
    patiently(lambda: app.reviews.discussion.approve(REVIEWER, number))
    return patiently(lambda: merged(app, number))


def merged(app: App, number: int) -> str:
    """A merge whose answer was lost is asked for again, and is there already."""
    known = app.reviews.changes.get(number)
    return known.merged or app.reviews.merger.merge(REVIEWER, number).merged


def patiently(step: Callable[[], T]) -> T:
    """Try again as long as the shared repository is away, as people do."""
    for _ in range(60):
        try:
            return step()
        except Unavailable:
            time.sleep(0.5)
    return step()


def work(app: App, n: int) -> None:
    try:
        answer = merge(app, n)
    except BadInput:
        answer = "there"  # by an earlier try that was not acknowledged
    except ConcordError as error:
        answer = f"- {type(error).__name__} {' '.join(str(error).split())[:200]}"
    with SPEAKING:
        print(n, answer, flush=True)


def main(folder: Path, name: str, url: str) -> None:
    app = node(folder, name, url)
    app.platform.background.start(serves=False)
    with ThreadPoolExecutor(PEOPLE) as people:
        for line in sys.stdin:
            people.submit(work, app, int(line))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
