"""The commands of evaluation and tuning, end to end on the starter knowledge base with the real model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.entrypoints.cli import main
from tests.conftest import ROOT

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture(scope="module")
def home(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of our own: these commands change what is in production."""
    return Path(shutil.copytree(kb_template, tmp_path_factory.mktemp("evaluated") / "home"))


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))

    def call(*arguments: str, as_json: bool = True) -> tuple[int, Any, str]:
        code = main(["--home", str(home), *arguments, "--quiet", *(["--json"] if as_json else [])])
        out, err = capsys.readouterr()
        return code, json.loads(out) if as_json and out else out, err

    return call


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    return {}


@pytest.fixture
def runs(run: Run, known: dict[str, Any]) -> dict[str, Any]:
    """Ten known items and two runs over them, made by the first test that needs them."""
    if not known:
        run("eval", "generate", "few", "--per-category", "2")
        value = run("eval", "run", "few", "--config", "bm25", "--config", "convex-0.3", "--by", "folder")[1]
        known.update({one["name"]: one for one in value["runs"]})
    return known


@pytest.mark.sqlite
def test_generate_run_compare(run: Run, runs: dict[str, Any]) -> None:
    _, again, _ = run("eval", "generate", "few", "--per-category", "2")
    assert again["questions"] == 10
    assert set(again["categories"].values()) == {2}
    assert again["sources"] == ["known-item (rules)"]
    assert set(runs) == {"bm25", "convex-0.3"}
    one = runs["convex-0.3"]
    assert one["low"] <= one["mean"] <= one["high"]
    assert {"figures", "times", "commit", "generation", "config_digest", "models", "unmapped", "folder"} <= set(one)
    code, compared, _ = run("eval", "compare", runs["bm25"]["id"], one["id"], "--measure", "MRR@10")
    assert code == 0
    assert compared["wins"] + compared["ties"] + compared["losses"] == compared["queries"] == 10
    assert {"difference", "verdict", "sentence", "needed", "categories", "note"} <= set(compared)
    assert run("eval", "runs", "--queryset", "few")[1][0]["queryset"] == "few"
    assert "No question changed" in run("eval", "compare", one["id"], one["id"], as_json=False)[1]
    shallow = '{"base": "bm25", "depth": 10}'
    said = run("eval", "run", "few", "--config", shallow, as_json=False)[1]
    assert "bm25: ranked 10 deep, production 30 deep." in said, "what is not served like this says so"
    assert "deep" not in run("eval", "run", "few", as_json=False)[1]
    deeper = '{"base": "bm25", "depth": 20}'
    board = run("eval", "run", "few", "--config", shallow, "--config", deeper, as_json=False)[1]
    assert "bm25, depth 10" in board, "two rows of one board never have one name"
    assert "bm25, depth 20" in board


@pytest.mark.sqlite
def test_the_threshold_of_confidence_is_measured_and_chosen_on_the_command_line(run: Run, runs: dict[str, Any]) -> None:
    assert run("tune", "confidence")[1] == {"threshold": 0.25, "evidence": {}}
    code, report, _ = run("tune", "confidence", "few", "--alarms", "0.2")
    assert (code, report["questions"], report["now"]["threshold"]) == (0, 10, 0.25)
    assert report["suggested"]["false_alarms"]["mean"] <= 0.2
    assert "area" in run("tune", "confidence", "few", as_json=False)[1]
    code, _, said = run("tune", "confidence", "few", "--choose", as_json=False)
    assert code == 1
    assert "add --reason TEXT" in said, "ten questions are no evidence"
    assert run("tune", "confidence", "--threshold", "0.99", "--reason", "to see it")[1]["threshold"] == 0.99
    code, found, _ = run("search", "retention of records")
    assert (code, found["fits"]) == (0, False)
    assert 0 < found["confidence"] < 0.99
    assert run("search", "retention of records", as_json=False)[1].startswith("Nothing fits well (confidence 0.")
    assert run("tune", "confidence", "--threshold", "0.25", "--reason", "as before")[0] == 0
    assert run("search", "retention of records")[1]["fits"]


@pytest.mark.sqlite
def test_export_and_import_round_trip(run: Run, runs: dict[str, Any], tmp_path: Path) -> None:
    for form in ("jsonl", "csv", "beir", "trec"):
        code, written, _ = run("eval", "export", "few", str(tmp_path / f"few.{form}"), "--format", form)
        assert code == 0
        assert all(Path(path).is_file() for path in written["files"])
        _, back, _ = run("eval", "import", str(tmp_path / f"few.{form}"), "--format", form, "--name", f"few-{form}")
        assert (back["questions"], back["problems"]) == (10, [])
    run("eval", "export", runs["bm25"]["id"], str(tmp_path / "bm25.run"), "--format", "trec-run")
    assert (tmp_path / "bm25.run").read_text().split()[1] == "Q0"
    listed = {one["name"] for one in run("eval", "querysets")[1]}
    assert {"few", "few-jsonl", "few-beir"} <= listed
    assert run("eval", "querysets", "few")[1]["unmapped"] == []


@pytest.mark.sqlite
def test_alpha_has_a_curve_and_production_changes_with_a_reason_and_back(run: Run, runs: dict[str, Any]) -> None:
    _, value, _ = run("tune", "alpha", "few", "--measure", "MRR@10")
    assert len(value["curve"]) == 101
    assert value["best"]["mean"] == max(point["mean"] for point in value["curve"])
    assert len(value["per_question"]) == 10
    code, out, err = run("tune", "promote", runs["bm25"]["id"])
    assert (code, out) == (1, "")
    assert "needs a reason" in err
    _, promoted, _ = run("tune", "promote", runs["bm25"]["id"], "--reason", "a test")
    assert promoted["config"]["name"] == "bm25"
    assert promoted["evidence"]["run"] == runs["bm25"]["id"]
    assert run("search", "vpn")[1]["config"]["name"] == "bm25"
    assert run("tune", "rollback")[1]["config"]["name"] == "convex-0.5"
    assert run("search", "vpn")[1]["config"]["name"] == "convex-0.5"


@pytest.mark.sqlite
def test_drift_runs_production_again_where_it_was_measured(run: Run, runs: dict[str, Any]) -> None:
    run("eval", "run", "few")
    code, value, _ = run("eval", "drift")
    assert (code, [one["queryset"] for one in value], value[0]["lost"]) == (0, ["few"], False)


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("eval", "run", "none"), "There is no query set 'none'"),
        (("eval", "compare", "aaaa", "bbbb"), "There is no single run 'aaaa'"),
        (("eval", "generate", "--kind", "magic"), "There is no kind 'magic'"),
        (("eval", "generate", "--kind", "qa"), "language model"),
        (("eval", "import", "/does/not/exist.csv"), "There is no file"),
        (("tune", "alpha", "none"), "There is no query set"),
        (("tune", "promote"), "Name the run"),
    ],
)
def test_refusals_are_sentences(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    code, out, err = run(*arguments, as_json=False)
    assert (code, out) == (1, "")
    assert sentence in err
    assert "Traceback" not in err


REFUSED = (
    (("tune", "tau", "few", "--measure", "nDCG@7"), "A run has no measure 'nDCG@7'. It has: nDCG@10"),
    (("tune", "alpha", "few", "--unit", "page"), "There is no unit 'page'"),
    (("tune", "alpha", "few", "--out", "."), "Cannot use '.': is a directory"),
    (("eval", "export", "few", ".", "--format", "csv"), "Cannot use '.': is a directory"),
    (("eval", "run", "few", "--unit", "page", "--background"), "There is no unit 'page'"),
    (("eval", "generate", "--per-category", "-1"), "At least one question of each category"),
    (("eval", "generate", "--kind", "qa", "--per-category", "0"), "At least one question of each category"),
    (("--as", "reader", "eval", "run", "few"), "may run an evaluation"),
    (("--as", "reader", "eval", "drift"), "may run an evaluation"),
    (("--as", "reader", "tune", "alpha", "few"), "may run an evaluation"),
    (("--as", "reader", "tune", "tau", "few"), "may run an evaluation"),
    (("--as", "reader", "eval", "generate", "--kind", "qa"), "may keep a query set"),
    (("--as", "ghost", "eval", "runs"), "There is no account 'ghost'"),
    (("--as", "ghost", "search", "vpn"), "There is no account 'ghost'"),
)


@pytest.mark.sqlite
def test_what_cannot_be_done_with_a_set_is_said_in_a_sentence(run: Run, runs: dict[str, Any]) -> None:
    for arguments, sentence in REFUSED:
        code, out, err = run(*arguments, as_json=False)
        assert (code, out) == (1, ""), arguments
        assert sentence in err, arguments
