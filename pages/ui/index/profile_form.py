"""The form of a new profile: every part that the command line has, checked while it is filled in, estimated before it
is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core import profiles
from core.access import Actor
from core.chunking import CHUNKERS, CONTEXTS, known, presets
from core.chunking.passage_questions import MOST
from core.errors import ConcordError
from core.llm.asking import dollars_of
from core.parameter import Parameter
from core.retrieval.legs.several_embedders import COMBINATIONS
from core.services.models.call_estimates import CallEstimate, total
from core.services.models.fitness import FEATURES
from core.types import NOTHING, Profile
from pages.ui import actions, flash, identity, style
from pages.ui.workspace import app

ABOUT = profiles.ABOUT


def draw() -> None:
    with st.expander("Add a profile", icon=":material/add:", key="profile_form"):
        raw = {**_chunking(), **_embedding(), **_serving(), **_words()}
        if profiles.writes(raw["chunker"]["name"], raw["context"], raw["questions"]):
            raw["writers"] = _writers()
        _finish(raw)


def _chunking() -> dict[str, Any]:
    """Name, chunker with its parameters, context."""
    first, second, third = st.columns(3)
    name = first.text_input("Name", key="new_name", placeholder="for example small-chunks", help=ABOUT["name"])
    chunker = second.selectbox("Chunker", list(CHUNKERS), key="new_chunker", help=ABOUT["chunker"])
    context = third.selectbox("Context", list(CONTEXTS), key="new_context", help=ABOUT["context"])
    second.caption(known(chunker).about)
    preset = _preset(chunker)
    start = presets()[preset].params if preset else {}
    params = _numbers(known(chunker).parameters, f"new_{preset or chunker}", start)
    return {"name": name.strip(), "context": context, "chunker": {"name": chunker, "params": params}}


def _preset(chunker: str) -> str:
    """A setting that experiments compare, whose values stand in the fields below; "" for one's own."""
    offered = [name for name, spec in presets().items() if spec.name == chunker]
    about = "Settings that the studies compared; the fields below take their values."
    return (
        st.selectbox(
            "Known setting",
            ["", *offered],
            key=f"new_{chunker}_preset",
            format_func=lambda name: name or "none",
            help=about,
        )
        if offered
        else ""
    )


def _numbers(knobs: Sequence[Parameter], key: str, start: Mapping[str, float] = NOTHING) -> dict[str, float]:
    """One field for each parameter of a record, with its range and its default or another start; three in a row."""
    cells = [cell for _ in range(0, len(knobs), 3) for cell in st.columns(3)]
    values = {}
    for cell, knob in zip(cells, knobs, strict=False):
        kind = int if knob.whole else float
        bounds = (kind(knob.low), kind(knob.high), kind(start.get(knob.name, knob.default)), kind(knob.step))
        low, high, default, step = bounds
        values[knob.name] = cell.number_input(
            knob.title, low, high, default, step, key=f"{key}_{knob.name}", help=knob.about
        )
    return values


def _embedding() -> dict[str, Any]:
    """The embedders, from what there is on this machine and behind configured endpoints, and how they are combined."""
    offered, used = app().index.admin.models_offered(identity.me()), app().platform.settings.production().profile
    now = [used.embedder, *used.embedders]
    first, second = st.columns([2, 1])
    chosen = first.multiselect(
        "Embedder",
        list(dict.fromkeys([*now, *offered.embedders])),
        now,
        key="new_embedders",
        accept_new_options=offered.others,
        help=f"{ABOUT['embedder']} Several are combined.",
    )
    combine = second.selectbox(
        "Combine", list(COMBINATIONS), key="new_combine", disabled=len(chosen) < 2, help=ABOUT["combine"]
    )
    main, *others = chosen or [""]
    return {"embedder": main, "embedders": others, "combine": combine}


def _serving() -> dict[str, Any]:
    """How entities are found, and how many questions are written for passages."""
    first, second = st.columns(2)
    graph = first.selectbox("Graph", list(profiles.GRAPHS), key="new_graph", help=ABOUT["graph"])
    questions = second.number_input("Questions", 0, MOST, 0, key="new_questions", help=ABOUT["questions"])
    return {"graph": graph, "questions": questions}


def _words() -> dict[str, Any]:
    """How words are analysed and scored."""
    cells = st.columns(len(profiles.WORDING))
    defaults = profiles.DEFAULT.lexical
    lexical: dict[str, Any] = {}
    for cell, (part, choices) in zip(cells, profiles.WORDING.items(), strict=True):
        at = choices.index(getattr(defaults, part))
        lexical[part] = cell.selectbox(part.capitalize(), list(choices), at, key=f"new_{part}", help=ABOUT["lexical"])
    return {"lexical": lexical | _numbers(profiles.LEXICAL, "new_lexical")}


def _writers() -> list[str]:
    offered = app().index.admin.models_offered(identity.me())
    return list(
        st.multiselect(
            "Writer",
            list(offered.llms),
            list(offered.llms[:1]),
            key="new_writers",
            accept_new_options=offered.others,
            placeholder="Choose a language model" if offered.llms else "No language model is configured",
            help=ABOUT["writer"],
        )
    )


def _finish(raw: dict[str, Any]) -> None:
    """What is wrong, at once; else the buttons. A form without a name is not wrong yet."""
    profile, wrong = _checked(raw) if raw["name"] else (None, "")
    if wrong:
        st.warning(flash.plain(wrong), icon=":material/error:")
    with st.container(horizontal=True):
        ready = profile is not None
        if st.button("Add", key="new_add", icon=":material/add:", disabled=not ready) and profile:
            actions.do(partial(add, profile=profile))
            st.rerun()
        if st.button("Add and build", key="new_build", icon=":material/build:", disabled=not ready) and profile:
            _confirm(profile)


def _checked(raw: dict[str, Any]) -> tuple[Profile | None, str]:
    try:
        return app().index.admin.check_profile(identity.me(), profiles.from_mapping(raw)), ""
    except ConcordError as error:
        return None, flash.refusal(error)


def _confirm(profile: Profile) -> None:
    """The estimate, before anything is kept."""
    confirm_build(profile, "Add and build", partial(add_and_build, profile=profile))


def add(actor: Actor, profile: Profile) -> str:
    added = app().index.admin.add_profile(actor, profile)
    return f"Profile {added.name} was added. Build it to use it."


def add_and_build(actor: Actor, profile: Profile) -> str:
    added = app().index.admin.add_profile(actor, profile)
    return (
        f"Profile {added.name} was added; its build started as job {app().index.admin.rebuild(actor, added.name).id}."
    )


def confirm_build(profile: Profile, what: str, action: Callable[[Actor], str]) -> None:
    """Ask whether to build, with what that takes."""
    try:
        takes = lines(profile)
    except ConcordError as error:
        flash.refuse(error)
        st.rerun()
    will = [*takes, "It runs in the background; searches go on."]
    actions.confirm(f"{what} the profile {profile.name}?", will, what, action)


def lines(profile: Profile) -> list[str]:
    """Passages, texts to embed, calls of language models, time and price."""
    estimate = app().index.admin.estimate(identity.me(), profile)
    return [
        (
            f"{style.count(estimate.documents, 'document')} become about {style.count(estimate.chunks, 'passage')}; "
            f"{style.count(estimate.to_embed, 'text')} must be embedded."
        ),
        *(_called(row) for row in estimate.calls),
        (
            f"That takes about {_span(*map(_duration, estimate.time))} on this machine and costs"
            f" {_span(*map(dollars_of, estimate.price))}."
        ),
    ]


def _called(row: CallEstimate) -> str:
    """One line for the calls of a model."""
    unknown = "" if row.seconds else "; how long they take is not known yet"
    return f"{FEATURES[row.purpose]}: {total([row])}{unknown}."


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _duration(seconds: float) -> str:
    """A rough duration.

    >>> _duration(40), _duration(600)
    ('40 seconds', '10 minutes')
    """
    return style.count(max(1, round(seconds)), "second") if seconds < 90 else style.count(round(seconds / 60), "minute")
