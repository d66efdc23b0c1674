"""Profiles: how documents become an index. Add one, build it after an estimate, make it the default."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core import profiles as profile_rules
from core.access import Actor
from core.chunking import CHUNKERS, CONTEXTS, known
from core.errors import ConcordError
from core.llm.bill import dollars_of
from core.retrieval.legs.embedders import COMBINATIONS
from core.services.models.estimates import CallEstimate, total
from core.services.models.fitness import FEATURES
from core.types import ChunkerSpec, Profile
from pages.ui import actions, flash, identity, style
from pages.ui.workspace import app


def draw() -> None:
    current = app()
    profiles, production = current.index.admin.profiles(identity.me()), current.platform.settings.production().profile
    rows = []
    for profile, serving in profiles:
        rows.append(
            {
                "Profile": profile.name,
                "Production": profile == production,
                "Chunker": profile.chunker.name,
                "Parameters": ", ".join(
                    f"{key.replace('_', ' ')} {value}" for key, value in profile.chunker.params.items()
                ),
                "Context": profile.context,
                "Embedder": _embedders(profile),
                "BM25": f"k1 {profile.lexical.k1:g}, b {profile.lexical.b:g}, {profile.lexical.stemmer}",
                "Passages": serving.chunks if serving else None,
                "Built": style.moment(serving.built) if serving else "not built",
            }
        )
    st.dataframe(rows, hide_index=True, key="profiles", placeholder="")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Profile", [profile.name for profile, _ in profiles], key="profile_pick", width=260)
        if st.button("Build", icon=":material/build:", key="profile_build"):
            _confirm_build(current.platform.settings.profile(name))
        if st.button("Make default", icon=":material/star:", key="profile_default", disabled=name == production.name):
            actions.confirm(
                f"Search with the profile {name} from now on?",
                [
                    f"The Search page and the command line use {name} instead of {production.name}.",
                    "The history of the settings records this under your name.",
                ],
                "Make default",
                partial(make_default, name=name),
            )
        if st.button("Delete", icon=":material/delete:", key="profile_delete", disabled=name == production.name):
            actions.confirm(
                f"Delete the profile {name}?",
                ["Its index and all its generations are deleted.", "Runs that were made with it keep their figures."],
                "Delete",
                partial(delete, name=name),
            )
    _form()


def _confirm_build(profile: Profile) -> None:
    try:
        estimate = app().index.admin.estimate(identity.me(), profile)
    except ConcordError as error:
        flash.say(str(error), "error")
        st.rerun()
    actions.confirm(
        f"Build the profile {profile.name}?",
        [
            f"{style.count(estimate.documents, 'document')} become about {style.count(estimate.chunks, 'passage')}; {style.count(estimate.to_embed, 'text')} must be embedded.",
            *(_called(row) for row in estimate.calls),
            f"That takes about {_span(*map(_duration, estimate.time))} on this machine and costs {_span(*map(dollars_of, estimate.price))}.",
            "It runs in the background; searches go on.",
        ],
        "Build",
        partial(build, name=profile.name),
    )


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


def _form() -> None:
    with st.expander("Add a profile", icon=":material/add:", key="profile_form"):
        first, second, third = st.columns(3)
        name = first.text_input("Name", key="new_name", placeholder="for example small-chunks")
        chunker = second.selectbox("Chunker", list(CHUNKERS), key="new_chunker")
        context = third.selectbox(
            "Context",
            list(CONTEXTS),
            key="new_context",
            help="Structural puts title and headings before each passage when it is indexed; contextual adds "
            "sentences that a language model writes.",
        )
        cells = st.columns(max(3, len(known(chunker).defaults)))
        params = {
            key: int(cell.number_input(key.replace("_", " ").capitalize(), 0, 5000, value, key=f"new_{chunker}_{key}"))
            for cell, (key, value) in zip(cells, known(chunker).defaults.items(), strict=False)
        }
        models = _models(context)
        if st.button("Add", key="new_add", icon=":material/add:"):
            spec = ChunkerSpec(chunker, params)
            actions.do(partial(add, profile=Profile(name.strip(), spec, context, **models)))
            st.rerun()


def _models(context: str) -> dict[str, Any]:
    """The models of a new profile, from what there is on this machine and behind configured endpoints."""
    offered, used = app().index.admin.models_offered(identity.me()), app().platform.settings.production().profile
    now = [used.embedder, *used.embedders]
    first, second, third = st.columns(3)
    chosen = first.multiselect(
        "Embedders",
        list(dict.fromkeys([*now, *offered.embedders])),
        now,
        key="new_embedders",
        accept_new_options=offered.others,
        help="Turns passages into vectors. Several are combined."
        + (" Type openai:MODEL or bedrock:MODEL for one that is not listed." if offered.others else ""),
    )
    combine = second.selectbox("Combined by", list(COMBINATIONS), key="new_combine", disabled=len(chosen) < 2)
    graph = third.selectbox("Entities found by", list(profile_rules.GRAPHS), key="new_graph")
    writers: list[str] = []
    if context == "contextual":
        writers = st.multiselect(
            "Written by",
            list(offered.llms),
            list(offered.llms[:1]),
            key="new_writers",
            accept_new_options=offered.others,
            placeholder="Choose a language model" if offered.llms else "No language model is configured",
        )
    main, *others = chosen or [""]
    return {
        "embedder": main,
        "embedders": tuple(others),
        "combine": str(combine),
        "graph": str(graph),
        "writers": tuple(writers),
    }


def add(actor: Actor, profile: Profile) -> str:
    added = app().index.admin.add_profile(actor, profile_rules.check(profile))
    return f"Profile {added.name} was added. Build it to use it."


def delete(actor: Actor, name: str) -> str:
    app().index.admin.delete_profile(actor, name)
    return f"The profile {name} was deleted."


def build(actor: Actor, name: str) -> str:
    return f"Build started as job {app().index.admin.rebuild(actor, name).id}."


def make_default(actor: Actor, name: str) -> str:
    app().index.admin.make_default(actor, name)
    return f"The profile {name} is in production now."


def _embedders(profile: Profile) -> str:
    """The embedders of a profile, as the form takes them.

    >>> _embedders(Profile("both", embedder="a", embedders=("b",)))
    'a + b'
    """
    return " + ".join((profile.embedder, *profile.embedders))
