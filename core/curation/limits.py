"""What a document may hold, so that reading it stays quick: counted in one pass, before anything parses it."""

from __future__ import annotations

from core.errors import BadInput

LINE = 50_000  # characters of one line
PARAGRAPH = 5_000  # lines without a blank line between them, tables apart
COLUMNS = 500  # cells of one line
MARKS = {"[": 10_000, "*": 50_000, "_": 50_000, "~": 50_000, "]": 100_000, "\\": 100_000, "|": 100_000}
"""Marks that a parser tries to pair with each other, or that make a cell: twice as many take up to four times as long."""


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
                f"The text has {count:,} times the mark {mark}; a document has at most {most:,}. Split it, or take them out."
            )
    run = 0
    for number, line in enumerate(text.split("\n"), 1):
        _check_line(number, line)
        run = run + 1 if "|" not in line and line.strip() else 0 if not line.strip() else run
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
