"""The room that everything else builds on, wired last: it opens, repairs and looks after what the others made."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.access import SYSTEM
from core.adapters.models import weights
from core.adapters.system.backup_files import Archives
from core.adapters.system.files import close_to_others, exposed
from core.adapters.system.processes import ProcessMemory
from core.errors import ConcordError, Unavailable
from core.ports import Models, Progress
from core.services.deliveries.wiring import letterhead, mailer
from core.services.index.following import IndexSync
from core.services.index.wiring import IndexRoom
from core.services.jobs import crew
from core.services.jobs.jobs import Jobs, Work
from core.services.jobs.workers import Workers
from core.services.people.wiring import sign_in_provider
from core.services.platform import doctor
from core.services.platform.backups import Backups, Upgrades
from core.services.platform.base import Base, Step
from core.services.platform.doctor import Doctor
from core.services.platform.node import PAUSE, Background, Loop, RepositorySync
from core.services.platform.settings import TeamSettings
from core.services.platform.workspace import Daily, Workspace, WorkspaceGuard
from core.services.sample.sample import Sample
from core.settings import PROJECT, Settings, node_name
from core.storage.object_store.stored_backups import StoredBackups
from core.types import STORE_MOVED

CALENDAR_PAUSE, MINUTE = 600.0, 60.0  # seconds between two looks at the calendar, and at what waits


@dataclass(frozen=True, slots=True)
class Platform:
    """What everything else builds on."""

    workspace: Workspace
    backups: Backups
    upgrades: Upgrades
    jobs: Jobs
    workers: Workers
    settings: TeamSettings
    daily: Daily
    background: Background
    memory: ProcessMemory
    sample: Sample
    doctor: Doctor


def wire(base: Base, jobs: Jobs, models: Models, index: IndexRoom, sample: Sample, seed: Sequence[Step]) -> Platform:
    """`seed` fills what is empty after a start."""
    repository, settings, upkeep = base.repository, base.settings, base.upkeep
    guard = WorkspaceGuard(repository, base.database, base.generations)
    private: Step = partial(close_to_others, settings.home)
    migrate: Step = partial(guard.open, migrate=True)
    repairs: list[Step] = [index.following.start, *upkeep.repairs]
    backups = _backups(base, index, [private, migrate, *repairs])
    daily, workers = _daily(base), Workers(base.database, jobs)
    looks: list[Step] = [repository.follow] if repository.clone else []
    looks += [index.following.look] if settings.store else []
    workspace = Workspace(
        guard=guard,
        setup=[backups.refuse_half_restored, private],
        repairs=[sample.resume, *repairs, *seed],
        sweeps=[index.following.look, *upkeep.sweeps, daily.run],
        jobs=jobs,
        behind=index.jobs.catch_up,
        warmup=upkeep.warmup,
        works=_following(looks, upkeep.works),
    )
    again: list[Step] = [*upkeep.repairs, index.jobs.catch_up]
    return Platform(
        workspace,
        backups,
        Upgrades(base.database, backups, base.audit, migrate),
        jobs,
        workers,
        base.team_settings,
        daily,
        Background(
            _following_loops(base, index, RepositorySync(repository, base.database, partial(_each, again))),
            _serving_loops(base, jobs, daily, workspace),
        ),
        base.memory,
        sample,
        _doctor(base, models, workers, index),
    )


def _following_loops(base: Base, index: IndexRoom, repository: RepositorySync) -> list[Loop]:
    """What other nodes write; nothing to do where there are none."""
    store, told = index.following, partial(base.database.wait, STORE_MOVED)
    clone = Loop(repository.look, PAUSE, "The shared repository was not followed.", wait=repository.wait)
    shared = Loop(store.tick, PAUSE, "The store was not followed.", store.stop, wait=told)
    return [*([clone] if base.repository.clone else []), *([shared] if base.settings.store else [])]


def _serving_loops(base: Base, jobs: Jobs, daily: Daily, workspace: Workspace) -> list[Loop]:
    """`minutely`: what is tried again, commits made elsewhere, and what a node that died left to do."""
    minutely = partial(_each, [base.memory.relieve, *base.upkeep.minutely, workspace.catch_up])
    return [
        *base.upkeep.loops,
        Loop(jobs.tend, crew.PAUSE, "The workers were not looked after."),
        Loop(daily.run, CALENDAR_PAUSE, "The work of the day failed."),
        Loop(minutely, MINUTE, "The look at what waits failed."),
    ]


def _each(steps: Sequence[Step]) -> None:
    for step in steps:
        step()


def _daily(base: Base) -> Daily:
    """Where nodes share a database, one of them claims the day."""
    node, rows = node_name(base.settings), base.database.workers

    def claim(name: str, seconds: float) -> bool:
        return not base.settings.database or rows.claim(name, node, seconds)

    return Daily(base.clock, base.upkeep.daily, claim)


def _backups(base: Base, index: IndexRoom, steps: Sequence[Step]) -> Backups:
    """`steps` open and repair what was restored."""

    def make_ready(progress: Progress) -> tuple[str, ...]:
        _each(steps)
        if base.repository.head():
            index.builder.build(base.team_settings.profile(), progress=progress, words=True)
        return index.verifier.problems(progress)

    return Backups(
        base.settings.home,
        base.repository,
        base.database,
        base.generations,
        base.team_settings,
        Archives(),
        base.audit,
        base.clock,
        base.other_database,
        make_ready,
        StoredBackups(),
    )


def _following(looks: Sequence[Step], works: Mapping[str, Work]) -> dict[str, Work]:
    """Work that begins with what every node has written."""

    def followed(work: Work, arguments: Mapping[str, Any], progress: Progress) -> Any:
        for look in looks:
            with suppress(Unavailable):  # then with what this node has seen
                look()
        return work(arguments, progress)

    return {kind: partial(followed, work) for kind, work in works.items()} if looks else dict(works)


# ---------------------------------------------------------------- doctor


def _doctor(base: Base, models: Models, workers: Workers, index: IndexRoom) -> Doctor:
    settings, team_settings = base.settings, base.team_settings
    return Doctor(
        {
            "configuration": partial(doctor.configuration, settings, os.environ),
            "permissions": partial(doctor.permissions, settings.home, exposed),
            "disk": partial(doctor.disk, settings.home),
            "clock": partial(doctor.time, base.clock, base.repository),
            "database": partial(doctor.database, base.database),
            "index": partial(doctor.index, index.builder, team_settings),
            "models": partial(doctor.models, models, team_settings, partial(weights.damaged, settings.models)),
            "jobs": partial(doctor.jobs, SYSTEM, workers),
            "backup": partial(doctor.backup, base.database, base.clock),
            **_counterparts(settings, index.following),
        }
    )


def _counterparts(settings: Settings, following: IndexSync) -> dict[str, doctor.Look]:
    """What the doctor asks of others: mail server, sign-in provider, store."""
    letters = "Check CONCORD_SMTP_URL, CONCORD_SMTP_PASSWORD and CONCORD_SMTP_CA; docs/messages.md says how."
    people = "Check the section [auth] of .streamlit/secrets.toml; docs/accounts.md shows one."
    files = "Check CONCORD_STORE and the credentials of the store; docs/cluster.md says which it needs."
    mail = partial(_mail_refusal, settings)
    return {
        "mail": partial(doctor.answering, "mail", bool(settings.smtp_url), mail, letters),
        "provider": partial(doctor.answering, "provider", settings.sign_in == "oidc", _provider_refusal, people),
        "store": partial(doctor.answering, "store", bool(settings.store), partial(_store_refusal, following), files),
    }


def _mail_refusal(settings: Settings) -> str:
    server = mailer(settings, letterhead(settings))
    return server.refusal() if server else ""


def _provider_refusal() -> str:
    """Why nobody can sign in through the provider of the section [auth]; "" where it answers."""
    places = (PROJECT / ".streamlit" / "secrets.toml", Path.home() / ".streamlit" / "secrets.toml")
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return "there is no section [auth]"
    try:
        sign_in_provider(tomllib.loads(file.read_text(encoding="utf-8")).get("auth", {})).metadata()
    except (ConcordError, tomllib.TOMLDecodeError) as error:
        return str(error)
    return ""


def _store_refusal(following: IndexSync) -> str:
    try:
        following.check(SYSTEM)
    except ConcordError as error:
        return str(error)
    return ""
