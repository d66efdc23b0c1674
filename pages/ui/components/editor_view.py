"""The editor: the text with its toolbar, the preview beside it, findings in the margin and below."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.curation.checks.findings import Finding
from core.curation.text.render import Node
from core.types import Document
from pages.ui.components import component

ROUTE = "/api/codemirror.js"
_BUNDLE = Path(__file__).parent / "vendor" / "codemirror.js"


@cache
def bundle() -> tuple[bytes, str]:
    """CodeMirror, gzipped, and its address: a new version has another one, so that browsers keep it for good."""
    script = _BUNDLE.read_bytes()
    return gzip.compress(script, mtime=0), f"{ROUTE}?v={hashlib.sha256(script).hexdigest()[:12]}"


def editor_view(
    key: str,
    serial: str,
    place: str,
    path: str,
    text: str,
    body: str,
    document: Document | None,
    nodes: Sequence[Node],
    problem: str,
    note: str,
    saved: str,
    findings: Sequence[Finding],
    token: str,
    insert: Mapping[str, str] | None = None,
) -> Any:
    """Draw the editor on the body of a text. Lines are those of the body; what stands above it has line 0. They are shown
    as those of the file, as reviews and checks count them: `above` lines stand before the body.

    Returns what was said: `picture` (`id`, `name` and `data`, in base64) is one to keep; its Markdown is to `insert` by that id.
    """
    above = text[: len(text) - len(body)].count("\n")
    return component("editor", "nodes", "checks", "tables", "formatting", "linking", "pasting")(
        key=key,
        data={
            "serial": serial,
            "place": place,
            "path": path,
            "text": body,
            "title": document.title if document else "",
            "nodes": list(nodes),
            "above": above,
            "lines": [line - above for line in _lines(document, nodes)] if document else [],
            "problem": problem,
            "note": note,
            "saved": saved,
            "checks": [
                [
                    max(0, check.line - above),
                    "differs" if check.rule == "disagreement" else check.severity,
                    check.message,
                ]
                for check in findings
            ],
            "library": bundle()[1],
            "direct": token,
            "insert": dict(insert or {}),
        },
        on_text_change=lambda: None,
        on_picture_change=lambda: None,
    )


def _lines(document: Document, nodes: Sequence[Node]) -> Iterator[int]:
    """The line of the file on which each block starts."""
    line, read = 1, 0
    for node in nodes:
        start = read if isinstance(node, str) else int(node[1].get("start", read))
        line, read = line + document.text.count("\n", read, start), max(read, start)
        yield line
