"""The same knowledge base built anew on one machine, to compare nodes with: python -m bench.cluster.fresh REPOSITORY
QUESTIONS.

Run with a CONCORD_HOME of its own, no database and no store. Prints what it answers to the questions of a JSON file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from core import strict
from core.bootstrap import build
from core.services.search.searcher import as_json
from core.settings import load

COMPARED = ("hits", "confidence", "fits", "commit", "also", "warnings")


def compared(answer: dict[str, Any]) -> dict[str, Any]:
    """The part of an answer that two machines must have in common: not how long it took, nor the number of a
    generation.
    """
    return {name: answer.get(name) for name in COMPARED}  # a refusal has none of them


def main(repository: str, questions: Path) -> None:
    app = build(load())
    app.platform.workspace.create()
    branches = [f"+refs/heads/{name}:refs/heads/{name}" for name in ("main", "settings")]
    subprocess.run(
        ["git", "-C", str(app.knowledge.repository.path), "fetch", "--quiet", repository, *branches], check=True
    )
    profile = app.platform.settings.production().profile
    app.index.builder.build(profile)
    index = app.search.searcher.index()
    chunks = Counter(index.passage(number).id for number in range(index.size))
    asked = json.loads(questions.read_text())
    answers = {text: compared(strict.plain(as_json(app.search.searcher.search(text)))) for text in asked}
    print(json.dumps({"commit": app.knowledge.repository.head(), "chunks": len(chunks), "answers": answers}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
