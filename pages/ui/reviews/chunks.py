"""The Chunks tab: which passages a change adds, removes or changes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import strict
from core.chunking.changed import ChunkPair
from core.chunking.changed import compare as compare_chunks
from core.curation.review.diffs import diff
from core.errors import ConcordError
from core.services.reviews.changes import Change
from core.services.reviews.diff import DocumentDiff, compare
from pages.ui import flash, style
from pages.ui.components import component
from pages.ui.documents.chunks import cut
from pages.ui.workspace import app

AT_ONCE = 30  # documents whose passages are compared
_LABELS = {"added": ("Appears", "good"), "removed": ("Vanishes", "bad"), "changed": ("Changes", "note")}


def draw(change: Change) -> None:
    """One list per document; unchanged passages are counted, not shown."""
    profile = app().platform.settings.production().profile
    st.caption(
        f"Passages as search will see them, cut by the {profile.chunker.name} chunker of the production profile."
    )
    diffs = [
        compare(app().knowledge.repository, change.start, change.head, edit) for edit in change.documents[:AT_ONCE]
    ]
    try:
        documents = [_document(diff) for diff in diffs if diff.old or diff.new]
    except ConcordError as error:
        st.warning(flash.refused(error))
        return
    component("chunkdiff", "difftext")(key="chunkdiff", data={"documents": documents})
    if len(change.documents) > AT_ONCE:
        st.caption(f"The first {AT_ONCE} of {len(change.documents)} documents are shown.")


def _document(document: DocumentDiff) -> dict[str, Any]:
    production = app().platform.settings.production().profile
    old, new = (cut(side, production.chunker) if side else () for side in (document.old, document.new))
    pairs = compare_chunks(old, new)
    counts = {kind: sum(pair.kind == kind for pair in pairs) for kind in ("added", "removed", "changed", "same")}
    summary = (
        f"{style.count(len(new), 'passage')} after the change: {counts['added']} appear, {counts['removed']} vanish,"
        f" {counts['changed']} change, {counts['same']} stay."
    )
    return {"title": document.title, "summary": summary, "chunks": _folded(pairs)}


def _folded(pairs: tuple[ChunkPair, ...]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        if pair.kind != "same":
            rows.append(_pair(pair))
        elif rows and "count" in rows[-1]:
            rows[-1]["count"] += 1
        else:
            rows.append({"count": 1})
    return rows


def _pair(pair: ChunkPair) -> dict[str, Any]:
    word, tone = _LABELS[pair.kind]
    before, after = (chunk.text if chunk else "" for chunk in (pair.before, pair.after))
    chunk = pair.after or pair.before
    sizes = [str(side.tokens) for side in (pair.before, pair.after) if side]
    return {
        "kind": pair.kind,
        "word": word,
        "tone": tone,
        "heading": " › ".join(chunk.heading) if chunk else "",
        "tokens": f"{' → '.join(sizes)} tokens",
        "rows": strict.plain(diff(before, after, -1).rows),
    }
