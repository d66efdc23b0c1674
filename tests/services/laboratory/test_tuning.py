"""Tuning: a sweep equals search at every alpha, production changes only with evidence or a reason."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.errors import BadInput, Conflict, NotFound, Refused
from core.evaluation.measures.by_name import ranking_measure
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.evaluation.runs.comparisons import RunComparison
from core.evaluation.tuning import passage_table, sweep
from core.evaluation.tuning.calibration import Observed, TauRule, points_at
from core.retrieval import config as configs
from core.retrieval.candidates import fuse, stored
from core.retrieval.ordering import rank
from core.retrieval.presets import presets, spell
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.evaluation.runs import RunPlan
from core.services.tuning.alpha import AlphaExamples
from core.services.tuning.sweeps import SweepScope, observed, sweepable, with_fusion
from core.types import Frozen
from tests.conftest import demo, put, small_app
from tests.support.evaluated import ADMIN, AUTHOR, judged, questions

pytestmark = pytest.mark.usefixtures("few_trees")
NAMES = ("bm25", "dense", "convex-0.3", "tm2c2-0.61", "rrf-60", "rsf", "dbsn", "combsum", "combmnz")


@pytest.fixture
def judged_app(tmp_path: Path) -> App:
    return judged(tmp_path / "home")


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The same for tests that change nothing."""
    return judged(tmp_path_factory.mktemp("shared"))


# ---------------------------------------------------------------- the sweep is search


scores = st.dictionaries(
    st.integers(0, 30), st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 2.5, 9.0]), min_size=1, max_size=12
)


@given(
    st.lists(st.tuples(scores, scores), min_size=1, max_size=4),
    st.sampled_from(NAMES),
    st.integers(1, 8),
    st.sampled_from(["exact", "floor", "absent"]),
)
def test_arrays_rank_as_the_pipeline_does_whatever_the_scores(
    rows: list[tuple[dict[int, float], dict[int, float]]], name: str, depth: int, missing: str
) -> None:
    found, units, gains = [], [], []
    for bm25, dense in rows:
        full = {"bm25": bm25, "dense": dense}
        retrieved = {leg: dict(list(rank(given_).items())[:depth]) for leg, given_ in full.items()}
        union = {chunk for leg in retrieved.values() for chunk in leg}
        exact = {leg: {chunk: full[leg].get(chunk, 0.05) for chunk in sorted(union)} for leg in full}
        exact = {
            leg: {**retrieved[leg], **{c: s for c, s in exact[leg].items() if c not in retrieved[leg]}} for leg in full
        }
        found.append(stored(retrieved, exact, {"bm25": 0.0, "dense": -1.0}))
        units.append({chunk: chunk // 3 for chunk in union})
        gains.append({unit: 1.0 + unit % 2 for unit in (0, 3, 5, 99)})
    config = replace(configs.parse(name), depth=depth, missing=missing)
    table = sweep.matrix(found, units, gains, depth)
    places = sweep.ranks(table, sweep.fuse(sweep.normalise(table, config), config))
    expected = []
    for one, unit, gain in zip(found, units, gains, strict=True):
        order = list(dict.fromkeys(unit[chunk] for chunk in fuse(one.only(config.legs), config).ranking))
        expected += [order.index(wanted) + 1 if wanted in order else 0 for wanted in gain]
    assert places.tolist() == expected


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_a_move_of_the_slider_says_what_a_run_says(shared_app: App, unit: str) -> None:
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, unit=unit, whole=True))
    index = shared_app.search.searcher.index()
    for name in ("convex-0.37", "rrf-20", "dbsn", "bm25"):
        config = replace(configs.parse(name), depth=9)
        run = shared_app.evaluation.runs.evaluate(
            "small", [RunPlan(shared_app.platform.settings.profile(), config)], unit
        )[0]
        places = sweep.ranks(data.table, sweep.fuse(sweep.normalise(data.table, config), config))
        for measure in ("nDCG@10", "nDCG@3", "Recall@5", "MRR@10", "MAP@10", "P@1", "P@5"):
            values = sweep.values(data.table, places, measure)
            if measure in run.figures:
                expected = [run.results[question.id].values[measure] for question in data.questions]
                assert values == pytest.approx(np.array(expected), abs=1e-12), (name, measure)
            moved = shared_app.tuning.sweeps.measure_at(data, config, measure)
            assert moved.overall.mean == pytest.approx(values.mean()), (name, measure)
    assert index.size


def test_sliders_count_fields_and_documents_as_the_search_does_that_they_stand_for(shared_app: App) -> None:
    config, runs = presets()["Documents 0.9"], shared_app.evaluation.runs
    data = shared_app.tuning.sweeps.load(
        demo("author"), "small", SweepScope(depth=config.depth, whole=True), config=config
    )
    assert sweepable(data, config)
    assert not sweepable(data, replace(config, documents=False)), "gathered in another way"
    assert not sweepable(data, replace(config, fields=Frozen({}))), "gathered in another way"
    moved = with_fusion(config, "convex", "tm2c2", alpha=0.4)
    assert (moved.fields, moved.documents, moved.depth) == (config.fields, True, config.depth)
    for at in (config, moved):
        run = runs.evaluate("small", [RunPlan(shared_app.platform.settings.profile(), at)])[0]
        assert shared_app.tuning.sweeps.measure_at(data, at).overall.mean == pytest.approx(run.figures["nDCG@10"])
    curve = shared_app.tuning.sweeps.alpha_curves(demo("author"), "small", moved, SweepScope(whole=True))
    assert curve.overall.points[40].mean == pytest.approx(run.figures["nDCG@10"])


def test_a_slider_measures_the_passages_that_a_run_reads(shared_app: App) -> None:
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    assert data.quoted
    for name in ("convex-0.37", "rrf-20", "bm25"):
        config = replace(configs.parse(name), depth=9)
        run = shared_app.evaluation.runs.evaluate("small", [RunPlan(shared_app.platform.settings.profile(), config)])[0]
        for measure in passage_table.MEASURES:
            expected = [run.results[question.id].values[measure] for question in data.questions]
            fused = sweep.fuse(sweep.normalise(data.table, config), config)
            assert sweep.measured(data.table, fused, measure) == pytest.approx(np.array(expected), abs=1e-9), measure
            moved = shared_app.tuning.sweeps.measure_at(data, config, measure)
            assert moved.overall.mean == pytest.approx(run.figures[measure], abs=1e-6)


def test_alpha_can_be_chosen_by_what_the_first_passage_holds(judged_app: App) -> None:
    config = replace(configs.parse("convex-0.5"), depth=9)
    found = judged_app.tuning.sweeps.alpha_curves(
        demo("author"), "small", config, SweepScope(whole=True), measure="T1EM"
    )
    runs = judged_app.evaluation.runs.evaluate(
        "small",
        [RunPlan(judged_app.platform.settings.profile(), replace(config, alpha=alpha)) for alpha in (0.0, 0.5, 1.0)],
    )
    found_means = [found.overall.points[n].mean for n in (0, 50, 100)]
    assert found_means == pytest.approx([run.figures["T1EM"] for run in runs], abs=1e-6)
    mixed = questions(name="mixed")
    half = tuple(replace(row, quote="") if n % 2 else row for n, row in enumerate(mixed.judgments))
    judged_app.evaluation.querysets.keep(ADMIN, replace(mixed, judgments=half))
    some = judged_app.tuning.sweeps.alpha_curves(
        demo("author"), "mixed", config, SweepScope(whole=True), measure="T1EM"
    )
    assert some.overall.questions == len(mixed.questions) / 2, "questions that quote nothing do not count"
    judged_app.evaluation.querysets.keep(
        ADMIN, replace(mixed, name="bare", judgments=tuple(replace(row, quote="") for row in mixed.judgments))
    )
    with pytest.raises(BadInput, match="No question quotes its answer, so there is no T1EM"):
        judged_app.tuning.sweeps.alpha_curves(demo("author"), "bare", config, SweepScope(whole=True), measure="T1EM")


def test_tau_counts_a_question_as_answered_when_its_answer_stands_in_a_passage(judged_app: App) -> None:
    config = replace(configs.parse("dense"), depth=9)
    found = judged_app.tuning.sweeps.tau(ADMIN, "small", TauRule("precision", measure="T1EM"), config=config)
    run = judged_app.evaluation.runs.evaluate("small", [RunPlan(judged_app.platform.settings.profile(), config)])[0]
    held = [answer.values["T5EM"] > 0 for answer in run.results.values()]
    assert found.event.startswith("T5EM: the answer stands in one of the first five passages")
    seen = observed(run, run, "T1EM", whole=True)
    assert [each.answered for each in seen] == held
    first, answer = next(iter(run.results.items()))
    near = replace(answer, values={**answer.values, "T5EM": 0.0, "Recall@5": 1.0})
    other = replace(run, results={first: near})
    assert not observed(other, other, "T1EM", whole=True)[0].answered, "the document alone is not the answer"
    bare = replace(questions(name="bare"), judgments=tuple(replace(row, quote="") for row in questions().judgments))
    judged_app.evaluation.querysets.keep(ADMIN, bare)
    unquoted = judged_app.tuning.sweeps.tau(ADMIN, "bare", TauRule("precision"), config=config)
    assert (
        unquoted.event == "Recall@5: a relevant document is among the first five, since no question quotes its answer"
    )


def test_every_tau_says_what_its_reranking_takes() -> None:
    seen = [Observed("a", 0.2, False, 0.0, 1.0, 2.0, 0.5), Observed("b", 0.6, True, 1.0, 1.0, 4.0, 0.25)]
    low, middle, high = points_at(seen, (0.1, 0.5, 2.0))
    assert [(point.seconds, point.dollars) for point in (low, middle, high)] == [(0.0, 0.0), (1.0, 0.25), (3.0, 0.375)]
    assert (middle.uplift, high.share) == (0.5, 1.0)


@pytest.mark.parametrize("rerank", BY_TAU)
@pytest.mark.parametrize("name", ["rrf-60", "combmnz", "combsum", "convex-0.4", "tm2c2-0.5", "dbsn"])
def test_the_share_reranked_is_that_of_the_pipeline_at_the_same_tau(shared_app: App, name: str, rerank: str) -> None:
    config = replace(configs.parse(name), depth=9)
    run = shared_app.evaluation.runs.evaluate("small", [RunPlan(shared_app.platform.settings.profile(), config)])[0]
    sure = sorted(one.confidence if rerank == "conditional" else one.chance or 0.0 for one in run.results.values())
    for tau in (0.5, 0.9, (sure[20] + sure[21]) / 2):
        moved = shared_app.tuning.sweeps.measure_at(
            shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True)),
            replace(config, rerank=rerank, tau=tau),
        )
        assert moved.reranked == pytest.approx(sum(one < tau - 1e-9 for one in sure) / len(sure)), tau


def test_a_tau_reranks_the_same_questions_whatever_the_fusion(shared_app: App) -> None:
    """On the chance of the first hit one tau holds for all fusions; on the best score each has a scale of its own."""
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    shares: dict[str, list[float]] = {rerank: [] for rerank in BY_TAU}
    for rerank, name in product(BY_TAU, ("rrf-60", "convex-0.5", "tm2c2-0.5", "dbsn")):
        config = replace(configs.parse(name), depth=9, rerank=rerank, tau=0.7)
        shares[rerank].append(shared_app.tuning.sweeps.measure_at(data, config).reranked)
    spread = {rerank: max(these) - min(these) for rerank, these in shares.items()}
    assert spread["unsure"] < 0.15 < spread["conditional"], shares


def test_the_slider_of_tau_moves_by_equally_many_questions(shared_app: App) -> None:
    config = replace(configs.parse("convex-0.5"), depth=9, rerank="unsure")
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    shares = shared_app.tuning.sweeps.shares(data, config, 0.123)
    assert 0.123 in shares, "the tau that stands there is never moved by another fusion"
    assert list(shares) == sorted(shares)
    assert (shares[0.0], shares[1.0]) == (0.0, 1.0)
    assert list(shares.values()) == sorted(shares.values())


def test_search_at_the_same_alpha_agrees_exactly(shared_app: App) -> None:
    config = replace(configs.parse("convex-0.5"), depth=9)
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    table = sweep.table(data.table, config, "MRR@10")
    index = shared_app.search.searcher.index()
    judged = {one.question: one.path for one in shared_app.evaluation.querysets.get("small").judgments}
    for n in (0, 1, 37, 50, 99, 100):
        for row, question in list(enumerate(data.questions))[::5]:
            hits = shared_app.search.searcher.search_in(
                index, question.text, replace(config, alpha=n / 100, k=100)
            ).hits
            paths = list(dict.fromkeys(hit.path for hit in hits))
            assert table[row, n] == ranking_measure("MRR@10")(paths, {judged[question.id]: 1.0})


# ---------------------------------------------------------------- alpha


def test_the_alpha_curve_has_101_points_inside_their_intervals(shared_app: App) -> None:
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    found = shared_app.tuning.sweeps.curves_of(data, replace(configs.parse("tm2c2-0.5"), depth=9))
    assert len(found.overall.points) == 101
    assert all(point.low <= point.mean <= point.high for point in found.overall.points)
    assert found.overall.points[found.overall.alphas.index(found.overall.best)].mean == max(
        point.mean for point in found.overall.points
    )
    at = replace(configs.parse("tm2c2-0.5"), depth=9, alpha=found.overall.best)
    here, there = (
        shared_app.tuning.sweeps.measure_at(data, at).overall,
        found.overall.points[found.overall.alphas.index(found.overall.best)],
    )
    assert (here.mean, here.low, here.high) == pytest.approx((there.mean, there.low, there.high)), "sliders and curve"
    assert set(found.by_category) == {"first", "second"}
    assert "Only 48 judged questions" in found.note
    assert all(0.0 <= low <= high <= 1.0 for low, high in found.per_question.values())
    assert shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True)) is data, (
        "loaded once"
    )


def test_only_convex_fusion_of_two_legs_has_an_alpha(shared_app: App) -> None:
    data = shared_app.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=9, whole=True))
    with pytest.raises(BadInput, match="needs convex fusion"):
        shared_app.tuning.sweeps.curves_of(data, configs.parse("rrf-60"))
    with pytest.raises(BadInput, match="gather again"):
        shared_app.tuning.sweeps.measure_at(data, replace(configs.parse("rrf-60"), depth=50))
    with pytest.raises(BadInput, match="There is no measure"):
        shared_app.tuning.sweeps.measure_at(data, replace(configs.parse("rrf-60"), depth=9), "F1")


def test_per_question_optimum_is_the_widest_range_of_best_alphas() -> None:
    table = np.array([[0.0, 1.0, 1.0, 0.5, 0.0], [0.3, 0.3, 0.3, 0.3, 0.3]])
    assert sweep.per_question(table) == [(0.25, 0.5), (0.0, 1.0)]


# ---------------------------------------------------------------- tau and learned alpha


def test_tau_is_calibrated_on_what_reranking_changes(shared_app: App) -> None:
    found = shared_app.tuning.sweeps.tau(
        ADMIN, "small", TauRule("precision", beta=0.2, least=5), config=replace(configs.parse("tm2c2-0.5"), depth=9)
    )
    assert len(found.curve) == 101
    assert [point.share for point in found.curve] == sorted(point.share for point in found.curve)
    assert found.chosen is None or (found.chosen.lower >= 0.2 and found.chosen.skipped >= 5)
    with pytest.raises(BadInput, match="chosen by gain or precision"):
        shared_app.tuning.sweeps.tau(ADMIN, "small", TauRule("luck"))
    with pytest.raises(BadInput, match="beta"):
        shared_app.tuning.sweeps.tau(ADMIN, "small", TauRule(beta=1.5))


DEEP = replace(configs.parse("tm2c2-0.5"), depth=9)


def test_learned_alpha_is_measured_beside_one_fixed_alpha_and_can_be_searched_with(judged_app: App) -> None:
    made = judged_app.tuning.training.train(ADMIN, "small", config=DEEP)
    assert "thin" in made.trained.warning
    assert not made.wins
    assert made.best_fixed < 0.5, "the hash embedder is a poor one"
    assert f"Use the fixed alpha {made.best_fixed:g}, chosen on" in made.advice
    result = judged_app.search.searcher.search("key3first", config=made.config)
    assert result.hits
    assert result.warnings == ()
    profile = judged_app.platform.settings.profile()
    assert judged_app.evaluation.runs.evaluate("small", [RunPlan(profile, made.config)])[0].warnings == ()
    with pytest.raises(BadInput, match="needs convex fusion"):
        judged_app.tuning.training.train(ADMIN, "small", config=configs.parse("rrf-60"))
    assert judged_app.tuning.alphas.names() == ("small-ridge",), "what fails keeps nothing"


def test_training_advises_one_alpha_that_was_chosen_on_the_questions_it_learned_from(judged_app: App) -> None:
    made = judged_app.tuning.training.train(ADMIN, "small", config=DEEP)
    assert not set(made.trained.learned_from) & set(made.trained.test)
    index = judged_app.search.searcher.index()
    examples = AlphaExamples(judged_app.evaluation.runs, index, DEEP, judged_app.evaluation.querysets.get("small"))
    for number in made.trained.test:  # whatever the test questions would choose, the advice stays
        examples.documents[number] = dict.fromkeys(examples.documents[number], 0.0)
    assert examples.best_fixed(made.trained) == made.best_fixed
    assert judged_app.tuning.alphas.model("small-ridge").evidence["best_fixed_alpha"] == made.best_fixed


def test_a_model_that_was_promoted_is_never_written_again(judged_app: App) -> None:
    first = judged_app.tuning.training.train(ADMIN, "small", config=DEEP)
    judged_app.tuning.production.promote(ADMIN, config=spell(first.config), reason="to see it serve")
    judged_app.tuning.production.rollback(ADMIN)
    assert judged_app.tuning.training.train(ADMIN, "small", config=DEEP).config.alpha_model == "small-ridge-2"
    assert judged_app.tuning.alphas.model("small-ridge") == first.trained.model


def test_nothing_is_learned_where_every_question_has_the_same_best_alpha(
    judged_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = AlphaExamples._example
    monkeypatch.setattr(AlphaExamples, "_example", lambda *asked: replace(example(*asked), alpha=0.4))
    with pytest.raises(BadInput, match="All questions have the same best alpha, whatever it should be best at"):
        judged_app.tuning.training.train(ADMIN, "small", config=DEEP)


# ---------------------------------------------------------------- promotion


def worse_then_better(judged_app: App) -> str:
    """Production on dense alone, and the id of a run that beats it on a set large enough to be halved."""
    judged_app.evaluation.querysets.keep(ADMIN, questions(each=2, name="wide"))
    judged_app.tuning.production.promote(ADMIN, config="dense", reason="to start from something weak")
    return judged_app.evaluation.runs.evaluate(
        "wide", [RunPlan(judged_app.platform.settings.profile(), replace(configs.parse("bm25"), depth=9))]
    )[0].id


def test_a_promotion_carries_its_evidence_and_is_searched_with(judged_app: App) -> None:
    run = worse_then_better(judged_app)
    made = judged_app.tuning.production.promote(ADMIN, run)
    assert made.evidence["run"] == run
    assert made.evidence["verdict"] == "better"
    assert 0 < made.evidence["low"] <= made.evidence["difference"] <= made.evidence["high"]
    assert judged_app.platform.settings.production().config.legs == ("bm25",)
    assert judged_app.search.searcher.search("key1first").config.legs == ("bm25",)
    newest = judged_app.tuning.production.history(demo("author"))[0]
    assert (newest.author, newest.evidence["run"]) == ("Ann", run)
    assert f"Run: {run}" in newest.message
    assert judged_app.knowledge.repository.head("main") == judged_app.search.searcher.index().generation.commit, (
        "documents are not touched"
    )


def misleading(judged_app: App) -> str:
    """Production measured on one set, and a run on another set that is better there and worse on the first."""
    asked = questions(each=2)

    def own(wanted):
        return tuple(each for each in asked.questions if ("key" in each.text) == wanted)

    for name, part in (("words", own(True)), ("titles", own(False))):
        ids = {each.id for each in part}
        judgments = tuple(each for each in asked.judgments if each.question in ids)
        judged_app.evaluation.querysets.keep(ADMIN, QuerySet(name, part, judgments, "made by hand"))
    weak, strong = (replace(configs.parse(name), depth=9) for name in ("dense", "bm25"))
    profile = judged_app.platform.settings.profile()
    judged_app.tuning.production.promote(ADMIN, config='{"base": "bm25", "depth": 9}', reason="to start from")
    judged_app.evaluation.runs.evaluate("words", [RunPlan(profile, strong)])
    return judged_app.evaluation.runs.evaluate("titles", [RunPlan(profile, weak)])[0].id


def test_a_promotion_that_loses_on_another_query_set_needs_a_reason_and_the_check_afterwards_names_the_loss(
    judged_app: App,
) -> None:
    run = misleading(judged_app)
    (guard,) = judged_app.tuning.production.guardrails(ADMIN, run)
    assert (guard.after.queryset, guard.overall.verdict) == ("words", "worse")
    with pytest.raises(BadInput, match="On words: Worse by .* A promotion that loses on a query set needs a reason"):
        judged_app.tuning.production.promote(ADMIN, run)
    made = judged_app.tuning.production.promote(ADMIN, run, reason="titles matter more")
    assert made.evidence["guards"]["words"].startswith("Worse by")
    assert "nDCG@10 on words: Worse by" in made.message
    drifts = {drift.queryset: drift for drift in judged_app.tuning.production.check(ADMIN)}
    assert drifts["words"].lost, "compared with what served before, although its configuration was another"


def test_a_set_without_anything_to_compare_with_is_unknown_and_not_fine(judged_app: App) -> None:
    judged_app.evaluation.runs.evaluate("small", [judged_app.evaluation.runs.plan()])
    job = judged_app.evaluation.jobs.drift(demo("author"))
    result = judged_app.platform.jobs.run(job.id, judged_app.platform.workspace.works).result
    assert (result["lost"], result["unknown"]) == ([], ["small"])
    assert result["sentences"] == ["small: nothing to compare with yet."]


def test_a_set_whose_documents_are_gone_is_named_and_the_others_are_checked(judged_app: App) -> None:
    """A job asks every watched set after a build: one that nothing is left of made it fail."""
    production, profile = judged_app.tuning.production, judged_app.platform.settings.profile()
    gone = QuerySet("gone", (Question("1", "Document 0"),), (Judgment("1", "a/doc0.md"),), "made by hand")
    judged_app.evaluation.querysets.keep(ADMIN, gone)
    for name in ("gone", "small"):
        judged_app.evaluation.runs.evaluate(name, [judged_app.evaluation.runs.plan()])
    put(judged_app, {"a/doc0.md": None})
    judged_app.index.builder.build(profile)
    drifts = {drift.queryset: drift for drift in production.check(ADMIN)}
    assert drifts["small"].now
    assert drifts["gone"].now is None
    assert drifts["gone"].sentence.startswith(
        "gone: cannot be measured any more. No judgment of 'gone' finds its place"
    )


def test_what_was_chosen_is_judged_on_other_questions_and_corrected_for_all_that_was_tried(judged_app: App) -> None:
    run = worse_then_better(judged_app)
    chosen_on = {each.id for each in judged_app.tuning.sweeps.load(ADMIN, "wide", SweepScope(depth=9)).questions}
    judged_app.evaluation.runs.evaluate(
        "wide", [judged_app.evaluation.runs.plan(config=name) for name in ("rrf-60", "combmnz")]
    )
    compared = judged_app.tuning.production.evidence(ADMIN, run)
    judged_on = {row.question for row in compared.rows}
    assert not chosen_on & judged_on
    assert len(chosen_on) + len(judged_on) == 96
    assert compared.basis == f"Judged on the {len(judged_on)} of 96 questions that nothing is chosen on."
    assert compared.overall.comparisons == 3, "bm25, rrf and combmnz; production is what they are compared with"
    asked = questions(each=2, name="wide")
    more = replace(asked, questions=(*asked.questions, Question("new", "another one")))
    judged_app.evaluation.querysets.keep(ADMIN, more)
    assert judged_app.tuning.production.evidence(ADMIN, run).overall == compared.overall, "an edit forgives no try"
    judged_app.evaluation.querysets.keep(ADMIN, replace(more, name="copy"))
    copied = judged_app.evaluation.runs.evaluate("copy", [judged_app.evaluation.runs.plan(config="bm25")])[0].id
    again = judged_app.tuning.production.evidence(ADMIN, copied)
    assert again.overall.comparisons == 4, "nor does another name; bm25 to its own depth is one more"


def test_evidence_is_of_the_questions_and_the_generation_of_now(judged_app: App) -> None:
    old = worse_then_better(judged_app)
    put(judged_app, {"a/doc0.md": None, "b/doc1.md": None})
    judged_app.index.builder.build(judged_app.platform.settings.profile())
    asked = questions(each=2, name="wide")
    judged_app.evaluation.querysets.keep(
        ADMIN, replace(asked, questions=(*asked.questions, Question("new", "another one")))
    )
    found = judged_app.tuning.production.evidence(demo("author"), old)
    assert found.note == ""
    assert (found.before.commit, found.before.queryset_digest) == (found.after.commit, found.after.queryset_digest)
    assert found.after.commit == judged_app.knowledge.repository.head()
    assert found.after.id == judged_app.tuning.production.promote(ADMIN, old).evidence["run"] != old


def test_evidence_from_two_commits_is_no_evidence_and_says_so(judged_app: App) -> None:
    judged_app.tuning.production.promote(ADMIN, config="dense", reason="to start from something weak")
    family = judged_app.platform.settings.profile("family")
    judged_app.index.builder.build(family)
    judged_app.evaluation.querysets.keep(ADMIN, questions(each=2, name="wide"))
    run = judged_app.evaluation.runs.evaluate("wide", [RunPlan(family, configs.parse("bm25"))])[0].id
    put(judged_app, {"a/doc0.md": None})
    judged_app.index.builder.build(judged_app.platform.settings.profile())
    assert judged_app.tuning.production.evidence(demo("author"), run).overall.verdict == "better"
    with pytest.raises(BadInput, match=r"The runs saw different commits\. A promotion without evidence needs a reason"):
        judged_app.tuning.production.promote(ADMIN, run)
    made = judged_app.tuning.production.promote(ADMIN, run, reason="it is only one document")
    assert made.evidence["note"] == "The runs saw different commits."
    assert "The runs saw different commits." in made.message


def test_two_admins_cannot_overwrite_each_other(judged_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    run, weigh = worse_then_better(judged_app), judged_app.tuning.production.evidence

    def meanwhile(*given: str) -> RunComparison:
        monkeypatch.undo()
        judged_app.tuning.production.promote(ADMIN, config="rrf-60", reason="faster than you")
        return weigh(*given)

    monkeypatch.setattr(judged_app.tuning.production, "evidence", meanwhile)
    with pytest.raises(Conflict, match="The settings changed in the meantime"):
        judged_app.tuning.production.promote(ADMIN, run)
    assert judged_app.platform.settings.production().config.fusion == "rrf"


def test_without_evidence_a_promotion_needs_a_reason(judged_app: App) -> None:
    same = judged_app.evaluation.runs.evaluate("small", [judged_app.evaluation.runs.plan()])[0].id
    with pytest.raises(BadInput, match="needs a reason"):
        judged_app.tuning.production.promote(ADMIN, same)
    with pytest.raises(BadInput, match="needs a reason"):
        judged_app.tuning.production.promote(ADMIN, config="rrf-60")
    with pytest.raises(BadInput, match="Name the run"):
        judged_app.tuning.production.promote(ADMIN, reason="just because")
    made = judged_app.tuning.production.promote(ADMIN, same, reason="agreed in the meeting")
    assert made.evidence["reason"] == "agreed in the meeting"
    assert made.evidence["verdict"] == "open"


def test_only_admins_change_production(judged_app: App) -> None:
    with pytest.raises(Refused, match="Only admins may change what is in production"):
        judged_app.tuning.production.promote(AUTHOR, config="bm25", reason="please")
    with pytest.raises(Refused):
        judged_app.tuning.production.rollback(AUTHOR)


def test_rolling_back_restores_what_was_there_before(judged_app: App) -> None:
    with pytest.raises(NotFound, match="Nothing was promoted yet"):
        judged_app.tuning.production.rollback(ADMIN)
    start = judged_app.platform.settings.production()
    run = worse_then_better(judged_app)
    weak = judged_app.platform.settings.production()
    judged_app.tuning.production.promote(ADMIN, run)
    back = judged_app.tuning.production.rollback(ADMIN, "it was worse for people")
    assert (back.production, judged_app.platform.settings.production()) == (weak, weak)
    assert len(judged_app.tuning.production.history(demo("author"))) == 3, "history only grows"
    assert judged_app.tuning.production.rollback(ADMIN).production == start, "a second step goes further back"
    with pytest.raises(NotFound, match="nothing earlier"):
        judged_app.tuning.production.rollback(ADMIN)


def test_a_rollback_never_restores_what_was_rolled_back(judged_app: App) -> None:
    def alpha():
        return judged_app.platform.settings.production().config.alpha

    for value in ("0.1", "0.2"):
        judged_app.tuning.production.promote(ADMIN, config=f"convex-{value}", reason="step by step")
    judged_app.tuning.production.rollback(ADMIN)
    judged_app.tuning.production.promote(ADMIN, config="convex-0.3", reason="another try")
    judged_app.tuning.production.rollback(ADMIN)
    assert alpha() == 0.1
    judged_app.tuning.production.rollback(ADMIN)
    assert alpha() == 0.5, "0.2 was rejected; before 0.1 there was the start"


# ---------------------------------------------------------------- what a new workspace starts with


def test_a_new_knowledge_base_starts_with_what_is_recommended_and_goes_back_to_it(tmp_path: Path) -> None:
    app = small_app(tmp_path / "new")
    app.platform.settings.start(ADMIN.person)
    assert app.platform.settings.production().config == configs.RECOMMENDED
    assert app.platform.settings.promotions() == (), "nobody promoted it"
    app.tuning.production.promote(ADMIN, config="bm25", reason="to try it")
    assert app.tuning.production.rollback(ADMIN).production.config == configs.RECOMMENDED


def test_what_was_in_production_is_read_once_until_the_settings_move(
    judged_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_app.tuning.production.promote(ADMIN, config="bm25", reason="to try it")
    settings = judged_app.platform.settings
    known = settings.promotions(), settings.original()
    with monkeypatch.context() as patch:
        patch.setattr(settings, "repository", SimpleNamespace(head=settings.repository.head))
        assert (settings.promotions(), settings.original()) == known
    judged_app.tuning.production.promote(ADMIN, config="dense", reason="to try it")
    assert [promotion.production.config.legs for promotion in settings.promotions()] == [("dense",), ("bm25",)]


def test_a_knowledge_base_that_exists_keeps_what_it_searches_with(tmp_path: Path) -> None:
    app = small_app(tmp_path / "old")
    put(app, {"a.md": "Apples."})
    app.platform.settings.start(ADMIN.person)
    assert app.platform.settings.production().config == configs.PRODUCTION
    assert app.platform.settings.original().config == configs.PRODUCTION


def test_what_is_recommended_is_offered_measured_on_own_questions_and_promoted(judged_app: App) -> None:
    recommendation = judged_app.tuning.recommendation
    offer = recommendation.offer(AUTHOR)
    assert offer is not None
    assert (offer.title, offer.run) == ("Documents 0.9", "")
    compared = recommendation.measure(AUTHOR)
    assert compared[0].after.queryset == offer.queryset
    assert compared[0].before.config == judged_app.platform.settings.production().config
    measured = recommendation.offer(AUTHOR)
    assert measured is not None
    assert measured.run == compared[0].after.id
    judged_app.tuning.production.promote(ADMIN, measured.run, reason="it is recommended")
    assert judged_app.platform.settings.production().config == offer.config
    assert recommendation.offer(AUTHOR) is None
    with pytest.raises(BadInput, match="Nothing is offered"):
        recommendation.measure(AUTHOR)
    reranked = '{"base": "documents-0.9", "rerank": "always", "rerank_blend": 0.7}'
    judged_app.tuning.production.promote(ADMIN, profile="local", config=reranked, reason="a reranker upon it")
    assert recommendation.offer(AUTHOR) is None


def test_a_recommendation_that_was_declined_is_not_offered_again(judged_app: App) -> None:
    recommendation = judged_app.tuning.recommendation
    with pytest.raises(BadInput, match="Say why"):
        recommendation.decline(ADMIN, " ")
    with pytest.raises(Refused):
        recommendation.decline(AUTHOR, "We like ours.")
    recommendation.decline(ADMIN, "We like ours.")
    assert recommendation.offer(AUTHOR) is None
