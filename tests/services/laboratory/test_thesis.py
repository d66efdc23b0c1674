"""The thesis replayed with a scripted model behind a real endpoint: every stage, its rows, its bills, its limits."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.papers import chunking, thesis
from bench.papers.context import PaperOptions
from bench.papers.learners import LEARNERS, NETWORKS, TREES
from bench.papers.markdown import markdown
from bench.papers.replays import replay
from core.adapters.models.registry import ModelRegistry
from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.errors import BadInput
from core.evaluation.generators import qa
from core.evaluation.querysets import anchoring
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.reports.report import Report, ReportTable
from core.settings import load
from core.types import SearchConfig
from tests.conftest import FixedClock, HashEmbedder, put, small_app
from tests.support.evaluated import ADMIN, WORDS, judged, questions
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.usefixtures("few_trees")
MODEL = "openai:small"
STAGES = (
    "agentic-1, by meaning",
    "graph + agentic",
    "fusion, alpha by xgboost",
    "conditional rerank, listwise, tau 0.95",
)


def library(count: int = 8, parts: int = 8, seed: int = 3) -> dict[str, str]:
    """Documents of some six hundred words; all name BETA-7, so that two parts of any of them can be joined."""
    chance, files = random.Random(seed), {}
    for n in range(count):
        sections = [f"---\ntitle: Manual {n}\ntags: [manual, t{n % 2}]\n---\n# Manual {n}\n"]
        for part in range(parts):
            filler = " ".join(chance.choices(WORDS, k=38))
            sections.append(
                f"## Step {part} of {n}\n\nStep code{n}x{part} of BETA-7 needs gate{n}x{part} before noon. We say "
                f"{filler}.\n"
            )
        files[f"m/manual{n}.md"] = "\n".join(sections)
    return files


def model(prompt: str) -> str:
    """A model that can do all that is asked here, by looking at what is asked."""
    passages = re.findall(r"<passage(?: n=\"\d+\")?>\n(.*?)\n</passage>", prompt, re.DOTALL)
    if "situate the chunk" in prompt:
        return "It is one part of a longer manual. It tells which gate a step needs."
    if match := re.search(r"Choose between (\d+) and (\d+)", prompt):
        return json.dumps({"sentences": [4 + 4 * n for n in range(int(match[1]))]})
    if "List the entities" in prompt:
        names = list(dict.fromkeys(re.findall(r"\b(?:BETA-7|code\w+|gate\w+)", passages[0])))[:12]
        return json.dumps({"entities": [{"text": name, "type": "system", "relations": []} for name in names]})
    if "Write 1 to 3 questions" in prompt:
        found = re.findall(r"Step (code\w+) of BETA-7 needs (gate\w+) before noon. We say (\w+ \w+ \w+)", passages[-1])
        rows = [{"question": f"Which gate of BETA-7 has {words}?", "answer": gate} for _, gate, words in found[:2]]
        return json.dumps({"questions": rows})
    if "more entities" in prompt:
        return json.dumps({"entities": ["BETA-7"]})
    asked = set(re.findall(r"\w+", re.findall(r"<query>\n(.*?)\n</query>", prompt, re.DOTALL)[-1].lower()))
    shown = re.findall(r'<passage n="\d+">\n(.*?)\n</passage>', prompt.rpartition("Now the real task")[2], re.DOTALL)
    order = sorted(range(len(shown)), key=lambda n: (-len(asked & set(re.findall(r"\w+", shown[n].lower()))), shown[n]))
    return json.dumps({"order": [n + 1 for n in order]})


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([model]) as running:
        yield running


@contextmanager
def priced(server: ScriptedServer, home: Path) -> Iterator[App]:
    """A workspace with the scripted model, its price, and the miniature embedder."""
    patch = pytest.MonkeyPatch()
    (home / "prices.json").write_text(json.dumps({MODEL: {"input": 1.0, "output": 2.0}}))
    patch.setattr(ModelRegistry, "embedder", lambda self, name: HashEmbedder())
    patch.setattr(ModelRegistry, "of", lambda self, profile: HashEmbedder())
    patch.setattr(chunking, "SIX", 1)
    patch.setattr(thesis, "KINDS", (LEARNERS["ridge"], replace(LEARNERS["xgboost"], grid=TREES[:1])))
    patch.setattr(thesis, "GRID", NETWORKS[:1])
    settings = load({}, home=home, prices=home / "prices.json", llm=MODEL, openai_url=f"{server.url}/v1")
    app = build(settings, clock=FixedClock())
    app.platform.workspace.create()
    put(app, library())
    yield app
    patch.undo()


@pytest.fixture(scope="module")
def priced_app(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with priced(server, tmp_path_factory.mktemp("priced")) as app:
        yield app


@pytest.fixture(scope="module")
def replay_server() -> Iterator[ScriptedServer]:
    with ScriptedServer([model]) as running:
        yield running


@pytest.fixture(scope="module")
def replay_app(replay_server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One that only the replay has paid in, with a model that only the replay has asked."""
    with priced(replay_server, tmp_path_factory.mktemp("thesis")) as app:
        yield app


@pytest.fixture(scope="module")
def replayed(replay_app: App) -> Report:
    return replay(replay_app, ADMIN, "thesis", limit=24, options=PaperOptions(documents=4))


def tables(made: Report) -> dict[str, ReportTable]:
    return {part.title: part for part in made.parts if isinstance(part, ReportTable)}


def test_the_thesis_has_every_stage_in_its_order_and_leaves_nothing_out(replayed: Report) -> None:
    values = replayed.values
    assert tuple(values["stages"]) == STAGES
    assert values["skipped"] == []
    assert all(set(row) == {"T1EM", "T1C", "T1O", "SpanMRR"} for row in values["stages"].values())
    assert [row[0] for row in tables(replayed)["Progression by stage (figure 11)"].rows] == list(STAGES)
    last = values["stages"][STAGES[-1]]
    assert last["T1EM"] >= values["stages"][STAGES[0]]["T1EM"]
    for stage in STAGES:
        assert set(values["kinds"][stage]) == {"SF1H", "SF2H", "MF2H"}


def test_both_agentic_chunkers_stand_beside_the_others_and_cost_what_their_builds_paid(
    replayed: Report, replay_app: App
) -> None:
    rows = {row["name"]: row for row in replayed.values["chunkers"]}
    assert list(rows) == ["fixed-700-20", "semantic-80-1-800", "hierarchical-2000-500-100", "agentic-1", "agentic-2"]
    assert all(rows[name]["dollars_per_document"] == 0 == rows[name]["calls"] for name in list(rows)[:3])
    assert rows["agentic-1"]["calls"] == rows["agentic-1"]["chunks"], "one context for each chunk"
    assert rows["agentic-2"]["calls"] == rows["agentic-2"]["chunks"] + 4, "and the segments of each document"
    spent = {row.purpose: row.dollars for row in replay_app.models.ledger.summary(ADMIN).rows}
    written = sum(4 * rows[name]["dollars_per_document"] for name in ("agentic-1", "agentic-2"))
    assert written == pytest.approx(spent["context"] + spent["segment"])


def test_the_graph_is_compared_with_agentic_chunks_alone(replayed: Report) -> None:
    graph = replayed.values["graph"]
    assert list(graph) == ["agentic, no graph", "graph + hierarchical", "graph + agentic"]
    assert set(graph["graph + agentic"]) == {"T1EM", "T5EM", "T1C", "MC", "SpanMRR", "T1O", "BO"}
    assert graph["graph + hierarchical"]["T5EM"] > 0


def test_alpha_is_fixed_learned_and_known_in_hindsight_and_its_features_have_a_direction(
    replayed: Report,
) -> None:
    values = replayed.values
    fixed = [f"alpha {alpha}" for alpha in ("0", "0.3", "0.5", "0.7", "1")]
    assert list(values["alphas"])[:9] == [*fixed, "learned, ridge", "learned, xgboost", "learned, mlp", "oracle"]
    assert set(values["r2"]) == {"ridge", "xgboost", "mlp"}
    assert {row["feature"] for row in values["shap"]} >= {"words", "digits"} or len(values["shap"]) == 12
    assert all(row["sentence"] for row in values["shap"])


def test_every_tau_has_its_cost_its_time_and_its_uplift(replayed: Report) -> None:
    taus = replayed.values["taus"]
    assert [row["tau"] for row in taus] == [*(f"{tau / 100:.2f}" for tau in range(50, 101, 5)), "always"]
    assert taus[-1]["dollars"] > 0
    assert [row["dollars"] for row in taus] == sorted(row["dollars"] for row in taus)
    assert sum(row["uplift"] for row in taus) == pytest.approx(taus[-1]["measure"] - taus[0]["measure"])
    assert replayed.values["event"].startswith("T5EM")


def test_a_limited_replay_says_what_was_limited_and_asks_few_hundred_times(
    replayed: Report, replay_server: ScriptedServer, replay_app: App
) -> None:
    facts = replayed.facts
    assert facts["documents"] == "4 of 8: the longest"
    assert facts["questions"].startswith("24 of ")
    assert facts["question source"].startswith("written by openai:small from segments of 250 words")
    assert len(replay_server.seen) < 600
    assert replay_server.most_busy > 1, "independent calls are made at once"
    assert len(replay_app.knowledge.documents.all()) == 8, "the knowledge base itself is left alone"
    page = markdown(replayed)
    assert "## What it takes" in page
    assert "| agentic-1 |" in page


def test_a_build_from_the_cache_is_worth_what_it_cost_the_first_time(priced_app: App, server: ScriptedServer) -> None:
    profile = next(iter(chunking.agentic_profiles(priced_app.platform.settings.profile())))
    first = priced_app.index.builder.build(profile)
    calls = len(server.seen)
    again = priced_app.index.builder.build(profile, full=True)
    assert len(server.seen) == calls
    assert (again.cost, again.generation.calls) == (0.0, first.generation.calls)
    assert again.generation.worth == pytest.approx(first.generation.worth)
    assert first.generation.worth >= first.cost
    assert first.generation.worth > 0


def test_chunking_scores_agentic_rows_and_reads_parents(priced_app: App) -> None:
    asked = tuple(Question(f"q{n}", f"Which gate does code{n}x{n} need?", "gates") for n in range(8))
    gates = tuple(Judgment(f"q{n}", f"m/manual{n}.md", (), f"gate{n}x{n}") for n in range(8))
    priced_app.evaluation.querysets.keep(ADMIN, QuerySet("gates", asked, gates))
    made = replay(priced_app, ADMIN, "chunking", "gates")
    names = [row["name"] for row in made.values["chunkers"]]
    assert names == [
        "local",
        "fixed-1300-260",
        "semantic-90-1-1200",
        "hierarchical-3000-1000-100",
        "agentic-1",
        "agentic-2",
    ]
    assert made.values["skipped"] == []
    dollars = {row["name"]: row["dollars_per_document"] for row in made.values["chunkers"]}
    assert dollars["agentic-1"] > 0 < dollars["agentic-2"]
    assert not any(dollars[name] for name in names[:4])
    family = next(
        trial for trial in chunking.agentic(priced_app.platform.settings.profile()) if trial.name == "agentic-1"
    )
    assert family.search(SearchConfig()).parents
    assert len({row["figures"]["T1EM"] for row in made.values["runs"]}) > 1


@pytest.mark.parametrize("experiment", ["thesis", "chunking"])
def test_without_a_model_its_rows_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, experiment: str
) -> None:
    monkeypatch.setattr(chunking, "SIX", 1)
    monkeypatch.setattr(thesis, "KINDS", (LEARNERS["ridge"],))
    monkeypatch.setattr(thesis, "GRID", NETWORKS[:1])
    app = judged(tmp_path / "home")
    values = replay(app, ADMIN, experiment, "small", limit=24).values
    left_out = [line.split(" was left out: ")[0] for line in values["skipped"]]
    assert left_out[:2] == ["agentic-1", "agentic-2"]
    assert all("No language model is configured" in line for line in values["skipped"])
    if experiment == "thesis":
        assert left_out[2:] == ["graph + agentic", "Reranking by a language model"]
        assert list(values["stages"]) == [
            "hierarchical-2000-500-100, by meaning",
            "graph + hierarchical",
            "fusion, alpha 0.5",
            "conditional rerank, cross-encoder, tau 0.95",
        ]
        assert list(values["graph"]) == ["graph + hierarchical"]


def test_without_questions_that_quote_their_answers_the_thesis_says_what_to_make(tmp_path: Path) -> None:
    app = judged(tmp_path / "home")
    bare = replace(questions(name="bare"), judgments=tuple(replace(row, quote="") for row in questions().judgments))
    app.evaluation.querysets.keep(ADMIN, bare)
    with pytest.raises(BadInput, match="No question of 'bare' quotes its answer"):
        replay(app, ADMIN, "thesis", "bare")


def test_without_a_model_known_items_that_quote_stand_in_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thesis, "KINDS", (LEARNERS["ridge"],))
    monkeypatch.setattr(thesis, "GRID", NETWORKS[:1])
    made = replay(judged(tmp_path / "home"), ADMIN, "thesis", limit=12, options=PaperOptions(documents=10))
    assert "known items that quote their answers, not SF1H" in made.facts["question source"]
    assert made.facts["documents"] == "10 of 24: the longest"
    assert made.facts["questions per category"].startswith("exact_phrase")


def test_overlap_is_measured_against_the_thousand_words_around_an_answer(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    words = [f"w{n}" for n in range(2300)]
    put(app, {"long.md": "# Long\n\n## Only\n\n" + " ".join(words)})
    app.index.builder.build(app.platform.settings.profile())
    index = app.search.searcher.index()
    found = [
        anchoring.segment_text(Judgment("q", "long.md", ("Only",), quote), index).split()
        for quote in ("w5 w6", "w1500", "w2200")
    ]
    assert [len(segment) for segment in found] == [1000, 1000, 304], (
        "headings count as words, and a rest is a segment, too"
    )
    assert ("w5" in found[0], "w1500" in found[1], found[2][-1]) == (True, True, "w2299")
    assert anchoring.SEGMENT == qa.WORDS


def test_the_settings_of_the_thesis_are_presets_that_a_profile_can_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_app(tmp_path)
    assert (
        main(["--home", str(tmp_path), "--json", "profiles", "add", "kin", "--chunker", "hierarchical-2000-500-100"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["chunker"]["params"] == {"child": 500, "overlap": 100, "parent": 2000}
