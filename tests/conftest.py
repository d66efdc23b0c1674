"""Shared parts of the tests: small real workspaces, and hand-written models that need no weights."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

gc.disable()  # until all is collected: what is imported stays, and looking through it takes a tenth of the CPU seconds

# Compiled code is kept, whatever the machine says: else every process compiles all of core, and pytest rewrites every
# test.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# One thread per process of tests: more would only wait for each other, and a library's count stands at its import.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "VECLIB"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
# Arrow's allocator starts a thread when it is imported, and a process with two threads must not fork.
os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"

# Workspaces of tests lie in memory where there is room for them: a disk costs a tenth of their CPU seconds in its
# journal,
# and as much again in waiting. What disks do to a workspace, test_disk tries on one of its own.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 8 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

import numpy as np
import pytest
import threadpoolctl

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

threadpoolctl.threadpool_limits(1)  # what was here before this file: pytest-randomly imports numpy to seed it

import argon2

# A hash that is slow to guess costs 0.2 s of CPU; tests take the same algorithm at its cheapest.
argon2.PasswordHasher = partial(argon2.PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers
from sqlalchemy import create_engine, event
from xdist.scheduler import LoadScopeScheduling

from core.access import Actor
from core.adapters.conversion import worker_pool
from core.adapters.conversion.worker_pool import PATIENCE as READER_PATIENCE
from core.adapters.conversion.worker_pool import Limits, WorkerPool
from core.adapters.models import onnx
from core.adapters.system.files import flock
from core.adapters.system.processes import SystemClock, SystemProcesses
from core.bootstrap import App, build
from core.chunking.ruler import words
from core.errors import Unavailable
from core.ports import Embedder, Processes
from core.retrieval.legs.several_embedders import combined
from core.services.index import verify
from core.services.jobs import wiring
from core.services.people.accounts import DEMO, NewAccount
from core.settings import Settings, load
from core.storage.index.record import duckdb as duckdb_files
from core.storage.state import sqlite as sqlite_state
from core.storage.state.sqlite import SqliteDatabase
from core.types import Answer, LlmRequest, Person, Profile
from tests.support import blank
from tests.support.postgres import Homes, Server, server

duckdb_files.OPENING["threads"] = "1"  # half the CPU of writing a small file
# Words of four documents are asked of every engine, of twenty: DuckDB takes a hundredth of a second for each.
SAMPLED, verify.MOST = verify.MOST, 4

# An App reads weights when it first searches, 0.3 CPU seconds and 0.5 for a reranker; those of one process read them
# once.
onnx._session, onnx._tokenizer = cache(onnx._session), cache(onnx._tokenizer)  # type: ignore[assignment]

CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
hypothesis_settings.register_profile(
    "quick", derandomize=True, max_examples=40, **CALM
)  # make test: the same every time
hypothesis_settings.register_profile("long", print_blob=True, **CALM)  # make test-all: new examples every time
hypothesis_settings.load_profile("quick")
LOCAL_CONSTANTS = providers._get_local_constants


def _constants() -> Any:
    """Hypothesis also tries constants of every module that is imported by then. make test goes without: with them its
    examples would change with the order of its files, and every law about texts costs up to a CPU second more."""
    return providers._local_constants if hypothesis_settings.default.derandomize else LOCAL_CONSTANTS()


providers._get_local_constants = _constants


def examples(count: int) -> hypothesis_settings:
    """So many examples of a law in make test-all, a third of them in make test."""
    quick = hypothesis_settings.default.derandomize
    return hypothesis_settings(max_examples=max(4, count // 3) if quick else count)


def rounds(count: int) -> int:
    """So many rounds of what make test-all repeats: kills, walks, generated files. CONCORD_ROUNDS=4 takes four times
    as many.
    """
    return round(count * float(os.environ.get("CONCORD_ROUNDS", "1")))


class Scopes(LoadScopeScheduling):
    """One process runs a file, because what its tests share is made once; and one runs all files with a browser, which
    takes five CPU seconds to start and leaves the processor to the others while it is waited for."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return "browser" if path.startswith("tests/browser/") else path


class Examples:
    """Leaves out files with neither tests nor examples, in core and pages too: they are not imported to look for
    some.
    """

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if collection_path.suffix != ".py" or collection_path.name.startswith("test_"):
            return None
        return ">>> " not in collection_path.read_text(encoding="utf-8") or None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Examples())


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scopes:
    return Scopes(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with the longest tests first, as their marks say, then those with a browser."""
    files: dict[Path, tuple[float, bool]] = {}
    for item in items:
        minutes = max((mark.kwargs.get("minutes", 0.2) for mark in item.iter_markers("slow")), default=0.0)
        files[item.path] = max(files.get(item.path, (0.0, False)), (minutes, "browser" in item.keywords))
    items.sort(key=lambda item: files[item.path], reverse=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A failure is named at once: its story comes with the others at the end."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f" {report.nodeid}", flush=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """By then the other processes have ended, so that their seconds count."""
    seed = config.getoption("randomly_seed", None)
    order = f"; this order again: --randomly-seed={seed}" if seed else ""
    terminalreporter.line(f"{sum(os.times()[:4]):.0f} CPU seconds{order}")


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(60_000, 20, 20)  # a page leaves more than 700 objects with every click
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """What lies in memory goes when all went well, and else with the next run."""
    if forks := sys.modules.get("tests.support.fork_server"):
        forks.end()
    made: Path | None = session.config._tmp_path_factory._basetemp  # type: ignore[attr-defined]
    if exitstatus == 0 and made and made.is_relative_to(MEMORY):
        shutil.rmtree(made, ignore_errors=True)


AT_ONCE = {"words_first": 1e9}  # words and vectors in one generation, however slow the machine is
os.environ.setdefault("CONCORD_WORDS_FIRST", "1e9")  # the same for processes that tests start
ME = Person("Ann Author", "ann@example.org")
ON_POSTGRES = os.environ.get("CONCORD_TEST_DATABASE") == "postgresql"
SHARED = Path(os.environ.get("CONCORD_SHARED", ROOT.parent / "shared")) / "data"


class HashEmbedder:
    """A real embedder in miniature: every word is a direction, so texts that share words are near."""

    name, dimension, limit, parts = "hash-64", 64, 10_000, ()

    def tokens(self, text: str) -> list[tuple[int, int]]:
        return words(text)

    def documents(
        self, texts: Sequence[str], progress: Callable[[int, int, str], None] = lambda *_: None
    ) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for n, text in enumerate(texts):
            rows[n] = self.query(text)
            progress(n + 1, len(texts), "Embedding")
        return rows

    def query(self, text: str) -> np.ndarray:
        counts = [0.0] * self.dimension
        for word in text.lower().split():
            place, sign = direction(word)
            counts[place % self.dimension] += sign
        row = np.array(counts, np.float32)
        length = float(np.linalg.norm(row))
        return row / length if length else row


@cache
def direction(word: str) -> tuple[int, float]:
    """Where a word points, and which way."""
    digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
    return digest[0], 1.0 if digest[1] % 2 else -1.0


class WordReranker:
    """Counts shared words: a cross-encoder that a person can compute by hand."""

    name = "words"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = set(query.lower().split())
        return [float(len(asked.intersection(text.lower().split()))) for text in texts]

    def cuts(self, query: str, texts: Sequence[str]) -> int:
        return sum(len(text.split()) > 500 for text in texts)


def passages_of(prompt: str) -> list[str]:
    """The numbered passages of a listwise prompt, without those of its example."""
    real = prompt.rpartition("Now the real task")[2]
    return re.findall(r'<passage n="\d+">\n(.*?)\n</passage>', real, re.DOTALL)


class Mirror:
    """Gives the order of the last passages again, mirrored, when they are shown from last to first: no bias for
    places.
    """

    def __init__(self) -> None:
        self.said: dict[tuple[str, ...], str] = {}  # by the passages as they were shown

    def answer(self, prompt: str, say: Callable[[str], str]) -> str:
        shown = tuple(passages_of(prompt))
        earlier = self.said.pop(shown[::-1], "") if shown else ""
        if earlier:
            return re.sub(r"\d+", lambda match: str(len(shown) + 1 - int(match[0])), earlier)
        said = say(prompt)
        if "Now the real task" in prompt:
            self.said[shown] = said
        return said


class ScriptedLlm:
    """A language model that says what a test wrote, and remembers what it was asked."""

    name, server = "scripted", "here"

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), []  # type: tuple[list[str], list[str]]
        self.mirror = Mirror()

    def complete(self, request: LlmRequest) -> Answer:
        self.asked.append(request.prompt)
        text = self.mirror.answer(request.prompt, self._say)
        return Answer(text, self.name, len(request.prompt) // 4, len(text) // 4)

    def _say(self, prompt: str) -> str:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class SmallModels:
    """The `Models` port on those above."""

    def __init__(self, llm: ScriptedLlm | None = None) -> None:
        self.embedder_used, self.llm_used = HashEmbedder(), llm

    def embedder(self, name: str) -> HashEmbedder:
        return self.embedder_used

    def of(self, profile: Profile) -> Embedder:
        return combined([self.embedder(name) for name in (profile.embedder, *profile.embedders)])

    def reranker(self, name: str) -> WordReranker:
        return WordReranker()

    def llm(self, name: str = "") -> ScriptedLlm:
        if self.llm_used is None:
            raise Unavailable("No language model is configured.")
        return self.llm_used


class FixedClock:
    """A clock that stands where a test puts it."""

    def __init__(self, day: str = "2026-11-15") -> None:
        self.day = day

    def today(self) -> date:
        return date.fromisoformat(self.day)

    def stamp(self) -> str:
        return f"{self.day}T12:00:00+00:00"


def sql(app: App, statement: str) -> list[tuple[Any, ...]]:
    """What somebody with the file in hand could do to the database of a workspace, past all services."""
    engine = app.platform.backups.database.engine
    if engine.dialect.name == "postgresql":
        with engine.begin() as rows:
            answer = rows.exec_driver_sql(statement.replace("%", "%%"))
            return [tuple(row) for row in answer] if answer.returns_rows else []
    with closing(sqlite3.connect(app.settings.home / "app.db")) as connection, connection:
        return connection.execute(statement).fetchall()


def demo(name: str) -> Actor:
    """A persona of the demo."""
    return next(actor for actor in DEMO if actor.id == name)


class NoProcesses:
    """The `Processes` port for tests that do the work themselves: workers on paper, which live and die as a test
    says.
    """

    def __init__(self, limit: int = 0) -> None:
        self.limit, self.ages, self.dead, self.killed = limit, {}, [], []  # type: int, dict[str, float], list[str], list[str]

    def spawn(self) -> str | None:
        if len(self.ages) >= self.limit:
            return None
        name = f"worker-{len(self.ages) + len(self.dead) + 1}"
        self.ages[name] = 0.0
        return name

    def die(self, name: str) -> None:
        self.ages.pop(name)
        self.dead.append(name)

    def alive(self) -> dict[str, float]:
        return dict(self.ages)

    def gone(self) -> tuple[str, ...]:
        gone, self.dead = tuple(self.dead), []
        return gone

    def kill(self, name: str) -> None:
        self.killed.append(name)
        self.die(name)

    def turn(self, pause: float) -> bool:
        return True

    def settle(self, place: int) -> None: ...
    def leave(self) -> None: ...

    def large(self) -> bool:
        return False


def until(true: Callable[[], object], seconds: float = 600.0) -> None:
    """Wait for something that must happen, on a busy machine too."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def write(folder: Path, files: dict[str, str]) -> Path:
    """Files on disk, for imports."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def put(app: App, files: dict[str, str | None], message: str = "edit") -> str:
    """One commit on the main line, as somebody's own git would make it, and written down as such."""
    made = app.knowledge.repository.commit(
        "main", {path: text.encode() if text is not None else None for path, text in files.items()}, ME, message
    )
    app.reviews.merger.repair()
    return made


def small_app(home: Path, processes: Processes | None = None, **settings: object) -> App:
    """A workspace with the miniature models. Its jobs wait until a test does them or gives it `processes`."""
    chosen = load({}, **{"home": home, **AT_ONCE, **settings})
    alone = not (chosen.database or chosen.repository or chosen.store or ON_POSTGRES)
    if alone and chosen.sign_in == "demo" and not (home.exists() and any(home.iterdir())):
        blank.fill(home, made_anew)
    return opened(chosen, processes or NoProcesses())


def made_anew(home: Path) -> App:
    """The same, step by step."""
    return opened(load({}, home=home, **AT_ONCE), NoProcesses())


@dataclass(frozen=True)
class Indexed:
    """Makes a workspace with documents and their index; what `then` does comes after."""

    files: tuple[tuple[str, str], ...]
    then: Callable[[App], object] | None = None

    def __call__(self, home: Path) -> App:
        app = made_anew(home)
        put(app, dict(self.files))
        app.index.builder.build(app.platform.settings.profile())
        if self.then:
            self.then(app)
        return app


def indexed(home: Path, files: Mapping[str, str], then: Callable[[App], object] | None = None) -> App:
    """A workspace with documents and their index: a copy of the first one that was made of them, for a fifth of its
    CPU.
    """
    make = Indexed(tuple(files.items()), then)
    if ON_POSTGRES:
        return make(home)
    blank.fill(home, make)
    return made_anew(home)


def opened(settings: Settings, processes: Processes) -> App:
    app = build(settings, clock=FixedClock(), models=SmallModels(), processes=processes)
    app.platform.workspace.create()
    return app


STARTED = ("test_jobs", "test_workers")  # files whose workers start as they do for users


class WaitingProcesses(SystemProcesses):
    """A job of a workspace in this process waits until a test does it: a worker would cost three CPU seconds and run on
    after the test. Servers and programs that a test starts, and tests that ask for `SystemProcesses`, start theirs."""

    def spawn(self) -> str | None:
        return None


wiring.SystemProcesses = WaitingProcesses  # type: ignore[misc]


@pytest.fixture(scope="module", autouse=True)
def _workers_start(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem in STARTED:
            patch.setattr(wiring, "SystemProcesses", SystemProcesses)
        yield


STATEMENTS = create_engine("sqlite://")
event.listen(STATEMENTS, "handle_error", sqlite_state._explain)  # it goes to the dialect
with STATEMENTS.connect():
    pass  # what a dialect learns from its first connection
SQLITE = SqliteDatabase.__init__


def _compiled_once(self: SqliteDatabase, path: Path) -> None:
    """A workspace compiles some forty statements, 2.5 ms each; those of one process of tests are compiled once."""
    SQLITE(self, path)
    for engine in (self.engine, self._writer):
        engine.dialect, engine._compiled_cache = STATEMENTS.dialect, STATEMENTS._compiled_cache


SqliteDatabase.__init__ = _compiled_once  # type: ignore[method-assign]
IDLE_READERS: dict[tuple[str, Limits], Any] = {}
POOL = WorkerPool.__init__


def _shared_pool(self: WorkerPool, module: str, size: int, limits: Limits, patience: float = READER_PATIENCE) -> None:
    """Readers of untrusted files take a second of CPU to start: those that are idle serve every App of this process."""
    POOL(self, module, size, limits, patience)
    self._idle, self._lock = IDLE_READERS.setdefault((module, limits), (self._idle, self._lock))


WorkerPool.__init__ = _shared_pool  # type: ignore[method-assign]
worker_pool.IDLE = 3600.0  # the timer of one App would end them for all


@pytest.fixture(scope="session", autouse=True)
def _readers_end() -> Iterator[None]:
    yield
    for idle, _ in IDLE_READERS.values():
        for reader in idle:
            reader.end()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server."""
    with server() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _on_postgres(request: pytest.FixtureRequest) -> Iterator[None]:
    """With CONCORD_TEST_DATABASE=postgresql every workspace of this process has its database on a real server."""
    if not ON_POSTGRES:
        yield
        return
    homes = Homes(request.getfixturevalue("postgres"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.services.platform.base.open_database", homes.open)
        yield


@pytest.fixture(scope="module")
def few_trees() -> Iterator[None]:
    """Learners of a few trees and epochs, for files that look at how something is learned and not at how well."""
    from bench.papers import learners
    from core.evaluation.learning import lambdamart

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lambdamart, "ROUNDS", (0, 10, 30))
        patch.setattr(learners, "ROUNDS", (5, 10))
        patch.setattr(learners, "EPOCHS", 5)
        yield


@pytest.fixture
def app(tmp_path: Path) -> App:
    """An empty workspace with the miniature models."""
    return small_app(tmp_path / "home")


@pytest.fixture(scope="session")
def kb_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter knowledge base, indexed with the bundled model, to copy: no process opens it.

    Built once, also where several processes run the tests. Vectors are kept between sessions.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return built_kb(tmp_path_factory.mktemp("template") / "kb")
    shared = tmp_path_factory.getbasetemp().parent / "kb"
    with flock(shared.with_suffix(".lock")):
        if not shared.exists():
            built_kb(shared.with_name("kb-building")).rename(shared)
    return shared


@pytest.fixture(scope="session")
def kb_home(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter knowledge base that the tests of a process work on. Never copy it: a process that copies an open
    SQLite database loses its locks on it, and another one that leaves then removes the log under it."""
    return Path(shutil.copytree(kb_template, tmp_path_factory.mktemp("kb") / "kb"))


@pytest.fixture(scope="session")
def served_home(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter knowledge base for other processes."""
    return Path(shutil.copytree(kb_template, tmp_path_factory.mktemp("served") / "kb"))


@pytest.fixture(scope="session")
def served_url(served_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app serves it, for tests that take nothing away."""
    from tests.support import browser

    log = tmp_path_factory.mktemp("log") / "server.log"
    with browser.server(served_home, log, port=browser.own_port() - 10_000) as address:  # beside one server of a test
        yield address


def built_kb(home: Path) -> Path:
    settings = kb_settings(home)
    app = build(settings)
    app.platform.workspace.create()
    app.knowledge.documents.import_folder(demo("admin"), ROOT / "kb", "Start with the starter knowledge base")
    app.index.builder.build(app.platform.settings.profile())
    return settings.home


def kb_settings(home: Path) -> Settings:
    return load({}, home=home, cache=ROOT / ".cache" / "tests", **AT_ONCE)


@pytest.fixture(scope="session")
def kb_app(kb_home: Path) -> Iterator[App]:
    return build(kb_settings(kb_home))


@pytest.fixture(scope="session", autouse=True)
def _no_packaged_components() -> None:
    """Every AppTest asks all installed packages for components of theirs: half a second each time, and there are
    none.
    """
    from streamlit.components.v2 import manifest_scanner

    manifest_scanner.scan_component_manifests = lambda: []


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Any]:
    """A real browser, one per process of tests."""
    from tests.support import browser

    with browser.chromium() as made:
        asyncio._set_running_loop(None)
        yield made
        asyncio._set_running_loop(made._loop)


@pytest.fixture(scope="module")
def chromium(_chromium: Any) -> Iterator[Any]:
    """It, for a file; between files no loop seems to run, so that others can start their own."""
    asyncio._set_running_loop(_chromium._loop)
    yield _chromium
    asyncio._set_running_loop(None)


@pytest.fixture(scope="module")
def own_app(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> App:
    """The starter knowledge base, for a file of tests that change it."""
    home = tmp_path_factory.mktemp("own") / "kb"
    shutil.copytree(kb_template, home)
    app = build(kb_settings(home))
    app.platform.workspace.create()
    return app


@pytest.fixture(scope="module")
def url(own_app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app serves it."""
    from tests.support import browser

    with browser.server(own_app.settings.home, tmp_path_factory.mktemp("log") / "server.log") as address:
        yield address


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, kb_home: Path, kb_served: Callable[[], App]) -> Callable[..., Any]:
    """Open a page of a workspace as a persona, on the day of `FixedClock`. What one test opens of one workspace, one
    App serves.
    """
    from tests.support.apptest import page_of

    served: list[Path] = []
    monkeypatch.setattr(SystemClock, "today", lambda _: FixedClock().today())
    monkeypatch.setattr("pages.ui.workspace.open_app", kb_served)

    def go(page: str, home: Path = kb_home, persona: str = "admin", **query: str) -> Any:
        if served != [home]:
            served[:] = [home]
            forget_app()
        monkeypatch.setenv("CONCORD_HOME", str(home))
        monkeypatch.setenv("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))
        return page_of(page, persona, **query)

    return go


@pytest.fixture(scope="session")
def kb_served(kb_home: Path) -> Callable[[], App]:
    """Opens a workspace for pages, and the starter knowledge base once for all tests with the same settings."""
    from pages.ui import workspace

    opened, open_app = {}, workspace.open_app  # type: dict[Settings, App], Callable[[], App]

    def go() -> App:
        if (settings := load()).home != kb_home:
            return open_app()
        if settings not in opened:
            opened[settings] = open_app()
        return opened[settings]

    return go


SERVED: list[object] = []  # the App that pages work on, and the patch of the test that said so


def forget_app() -> None:
    """Let pages and routes open their workspace anew."""
    import streamlit as st

    from pages.ui.workspace import current_app

    st.cache_resource.clear()
    st.cache_data.clear()
    current_app.cache_clear()
    SERVED.clear()


def serve(app: App, patch: pytest.MonkeyPatch) -> None:
    """Let pages and routes work on an App that is open already: one more of the same workspace costs as much as a page.
    What they cache stays to the end of the test."""
    if [app, patch] != SERVED:
        forget_app()
        SERVED.extend((app, patch))
    patch.setenv("CONCORD_HOME", str(app.settings.home))
    patch.setattr("pages.ui.workspace.open_app", lambda: app)


PASSWORD = "correct horse battery"


def made_for_sign_in(home: Path) -> App:
    made = build(load({}, home=home, sign_in="local"))
    made.platform.workspace.create()
    made.people.accounts.add(demo("admin"), NewAccount("root", "Rita Root", "rita@example.org", "admin"), PASSWORD)
    made.people.accounts.add(demo("admin"), NewAccount("zoe", "Zoe Zahn", "zoe@example.org", "reviewer"), PASSWORD)
    return made


@pytest.fixture
def sign_in_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """A workspace with one admin and one reviewer who sign in, and nothing in it; pages and routes work on this App
    until the environment says otherwise."""
    from pages.ui import workspace

    monkeypatch.setenv("CONCORD_HOME", str(tmp_path / "kb"))
    monkeypatch.setenv("CONCORD_SIGN_IN", "local")
    if ON_POSTGRES:
        made = made_for_sign_in(tmp_path / "kb")
    else:
        blank.fill(tmp_path / "kb", made_for_sign_in)
        made = build(load())
        made.platform.workspace.create()
    opened = workspace.open_app
    monkeypatch.setattr(workspace, "open_app", lambda: made if load() == made.settings else opened())
    forget_app()
    return made
