"""`search()` alone in its own process: reads a question per line, prints its CPU milliseconds.

The app under load is compared with this at the same pace: a processor that idled between two questions has cold
caches, so that everything costs more than in a tight loop.
"""

from __future__ import annotations

import gc
import sys
import time

from core.bootstrap import build
from core.settings import load


def main() -> None:
    """Warm up as the app does, then answer until the input ends."""
    app = build(load())
    app.platform.workspace.warm()
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    for line in sys.stdin:
        before = time.process_time()
        app.search.searcher.search(line)
        print(1000 * (time.process_time() - before), flush=True)


if __name__ == "__main__":
    main()
