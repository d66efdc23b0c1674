"""The Search tab: what a change does to search, question by question, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from core.access import Actor
from core.errors import ConcordError
from core.evaluation.impact import ANSWERS, ASKED, FIRST, GAIN, GUARD, LOSS, OWN, TIE, FoundDocument, Impact, Shift
from core.retrieval.config import parse
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.services.reviews.changes import Change
from pages.ui import dialogs, flash, identity, keys, style, verdicts
from pages.ui.configurations import called
from pages.ui.workspace import app

AT_ONCE = 12  # questions of a group that are shown before somebody asks for more
_KINDS = {
    OWN: "of its own documents",
    ANSWERS: "of other documents",
    GUARD: "of guards",
    ASKED: "that people asked most",
}
_OUTCOMES = {
    LOSS: f"Loss: lower among the first {FIRST}, or out of them",
    GAIN: f"Gain: higher among the first {FIRST}",
    TIE: f"Tie: other places below the first {FIRST}, or other documents around it",
}


def draw(change: Change, me: Actor) -> None:
    """The sentence first; then its own questions, what is lost and won, and the rest."""
    impact = app().reviews.impacts.show(me, change.id)
    fresh = app().reviews.impacts.fresh(change, impact)
    if change.open and not fresh:
        _not_yet(change, me, impact)
    if impact is None:
        if not change.open:
            st.info("Nobody measured what it does to search while it was open.", icon=":material/query_stats:")
        return
    _verdict(change, impact, fresh)
    _own(change, impact, me, fresh)
    for outcome, title in _OUTCOMES.items():
        _group(change, outcome, title, [e for e in impact.of(ANSWERS, GUARD) if e.outcome == outcome], me, fresh)
    _group(change, "asked", "Asked by people, with other documents first", impact.of(ASKED), me, fresh)
    _sets(impact)
    _passages(impact)


def panel(change: Change, me: Actor) -> None:
    """Its impact in one line, with the way to the tab; a live bar until it is known."""
    if not change.open or change.state == "draft" or change.conflicts:
        return
    impact = app().reviews.impacts.show(me, change.id)
    if impact is None or not app().reviews.impacts.fresh(change, impact):
        if st.session_state.get(keys.SIDE) != "Search":  # the tab has a bar of its own
            _follow(change.id, False)
        return
    st.button(
        f"Search: {_short(impact)}",
        key="to_impact",
        icon=verdicts.icon(impact.outcome),
        type="tertiary",
        on_click=_show_tab,
    )


def _show_tab() -> None:
    st.session_state[keys.SIDE] = "Search"


def _short(impact: Impact) -> str:
    """What counts, in a few words."""
    counts = (
        (len(impact.losses), "significant loss", "significant losses"),
        (sum(_missed(each) for each in impact.shifts), "own question not found", "own questions not found"),
        (sum(each.outcome == LOSS and not _missed(each) for each in impact.shifts), "loss", "losses"),
        (sum(each.outcome == GAIN for each in impact.shifts), "gain", "gains"),
        (len(impact.contradictions), "disagreement", "disagreements"),
    )
    words = [f"{n} {one if n == 1 else more}" for n, one, more in counts if n]
    moved = sum(each.moved for each in impact.shifts)
    return ", ".join(words) or (
        f"results change for {moved} of {sum(impact.questions.values())} questions" if moved else "no result changes"
    )


def badge(change: Change, me: Actor) -> list[dict[str, str]]:
    """What an open change does to search, where that is known and is not nothing; for the queues."""
    if not change.open or change.state == "draft" or change.conflicts:
        return []
    words, outcome = _known(change.id, change.head, app().knowledge.repository.head(), me)
    return (
        [{"text": f"Search: {words}", "tone": "bad" if outcome == LOSS else "good"}] if outcome in (LOSS, GAIN) else []
    )


@st.cache_data(max_entries=2000, show_spinner=False)
def _measured(number: int, head: str, main: str, _me: Actor) -> tuple[str, str]:
    impact = app().reviews.impacts.show(_me, number)
    return (_short(impact), impact.outcome) if impact and impact.head == head else ("", "")


def _known(number: int, head: str, main: str, me: Actor) -> tuple[str, str]:
    """What was measured; what was not yet is asked for again next time."""
    words, outcome = _measured(number, head, main, me)
    if not outcome:
        _measured.clear(number, head, main, me)
    return words, outcome


def _missed(each: Shift) -> bool:
    return each.kind == OWN and not each.gone and not 0 < each.after <= FIRST


def _not_yet(change: Change, me: Actor, impact: Impact | None) -> None:
    if change.conflicts:
        st.warning(
            "It conflicts with what was merged meanwhile. What it does to search is measured once that is solved."
        )
    elif change.state == "draft":
        st.info("What it does to search is measured when it is submitted.", icon=":material/query_stats:")
        if st.button("Measure now", key="measure", icon=":material/query_stats:"):
            with st.spinner("Indexing the draft aside and asking every question before and after"):
                try:
                    app().reviews.impacts.measure(me, change.id)
                except ConcordError as error:
                    flash.refuse(error)
            st.rerun()
    else:
        _follow(change.id, impact is not None)


def _follow(number: int, older: bool) -> None:
    """Whoever opens the page asks for the measurement; what polls afterwards only looks."""
    job = app().reviews.impacts.start(identity.me())
    _live(number, older, job.id if job else 0)


@st.fragment(run_every="2s")
def _live(number: int, older: bool, started: int) -> None:
    me = identity.require("propose a change")
    impacts, jobs = app().reviews.impacts, app().platform.jobs
    if impacts.fresh(app().reviews.changes.show(me, number), impacts.show(me, number)):
        return dialogs.redraw()
    job = jobs.show(me, started) if started else None
    if job is not None and not job.open:
        if str(number) not in (job.result or {}).get("failed", {}):
            return dialogs.redraw()
        st.warning(flash.plain(job.result["failed"][str(number)]), icon=":material/sync_problem:")
        return
    share = job.done / job.total if job and job.open and job.total else 0.0
    words = (
        "It is measured again; below is what was measured before."
        if older
        else "What it does to search is being measured."
    )
    st.progress(share, f"{words} {flash.plain(job.message if job and job.open else '')}")


def _called(name: str) -> str:
    """The name of a configuration as other pages say it; as it was kept where it is no name any more."""
    with suppress(ConcordError):
        return called(parse(name))
    return name


def _verdict(change: Change, impact: Impact, fresh: bool) -> None:
    stopped = fresh and bool(change.stops)
    rules = "The review rules stop it, as the panel says. " if stopped else ""
    verdicts.box(LOSS if stopped else impact.outcome, f"**{rules}{flash.plain(impact.sentence)}**")
    counts = [f"{style.count(n, 'question')} {_KINDS[kind]}" for kind, n in impact.questions.items()]
    asked = (
        f"Asked before and after, with {flash.plain(_called(impact.config))} on {flash.plain(impact.profile)}:"
        f" {', '.join(counts) or 'nothing'}."
    )
    when = (
        f" Measured {style.moment(impact.created)} in {impact.seconds:.1f} s{'' if fresh else ', on an earlier text'}."
    )
    st.caption(asked + when + "".join(f" {note}" for note in impact.notes))


def _own(change: Change, impact: Impact, me: Actor, fresh: bool) -> None:
    own = impact.of(OWN)
    st.header(f"Its own questions · {len(own)}", anchor=False)
    if not own:
        st.caption(
            "Its documents list no question under `answers:`. A question there is a test: it is asked at every change."
        )
    for n, each in enumerate(own):
        _question(change, f"own_{n}", each, me, fresh)


def _group(change: Change, name: str, title: str, shifts: Sequence[Shift], me: Actor, fresh: bool) -> None:
    if not shifts:
        return
    st.header(f"{title} · {len(shifts)}", anchor=False)
    everything = len(shifts) <= AT_ONCE or st.toggle(f"Show all {len(shifts)}", key=f"all_{name}")
    for n, each in enumerate(shifts if everything else shifts[:AT_ONCE]):
        _question(change, f"{name}_{n}", each, me, fresh)


def _question(change: Change, key: str, each: Shift, me: Actor, fresh: bool) -> None:
    box = st.expander(f"{_way(each)} {flash.plain(each.text)}", key=f"shift_{key}", on_change="rerun")
    if not box.open:
        return
    with box:
        where = {GUARD: "Query set", ASKED: "Asked"}.get(each.kind, "Listed by")
        source = f"{each.times} times" if each.kind == ASKED else flash.plain(each.source)
        st.caption(f"{where} {source}")
        if each.disagreement:
            st.warning(flash.plain(each.disagreement), icon=":material/compare_arrows:")
        left, right = st.columns(2, gap="medium")
        for side, title, found in ((left, "Before", each.top_before), (right, "With this change", each.top_after)):
            with side:
                st.markdown(f"**{title}**")
                _documents(found, each)
        label, icon = "Compare both in the playground", ":material/science:"
        if fresh and change.open and st.button(label, key=f"play_{key}", icon=icon, type="tertiary"):
            st.switch_page("pages/playground.py", query_params={keys.LINK: _link(change.id, each.text, me)})


def _way(each: Shift) -> str:
    """Before and after as a badge."""
    if not each.judged:
        return verdicts.badge(TIE, "other documents first")
    before, after = (str(place) if place else "not found" for place in (each.before, each.after))
    words = f"{before} → {after}"
    if each.new:
        words = f"found at {after}" if each.after else after
    if each.gone:
        words = "its document is removed"
    return verdicts.badge(GAIN if each.kind == OWN and each.outcome == TIE else each.outcome, words)


def _documents(found: Sequence[FoundDocument], each: Shift) -> None:
    if not found:
        st.caption("Nothing is found.")
    for n, document in enumerate(found, 1):
        heading = " › ".join(document.heading)
        right = each.judged and n == (each.before if found is each.top_before else each.after)
        mark = " :green-badge[answers it]" if right else ""
        st.markdown(
            f"{n}. **{flash.plain(document.title)}**{mark}  \n:small[:gray[{flash.plain(heading or document.path)}]]"
        )
        st.caption(flash.plain(document.text))


def _link(number: int, question: str, me: Actor) -> str:
    """A playground with both states side by side."""
    production = app().platform.settings.production()
    columns = (
        Column(production.profile.name, production.config, "Before"),
        Column(f"{production.profile.name}@{number}", production.config, f"With change {number}"),
    )
    return app().playground.notebook.keep(me, Setup(query=question, columns=columns))


def _sets(impact: Impact) -> None:
    """What the numbers say, set by set."""
    if impact.verdicts:
        st.header("In numbers", anchor=False)
    for name, verdict in impact.verdicts.items():
        title = "Questions that documents list" if name == ANSWERS else f"Guard {name}"
        st.markdown(
            f"{verdicts.icon(verdict.verdict)} **{flash.plain(title)}** :small[{flash.plain(verdict.sentence)}]"
        )


def _passages(impact: Impact) -> None:
    counts = impact.chunks
    st.caption(
        f"Passages of its documents: {counts['appear']} appear, {counts['vanish']} vanish, {counts['stay']} stay. "
        "The Chunks tab shows them."
    )
