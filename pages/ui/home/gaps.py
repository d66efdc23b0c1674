"""Questions that found no answer, who looks after each, and the ways to close them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor, allowed
from core.services.knowledge.gaps import SOURCES
from core.storage.state.records import Gap
from pages.ui import actions, flash, keys, style
from pages.ui.documents import draft
from pages.ui.workspace import app

SHOWN = 5


def draw(me: Actor) -> None:
    """The questions that are one's own to answer, then the newest others, for those who write."""
    if not allowed(me, "see reported gaps"):
        return
    gaps = sorted(app().knowledge.gaps.open(me), key=lambda gap: gap.owner != me.id)
    if not gaps:
        return
    st.header("Questions without an answer")
    names = {account.id: account.name for account in _writers()}
    for gap in gaps[:SHOWN]:
        _gap(gap, me, names)
    if len(gaps) > SHOWN:
        with st.expander(f"{style.count(len(gaps) - SHOWN, 'more question')}", type="compact", key="more_gaps"):
            for gap in gaps[SHOWN:]:
                _gap(gap, me, names)


def _gap(gap: Gap, me: Actor, names: dict[str, str]) -> None:
    with st.container(gap=None, key=f"gap_{gap.id}"):
        st.markdown(flash.plain(gap.query))
        st.caption(" · ".join(map(flash.plain, _said(gap, me, names))))
        if gap.path:
            st.caption(f":material/hourglass_empty: {flash.plain(_waiting(gap))}")
        with st.container(horizontal=True, gap="small"):
            _write(gap, me)
            _assign(gap, names)
            st.button(
                "Answered",
                key=f"answered_{gap.id}",
                type="tertiary",
                icon=":material/check:",
                help="A document answers it now",
                on_click=actions.do,
                args=(lambda actor: _close(actor, gap.id),),
            )


def _said(gap: Gap, me: Actor, names: dict[str, str]) -> list[str]:
    """Where it comes from, and who looks after it."""
    owner = "you" if gap.owner == me.id else names.get(gap.owner, "nobody")
    from_people = [gap.who] if gap.source == "reported" else [SOURCES[gap.source]]
    return [*from_people, style.day(gap.created[:10]), *([gap.note] if gap.note else []), f"looked after by {owner}"]


def _write(gap: Gap, me: Actor) -> None:
    """The document that lists it, or a new one."""
    if gap.path:
        if st.button("Open it", key=f"open_{gap.id}", icon=":material/article:", help="The document that lists it"):
            st.switch_page("pages/documents.py", query_params={keys.DOC: gap.path})
    elif st.button("Write it", key=f"write_{gap.id}", icon=":material/edit:", help="A new document that answers it"):
        st.switch_page("pages/documents.py", query_params=draft.begin_with(me, gap.query))


def _waiting(gap: Gap) -> str:
    """Why a question that a document lists is still open."""
    first = app().platform.settings.questions().first
    if not gap.rank:
        return f"{gap.path} lists it and is not found for it yet."
    return f"{gap.path} lists it and is found at {gap.rank}; it closes among the first {first}."


def _assign(gap: Gap, names: dict[str, str]) -> None:
    with st.popover("Hand over", type="tertiary", icon=":material/person:", key=f"assign_{gap.id}"):
        people = sorted(names, key=lambda account: names[account].casefold())
        whom = st.selectbox(
            "Who looks after it",
            people,
            index=people.index(gap.owner) if gap.owner in people else None,
            format_func=lambda account: names[account],
            key=f"whom_{gap.id}",
        )
        give = partial(_hand_over, number=gap.id, account=whom or "")
        st.button("Hand over", key=f"give_{gap.id}", disabled=not whom, on_click=actions.do, args=(give,))


def _writers() -> list[Actor]:
    """Everybody who may write a document."""
    return [
        account.actor
        for account in app().people.accounts.all()
        if account.active and allowed(account.actor, "propose a change")
    ]


def _hand_over(actor: Actor, number: int, account: str) -> str:
    app().knowledge.gaps.assign(actor, number, account)
    return "Handed over."


def _close(actor: Actor, number: int) -> str:
    app().knowledge.gaps.close(actor, number)
    return "The question is answered."
