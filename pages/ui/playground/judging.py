"""Judging a query set question by question: which one is open, how many are done, and the way to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import streamlit as st

from core.access import Actor
from core.errors import ConcordError
from core.evaluation.querysets.queryset import Judgment, QuerySet
from core.services.playground.grades import Grade
from core.services.playground.notebook import Setup
from pages.ui import flash, identity, keys, style
from pages.ui.playground import state
from pages.ui.workspace import app


def start() -> None:
    """Open the first unjudged question of the set that the URL names."""
    if name := st.query_params.get(keys.JUDGE, ""):
        del st.query_params[keys.JUDGE]
        queryset = _set(name)
        if queryset and queryset.questions:
            _show(queryset, _open_question(queryset, -1), blind=True)


def draw(now: Setup) -> None:
    """The bar above the columns while a set is judged."""
    queryset = _set(now.queryset) if now.queryset else None
    ids = [question.id for question in queryset.questions] if queryset else []
    if queryset is None or now.question not in ids:
        return
    at, judged = ids.index(now.question), _judged(queryset)
    done = sum(bool(judged[ident]) for ident in ids)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="judging_bar"):
        st.markdown(
            f":material/checklist: **{flash.plain(queryset.name)}**: question {at + 1} of {len(ids)}, "
            f"{style.count(judged[now.question], 'judgment')} so far. {done} of {len(ids)} questions are judged.",
            width="stretch",
        )
        _step("Back", "back", _go, (queryset.name, at - 1), off=at == 0)
        _step("Next", "next", _go, (queryset.name, at + 1), off=at + 1 == len(ids))
        _step("Next without judgments", "open", _go_open, (queryset.name, at), off=done == len(ids), kind="primary")
        _step("Stop", "stop", _stop, (), kind="tertiary")


def _step(
    label: str,
    key: str,
    act: Callable[..., None],
    given: tuple[Any, ...],
    *,
    off: bool = False,
    kind: str = "secondary",
) -> None:
    """A button that changes the query, so that the whole page is drawn again."""
    if st.button(label, key=f"judging_{key}", type=cast(Any, kind), disabled=off, on_click=act, args=given):
        st.rerun()


def keep(actor: Actor, now: Setup, grade: Grade) -> None:
    """Put a grade of the open question into its set, too."""
    if now.queryset and now.question:
        heading = tuple(step for step in grade.heading.split(" › ") if step)
        judgment = Judgment(
            now.question, grade.path, heading, grade.quote, float(grade.grade), "person", actor.id, grade.note
        )
        app().evaluation.querysets.judge(actor, now.queryset, [judgment])


def _set(name: str) -> QuerySet | None:
    try:
        return app().evaluation.querysets.show(identity.me(), name)
    except ConcordError as error:
        flash.refuse(error)
        return None


def _judged(queryset: QuerySet) -> Counter[str]:
    return Counter(judgment.question for judgment in queryset.judgments)


def _open_question(queryset: QuerySet, after: int) -> int:
    """The next question that nobody judged, from the start again after the last; 0 when all are judged."""
    judged, size = _judged(queryset), len(queryset.questions)
    places = [(after + step) % size for step in range(1, size + 1)]
    return next((place for place in places if not judged[queryset.questions[place].id]), 0)


def _show(queryset: QuerySet, place: int, *, blind: bool = False) -> None:
    question, now = queryset.questions[place], state.setup()
    opened = replace(now, query=question.text, queryset=queryset.name, question=question.id, blind=blind or now.blind)
    state.put(opened, fresh=True)


def _go(name: str, place: int) -> None:
    if queryset := _set(name):
        _show(queryset, max(0, min(place, len(queryset.questions) - 1)))


def _go_open(name: str, after: int) -> None:
    if queryset := _set(name):
        _show(queryset, _open_question(queryset, after))


def _stop() -> None:
    state.put(replace(state.setup(), queryset="", question=""))
