"""Three ways to bring documents in: files, pasted text, a template."""

from __future__ import annotations

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.statuses import COUNTS_AS, STATUSES
from core.curation.document.templates import TEMPLATES, fill
from core.curation.upload.conversions import SUFFIXES
from core.curation.upload.items import Batch
from core.ports import Progress
from core.services.upload.uploads import Uploads
from pages.ui import actions, flash, identity, style
from pages.ui.server import uploaded
from pages.ui.upload import session, shared
from pages.ui.workspace import app


def draw(me: Actor) -> None:
    """The chosen way to bring documents in."""
    ways = {"Files": files, "Paste text": paste, "Template": template}
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        way = st.segmented_control(
            "Bring in", list(ways), default="Files", required=True, key="upload_way", bind="query-params"
        )
        _statuses(me)
    ways[way or "Files"](me)


def files(me: Actor) -> None:
    """Read what was dropped, then reset the widget: only what was converted is kept, to be compared with."""
    dropped = st.file_uploader(
        "Drop Markdown, MDX, Word, PDF, HTML, PowerPoint, Excel or text files here, or a zip of a folder",
        type=[suffix.removeprefix(".") for suffix in SUFFIXES],
        accept_multiple_files=True,
        key=f"upload_files_{session.turn()}",
    )
    if not dropped:
        return
    bar = st.progress(0.0, f"Reading {style.count(len(dropped), 'file')}")
    raw = [(file.name, file.getvalue()) for file in dropped]
    first = len(session.batch().items)

    def show(done: int, total: int, what: str) -> None:
        bar.progress(done / total, f"{what} {done} of {total}")

    session.change(lambda uploads, batch: uploads.add(batch, _read(uploads, raw, show)), moves=True, adds=True)
    session.open_item(first)
    session.reset_widgets()
    uploaded.leave()
    st.rerun()


def _read(uploads: Uploads, raw: list[tuple[str, bytes]], progress: Progress) -> Batch:
    """Files as items, with what was chosen for all."""
    return shared.brought(uploads, uploads.read(identity.me(), raw, shared.into(), progress, session.keep_original))


def paste(me: Actor) -> None:
    turn = session.turn()
    st.text_input("Name", key=f"paste_name_{turn}", placeholder="for example: Badge replacement")
    st.text_area("Text", key=f"paste_text_{turn}", height=220, placeholder="Paste Markdown or plain text")
    st.button("Add", icon=":material/add:", key="paste_add", on_click=_add_pasted, args=(turn,))


def _add_pasted(turn: int) -> None:
    name = str(st.session_state.get(f"paste_name_{turn}", ""))
    _add(name, str(st.session_state.get(f"paste_text_{turn}", "")))


def template(me: Actor) -> None:
    """A type and a title; the author replaces the rest."""
    turn = session.turn()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Type", list(TEMPLATES), format_func=lambda name: TEMPLATES[name].name, key="template_type", width=160
        )
        st.text_input("Title", key=f"template_title_{turn}", placeholder="for example: Replace a lost badge")
        st.button(
            "Start", icon=":material/add:", key="template_add", on_click=_add_template, args=(turn, chosen, me.name)
        )
    st.caption(TEMPLATES[chosen].about)


def _add_template(turn: int, name: str, owner: str) -> None:
    title = str(st.session_state.get(f"template_title_{turn}", ""))
    if title.strip():
        _add(title, fill(TEMPLATES[name], title, owner, app().upload.uploads.clock.today()))
    else:
        _add(title, "")


def _add(name: str, text: str) -> None:
    first = len(session.batch().items)
    if session.change(
        lambda uploads, batch: uploads.add(batch, uploads.paste(identity.me(), name, text, shared.into())),
        moves=True,
        adds=True,
    ):
        session.open_item(first)


def left_out(batch: Batch) -> None:
    """Every file that was brought and is none of the documents, with the reason."""
    if not batch.left_out:
        return
    with st.expander(f"{style.count(len(batch.left_out), 'file')} left out", icon=":material/block:", type="compact"):
        for name, why in batch.left_out:
            st.markdown(f"- **{flash.plain(name)}**: {flash.plain(why)}")


def _statuses(me: Actor) -> None:
    """One line of words per status."""
    if not allowed(me, "import documents"):
        return
    own = app().upload.statuses.all()
    with st.popover("Status words", icon=":material/translate:", type="tertiary", key="status_words"):
        st.caption(
            "Files from other tools bring words of their own. A word that you name here is written as your status when"
            " a file comes in, and kept beside it. Separate words by commas."
        )
        for status in STATUSES:
            st.text_input(
                f"Counts as {style.STATUSES[status].lower()}",
                ", ".join(word for word, meaning in own.items() if meaning == status),
                key=f"status_words_{status}",
                placeholder="for example: beta",
                help=f"Known already: {', '.join(COUNTS_AS[status])}.",
            )
        st.button("Save", key="status_words_save", type="primary", on_click=actions.do, args=(_save,))


def _save(actor: Actor) -> str:
    typed = {status: str(st.session_state.get(f"status_words_{status}", "")) for status in STATUSES}
    words = {word.strip(): status for status, line in typed.items() for word in line.split(",") if word.strip()}
    return f"{style.count(len(app().upload.statuses.decide(actor, words)), 'status word')} saved."
