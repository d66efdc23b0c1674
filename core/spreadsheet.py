"""Cells of a CSV file that a spreadsheet cannot take for a formula."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def guarded(cell: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, CSV injection).

    >>> guarded("=HYPERLINK(1)"), guarded("'=1"), guarded(-0.5)
    ("'=HYPERLINK(1)", "''=1", -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The cell as it was before `guarded`.

    >>> unguarded("'- first step"), unguarded("'quoted'")
    ('- first step', "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
