"""The playground: what a slider move costs beside a full search, and four columns beside the slowest of them.

Both are measured as the page does them: the ranking and everything that the component draws. Moves ask the page's own
route; a full search is a new run, with an empty memory.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpus import ROOT, SyntheticModels, documents, queries
from core import strict
from core.bootstrap import App, build
from core.retrieval.presets import presets
from core.services.comparing import Column
from core.services.notebook import Setup
from core.settings import load
from core.types import Person

ME = Person("Bench", "bench@example.org")
THREE = ("BM25", "Convex 0.3", "RRF 60")
FOUR = ("BM25", "Vectors", "Convex 0.3", "RRF 60")
ASKED = 12


@dataclass(frozen=True)
class Measured:
    """CPU milliseconds, medians."""

    corpus: str
    chunks: int
    search: float
    move: float
    four: float
    slowest: float


def measure(home: Path, chunks: int) -> Measured:
    """A synthetic corpus, or the starter knowledge base for 0 chunks."""
    from pages.ui.playground_parts import serving

    app, asked = _synthetic(home, chunks) if chunks else _starter(home)
    held: dict[str, Any] = {}

    def memory(run: str, profile: str, filters: Any) -> Any:
        return held.setdefault(run, app.comparing.hold([Column(profile)], filters)).get(profile)

    serving.app, serving.memory = lambda: app, memory  # type: ignore[assignment]
    sizes = app.searching.index("local").size
    first = lambda query, names, run: serving.answer({"setup": _setup(query, names), "run": run})
    _cpu(lambda: first(asked[0], FOUR, "warm"))
    search = [_cpu(lambda q=q: first(q, THREE, f"a{q}")) for q in asked]
    turn = lambda q, at: serving.answer(
        {"setup": _setup(q, THREE), "run": f"a{q}", "turns": [{"knob": "alpha", "column": 1, "value": at}]}
    )
    move = [_cpu(lambda q=q, at=at: turn(q, at)) for q in asked for at in (0.0, 0.35, 0.8)]
    four = [_cpu(lambda q=q: first(q, FOUR, f"b{q}")) for q in asked]
    alone = {name: [_cpu(lambda q=q, n=name: first(q, (n,), f"{n}{q}")) for q in asked] for name in FOUR}
    slowest = max(statistics.median(times) for times in alone.values())
    name = "synthetic" if chunks else "starter"
    return Measured(name, sizes, *(statistics.median(times) for times in (search, move, four)), slowest)


def rows(one: Measured) -> list[str]:
    """A line of the table."""
    numbers = (one.search, one.move, one.four, one.slowest)
    ratios = (f"1 : {one.search / one.move:.1f}", f"{one.four / one.slowest:.2f}x")
    return [one.corpus, f"{one.chunks:,}", *(f"{number:.1f}" for number in numbers), *ratios]


def _setup(query: str, names: tuple[str, ...]) -> Any:
    return strict.plain(Setup(query, tuple(Column("local", presets()[name], name) for name in names)))


def _cpu(act: Callable[[], object]) -> float:
    before = time.process_time()
    act()
    return (time.process_time() - before) * 1000


def _synthetic(home: Path, chunks: int) -> tuple[App, list[str]]:
    app = build(load({}, home=home / f"playground-{chunks}"), models=SyntheticModels())
    return _filled(app, documents(chunks)), queries(ASKED)


def _starter(home: Path) -> tuple[App, list[str]]:
    app = build(load({}, home=home / "playground-starter"))
    files = {str(path.relative_to(ROOT / "kb")): path.read_bytes() for path in sorted((ROOT / "kb").rglob("*.md"))}
    words = [data.decode().split("\n# ")[-1].split("\n")[0] for data in files.values()]
    return _filled(app, files), [f"how do we handle {title.lower()}" for title in words[:ASKED]]


def _filled(app: App, files: dict[str, bytes]) -> App:
    app.create()
    if not app.documents.all():
        app.store.commit("main", files, ME, "start")
    if not app.shelf.current(app.preferences.profile()):
        app.indexing.build(app.preferences.profile())
    return app
