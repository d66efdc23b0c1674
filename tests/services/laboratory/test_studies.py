"""The studies, replayed: their rows, in their order, with a language model behind a real endpoint."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.papers import support
from bench.papers.__main__ import queries
from bench.papers.context import BENCHMARK, PaperOptions, shared_out
from bench.papers.markdown import markdown
from bench.papers.prompts import PromptSettings, parted, tune
from bench.papers.replays import estimate, replay
from core.adapters.models.registry import ModelRegistry
from core.bootstrap import App, build, evaluation_workspace
from core.errors import BadInput
from core.evaluation.querysets import anchoring, beir
from core.evaluation.reports.report import Report, ReportTable
from core.profiles import check
from core.retrieval import config as configs
from core.services.evaluation import collections
from core.settings import load
from core.types import Filters, SearchConfig
from tests.conftest import FixedClock, HashEmbedder, WordReranker
from tests.support.evaluated import ADMIN, judged
from tests.support.scripted_server import ScriptedServer

MODEL, CHEAP = "openai:large", "openai:small"
PRICES = {MODEL: {"input": 2.0, "output": 8.0}, CHEAP: {"input": 0.4, "output": 1.6}}
WEIGHTS = json.dumps({"dense": 0.2, "sparse": 0.7, "graph": 0.1})
ASKED = 10  # questions


def shown(prompt: str) -> list[str]:
    """The numbered passages of the task itself."""
    return re.findall(r'<passage n="\d+">\n(.*?)\n</passage>', prompt.rpartition("Now the real task")[2], re.DOTALL)


def backwards(prompt: str) -> str:
    """A model that weighs for words, and puts what it is shown last first."""
    count = len(shown(prompt))
    return json.dumps({"reason": "Why not.", "order": list(range(count, 0, -1))[:10]}) if count else WEIGHTS


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(answers=[backwards], seconds=0.01) as running:
        yield running


@pytest.fixture
def study_app(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> App:
    """The small judged workspace; its language models answer at the endpoint, and are paid for."""
    monkeypatch.setattr(ModelRegistry, "embedder", lambda self, name: HashEmbedder())
    monkeypatch.setattr(ModelRegistry, "reranker", lambda self, name: WordReranker())
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    endpoint = {"openai_url": f"{server.url}/v1", "openai_key": "k", "prices": tmp_path / "prices.json"}
    home = judged(tmp_path / "home").settings.home
    app = build(load({}, home=home, llm=MODEL, **endpoint), clock=FixedClock())
    app.platform.workspace.create()
    return app


def table(report: Report, title: str) -> dict[str, dict[str, str]]:
    """A table of a report: by the first cell of a row, then by column."""
    part = next(part for part in report.parts if isinstance(part, ReportTable) and part.title == title)
    return {row[0]: dict(zip(part.heads, row, strict=True)) for row in part.rows}


# ---------------------------------------------------------------- the cascade study


def test_the_cascade_study_has_its_rows_and_tables_with_a_language_model(
    study_app: App, server: ScriptedServer
) -> None:
    report = replay(study_app, ADMIN, "cascade", "small", limit=ASKED)
    rows = ["dense", "bi-modal", "tri-modal", "tri-modal + cross-encoder", "full pipeline"]
    weighed = ["tri-modal, static weights", "tri-modal, weights by the model"]
    assert report.values["stages"] == list(table(report, "Ablation")) == [*rows, *weighed]
    assert report.values["skipped"] == []
    full = table(report, "Ablation")["full pipeline"]
    assert [full[part] for part in ("dense", "sparse", "graph", "cross-encoder", "language model")] == ["yes"] * 4 + [
        "orders"
    ]
    for k in (1, 5, 10):
        assert list(table(report, f"The five measures at {k}")["dense"])[1:] == [
            f"{m}@{k}" for m in ("nDCG", "Recall", "MRR", "MAP", "P")
        ]
    purposes = Counter(call.purpose for call in study_app.models.ledger.recent(ADMIN))
    assert purposes == {"rerank": ASKED, "weights": ASKED}, "one call for a question and stage"
    assert server.most_busy > 1, "questions are asked several at a time"


def test_the_cascade_study_says_what_each_stage_moved_made_worse_and_took(study_app: App) -> None:
    report = replay(study_app, ADMIN, "cascade", "small", limit=ASKED)
    moved = table(report, "What each stage moved")
    assert list(moved) == ["cross-encoder", "language model"]
    assert moved["language model"]["another first document"] == "100%", "the last of ten came first"
    assert float(moved["language model"]["swaps in the top 10"]) > 5.0
    worse = table(report, "Queries that a stage made worse")["language model"]
    lost, asked = map(int, worse["degraded"].split(" / "))
    assert asked == ASKED
    assert 0 < lost <= ASKED
    assert re.fullmatch(rf"\d+ / {lost} \(\d+%\)", worse["with digits"])
    assert worse["words: all"] == "5.6"
    assert len(table(report, "Most degraded by the language model")) == lost
    latency = table(report, "Latency per stage, mean ms of a query")
    assert float(latency["full pipeline"]["language model"]) >= 10.0
    assert latency["full pipeline"]["cross-encoder"] == latency["tri-modal + cross-encoder"]["cross-encoder"], (
        "read once"
    )
    assert latency["tri-modal"]["language model"] == latency["dense"]["weights"] == "-"
    assert float(latency["tri-modal, weights by the model"]["weights"]) >= 10.0


def test_consecutive_rows_of_the_cascade_differ_in_one_stage() -> None:
    from bench.papers.cascade import STEPS, stages

    rows, stage = stages(), {"legs": "legs", "fusion": "legs", "missing": "legs", "normalisation": "legs"}
    for before, after in STEPS:
        old, new = rows[before], rows[after]
        changed = {name for name in SearchConfig.__slots__ if getattr(old, name) != getattr(new, name)}
        kinds = {stage.get(name, "rerank" if name.startswith("rerank") else name) for name in changed}
        assert len(kinds) == 1, (before, after, changed)


def test_the_studys_tri_modal_takes_weights_by_the_model_and_the_graphs_keeps_its_own_name(study_app: App) -> None:
    study = configs.parse("trimodal")
    assert (study.legs, dict(study.weights)) == (
        ("sparse", "dense", "pagerank"),
        {"sparse": 0.35, "dense": 0.5, "pagerank": 0.15},
    )
    dynamic = configs.parse('{"base": "trimodal", "alpha_from": "llm"}')
    result = study_app.search.searcher.search("key3first apple", config=dynamic)
    weights = {leg: round(score.weight, 6) for leg, score in result.hits[0].legs.items()}
    assert weights == {"sparse": 0.7, "dense": 0.2, "pagerank": 0.1}
    with pytest.raises(BadInput, match="takes no weights by hand"):
        configs.parse('{"base": "trimodal", "alpha_from": "learned", "alpha_model": "m"}')


def test_what_was_promoted_as_tri_modal_keeps_its_legs(study_app: App) -> None:
    old = {"legs": ["bm25", "dense", "graph"], "weights": {"bm25": 0.35, "dense": 0.5, "graph": 0.15}, "depth": 30}
    study_app.tuning.production.promote(ADMIN, config=json.dumps(old), reason="as it was stored before")
    config = study_app.platform.settings.production().config
    assert config.legs == ("bm25", "dense", "graph")
    assert configs.name(config) == "trimodal-graph"


# ---------------------------------------------------------------- the support study


def by_meaning(prompt: str) -> str:
    """A model that puts the passage with most of the query's words first; a made-up answer where it sees none."""
    passages = shown(prompt)
    if not passages:
        return "The river passes the stone garden by the old bridge."
    query = re.findall(r"<query>\n(.*?)\n</query>", prompt, re.DOTALL)[-1].lower().split()
    score = [sum(word in passage.lower() for word in query) for passage in passages]
    return json.dumps({"order": sorted(range(1, len(passages) + 1), key=lambda n: -score[n - 1])[:10]})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two embedders and one chunk size are enough to see every table."""
    monkeypatch.setattr(support, "EMBEDDERS", ("all-minilm-l6-v2",))
    monkeypatch.setattr(support, "SIZES", (512,))


@pytest.mark.usefixtures("few")
def test_the_support_study_has_its_tables_with_several_language_models_and_makes_the_calls_of_its_estimate(
    study_app: App, server: ScriptedServer
) -> None:
    server.answers = [by_meaning]
    options = PaperOptions(models=(MODEL, CHEAP), repeats=3)
    estimated = estimate(study_app, "support", "small", ASKED, options)
    report = replay(study_app, ADMIN, "support", "small", limit=ASKED, options=options)
    first, other = "bge-small-en-v1.5-int8", "all-minilm-l6-v2"
    assert list(table(report, "Embedders alone and BM25")) == [first, other, "BM25"]
    assert list(table(report, "The best embedder with each other by RRF")) == [
        first,
        f"{first} + {other} (RRF)",
        f"{first} + BM25 (RRF)",
    ]
    assert list(table(report, "The best embedder with each other side by side")) == [
        first,
        f"{first} + {other} (concatenated)",
    ]
    best = report.values["reranked"]
    reranked = table(report, "Reranking of the best fifty")
    assert list(reranked) == [
        best,
        f"{best} + cross-encoder",
        f"{best} + LLM",
        f"{best} + SlideGAR",
        "BM25",
        "BM25 + cross-encoder",
        "BM25 + LLM",
    ]
    assert reranked[f"{best} + LLM"]["Recall@10"].endswith("± 0.0000"), "the script says the same every time"
    assert float(reranked[best]["Recall@50"]) - float(reranked[best]["Recall@10"]) == pytest.approx(
        float(reranked[best]["gap"]), abs=1e-4
    )
    prices = table(report, "Language models and their price")
    assert list(prices) == [MODEL, CHEAP]
    large, small = (float(prices[model]["1,000 queries"].lstrip("$")) for model in (MODEL, CHEAP))
    assert large == pytest.approx(5 * small, rel=0.01), "equal tokens at a fifth of the price"
    assert prices[MODEL]["tokens of a query"] == prices[CHEAP]["tokens of a query"] != "0"
    assert list(table(report, "Prompts"))[1:] == [f"{best} + LLM{name}" for name in ("", ", one-shot", ", meta")]
    purposes = Counter(call.purpose for call in study_app.models.ledger.recent(ADMIN, limit=1000) if not call.cached)
    assert 0 <= sum(row.calls[1] for row in estimated) - purposes.total() <= ASKED, "a window more or less"
    assert purposes["rerank"] == ASKED * (3 + 2 + 1 + 2 + 1), "repeats, windows, BM25, prompts, the other model"
    assert purposes["hyde"] == ASKED
    shares = [float(v) for row in table(report, "Recall@10 by category").values() for v in list(row.values())[1:]]
    assert all(60 * share == pytest.approx(round(60 * share), abs=0.05) for share in shares), "found or not, of 1 to 6"


def test_the_estimate_of_the_benchmark_counts_the_paraphrases_of_as_many_questions_as_are_asked_for(
    study_app: App,
) -> None:
    options = [PaperOptions(questions=count) for count in (0, 5)]
    every, few = (estimate(study_app, "compliance", options=option) for option in options)
    assert [row.calls[1] for row in few] == [1]
    assert every[0].calls[1] > 1


def test_a_concatenated_pair_is_one_index_of_normalised_vectors(study_app: App) -> None:
    pair = check(
        support._profile(study_app.platform.settings.profile(), ("bge-small-en-v1.5-int8", "all-minilm-l6-v2"))
    )
    study_app.index.builder.build(pair)
    index = study_app.index.generations.open(pair)
    assert index.vector(0).shape == (2 * HashEmbedder.dimension,)
    assert float(index.vector(0) @ index.vector(0)) == pytest.approx(1.0, abs=1e-3)


# ---------------------------------------------------------------- prompts that are tuned


class Teachable(ScriptedServer):
    """Ranks badly until its instructions say what matters, and writes such instructions when it is shown a failure."""

    lesson = "Put the passage that shares most words with the query first, and the others after it."

    def _chat(self, messages: list[dict[str, str]], logprobs: bool) -> dict[str, Any]:
        system, asked = messages[0]["content"], messages[-1]["content"]
        if "You improve the instructions" in system:
            self.answers = [json.dumps({"analysis": "It read loosely.", "prompt": self.lesson})]
        else:
            self.answers = [by_meaning(asked) if "most words" in system else last(asked)]
        return super()._chat(messages, logprobs)


def last(prompt: str) -> str:
    """The ten passages that share least with the query."""
    order = json.loads(by_meaning(prompt))["order"]
    return json.dumps({"order": [n for n in range(len(shown(prompt)), 0, -1) if n not in order][:10]})


@pytest.fixture
def teachable(tmp_path: Path, study_app: App) -> Iterator[App]:
    """The workspace with a model that learns; one question at a time, since it changes what it says."""
    with Teachable() as running:
        settings = replace(study_app.settings, openai_url=f"{running.url}/v1", llm_concurrency=1)
        yield build(settings, clock=FixedClock())


def test_a_prompt_is_rewritten_where_reranking_failed_and_the_best_is_kept_and_chosen(teachable: App) -> None:
    result = tune(teachable, ADMIN, "small", PromptSettings("zero-shot", samples=12, rounds=3), name="parts")
    assert result.rounds[0].failures > 0
    assert result.kept is not None
    assert (result.kept.title, result.kept.task) == ("tuned-parts-v1", Teachable.lesson)
    best = max(tried.recall for tried in result.rounds)
    assert best > result.rounds[0].recall + 0.3
    assert result.kept.evidence["analysis"] == "It read loosely."
    judged = teachable.evaluation.querysets.get("small")
    gains = anchoring.gains(judged.judgments, teachable.search.searcher.index()).gains
    tuned_on, held = parted(judged, gains, 12, 42)
    assert held
    assert not {question.id for question in tuned_on} & {question.id for question in held}
    assert result.held_out is not None
    assert result.held_out.questions <= len(held)
    assert result.held_out.after > result.held_out.before
    assert "questions that it was not tuned on" in result.sentence
    assert result.kept.evidence["held_out"]["questions"] == result.held_out.questions
    chosen = (
        '{"base": "dense+listwise", "rerank_prompt": "tuned-parts-v1", "rerank_orders": 1, "depth": 50, '
        '"rerank_depth": 50}'
    )
    bad = chosen.replace("tuned-parts-v1", "zero-shot")
    tuned, plain = teachable.evaluation.runs.measure(ADMIN, "small", [("", chosen), ("", bad)])
    assert tuned.figures["Recall@10"] > plain.figures["Recall@10"] + 0.3
    again = teachable.platform.settings.add_prompt(
        "parts", "Another task that is long enough to be one.", False, {}, ADMIN.person
    )
    assert again.title == "tuned-parts-v2"
    assert [prompt.title for prompt in teachable.platform.settings.prompts()] == ["tuned-parts-v1", "tuned-parts-v2"]


def test_a_prompt_that_is_not_there_leaves_the_order_with_a_warning(study_app: App) -> None:
    config = configs.parse('{"base": "dense+listwise", "rerank_prompt": "tuned-lost-v1"}')
    result = study_app.search.searcher.search("apple river", config=config)
    assert "There is no prompt 'tuned-lost-v1'. Prompts: one-shot" in result.warnings[0]
    assert len(result.hits) > 1


def test_what_is_no_new_task_is_named(study_app: App, server: ScriptedServer) -> None:
    with pytest.raises(BadInput, match="1 to 100 rounds"):
        tune(study_app, ADMIN, "small", PromptSettings(rounds=0))
    server.answers = [lambda prompt: last(prompt) if "<material>" not in prompt else "I would rather not."]
    result = tune(study_app, ADMIN, "small", PromptSettings("zero-shot", samples=6, rounds=1))
    assert result.kept is None
    assert "no other task was written. The answer of openai:large was not used" in result.sentence


# ---------------------------------------------------------------- collections and the compliance benchmark


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Six records in BEIR's form, each with a query of its own."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    records = [{"_id": f"r{n}", "title": f"Record {n}", "text": f"About key{n} and the river."} for n in range(6)]
    queries = [{"_id": f"q{n}", "text": f"What about key{n}?"} for n in range(6)]
    for name, rows in (("corpus", records), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    grades = "".join(f"q{n}\tr{n}\t1\n" for n in range(6))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + grades)
    return folder


def test_a_seeded_sample_of_a_collection_is_the_same_every_time(collection: Path) -> None:
    drawn = beir.read(collection, sample=3)
    assert len(drawn.queries) == len(drawn.qrels) == 3
    assert list(drawn.queries) == list(beir.read(collection, sample=3).queries)
    assert set(drawn.queries) != set(beir.read(collection, sample=3, seed=1).queries)
    assert len(beir.read(collection, sample=9).queries) == 6


def test_the_cascade_study_runs_on_a_sample_of_a_collection(study_app: App, collection: Path) -> None:
    drawn = beir.read(collection, sample=4)
    app = evaluation_workspace(study_app, ADMIN, "beir-tiny")
    app.knowledge.documents.save(collections.AUTHOR, drawn.files, [], "Records")
    app.index.builder.build(app.platform.settings.profile())
    kept = app.evaluation.querysets.keep(collections.AUTHOR, queries(drawn))
    report = replay(app, collections.AUTHOR, "cascade", kept.name)
    assert report.values["stages"][-1] == "tri-modal, weights by the model"
    assert table(report, "Queries that a stage made worse")["language model"]["degraded"].endswith(" / 4")
    config = configs.parse("rrf-60")
    index = app.index.generations.open(app.platform.settings.profile())
    scores = collections.report(drawn, collections.run(app.search.searcher, index, drawn, config))
    assert {f"{name}@{k}" for name in ("nDCG", "Recall", "MRR", "MAP", "P") for k in (1, 5, 10)} <= {*scores}
    assert scores["Recall@10"] == 1.0
    assert set(scores["ms_per_query"]) >= {"bm25", "dense", "fuse"}


def test_a_collection_is_ranked_as_it_would_be_served_and_only_recall_looks_deeper(
    study_app: App, collection: Path
) -> None:
    whole = beir.read(collection)
    app = evaluation_workspace(study_app, ADMIN, "beir-depth")
    app.knowledge.documents.save(collections.AUTHOR, whole.files, [], "Records")
    app.index.builder.build(app.platform.settings.profile())
    index, searcher = app.index.generations.open(app.platform.settings.profile()), app.search.searcher
    for text in ("dbsn", "convex-0.5+rerank", '{"documents": true, "fields": {"title": 1}}'):
        config = replace(configs.parse(text), depth=2)
        scores = collections.run(searcher, index, whole, config)
        assert (scores.config.depth, scores.recall_depth > 2) == (2, True)
        for query, wording in whole.queries.items():
            hits = searcher.search_in(index, wording, config, Filters(history=True)).hits
            served = list(dict.fromkeys(whole.records[hit.doc] for hit in hits))
            assert list(scores.rankings[query][: len(served)]) == served
        assert len(scores.rankings[query]) > len(served), "recall counts more than two documents of each leg"
    said = collections.report(whole, scores)
    assert (said["depth"], said["recall_depth"]) == (2, scores.recall_depth)


def test_the_compliance_benchmark_is_made_at_its_own_size_and_says_what_is_ours(study_app: App) -> None:
    options = PaperOptions(questions=1706)
    assert shared_out(1706) == BENCHMARK
    report = replay(study_app, ADMIN, "compliance", limit=40, options=options)
    said = markdown(report)
    assert re.fullmatch(r"known-items-1706 \(40 questions\), .*1,706 asked for\)", report.facts["query set"])
    assert re.search(r"1,706 questions were asked for; the documents give \d+", said)
    assert "does not list them; these fifteen are Concord's choice" in said
