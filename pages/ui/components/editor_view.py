"""The editor: the text with its toolbar, the preview beside it, findings in the margin and below."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import streamlit as st

from core.curation.checks.findings import Finding
from core.curation.text.render import Node
from core.types import NOTHING, Document
from pages.ui import keys
from pages.ui.components import component, heard

ROUTE = "/api/codemirror.js"
_BUNDLE = Path(__file__).parent / "vendor" / "codemirror.js"


@cache
def bundle() -> tuple[bytes, str]:
    """CodeMirror, gzipped, and its address: a new version has another one, so that browsers keep it for good."""
    script = _BUNDLE.read_bytes()
    return gzip.compress(script, mtime=0), f"{ROUTE}?v={hashlib.sha256(script).hexdigest()[:12]}"


@dataclass(frozen=True)
class Editing:
    """What an editor shows: the body of a text, how it reads, what checks say of it."""

    serial: str  # another one opens the text anew
    place: str  # where a browser keeps what it could not send
    path: str
    text: str
    body: str
    document: Document | None
    nodes: Sequence[Node]
    problem: str
    findings: Sequence[Finding]
    token: str
    note: str = ""
    saved: str = ""
    insert: Mapping[str, str] = NOTHING
    left: str = ""  # the id of the last text that was kept beside this one


def tab() -> str:
    """What names the session of this tab; after a reload or a restart of the server it has another name."""
    return str(st.session_state.setdefault(keys.EDITOR, uuid4().hex[:12]))


def typed(key: str, serial: str) -> Mapping[str, Any]:
    """What was typed under a serial: a browser also sends what it had before a reset or a restart of the server."""
    said = (st.session_state.get(key) or {}).get("text") or NOTHING
    return said if said.get("serial") == serial else NOTHING


def editor_view(key: str, shown: Editing) -> Any:
    """Draw the editor on the body of a text. Lines are those of the body; what stands above it has line 0. They are
    shown
    as those of the file, as reviews and checks count them: `above` lines stand before the body.

    Returns what was said: `picture` (`id`, `name` and `data`, in base64) is one to keep; its Markdown is to `insert` by
    that id.
    `left` (`id`, `text` and the texts that it was typed `after`) was typed before another text was saved elsewhere.
    """
    above = shown.text[: len(shown.text) - len(shown.body)].count("\n")
    document = shown.document
    data = {
        **{name: getattr(shown, name) for name in ("serial", "place", "path", "problem", "note", "saved", "left")},
        "tab": tab(),
        "text": shown.body,
        "title": document.title if document else "",
        "nodes": list(shown.nodes),
        "above": above,
        "lines": [line - above for line in _lines(document, shown.nodes)] if document else [],
        "checks": [
            [max(0, check.line - above), "differs" if check.rule == "disagreement" else check.severity, check.message]
            for check in shown.findings
        ],
        "library": bundle()[1],
        "direct": shown.token,
        "insert": dict(shown.insert),
    }
    parts = ("nodes", "checks", "tables", "formatting", "linking", "pasting")
    return component("editor", *parts)(key=key, data=data, **heard("text", "picture", "left"))


def _lines(document: Document, nodes: Sequence[Node]) -> Iterator[int]:
    """The line of the file on which each block starts."""
    line, read = 1, 0
    for node in nodes:
        start = read if isinstance(node, str) else int(node[1].get("start", read))
        line, read = line + document.text.count("\n", read, start), max(read, start)
        yield line
