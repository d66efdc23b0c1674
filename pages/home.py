"""Home: what the knowledge base holds, what needs attention, what changed."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.access import allowed
from core.curation.review.proposals import trailers
from core.services.knowledge.home import IndexState, Overview, Step
from core.types import Document
from pages.ui import identity, inbox, keys, style, vectors
from pages.ui.components.listing import bars, listing
from pages.ui.home import empty, gaps, loop, tour
from pages.ui.workspace import app, overview

me = identity.require("read documents")


def search_box() -> None:
    query = st.text_input(
        "Search the knowledge base",
        key="home_q",
        type="search",
        placeholder="Search what the team knows",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    if query:
        st.switch_page("pages/search.py", query_params={keys.QUERY: query})


def index_summary(state: IndexState) -> tuple[str, str]:
    """The state of the index as a label and a sentence."""
    if state.serving is None:
        return "Not built", "Nothing can be found yet."
    if state.pinned:
        return "Rolled back", "An admin chose an earlier state."
    if state.behind:
        return "Catching up", f"{style.count(state.behind, 'change')} cannot be found yet."
    if state.serving.pending:
        return "By words", "Documents can be found by their words so far, soon by their meaning."
    return "Up to date", f"Built {style.moment(state.serving.built)}"


def metrics(view: Overview) -> None:
    serving = view.index.serving
    state, sentence = index_summary(view.index)
    last = view.recent[0].commit if view.recent else None
    with st.container(horizontal=True, gap="small", key="figures"):
        st.metric("Documents", f"{view.documents:,}", border=True)
        st.metric("Passages to find", f"{serving.chunks:,}" if serving else "0", border=True)
        st.metric(
            "Last change",
            style.day(last.when[:10]) if last else "–",
            border=True,
            help=last.author.name if last else None,
        )
        st.metric("Index", state, border=True, help=sentence)


def attention(view: Overview) -> list[dict[str, object]]:
    """What somebody should look at, most urgent first; twelve at most."""
    items: list[dict[str, object]] = []
    if view.index.behind and not view.index.pinned:
        items.append(
            {
                "title": "The index is catching up",
                "sub": index_summary(view.index)[1],
                "badges": [{"text": "Index", "tone": "note"}],
            }
        )
    items += [
        {"title": path, "sub": why, "badges": [{"text": "Unreadable", "tone": "bad"}]} for path, why in view.unreadable
    ]
    items += [
        {
            "doc": d.id,
            "title": d.title,
            "sub": d.meta.owner or "no owner",
            "badges": [{"text": "Overdue", "tone": "warn"}],
            "right": f"{style.count(-f.days, 'day')} ago",
        }
        for d, f in view.attention.overdue
    ]
    items += after_import(view)
    items += [
        {
            "doc": d.id,
            "title": d.title,
            "sub": d.meta.owner or "no owner",
            "badges": [{"text": "Due soon", "tone": "note"}],
            "right": f"in {style.count(f.days, 'day')}",
        }
        for d, f in view.attention.due_soon
    ]
    return items[:12]


def after_import(view: Overview) -> list[dict[str, object]]:
    """Documents that nobody owns, then those that nobody approved; one line for all where an import brought many."""
    found = view.attention
    owners = "Name their owners in one step: by folder, by who wrote them, or from a list."
    approve = "Read what people look for most, and press Still right on Freshness; an edit that is merged counts, too."
    return [
        *lines(
            "No owner", "without an owner", found.without_owner, found.ownerless_folders, "/documents?do=owners", owners
        ),
        *lines(
            "Imported", "that nobody approved yet", found.only_imported, found.imported_folders, "/freshness", approve
        ),
    ]


def lines(
    word: str, what: str, documents: Sequence[Document], folders: Mapping[str, int], href: str, first: str
) -> list[dict[str, object]]:
    """Each document, or where they are many one line that says where they are and what to do first."""
    badges = [{"text": word, "tone": "warn" if word == "No owner" else "note"}]
    if not folders:
        return [{"doc": d.id, "title": d.title, "sub": d.path, "badges": badges} for d in documents]
    largest = ", ".join(f"{name} ({count:,})" for name, count in list(folders.items())[:3])
    title = f"{style.count(sum(folders.values()), 'document')} {what}"
    return [{"title": title, "sub": f"{largest}. {first}", "badges": badges, "href": href}]


def recent_change(step: Step, titles: dict[str, tuple[str, str]]) -> dict[str, object]:
    known = [titles[edit.path] for edit in step.edits if edit.path in titles]
    named = [title for _, title in known[:2]]
    documents = [edit for edit in step.edits if edit.path.endswith(".md")] or step.edits
    unnamed = len(documents) - len(named)
    what = ", ".join(named) + (f" and {style.count(unnamed, 'other')}" if unnamed else "")
    subject = step.commit.message.splitlines()[0] if step.commit.message else "Change"
    number = dict(trailers(step.commit.message)).get("Change", "")
    one = known[0][0] if len(documents) == 1 and known else ""
    of_change = not one and number.isdecimal() and allowed(me, "propose a change")
    return {
        "doc": one,
        "href": f"/reviews?{keys.CHANGE}={number}" if of_change else "",
        "title": subject,
        "sub": f"{step.commit.author.name} · {what if named else style.count(unnamed, 'file')}",
        "right": style.moment(step.commit.when),
    }


tour.offer()
st.title("What the team knows")
search_box()
vectors.draw()
view = overview()
if not view.documents:
    may = allowed(me, "propose a change")
    sentence = (
        "Write the first one, or bring files in." if may else "As soon as somebody brings some in, you find them here."
    )
    with empty.state("library_add", "There are no documents yet", sentence, "home_empty"):
        if may:
            st.page_link("pages/upload.py", label="Bring files in", icon=":material/upload_file:")
            st.page_link("pages/documents.py", label="Write one", icon=":material/edit:", query_params={keys.DO: "new"})
        empty.picture("home")
    st.stop()
inbox.waiting(me)
left, right = st.columns(2, gap="large")
with left:
    st.header("Needs attention")
    listing(attention(view), "Nothing needs attention.", key="attention")
    gaps.draw(me)
with right:
    metrics(view)
    st.header("Recent changes")
    titles = {document.path: (document.id, document.title) for document in app().knowledge.documents.all()}
    listing([recent_change(step, titles) for step in view.recent], "Nothing changed yet.", key="recent")
with right:
    st.header("By folder")
    bars(view.folders, key="by_folder")
    st.header("By type")
    bars({style.type_name(name): count for name, count in view.types.items()}, key="by_type")
loop.draw(me)
