"""Where is my document?

Its words, its ranks in each column, and what brings it in: a knob, or the document's editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core import strict
from core.access import Actor
from core.errors import ConcordError
from core.services.playground.compare import Comparison
from core.services.playground.notebook import Setup
from core.services.playground.where import Diagnosis, PassageRanks, QueryWord, SuggestedChange, applied
from core.types import Filters
from pages.ui import actions, flash, identity, keys, style
from pages.ui.configurations import choices
from pages.ui.playground import column_data, state
from pages.ui.workspace import app

_ICONS = {"found": ":material/check_circle:", "k": ":material/vertical_align_bottom:", "rerank": ":material/swap_vert:"}

_PASSAGES = 4
_CHANGES = 3


def draw(now: Setup, comparison: Comparison) -> None:
    """Choose a document; every column shows where it ranks and what would bring it in."""
    titles = {document.id: document.title for document in app().knowledge.documents.all()}
    names = sorted(titles, key=titles.__getitem__)
    st.selectbox(
        "Document",
        names,
        index=None,
        format_func=lambda name: f"{titles[name]} ({name})",
        placeholder="Choose the document that you expected",
        key=keys.EXPECTED,
        on_change=_chosen,
        label_visibility="collapsed",
    )
    if now.document not in titles:
        st.caption(
            "It tells which words of the query the document has, its rank in each leg, after fusion and after"
            " reranking, what cut it, and the smallest change that brings it in."
        )
        return
    found = [_diagnosis(now, n) for n in range(len(now.columns))]
    known = next((diagnosis for diagnosis in found if isinstance(diagnosis, Diagnosis)), None)
    _document(now, titles[now.document], known)
    for n, (diagnosis, cell) in enumerate(zip(found, st.columns(len(found), border=True), strict=True)):
        with cell:
            st.markdown(f"**{column_data.LETTERS[n]} · {flash.plain(now.columns[n].title)}**")
            if isinstance(diagnosis, Diagnosis):
                _show(diagnosis, n)
            else:
                st.warning(flash.plain(diagnosis))


def _diagnosis(now: Setup, n: int) -> Diagnosis | str:
    """Where the document ranks in a column, or why that cannot be said."""
    column = now.columns[n]
    try:
        search = state.searches(now).get(column.profile)
        return app().playground.locator.where(identity.me(), now.query, now.document, column, now.filters, search)
    except ConcordError as error:
        return flash.refusal(error)


def _chosen() -> None:
    state.put(replace(state.setup(), document=st.session_state[keys.EXPECTED] or ""))


# ---------------------------------------------------------------- the document


def _document(now: Setup, title: str, diagnosis: Diagnosis | None) -> None:
    """What holds in every column: the words, and the ways to change the document itself."""
    if diagnosis and diagnosis.words:
        st.markdown(word_line(diagnosis.words))
    with st.container(horizontal=True, key="where_document"):
        if st.button("Open the editor", icon=":material/edit:", key="where_edit"):
            st.switch_page("pages/documents.py", query_params={keys.DOC: now.document, keys.DO: "edit"})
        st.button(
            "Report a gap",
            icon=":material/flag:",
            key="where_gap",
            help="Tells the owners that this question does not lead to this document.",
            on_click=_report,
            args=(now.query, f"Expected: {title} ({now.document})."),
        )


def word_line(words: Sequence[QueryWord]) -> str:
    """The words that the document has, then those that it lacks."""
    has = [f":green-badge[{flash.plain(word.word)}] {word.sentence}" for word in words if word.fields]
    lacks = [f":orange-badge[{flash.plain(word.word)}] {word.sentence}" for word in words if not word.fields]
    lines = [f"**{head}** {' · '.join(listed)}" for head, listed in (("Has", has), ("Lacks", lacks)) if listed]
    return "  \n".join(lines)


def _report(query: str, note: str) -> None:
    def report(actor: Actor) -> str:
        app().knowledge.gaps.report(actor, query, note)
        return "The gap is reported. Owners see it with the gaps on Home."

    actions.do(report)


# ---------------------------------------------------------------- one column


def _show(diagnosis: Diagnosis, n: int) -> None:
    icon = _ICONS.get(diagnosis.cut, ":material/search_off:")
    st.markdown(f"{icon} {flash.plain(diagnosis.sentence)}")
    shown = diagnosis.changes[:_CHANGES]
    for place, change in enumerate(shown):
        _change(change, n, first=place == 0)
    if not shown and diagnosis.cut not in ("found", "not indexed"):
        _unhelped(diagnosis, n)
    for passage in diagnosis.ways[:_PASSAGES]:
        st.caption(f"**{flash.plain(' › '.join(passage.heading) or 'Beginning')}**  \n{ranks(passage, diagnosis)}")
    if len(diagnosis.ways) > _PASSAGES:
        st.caption(f"and {style.count(len(diagnosis.ways) - _PASSAGES, 'passage')} further down")


def _unhelped(diagnosis: Diagnosis, n: int) -> None:
    """Where no knob helps: the nearest spelling of a misspelt question, else an edit of the document."""
    if not diagnosis.spelling:
        st.caption("No single knob brings it into the list. Add the missing words to the document.")
        return
    st.caption("No single knob brings it into the list, and no document uses one of the words.")
    label = f"Search for “{flash.plain(diagnosis.spelling)}”"
    st.button(label, key=f"where_spelling_{n}", icon=":material/spellcheck:", on_click=_ask, args=(diagnosis.spelling,))


def _ask(query: str) -> None:
    state.put(replace(state.setup(), query=query), fresh=True)


def _change(change: SuggestedChange, n: int, *, first: bool) -> None:
    best = "**Smallest change:** " if change.better else ""
    st.markdown(f"{best if first else 'Or: '}{flash.plain(change.sentence)}")
    plain = {"knob": change.knob, "value": strict.plain(change.value), "rank": change.rank}
    st.button(
        "Apply",
        key=f"where_apply_{n}_{change.knob}",
        type="primary" if first and change.better else "secondary",
        help=change.sentence,
        on_click=_apply,
        args=(n, plain),
    )


def _apply(n: int, plain: Mapping[str, Any]) -> None:
    """Put a suggested change into its column, or into the filters of all."""

    def apply(actor: Actor) -> str:
        now, value = state.setup(), plain["value"]
        if plain["knob"] == "filters":
            value = strict.parse(Filters, value, "filters")
        change = SuggestedChange(str(plain["knob"]), value, int(plain["rank"]), 0.0, "")
        column, filters = applied(now.columns[n], now.filters, change, choices(actor))
        columns = (*now.columns[:n], column, *now.columns[n + 1 :])
        state.put(replace(now, columns=columns, filters=filters), fresh=filters != now.filters)
        return f"Applied to column {column_data.LETTERS[n]}: the document is at rank {change.rank}."

    actions.do(apply)


def _unranked(leg: str, diagnosis: Diagnosis) -> str:
    """Why a passage has no rank in a leg: another passage stands for the document there, or nothing matches."""
    others = diagnosis.unit == "document" and any(way.legs.get(leg) for way in diagnosis.ways)
    return "another passage stands for the document" if others else "no match"


def ranks(passage: PassageRanks, diagnosis: Diagnosis) -> str:
    """The rank of a passage everywhere, and the words of the query that it has."""
    legs = [
        f"{style.stage_title(leg)}:"
        f" {f'{rank:,} of {style.count(diagnosis.size, diagnosis.unit)}' if rank else _unranked(leg, diagnosis)}"
        for leg, rank in passage.legs.items()
    ]
    if diagnosis.cut == "found" or passage.final:
        legs.append(f"fused: {passage.fused or 'not among the candidates'} · final: {passage.final or 'none'}")
    words = ", ".join(flash.plain(word) for word in passage.words)
    return "  \n".join([*legs, f"has: {words}" if words else "has none of the words"])
