"""The other sides of a document: its history, its links, its chunks."""

from __future__ import annotations

import streamlit as st

from core.access import allowed
from core.chunking import CHUNKERS, chunker, known
from core.chunking.tools import Tools
from core.curation.links import links
from core.errors import ConcordError
from core.services.knowledge.blame import approval, blame
from core.services.knowledge.documents import Version
from core.types import Chunk, ChunkerSpec, Document
from pages.ui import flash, identity, keys, style
from pages.ui.components.blame_view import blame_view
from pages.ui.components.chunk_view import chunk_view
from pages.ui.components.diffs import diff_view
from pages.ui.components.listing import listing
from pages.ui.editor import tools
from pages.ui.workspace import app, links_to


def history_side(document: Document) -> None:
    """Versions, and what changed between any two."""
    versions = app().knowledge.documents.history(document.id)
    by_number = {version.number: version for version in versions}
    lines = st.toggle("Who wrote each line", key="blame")
    if lines:
        blame_view(blame(app().knowledge.documents, document.id), key="blame_lines")
        return
    listing([_version(version) for version in versions], "", key="versions")
    if len(versions) < 2:
        st.caption("This is the first version; there is nothing to compare yet.")
        return
    numbers, last = sorted(by_number), len(by_number) - 1
    old, new = st.columns(2)
    before = old.selectbox(
        "From version", numbers, index=last - 1, key=f"{keys.OLD}_{document.id}", bind="query-params"
    )
    after = new.selectbox("To version", numbers, index=last, key=f"{keys.NEW}_{document.id}", bind="query-params")
    me = identity.me()
    if allowed(me, "propose a change") and before != numbers[-1]:
        tools.bring_back(document, by_number[before], me)
    try:
        diff_view(_at(by_number[before]), _at(by_number[after]), f"Version {before}", f"Version {after}", key="diff")
    except ConcordError as error:
        st.warning(f"One of these versions cannot be read: {flash.plain(str(error))}")


def _version(version: Version) -> dict[str, object]:
    commit = version.commit
    why = commit.message.splitlines()[0] if commit.message else "Change"
    sub = " · ".join(part for part in (commit.author.name, approval(commit.message)) if part)
    return {"title": f"Version {version.number}: {why}", "sub": sub, "right": style.moment(commit.when)}


def _at(version: Version) -> Document:
    return app().knowledge.documents.at(version.commit.id, version.commit.path)


def links_side(document: Document) -> None:
    """What links here, and where this document leads."""
    known = {other.path: other for other in app().knowledge.documents.all()}
    here, there = st.columns(2, gap="large")
    with here:
        st.subheader("What links here")
        found = [(known[path], text) for path, text in links_to(document.path) if path in known]
        items = [{"doc": other.id, "title": other.title, "sub": f"as “{text}”"} for other, text in found]
        listing(items, "No other document links here.", key="links_here")
    with there:
        st.subheader("Where this leads")
        targets = dict.fromkeys(link.path for link in links(document) if link.path and link.path != document.path)
        listing([_target(path, known) for path in targets], "This document links to no other.", key="links_there")


def _target(path: str, known: dict[str, Document]) -> dict[str, object]:
    if path not in known:
        return {"title": path, "badges": [{"text": "No such document", "tone": "bad"}]}
    return {"doc": known[path].id, "title": known[path].title, "sub": path}


def chunks_side(document: Document) -> None:
    """The chunk boundaries on the text, for the production profile and, beside it, for any other chunker."""
    production = app().platform.settings.production().profile
    compare = st.toggle("Compare with another chunker", key="compare")
    sides = [(f"{production.chunker.name} (production)", cut(document, production.chunker, production.context))]
    if compare:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.selectbox("Chunker", list(CHUNKERS), index=1, key="chunker", width=190)
            params = {
                key: int(st.number_input(key.replace("_", " "), 0, 5000, value, key=f"chunker_{name}_{key}", width=140))
                for key, value in known(name).defaults.items()
            }
        try:
            sides.append(
                (
                    f"{name} ({', '.join(map(str, params.values()))})",
                    cut(document, ChunkerSpec(name, params), production.context),
                )
            )
        except ConcordError as error:
            st.warning(flash.plain(str(error)))
    chunk_view(document, sides, key="chunks")


def cut(document: Document, spec: ChunkerSpec, context: str) -> tuple[Chunk, ...]:
    """The chunks of a document, as a profile would make them."""
    embedder = app().models.registry.of(app().platform.settings.production().profile)
    tools = Tools(embedder.tokens, embedder.documents, report=lambda _, what: st.caption(flash.plain(what)))
    return chunker(spec, tools, context)(document)
