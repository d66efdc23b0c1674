"""What a document may hold, so that reading it stays quick: counted in one pass, before anything parses it."""

from __future__ import annotations

from core.errors import BadInput

LINE = 50_000  # characters of one line
PARAGRAPH = 5_000  # lines without a blank line between them, tables apart
COLUMNS = 500  # cells of one line
CELLS = 100_000  # of all tables; a short row counts like the widest one, since a parser fills it up
MARKS = {"[": 10_000, "*": 50_000, "_": 50_000, "~": 50_000, "]": 100_000, "\\": 100_000}
"""Marks that a parser tries to pair with each other: twice as many take up to four times as long."""

PICTURE_BYTES = 5 * 1024**2  # of one picture
PICTURE_PIXELS = 40_000_000  # of one picture; a browser takes four bytes for each
PICTURE_SIDE = 20_000  # pixels
PICTURE_FRAMES = 500  # of one animation
PICTURES_OF_DOCUMENT = 200
PICTURE_BYTES_OF_DOCUMENT = 40 * 1024**2
PICTURE_BYTES_OF_ALL = 2 * 1024**3  # in the knowledge base as it stands, without its history
SVG_ELEMENTS = 20_000  # of one drawing, with repeated parts counted as often as they are drawn
SVG_DEPTH = 60  # elements inside each other


def check_limits(text: str) -> None:
    """Refuse a text that would take long to parse; the sentence names the limit.

    >>> check_limits("[" * 20_000)
    Traceback (most recent call last):
        ...
    core.errors.BadInput: The text has 20,000 times the mark [; a document has at most 10,000. Split it, or ...
    >>> check_limits("a\\n\\n" + "b" * 60_000)
    Traceback (most recent call last):
        ...
    core.errors.BadInput: Line 3: the line has 60,000 characters; the limit is 50,000. Break it into several.
    """
    for mark, most in MARKS.items():
        if (count := text.count(mark)) > most:
            raise BadInput(
                f"The text has {count:,} times the mark {mark}; a document has at most {most:,}. Split it, or take "
                "them out."
            )
    if (count := cells(text)) > CELLS:
        raise BadInput(f"The tables have room for {count:,} cells; a document has at most {CELLS:,}. Split them.")
    run = 0
    for number, line in enumerate(text.split("\n"), 1):
        _check_line(number, line)
        if not line.strip():
            run = 0
        elif "|" not in line:
            run += 1
        if run > PARAGRAPH:
            raise BadInput(
                f"Line {number}: more than {PARAGRAPH:,} lines stand without a blank line between them. "
                "Put blank lines between the parts."
            )


def _check_line(number: int, line: str) -> None:
    if len(line) > LINE:
        raise BadInput(
            f"Line {number}: the line has {len(line):,} characters; the limit is {LINE:,}. Break it into several."
        )
    if len(line) > COLUMNS and (cells := line.count("|")) > COLUMNS:
        raise BadInput(f"Line {number}: the line has {cells:,} cells; a table has at most {COLUMNS}. Split the table.")


def cells(text: str) -> int:
    """How many cells the tables of a text may come to, counted without parsing it.

    >>> cells("| a | b |\\n|---|---|\\n| 1 |\\n\\nNo table.\\n")
    9
    """
    total = widest = lines = 0
    for line in (*text.split("\n"), ""):
        if line.strip():
            widest, lines = max(widest, line.count("|")), lines + 1
        else:
            total, widest, lines = total + widest * lines, 0, 0
    return total


def effort(text: str) -> int:
    """How long parsing may take at most, in characters: a cell costs as much as one."""
    return len(text) + cells(text)
