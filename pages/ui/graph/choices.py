"""What to look at: a view, where it starts, and how far it goes. The address holds it all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.errors import ConcordError
from core.services.graph.explorer import IN_FORCE
from core.services.graph.view import LIMIT
from core.types import Filters
from pages.ui import address, flash, identity, keys
from pages.ui.configurations import built_profiles
from pages.ui.home import empty
from pages.ui.workspace import app, generation, links_to

VIEWS = {  # what each can be asked
    "Document": "What does this document name, and which others name the same?",
    "Query": "Which names does a question hold, and which passages do relations lead to from them?",
    "Entity": "Who or what is mentioned together with this form, system, role or place?",
    "Path": "How are two things connected, and which documents say so?",
    "Communities": "Which topics does the knowledge base fall into, and what holds each together?",
    "Links": "Which documents link to which, and which does nobody link to?",
}
AS = ("Picture", "Table")
SIZES = (50, 100, 200, LIMIT)  # nodes at most
_MOST = 500  # entities in the list; any other can be typed
_REACHING = ("Document", "Query", "Entity")  # views that go from somewhere, hop by hop


@dataclass(frozen=True, slots=True)
class Choice:
    """A view of the graph as somebody asked for it."""

    view: str
    start: str = ""
    end: str = ""  # of a path
    hops: int = 1
    limit: int = 100
    profile: str = ""
    colour: str = "community"
    table: bool = False


def draw() -> Choice:
    """The title with the views, then where to start and how to show it."""
    with st.container(horizontal=True, vertical_alignment="center", key="graph_bar"):
        st.title("Graph", anchor=False, width="stretch")
        view = st.segmented_control(
            "View",
            list(VIEWS),
            key=keys.GRAPH_VIEW,
            default="Document",
            required=True,
            bind="query-params",
            label_visibility="collapsed",
        )
    view = view if view in VIEWS else "Document"
    st.caption(VIEWS[view])
    if view != "Links" and app().knowledge.documents.all() and not generation():
        empty.no_index("Entities and passages are read from an index.")
        st.stop()
    profile = _profile()
    if view == "Document":
        _missing(st.query_params.get(keys.AROUND, ""))
    with st.container(horizontal=True, vertical_alignment="bottom", key="graph_choices"):
        if view == "Path":
            return Choice(view, *_ends(profile), profile=profile)
        start = _start(view, profile)
        hops, limit = _reach(view)
        colour = _colour(view)
        how = st.segmented_control(
            "Show as", AS, key=keys.GRAPH_AS, default="Picture", required=True, bind="query-params"
        )
    return Choice(view, start, "", hops, limit, profile, colour, how == "Table")


def centre() -> None:
    """Look around the node that was clicked."""
    clicked = (st.session_state.get("graph_network") or {}).get("centre") or {}
    look_around(str(clicked.get("id", "")), str(clicked.get("label", "")))


def look_around(node: str, label: str) -> None:
    """Open the view around a document or an entity."""
    kind, _, name = node.partition(":")
    if kind == "document":
        st.session_state[keys.GRAPH_VIEW], st.session_state[keys.AROUND] = "Document", name
        address.name(keys.AROUND)
    elif kind == "entity":
        st.session_state[keys.GRAPH_VIEW], st.session_state[keys.ENTITY] = "Entity", label or name
        address.name(keys.ENTITY)


def _profile() -> str:
    """The profile in production, unless several are built and another one is chosen."""
    built, now = built_profiles(identity.me()), app().platform.settings.production().profile.name
    if len(built) < 2:
        return ""
    return st.selectbox("Profile", built, index=built.index(now) if now in built else 0, key="graph_profile", width=240)


def _start(view: str, profile: str) -> str:
    if view == "Document":
        return _document()
    if view == "Query":
        st.session_state.setdefault(keys.ABOUT, "")
        return st.text_input(
            "Query", key=keys.ABOUT, bind="query-params", placeholder="A question, as in the search", width="stretch"
        ).strip()
    if view == "Entity":
        return _entity(profile, "Entity", keys.ENTITY, Filters(history=True), first=True)
    with st.container(width="stretch"):
        st.caption(
            {
                "Communities": "Entities that belong together, found by who is named with whom.",
                "Links": "Documents and the links between them.",
            }[view]
        )
    return ""


def _missing(asked: str) -> None:
    """Say that the document which the address names is not there."""
    if asked and all(document.id != asked for document in app().knowledge.documents.all()):
        st.warning(f"There is no document {flash.plain(asked)}. Choose another one.", icon=":material/search_off:")


def _document() -> str:
    titles = {document.id: document.title for document in app().knowledge.documents.all()}
    names = sorted(titles, key=lambda name: (titles[name], name))
    address.follow(keys.AROUND)
    asked = st.query_params.get(keys.AROUND, "")
    if keys.AROUND not in st.session_state and names:  # a default would leave the browser's choice as it was
        st.session_state[keys.AROUND] = asked if asked in names else _most_linked(names)
    # the URL names the id, where a bound widget would write the title
    chosen = st.selectbox(
        "Document",
        names,
        key=keys.AROUND,
        format_func=lambda name: f"{titles.get(name, name)} ({name})",
        placeholder="There are no documents yet",
        width="stretch",
        on_change=address.name,
        args=(keys.AROUND,),
    )
    return chosen or ""


def _most_linked(names: Sequence[str]) -> str:
    """The document that most others lead to: something to look at; the first by title where none does."""
    documents = {document.id: document.path for document in app().knowledge.documents.all()}
    return max(names, key=lambda name: len(links_to(documents[name])))


def _ends(profile: str) -> tuple[str, str]:
    """The two ends of a path; the first is the entity that was looked at before, if any."""
    if keys.CONNECT not in st.session_state and (before := st.session_state.get(keys.ENTITY)):
        st.session_state[keys.CONNECT] = st.query_params[keys.CONNECT] = before
    return _entity(profile, "From", keys.CONNECT, IN_FORCE), _entity(profile, "To", keys.CONNECT_WITH, IN_FORCE)


def _entity(profile: str, title: str, key: str, filters: Filters, first: bool = False) -> str:
    """The name of an entity: typed, or chosen from the largest; `first` starts with the largest of all."""
    try:
        names = list(
            dict.fromkeys(node.label for node in app().graph.explorer.entities(identity.me(), _MOST, profile, filters))
        )
    except ConcordError as error:
        st.caption(flash.refused(error))
        return ""
    address.follow(key)
    if key not in st.session_state and (start := st.query_params.get(key) or (names[0] if names and first else "")):
        st.session_state[key] = start
    if (typed := st.session_state.get(key)) and typed not in names:
        names.append(typed)
    # not bound to the URL: a click on a node writes there too
    chosen = st.selectbox(
        title,
        names,
        index=None,
        key=key,
        on_change=address.name,
        args=(key,),
        width="stretch",
        accept_new_options=True,
        placeholder="A name, a form, an identifier",
    )
    return (chosen or "").strip()


def _reach(view: str) -> tuple[int, int]:
    """How many hops, and how many nodes."""
    hops = 1
    if view in _REACHING:
        hops = st.segmented_control("Hops", (1, 2), key=keys.HOPS, default=1, required=True, bind="query-params") or 1
    if view == "Links":
        return hops, LIMIT
    limit = st.selectbox("Nodes", SIZES, index=1, key=keys.SIZE, bind="query-params", width=90)
    return hops, limit


def _colour(view: str) -> str:
    """Links know types only, communities only themselves."""
    if view not in _REACHING:
        return "type" if view == "Links" else "community"
    return (
        st.segmented_control(
            "Colour by",
            ("community", "type"),
            key=keys.COLOUR,
            default="community",
            required=True,
            bind="query-params",
            format_func=str.capitalize,
        )
        or "community"
    )
