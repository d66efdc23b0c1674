"""kill -9 at random points of everything people do, and of indexing with a reader searching all the while."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.bootstrap import App
from core.errors import Unavailable
from tests.conftest import ROOT, put, rounds, small_app, until
from tests.programs.kill_server import OPERATIONS
from tests.programs.kill_worker import DOCUMENTS
from tests.support.kill_driver import kill


class Reader(threading.Thread):
    """Searches all the while and keeps whatever does not add up."""

    def __init__(self, home: Path, pause: float) -> None:
        super().__init__(daemon=True)
        self.pause = pause
        self.app, self.stop, self.searches, self.wrong, self.seen = small_app(home), threading.Event(), 0, [], set()

    def run(self) -> None:
        while not self.stop.wait(self.pause):
            for k in ("common words", "document"):
                result = self.app.search.searcher.search(k, k=DOCUMENTS)
                markers = {word for hit in result.hits for word in hit.text.split() if word.startswith("marker")}
                message = (
                    self.app.knowledge.repository.log(result.commit, limit=1)[0][0].message
                    if self.searches % 20 == 0
                    else None
                )
                self.searches += 1
                self.seen |= markers
                if (
                    len(result.hits) != DOCUMENTS
                    or len(markers) != 1
                    or result.warnings
                    or (message and {message} != markers)
                ):
                    self.wrong.append((result.generation, sorted(markers), len(result.hits), result.warnings))


def kill_at_random(home: Path, kills: int, seed: int, pause: float = 0.0) -> Reader:
    app = small_app(home)
    put(
        app,
        {f"{d}.md": f"# Doc {d}\n\nmarker00001 common words of document {d}\n" for d in range(DOCUMENTS)},
        "marker00001",
    )
    app.index.builder.build(app.platform.settings.profile())
    reader, rng = Reader(home, pause), random.Random(seed)
    reader.start()
    try:
        kill_workers(app, home, kills, rng)
    finally:
        reader.stop.set()
        reader.join(300)
    assert not reader.is_alive()
    return reader


def kill_workers(app: App, home: Path, kills: int, rng: random.Random) -> None:
    for n in range(kills):
        said = home.with_name(f"{home.name}-said-{n}")
        with said.open("wb") as log:
            command = [sys.executable, "-m", "tests.programs.kill_worker", str(home)]
            worker = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:  # the next start repairs by itself; some builds are whole, and a part of the next
            until(lambda said=said, lines=1 + (n + 1) % 3: said.exists() and said.read_text().count("\n") >= lines)  # type: ignore[misc]
            assert said.read_text().startswith("ready\n")
            time.sleep(rng.uniform(0.0, 0.5))
        finally:
            worker.kill()
            worker.wait()
    app.index.builder.build(app.platform.settings.profile())


def check(home: Path, reader: Reader) -> None:
    app = small_app(home)
    assert reader.wrong == [], reader.wrong[:5]
    assert reader.searches > 20
    assert len(reader.seen) > 2, "the reader followed the writer"
    app.knowledge.repository.create()  # a start sweeps what is left
    assert app.index.verifier.problems() == ()
    folder = app.index.generations.folder(app.platform.settings.profile())
    assert not list(folder.glob("building-*"))
    assert app.index.generations.current(app.platform.settings.profile()).commit == app.knowledge.repository.head()


def test_two_kills_leave_no_mixed_answer_and_nothing_to_repair(tmp_path: Path) -> None:
    check(tmp_path, kill_at_random(tmp_path, kills=2, seed=1, pause=0.1))


@pytest.mark.slow(minutes=5)
def test_many_kills_leave_no_mixed_answer_and_nothing_to_repair(tmp_path: Path) -> None:
    reader = kill_at_random(tmp_path, kills=rounds(60), seed=2)
    print(f"{reader.searches} searches, {len(reader.seen)} generations seen, {len(reader.wrong)} wrong")
    check(tmp_path, reader)


def test_a_workspace_without_an_index_says_so_while_it_is_built(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    put(app, {"a.md": "# A\n\ntext\n"})
    with pytest.raises(Unavailable, match="has no index yet"):
        app.search.searcher.search("text")


@pytest.mark.slow
def test_killed_at_random_points_of_everything_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    killed = kill(tmp_path, rounds(50), seed=3)
    print(killed)
    assert killed.lost == []
    assert killed.repairs == []
    long = {"restore", "reindex"}  # on a busy machine they outlast every worker
    assert set(killed.acknowledged) >= set(OPERATIONS) - long
    assert killed.restored, "what a worker began is finished by the next start"


@pytest.mark.slow
def test_merges_that_were_acknowledged_before_a_kill_are_there_once(tmp_path: Path) -> None:
    merges = rounds(40)
    killed = kill(tmp_path, merges * 2 // 5, seed=5, merges=merges)
    print(killed)
    assert (killed.lost, killed.doubled, killed.repairs) == ([], [], [])
    assert killed.acknowledged["merge"] >= merges
