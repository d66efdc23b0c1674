"""A node that writes to a table at the same moment as another one: for tests of what both leave."""

from __future__ import annotations

import threading
from multiprocessing.synchronize import Barrier

import numpy as np
import pyarrow as pa

from core.storage.lance import rows, table
from core.types import Chunk, Document

WIDTH = 8
CHUNKS = 5


def chunks_of(number: int, position: int) -> tuple[Document, list[Chunk]]:
    """A document as it is at a position: its first chunks are the same in every version, the last is another one each time."""
    document = Document(f"D-{number}", f"{number}.md", f"Document {number}", "text " * CHUNKS)
    names = [f"{number:08x}{part:08x}" for part in range(CHUNKS - 1)] + [f"{number:08x}{position + 1000:08x}"]
    return document, [Chunk(name, document.id, n, n + 4, "text") for n, name in enumerate(names)]


def rows_at(number: int, position: int) -> pa.Table:
    document, cut = chunks_of(number, position)
    return rows.of_chunks(
        [document], cut, ["text"] * len(cut), [""] * len(cut), np.ones((len(cut), WIDTH), np.float32), position
    )


def replace_document(place: str, number: int, position: int) -> None:
    """What a build does for one document."""
    opened = table.newest(place)
    table.upsert(opened, rows_at(number, position))
    table.drop_superseded(opened, [f"D-{number}"])


def write_rounds(place: str, first: int, rounds: int, ahead: int, together: Barrier | threading.Barrier) -> None:
    """In every round one document, at the same time as the other node; in odd rounds `ahead` positions later than it."""
    for number in range(first, first + rounds):
        together.wait(120)
        replace_document(place, number, 1 + ahead * (number % 2))
    together.wait(120)
