"""Which files of the index are not what was published, and which generation CURRENT names."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core import strict
from core.adapters.system import sums
from core.adapters.system.files import read_json, write_atomic
from core.cures import Cure, recreate, reindex, remove
from core.lru import LruCache
from core.types import Damage

_MOST = 6  # manifests that a process keeps; each names every document
_manifests: LruCache[tuple[str, str], Any] = LruCache(_MOST)
NAME = re.compile(r"gen-(\d{6,})-([0-9a-f]{12})")


def files(folder: Path) -> Iterator[Damage]:
    """Every damaged file of a profile's generations."""
    generations = sorted((path for path in folder.iterdir() if NAME.fullmatch(path.name)), reverse=True)
    place, serving = f"index/{folder.name}", pointer(folder).get("folder", "")
    if generations and serving not in [path.name for path in generations]:
        yield Damage(
            f"{place}/CURRENT",
            "is damaged or missing; the newest whole generation serves",
            recreate(_reindex(folder).command),
        )
    for path in generations:
        unused = remove(path, what="Remove the generation")
        cure = _reindex(folder) if path.name == serving else unused
        for name in wrong_files(path):
            yield Damage(f"{place}/{path.name}/{name}", "is damaged or missing", cure)
        if (path / sums.NAME).exists():  # graphs of earlier versions have no checksums either
            yield from _damaged_graph(folder / "assembled" / path.name)


def pointer(folder: Path) -> Mapping[str, Any]:
    """What CURRENT says; nothing where it is missing or damaged. Earlier versions wrote no checksum."""
    said = read_json(folder / "CURRENT")
    keys = set(said) if isinstance(said, dict) else set()
    if keys == {"folder", "pinned"} or (keys == {"folder", "pinned", "sum"} and said["sum"] == pointer_sum(said)):
        return dict(said)
    return {}


def point(folder: Path, name: str, *, pinned: bool) -> None:
    """Let CURRENT name another generation."""
    said = {"folder": name, "pinned": pinned}
    write_atomic(folder / "CURRENT", strict.canonical({**said, "sum": pointer_sum(said)}))


def number(name: str) -> int:
    """The number in the name of a generation's folder.

    >>> number("gen-000007-1a2b3c4d5e6f")
    7
    """
    return int(name.split("-")[1])


def pointer_sum(said: Mapping[str, Any]) -> str:
    text = strict.canonical({name: said[name] for name in ("folder", "pinned")})
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _reindex(folder: Path) -> Cure:
    return reindex(folder.name.rpartition("-")[0])


def manifest(path: Path) -> Any:
    """A generation's manifest, None where it is missing or damaged."""
    stamp = (_stamp(path / "MANIFEST.json"), _stamp(path / sums.NAME))
    return _manifests.find((str(path), str(stamp)), lambda: _read_manifest(path))


def _read_manifest(path: Path) -> Any:
    if (path / sums.NAME).exists() and any(sums.differences(path, "/MANIFEST.json")):
        return None
    return read_json(path / "MANIFEST.json")


def wrong_files(path: Path, below: str = "") -> Iterator[str]:
    """Files that are not what was published, of those in folders called `below`."""
    facts = manifest(path) if below else read_json(path / "MANIFEST.json")
    if isinstance(facts, dict) and isinstance(facts.get("files"), dict):
        yield from sums.differences(path, below)
    else:
        yield "MANIFEST.json"


def changed_files(path: Path) -> Iterator[str]:
    """Files that are not what was published, where only those are read whose time of writing is not the one that was
    noted.

    Reading everything would make every build as slow as the index is large; `verify` does, and whoever opens it.
    """
    facts = manifest(path)
    noted = facts.get("written", {}) if facts else {}
    if not noted:
        yield from wrong_files(path)
        return
    known = sums.read(path)
    if known is None:
        yield sums.NAME
        return
    for name, wanted in known.items():
        if _stamp(os.path.join(path, name)) != noted.get(name) and not sums.is_whole(path / name, wanted):
            yield name


def written(folder: Path, names: Iterable[str]) -> dict[str, list[int]]:
    """When files were written, and how large they are."""
    return {name: stamp for name in names if (stamp := _stamp(os.path.join(folder, name)))}


def _stamp(path: Path | str) -> list[int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return [stat.st_size, stat.st_mtime_ns]


def _damaged_graph(place: Path) -> Iterator[Damage]:
    """The assembled graph follows from the generation; the next reader assembles it again."""
    if place.is_dir():
        for name in sums.differences(place):
            cure = remove(place, what="Remove it, to have it assembled again")
            yield Damage(f"index/{place.parents[1].name}/assembled/{place.name}/{name}", "is damaged or missing", cure)
