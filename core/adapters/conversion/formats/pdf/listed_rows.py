"""A row of a ruled table that is a row per line: names in one cell beside numbers in others."""

from __future__ import annotations

from typing import Any


def _middle(word: dict[str, Any]) -> float:
    return float(word["top"] + word["bottom"]) / 2


def lines_of(found: Any, row: Any) -> list[list[str]]:
    """A row of a ruled table as one row per line, where its columns are lists of numbers beside a list of names."""
    words = [word for word in found.page.extract_words() if row.bbox[1] <= _middle(word) <= row.bbox[3]]
    lines: list[list[str]] = []
    heights: list[float] = []
    for word in sorted(words, key=lambda each: (round(_middle(each)), each["x0"])):
        column = next(
            (n for n, box in enumerate(row.cells) if box and box[0] <= (word["x0"] + word["x1"]) / 2 <= box[2]), None
        )
        if column is None:
            continue
        if not heights or _middle(word) - heights[-1] > (word["bottom"] - word["top"]) / 2:
            heights.append(_middle(word))
            lines.append([""] * len(row.cells))
        lines[-1][column] = f"{lines[-1][column]} {word['text']}".strip()
    return lines
