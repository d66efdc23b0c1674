"""The playground: a slider move beside a full search, and four columns beside the slowest of them.

Both include the ranking and the data for the component. Moves call the page's own route; a full search is a new run
with an empty cache.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpus import ROOT, RealQueryModels, exactly, queries
from core import strict
from core.access import SYSTEM
from core.bootstrap import App, build
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.settings import load
from core.types import Person

ME = Person("Bench", "bench@example.org")
ALPHAS = (0.0, 0.35, 0.8)


@dataclass(frozen=True)
class Case:
    """Columns to run, which of three has the knob that moves, and the number of questions."""

    name: str
    three: tuple[str, ...]
    knob: int
    four: tuple[str, ...]
    asked: int


CASES = (
    Case("no", ("BM25", "Convex 0.3", "RRF 60"), 1, ("BM25", "Vectors", "Convex 0.3", "RRF 60"), 24),
    Case(
        "yes",
        ("BM25", "Convex 0.3", "Rerank always"),
        2,
        ("BM25", "Convex 0.3", "Rerank always", "Conditional rerank"),
        5,
    ),
)


@dataclass(frozen=True)
class PlaygroundTimes:
    """CPU milliseconds, medians."""

    corpus: str
    chunks: int
    reranking: str
    search: float
    move: float
    four: float
    slowest: float


def measure(home: Path, chunks: int) -> list[PlaygroundTimes]:
    """So many synthetic chunks, or the starter knowledge base for none: without reranking, and with it."""
    from pages.ui import workspace
    from pages.ui.playground import view_data

    app, asked = synthetic(home, chunks) if chunks else _starter(home)
    view_data.app = workspace.app = lambda: app  # type: ignore[assignment, attr-defined]
    size = app.search.searcher.index("local").size
    for case in CASES:
        _search("what to do first", case.four, "warm")
    gc.collect()
    gc.freeze()  # as the app does when it starts
    return [
        PlaygroundTimes("synthetic" if chunks else "starter", size, case.name, *_times(case, asked)) for case in CASES
    ]


def _times(case: Case, asked: list[str]) -> list[float]:
    """Search, move, four columns, the slowest alone. They take turns, so that a busy machine slows all of them."""
    spent: dict[str, list[float]] = {"search": [], "move": [], "four": [], **{name: [] for name in case.four}}
    for query in asked[: case.asked]:
        spent["search"].append(_cpu(lambda q=query: _search(q, case.three, f"{case.name}-{q}")))
        spent["move"] += [_cpu(lambda q=query, at=at: _turn(q, case, at)) for at in ALPHAS]
        # read the passages once, so that four columns and one column find them cached alike
        _search(query, case.four, f"before-{case.name}-{query}")
        spent["four"].append(_cpu(lambda q=query: _search(q, case.four, f"four-{case.name}-{q}")))
        for name in case.four:
            spent[name].append(_cpu(lambda q=query, n=name: _search(q, (n,), f"{n}-{case.name}-{q}")))
    medians = {name: statistics.median(times) for name, times in spent.items()}
    return [medians["search"], medians["move"], medians["four"], max(medians[name] for name in case.four)]


def rows(times: PlaygroundTimes) -> list[str]:
    """A line of the table."""
    numbers = (times.search, times.move, times.four, times.slowest)
    ratios = (f"1 : {times.search / times.move:.1f}", f"{times.four / times.slowest:.2f}x")
    return [times.corpus, f"{times.chunks:,}", times.reranking, *(f"{number:.1f}" for number in numbers), *ratios]


def _search(query: str, names: tuple[str, ...], run: str) -> dict[str, Any]:
    from pages.ui.playground import view_data

    return view_data.update(SYSTEM, {"setup": _setup(query, names), "run": _short(run)})


def _turn(query: str, case: Case, alpha: float) -> dict[str, Any]:
    from pages.ui.playground import view_data

    turns = [{"knob": "alpha", "column": case.knob, "value": alpha}]
    return view_data.update(
        SYSTEM, {"setup": _setup(query, case.three), "run": _short(f"{case.name}-{query}"), "turns": turns}
    )


def _short(run: str) -> str:
    return strict.digest(run)


def _setup(query: str, names: tuple[str, ...]) -> Any:
    return strict.plain(Setup(query, tuple(Column("local", presets()[name], name) for name in names)))


def _cpu(act: Callable[[], object]) -> float:
    before = time.process_time()
    act()
    return (time.process_time() - before) * 1000


def synthetic(home: Path, chunks: int) -> tuple[App, list[str]]:
    """A workspace of exactly so many chunks, built once, and questions for it."""
    app = build(load({}, home=home / f"playground-{chunks}"), models=RealQueryModels())
    return _filled(app, exactly(chunks)), queries(max(case.asked for case in CASES))


def _starter(home: Path) -> tuple[App, list[str]]:
    app = build(load({}, home=home / "playground-starter"))
    files = {str(path.relative_to(ROOT / "kb")): path.read_bytes() for path in sorted((ROOT / "kb").rglob("*.md"))}
    words = [data.decode().split("\n# ")[-1].split("\n")[0] for data in files.values()]
    return _filled(app, files), [f"how do we handle {title.lower()}" for title in words]


def _filled(app: App, files: dict[str, bytes]) -> App:
    app.platform.workspace.create()
    if not app.knowledge.documents.all():
        app.knowledge.repository.commit("main", files, ME, "start")
    if not app.index.generations.current(app.platform.settings.profile()):
        app.index.builder.build(app.platform.settings.profile())
    return app
