"""The list of documents follows the main line: what a commit leaves as it was is not read again, and nobody can
tell.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.curation.document.frontmatter import read_document
from core.services.knowledge import documents as module
from core.services.knowledge.documents import Documents
from core.types import Document
from tests.conftest import NoProcesses, put, small_app
from tests.support.small_kb import FILES

STEPS: tuple[dict[str, str | None], ...] = (
    {"it/new.md": "# New\n\nText.\n"},
    {"it/new.md": "# New\n\nOther text.\n", "fin/ctr.md": None},
    {"it/new.md": None, "hr/new.md": "# New\n\nOther text.\n"},  # the same text at another path
    {"it/twin.md": FILES["it/vpn.md"]},  # claims an id that another has
    {"a.md": FILES["it/vpn.md"]},  # and takes it, by its path
    {"a.md": None},
    {"broken.md": "---\nid: [\n---\n# Broken\n"},
    {"broken.md": "# Well\n"},
    {"review-rules.yaml": "readers: {}\n"},
)


def test_documents_that_follow_are_those_read_anew(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, dict(FILES))
    following = app.knowledge.documents
    first = following.repository.head()
    for step in STEPS:
        put(app, step)
        for revision in ("main", first, "main"):
            anew = Documents(following.repository)
            assert following.whole(revision) == anew.whole(revision)
            assert following._load(revision) == anew._load(revision)


def test_a_commit_costs_the_reading_of_what_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    put(app, dict(FILES))
    app.knowledge.documents.whole()
    read: list[str] = []

    def reading(path: str, text: str, *, blob: str) -> Document:
        read.append(path)
        return read_document(path, text, blob=blob)

    monkeypatch.setattr(module, "read_document", reading)
    put(app, {"it/new.md": "# New\n", "review-rules.yaml": "readers:\n  it/: [everyone]\n"})
    app.knowledge.documents.whole()
    assert read == ["it/new.md"]


def test_a_look_at_an_earlier_day_leaves_main_read(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", processes=NoProcesses())
    first = put(app, dict(FILES))
    put(app, {"it/new.md": "# New\n"})
    now, then = app.knowledge.documents.whole(), app.knowledge.documents.whole(first)
    assert len(now) == len(then) + 1
    assert (app.knowledge.documents.whole(), app.knowledge.documents.whole(first)) == (now, then)
    assert app.knowledge.documents.whole() is now
