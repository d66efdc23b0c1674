"""Empty states: an icon, a sentence that says why nothing is here, and room for the action that changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.access import allowed
from pages.ui import identity, style
from pages.ui.workspace import app


def state(icon: str, title: str, sentence: str, key: str) -> Any:
    """Draw the box; use it in a `with` to add the action."""
    box = st.container(border=True, horizontal_alignment="center", key=key)
    with box:
        st.header(f":gray[:material/{icon}:] {title}", anchor=False, text_alignment="center")
        st.caption(sentence, text_alignment="center")
    return box


def no_index(why: str) -> None:
    """Say that there is no index; whoever can build one is led there."""
    builds = allowed(identity.me(), "see the index")
    then = "Build one, then come back." if builds else "An admin builds one on the Index page."
    with state("database_off", "There is no index yet", f"{why} {then}", "no_index"):
        if builds and st.button("Go to Index", icon=":material/database:"):
            st.switch_page("pages/index.py")


LARGE, SMALL = 720, 420  # pixels of a picture, alone or above a page; on a phone as wide as that


@dataclass(frozen=True, slots=True)
class Promise:
    """What a page shows as soon as there are documents; `instead` of the page where it could show nothing else."""

    icon: str
    title: str
    sentence: str
    instead: bool = True


PROMISES = {
    "documents": Promise(
        "library_books",
        "Procedures and policies, each with its owner and its history",
        "Every version of a document, who wrote each line, what links to it, and the questions that it answers.",
        False,
    ),
    "inbox": Promise(
        "inbox",
        "What others did that concerns you",
        "Reviews that you are asked for, replies and mentions, and news of documents that you own or watch.",
        False,
    ),
    "words": Promise(
        "translate",
        "The words of your team",
        "Synonyms that search follows, and answers that a question should find first.",
        False,
    ),
    "search": Promise(
        "search",
        "Answers come from your documents",
        "Each result shows the passage, its owner and why it is first. Bring the first documents in.",
        False,
    ),
    "reviews": Promise(
        "rate_review",
        "Every edit is read by somebody before it counts",
        "A change shows what it edits, what people say about its lines, and which questions it breaks or fixes.",
        False,
    ),
    "freshness": Promise(
        "event_available",
        "What is due for a review, and what cannot be found",
        "Documents with their next review, the questions that they promise to answer, and statements that disagree.",
    ),
    "playground": Promise(
        "compare_arrows",
        "One question, several ways to search",
        "Up to four configurations side by side, why each passage is where it is, and what would bring another one in.",
    ),
    "graph": Promise(
        "hub",
        "What is connected",
        "People, forms, systems and rules that your documents name, around any document or question.",
    ),
    "evaluation": Promise(
        "leaderboard",
        "Which way to search is better, and how sure that is",
        "Questions with judged answers, configurations ranked on them, and every difference with its interval.",
    ),
    "tuning": Promise(
        "tune",
        "Sliders over all questions at once",
        "The curve over alpha, what reranking is worth, and what serves everybody, with its evidence and the way back.",
    ),
}


def promise(page: str, title: str = "") -> bool:
    """On an empty base: say what a page will show, and what to do first; whether that stands in place of the page."""
    said = PROMISES.get(page)
    if said is None or app().knowledge.documents.all():
        return False
    if said.instead:
        st.title(title, anchor=False)
    with state(said.icon, said.title, said.sentence, "promised"):
        if allowed(identity.me(), "propose a change"):
            st.page_link("pages/upload.py", label="Bring files in", icon=":material/upload_file:")
        picture(page, LARGE if said.instead else SMALL)
    return said.instead


def picture(page: str, width: int = LARGE) -> None:
    """A page of the sample, as `make screens` took it."""
    scheme = "dark" if st.context.theme.type == "dark" else "light"
    with st.container(width=width, border=True):
        st.image(str(style.ASSETS / "sample" / f"{page}-{scheme}.webp"), caption="This page in the sample")
