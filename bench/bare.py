"""`search()` alone in its own process: reads a question per line, prints its CPU milliseconds.

The app under load is compared with this at the same pace: a processor that idled between two questions has cold
caches, so that everything costs more than in a tight loop. With a number it reads all questions first and prints the
mean
milliseconds when so many threads ask them at once.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from core.bootstrap import build
from core.settings import load


def main() -> None:
    """Warm up as the app does, then answer until the input ends."""
    app = build(load())
    app.platform.workspace.warm()
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    if sys.argv[1:]:
        print(_at_once(app.search.searcher.search, list(sys.stdin), int(sys.argv[1])))
        return
    for line in sys.stdin:
        before = time.process_time()
        app.search.searcher.search(line)
        print(1000 * (time.process_time() - before), flush=True)


def _at_once(search: Callable[[str], object], questions: list[str], threads: int) -> float:
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(2):  # all were asked before they are measured, as on the other side
            before = time.process_time()
            list(pool.map(search, questions))
    return 1000 * (time.process_time() - before) / len(questions)


if __name__ == "__main__":
    main()
