"""Profiles: how documents become an index. Add one, build it after an estimate, make it the default."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.access import Actor
from core.types import Profile
from pages.ui import actions, identity, style
from pages.ui.index import profile_form
from pages.ui.workspace import app


def draw() -> None:
    current = app()
    profiles, production = current.index.admin.profiles(identity.me()), current.platform.settings.production().profile
    absent = {profile.name: current.index.admin.absent_models(identity.me(), profile) for profile, _ in profiles}
    rows = []
    for profile, serving in profiles:
        rows.append(
            {
                "Profile": profile.name,
                "Production": profile == production,
                "Passages": serving.chunks if serving else None,
                "Built": style.moment(serving.built) if serving else "not built",
                **({"Missing model": ", ".join(absent[profile.name])} if any(absent.values()) else {}),
                "Chunker": profile.chunker.name,
                "Parameters": ", ".join(
                    f"{key.replace('_', ' ')} {value}" for key, value in profile.chunker.params.items()
                ),
                "Context": profile.context,
                "Questions": profile.questions,
                "Embedder": _embedders(profile),
                "BM25": f"k1 {profile.lexical.k1:g}, b {profile.lexical.b:g}, {profile.lexical.stemmer}",
                "Graph": profile.graph,
            }
        )
    st.dataframe(rows, hide_index=True, key="profiles", placeholder="")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Profile", [profile.name for profile, _ in profiles], key="profile_pick", width=260)
        if st.button("Build", icon=":material/build:", key="profile_build"):
            profile_form.confirm_build(current.platform.settings.profile(name), "Build", partial(build, name=name))
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
    profile_form.draw()


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
