"""The queues of changes: asked of me, waiting for me, mine, open, merged, closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

import streamlit as st

from core.access import Actor, allowed
from core.curation.document.names import top_folder
from core.services.reviews.changes import Change
from core.services.reviews.diff import News, compare, size
from pages.ui import address, keys, style
from pages.ui.components.listing import filter_by, listing
from pages.ui.reviews import impact, labels
from pages.ui.workspace import app

QUEUES = {
    "asked": ("Asked of me", "Nobody asked you for a review."),
    "waiting": ("Waiting for me", "Nothing waits for your review."),
    "mine": (
        "Mine",
        (
            "You have no change of your own. Start one with Edit or New on the Documents page, or bring files in on"
            " Upload."
        ),
    ),
    "open": ("All open", "No change is open."),
    "merged": ("Merged", "Nothing was merged by review yet."),
    "closed": ("Closed", "No change was closed."),
}
FILTERS = [filter_by("author", "Anybody"), filter_by("state", "Any state"), filter_by("folder", "Any folder")]
MEASURED = 100  # documents of a change whose lines are counted
SHOWN = 100  # changes at first, and at each step


def draw(me: Actor) -> None:
    changes = app().reviews.changes
    queues = open_queues(me)
    counts = {name: len(queue) for name, queue in queues.items()} | changes.counts(me)
    waiting = allowed(me, "review a change")
    names = [name for name in QUEUES if waiting or name not in ("asked", "waiting")]
    address.follow(keys.QUEUE)
    requested = st.query_params.get(keys.QUEUE, "")
    usual = next((name for name in ("asked", "waiting", "mine") if name in names and counts[name]), "open")
    if keys.QUEUE not in st.session_state:  # a default would leave the browser's choice as it was
        st.session_state[keys.QUEUE] = requested if requested in names else usual
    chosen = st.segmented_control(
        "Queue",
        names,
        key=keys.QUEUE,
        required=True,
        format_func=lambda name: f"{QUEUES[name][0]} ({counts[name]:,})",
        label_visibility="collapsed",
        on_change=address.name,
        args=(keys.QUEUE,),
    )
    name = chosen or usual
    most = st.session_state.get(f"{keys.MOST}_{name}", SHOWN)
    shown = (queues[name] if name in queues else changes.listed(me, state=name))[:most]
    news = app().reviews.looks.news(me, shown)
    rows = [row(change, news.get(change.id, News()), me) for change in shown]
    listing(rows, QUEUES[name][1], f"queue_{name}", FILTERS, "Filter by title, author, document or number")
    if len(shown) < counts[name]:
        more = style.count(min(SHOWN, counts[name] - len(shown)), "older change")
        st.button(f"Show {more}", key=f"older_{name}", on_click=_older, args=(name, most), type="tertiary")


def _older(name: str, most: int) -> None:
    st.session_state[f"{keys.MOST}_{name}"] = most + SHOWN


def open_queues(me: Actor) -> dict[str, Sequence[Change]]:
    """Open changes by queue."""
    changes = app().reviews.changes
    return {
        "asked": changes.asked_of(me),
        "waiting": changes.waiting_for(me),
        "mine": changes.listed(me, state="open", author=me.id),
        "open": changes.listed(me, state="open"),
    }


def badges(change: Change, me: Actor) -> list[dict[str, str]]:
    """What is to know about a change before one reads it, in its queue and over its documents."""
    found = [{"text": "Conflict", "tone": "bad"}] if change.conflicts else []
    found += [{"text": "Merged without approval", "tone": "bad"}] if change.bypass else []
    found += labels.check_badges(change.findings) if change.open else []
    return found + impact.badge(change, me)


def row(change: Change, news: News, me: Actor) -> dict[str, object]:
    now = datetime.fromisoformat(app().reviews.changes.clock.stamp())
    about = f"{change.author_name} · started {labels.age(change.created, now)}"
    if change.ended:
        about += f" · {change.state} by {change.ended_by} on {style.moment(change.ended)}"
    elif labels.age(change.updated, now) != labels.age(change.created, now):
        about += f" · last touched {labels.age(change.updated, now)}"
    paths = [edit.path for edit in change.documents]
    state = labels.state_badge(change.state)
    talk = style.count(change.conversations, "open conversation") if change.conversations else ""
    return {
        "key": change.id,
        "href": f"/reviews?{urlencode({keys.CHANGE: change.id})}",
        "title": change.title,
        "number": f"#{change.id}",
        "beside": labels.news_badges(news),
        "sub": about,
        "badges": [state, *badges(change, me)],
        "note": checks(change),
        "right": [extent(change), talk],
        "author": change.author_name,
        "state": state["text"],
        "folder": sorted({top_folder(path) for path in paths} - {""}),
        "search": " ".join((str(change.id), change.title, change.author_name, *paths)).lower(),
    }


def checks(change: Change) -> str:
    """What a change still needs, in a few words."""
    if not change.open:
        return f"Approved by {', '.join(change.approvals)}" if change.approvals else ""
    if change.state == "draft":
        return "Not submitted yet"
    unmet = len(change.requirements)
    return f"{style.count(unmet, 'requirement')} not met" if unmet else "Ready to merge"


def extent(change: Change) -> str:
    added, removed = _size(change.start, change.head, change.id)
    return f"{labels.files([edit.path for edit in change.documents])} · +{added} −{removed}"


@st.cache_data(max_entries=2000, show_spinner=False)
def _size(start: str, head: str, number: int) -> tuple[int, int]:
    current = app()
    edits = current.knowledge.repository.changed(start, head)[:MEASURED] if start != head else ()
    sizes = [size(compare(current.knowledge.repository, start, head, edit)) for edit in edits]
    return sum(added for added, _ in sizes), sum(removed for _, removed in sizes)
