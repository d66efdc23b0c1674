"""Untrusted files are read by a few processes with limits; one hostile file costs nobody else anything."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.adapters.conversion.converter import Converters
from core.adapters.conversion.worker_pool import Limits, Overrun, WorkerPool
from core.errors import BadInput, Unavailable
from tests.conftest import until
from tests.support import uploads
from tests.support.hostile_files import packed_pdf

MANY = 2 * 1024**3


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool("tests.programs.odd_worker", 2, Limits(wall=120.0, cpu=1, memory=MANY), patience=0.2)
    yield made
    made.close()


def running(pool: WorkerPool) -> set[int]:
    return {worker.process.pid for worker in pool._idle}


def children(module: str) -> list[int]:
    """The processes that this one started with a module."""
    command = ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[0]) for line in lines if module in line]


def test_a_worker_is_kept_and_gets_every_byte(pool: WorkerPool) -> None:
    answers = [pool.ask({"do": "answer"}, b"\n" * size) for size in (0, 1, 3_000_000)]
    assert [answer["read"] for answer in answers] == [0, 1, 3_000_000]
    assert len({answer["pid"] for answer in answers}) == 1


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ("spin", "needs more than 1 seconds of computing and was given up"),
        ("die", "made its reader end; it is damaged, or needs more than 2,048 MB of memory"),
    ],
)
def test_a_worker_that_ends_says_why_and_is_replaced(pool: WorkerPool, does: str, sentence: str) -> None:
    before = pool.ask({"do": "answer"})["pid"]
    with pytest.raises(Overrun, match=sentence):
        pool.ask({"do": does})
    assert pool.ask({"do": "answer"})["pid"] != before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_a_worker_that_only_waits_is_given_up_by_the_clock(pool: WorkerPool) -> None:
    pool.ask({"do": "answer"})
    pool._idle[0].limits = Limits(0.3, 1, MANY)
    with pytest.raises(Overrun, match=r"took longer than 0\.3 seconds and was given up"):
        pool.ask({"do": "sleep"})
    assert running(pool) == set()


def test_a_worker_has_little_memory_and_changes_no_file(pool: WorkerPool, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("text")
    assert pool.ask({"do": "grow"}) == {"error": "MemoryError"}
    for does in (
        {"do": "write", "path": str(tmp_path / "x")},
        {"do": "write", "path": str(kept)},
        {"do": "remove", "path": str(kept)},
    ):
        assert "not permitted" in pool.ask(does)["error"]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "text")]


def test_a_worker_reaches_no_network_by_python_by_native_code_or_from_an_older_thread(pool: WorkerPool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 1).close()  # somebody else gets through
        server.accept()[0].close()
        assert "not permitted" in pool.ask({"do": "call", "port": port})["error"]
        assert pool.ask({"do": "call natively"}) == {"socket": -1}
        assert "not permitted" in pool.ask({"do": "call from before"})["error"]
        assert "not permitted" in pool.ask({"do": "run"})["error"]
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


def test_one_that_is_killed_while_idle_is_replaced(pool: WorkerPool) -> None:
    before = pool.ask({"do": "answer"})["pid"]
    os.kill(before, signal.SIGKILL)
    pool._idle[0].process.wait(60)
    assert pool.ask({"do": "answer"})["pid"] != before


def test_others_are_answered_while_one_spins_and_no_more_than_the_size_run(pool: WorkerPool) -> None:
    with ThreadPoolExecutor(3) as threads:
        both = [threads.submit(pool.ask, {"do": "answer"}) for _ in range(2)]
        assert all(answer.result()["pid"] for answer in both)
        waits = [threads.submit(pool.ask, {"do": "sleep"})]
        assert pool.ask({"do": "answer"})["pid"]
        waits.append(threads.submit(pool.ask, {"do": "sleep"}))
        until(lambda: not pool._idle)
        with pytest.raises(Unavailable, match="All 2 readers of files are busy with others"):
            pool.ask({"do": "answer"})
        asleep = children("odd_worker")
        assert len(asleep) == 2
        for pid in asleep:
            os.kill(pid, signal.SIGKILL)
        assert all(isinstance(wait.exception(), Overrun) for wait in waits)


# ---------------------------------------------------------------- the real converters


@pytest.mark.slow
def test_an_ordinary_file_is_converted_while_two_hostile_ones_spin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also: each is given up with a sentence, none leaves a file, and the workers serve on."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made, hostile = Converters(Limits(60.0, 8, MANY), 3), uploads.spinning_pdf()
    started = threading.Barrier(3)

    def warm() -> str:
        started.wait()
        return made.convert(".html", uploads.HTML).text

    with ThreadPoolExecutor(3) as threads:
        assert all("2 hours" in text.result() for text in [threads.submit(warm) for _ in range(3)])
        spinning = [threads.submit(made.convert, ".pdf", hostile) for _ in range(2)]
        until(lambda: not made.pool._idle[1:])
        assert "| CMH2 | 06 to 22 |" in made.convert(".docx", uploads.docx()).text
        assert not any(spin.done() for spin in spinning)
        for spin in spinning:
            assert "needs more than 8 seconds of computing" in str(spin.exception())
    assert "2 hours" in made.convert(".html", uploads.HTML).text
    assert list(tmp_path.iterdir()) == []
    made.close()


@pytest.mark.slow
def test_a_file_that_grows_is_given_up_and_the_next_one_is_converted() -> None:
    made = Converters(Limits(60.0, 30, 1600 * 1024**2), 1)
    with pytest.raises(BadInput, match="memory"):
        made.convert(".pdf", packed_pdf(600_000_000))
    assert "2 hours" in made.convert(".html", uploads.HTML).text
    made.close()
