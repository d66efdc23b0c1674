"""Answers of language models by content, in one SQLite file that several processes share: nothing is asked twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from core.adapters.system.files import cache_file
from core.types import Answer

_SCHEMA = "answers (key TEXT PRIMARY KEY, text TEXT, model TEXT, input INTEGER, output INTEGER)"


class AnswerCache:
    """The `Answers` port. It holds what models wrote, never what they were asked."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _connect(self) -> sqlite3.Connection:
        return cache_file(self.path, _SCHEMA)

    def get(self, key: str) -> Answer | None:
        """A known answer, marked as one that cost nothing this time."""
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT text, model, input, output FROM answers WHERE key = ?", (key,)).fetchone()
        return Answer(row[0], row[1], row[2], row[3], cached=True) if row else None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer."""
        text = answer.text.encode("utf-8", "replace").decode()
        row = (key, text, answer.model, answer.input_tokens, answer.output_tokens)
        with closing(self._connect()) as connection:
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
