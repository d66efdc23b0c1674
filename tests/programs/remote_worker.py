"""Pushes and fetches without end, as the job does, until it is killed.

Run by tests/long/test_remote_cuts.py: python -m tests.programs.remote_worker HOME
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from core.errors import ConcordError
from tests.conftest import NoProcesses, small_app


def main() -> None:
    app = small_app(Path(sys.argv[1]), NoProcesses(), remote_timeout=10)
    app.remote.remotes.sleep = lambda _: time.sleep(0.05)
    print("ready", flush=True)
    while True:
        try:
            app.remote.remotes.work({}, lambda *_: None)
            print("round", flush=True)
        except ConcordError as error:
            print("failed", error, flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
