"""Search: the everyday page, on the production configuration."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.access import Actor, allowed, reader
from core.curation.words.pins import FILE as PINS
from core.curation.words.pins import Pin
from core.entrypoints import refusals
from core.errors import ConcordError
from core.services.knowledge.feedback import ReadSpan
from core.services.reviews.authoring import Target
from core.services.reviews.changes import Change
from core.services.search.searcher import pending_json
from core.types import Filters
from pages.ui import actions, flash, identity, keys, vectors
from pages.ui.components.search_view import examples, found, search_view
from pages.ui.words import saving
from pages.ui.workspace import app

me = identity.require("search")


def from_url() -> dict[str, Any]:
    return {
        "q": st.query_params.get(keys.QUERY, ""),
        "history": st.query_params.get(keys.HISTORY, "") == "true",
        "as_of": st.query_params.get(keys.AS_OF, ""),
        "filters": {name: st.query_params.get_all(name) for name in keys.FACETS if name in st.query_params},
    }


@st.fragment
def search() -> None:
    """The box and its results. Keystrokes go to the API; this fragment runs again for a new token."""
    me = identity.require("search")
    typed = (st.session_state.get("search_view") or {}).get("asked")
    asked = {**(typed or from_url()), "reader": f"{me.id} {app().knowledge.documents.audience()}"}  # others find others
    clicked = search_view(
        asked,
        answered(asked),
        "search_view",
        {
            "direct": identity.page_token(),
            "kept": kept(me),
            "examples": examples(app().knowledge.documents.all()),
            "may": {"pin": allowed(me, "propose a change"), "analyse": identity.analyses(me)},
            "answers": allowed(me, "get a written answer") and app().search.answerer.offered(),
            "pending": pending_json(vectors.pending(app())),
        },
    )
    hear(me, clicked)


def answered(asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the component draws, a refusal as its sentence; values of the address that are unknown match nothing."""
    query, values = str(asked.get("q") or ""), asked.get("filters") or {}
    chosen = {name: tuple(map(str, values.get(name, ())))[:20] for name in keys.FACETS}
    try:
        filters = Filters(**chosen, history=bool(asked.get("history")))
        return found(app(), query, filters, str(asked.get("as_of") or "")) if query.strip() else None
    except ConcordError as error:
        return {"error": flash.refusal(error), "cure": refusals.as_json(error.cure, reader()) if error.cure else None}


def hear(me: Actor, clicked: Any) -> None:
    """What was clicked beside the results. The browser is not trusted: services check every value."""
    if clicked.consent:
        actions.do_quietly(lambda actor: app().search.queries.consent(actor, bool(clicked.consent.get("keep"))))
        st.rerun(scope="fragment")
    if clicked.report:
        report = clicked.report
        app().knowledge.gaps.report(
            me,
            str(report.get("query", "")),
            str(report.get("note", "")),
            int(report.get("hits", 0)),
            app().knowledge.repository.head(),
        )
    if clicked.feedback:
        actions.do_quietly(lambda actor: give_feedback(actor, clicked.feedback))
    if clicked.pin:
        asked_for = clicked.pin
        saving.propose(PINS, lambda actor, target: pin(actor, target, asked_for))
        flash.show()
    if clicked.watch:
        question = str(clicked.watch.get("query", ""))
        actions.do_quietly(lambda actor: app().inbox.watches.watch(actor, "question", question))


def kept(me: Actor) -> dict[str, Any] | None:
    """What the page says about the questions it keeps; nothing where the team keeps none."""
    settings = app().platform.settings.questions()
    return {"days": settings.days, "mine": app().search.queries.consents(me)} if settings.keep else None


def pin(actor: Actor, target: Target, asked_for: Mapping[str, Any]) -> Change:
    """The document of a hit, for the question that found it.

    The browser is not trusted: the service checks every value.
    """
    document, section = str(asked_for.get("doc", "")), str(asked_for.get("section", ""))
    return app().words.rules.pin(
        actor, Pin(" ".join(str(asked_for.get("query", "")).split()), document, section), target
    )


def give_feedback(actor: Actor, said: Mapping[str, Any]) -> None:
    """About the passage of a hit. The browser is not trusted: the service checks every value."""
    span = ReadSpan(*(int(said.get(key, 0)) for key in ("start", "end", "version")))
    kind, note = str(said.get("kind", "")), str(said.get("note", ""))
    app().knowledge.feedback.give(actor, str(said.get("doc", "")), kind, note, span)


search()
