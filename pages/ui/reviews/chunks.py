"""The chunk diff: which passages a change makes appear, vanish or change."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import strict
from core.chunking.compare import ChunkPair, compare
from core.curation.diffs import diff
from core.errors import ConcordError
from core.services.reviews.changes import Change
from core.services.reviews.diff import DocumentDiff
from core.services.reviews.diff import compare as read
from pages.ui import flash, style
from pages.ui.components import component
from pages.ui.documents.sides import cut
from pages.ui.workspace import app

AT_ONCE = 30  # documents whose passages are compared
_WORDS = {"added": ("Appears", "good"), "removed": ("Vanishes", "bad"), "changed": ("Changes", "note")}


def draw(change: Change) -> None:
    """One list per document, unchanged passages counted."""
    profile = app().platform.settings.production().profile
    st.caption(
        f"Passages as search will see them, cut by the {profile.chunker.name} chunker of the production profile."
    )
    shown = [read(app().knowledge.store, change.start, change.head, edit) for edit in change.documents[:AT_ONCE]]
    try:
        documents = [_document(one) for one in shown if one.old or one.new]
    except ConcordError as error:
        st.warning(flash.plain(str(error)))
        return
    component("chunkdiff")(key="chunkdiff", data={"documents": documents})
    if len(change.documents) > AT_ONCE:
        st.caption(f"The first {AT_ONCE} of {len(change.documents)} documents are shown.")


def _document(one: DocumentDiff) -> dict[str, Any]:
    production = app().platform.settings.production().profile
    old, new = (cut(side, production.chunker, production.context) if side else () for side in (one.old, one.new))
    pairs = compare(old, new)
    counts = {kind: sum(pair.kind == kind for pair in pairs) for kind in ("added", "removed", "changed", "same")}
    summary = f"{style.count(len(new), 'passage')} after the change: {counts['added']} appear, {counts['removed']} vanish, {counts['changed']} change, {counts['same']} stay."
    return {"title": one.title, "summary": summary, "chunks": _folded(pairs)}


def _folded(pairs: tuple[ChunkPair, ...]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for pair in pairs:
        if pair.kind != "same":
            found.append(_pair(pair))
        elif found and "count" in found[-1]:
            found[-1]["count"] += 1
        else:
            found.append({"count": 1})
    return found


def _pair(pair: ChunkPair) -> dict[str, Any]:
    word, tone = _WORDS[pair.kind]
    before, after = (chunk.text if chunk else "" for chunk in (pair.before, pair.after))
    chunk = pair.after or pair.before
    sizes = [str(one.tokens) for one in (pair.before, pair.after) if one]
    return {
        "kind": pair.kind,
        "word": word,
        "tone": tone,
        "heading": " › ".join(chunk.heading) if chunk else "",
        "tokens": f"{' → '.join(sizes)} tokens",
        "rows": strict.plain(diff(before, after, -1).rows),
    }
