"""CSV for spreadsheets, which run a cell that starts like a formula unless it is quoted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\n＝＋－＠]")  # the wide signs count too in some spreadsheets
_GUARDED = re.compile(r"'+[=+\-@\t\n＝＋－＠]")


def guarded(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula. A carriage return would start a row, which could be one.

    >>> guarded("=1+1"), guarded(-0.5), guarded("plain"), guarded("plain\\r=1+1")
    ("'=1+1", -0.5, 'plain', 'plain\\n=1+1')
    """
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The cell before `guarded`.

    >>> unguarded("'=1+1"), unguarded("'tis plain")
    ('=1+1', "'tis plain")
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, every cell guarded.

    >>> csv_text([("question", "score"), ("=HYPERLINK(1)", 0.5)])
    "question,score\\n'=HYPERLINK(1),0.5\\n"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()
