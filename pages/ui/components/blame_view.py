"""Every line of a document with who wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.services.knowledge.blame import BlameLine
from pages.ui import style
from pages.ui.components import component


def blame_view(lines: Sequence[BlameLine], key: str) -> Any:
    """Draw the lines; consecutive lines of one commit name it once."""
    last = ""
    rows = []
    for line in lines:
        commit = line.commit
        first = commit is not None and commit.id != last
        last = commit.id if commit else ""
        rows.append(
            {
                "number": line.number,
                "text": line.text,
                "who": commit.author.name if commit and first else "",
                "when": style.day(commit.when[:10]) if commit and first else "",
                "why": commit.message.splitlines()[0] if commit and commit.message else "",
            }
        )
    return component("blame")(key=key, data={"lines": rows})
