"""What every room stands on: storage, clock and caches, what rooms tell each other, and what they do by themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

from core.access import Actor
from core.adapters.conversion.texts import TextReader
from core.adapters.models import weights
from core.adapters.system.files import write_privately
from core.adapters.system.processes import ProcessMemory
from core.analysis import analyser
from core.curation.review.remote_addresses import safe_address
from core.errors import StorageFailed, Unavailable, storing
from core.ports import Clock
from core.services.deliveries.outbox import Outbox
from core.services.inbox.messages import Messages
from core.services.jobs.jobs import Work
from core.services.knowledge.documents import Documents
from core.services.people.audit import Audit
from core.services.platform.node import Loop
from core.services.platform.settings import TeamSettings
from core.services.words.rule_files import QueryRuleFiles
from core.settings import PROJECT, Settings
from core.storage.cache.model_texts import TextCache
from core.storage.cache.shipped import ShippedScores, ShippedVectors
from core.storage.cache.vectors import EmbeddingCache
from core.storage.git.plumbing import forget_other_repositories
from core.storage.git.repository import Repository
from core.storage.git.shared import SharedRepository
from core.storage.git.transport import RemoteAccess
from core.storage.index.generations import Generations, IndexLimits
from core.storage.object_store.collection import Collector
from core.storage.object_store.local_copies import PublishedGenerations
from core.storage.object_store.objects import Conformance, ObjectStore
from core.storage.object_store.published import PublishedIndex
from core.storage.state.urls import open_database
from core.types import REPOSITORY_MOVED, STORE_MOVED

if TYPE_CHECKING:
    from core.services.inbox.news import Landing
    from core.storage.state.database import Database, State

P = ParamSpec("P")
Step = Callable[[], object]
_LOG = logging.getLogger(__name__)
SILENCE = 15.0  # seconds that the shared repository may be silent


class Signal(Generic[P]):
    """Something that happened, told to whoever listens, one after the other.

    >>> said: list[str] = []
    >>> merged: Signal[[str]] = Signal()
    >>> merged.then(said.append)
    >>> merged("change 3")
    >>> said
    ['change 3']
    """

    def __init__(self, heard: bool = True, *, within: bool = False) -> None:
        """An event that is not `heard` ignores its listeners.

        Listeners `within` a transaction write in it. Others run after the fact, which a full disk or an absent database
        does not undo.
        """
        self.heard, self._listeners = heard, list[Callable[P, object]]()
        self._late = () if within else (StorageFailed, Unavailable)

    def then(self, listener: Callable[P, object]) -> None:
        if self.heard:
            self._listeners.append(listener)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self._listeners:
            try:
                with storing("the workspace"):
                    listener(*args, **kwargs)
            except self._late as error:
                _LOG.error("A step after what was done is left for later: %s", error)


@dataclass(frozen=True, slots=True)
class Events:
    """What rooms tell each other: whoever it concerns listens, and whoever says it knows nobody."""

    rewritten: Signal[[Actor]] = field(default_factory=Signal)  # reviewers have another text before them
    ended: Signal[[int]] = field(default_factory=Signal)  # a change was merged or closed
    landed: Signal[[State, Actor, Landing]] = field(default_factory=partial(Signal, within=True))  # a commit of main
    moved: Signal[[Actor]] = field(default_factory=Signal)  # main has a new commit
    imported: Signal[[Actor]] = field(default_factory=Signal)  # it has an import, which is indexed by whoever imported
    built: Signal[[]] = field(default_factory=Signal)  # people search in what was built
    served: Signal[[Actor]] = field(default_factory=Signal)  # the same, by a job: what is measured then takes long
    written: Signal[[]] = field(default_factory=Signal)  # a model or a report, which machines share


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What a workspace does by itself. Rooms add theirs."""

    repairs: list[Step] = field(default_factory=list)  # at the start, where the disk can be written
    sweeps: list[Step] = field(default_factory=list)  # of what killed processes left
    daily: list[Step] = field(default_factory=list)
    warmup: list[Step] = field(default_factory=list)  # what the first search would wait for
    minutely: list[Step] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)  # of a server, with a pace of their own
    works: dict[str, Work] = field(default_factory=dict)  # what workers do, by kind of job


@dataclass(frozen=True, slots=True)
class Base:
    """The ground that rooms are wired on."""

    settings: Settings
    clock: Clock
    access: RemoteAccess
    repository: Repository
    database: Database
    generations: Generations
    vectors: EmbeddingCache
    texts: TextCache
    reader: TextReader
    memory: ProcessMemory
    audit: Audit
    team_settings: TeamSettings
    documents: Documents
    rule_files: QueryRuleFiles
    outbox: Outbox
    messages: Messages
    events: Events = field(default_factory=Events)
    upkeep: Upkeep = field(default_factory=Upkeep)

    def other_database(self, url: str) -> Database:
        """Behind another URL; that of the workspace's own file for ""."""
        return open_database(url, file=self.settings.home / "app.db")

    def scratch_generations(self, root: Path) -> Generations:
        """Generations beside the index that people search: of a change, of an earlier day."""
        return _generations(self.settings, root, view=self.documents.readership.view_aside, arrays=root / "arrays")


def lay(settings: Settings, clock: Clock, dated: bool = False) -> Base:
    """Open what the settings name. With `dated`, commits carry the clock's time and start nothing."""
    write_privately()
    forget_other_repositories()
    access = RemoteAccess(
        settings.remote_user,
        settings.remote_token,
        settings.remote_key,
        settings.remote_ssh,
        settings.remote_timeout,
    )
    repository = _repository(settings, access)
    repository.git.stamp = clock.stamp if dated else None
    database = open_database(settings.database, file=settings.home / "app.db")
    reader, team_settings, outbox = TextReader(), TeamSettings(repository), Outbox(clock, bool(settings.smtp_url))
    documents = Documents(repository, reader.admit, team_settings.statuses)
    view, keep = documents.readership.view, settings.keep_generations
    generations = _generations(settings, settings.home / "index", keep, _copies(settings), view)
    base = Base(
        settings,
        clock,
        access,
        repository,
        database,
        generations,
        EmbeddingCache(settings.caches / "embeddings.db", shipped_vectors()),
        TextCache(settings.caches / "texts.db"),
        reader,
        ProcessMemory(settings.memory * 1_000_000),
        Audit(database, repository, clock, documents.readership),
        team_settings,
        documents,
        QueryRuleFiles(repository),
        outbox,
        Messages(database, clock, outbox, documents.readership),
        Events(rewritten=Signal(heard=not dated), moved=Signal(heard=not dated)),
    )
    documents.readership.opened_by_role.append(
        lambda actor, document: base.audit.before(actor, "read by role", document.title, detail=document.path)
    )
    base.upkeep.sweeps.extend([generations.sweep, repository.sweep])
    if repository.clone:
        repository.clone.shared.pushed = partial(database.notify, REPOSITORY_MOVED)
    if generations.copies:
        generations.copies.index.replaced = partial(database.notify, STORE_MOVED)
    return base


@cache
def shipped_vectors() -> ShippedVectors:
    """Vectors of the starter knowledge base, read once in a process."""
    return ShippedVectors(PROJECT / "kb" / "sample" / "vectors.bin", _checksums())


@cache
def shipped_scores() -> ShippedScores:
    """What a cross-encoder says of passages for the questions of the sample, read once in a process."""
    return ShippedScores(PROJECT / "kb" / "sample" / "scores.json", _checksums())


def _checksums() -> dict[str, str]:
    return {model.name: model.files[0][1] for model in weights.BUNDLED}


def _repository(settings: Settings, access: RemoteAccess) -> Repository:
    """The repository of the workspace, or the clone of the one that nodes share."""
    path = settings.home / "kb.git"
    if not settings.repository:
        return Repository(path)
    url = safe_address(settings.repository, settings.remote_token)
    patience = min(access.patience, SILENCE)  # everybody who writes waits meanwhile
    return Repository(path, SharedRepository(path.resolve(), url, replace(access, patience=patience)))


def _copies(settings: Settings) -> PublishedGenerations | None:
    """Generations that machines share, if a store is configured."""
    if not settings.store:
        return None
    objects = ObjectStore(settings.store)
    index = PublishedIndex(objects, Conformance(objects, settings.home / "store.json"))
    return PublishedGenerations(index, Collector(index, settings.keep_generations))


def _generations(
    settings: Settings,
    root: Path,
    keep: int = 1,
    copies: PublishedGenerations | None = None,
    view: Callable[[Any], Any] = lambda index: index,
    arrays: Path | None = None,
) -> Generations:
    """`arrays`: where those of what is built aside go; what the index has, they share."""
    limits, shared = IndexLimits(keep, settings.exact_limit), settings.caches / "arrays"
    places = [arrays, shared] if arrays else [shared]
    return Generations(root, limits, lambda profile: analyser(profile.lexical), copies, arrays=places, view=view)
