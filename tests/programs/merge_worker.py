"""Proposes, approves and merges without end, in several threads; says each merge once it is acknowledged.

Run by tests/long/test_merges.py: python -m tests.programs.merge_worker HOME NAME THREADS ROUNDS
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from core.bootstrap import App
from core.errors import ConcordError
from core.services.people.accounts import DEMO
from tests.conftest import NoProcesses, small_app

_, AUTHOR, AUTHOR2, REVIEWER, REVIEWER2, _ = DEMO
_saying = threading.Lock()


def say(*words: object) -> None:
    with _saying:
        print(*words, flush=True)


def work(app: App, name: str, rounds: int) -> None:
    for n in range(rounds):
        text = f"# {name}\n\nround {n} of {name}\n".encode()
        try:
            change = app.reviews.changes.propose(AUTHOR, f"{name} round {n}", {f"{name}.md": text})
            app.reviews.changes.invite(AUTHOR, change.id, [AUTHOR2.id])
            app.reviews.changes.edit(AUTHOR2, change.id, {f"{name}.md": text + b"\nmore\n"})
            app.reviews.changes.submit(AUTHOR, change.id)
            say("submitted", change.id)
            app.reviews.discussion.approve(REVIEWER if n % 2 else REVIEWER2, change.id)
            merged = app.reviews.merger.merge(AUTHOR, change.id)
        except ConcordError as error:
            say("refused", name, n, error)
            continue
        say("merged", merged.id, merged.merged)


def main() -> None:
    home, name, threads, rounds = sys.argv[1:]
    app = small_app(Path(home), NoProcesses())
    say("ready")
    crew = [threading.Thread(target=work, args=(app, f"{name}-{n}", int(rounds))) for n in range(int(threads))]
    for one in crew:
        one.start()
    for one in crew:
        one.join()


if __name__ == "__main__":
    main()
