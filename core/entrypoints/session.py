"""The workspace that a command works on, and who acts."""

from __future__ import annotations

import getpass
from argparse import Namespace
from dataclasses import replace

from core.access import Actor
from core.bootstrap import App, build
from core.errors import Unavailable
from core.services.people.accounts import COMMAND_LINE, local_admin
from core.settings import Settings


def open_app(settings: Settings) -> App:
    """The App on a workspace that exists."""
    app = build(settings)
    if not (settings.home / "kb.git").is_dir():
        raise Unavailable(f"There is no workspace in {settings.home}. Make one with: python -m core init")
    app.platform.workspace.create()
    return app


def introduce(settings: Settings, options: Namespace) -> None:
    """Refuse a --as that names nobody who may act, also for commands that everybody may use."""
    if options.user and (settings.home / "kb.git").is_dir():
        open_app(settings).people.accounts.actor(options.user)


def acting(app: App, options: Namespace) -> Actor:
    """The account named by --as; without it the admin who sits at this machine."""
    if options.user:
        return replace(app.people.accounts.actor(options.user), door=COMMAND_LINE)
    return local_admin(getpass.getuser())
