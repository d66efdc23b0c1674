"""The text of an upload in the editor, with its preview and what the checks say line by line."""

from __future__ import annotations

import streamlit as st

from core import strict
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter_edit import with_body
from core.curation.text.render import Node, with_pictures
from core.curation.upload.items import UploadItem, plain_lines
from core.errors import BadInput
from core.types import Document
from pages.ui import disagreements, flash, identity, pictures
from pages.ui.components.editor_view import editor_view
from pages.ui.upload import session
from pages.ui.workspace import app


def draw(item: UploadItem, n: int, document: Document | None) -> None:
    """The body, since the form shows what stands above it; the whole file where that cannot be read."""
    key = f"item_{session.turn()}_{n}_{'body' if document else 'whole'}"
    rest = item.text[document.body :] if document else item.text
    body = rest.lstrip("\n") if document else rest
    typed = (st.session_state.get(key) or {}).get("text")
    if typed is not None and _edited(item, n, document, rest[: len(rest) - len(body)], str(typed)):
        st.rerun()
    nodes, problem = _preview(document)
    editor_view(
        key=key,
        serial=key,
        place=strict.digest([key, identity.me().id, item.name]),
        path=item.place,
        text=item.text,
        body=body,
        document=document,
        nodes=nodes,
        problem=problem,
        note="",
        saved="",
        findings=[
            *(finding for finding in item.findings if finding.severity != "note" and not finding.field),
            *differing(item),
        ],
        token=identity.page_token(),
    )


def differing(item: UploadItem) -> list[Finding]:
    """What documents of the knowledge base say otherwise."""
    return disagreements.remarks(identity.me(), item.place, item.text) if item.readable else []


def _edited(item: UploadItem, n: int, document: Document | None, leading: str, typed: str) -> bool:
    """Take over what was typed, if it is new."""
    text = plain_lines(with_body(item.text, leading + typed.lstrip("\n")) if document else typed)
    return text != item.text and session.change(lambda uploads, batch: uploads.edit(batch, n, text=text))


def _preview(document: Document | None) -> tuple[list[Node], str]:
    """The document as drawn, or why it is not."""
    if document is None:
        return [], "There is no preview until the errors are fixed."
    try:
        nodes = app().upload.reader.render(document).nodes
        return with_pictures(nodes, pictures.uploaded(identity.me(), session.batch().pictures)), ""
    except BadInput as error:
        return [], flash.refusal(error)
