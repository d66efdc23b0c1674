"""The doctor: looks at everything that a server needs to go on for years, and says of each fault what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.access import READS, Actor, use_case
from core.cures import BACK_UP, JOBS, WORKER, reindex
from core.errors import ConcordError
from core.ports import Clock, Models
from core.services.jobs.workers import Workers
from core.services.platform.settings import TeamSettings
from core.settings import Settings
from core.types import Damage

if TYPE_CHECKING:
    from core.services.index.builder import IndexBuilder
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database

FINE, NOTE, FAULT = "fine", "note", "fault"
GB = 1_000_000_000
LEAST, LITTLE = GB, 5 * GB  # free bytes on the disk: below the first it is a fault
DRIFT = timedelta(minutes=5)  # that the clock may be behind what was written
BACKUP = timedelta(days=2)  # after which a backup is old


@dataclass(frozen=True, slots=True)
class Checkup:
    """One part of the server: fine, worth a note, or at fault, and what to do then."""

    part: str
    state: str
    says: str
    cure: str = ""


Look = Callable[[], Iterable[Checkup]]


class Doctor:
    """Every look by itself: one that fails is a fault, and the others go on."""

    def __init__(self, looks: Mapping[str, Look]) -> None:
        self.looks = looks

    @use_case("see the index", READS)
    def examine(self, actor: Actor) -> tuple[Checkup, ...]:
        """What each part says, in the order of the parts."""
        return tuple(checkup for part, look in self.looks.items() for checkup in _seen(part, look))


def _seen(part: str, look: Look) -> Iterator[Checkup]:
    try:
        yield from look()
    except ConcordError as error:
        yield Checkup(part, FAULT, error.message, str(error.cure or ""))
    except (OSError, sqlite3.Error, ValueError) as error:
        yield Checkup(part, FAULT, f"It cannot be looked at ({type(error).__name__}: {error}).")


# ---------------------------------------------------------------- the machine


def permissions(home: Path, exposed: Callable[[Path], Iterable[Damage]]) -> Iterator[Checkup]:
    """The workspace can be written by this user and is open to no other."""
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        yield Checkup("permissions", FAULT, f"{home} cannot be written by this user.", f"Run: chown -R $USER {home}")
    faults = [
        Checkup("permissions", FAULT, f"{damage.file} {damage.what}.", str(damage.cure)) for damage in exposed(home)
    ]
    yield from faults or [Checkup("permissions", FINE, "The workspace is its owner's alone.")]


def configuration(settings: Settings, environment: Mapping[str, str]) -> Iterator[Checkup]:
    """The settings are known, filled in, and agree with each other."""
    faults = [Checkup("configuration", FAULT, says, cure) for says, cure in _misconfigured(settings, environment)]
    yield from faults or [Checkup("configuration", FINE, "The settings agree with each other.")]


def _misconfigured(settings: Settings, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = {f"CONCORD_{option.name.upper()}" for option in fields(Settings)}
    for name in sorted(name for name in environment if name.startswith("CONCORD_")):
        if name not in known and not name.startswith("CONCORD_TEST"):
            near = get_close_matches(name, known, n=1)
            yield (
                f"{name} is no setting.",
                f"Write {near[0]}." if near else "Remove it; docs/reference/settings.md has all.",
            )
        elif environment[name] == "CHANGE-ME":
            yield f"{name} still says CHANGE-ME.", "Put a value of your own there."
    name = urlsplit(settings.url).hostname or ""
    hosts = settings.hosts.lower().replace(",", " ").split()
    if name and hosts and not any(fnmatch(name, host) for host in hosts):
        yield f"CONCORD_HOSTS does not name {name}, where CONCORD_URL leads.", f"Add {name} to CONCORD_HOSTS."
    if settings.sign_in != "demo" and settings.url.startswith("http://") and name not in ("localhost", "127.0.0.1"):
        yield (
            "People sign in without HTTPS.",
            "Put a proxy in front (docs/install.md), and write https:// in CONCORD_URL.",
        )


def disk(home: Path, usage: Callable[[Path], tuple[int, int, int]] = shutil.disk_usage) -> Iterator[Checkup]:
    """Room for the next build and the next backup."""
    free = usage(home)[2]
    state = NOTE if free < LITTLE else FINE
    state = FAULT if free < LEAST else state
    cure = "Free some, or move the workspace to a larger disk." if state != FINE else ""
    yield Checkup("disk", state, f"{free / GB:.1f} GB are free.", cure)


def time(clock: Clock, repository: Repository) -> Iterator[Checkup]:
    """The clock is not behind what was written."""
    now, newest = datetime.fromisoformat(clock.stamp()), repository.log(repository.head(), limit=1)
    written = datetime.fromisoformat(newest[0][0].when) if newest else now
    if now + DRIFT < written:
        says = f"It is {now:%Y-%m-%d %H:%M}, and the newest commit is of {written:%Y-%m-%d %H:%M}."
        yield Checkup("clock", FAULT, says, "Set the clock by the network: timedatectl set-ntp true")
    else:
        yield Checkup("clock", FINE, f"It is {now:%Y-%m-%d %H:%M} {now.tzname() or ''}.".replace(" .", "."))


# ---------------------------------------------------------------- what the workspace holds


def database(rows: Database) -> Iterator[Checkup]:
    """It answers, and is whole."""
    facts = rows.facts()
    rows.refuse_earlier(facts.version)
    faults = [
        Checkup("database", FAULT, f"{damage.file} {damage.what}.", str(damage.cure)) for damage in rows.damaged()
    ]
    yield from faults or [Checkup("database", FINE, f"{rows.name} is whole, version {facts.version}.")]


def index(builder: IndexBuilder, settings: TeamSettings) -> Iterator[Checkup]:
    """What people search is the newest commit."""
    if other := builder.repository.other_format():
        yield from (Checkup("index", FAULT, f"{damage.file} {damage.what}.", str(damage.cure)) for damage in other)
        return
    profile = settings.production().profile
    if not builder.repository.head():
        yield Checkup("index", FINE, "There are no documents yet.")
    elif builder.generations.current(profile) is None:
        yield Checkup("index", FAULT, "Nothing can be searched.", str(reindex()))
    elif builder.behind(profile):
        yield Checkup("index", NOTE, "It is behind the newest commit.", str(JOBS))
    else:
        yield Checkup("index", FINE, "It serves the newest commit.")


def models(registry: Models, settings: TeamSettings, damaged: Callable[[], Iterable[Damage]]) -> Iterator[Checkup]:
    """The model that embeds questions can be loaded, and no fetched file is damaged."""
    faults = [Checkup("models", FAULT, f"{damage.file} {damage.what}.", str(damage.cure)) for damage in damaged()]
    yield from faults
    profile = settings.production().profile
    if not faults:
        registry.of(profile)
        yield Checkup("models", FINE, f"{profile.embedder} is here and whole.")


def jobs(actor: Actor, workers: Workers) -> Iterator[Checkup]:
    """Jobs that wait find somebody."""
    queue = workers.waiting(actor)
    if queue.stuck:
        yield Checkup("jobs", FAULT, f"{queue.jobs} wait, and no worker is alive.", str(WORKER))
    else:
        yield Checkup("jobs", FINE, f"{queue.jobs} wait.")


def backup(rows: Database, clock: Clock) -> Iterator[Checkup]:
    """The newest one is not old."""
    newest = rows.audit.newest(1, action="back up")
    if not newest:
        yield Checkup("backup", FAULT, "None was ever taken.", str(BACK_UP))
        return
    age = datetime.fromisoformat(clock.stamp()) - datetime.fromisoformat(newest[0].at)
    hours = f"The newest is {age.total_seconds() / 3600:.0f} hours old."
    yield Checkup("backup", FAULT, hours, str(BACK_UP)) if age > BACKUP else Checkup("backup", FINE, hours)


# ---------------------------------------------------------------- others


def answering(part: str, configured: bool, ask: Callable[[], str], cure: str) -> Iterator[Checkup]:
    """Something elsewhere, where one is configured: `ask` says why it cannot be used, or nothing."""
    if not configured:
        yield Checkup(part, FINE, "None is configured.")
    elif why := ask():
        yield Checkup(part, FAULT, f"It cannot be used: {why.rstrip('.')}.", cure)
    else:
        yield Checkup(part, FINE, "It answers.")
