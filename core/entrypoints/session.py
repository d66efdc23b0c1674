"""The workspace that a command works on, and who acts."""

from __future__ import annotations

import gc
import getpass
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from core.access import Actor
from core.cures import initialize
from core.errors import Unavailable
from core.services.people.accounts import COMMAND_LINE, local_admin
from core.settings import Settings

if TYPE_CHECKING:
    from core.bootstrap import App


def build_app(settings: Settings) -> App:
    """The wired App. What it needs is imported here: help and usage errors do without."""
    if "core.bootstrap" not in sys.modules:
        _load()
    from core.bootstrap import build

    return build(settings)


def _load() -> None:
    """Import all of it. There is nothing to collect meanwhile, and nothing later in what stays: that is an eighth of
    the time.
    """
    gc.disable()
    import core.bootstrap  # noqa: F401

    gc.freeze()
    gc.enable()


def open_app(settings: Settings) -> App:
    app = existing(settings)
    app.platform.workspace.create()
    return app


def existing(settings: Settings) -> App:
    """A workspace that is there, in whichever state."""
    if not exists(settings):
        raise Unavailable(f"There is no workspace in {settings.home}.", initialize(settings.home))
    return build_app(settings)


def exists(settings: Settings) -> bool:
    """Whether there is a workspace, or what is left of one."""
    shared = settings.repository or settings.database
    return bool(shared) or (settings.home / "kb.git").is_dir() or (settings.home / "app.db").exists()


def introduced(settings: Settings, user: str) -> Actor:
    """Who acts in a command that needs no workspace; without one there are no accounts. An unknown or inactive --as is
    refused.
    """
    if user and exists(settings):
        return acting(open_app(settings), user)
    return local_admin(getpass.getuser())


def acting(app: App, user: str) -> Actor:
    """The account named by --as; else an admin, since whoever runs commands here owns the files."""
    if user:
        return replace(app.people.accounts.actor(user), door=COMMAND_LINE)
    return local_admin(getpass.getuser())
