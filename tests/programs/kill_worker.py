"""A writer for the kill tests: edits every document, indexes, publishes, again and again, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conftest import put, small_app

DOCUMENTS = 6


def main(home: str) -> None:
    app = small_app(Path(home))
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)  # the next start finishes or cleans up
    print("ready", flush=True)
    while True:
        n = len(app.knowledge.repository.log(app.knowledge.repository.head())) + 1
        put(
            app,
            {f"{d}.md": f"# Doc {d}\n\nmarker{n:05d} common words of document {d}\n" for d in range(DOCUMENTS)},
            f"marker{n:05d}",
        )
        app.index.builder.build(profile)
        print(n, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
