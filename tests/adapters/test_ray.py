"""Builds with their bulk work elsewhere: in any order, on Ray, with processes and machines that die under it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core import profiles
from core.adapters.models import ray_cluster
from core.adapters.models.ray_cluster import RayCluster
from core.bootstrap import App, build
from core.bulk import WORKS, InlineBulk
from core.entrypoints.cli import main
from core.errors import BadInput, Cancelled, Unavailable
from core.ports import Progress, no_progress
from core.profiles import DEFAULT
from core.retrieval import config as configs
from core.settings import load
from core.types import Profile
from tests.conftest import AT_ONCE, ROOT, put, small_app
from tests.support.small_kb import FILES

QUERIES = ("file form 111", "connect from home", "cash over 10,000")
REAL = sorted((ROOT / "kb" / "it").rglob("*.md"))[:6]


class BackwardsBulk:
    """The `Bulk` port with batches of two things from the last to the first, as a cluster may answer."""

    at_once = 3

    def __init__(self, app: App) -> None:
        self.models, self.sent = app.models.registry, dict.fromkeys(WORKS, 0)

    def map(
        self, work: str, key: Any, things: Sequence[Any], progress: Progress = no_progress
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        tool = WORKS[work].prepare(self.models, key)
        self.sent[work] += len(things)
        for first in reversed(range(0, len(things), 2)):
            progress(len(things) - first, len(things), WORKS[work].title)
            yield first, WORKS[work].run(tool, things[first : first + 2], no_progress)


def content(app: App, profile: Profile = DEFAULT) -> list[Any]:
    """Everything that a generation holds and finds, wherever its files lie."""
    index = app.index.generations.open(profile)
    chunks = [
        (index.passage(n), index.text(index.document_of(n)), index.context(n), index.vector(n).tobytes())
        for n in range(index.size)
    ]
    graph = index.graph()
    found = [app.search.searcher.search_in(index, query, configs.DEFAULT).hits for query in QUERIES]
    ranks = [[(hit.chunk, hit.score) for hit in hits] for hits in found]
    return [chunks, index.documents, dict(index.vocabulary), graph.keys, graph.chunks.tolist(), ranks]


@pytest.mark.parametrize("chunker", ["markdown", "semantic"])
def test_a_build_elsewhere_equals_one_in_this_process(tmp_path: Path, chunker: str) -> None:
    profile = profiles.from_mapping({"name": "p", "chunker": {"name": chunker, "params": {}}, "graph": "rules"})
    here, there = small_app(tmp_path / "here"), small_app(tmp_path / "there")
    for app in (here, there):
        put(app, FILES)
    here.index.builder.build(profile)
    bulk = BackwardsBulk(there)
    built = there.index.builder.build(profile, bulk=bulk)
    assert content(there, profile) == content(here, profile)
    assert bulk.sent["extract"] == built.chunked
    assert bulk.sent["chunk"] == (len(FILES) if chunker == "markdown" else 0), "what asks models waits for them here"
    embedded = bulk.sent["embed"]
    assert embedded >= built.embedded > 0
    assert there.index.builder.build(profile, full=True, bulk=bulk).embedded == 0
    assert bulk.sent["embed"] == embedded, "what was embedded once is known"


def test_the_work_in_this_process_comes_in_order_with_its_progress(app: App) -> None:
    steps: list[tuple[int, int, str]] = []
    texts = [f"text {n}" for n in range(130)]
    parts = list(InlineBulk(app.models.registry).map("embed", "hash-64", texts, lambda *step: steps.append(step)))
    assert [(first, len(rows)) for first, rows in parts] == [(0, 128), (128, 2)]
    assert (steps[0], steps[-1]) == ((1, 130, "Embedding"), (130, 130, "Embedding"))


@pytest.mark.parametrize("address", ["", "spark", "ray://", "ray://host", "host", "http://host:8265"])
def test_an_address_that_is_no_cluster_is_refused_with_those_that_are(app: App, address: str) -> None:
    with pytest.raises(BadInput, match="ray://HOST:10001"):
        RayCluster(address, app.settings, InlineBulk(app.models.registry))


@pytest.mark.parametrize(("address", "package"), [("ray", "ray"), ("ray://10.0.0.1:10001", "grpc")])
def test_without_ray_the_command_says_how_to_install_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    package: str,
) -> None:
    put(small_app(tmp_path), FILES)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("CONCORD_MODELS", str(ROOT / ".models"))
    assert main(["--home", str(tmp_path), "--quiet", "reindex", "--on", address]) == 1
    assert "pip install 'ray[client]==" in capsys.readouterr().err


def test_paid_endpoints_are_asked_from_here(app: App) -> None:
    class Here(BackwardsBulk):
        def map(self, work: str, key: Any, things: Any, progress: Any = None) -> Any:
            return iter([(0, [work, key])])

    cluster = RayCluster("ray", app.settings, Here(app))
    assert list(cluster.map("embed", "openai:text-embedding-3-small", ["a"])) == [
        (0, ["embed", "openai:text-embedding-3-small"])
    ]
    assert list(cluster.map("embed", "bge-small-en-v1.5-int8", [])) == []
    assert cluster.started == 0, "no cluster was started for it"


# ---------------------------------------------------------------- real Ray


def real_app(home: Path) -> App:
    """Some documents of the starter knowledge base, for the bundled model; under these titles no vector comes along
    with them.
    """
    app = build(load({}, home=home, **AT_ONCE))
    app.platform.workspace.create()
    if not app.knowledge.repository.head():
        texts = {path.relative_to(ROOT / "kb").as_posix(): path.read_text() for path in REAL}
        put(app, {path: text.replace("title: ", "title: Our ", 1) for path, text in texts.items()})
    return app


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What a build in this process gives."""
    app = real_app(tmp_path_factory.mktemp("here"))
    app.index.builder.build(DEFAULT)
    return content(app)


def processes(word: str) -> list[int]:
    """Processes of Ray that this one or its children started, by a word of their command."""
    import psutil

    named = [(child.pid, " ".join(child.cmdline())) for child in psutil.Process().children(recursive=True)]
    return [pid for pid, command in named if word in command]


def once_embedding(strike: Callable[[], object]) -> Progress:
    """Progress that strikes when the first vectors have come."""
    struck: list[object] = []

    def progress(done: int, total: int, what: str) -> None:
        if what == "Embedding" and 0 < done < total and not struck:
            struck.append(strike())

    return progress


@pytest.mark.slow
def test_a_cluster_of_this_machine_builds_the_same_and_is_gone_afterwards(tmp_path: Path, expected: list[Any]) -> None:
    real_app(tmp_path)
    command = [sys.executable, "-m", "core", "--home", str(tmp_path), "--json", "reindex", "--on", "ray", "--full"]
    first, again = (
        json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout) for _ in range(2)
    )
    assert first["embedded"] == first["chunks"] == len(expected[0])
    assert again["embedded"] == 0
    assert content(real_app(tmp_path)) == expected
    left = subprocess.run(["pgrep", "-f", f"raylet.*{os.getpid()}"], capture_output=True, check=False)
    assert not left.stdout


@pytest.mark.slow
def test_a_killed_ray_of_this_machine_is_started_again(tmp_path: Path, expected: list[Any]) -> None:
    app = real_app(tmp_path)
    strike = once_embedding(lambda: [os.kill(pid, signal.SIGKILL) for pid in processes("raylet/raylet")[:1]])
    with RayCluster("ray", app.settings, InlineBulk(app.models.registry)) as cluster:
        app.index.builder.build(DEFAULT, progress=strike, bulk=cluster)
        assert cluster.started == 2
    assert content(app) == expected
    assert processes("raylet") == []


@contextmanager
def three_machines() -> Iterator[Any]:
    """A head that does no work and two machines with a processor each, as processes of this machine."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_machine_change_nothing(
    tmp_path: Path, expected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_MODELS", str(ROOT / ".models"))
    app = real_app(tmp_path)
    with three_machines() as machines:

        def strike() -> None:
            os.kill(processes("ray::work_on")[0], signal.SIGKILL)
            machines.remove_node(next(iter(machines.worker_nodes)), allow_graceful=False)

        with RayCluster(machines.address, app.settings, InlineBulk(app.models.registry)) as cluster:
            app.index.builder.build(DEFAULT, progress=once_embedding(strike), bulk=cluster)
    assert content(app) == expected


@pytest.mark.slow
def test_a_cancelled_build_leaves_the_generation_and_no_process(tmp_path: Path) -> None:
    app = real_app(tmp_path)

    def cancel() -> None:
        raise Cancelled("Stopped.")

    with (
        pytest.raises(Cancelled),
        RayCluster("local", app.settings, InlineBulk(app.models.registry)) as cluster,
    ):
        app.index.builder.build(DEFAULT, progress=once_embedding(cancel), bulk=cluster)
    assert app.index.generations.current(DEFAULT) is None
    assert processes("raylet") == []
    assert app.index.builder.cache.path.stat().st_size > 0, "what was embedded is kept"


@pytest.mark.slow
def test_a_machine_without_the_model_says_so_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = build(load({}, home=tmp_path / "home"))
    empty = load({}, home=tmp_path / "home", models=tmp_path)
    with RayCluster("ray", empty, InlineBulk(app.models.registry)) as cluster:
        with pytest.raises(Unavailable, match="a machine of the cluster: The model 'bge-small-en-v1.5-int8' is not on"):
            list(cluster.map("embed", "bge-small-en-v1.5-int8", ["text"]))
        monkeypatch.setattr(ray_cluster, "PATIENCE", 2.0)
        monkeypatch.setattr(ray_cluster, "_request", lambda *_: ({"num_gpus": 1}, 8))
        with pytest.raises(Unavailable, match="offered no GPU"):
            list(cluster.map("embed", "org/model", ["text"]))
