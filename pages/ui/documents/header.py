"""The header of a document: title, warnings and facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.curation.document.questions import one_line
from core.curation.document.statuses import freshness
from core.errors import ConcordError
from core.services.knowledge.blame import blame, editors
from core.services.platform.main_line import Moment
from core.types import Document
from pages.ui import flash, people, style
from pages.ui.components import component
from pages.ui.documents import answers_form
from pages.ui.workspace import app

EARLIER = 5  # places of a question that are shown beside the present one


def _people_to_ask(document: Document) -> str:
    """Who wrote what stands there now, and when they last did; whoever imported it did not."""
    if document.imported and document.version == 1:
        return ""
    return ", ".join(_editors(app().knowledge.repository.head(), document.id))


@st.cache_data(max_entries=500, show_spinner=False)
def _editors(head: str, doc: str) -> list[str]:
    newest = editors(blame(app().knowledge.documents, doc))
    return [f"{commit.author.name} (edited {style.day(commit.when[:10])})" for commit in newest]


def draw_past(document: Document, moment: Moment) -> None:
    """The header as it was on an earlier day."""
    facts = [
        ("Owner", document.meta.owner or "no owner"),
        ("Version", str(document.version)),
        *_dates(document),
        ("File", document.path),
        ("Commit", moment.commit[:12]),
    ]
    _title(document, facts, moment.day)


def draw(document: Document, today: date) -> None:
    meta = document.meta
    last = app().knowledge.documents.touched().get(document.path)
    facts = [
        ("Owner", meta.owner or "no owner"),
        ("Ask", _people_to_ask(document)),
        ("Version", f"{document.version}, {style.moment(last.when)}" if last else str(document.version)),
        *_dates(document),
        ("Approved", "by nobody here yet: it was imported" if document.imported else ""),
        ("Supersedes", ", ".join(meta.supersedes)),
        ("Read by", people.audience(app().knowledge.documents.readers(document.path, document))),
        ("File", document.path),
        ("Tags", ", ".join(meta.tags)),
    ]
    _title(document, facts, today)
    if meta.answers:
        with st.expander(
            f"Answers {style.count(len(meta.answers), 'question')}", icon=":material/quiz:", type="compact"
        ):
            _answers(document)


def _dates(document: Document) -> list[tuple[str, str]]:
    effective, due = document.meta.effective_date, document.meta.review_due
    return [("Effective", style.day(effective) if effective else ""), ("Review due", style.day(due) if due else "")]


def _title(document: Document, facts: Sequence[tuple[str, str]], today: date) -> None:
    """Title, badges of the state on a day, and those facts that are known."""
    meta = document.meta
    state = freshness(meta.effective_date, meta.review_due, today)
    badges = [
        {"text": style.type_name(meta.doc_type), "tone": ""},
        *style.standing(document.status),
        *style.badges(meta.status, state, str(meta.effective_date or "")),
    ]
    if document.id != document.path.removesuffix(".md"):
        badges.insert(1, {"text": document.id, "tone": ""})
    component("header")(
        key="document_header",
        data={"title": document.title, "badges": badges, "facts": [[name, value] for name, value in facts if value]},
    )


def _answers(document: Document) -> None:
    """Each question with the place where the document was found for it last, and those before."""
    checks = app().answers.checks
    try:
        places = {state.question: state.place for state in checks.listed(document.path)}
    except ConcordError:  # there is no index yet
        places = {}
    for question in dict.fromkeys(map(one_line, document.meta.answers)):
        place = places.get(question)
        st.markdown(f"{flash.plain(question)} {answers_form.badge(place) if place else ''}")
        earlier = checks.history(document.id, question)[:-1]
        if earlier:
            words = ", ".join(f"{was.rank or 'not found'} ({style.day(at[:10])})" for at, was in earlier[-EARLIER:])
            st.caption(f"Before: {words}")
