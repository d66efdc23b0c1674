"""Two hundred damaged files, one at a time: `verify` ends well, names each with a cure, and is content again
afterwards.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.adapters.system import sums
from core.entrypoints.cli import main
from core.lru import LruCache
from tests.conftest import ROOT, NoProcesses, demo, put, small_app
from tests.support.small_kb import FILES

SEED, ROUNDS, PAGE = 20261116, 200, 4096
Damaging = Callable[[bytearray, random.Random], bytes | None]


def flip(content: bytearray, chance: random.Random) -> bytes:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def zero_a_page(content: bytearray, chance: random.Random) -> bytes:
    at = chance.randrange(-(-len(content) // PAGE)) * PAGE
    content[at : at + PAGE] = bytes(len(content[at : at + PAGE]))
    return bytes(content)


def truncate(content: bytearray, chance: random.Random) -> bytes:
    return bytes(content[: chance.randrange(len(content))])


def empty(content: bytearray, chance: random.Random) -> bytes:
    return b""


def delete(content: bytearray, chance: random.Random) -> None:
    return None


WAYS: tuple[Damaging, ...] = (flip, flip, zero_a_page, truncate, empty, delete)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with loose objects, a pack, packed refs, a change, settings, two generations, caches and a model."""
    home = tmp_path_factory.mktemp("sweep") / "home"
    app = small_app(home, NoProcesses())
    put(app, FILES)
    put(app, {"bsa.md": "# Acts\n\nThe Bank Secrecy Act (BSA) names Form 112.\n"})
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    app.reviews.changes.propose(demo("author"), "Pears", {"pears.md": b"# Pears\n\nSoft ones.\n"}, "")
    app.platform.settings.make_default("local", demo("admin").person)
    for command in (["pack-refs", "--all"], ["repack", "-d", "--quiet"]):
        subprocess.run(["git", f"--git-dir={home / 'kb.git'}", *command], check=True)
    put(app, {"late.md": "# Late\n\nOne more.\n"})
    app.reviews.changes.propose(demo("author"), "Plums", {"plums.md": b"# Plums\n\nBlue ones.\n"}, "")
    app.index.builder.build(profile)
    app.index.generations.open(profile).graph()
    app.index.builder.texts.put("key", "a text that was paid for")
    shutil.copytree(ROOT / ".models" / "bge-small-en-v1.5-int8", home / "weights" / "bge-small-en-v1.5-int8")
    app.platform.workspace.guard.database.engine.dispose()
    return home


def kinds(home: Path) -> dict[str, list[Path]]:
    """Every file that matters, by kind."""
    git, index = home / "kb.git", next(home.glob("index/local-*"))
    patterns = {
        "HEAD": [git / "HEAD"],
        "config": [git / "config"],
        "packed-refs": [git / "packed-refs"],
        "refs": git.glob("refs/heads/**/*"),
        "reflogs": git.glob("logs/refs/**/*"),
        "loose objects": git.glob("objects/??/*"),
        "packs": git.glob("objects/pack/*"),
        "app.db": [home / "app.db"],
        "embeddings.db": [home / "cache/embeddings.db"],
        "texts.db": [home / "cache/texts.db"],
        "CURRENT": [index / "CURRENT"],
        "index owner": [home / "index/WORKSPACE"],
        "manifests": index.glob("gen-*/MANIFEST.json"),
        "checksums": index.glob("gen-*/SHA256SUMS"),
        "arrays": home.glob("cache/arrays/*/*"),
        "DuckDB": index.glob("gen-*/fts.duckdb"),
        "Lance": index.glob("gen-*/vec/**/*"),
        "graph": [*index.glob("gen-*/graph/*"), *index.glob("assembled/*/*")],
        "weights": (home / "weights").glob("*/*"),
    }
    files = {kind: sorted(path for path in paths if path.is_file()) for kind, paths in patterns.items()}
    assert all(files.values()), files
    return files


def plan(home: Path) -> Iterator[tuple[str, Path, Damaging]]:
    """Each kind in turn, a file of it and a way by chance."""
    chance, files = random.Random(SEED), kinds(home)
    for n in range(ROUNDS):
        kind = list(files)[n % len(files)]
        yield kind, chance.choice(files[kind]), chance.choice(WAYS)


@pytest.mark.slow(minutes=8)
def test_every_damaged_file_is_named_with_a_cure(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_MODELS", str(home / "weights"))

    def verify() -> dict[str, Any]:
        monkeypatch.setattr(sums, "_known", LruCache(100))  # as in a process of its own
        main(["--home", str(home), "verify", "--json", "--quiet"])
        value: dict[str, Any] = json.loads(capsys.readouterr().out)
        return value

    assert verify() == {"ok": True, "problems": [], "damaged": []}
    chance, damaged, noticed, named, missed = random.Random(SEED), Counter(), Counter(), Counter(), []
    for n, (kind, path, way) in enumerate(plan(home)):
        whole, times = path.read_bytes(), path.stat()
        content = way(bytearray(whole), chance) if whole else None
        if content == whole:
            continue
        with_content(path, content)
        found = verify()
        name = str(path.relative_to(home)).removeprefix("weights/")
        seen = [one for one in found["damaged"] if name in one["file"] or name in one["what"]]
        damaged[kind] += 1
        noticed[kind] += not found["ok"]
        named[kind] += bool(seen) and all(one["cure"] for one in found["damaged"])
        if not seen:
            missed.append(f"{way.__name__} {name}: {harmless(path, whole, content) or 'NOT EXPLAINED'}")
        for leftover in path.parent.glob(f"{path.name}-*"):
            leftover.unlink()  # a write-ahead log of the damaged file
        with_content(path, whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        if n % 20 == 0:  # what is left behind stays
            assert verify()["ok"], f"{way.__name__} {name}, or one of the last before it, left something behind"
    assert verify()["ok"]
    with capsys.disabled():
        print(f"\n{'kind':<16}damaged  noticed  named")
        for kind in damaged:
            print(f"{kind:<16}{damaged[kind]:>7}  {noticed[kind]:>7}  {named[kind]:>5}")
        print("\n".join(["not named:", *missed]))
    assert [line for line in missed if "NOT EXPLAINED" in line] == []


def harmless(path: Path, whole: bytes, content: bytes | None) -> str:
    """Why a damage need not be noticed, if so."""
    if "logs" in path.parts:
        return "the log of a branch only helps to find one that is lost, and git may empty it"
    if path.parent.name == "cache" and not content:
        return "a cache that is gone is filled again"
    if "arrays" in path.parts:
        return "arrays are made again from the record"
    if path.suffix == ".db" and content and rows(whole) == rows(content):
        return "no row differs: the bytes hold nothing"
    if path.name == "config" and content and settings_in(whole) == settings_in(content):
        return "git reads the same settings: it does not tell case in their names, nor one space from another"
    if path.name == "packed-refs" and content and content.count(b" refs/heads/main\n") == 0:
        return "the name of an entry that a newer file of its own replaces"
    return ""


def rows(content: bytes) -> list[str]:
    """Every row of a database."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(content[:18] + b"\1\1" + content[20:])  # in memory there is no write-ahead log
        return list(connection.iterdump())


def settings_in(content: bytes) -> list[bytes]:
    """What git reads in a file of settings."""
    command = ["git", "config", "--file", "-", "--list", "-z"]
    return sorted(subprocess.run(command, input=content, capture_output=True).stdout.split(b"\0"))


def with_content(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
