"""CSV for spreadsheets, which run a cell that starts like a formula unless it is quoted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\n＝＋－＠]")  # the wide signs count too in some spreadsheets
_INSIDE = re.compile(
    r"(?<=[;\t\n])(?='*(?:[=+@＝＋＠]|[-－](?! )))"
)  # where a spreadsheet of another locale begins a cell
_LONGEST = 100  # lines of one record
_GUARDED = re.compile(r"'+[=+\-@\t\n＝＋－＠]")
_GUARDED_INSIDE = re.compile(r"(?<=[;\t\n])'(?='*(?:[=+@＝＋＠]|[-－](?! )))")


def guarded(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula. A carriage return would start a row, which could be one.

    >>> guarded("=1+1"), guarded(-0.5), guarded("plain"), guarded("plain\\r=1+1")
    ("'=1+1", -0.5, 'plain', "plain\\n'=1+1")
    >>> guarded("a;=1+1;b"), unguarded("a;'=1+1;b")
    ("a;'=1+1;b", 'a;=1+1;b')
    """
    if not isinstance(cell, str):
        return cell
    text = _INSIDE.sub("'", cell.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The cell before `guarded`.

    >>> unguarded("'=1+1"), unguarded("'tis plain")
    ('=1+1', "'tis plain")
    """
    return _GUARDED_INSIDE.sub("", cell[1:] if _GUARDED.match(cell) else cell)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, every cell guarded.

    >>> csv_text([("question", "score"), ("=HYPERLINK(1)", 0.5)])
    "question,score\\n'=HYPERLINK(1),0.5\\n"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def csv_records(text: str) -> Iterator[tuple[int, list[str] | None]]:
    """The last line of each record and its cells; None where quotes are broken, and reading goes on in the next line.

    >>> list(csv_records('a,b\\n"1\\n2",3\\n"x,4\\n5,6'))
    [(1, ['a', 'b']), (3, ['1\\n2', '3']), (4, None), (5, ['5', '6'])]
    """
    lines, at = text.splitlines(keepends=True), 0
    while at < len(lines):
        end, quotes = at + 1, lines[at].count('"')
        while quotes % 2 and end < min(len(lines), at + _LONGEST):
            quotes, end = quotes + lines[end].count('"'), end + 1
        try:
            yield end, next(csv.reader(lines[at:end], strict=True), [])
            at = end
        except csv.Error:
            yield at + 1, None
            at += 1
