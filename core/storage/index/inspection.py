"""Does a generation agree with itself? DuckDB, LanceDB and the served image are compared row by row,
and its files with what was published."""

from __future__ import annotations

import filecmp
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from core import strict
from core.adapters.system import sums
from core.adapters.system.files import read_json, write_atomic
from core.errors import in_one_line
from core.lru import LruCache
from core.storage.index import duckdb, graph_files
from core.storage.index.segment_list import gone_chunks, listed
from core.storage.lance import ann
from core.storage.serving import image
from core.types import Damage, LexicalOptions

_NEW = ("counts.npy", "lengths.npy")  # generations of earlier versions have none
Look = Callable[[Path, Mapping[str, Any]], Iterator[str]]


def disagreements(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Every way in which the parts of a generation contradict each other, or cannot be read at all."""
    yield from _looked_at("the image", _chunks, folder, manifest)
    yield from _looked_at("the graph", _graph, folder, manifest)
    yield from _looked_at("the list of segments", _segments, folder, manifest)


def _segments(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    for segment in listed(folder):
        where = f" of {segment.place}" if segment.place else ""
        for what, look in LOOKS.items():
            yield from _looked_at(f"{what}{where}", look, segment.folder(folder), manifest)


def _looked_at(what: str, look: Look, folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    try:
        yield from look(folder, manifest)
    except Exception as error:  # whatever a reader makes of damaged bytes
        yield f"{what} cannot be read: {in_one_line(error)}"


def _chunks(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    ids: list[str] = []
    for segment in listed(folder):
        ids += sorted(set(_ids(segment.folder(folder))).difference(gone_chunks(folder, segment)))
    if len(ids) != manifest["chunks"] or len(set(ids)) != len(ids):
        yield f"the manifest names {manifest['chunks']} chunks, the image holds {len(ids)} ({len(set(ids))} distinct)"


def _ids(folder: Path) -> list[str]:
    ids: list[str] = image.read_table(folder / "served" / "chunks.arrow")["id"].to_pylist()
    return ids


def _lexical(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    ids = _ids(folder)
    with duckdb.open_file(folder / "fts.duckdb") as connection:
        for table, column in (("chunks", "id"), ("lexical", "id"), ("fts_main_lexical.docs", "name")):
            rows = [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY {column}").fetchall()]
            if rows != ids:
                yield f"{table} in DuckDB holds {len(rows)} chunks that are not the {len(ids)} of the image"
        wrong = connection.execute(
            "SELECT count(*) FROM fts_main_lexical.dict d FULL JOIN (SELECT termid, count(DISTINCT docid) AS n FROM fts_main_lexical.terms "
            "GROUP BY termid) t USING (termid) WHERE d.df IS DISTINCT FROM t.n"
        ).fetchone()
        if wrong and wrong[0]:
            yield f"{wrong[0]} terms have a wrong document frequency"
        stats = connection.execute(
            "SELECT num_docs = (SELECT count(*) FROM fts_main_lexical.docs) AND "
            "abs(coalesce(avgdl, 0) - (SELECT coalesce(avg(len), 0) FROM fts_main_lexical.docs)) < 1e-9 FROM fts_main_lexical.stats"
        ).fetchone()
        if not stats or not stats[0]:
            yield "the number of chunks or their average length is wrong"
        options = strict.parse(LexicalOptions, manifest["profile"]["lexical"], "the manifest")
        yield from _image(folder / "served", connection, options)


def _image(served: Path, connection: Any, options: LexicalOptions) -> Iterator[str]:
    """What is served is what follows from DuckDB now."""
    with tempfile.TemporaryDirectory() as place:
        image.compile_lexical(connection, Path(place), options, alone=(served / "impacts.npy").exists())
        for expected in sorted(Path(place).iterdir()):
            if expected.name in _NEW and not (served / expected.name).exists():
                continue
            if not filecmp.cmp(expected, served / expected.name, shallow=False):
                yield f"the served {expected.name} is not the one that follows from DuckDB"


def _vectors(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if manifest.get("pending") and not (folder / "served" / "vectors.npy").exists():
        return  # they are still being computed
    ids = _ids(folder)
    stored, rows = ann.read(folder / "vec")
    served = image.map_array(folder / "served" / "vectors.npy")
    if stored != ids:
        yield f"LanceDB holds {len(stored)} vectors that are not those of the {len(ids)} chunks"
    elif rows.shape != served.shape or not np.array_equal(rows, served):
        yield "the served vectors are not those in LanceDB"


def _spans(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    chunks = image.read_table(folder / "served" / "chunks.arrow")
    lengths = [len(text) for text in image.read_table(folder / "served" / "documents.arrow")["text"].to_pylist()]
    rows = chunks.select(["doc", "start", "end"]).to_pydict()
    bad = sum(
        not 0 <= start < end <= lengths[doc]
        for doc, start, end in zip(rows["doc"], rows["start"], rows["end"], strict=True)
    )
    if bad:
        yield f"{bad} chunks do not lie inside their document"


def _graph(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    if graph_files.present(folder):
        yield from graph_files.disagreements(folder)


LOOKS: Mapping[str, Look] = {"DuckDB": _lexical, "LanceDB": _vectors, "the documents": _spans}  # of each segment


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
            f"Write it anew with: {_reindex(folder)}",
        )
    for path in generations:
        remove = f"Remove the generation with: rm -r {quote(str(path))}"
        cure = f"Build it anew with: {_reindex(folder)}" if path.name == serving else remove
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


def _reindex(folder: Path) -> str:
    return f"python -m core reindex --profile {folder.name.rpartition('-')[0]}"


def manifest(path: Path) -> Any:
    """A generation's manifest, None where it is missing or damaged."""
    stamp = (_stamp(path / "MANIFEST.json"), _stamp(path / sums.NAME))
    return _manifests.find((str(path), str(stamp)), lambda: _read_manifest(path))


def _read_manifest(path: Path) -> Any:
    if (path / sums.NAME).exists() and any(sums.differences(path, "/MANIFEST.json")):
        return None
    return read_json(path / "MANIFEST.json")


def wrong_files(path: Path, below: str = "") -> Iterator[str]:
    """Files that are not what was published; of a generation without checksums, those of another size."""
    facts = manifest(path) if below else read_json(path / "MANIFEST.json")
    if not isinstance(facts, dict) or not isinstance(facts.get("files"), dict):
        yield "MANIFEST.json"
    elif facts.get("format") != 1 or (path / sums.NAME).exists():
        yield from sums.differences(path, below)
    else:
        for name, size in facts["files"].items():
            if not (path / name).is_file() or (path / name).stat().st_size != size:
                yield name


def changed_files(path: Path) -> Iterator[str]:
    """Files that are not what was published, where only those are read whose time of writing is not the one that was noted.

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
        if _stamp(path / name) != noted.get(name) and not sums.is_whole(path / name, wanted):
            yield name


def written(folder: Path, names: Iterable[str]) -> dict[str, list[int]]:
    """When files were written, and how large they are."""
    return {name: stamp for name in names if (stamp := _stamp(folder / name))}


def _stamp(path: Path) -> list[int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return [stat.st_size, stat.st_mtime_ns]


def _damaged_graph(place: Path) -> Iterator[Damage]:
    """The assembled graph follows from the generation; the next reader assembles it again."""
    if place.is_dir():
        for name in sums.differences(place):
            cure = f"It is assembled again after: rm -r {quote(str(place))}"
            yield Damage(f"index/{place.parents[1].name}/assembled/{place.name}/{name}", "is damaged or missing", cure)
