"""Another machine, for tests: builds, searches or dies in a process of its own. Called with HOME, STORE and what to
do.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

from core.storage.object_store.published import PublishedIndex
from tests.conftest import NoProcesses, small_app


def build(home: Path, store: str, *, die: bool = False) -> None:
    """Build the newest commit; with `die` this process is killed when everything is uploaded and nothing published."""
    app = small_app(home, processes=NoProcesses(), store=store)
    if die:
        PublishedIndex._add = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign,assignment,return-value]
    app.index.builder.build(app.platform.settings.profile())


def read(home: Path, store: str, last: int) -> None:
    """Search all the time, and follow beside it, until the last round is served; then say what was seen.

    Every document of a round carries its number, so an answer with two numbers is mixed from two generations.
    """
    app = small_app(home, processes=NoProcesses(), store=store)
    ending, seen = threading.Event(), {"searches": 0, "mixed": 0, "errors": 0, "down": 0}
    rounds: list[int] = []

    def follow() -> None:
        while not ending.wait(0.2):
            app.index.following.tick()
            state = app.index.following.state
            seen["down"] += bool(state and not state.usable)

    threading.Thread(target=follow, daemon=True).start()
    print("ready", flush=True)
    began = time.monotonic()
    while time.monotonic() - began < 1500:
        try:
            hits = app.search.searcher.search("round number").hits
        except Exception as error:
            print(f"error {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            seen["errors"] += 1
            continue
        numbers = {int(number) for hit in hits for number in re.findall(r"Round (\d+)\.", hit.text)}
        seen["searches"] += 1
        seen["mixed"] += len(numbers) != 1 or len(hits) != 3
        rounds += numbers
        if last in numbers:
            break
        time.sleep(0.01)
    ending.set()
    print(
        json.dumps(
            {
                **seen,
                "generations": len(set(rounds)),
                "backwards": sum(b < a for a, b in itertools.pairwise(rounds)),
            }
        )
    )


if __name__ == "__main__":
    where, what = (Path(sys.argv[1]), sys.argv[2]), sys.argv[3]
    read(*where, int(sys.argv[4])) if what == "read" else build(*where, die=what == "die")
