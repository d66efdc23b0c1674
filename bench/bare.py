"""`search()` and nothing else, in a process of its own: a question per line comes in, its CPU milliseconds go out.

The app under load is compared with this, asked at the same moments: a processor that slept between two questions
has cold caches, and everything it does then costs more than in a tight loop.
"""

from __future__ import annotations

import gc
import sys
import time

from core.bootstrap import build
from core.settings import load


def main() -> None:
    """Warm up as the app does, then answer until nobody asks."""
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
