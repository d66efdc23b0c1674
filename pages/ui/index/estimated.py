"""What building a profile would take, as lines to read before it is built."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.access import Actor
from core.errors import ConcordError
from core.llm.asking import dollars_of
from core.services.models.call_estimates import CallEstimate, total
from core.services.models.fitness import FEATURES
from core.types import Profile
from pages.ui import actions, flash, identity, style
from pages.ui.workspace import app


def confirm(profile: Profile, what: str, action: Callable[[Actor], str]) -> None:
    """Ask whether to build, with what that takes."""
    try:
        takes = lines(profile)
    except ConcordError as error:
        flash.say(flash.refusal(error), "error")
        st.rerun()
    will = [*takes, "It runs in the background; searches go on."]
    actions.confirm(f"{what} the profile {profile.name}?", will, what, action)


def lines(profile: Profile) -> list[str]:
    """Passages, texts to embed, calls of language models, time and price."""
    estimate = app().index.admin.estimate(identity.me(), profile)
    return [
        f"{style.count(estimate.documents, 'document')} become about {style.count(estimate.chunks, 'passage')}; "
        f"{style.count(estimate.to_embed, 'text')} must be embedded.",
        *(_called(row) for row in estimate.calls),
        f"That takes about {_span(*map(_duration, estimate.time))} on this machine and costs {_span(*map(dollars_of, estimate.price))}.",
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
