"""Garbage collection on the store: generations that are neither kept nor used, and files without a reference.

Every node names what it serves in an object of its own, `nodes/<name>`; a node that is silent for a while counts as
gone. A generation leaves CURRENT by a conditional write, and only then its files are deleted: a build that needs one of
them finds that CURRENT was replaced, and starts again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core import strict
from core.errors import Conflict
from core.storage.object_store.published import ORPHANED, Pointer, PublishedIndex
from core.storage.object_store.shared_folders import shared_keys

NODES = "nodes/"
GONE = 15 * 60  # seconds after which a node that says nothing uses nothing
_FORGOTTEN = 7 * 24 * 3600  # seconds after which its name is deleted


@dataclass(frozen=True, slots=True)
class StoreNode:
    """A process that follows the store: what it serves by place, and seconds since it last said so."""

    name: str
    serves: Mapping[str, tuple[str, ...]]
    age: float

    @property
    def alive(self) -> bool:
        return self.age < GONE

    @property
    def summary(self) -> str:
        """What it serves, for people.

        >>> StoreNode("ann", {"local-1a2b3c4d5e6f": ("gen-000007-9f8e7d6c5b4a",)}, 3.0).summary
        'local: generation 7'
        """
        numbers = {
            place.rpartition("-")[0]: ", ".join(str(int(folder.split("-")[1])) for folder in folders)
            for place, folders in self.serves.items()
        }
        return "; ".join(f"{profile}: generation {number}" for profile, number in numbers.items())


@dataclass(frozen=True, slots=True)
class Collected:
    """What was deleted."""

    generations: int
    files: int
    bytes: int


class Collector:
    """Says what nodes use, and deletes what nothing needs."""

    def __init__(self, index: PublishedIndex, keep: int) -> None:
        self.index, self.objects, self.keep = index, index.objects, keep

    def announce(self, node: str, serves: Mapping[str, Sequence[str]]) -> None:
        self.objects.put(NODES + node, strict.canonical({"serves": serves}).encode())

    def leave(self, node: str) -> None:
        self.objects.delete([NODES + node])

    def nodes(self) -> tuple[StoreNode, ...]:
        """Who said what they serve, by name."""
        found = []
        for row in self.objects.list(NODES):
            stored = self.objects.get(row.key)
            if stored:
                said = json.loads(stored.data)["serves"]
                serves = {place: tuple(folders) for place, folders in said.items()}
                found.append(StoreNode(row.key.removeprefix(NODES), serves, row.age))
        return tuple(found)

    def collect(self) -> Collected:
        """Everything: generations that are neither kept nor used, unreferenced files, nodes that never came back."""
        nodes, places = self.nodes(), self.index.places()
        retired = [self.retire(place, nodes) for place in places]
        orphans = self._orphans()
        self.objects.delete(orphans)
        self.objects.delete(NODES + node.name for node in nodes if node.age > _FORGOTTEN)
        return Collected(
            sum(row.generations for row in retired),
            len(orphans) + sum(row.files for row in retired),
            sum(orphans.values()) + sum(row.bytes for row in retired),
        )

    def retire(self, place: str, nodes: Sequence[StoreNode] | None = None) -> Collected:
        """Drop the generations of one place that are neither kept nor used, with the files that only they name.

        A generation whose vectors came later is not kept.
        """
        pointer = self.index.read(place)
        wanted = [row.folder for row in pointer.generations if not row.facts.get("pending")] if pointer else []
        if pointer is None or len(pointer.generations) == len(wanted[: self.keep]):
            return Collected(0, 0, 0)
        alive = [node for node in (self.nodes() if nodes is None else nodes) if node.alive]
        used = {folder for node in alive for folder in node.serves.get(place, ())}
        named = {*wanted[: self.keep], *used, pointer.serves}
        kept = tuple(row for row in pointer.generations if row.folder in named)
        try:
            return self._drop(place, pointer, replace(pointer, generations=kept))
        except Conflict:  # somebody published or rolled back: the next one to collect looks again
            return Collected(0, 0, 0)

    def _drop(self, place: str, before: Pointer, after: Pointer) -> Collected:
        dropped = [row for row in before.generations if row not in after.generations]
        if not dropped:
            return Collected(0, 0, 0)
        kept = self._named(after)
        gone = {
            key: size
            for key, size in self._named(replace(before, generations=tuple(dropped))).items()
            if key not in kept
        }
        self.index.replace(place, before, after)
        self.objects.delete(gone)
        return Collected(len(dropped), len(gone), sum(gone.values()))

    def _named(self, pointer: Pointer) -> dict[str, int]:
        """Every key that the generations of a pointer need, with the size of its file."""
        named = {row.files: 0 for row in pointer.generations}
        for row in pointer.generations:
            named |= {stored.key: stored.size for stored in self.index.files(row).values()}
        return named

    def _orphans(self) -> dict[str, int]:
        """Files that a killed build left: named by nobody, and too old for a build that still runs."""
        old = {row.key: row.size for row in self.objects.list("files/") if row.age > ORPHANED}
        for place in self.index.places() if old else ():
            pointer = self.index.read(place)
            for key in self._named(pointer) if pointer else ():
                old.pop(key, None)
        for key in shared_keys(self.objects) if old else ():
            old.pop(key, None)
        return old
