"""Five minutes by role: a strip above the page that knows the step, on the sample. It can be left at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from pages.ui import identity, keys
from pages.ui.tuning import state as tuning
from pages.ui.workspace import app

# changes of the sample, by number
CONFLICT = 9
BREAKS = 11
TALK = 12
READY = 13


@dataclass(frozen=True, slots=True)
class TourStep:
    """Where to be, and what to look at there."""

    page: str
    words: str
    at: Mapping[str, str] = field(default_factory=dict)  # the rest of the address
    tab: tuple[str, str] = (
        "",
        "",
    )  # the widget that chooses a tab, and which one: a widget that is shown sets its own address


@dataclass(frozen=True, slots=True)
class Tour:
    """What one role does in five steps, as one of the sample's people."""

    title: str
    persona: str
    steps: tuple[TourStep, ...]


TOURS = {
    "owner": Tour(
        "Own a document",
        "author",
        (
            TourStep(
                "home",
                "What waits for you stands here: documents due for a review, and questions that nobody could answer.",
            ),
            TourStep(
                "documents",
                "*History* shows every version, *Edit* proposes a better one, and *Questions it answers* are tried in"
                " the search as you type.",
                {keys.DOC: "HR-POL-002"},
            ),
            TourStep(
                "reviews",
                "Your change, in review: Petra asks a question and suggests other words. Open *Discussion* and apply"
                " the suggestion.",
                {keys.CHANGE: str(TALK)},
            ),
            TourStep(
                "upload",
                "Drop a Word or PDF file. Each finding leads to its line, and duplicates stand beside what is there"
                " already.",
            ),
            TourStep(
                "freshness",
                "*Answers* lists the questions that documents promise to answer and where the search finds them. Those"
                " not found are yours to fix.",
            ),
        ),
    ),
    "reviewer": Tour(
        "Review a change",
        "reviewer",
        (
            TourStep("inbox", "Who asked you for a review, and what was said since. A click leads to the line."),
            TourStep(
                "reviews", "What waits for you. The badge says what a change does to the search before you open it."
            ),
            TourStep(
                "reviews",
                "Read what it breaks: questions that the document promises to answer lose their place. *Request"
                " changes* tells the author.",
                {keys.CHANGE: str(BREAKS)},
                (keys.SIDE, "Search"),
            ),
            TourStep(
                "reviews",
                "Two people edited one line. Choose a side, both, or write it anew; nothing is merged by accident.",
                {keys.CHANGE: str(CONFLICT)},
                (keys.SIDE, "Conflicts"),
            ),
            TourStep(
                "reviews",
                "Approved and ready. *Merge*, and seconds later the new text is found.",
                {keys.CHANGE: str(READY)},
            ),
        ),
    ),
    "analyst": Tour(
        "Understand a search",
        "author2",
        (
            TourStep(
                "search",
                "Colleagues type *forgot my yubikey at home*; the documents say MFA key. Open *More*, then *Why this"
                " rank*: what words gave, what meaning gave, and how they were added up.",
                {keys.QUERY: "forgot my yubikey at home"},
            ),
            TourStep(
                "playground",
                "One question, three ways to search it, and the difference in words. Move *alpha* and watch hits change"
                " places.",
            ),
            TourStep(
                "graph", "What a document names, and what else names it. Click a node; double-click looks around it."
            ),
            TourStep(
                "evaluation",
                "Five configurations on 291 questions. The interval says how sure a difference is.",
            ),
            TourStep(
                "tuning",
                "The same questions under your sliders: where on the curve do you stand, and which kinds of documents"
                " gain?",
            ),
        ),
    ),
    "admin": Tour(
        "Run it for a team",
        "admin",
        (
            TourStep(
                "tuning",
                "Move *alpha*: every question is ranked again at once. *Measure this* turns a position into a run.",
            ),
            TourStep(
                "tuning",
                "What serves everybody, since when, on what evidence, and the way back.",
                tab=(tuning.TAB, "Production"),
            ),
            TourStep("index", "What the search reads: its profile, its generations, and a rollback."),
            TourStep("audit", "Who did what, when, and through which door."),
            TourStep(
                "accounts",
                "People, roles, services and agents. When you have seen enough: *Start with your own documents*,"
                " above.",
            ),
        ),
    ),
}


def offer() -> None:
    """The tours, on Home of the sample."""
    if not app().platform.sample.here() or st.session_state.get(keys.TOUR):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tours"):
        st.caption(":material/tour: Five minutes in the sample:", width="content")
        for name, tour in TOURS.items():
            st.button(tour.title, key=f"tour_{name}", type="tertiary", on_click=_begin, args=(name,))


def strip() -> None:
    """The step that somebody is at; nothing where nobody is on a tour."""
    if not app().platform.sample.here() or not (at := st.session_state.get(keys.TOUR)):
        return
    tour, n = TOURS[at[0]], int(at[1])
    if st.session_state.pop(keys.TOUR_GO, False):
        step = tour.steps[n]
        st.switch_page(f"pages/{step.page}.py", query_params=dict(step.at))
    with st.container(border=True, key="tour_strip"):
        words, buttons = st.columns([4, 1.3], vertical_alignment="center")
        words.markdown(f"**{tour.title}, {n + 1} of {len(tour.steps)}.** {tour.steps[n].words}")
        with buttons.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
            _buttons(at[0], n, n + 1 == len(tour.steps))


def _buttons(name: str, n: int, last: bool) -> None:
    st.button("Done" if last else "Leave", key="tour_leave", type="tertiary", on_click=_leave)
    if n:
        st.button("Back", key="tour_back", type="tertiary", on_click=_go, args=(name, n - 1))
    if not last:
        st.button("Next", key="tour_next", type="primary", on_click=_go, args=(name, n + 1))


def _begin(name: str) -> None:
    """As the person whose work it is; the demo has no sign-in."""
    if app().settings.sign_in == "demo":
        identity.clear(keys.WORK)
        st.session_state[keys.PERSONA] = TOURS[name].persona
    _go(name, 0)


def _go(name: str, n: int) -> None:
    step = TOURS[name].steps[n]
    for key in (keys.SIDE, keys.QUEUE, tuning.TAB):
        st.session_state.pop(key, None)
    if step.tab[0]:
        st.session_state[step.tab[0]] = step.tab[1]
        st.session_state.setdefault(keys.VIEWS, {})[step.tab[0]] = step.at.get(keys.CHANGE, "")
    st.session_state[keys.TOUR], st.session_state[keys.TOUR_GO] = (name, n), True


def _leave() -> None:
    st.session_state.pop(keys.TOUR, None)
