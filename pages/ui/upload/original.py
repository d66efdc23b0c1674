"""A converted file beside its original: a page of a PDF as a picture, other files as their own text, and what to
compare.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.curation.upload.conversions import KINDS, Original, ToCheck
from core.curation.upload.edits import span, summary_of
from core.curation.upload.items import UploadItem
from core.errors import ConcordError
from core.types import Document
from pages.ui import flash, identity, keys, pictures
from pages.ui.components import component
from pages.ui.components.reader import reader
from pages.ui.upload import session
from pages.ui.workspace import app

HEIGHT = 620  # pixels


def to_compare(item: UploadItem) -> str:
    """What a person should look at, in one sentence."""
    parts = summary_of(item.to_check)
    return f"Compare it with the original: {parts} to check." if parts else "Compare its text with the original."


def download(item: UploadItem) -> None:
    """The file as it was brought in."""
    if raw := session.original(item.original):
        name = item.name.rpartition("/")[2]
        st.download_button("Original", raw, name, icon=":material/download:", key="item_download", on_click="ignore")


def draw(item: UploadItem, n: int, document: Document | None) -> None:
    """Both side by side; a chosen part is shown in both."""
    part = _chosen_part(item, n)
    left, right = st.columns(2, gap="medium")
    with left:
        _original(item, n, part)
    with right:
        st.markdown("**Converted text**")
        with st.container(border=True, height=HEIGHT, key="preview"):
            if document is None:
                st.warning("There is no preview until the errors are fixed.", icon=":material/edit_note:")
            else:
                st.markdown(f"# {flash.plain(document.title)}")
                mark = span(document, part.line) if part and part.line else None
                address = pictures.uploaded(identity.me(), session.batch().pictures)
                reader(document, key="upload_reader", mark=mark, address=address)


def _chosen_part(item: UploadItem, n: int) -> ToCheck | None:
    """The part of the file to look at; those that are not in the text are named."""
    for part in item.to_check:
        if not part.line:
            where = f" ({_unit(item)} {part.page})" if part.page else ""
            words = f" {flash.plain(part.words)}." if part.words else ""
            st.caption(f":material/warning: {KINDS[part.kind]}{where}:{words} {flash.plain(part.note)}")
    places = [number for number, part in enumerate(item.to_check) if part.line]
    if not places:
        return None
    chosen = st.pills(
        "To check",
        places,
        format_func=lambda number: _label(item.to_check[number], _unit(item)),
        key=f"item_part_{session.turn()}_{n}",
    )
    if chosen is None:
        return None
    if note := item.to_check[chosen].note:
        st.caption(f":material/warning: {flash.plain(note)}")
    return item.to_check[chosen]


def _unit(item: UploadItem) -> str:
    """What the pages of a file are called."""
    return {"PowerPoint": "slide", "Excel": "sheet"}.get(item.converted, "page")


def _label(part: ToCheck, unit: str) -> str:
    words = part.words if len(part.words) <= 40 else f"{part.words[:37]}..."
    page = f", {unit} {part.page}" if part.page else ""
    if part.kind == "scan":
        return f"Scanned {unit} {part.page}"
    return flash.plain(f"{KINDS[part.kind]}{': ' if words else ''}{words}{page}")


def _original(item: UploadItem, n: int, part: ToCheck | None) -> None:
    """The original, one page at a time where it has pages; a chosen part turns to its page."""
    last = _last(item)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**The original ({item.converted})**")
        page = _page(n, int(last.get("pages", 1)), part)
    with st.container(border=True, height=HEIGHT, key="original"):
        raw = session.original(item.original)
        shown = _drawn(item, raw, page) if raw else Original()
        if shown.picture:
            st.image(shown.picture, alt=f"{_unit(item).capitalize()} {page} of the original", width="stretch")
        elif shown.nodes:
            component("prose", "nodes")(key="upload_original", data={"nodes": list(shown.nodes)})
        else:
            st.caption("Open the original in its own program to compare: it cannot be shown here.")


def _page(n: int, pages: int, part: ToCheck | None) -> int:
    """The page that is shown; a new choice of a part starts at its page."""
    if pages < 2:
        return part.page if part and part.page else 1
    start = min(part.page, pages) if part and part.page else 1
    key = f"item_page_{session.turn()}_{n}_{part.line if part else 0}"
    return st.pagination(pages, default=start, key=key, max_visible_pages=5)


def _last(item: UploadItem) -> dict[str, Any]:
    """What was drawn last, if it is of this file."""
    last = st.session_state.get(keys.UPLOAD_PAGE) or {}
    return last if last.get("of") == item.original else {}


def _drawn(item: UploadItem, raw: bytes, page: int) -> Original:
    """One page of a file; the last one drawn is kept."""
    last = _last(item)
    if last and last["page"] == page:
        return Original(last["picture"], last["pages"], last["nodes"])
    try:
        shown = app().upload.uploads.original(identity.me(), item, raw, page)
    except ConcordError as error:
        st.warning(flash.refused(error), icon=":material/info:")
        return Original()
    values = {"of": item.original, "page": page, "picture": shown.picture, "pages": shown.pages, "nodes": shown.nodes}
    st.session_state[keys.UPLOAD_PAGE] = values
    if shown.pages > 1 and not last:
        st.rerun()  # now the number of pages is known
    return shown
