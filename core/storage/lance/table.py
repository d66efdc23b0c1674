"""The Lance table of one profile: text, words and vectors of every chunk, in a folder or on the store.

Several nodes may write at once. Every write is one conditional commit; the key is `id`, so two writers never insert one
chunk twice. There is no scalar index on `id`: with one, LanceDB 0.40 inserts duplicates all the same. Rows carry the
position of their commit on the main line, and an older commit never overwrites a newer one. LanceDB is imported here only.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.errors import Conflict, in_one_line
from core.storage.object_store.objects import lance_options

NAME = "chunks"
KEY = "id"
PARTITION = 1_000  # vectors in one partition of the IVF index, about
GROWN = 4  # times as many partitions as it was trained with: then a table is trained again, or its probes compare nearly every row
PROBES = 20  # partitions that a search looks into
REFINE = 4  # times as many as asked for are compared by their whole vectors; the index holds a byte for each number
FLAT = 5_000  # chunks; up to here every vector is compared
LOOSE = 20  # small files that a search looks into besides the indexes; each edit leaves one
_CACHE = 512 * 2**20  # bytes of an index that stay in memory
_FACTS = 128 * 2**20  # bytes of bookkeeping that stay in memory
_MANY = 500  # names in one clause
_PATIENCE = timedelta(hours=1)  # that a write may take with all its retries; LanceDB's own limit is 30 seconds
_ATTEMPTS = 5  # at joining files while others write
MARGIN = timedelta(seconds=10)  # by which the oldest version that is needed is younger than what is removed


def connect(place: str) -> Any:
    """A connection that looks for the newest version whenever it is asked."""
    import lancedb

    options = {"storage_options": lance_options()} if "://" in place else {}
    return lancedb.connect(place, read_consistency_interval=timedelta(0), session=_session(), **options)


@cache
def _session() -> Any:
    """What all tables of this process keep in memory."""
    import lancedb

    return lancedb.Session(index_cache_size_bytes=_CACHE, metadata_cache_size_bytes=_FACTS)


def newest(place: str) -> Any:
    """The table as it is now."""
    return connect(place).open_table(NAME)


def at(place: str, version: int) -> Any:
    """The table as it was at a version, whatever is written afterwards."""
    table = newest(place)
    table.checkout(version)
    return table


def created(place: str, schema: pa.Schema) -> Any:
    """An empty table; where there is one, a new version without its rows."""
    table = connect(place).create_table(NAME, schema=schema, mode="overwrite")
    table.set_unenforced_primary_key(KEY)
    return table


def cloned(place: str, source: str, version: int) -> Any:
    """A table of its own that begins as a version of another; what they share is not copied."""
    remove(place)
    return connect(place).clone_table(NAME, f"{source}/{NAME}.lance", source_version=version)


def continued(place: str, version: int) -> Any:
    """The table with a version as its newest; what came after it, such as rows of a killed build, is not in it."""
    table = newest(place)
    if table.version != version:
        table.checkout(version)
        table.restore()
        table.checkout_latest()
    return table


def upsert(table: Any, rows: pa.Table) -> set[int]:
    """Insert rows, or replace those of the same key that are not newer; the version that this gave, as of every write here."""
    merge = table.merge_insert(KEY).when_matched_update_all(where="target.rev <= source.rev")
    return {int(merge.when_not_matched_insert_all().execute(rows, timeout=_PATIENCE).version)}


def drop(table: Any, docs: Iterable[str], before: int) -> set[int]:
    """Delete the rows of documents that are older than a position."""
    clauses = (f"{among('doc', some)} AND rev < {before}" for some in _some(sorted(docs)))
    return {int(table.delete(clause).version) for clause in clauses}


def drop_superseded(table: Any, docs: Iterable[str]) -> set[int]:
    """Delete the rows of each document that are older than its newest ones: right in whichever order nodes write."""
    table.checkout_latest()
    newest: dict[str, int] = {}
    for some in _some(sorted(docs)):
        rows = table.search().where(among("doc", some)).select(["doc", "rev"]).to_arrow()
        for doc, rev in zip(rows["doc"].to_pylist(), rows["rev"].to_pylist(), strict=True):
            newest[doc] = max(rev, newest.get(doc, rev))
    dropped = (
        drop(table, [doc for doc, last in newest.items() if last == rev], rev) for rev in sorted(set(newest.values()))
    )
    return set().union(*dropped)


def _some(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[n : n + _MANY] for n in range(0, len(names), _MANY))


def among(column: str, values: Iterable[str]) -> str:
    """A clause for a column that holds one of some texts.

    >>> among("doc", ["a", "o'b"])
    "doc IN ('a', 'o''b')"
    """
    return f"{column} IN ({', '.join(map(quoted, values))})"


def quoted(text: str) -> str:
    """A text in a clause; the only sign with a meaning is the quote itself."""
    return "'" + text.replace("'", "''") + "'"


def index(table: Any, rows: int) -> bool:
    """Index the words, and the vectors from `FLAT` rows on. Whether the partitions of vectors were learned anew."""
    from lancedb.index import FTS, IvfSq

    there = table.list_indices()
    known = {column for config in there for column in config.columns}
    plain = {"stem": False, "remove_stop_words": False, "lower_case": False, "ascii_folding": False}
    for words in {"terms", "around"} - known if rows else ():
        table.create_index(words, config=FTS(base_tokenizer="whitespace", max_token_length=None, **plain))
    trained = [config.name for config in there if "vector" in config.columns]
    partitions = max(2, rows // PARTITION)
    if rows <= FLAT or partitions < GROWN * min(map(trained_for, trained), default=0):
        return False
    config = IvfSq(distance_type="cosine", num_partitions=partitions)
    table.create_index("vector", config=config, name=f"vector_{partitions}")
    for name in trained:
        if name != f"vector_{partitions}":
            table.drop_index(name)
    return True


def trained_for(name: str) -> int:
    """How many partitions an index of vectors was made with, which LanceDB does not say; earlier versions wrote no number.

    >>> trained_for("vector_246"), trained_for("vector_idx")
    (246, 0)
    """
    number = name.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


def settle(table: Any) -> bool:
    """Where many small files have come together, fold new rows into the indexes, join files, and remove versions older than all that
    have a tag; whether that was due. It may write the whole table again, so that no single edit pays for it: until then a search
    compares what came since.
    """
    if table.stats()["fragment_stats"]["num_small_fragments"] <= LOOSE:
        table.checkout_latest()
        return False
    written = _written(table)
    needed = [written[tag["version"]] for tag in table.tags.list().values() if tag["version"] in written]
    oldest = min(needed, default=datetime.now() - timedelta(days=1))
    for attempt in range(_ATTEMPTS):
        try:
            _optimize(table, datetime.now() - oldest + MARGIN * 2**attempt)
            break
        except RuntimeError as error:  # another node wrote meanwhile, or the margin was too small for a slow machine
            if attempt == _ATTEMPTS - 1:
                raise Conflict(f"The table could not be settled: {in_one_line(error)}") from None
    table.checkout_latest()
    return True


def _optimize(table: Any, age: timedelta) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that others may read old versions: those are the needed ones
        table.optimize(cleanup_older_than=age)


def protect(table: Any, versions: Mapping[str, int]) -> None:
    """Tag the versions that generations are read from: LanceDB refuses to remove them."""
    known = table.tags.list()
    for name, version in versions.items():
        if name not in known:
            table.tags.create(name, version)


def release(table: Any, kept: Collection[str], grace: timedelta) -> None:
    """Take the tags of generations away that are gone, and were written longer ago than the grace."""
    written = _written(table)
    for name, tag in table.tags.list().items():
        if name not in kept and datetime.now() - written.get(tag["version"], datetime.min) >= grace:
            table.tags.delete(name)


def _written(table: Any) -> dict[int, datetime]:
    """When each version was written."""
    return {entry["version"]: entry["timestamp"] for entry in table.list_versions()}


def copy(place: str, target: Path) -> None:
    """Copy a table of this machine with all its versions."""
    shutil.copytree(Path(place) / f"{NAME}.lance", target / f"{NAME}.lance")


def remove(place: str) -> None:
    """Delete a table with all its versions."""
    if "://" in place:
        connect(place).drop_table(NAME, ignore_missing=True)
    else:
        shutil.rmtree(Path(place) / f"{NAME}.lance", ignore_errors=True)
