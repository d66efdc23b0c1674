"""Methods on the command line: every chunker, leg, normalisation, fusion, source of alpha and reranker."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import catalogue
from core.entrypoints.terminal import Terminal, table
from core.settings import Settings


def register(add: Any) -> None:
    """The command `methods`."""
    command = add("methods", methods)
    command.add_argument("--markdown", action="store_true", help="as a Markdown table")


def methods(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Every method, by kind."""
    rows = list(catalogue.rows())
    lines = catalogue.markdown().splitlines() if options.markdown else table(rows, catalogue.COLUMNS)
    terminal.show(
        [dict(zip(("kind", "name", "about", "parameters", "source"), row, strict=True)) for row in rows], lines
    )
    return 0
