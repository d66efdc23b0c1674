"""Replays of the papers: each is one command and ends in a report that opens anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.papers import __main__, cascade, chunking, learners
from bench.papers.__main__ import main
from bench.papers.compliance import configurations
from bench.papers.context import sampled
from bench.papers.markdown import markdown
from bench.papers.replays import REPLAYS, replay
from core.adapters.models.registry import ModelRegistry
from core.bootstrap import App
from core.evaluation.reports.report import html
from core.retrieval import config as configs
from core.retrieval.presets import spell
from tests.conftest import HashEmbedder, WordReranker
from tests.support.evaluated import ADMIN, judged, questions


@pytest.fixture
def judged_app(tmp_path: Path) -> App:
    return judged(tmp_path / "home")


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The same for tests that change nothing."""
    return judged(tmp_path_factory.mktemp("shared"))


def test_the_compliance_benchmark_has_fifteen_different_configurations() -> None:
    assert len(set(configurations())) == 15


@pytest.mark.parametrize("name", list(REPLAYS))
def test_a_replay_ends_in_a_report_that_needs_no_network(
    shared_app: App, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunking, "SIX", 1)
    made = replay(shared_app, ADMIN, name, "small", limit=10)
    page = html(made)
    assert "Plotly.newPlot" in page
    head = page[: page.index("<script>")] + page[page.index("<h1>") :]
    assert "http://" not in head
    assert "https://" not in head
    assert made.values["runs"]
    depth = {"cascade": 100, "support": 100, "thesis": 10}.get(name, 30)
    assert made.facts["depth"] == f"{depth} candidates per leg"
    json.dumps(made.values)


def test_the_compliance_report_says_which_questions_it_is_about(shared_app: App) -> None:
    made = replay(shared_app, ADMIN, "compliance", "small", limit=10)
    assert made.title == "The compliance benchmark on small (10 questions)"
    assert made.about.endswith("on the questions of small (10 questions) in 2 categories.")
    assert "Known items reward" not in markdown(made)


def test_what_needs_a_language_model_is_left_out_with_a_sentence(judged_app: App) -> None:
    made = replay(judged_app, ADMIN, "cascade", "small", limit=6)
    assert any("No language model is configured" in line for line in made.values["skipped"])


def test_sampling_takes_evenly_from_every_category() -> None:
    some = sampled(questions(), 10)
    assert [sum(one.category == name for one in some.questions) for name in ("first", "second")] == [5, 5]
    assert {one.question for one in some.judgments} == {one.id for one in some.questions}


def test_every_row_of_every_replay_parses() -> None:
    for config in (*configurations(), *cascade.stages().values()):
        assert configs.parse(spell(config)) == config
    assert len(list(chunking.deterministic(chunking.check(chunking.Profile("local"))))) == 19


@pytest.mark.sqlite
def test_a_report_and_its_markdown_are_written_by_one_command(
    judged_app: App, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("embedder", "of"):
        monkeypatch.setattr(ModelRegistry, name, lambda self, chosen: HashEmbedder())
    monkeypatch.setattr(ModelRegistry, "reranker", lambda self, name: WordReranker())
    home = ["--home", str(judged_app.settings.home), "--quiet"]
    out = ["--out", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md")]
    assert main(["compliance", *home, "--queryset", "small", "--limit", "6", *out]) == 0
    assert f"Report: {tmp_path / 'r.html'}" in capsys.readouterr().out
    written = (tmp_path / "r.md").read_text()
    assert written.startswith(
        "# The compliance benchmark on small (6 questions)\n\nFifteen ways to search the same index"
    )
    assert "- depth: 30 candidates per leg" in written
    assert (tmp_path / "r.html").stat().st_size > 1_000_000, "plotly is inside"
    assert main(["cascade", *home, "--estimate"]) == 0
    assert capsys.readouterr().out == "No language model is asked.\n"
    assert main(["thesis", *home, "--queryset", "none"]) == 1
    assert "There is no query set 'none'" in capsys.readouterr().err


def test_a_model_of_alpha_of_every_kind_is_trained_by_one_command_and_searched_with(
    judged_app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners, "ROUNDS", (5,))
    monkeypatch.setattr(learners, "EPOCHS", 2)
    monkeypatch.setattr(__main__, "network", lambda embed: learners.network(embed, learners.NETWORKS[:1]))
    monkeypatch.setattr(__main__, "open_app", lambda settings: judged_app)
    config = {"base": "tm2c2-0.5", "depth": 9}
    for kind in ("ridge", "xgboost", "mlp", "distribution"):
        assert main(["alpha", "small", "--kind", kind, "--config", json.dumps(config), "--quiet"]) == 0
        assert f"small-{kind}: R2 on test" in capsys.readouterr().out
        served = {**config, "alpha_from": "learned", "alpha_model": f"small-{kind}"}
        result = judged_app.search.searcher.search("key3first", config=configs.parse(json.dumps(served)))
        assert result.hits
        assert result.warnings == ()
