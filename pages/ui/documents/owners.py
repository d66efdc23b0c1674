"""The owners of many documents in one step: by folder, by who wrote them, or from a table; as one change."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.access import Actor
from core.curation.document.names import folder_counts
from core.errors import ConcordError
from core.services.inbox.owners import NAMES, ProposedOwners
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import save_owners
from core.services.reviews.changes import Change
from core.types import Document
from pages.ui import flash, owner_field, style
from pages.ui.documents import save_target
from pages.ui.workspace import app

FOLDER, HISTORY, TABLE = SOURCES = ("By folder", "By who wrote them", "From a table")
MOST = 30  # folders with a field of their own


def draw(me: Actor) -> None:
    """Where owners come from, what would be written, and the change that writes it."""
    st.title("Name owners")
    everything = app().knowledge.documents.all()
    ownerless = [document for document in everything if not document.meta.owner]
    owned = len(everything) - len(ownerless)
    every = owned > 0 and st.toggle(f"Also the {style.count(owned, 'document')} that have one", key="owners_all")
    documents = everything if every else ownerless
    if not documents:
        st.info("Every document has an owner.", icon=":material/check:")
        return
    source = st.segmented_control("Where they come from", SOURCES, default=FOLDER, required=True, key="owners_source")
    try:
        found = {FOLDER: _by_folder, HISTORY: _by_history, TABLE: _by_table}[str(source)](documents)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/error:")
        return
    if found is not None:
        _review(found, me)


def _by_folder(documents: Sequence[Document]) -> ProposedOwners | None:
    counts = folder_counts(document.path for document in documents)
    ordered = [name for name in counts if name]
    chosen = {}
    for n, name in enumerate(ordered[:MOST]):
        words, field = st.columns([2, 3], vertical_alignment="bottom")
        words.markdown(f"**{flash.plain(name)}** :gray[{style.count(counts[name], 'document')}]")
        chosen[name] = owner_field.choose(
            field, f"owners_folder_{n}", label=f"Owner of {name}", label_visibility="collapsed"
        )
    if len(ordered) > MOST:
        st.caption(f"{style.count(len(ordered) - MOST, 'more folder')}: name their owners in a table.")
    return app().inbox.owners.by_folder(documents, chosen) if any(chosen.values()) else None


def _by_history(documents: Sequence[Document]) -> ProposedOwners:
    st.caption("Whoever wrote most of a document's versions. Imports and programs do not count.")
    return app().inbox.owners.by_history(documents, app().knowledge.documents.authored())


def _by_table(documents: Sequence[Document]) -> ProposedOwners | None:
    st.caption(f"A CSV whose first line names a column of owners and one of: {', '.join(NAMES)}.")
    column = st.text_input("Column of owners", "owner", key="owners_column", max_chars=100)
    file = st.file_uploader("Table", type="csv", key="owners_file")
    if file is None:
        return None
    return app().inbox.owners.by_table(documents, file.getvalue().decode("utf-8-sig", "replace"), column)


def _review(found: ProposedOwners, me: Actor) -> None:
    """Who gets how many, whom nobody knows, and the change."""
    if found.unknown:
        names = ", ".join(f"{name} ({count:,})" for name, count in list(found.unknown.items())[:8])
        st.warning(f"There is no account with these names: {flash.plain(names)}", icon=":material/person_off:")
        also = st.checkbox(
            "Write these names all the same; reminders about them go to the admins", key="owners_unknown"
        )
        found = found if also else found.known()
    if found.missing:
        st.warning(f"No document fits: {flash.plain(', '.join(found.missing[:8]))}", icon=":material/search_off:")
    if not found.owners:
        st.info("Nobody was found, so nothing would change.", icon=":material/info:")
        return
    for owner, count in found.shares.items():
        st.markdown(f"- **{flash.plain(owner)}**: {style.count(count, 'document')}")
    many = style.count(len(found.owners), "document")
    target = save_target.choose("owners_into", f"Name the owners of {many}", "", me)
    if st.button(save_target.label(target), type="primary", key="owners_save", icon=":material/save:"):
        with st.spinner(f"Writing and checking {many}"):
            save_target.finish_with(lambda actor: _save(actor, found, target))


def _save(actor: Actor, found: ProposedOwners, target: Target) -> Change:
    change, made = save_owners(app().reviews.changes, app().knowledge.documents, actor, found.owners, target)
    if made.refused:
        flash.say(f"{style.count(len(made.refused), 'document')} left out: see the description of the change.", "info")
    return change
