"""What machines share on a store, followed by each of them: about once a second, and never in the way of a search."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from core.access import ORPHANS, READS, SYSTEM, UPKEEP, Actor, use_case
from core.errors import ConcordError, Refused, Unavailable
from core.settings import node_name

if TYPE_CHECKING:
    from core.services.platform.base import Base
    from core.storage.object_store.collection import Collected, StoreNode
    from core.storage.object_store.local_copies import PublishedGenerations
    from core.storage.object_store.shared_folders import SharedFolder

_SHARED = 5  # seconds between two looks at models and reports
_AGAIN = 60  # seconds after which a node says again what it serves


@dataclass(frozen=True, slots=True)
class StoreState:
    """Whether the store can be used; `since` is when that began."""

    url: str
    usable: bool
    since: str
    error: str = ""

    @property
    def word(self) -> str:
        """For balancers and monitors.

        >>> StoreState("s3://kb", False, "2026-11-16T22:00:00+00:00").word
        'down since 2026-11-16T22:00:00+00:00'
        """
        return "ok" if self.usable else f"down since {self.since}"


class IndexSync:
    """Follows what is published. Without a store there is nothing to follow."""

    def __init__(self, base: Base, folders: Sequence[SharedFolder], back: Callable[[], object]) -> None:
        """`folders`: of models and reports. `back` is called when a store can be used again: what failed is asked for
        again.
        """
        self.generations, self.profiles, self.clock = base.generations, base.team_settings.profiles, base.clock
        self.node, self.workspace, url = node_name(base.settings), base.repository.workspace, base.settings.store
        self.folders, self.back, self._shared = folders, back, -math.inf
        self._announced: tuple[float, object] = (-math.inf, None)  # when and what this node last said it serves
        self.state = StoreState(url, True, base.clock.stamp()) if url else None

    @use_case(UPKEEP)
    def start(self) -> None:
        """Refuse a store that ignores conditions or is another workspace's, then bring what is published; without the
        store go on with what is here."""
        copies = self.generations.copies
        if copies:
            self._trying([copies.index.conformance.require, lambda: copies.index.belong(self.workspace())])
            self.look()

    @use_case(UPKEEP)
    def tick(self) -> None:
        """One look, by a node that goes on serving; it also says what it serves."""
        asks = [self._follow, self._announce]
        if time.monotonic() - self._shared > _SHARED:
            asks.append(self._share)
        self._trying(asks)

    @use_case(UPKEEP)
    def look(self) -> None:
        self._trying([self._follow, self._share])

    @use_case(UPKEEP)
    def share(self) -> None:
        """Upload the models and reports that were made here, and bring those of other machines."""
        self._trying([self._share], whole=False)

    def _follow(self) -> None:
        self.generations.follow(self.profiles())

    def _share(self) -> None:
        self._shared = time.monotonic()
        for folder in self.folders:
            folder.sync()

    def _announce(self) -> None:
        copies, used = self.generations.copies, self.generations.used()
        when, said = self._announced
        if copies and (said != used or time.monotonic() - when > _AGAIN):
            copies.collector.announce(self.node, used)
            self._announced = time.monotonic(), used

    @use_case(UPKEEP)
    def stop(self) -> None:
        """Say that this node serves nothing any more."""
        copies = self.generations.copies
        if copies and self._announced[1] is not None:
            self._trying([partial(copies.collector.leave, self.node)], whole=False)

    @use_case("see the index", READS)
    def nodes(self, actor: Actor) -> tuple[StoreNode, ...]:
        """Who follows the store, and what they serve."""
        return self._copies().collector.nodes()

    @use_case("see the index", READS)
    def check(self, actor: Actor) -> None:
        """Refuse a store that ignores conditions, whatever was found before."""
        self._copies().index.conformance.again()

    @use_case("rebuild the index", ORPHANS)
    def collect(self, actor: Actor) -> Collected:
        """Delete what nothing needs any more."""
        return self._copies().collector.collect()

    @use_case(UPKEEP)
    def sweep(self) -> None:
        """The same every day; a store that does not answer is left for another one."""
        if self.state:
            self._trying([partial(self.collect, SYSTEM)], whole=False)

    def _copies(self) -> PublishedGenerations:
        if self.generations.copies is None:
            raise Unavailable("There is no store. Name one with CONCORD_STORE, see docs/cluster.md.")
        return self.generations.copies

    def _trying(self, asks: Sequence[Callable[[], object]], *, whole: bool = True) -> None:
        """Ask the store; that it does not answer is said in `state`, and is no reason to stop. A `whole` look can say
        that all is well again."""
        errors = []
        for ask in asks if self.state else ():
            try:
                ask()
            except Refused:
                raise
            except ConcordError as error:
                errors.append(str(error))
        if errors or whole:
            self._say(usable=not errors, error=errors[0] if errors else "")

    def _say(self, *, usable: bool, error: str) -> None:
        before = self.state
        if before is None or (before.usable, before.error) == (usable, error):
            return
        since = before.since if before.usable == usable else self.clock.stamp()
        self.state = replace(before, usable=usable, error=error, since=since)
        if usable and not before.usable:
            self.back()
