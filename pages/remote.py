"""Remote: the git repository elsewhere that merges are pushed to, and from which commits come in. For admins."""

from typing import Literal

import streamlit as st

from core.access import Actor
from core.services.remote.remotes import Remote
from pages.ui import actions, charts, dialogs, flash, identity, keys, style
from pages.ui.home import empty
from pages.ui.workspace import app

me = identity.require("manage the remote")
STATES = {
    "up to date": (st.success, ":material/check_circle:", "Up to date."),
    "pushing": (st.info, ":material/hourglass_top:", ""),
    "waiting": (st.info, ":material/rate_review:", ""),
    "failing": (st.warning, ":material/cloud_off:", ""),
    "rewritten": (st.error, ":material/error:", ""),
}


def running() -> bool:
    return any(job.open and job.kind == "remote" for job in app().platform.jobs.listed(me, 50))


def push(actor: Actor) -> str:
    app().remote.remotes.ask(actor)
    return "Pushing. This page shows how it went."


def fetch(actor: Actor) -> str:
    app().remote.remotes.ask(actor, push=False)
    return "Looking for commits made elsewhere. This page shows what was found."


def accept(actor: Actor) -> str:
    app().remote.remotes.ask(actor, push=False, accept=True)
    return "The rewritten branch is accepted. What it holds comes in as a change."


def standing(remote: Remote) -> None:
    """Where both sides stand, in one sentence, with what helps."""
    box, icon, first = STATES[remote.state]
    box(flash.plain(f"{first} {remote.sentence}".strip()), icon=icon)
    if remote.state == "rewritten" and st.button("Accept the new history", key="remote_accept"):
        actions.confirm(
            "Accept that the branch was rewritten?",
            [
                "What the branch holds now comes in as a change, which people review.",
                "What only Concord has is pushed again after that change is merged.",
            ],
            "Accept",
            accept,
        )


def facts(remote: Remote) -> None:
    charts.tiles({"To push": f"{remote.backlog:,}", "To take over": f"{remote.incoming:,}"}, "remote")
    rows = {
        "Repository": f"`{remote.url}`",
        "Branch": f"`{remote.branch}`",
        "Folder": f"`{remote.folder}`" if remote.folder else "",
        "Commits by another Concord": "taken over without a second review"
        if remote.trust
        else "reviewed as any others",
        "Last push": style.moment(remote.pushed) if remote.pushed else "never",
        "Last look": style.moment(remote.fetched) if remote.fetched else "never",
        "Tries that failed": f"{remote.failures:,} in a row" if remote.failures else "",
    }
    st.markdown("\n".join(f"- {name}: {value}" for name, value in rows.items() if value))


def draw(remote: Remote) -> None:
    busy = running()
    standing(remote)
    with st.container(horizontal=True):
        if remote.change and st.button(
            f"Open change {remote.change}", icon=":material/rate_review:", type="primary", key="remote_change"
        ):
            st.switch_page("pages/reviews.py", query_params={keys.CHANGE: str(remote.change)})
        first: Literal["primary", "secondary"] = "secondary" if remote.change else "primary"
        if st.button("Push now", icon=":material/cloud_upload:", type=first, key="remote_push", disabled=busy):
            actions.do(push)
            st.rerun()
        if st.button("Fetch now", icon=":material/cloud_download:", key="remote_fetch", disabled=busy):
            actions.do(fetch)
            st.rerun()
    facts(remote)


@st.fragment(run_every="1s")
def live() -> None:
    identity.require("manage the remote")
    remote = app().remote.remotes.show(me)
    if remote is None or not running():
        dialogs.redraw()
    else:
        draw(remote)


st.title("Remote")
st.caption("Merges are pushed to a git repository elsewhere, and commits made there come in as a change.")
known = app().remote.remotes.show(me)
if known is None:
    empty.state(
        "cloud_off",
        "No remote is set up",
        "Whoever runs Concord on the server names a repository. From then on every merge goes there by itself.",
        "no_remote",
    )
elif running():
    live()
else:
    draw(known)
