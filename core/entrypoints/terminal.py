"""Command-line output: results on standard output, progress on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Any

from core import strict


class Terminal:
    """JSON for programs, lines for people, and a progress bar."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self._live = sys.stderr.isatty()
        self._last, self._shown, self._what = 0.0, False, ""

    def show(self, value: Any, lines: Sequence[str]) -> None:
        self.end_progress()
        if self.as_json:
            print(json.dumps(strict.plain(value), indent=2, ensure_ascii=False))
        else:
            print("\n".join(lines))

    def progress(self, done: int, total: int, what: str) -> None:
        """A bar that moves in place, or an occasional line where there is no terminal."""
        finished = done >= total
        if self.quiet or (
            time.monotonic() - self._last < (0.1 if self._live else 5.0)
            and not (finished and self._live)
            and what == self._what
        ):
            return
        self._last, self._what = time.monotonic(), what
        line = bar(done, total, what)
        if self._live:
            sys.stderr.write(f"\r\033[K{line[: get_terminal_size().columns - 1]}")
            self._shown = True
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def end_progress(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._shown = False


def bar(done: int, total: int, what: str) -> str:
    """How far something is, and what: words come last, so that a narrow window cuts no number.

    >>> bar(3, 12, "Training on cpu: 12 min left")
    '[███████                       ] 3/12  Training on cpu: 12 min left'
    """
    share = done / total if total else 1.0
    return f"[{'█' * int(share * 30):<30}] {done}/{total}  {what}"


def table(rows: Sequence[Sequence[Any]], heads: Sequence[str]) -> list[str]:
    """Columns as wide as they need to be.

    >>> table([["a", 1], ["bb", 22]], ["name", "n"])
    ['name  n', 'a     1', 'bb    22']
    """
    texts = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[n]) for row in texts) for n in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts]
