"""Methods on the command line: every chunker, leg, normalisation, fusion, source of alpha and reranker."""

from __future__ import annotations

from typing import Annotated

from core import catalogue
from core.entrypoints.record import CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table


@form
class MethodsOptions:
    markdown: Annotated[bool, Option("as a Markdown table")] = False


@command("methods")
def methods(call: CommandCall, form: MethodsOptions) -> Shown:
    """Every method, by kind."""
    rows = list(catalogue.rows())
    lines = catalogue.markdown().splitlines() if form.markdown else table(rows, catalogue.COLUMNS)
    return Shown(
        [dict(zip(("kind", "name", "about", "parameters", "source"), row, strict=True)) for row in rows], lines
    )
