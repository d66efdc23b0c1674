"""A move of a knob: what is sent is what is new, and with what the page shows already it makes the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.bootstrap import App
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from pages.ui import workspace
from pages.ui.playground import column_data, view_data
from tests.conftest import WordReranker, demo, put, small_app
from tests.support.small_kb import FILES

QUERY = "file form 111 within days"
NAMES = ("Convex 0.3", "BM25", "RRF 60", "Conditional rerank")
TIMES = ("ms", "stages", "choices")  # what two searches never share, and what only the page knows


@pytest.fixture(scope="module")
def indexed_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    made = small_app(tmp_path_factory.mktemp("moves") / "home")
    put(made, dict(FILES))
    made.index.builder.build(made.platform.settings.profile())
    return made


@pytest.fixture(autouse=True)
def served(indexed_app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    workspace._cached_search.clear()
    for module in (workspace, view_data):
        monkeypatch.setattr(module, "app", lambda: indexed_app)
    yield
    workspace._cached_search.clear()


def ask(*turns: dict[str, Any], run: str = "run", start: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What the component hears when it shows a setup after `start` and turns knobs."""
    now = Setup(QUERY, tuple(Column("local", presets()[name], name) for name in NAMES))
    for turn in start:
        now = view_data.apply_turn(demo("author"), now, turn)
    return json.loads(json.dumps(view_data.update(demo("author"), view_data.Board(now, run), turns)))


def joined(was: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """As playground.js does it."""
    passages = {hit["chunk"]: hit for hit in was["hits"]}
    return {**was, **now, "hits": [{**passages.get(hit["chunk"], {}), **hit} for hit in now.get("hits", was["hits"])]}


def timeless(column: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key not in TIMES}


def turn(column: int, knob: str, value: float) -> dict[str, Any]:
    return {"column": column, "knob": knob, "value": value}


@pytest.mark.parametrize("column", [0, 3])
@pytest.mark.parametrize(("knob", "value"), [("alpha", 0.0), ("alpha", 1.0), ("depth", 2), ("depth", 40), ("tau", 0.1)])
def test_what_is_new_and_what_was_shown_make_the_whole(column: int, knob: str, value: float) -> None:
    shown, moved = ask()["columns"], ask(turn(column, knob, value))["columns"]
    whole = ask(run="another", start=[turn(column, knob, value)])["columns"]
    assert [timeless(joined(a, b)) for a, b in zip(shown, moved, strict=True)] == [timeless(one) for one in whole]


def test_columns_that_stay_are_not_sent_and_passages_on_the_page_neither() -> None:
    ask()
    moved = ask(turn(2, "rrf_k", 5))["columns"]
    assert [list(moved[n]) for n in (0, 1, 3)] == [["pairs"]] * 3
    assert all("segments" not in hit for hit in moved[2]["hits"])
    assert len(json.dumps(moved)) < len(json.dumps(ask(run="another")["columns"])) / 3


def test_a_move_of_the_first_column_moves_all_against_it() -> None:
    ask()
    moved = ask(turn(0, "alpha", 1.0))["columns"]
    assert all(hit["move"] for column in moved[1:] for hit in column["hits"])


@pytest.mark.parametrize("column", [4, 99, -1, -4])
def test_removing_a_column_that_is_gone_leaves_the_others(column: int) -> None:
    for knob in ("remove", "alpha"):
        left = ask({"column": column, "knob": knob, "value": 0.5})["setup"]["columns"]
        assert [one["name"] for one in left] == list(NAMES)
    twice = ask(turn(3, "remove", 0), turn(3, "remove", 0))["setup"]["columns"]
    assert [one["name"] for one in twice] == list(NAMES[:3])


def test_a_passage_is_made_once_per_run_and_only_the_column_that_moved_is_ranked(
    indexed_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: list[str] = []
    real, ranked = column_data.snippet, []
    monkeypatch.setattr(column_data, "snippet", lambda text, *rest: cut.append(text) or real(text, *rest))
    search = type(indexed_app.search.searcher).search_in
    monkeypatch.setattr(
        type(indexed_app.search.searcher),
        "search_in",
        lambda self, i, q, c, *rest: ranked.append(c) or search(self, i, q, c, *rest),
    )
    ask()
    assert len(ranked) == 4
    for alpha in (0.0, 0.5, 1.0):
        ask(turn(0, "alpha", alpha))
    assert len(ranked) == 4 + 3
    assert len(cut) == len(set(cut)) > 0, "no passage is drawn twice"


def test_a_reranker_is_asked_once_what_it_cuts(indexed_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    plain = WordReranker()
    counting = type(
        "Counting", (WordReranker,), {"cuts": lambda _, q, texts: asked.extend(texts) or plain.cuts(q, texts)}
    )
    monkeypatch.setattr(indexed_app.search.searcher.models, "reranker", lambda name: counting())
    columns = [Column("local", replace(presets()["Rerank always"], alpha=alpha)) for alpha in (0.2, 0.9)]
    indexed_app.playground.comparer.run(demo("author"), QUERY, columns)
    assert len(asked) == len(set(asked)) > 0


def test_a_move_that_its_browser_gave_up_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    import anyio

    from core.entrypoints.api.application import ApiDoor
    from pages.ui.server import routes

    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    path = "/api/v1/page/playground"
    headers = [(b"content-type", b"application/json"), (b"content-length", b"9")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }
    anyio.run(ApiDoor(None, routes.API), scope, gone, send)
    assert sent[0]["status"] == 400
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
