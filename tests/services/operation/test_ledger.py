"""Money: every call is written down, the budget holds, and the same question is paid for once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import profiles
from core.access import Actor
from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.errors import BadInput, OverBudget, Refused, TimedOut, Unavailable
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.runs.comparisons import compare
from core.llm.asking import dollars_of
from core.retrieval.config import parse
from core.services.evaluation.runs import RunPlan
from core.services.models.ledger import Ledger
from core.services.models.prices import Price, Prices, read_prices
from core.settings import load
from core.storage.state.sqlite import SqliteDatabase
from core.types import LlmRequest
from tests.conftest import FixedClock, demo, put, sql
from tests.support.scripted_server import BROKEN, ScriptedServer, slow

ADMIN = Actor("ann", "Ann", "ann@example.org", "admin")
MODEL, VECTORS = "openai:small", "openai:text-embedding-3-small"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(dimension=1536) as running:
        yield running


def workspace(server: ScriptedServer, home: Path, prices: dict[str, dict[str, float]], **more: object) -> App:
    home.mkdir(exist_ok=True)
    (home / "prices.json").write_text(json.dumps(prices))
    said = load(
        {},
        home=home,
        prices=home / "prices.json",
        llm=MODEL,
        openai_url=f"{server.url}/v1",
        **{"llm_timeout": 60.0, **more},
    )
    return build(said, clock=FixedClock())


def test_a_call_is_recorded_with_what_it_cost(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {MODEL: {"input": 1000.0, "output": 2000.0}})
    answer = app.models.registry.llm().complete(LlmRequest("one two three", purpose="rerank", max_tokens=10))
    assert answer.dollars == pytest.approx((3 * 1000 + 1 * 2000) / 1e6)
    (call,) = app.models.ledger.recent(ADMIN)
    assert (call.purpose, call.model, call.input_tokens, call.output_tokens) == ("rerank", MODEL, 3, 1)
    assert (call.dollars, call.cached, call.failed, call.at[:10]) == (answer.dollars, False, "", "2026-11-15")


def test_the_same_question_is_paid_for_once(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {MODEL: {"input": 1000.0}})
    first = app.models.registry.llm().complete(LlmRequest("why", purpose="a"))
    again = (
        workspace(server, tmp_path, {MODEL: {"input": 1000.0}})
        .models.registry.llm()
        .complete(LlmRequest("why", purpose="b"))
    )
    assert (again.text, again.cached, again.dollars) == (first.text, True, 0.0)
    assert len(server.seen) == 1
    app.models.registry.llm().complete(LlmRequest("why", purpose="a", temperature=0.2))
    app.models.registry.llm().complete(LlmRequest("why", purpose="a", system="Briefly."))
    app.models.registry.llm().complete(LlmRequest("why", purpose="a", max_tokens=9))
    assert len(server.seen) == 4
    assert [call.cached for call in app.models.ledger.recent(ADMIN)] == [False, False, False, True, False]


def test_the_budget_stops_the_next_paid_call_and_says_the_amounts(server: ScriptedServer, tmp_path: Path) -> None:
    prices = {MODEL: {"input": 0.0, "output": 1_000_000.0}}
    app = workspace(server, tmp_path, prices, monthly_budget=3.0)
    app.models.registry.llm().complete(LlmRequest("one", purpose="test", max_tokens=2))
    app.models.registry.llm().complete(LlmRequest("two", purpose="test", max_tokens=2))
    with pytest.raises(OverBudget, match=r"up to \$2\.00 was not made: \$2\.00 of this month's budget of \$3\.00"):
        app.models.registry.llm().complete(LlmRequest("three", purpose="test", max_tokens=2))
    assert len(server.seen) == 2
    assert app.models.registry.llm().complete(LlmRequest("one", purpose="test", max_tokens=2)).cached
    assert app.models.ledger.summary(ADMIN).spent == 2.0


def test_a_new_month_has_a_new_budget(tmp_path: Path) -> None:
    clock = FixedClock("2026-11-30")
    ledger = Ledger(SqliteDatabase(tmp_path / "app.db"), clock, Prices({"p:m": Price(1.0)}), 1.0)
    with ledger.spending("a", "p:m", 1_000_000) as spent:
        spent(1_000_000)
    with pytest.raises(OverBudget), ledger.spending("a", "p:m", 1):
        pass
    clock.day = "2026-12-01"
    with ledger.spending("a", "p:m", 1) as spent:
        spent(1)
    assert ledger.summary(ADMIN).spent == pytest.approx(1e-6)
    assert ledger.summary(ADMIN, "2026-11").spent == 1.0
    with pytest.raises(BadInput, match="must look like 2026-11"):
        ledger.summary(ADMIN, "November")


def test_calls_at_the_same_time_cannot_spend_the_last_dollar_twice(tmp_path: Path) -> None:
    def spend(n: int) -> bool:
        ledger = Ledger(SqliteDatabase(tmp_path / "app.db"), FixedClock(), Prices({"p:m": Price(1.0)}), 5.0)
        try:
            with ledger.spending("a", "p:m", 1_000_000) as spent:
                spent(1_000_000)
            return True
        except OverBudget:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(16))) == 5


def test_no_budget_means_no_paid_call_but_free_ones_go_on(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {MODEL: {"input": 1.0}}, monthly_budget=0.0)
    with pytest.raises(OverBudget):
        app.models.registry.llm().complete(LlmRequest("one", purpose="test"))
    assert app.models.registry.llm("openai:local").complete(LlmRequest("one", purpose="test")).text == "yes"


def test_failures_are_recorded_and_only_time_outs_count(server: ScriptedServer, tmp_path: Path) -> None:
    prices = {MODEL: {"output": 1_000_000.0}}
    app, hasty = (workspace(server, tmp_path, prices, llm_timeout=seconds) for seconds in (60.0, 1.0))
    server.faults = [BROKEN] * 5
    with pytest.raises(Unavailable):
        app.models.registry.llm().complete(LlmRequest("one", purpose="test", max_tokens=2))
    server.faults = [slow(60)]
    with pytest.raises(TimedOut):
        hasty.models.registry.llm().complete(LlmRequest("two", purpose="test", max_tokens=2))
    late, broken = app.models.ledger.recent(ADMIN)
    assert (late.dollars, broken.dollars) == (2.0, 0.0)
    assert "gave no answer within 1 s" in late.failed
    assert broken.failed


def test_a_killed_call_leaves_its_estimate(tmp_path: Path) -> None:
    ledger = Ledger(SqliteDatabase(tmp_path / "app.db"), FixedClock(), Prices({"p:m": Price(1.0)}), 5.0)
    block = ledger.spending("a", "p:m", 2_000_000)
    block.__enter__()
    (call,) = ledger.recent(ADMIN)
    assert (call.dollars, call.failed) == (2.0, "not finished")


def test_embeddings_cost_too(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {VECTORS: {"input": 1000.0}})
    app.models.registry.embedder(VECTORS).documents(["one two", "three"])
    app.models.registry.embedder(VECTORS).query("four")
    assert [(call.purpose, call.input_tokens) for call in app.models.ledger.recent(ADMIN)] == [
        ("query", 1),
        ("indexing", 3),
    ]
    assert app.models.ledger.summary(ADMIN).spent == pytest.approx(0.004)


def test_an_estimate_says_what_a_build_will_cost(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {VECTORS: {"input": 1000.0}}, llm_concurrency=2)
    app.platform.workspace.create()
    put(app, {"a.md": "# Wires\n\nTwo signatures are needed.\n"})
    profile = profiles.from_mapping({"name": "paid", "embedder": VECTORS})
    tokens = app.models.registry.embedder(VECTORS).tokens
    expected = app.index.admin.estimate(demo("admin"), profile).dollars
    app.index.builder.build(profile)
    index = app.index.generations.open(profile)
    text = f"{index.context(0)}\n\n{index.excerpt(0)}"
    assert expected == pytest.approx(len(tokens(text)) / 1000)
    assert app.index.admin.estimate(demo("admin"), profile).dollars == 0.0


def test_a_run_says_what_a_question_costs_also_when_its_answers_were_known(
    server: ScriptedServer, tmp_path: Path
) -> None:
    app = workspace(server, tmp_path, {VECTORS: {"input": 1000.0}, MODEL: {"input": 1000.0, "output": 2000.0}})
    app.platform.workspace.create()
    put(app, {"a.md": "# Wires\n\nTwo signatures are needed.\n", "b.md": "# Lunch\n\nSoup on Mondays.\n"})
    profile = profiles.from_mapping({"name": "paid", "embedder": VECTORS})
    app.index.builder.build(profile)
    before = app.models.ledger.summary(ADMIN).spent
    asked = (Question("1", "who signs wires"), Question("2", "is there soup today"))
    app.evaluation.querysets.keep(ADMIN, QuerySet("two", asked, (Judgment("1", "a.md"), Judgment("2", "b.md"))))
    plain, read = (RunPlan(profile, parse(name)) for name in ("dense", "dense+listwise"))
    first, second = app.evaluation.runs.evaluate("two", [plain, read])
    paid = app.models.ledger.summary(ADMIN).spent - before
    assert first.cost == pytest.approx((3 + 4) / 2 / 1000)  # a thousand dollars for a million words
    assert 2 * second.cost == pytest.approx(paid)
    assert second.cost > first.cost
    assert sum(one.cost for one in second.results.values()) == pytest.approx(paid)
    for table in ("runs", "rankings"):
        sql(app, f"DELETE FROM {table}")
    again = app.evaluation.runs.evaluate("two", [read])[0]
    assert again.cost == pytest.approx(second.cost)
    assert compare(first, second).spent.endswith(
        f"of 1,000: {dollars_of(1000 * first.cost)} before, {dollars_of(1000 * second.cost)} after."
    )


def test_an_index_behind_an_endpoint_is_built_searched_and_survives_its_silence(
    server: ScriptedServer, tmp_path: Path
) -> None:
    prices = {VECTORS: {"input": 1000.0}}
    app, hasty = (workspace(server, tmp_path, prices, llm_timeout=seconds) for seconds in (60.0, 1.0))
    app.platform.workspace.create()
    put(app, {"a.md": "# Wires\n\nTwo signatures are needed.\n", "b.md": "# Lunch\n\nSoup on Mondays.\n"})
    profile = profiles.from_mapping({"name": "paid", "embedder": VECTORS})
    assert app.index.builder.build(profile).embedded == 2
    index = app.index.generations.open(profile)
    assert app.search.searcher.search_in(index, "two signatures", parse("dense")).hits[0].path == "a.md"
    server.faults = [slow(60)]
    index = hasty.index.generations.open(profile)
    result = hasty.search.searcher.search_in(index, "soup", parse("convex-0.5"))
    assert result.hits[0].path == "b.md"
    assert "The dense leg failed" in result.warnings[0]
    assert "gave no answer within 1 s" in result.warnings[0]


def test_a_build_beyond_the_budget_stops_with_the_amounts(server: ScriptedServer, tmp_path: Path) -> None:
    app = workspace(server, tmp_path, {VECTORS: {"input": 1_000_000.0}}, monthly_budget=2.0)
    app.platform.workspace.create()
    put(app, {"a.md": "# Wires\n\nTwo signatures are needed for every one of them.\n"})
    profile = profiles.from_mapping({"name": "paid", "embedder": VECTORS})
    with pytest.raises(OverBudget, match=r"\$0\.00 of this month's budget of \$2\.00 is spent"):
        app.index.builder.build(profile)
    assert (server.seen, app.index.generations.current(profile)) == ([], None)


def test_a_model_without_a_price_is_not_guessed(tmp_path: Path) -> None:
    app = build(load({}, home=tmp_path, llm=MODEL, openai_url="https://models.example.org/v1"), clock=FixedClock())
    with pytest.raises(Unavailable, match=r"No price is known for 'openai:small'.*CONCORD_PRICES"):
        app.models.registry.llm().complete(LlmRequest("one", purpose="test"))
    with pytest.raises(Unavailable, match="No price is known for 'bedrock:"):
        Prices(free=("openai:",)).of("bedrock:amazon.titan-embed-text-v2:0")


@pytest.mark.parametrize("raw", ["[]", "{", '{"m": 3}', '{"m": {"inputs": 1}}', '{"m": {"input": -1}}'])
def test_prices_that_cannot_be_read_are_a_sentence(tmp_path: Path, raw: str) -> None:
    (tmp_path / "prices.json").write_text(raw)
    with pytest.raises(BadInput, match=r"prices\.json"):
        read_prices(tmp_path / "prices.json")


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1e3), st.floats(0, 1e3))
def test_a_price_never_falls_with_more_tokens(tokens: int, more: int, input_price: float, output_price: float) -> None:
    price = Price(input_price, output_price)
    assert 0 <= price.of(tokens, tokens) <= price.of(tokens + more, tokens)


def test_only_admins_see_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger(SqliteDatabase(tmp_path / "app.db"), FixedClock(), Prices(), 1.0)
    with pytest.raises(Refused, match="Only admins may see the ledger"):
        ledger.summary(Actor("bob", "Bob", "bob@example.org", "reviewer"))


def test_the_command_line_shows_the_month(
    server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = workspace(server, tmp_path, {MODEL: {"input": 1000.0}})
    app.platform.workspace.create()
    for _ in range(2):
        app.models.registry.llm().complete(LlmRequest("one two", purpose="rerank"))
    capsys.readouterr()
    arguments = ["--home", str(tmp_path), "ledger", "summary", "--month", "2026-11"]
    assert main([*arguments, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert set(value) == {"month", "budget", "spent", "left", "calls", "rows"}
    assert (value["calls"], value["spent"], value["left"]) == (2, pytest.approx(0.002), pytest.approx(9.998))
    assert value["rows"][0] == {
        "purpose": "rerank",
        "model": MODEL,
        "calls": 2,
        "cached": 1,
        "failed": 0,
        "input_tokens": 2,
        "output_tokens": 1,
        "seconds": value["rows"][0]["seconds"],
        "dollars": 0.002,
    }
    assert main(arguments) == 0
    assert "2026-11: $0.002 of $10.00 spent, $10.00 left." in capsys.readouterr().out
