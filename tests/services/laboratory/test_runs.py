"""Runs: they equal search, the same one again is free, a kill costs little, comparisons say what they know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core import profiles
from core.bootstrap import App
from core.errors import BadInput, Cancelled, NotFound, Refused, Unavailable
from core.evaluation.measures.by_name import ranking_measure
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import RUN_FORMATS, scored
from core.retrieval import config as configs
from core.services.evaluation.runs import RunPlan, last_timed
from tests.conftest import HashEmbedder, ScriptedLlm, WordReranker, demo, put
from tests.support.evaluated import ADMIN, AUTHOR, corpus, judged, questions

NAMES = ("bm25", "dense", "convex-0.3", "tm2c2-0.5", "rrf-60", "dbsn", "combmnz", "convex-0.5+rerank")


@pytest.fixture
def judged_app(tmp_path: Path) -> App:
    return judged(tmp_path / "home")


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The same for tests that change nothing."""
    return judged(tmp_path_factory.mktemp("shared"))


def plans(app: App, *names: str, depth: int = 7) -> list[RunPlan]:
    profile = app.platform.settings.profile()
    return [RunPlan(profile, replace(configs.parse(name), depth=depth)) for name in names]


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_every_run_ranks_what_search_ranks(shared_app: App, unit: str) -> None:
    made = shared_app.evaluation.runs.evaluate("small", plans(shared_app, *NAMES), unit)
    index = shared_app.search.searcher.index()
    for run in made:
        for question in questions().questions[::7]:
            hits = shared_app.search.searcher.search_in(index, question.text, replace(run.config, k=100)).hits
            assert run.results[question.id].passages == tuple(hit.chunk for hit in hits)[:20], run.name
            assert run.results[question.id].documents == tuple(dict.fromkeys(hit.doc for hit in hits))[:20]


@pytest.mark.parametrize("name", ["dense+hyde", "convex-0.5+hyde", "rrf-60+slidegar", "dense+listwise"])
def test_a_run_that_asks_a_language_model_ranks_what_search_ranks(judged_app: App, name: str) -> None:
    judged_app.models.registry.llm_used = ScriptedLlm("river stone cloud [2, 1, 3, 4, 5, 6, 7]")  # type: ignore[attr-defined]
    plain, made = judged_app.evaluation.runs.evaluate("small", plans(judged_app, name.split("+")[0], name))
    index = judged_app.search.searcher.index()
    for question in questions().questions[::7]:
        hits = judged_app.search.searcher.search_in(index, question.text, replace(made.config, k=100)).hits
        assert made.results[question.id].passages == tuple(hit.chunk for hit in hits)[:20]
    assert any(made.results[q].passages != one.passages for q, one in plain.results.items())
    assert made.models[-1] == "scripted"
    assert "scripted" not in plain.models
    judged_app.models.registry.llm_used.name = "another"  # type: ignore[attr-defined]
    assert judged_app.evaluation.runs.evaluate("small", plans(judged_app, name))[0].id != made.id


def test_a_run_of_parents_ranks_and_reads_what_search_returns(judged_app: App) -> None:
    sizes = {"parent": 60, "child": 12, "overlap": 2}
    family = profiles.from_mapping({"name": "family", "chunker": {"name": "hierarchical", "params": sizes}})
    judged_app.index.builder.build(family)
    config = configs.parse('{"base": "convex-0.5", "parents": true, "depth": 3, "k": 5}')
    children, parents = judged_app.evaluation.runs.evaluate(
        "small", [RunPlan(family, replace(config, parents=False)), RunPlan(family, config)]
    )
    index = judged_app.index.generations.open(family)
    for question in questions().questions[::5]:
        result = judged_app.search.searcher.search_in(index, question.text, config)
        assert parents.results[question.id].passages == tuple(hit.chunk for hit in result.hits)
    assert parents.figures["BC"] > children.figures["BC"]  # a parent holds more of the quoted words


def test_the_figures_are_the_means_of_the_measures(shared_app: App) -> None:
    run = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "convex-0.3"))[0]
    judged = {one.question: one.path for one in questions().judgments}
    paths = {facts.doc: facts.path for facts in shared_app.search.searcher.index().documents}
    values = []
    for question, one in run.results.items():
        value = ranking_measure("nDCG@10")([paths[doc] for doc in one.documents], {judged[question]: 1.0})
        assert one.values["nDCG@10"] == pytest.approx(value, abs=1e-12)
        values.append(value)
    assert run.figures["nDCG@10"] == pytest.approx(sum(values) / len(values), abs=1e-6)
    assert 0.0 < run.figures["T1C"] <= 1.0
    assert set(run.times) >= {"bm25", "dense", "embed", "fuse", "total"}


def test_the_same_run_again_is_free_and_legs_are_searched_once(
    judged_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched, embed = [], HashEmbedder.query
    monkeypatch.setattr(HashEmbedder, "query", lambda self, text: searched.append(text) or embed(self, text))
    first = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25", "dense", "convex-0.3", "rrf-60"))
    assert len(searched) == len(questions().questions), "four configurations, one search per question"
    again = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25", "dense", "convex-0.3", "rrf-60"))
    assert [run.id for run in again] == [run.id for run in first]
    assert again == first
    judged_app.evaluation.runs.evaluate("small", plans(judged_app, "combsum"))
    assert len(searched) == len(questions().questions), "a new fusion is arithmetic"


def test_every_run_has_the_five_measures_at_five_depths_also_one_that_was_made_before_them(judged_app: App) -> None:
    (run,) = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25", depth=100))
    assert {f"{name}@{k}" for name in ("nDCG", "Recall", "MRR", "MAP", "P") for k in (1, 5, 10, 50, 100)} <= {
        *run.figures
    }
    assert run.figures["P@1"] == run.figures["MRR@1"] == run.figures["nDCG@1"]
    assert run.figures["Recall@1"] <= run.figures["Recall@5"] <= run.figures["Recall@50"] <= run.figures["Recall@100"]
    old = replace(run, figures={"nDCG@10": run.figures["nDCG@10"]})
    judged_app.evaluation.runs._keep(old, "before")
    assert judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25", depth=100))[0].figures == run.figures


def test_a_cancelled_run_goes_on_where_it_stopped(judged_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int, what: str) -> None:
        if done == 25:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        judged_app.evaluation.runs.evaluate("small", plans(judged_app, "convex-0.5+rerank"), progress=stop)
    assert judged_app.evaluation.runs.all() == ()
    reranked, score = [], WordReranker.scores
    monkeypatch.setattr(WordReranker, "scores", lambda self, *rest: reranked.append(1) or score(self, *rest))
    judged_app.evaluation.runs.evaluate("small", plans(judged_app, "convex-0.5+rerank"))
    assert len(reranked) == len(questions().questions) - 25


def test_a_run_whose_reranker_failed_is_shown_and_made_again(judged_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> WordReranker:
        raise Unavailable("The reranker is down.")

    monkeypatch.setattr(judged_app.models.registry, "reranker", broken)
    ill = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "convex-0.5+rerank"))[0]
    assert "The reranker is down." in ill.warnings[0]
    assert judged_app.evaluation.runs.evaluate("small", plans(judged_app, "convex-0.5+rerank"))[0].id == ill.id, (
        "as ill as before"
    )
    monkeypatch.undo()
    well = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "convex-0.5+rerank"))[0]
    assert well.warnings == ()
    assert {run.id for run in judged_app.evaluation.runs.all("small")} == {ill.id, well.id}
    assert judged_app.evaluation.runs.get(ill.id).warnings == ill.warnings


def test_sets_with_the_same_questions_have_runs_of_their_own(judged_app: App) -> None:
    judged_app.evaluation.querysets.keep(ADMIN, replace(questions(), name="twin"))
    one, other = (judged_app.evaluation.runs.evaluate(name, plans(judged_app, "bm25"))[0] for name in ("small", "twin"))
    assert (one.queryset, other.queryset) == ("small", "twin")
    assert [run.id for run in judged_app.evaluation.runs.all("twin")] == [other.id]
    judged_app.evaluation.querysets.drop(ADMIN, "small")
    assert judged_app.tuning.production.evidence(demo("author"), other.id).after == other


def test_a_run_can_be_traced(shared_app: App) -> None:
    run = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "convex-0.3+rerank"))[0]
    kept = shared_app.evaluation.runs.get(run.id[:6])
    assert kept == run
    assert kept.commit == shared_app.knowledge.repository.head()
    assert kept.models == (shared_app.platform.settings.profile().embedder, "ms-marco-minilm-l12-int8")
    assert kept.queryset_digest == shared_app.evaluation.querysets.get("small").digest
    with pytest.raises(NotFound, match="There is no single run 'none'"):
        shared_app.evaluation.runs.get("none")


def test_a_job_runs_pairs_of_profile_and_configuration(shared_app: App) -> None:
    result = shared_app.platform.workspace.works["evaluate"](
        {"queryset": "small", "pairs": [["", "bm25"], ["local", "rrf-60"]]}, lambda *_: None
    )
    assert [shared_app.evaluation.runs.get(number).name for number in result["runs"]] == ["bm25", "rrf-60"]
    with pytest.raises(Refused):
        shared_app.evaluation.runs.start(replace(AUTHOR, role="reader"), "small", [("", "bm25")])


def test_nothing_judged_is_nothing_measured(judged_app: App) -> None:
    judged_app.evaluation.querysets.keep(ADMIN, replace(questions(), name="bare", judgments=()))
    with pytest.raises(BadInput, match="Nobody judged anything"):
        judged_app.evaluation.runs.evaluate("bare", plans(judged_app, "bm25"))
    with pytest.raises(BadInput, match="There is no unit 'page'"):
        judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25"), "page")


def test_lost_judgments_are_listed_in_the_run(judged_app: App) -> None:
    put(judged_app, {"a/doc0.md": None})
    judged_app.index.builder.build(judged_app.platform.settings.profile())
    run = judged_app.evaluation.runs.evaluate("small", plans(judged_app, "bm25"))[0]
    assert {one["path"] for one in run.unmapped} == {"a/doc0.md"}
    assert run.questions == len(questions().questions) - 2


# ---------------------------------------------------------------- comparisons


def test_a_comparison_is_antisymmetric_and_counts_add_up(shared_app: App) -> None:
    one, other = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "bm25", "dense"))
    there, back = comparisons.compare(one, other), comparisons.compare(other, one)
    assert there.overall.difference.mean == pytest.approx(-back.overall.difference.mean)
    assert (there.overall.wins, there.overall.losses) == (back.overall.losses, back.overall.wins)
    assert there.overall.wins + there.overall.ties + there.overall.losses == len(questions().questions)
    assert sum(part.queries for part in there.by_category.values()) == there.overall.queries
    assert [row.difference for row in there.rows] == sorted(row.difference for row in there.rows)
    assert comparisons.compare(one, one).overall.verdict == "open"


def test_a_leaderboard_is_sorted_and_groups_cover_every_question(shared_app: App) -> None:
    board = comparisons.leaderboard(
        shared_app.evaluation.runs.evaluate("small", plans(shared_app, "bm25", "dense", "rrf-60"))
    )
    means = [one.figure.mean for one in board]
    assert means == sorted(means, reverse=True)
    assert board[0].against is None
    for by, names in (("category", {"first", "second"}), ("folder", {"a", "b"}), ("tag", {"t0", "t1", "t2"})):
        groups = comparisons.grouped(board[0].run, by)
        assert set(groups) == names
        assert sum(count for _, count in groups.values()) == len(questions().questions)


def test_an_unknown_measure_names_the_known_ones(shared_app: App) -> None:
    run = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "bm25"))[0]
    with pytest.raises(BadInput, match="They have: nDCG@10"):
        comparisons.compare(run, run, "F1")


def test_times_are_compared_where_both_were_taken_on_one_machine_and_day(shared_app: App) -> None:
    one, other = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "bm25", "dense"))
    assert one.machine == other.machine != ""
    assert "p95" in comparisons.compare(one, other).spent
    for elsewhere in ("8 CPUs, another", ""):
        assert comparisons.compare(one, replace(other, machine=elsewhere)).spent == ""
    assert comparisons.compare(replace(one, machine=""), replace(other, machine="")).spent == ""
    assert comparisons.compare(replace(one, created="2026-11-14T09:00:00Z"), other).spent == "", "of another day"
    assert last_timed([one, replace(other, created="2026-11-14T09:00:00Z")]) == one.timed
    assert last_timed([replace(one, machine="8 CPUs, another")])[1] == ""


def test_a_run_measures_no_more_places_than_its_legs_can_fill(shared_app: App) -> None:
    both = [plans(shared_app, "bm25", depth=depth)[0] for depth in (10, 50)]
    shallow, deep = shared_app.evaluation.runs.evaluate("small", both)
    for run, top in ((shallow, 10), (shared_app.evaluation.runs.get(deep.id), 50)):
        measured = {name for name in run.figures if "@" in name}
        assert max(int(name.partition("@")[2]) for name in measured) == top
        assert all(set(answer.values) >= measured for answer in run.results.values())


def test_a_trec_run_has_the_scores_that_order_it_and_else_reversed_ranks(shared_app: App) -> None:
    run = shared_app.evaluation.runs.evaluate("small", plans(shared_app, "bm25", depth=50))[0]
    answer = next(iter(run.results.values()))
    lines = [line.split() for line in RUN_FORMATS["trec-run"](run).splitlines()]
    scores = [float(score) for question, _, _, _, score, _ in lines if question == answer.question.id]
    hits = shared_app.search.searcher.search(answer.question.text, config=replace(run.config, k=50)).hits
    best = {hit.doc: hit.score for hit in reversed(hits)}
    assert scores == pytest.approx([best[doc] for doc in answer.documents], abs=1e-6)
    assert len(answer.documents) == len(answer.scores) == len(best) > 20, "the whole depth of the run"
    assert list(scored(replace(answer, scores=(0.1, 0.9, *answer.scores[2:]))).values())[-1] == 1, "these give no order"


# ---------------------------------------------------------------- drift


def test_drift_marks_a_loss_that_is_not_chance(judged_app: App) -> None:
    assert judged_app.tuning.production.check(demo("author")) == ()
    judged_app.evaluation.runs.evaluate("small", [judged_app.evaluation.runs.plan()])
    assert [one.lost for one in judged_app.tuning.production.check(demo("author"))] == [False]
    spoilt = {path: text.replace("key", "other").replace("Document", "Paper") for path, text in corpus().items()}
    loose = questions()
    judged_app.evaluation.querysets.keep(
        ADMIN, replace(loose, judgments=tuple(replace(one, heading=(), quote="") for one in loose.judgments))
    )
    judged_app.evaluation.runs.evaluate("small", [judged_app.evaluation.runs.plan()])
    put(judged_app, spoilt)
    judged_app.index.builder.build(judged_app.platform.settings.profile())
    found = judged_app.tuning.production.check(demo("author"))[0]
    assert found.lost
    assert found.sentence.startswith("small: Worse by")
    assert judged_app.platform.workspace.works["drift"]({}, lambda *_: None)["lost"] == ["small"]
