"""Who reads which folder, for admins: the list, and another one for a folder as a change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.access import ROLES, Actor, allowed
from core.curation.review import policy
from core.curation.review.readers import EVERYONE, GROUP, ROLE, is_reader
from core.errors import BadInput, ConcordError
from core.services.people.accounts import Account
from pages.ui import actions, address, dialogs, flash, identity, keys, people
from pages.ui.reviews import rules
from pages.ui.workspace import app

NAMED, EVERYBODY, INHERITED = WAYS = ("Those named here", "Everybody", "As the folder above it")
SHOWN = 4  # people of a folder that are named in the table


def draw(me: Actor) -> None:
    """Every folder with its readers, also where an admin is none of them, and a way to propose others."""
    if not allowed(me, "manage accounts"):
        return
    with st.expander("Readers", icon=":material/visibility:", key="readers"):
        folders, accounts = app().reviews.changes.readers(me), app().people.accounts.listed(me)
        if folders:
            rows = [
                {"Folder": folder, "Read by": people.audience(names) or "nobody", "These are": _people(names, accounts)}
                for folder, names in folders
            ]
            st.dataframe(rows, hide_index=True, key="readers_table", width="stretch")
        else:
            st.caption("Everybody who is signed in reads every document.")
        st.caption(f"{_of_admins()} Groups are given on [Accounts](/accounts), or come from the sign-in provider.")
        if st.button("Choose who reads a folder", key="readers_edit", icon=":material/edit:"):
            _edit()


def _of_admins() -> str:
    if app().reviews.changes.admins_read(identity.me()):
        return "Admins read every folder by their role; what they open so is in the audit."
    return "Admins read a folder only where they are named, and see here that it exists."


def _people(names: Sequence[str], accounts: Sequence[Account]) -> str:
    """The accounts that are among the readers now."""
    found = [account.name for account in accounts if account.active and is_reader(account.actor, names)]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more or "nobody yet"


@dialogs.dialog("Who reads a folder", width="medium")
def _edit() -> None:
    me = identity.require("manage accounts")
    known = dict(app().reviews.changes.readers(me))
    folder = st.selectbox(
        "Folder, with all below it",
        _folders(known),
        index=None,
        key="readers_folder",
        accept_new_options=True,
        placeholder="Choose a folder, or type one",
        format_func=lambda one: "All documents" if one == "/" else one,
    )
    if not folder:
        return
    names = known.get(f"{folder.strip('/')}/")
    way = st.segmented_control("Who reads it", WAYS, default=_way(names), key=f"readers_way_{folder}", required=True)
    chosen = [EVERYONE] if way == EVERYBODY else None
    if way == NAMED:
        chosen = _chosen(me, folder, names or ())
    if chosen == []:
        return
    admins = st.checkbox(
        "Admins read every folder; what they open by their role alone is in the audit",
        app().reviews.changes.admins_read(me),
        key="readers_admins",
    )
    now = app().reviews.changes.rules_text(me)
    try:
        text = policy.with_readers(now, folder, chosen, admins)
        told = app().reviews.changes.readers_effect(me, text)
    except ConcordError as error:
        st.error(flash.refused(error), icon=":material/error:")
        return
    _say(told, chosen, admins, me)
    if text != now:
        offer(me, folder, text, told)


def offer(me: Actor, folder: str, text: str, told: Sequence[str]) -> None:
    """The ways to hand another list on: as a change, or at once where no other admin could approve it."""
    lone, widens = rules.lone(me), any("shown" in sentence for sentence in told)
    reason = _reason(widens) if lone else ""
    steps = {"readers_go": ("Propose", partial(_propose, folder=folder, text=text))}
    if lone and not widens:
        steps["readers_apply"] = ("Apply now", partial(_apply, folder=folder, text=text, reason=reason))
    with st.container(horizontal=True, gap="xsmall"):
        for key, (label, step) in steps.items():
            primary = key == [*steps][-1]
            if st.button(label, type="primary" if primary else "secondary", key=key):
                actions.do(step)
                st.rerun()


def _chosen(me: Actor, folder: str, names: Sequence[str]) -> list[str]:
    """Groups, roles and people; a word that is none of them is the name of a group."""
    accounts = [account for account in app().people.accounts.listed(me) if account.active]
    groups = sorted({group for account in accounts for group in account.actor.groups})
    options = [
        *(f"{GROUP}{group}" for group in groups),
        *(f"{ROLE}{role}" for role in ROLES),
        *(account.id for account in accounts),
    ]
    options += [name for name in names if name not in options]
    picked = st.multiselect(
        "Groups, roles and people",
        options,
        list(names),
        key=f"readers_names_{folder}",
        format_func=people.reader,
        accept_new_options=True,
        placeholder="Choose, or type the name of a group",
    )
    return [name if name in options or name.startswith((GROUP, ROLE)) else f"{GROUP}{name}" for name in picked]


def _say(told: Sequence[str], chosen: Sequence[str] | None, admins: bool, me: Actor) -> None:
    """What it does before anybody proposes it."""
    if chosen is not None and EVERYONE not in chosen:
        also = ", and by admins because of their role" if admins else ""
        st.caption(f"Read by {flash.plain(_people(chosen, app().people.accounts.listed(me)))}{also}.")
    for sentence in told:
        icon = ":material/visibility_off:" if "hidden" in sentence else ":material/visibility:"
        st.info(flash.plain(sentence), icon=icon)
    if not told:
        st.caption("Nobody reads more or less than now.")


def _folders(known: Sequence[str] | dict[str, tuple[str, ...]]) -> list[str]:
    """Folders with documents, those above them, and those of the policy."""
    found = {folder.strip("/") for folder in known}
    for document in app().knowledge.documents.all():
        parts = document.path.split("/")[:-1]
        found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
    return ["/", *sorted(found - {""})]


def _way(names: Sequence[str] | None) -> str:
    return EVERYBODY if names and EVERYONE in names else NAMED


def _reason(widens: bool) -> str:
    """Why the only admin needs no approval; only where the documents lose readers and none gains them."""
    if widens:
        st.info(
            "You are the only admin, and this shows documents to more people: a second admin has to approve it, or you"
            " bypass the approval with a reason.",
            icon=":material/gavel:",
        )
        return ""
    st.info(
        "You are the only admin, so no other admin can approve this. Apply it now: your name and reason stay with the"
        " change and in the audit.",
        icon=":material/gavel:",
    )
    return st.text_input("Reason", "There is no other admin yet", key="readers_reason").strip()


def _proposed(actor: Actor, folder: str, text: str) -> int:
    place = "all documents" if folder == "/" else folder
    number = rules.submitted(actor, f"Change who reads {place}", text)
    address.show(**{keys.CHANGE: str(number)})
    return number


def _propose(actor: Actor, folder: str, text: str) -> str:
    _proposed(actor, folder, text)
    return "Proposed. It takes effect once another admin has approved it and it is merged."


def _apply(actor: Actor, folder: str, text: str, reason: str) -> str:
    if not reason:
        raise BadInput("Say why no other admin has to approve this. The reason stays with the change.")
    app().reviews.merger.merge(actor, _proposed(actor, folder, text), bypass=reason)
    return "Applied. The new readers count from now on."
