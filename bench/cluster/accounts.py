"""Accounts with access tokens for the people of a walk; run with the environment of a node: python -m
bench.cluster.accounts N.
"""

from __future__ import annotations

import json
import sys

from core.access import SYSTEM
from core.bootstrap import App, build
from core.errors import NotFound
from core.services.people.accounts import NewAccount
from core.settings import load

PASSWORD = "a walk through every room"
REVIEWERS = 3  # every third one


def person(app: App, number: int) -> dict[str, str]:
    """One account: made if it is missing, with a new token."""
    name, role = f"walker-{number:02}", "reviewer" if number % REVIEWERS == 0 else "author"
    try:
        app.people.accounts.get(name)
    except NotFound:
        app.people.accounts.add(SYSTEM, NewAccount(name, f"Walker {number}", f"{name}@example.org", role), PASSWORD)
    actor = app.people.accounts.actor(name)
    for token in app.people.tokens.listed(actor, name):
        if token.state == "active":
            app.people.tokens.revoke(actor, token.id)
    text, _ = app.people.tokens.make(actor, "walk", "review", 1)
    return {"name": name, "role": role, "token": text}


def main(count: int) -> None:
    app = build(load())
    app.platform.workspace.create()
    print(json.dumps([person(app, number) for number in range(1, count + 1)]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
