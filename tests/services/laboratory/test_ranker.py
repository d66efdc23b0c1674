"""`tune learn` and its rankers: features that people can read, trees that start from the fused order, evidence on
unseen questions.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from core import strict
from core.bootstrap import App
from core.curation.words.pins import Pin
from core.errors import BadInput, Corrupt, NotFound, Refused
from core.evaluation.learning.lambdamart import RankingExample, fit, measured, ordered_documents, predicted
from core.evaluation.querysets.queryset import QuerySet, choosing, once
from core.evaluation.statistics import compare
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.candidates import fuse
from core.retrieval.method_values import CandidateFeatures, RankerModel
from core.retrieval.presets import spell
from core.retrieval.rerankers.features import ABOUT, features, names_of
from core.retrieval.rerankers.learned import RANKER, purpose, scored
from core.services.evaluation.runs import RunPlan
from core.services.tuning.learning import LearnedPart, Learning, LearningReport
from core.services.tuning.rankers import is_listed, unlisted
from tests.conftest import demo
from tests.services.laboratory.test_embedder import NotingTrainer
from tests.support.evaluated import ADMIN, judged, questions

pytestmark = pytest.mark.usefixtures("few_trees")
NAMES = names_of(("bm25", "dense"))
CONFIG = replace(configs.parse("convex-0.5"), depth=9)


def examples(count: int = 40, told: bool = True) -> list[RankingExample]:
    """Questions whose right document stands in the middle of the fused order; with `told`, its title gives it away."""
    rng = np.random.default_rng(3)
    made = []
    for n in range(count):
        values = rng.random((8, len(NAMES))).astype(np.float32)
        values[:, 0], right = np.linspace(1, 0, 8), int(rng.integers(2, 6))
        values[:, NAMES.index("title match")] = np.arange(8) == right if told else 0.0
        table = CandidateFeatures(tuple(range(8)), NAMES, values)
        made.append(RankingExample(f"set q{n}", table, tuple(range(8)), {right: 1.0}))
    return made


def test_trees_learn_what_gives_the_right_document_away_and_name_it() -> None:
    fitted = fit(examples())
    before = np.mean(
        [measured(e, start) for e, start in zip(examples(), predicted(fitted.booster, examples(), 0), strict=True)]
    )
    after = np.mean([measured(example, fitted.crossfit[example.question]) for example in examples()])
    assert after > before + 0.2
    assert fitted.rounds > 0
    assert next(iter(fitted.importances)) == "title match"
    assert sum(fitted.importances.values()) == pytest.approx(1.0)


def test_where_nothing_can_be_learned_no_tree_is_kept_and_the_order_stays() -> None:
    noise = examples(told=False)
    fitted = fit([replace(example, gains={0: 1.0}) for example in noise])
    assert fitted.rounds == 0
    assert fitted.plain == {}
    assert ordered_documents(noise[0], fitted.scores(noise[0])) == list(range(8))


def test_training_is_the_same_in_any_order_of_questions() -> None:
    assert fit(examples()).plain == fit(examples()[::-1]).plain
    with pytest.raises(BadInput, match="Only 9 judged questions to learn from; at least 30 are needed"):
        fit(examples(9))


def test_a_ranker_is_json_and_its_contributions_add_up_to_its_scores() -> None:
    fitted, example = fit(examples()), examples()[0]
    model = RankerModel("r", "x", NAMES, fitted.plain)
    again = RANKER.from_json(RANKER.to_json(model), "r.json")
    scores, parts = scored(again, example.table)
    np.testing.assert_allclose(scores, fitted.scores(example), atol=1e-4)
    np.testing.assert_allclose(parts.sum(axis=1), scores, atol=1e-4)
    with pytest.raises(Corrupt, match="is not a ranker"):
        RANKER.from_json('{"name": 1}', "r.json")
    with pytest.raises(Corrupt, match="format 9"):
        RANKER.from_json(RANKER.to_json(replace(model, format=9)), "r.json")
    with pytest.raises(Corrupt, match="trees of the ranker cannot be read"):
        scored(replace(model, booster={"learner": "none"}), example.table)
    with pytest.raises(Refused, match="other features"):
        scored(replace(model, features=NAMES[1:]), example.table)


def test_a_ranker_serves_only_the_way_of_searching_that_it_was_trained_for() -> None:
    model = RankerModel("r", purpose(CONFIG, "p"), NAMES, {})
    served = replace(CONFIG, rerank="always", reranker="learned", rerank_model="r", rerank_depth=30, k=3)
    RANKER.check_purpose(model, served, "p")
    for config, profile in ((replace(served, alpha=0.4), "p"), (served, "other")):
        with pytest.raises(Refused, match="trained for another"):
            RANKER.check_purpose(model, config, profile)


# ---------------------------------------------------------------- features


def test_every_feature_is_explained_and_read_from_the_index(judged_app: App) -> None:
    searcher = judged_app.search.searcher
    index = searcher.index()
    found = searcher.candidates(index, "key3first apple river", CONFIG)
    fused = fuse(found, CONFIG)
    table = features(list(fused.ranking), found, fused, index, date(2026, 11, 16))
    assert table.names == NAMES
    assert set(NAMES) <= set(ABOUT)
    values = dict(zip(NAMES, table.values[0].tolist(), strict=True))
    assert (values["fused score"], values["fused place"]) == (1.0, 1.0)
    assert 0 < values["words covered"] <= 1
    assert values["question length"] == 3
    shares = table.values[:, [NAMES.index(name) for name in NAMES if name.endswith((" score", " place", " covered"))]]
    assert np.nanmin(shares) >= 0
    assert np.nanmax(shares) <= 1


# ---------------------------------------------------------------- the service


@pytest.fixture
def judged_app(tmp_path: Path) -> App:
    app = judged(tmp_path / "home")
    app.evaluation.querysets.keep(ADMIN, questions(each=2, name="wide"))
    return app


def test_a_ranker_is_trained_measured_searched_with_and_promoted_with_evidence(judged_app: App) -> None:
    judged_app.tuning.production.promote(ADMIN, config=spell(replace(configs.parse("dense"), depth=9)), reason="weak")
    made = judged_app.tuning.rankers.train(ADMIN, ["wide"], config=CONFIG)
    assert made.learned_from + made.held_out.queries == made.unseen.queries
    file = judged_app.settings.home / "models" / "rankers" / "wide-ranker.json"
    assert RANKER.from_json(file.read_text(encoding="utf-8"), "r") == made.model, "it is plain JSON"
    assert strict.plain(made.model)["format"] == 1
    assert made.model.evidence["unseen"]["queries"] == made.unseen.queries
    result = judged_app.search.searcher.search("key3first", config=made.config)
    assert result.warnings == ()
    assert result.hits[0].reasons["order before"] > 0
    assert sum(result.hits[0].reasons.values()) == pytest.approx(result.hits[0].rerank_score, abs=0.02)
    assert "wide-ranker scored the top" in next(stage.note for stage in result.stages if stage.name == "rerank")
    run = judged_app.evaluation.runs.evaluate("wide", [RunPlan(judged_app.platform.settings.profile(), made.config)])[0]
    assert run.warnings == ()
    assert any(name.startswith("wide-ranker ") for name in run.models)
    judged_app.tuning.production.promote(ADMIN, run.id, reason="to see it serve")
    assert judged_app.platform.settings.production().config.rerank_model == "wide-ranker"
    again = judged_app.tuning.rankers.train(ADMIN, ["wide"], config=CONFIG)
    assert again.model.name == "wide-ranker-2", "what was promoted stays as it is"


def test_a_ranker_that_does_not_win_is_advised_against(judged_app: App) -> None:
    made = judged_app.tuning.rankers.train(ADMIN, ["wide"], config=configs.parse('{"base": "bm25", "depth": 9}'))
    again = replace(made, rounds=0)
    assert again.advice.startswith("Keep production: in folds no tree")
    assert not again.wins
    worse = replace(made, rounds=50, unseen=replace(made.unseen, verdict="no difference that matters"))
    assert worse.advice.startswith("Keep production: the ranker is not shown to be better (nDCG@10")


def test_too_few_questions_a_missing_ranker_and_other_roles_are_refused_in_plain_words(judged_app: App) -> None:
    judged_app.evaluation.querysets.keep(ADMIN, questions(each=1, name="few"))
    with pytest.raises(BadInput, match="needs at least 30 judged questions to learn from and as many that it has not"):
        judged_app.tuning.rankers.train(ADMIN, ["few"], config=CONFIG)
    with pytest.raises(BadInput, match="Name at least one query set"):
        judged_app.tuning.rankers.train(ADMIN, [], config=CONFIG)
    with pytest.raises(Refused):
        judged_app.tuning.rankers.train(demo("author"), ["wide"], config=CONFIG)
    with pytest.raises(NotFound, match="There is no ranker 'none'"):
        judged_app.search.searcher.rankers.model("none")
    config = replace(CONFIG, rerank="always", reranker="learned")
    for model, said in (("", "names no ranker"), ("gone", "There is no ranker 'gone'")):
        result = judged_app.search.searcher.search("key3first", config=replace(config, rerank_model=model))
        assert said in result.warnings[0]
        assert result.hits


# ---------------------------------------------------------------- everything in one step


def test_where_no_part_wins_production_stays_and_the_report_says_so(judged_app: App) -> None:
    before = judged_app.platform.settings.production()
    report = judged_app.tuning.learning.learn(ADMIN, ["small"])
    assert [part.title for part in report.parts] == ["Alpha per question", "Ranker", "Embedder"]
    trained = [part for part in report.parts if part.gain]
    assert [part.name for part in trained] == ["small-ridge"]
    assert [part.sentence.split(":")[0] for part in report.parts if part.gain is None] == ["Not learned"] * 2
    assert (report.run, report.promoted) == ("", False)
    assert report.advice.startswith("Nothing wins, so production stays")
    assert judged_app.platform.settings.production() == before
    assert report.plain()["questions"] == report.questions == len({row.question for row in questions().judgments})


def test_the_part_that_wins_on_unseen_questions_is_promoted_with_its_evidence(judged_app: App) -> None:
    judged_app.tuning.production.promote(ADMIN, config=spell(replace(CONFIG, alpha=0.9)), reason="weak")
    judged_app.tuning.embedders.trainer = NotingTrainer(judged_app.settings.home)
    report = judged_app.tuning.learning.learn(ADMIN, ["wide"])
    parts = {part.title: part for part in report.parts}
    assert all(part.gain for part in parts.values()), "every part was learned"
    assert not parts["Embedder"].wins, "the same vectors cannot be better"
    assert (report.best, report.promoted) == ("Ranker", True)
    assert report.advice.startswith("Ranker wins and is in production now. Better by")
    production = judged_app.platform.settings.production()
    assert production.config.rerank_model == "wide-ranker"
    evidence = judged_app.tuning.production.history(ADMIN)[0].evidence
    assert (evidence["run"], evidence["verdict"]) == (report.run, "better")


def test_a_winner_waits_where_a_guardrail_loses_or_nobody_asked_for_it(
    judged_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_app.tuning.production.promote(ADMIN, config=spell(replace(CONFIG, alpha=0.9)), reason="weak")
    judged_app.tuning.embedders.trainer = NotingTrainer(judged_app.settings.home)
    before = judged_app.platform.settings.production()
    learning = judged_app.tuning.learning
    assert not learning.work({"querysets": ["wide"]}, lambda *_: None)["promoted"]

    def worse(actor, run, **_):
        return tuple(
            replace(one, overall=replace(one.overall, verdict="worse"))
            for one in (learning.production.evidence(actor, run),)
        )

    monkeypatch.setattr(learning.production, "guardrails", worse)
    report = learning.learn(ADMIN, ["wide"])
    assert (report.best, report.promoted) == ("Ranker", False)
    assert "Look before you promote it" in report.advice
    assert judged_app.platform.settings.production() == before


def test_more_questions_are_asked_for_only_where_there_is_a_gain_to_show() -> None:
    low, high = [0.5] * 40, [0.5] * 36 + [1.0, 1.0, 1.0, 0.0]
    gains, loses = (LearnedPart("", "", gain=compare(*pair)) for pair in ((low, high), (high, low)))
    assert gains.more > 0 == loses.more
    said = LearningReport((), 40, (loses,)).advice
    assert said == "Nothing wins, so production stays: it already searches as well as what was learned."
    assert LearningReport((), 40, (LearnedPart("", ""),)).advice.endswith("too few questions to learn from.")


def test_pins_grades_and_answers_teach_once(judged_app: App) -> None:
    own, index = judged_app.tuning.learning.own, judged_app.search.searcher.index()
    first = index.documents[0].path
    own.pins = lambda: (Pin("Where is the key?", first, also=("Key, where?",)), Pin("key3first apple river", first))
    hit = judged_app.search.searcher.search("key3first").hits[0]
    judged_app.playground.grades.judge(ADMIN, "where is  the key", hit, 2)
    taught = own.besides([])
    pinned = [one for one in taught.questions if one.category in ("pin", "playground")]
    assert [one.text for one in pinned] == ["Where is the key?", "Key, where?", "key3first apple river"]
    assert {one.source for one in taught.judgments if one.question == pinned[0].id} == {"pin", "person"}
    assert own.besides([taught]).questions == ()


def test_a_copy_of_a_query_set_teaches_nothing_twice_and_is_in_the_same_half(judged_app: App) -> None:
    wide, learning = judged_app.evaluation.querysets.get("wide"), judged_app.tuning.learning
    before = _taught(learning)
    renamed = {one.id: f"other-{one.id}" for one in wide.questions}
    copy = QuerySet(
        "imported",
        tuple(replace(one, id=renamed[one.id], text=f"{one.text}?") for one in wide.questions),
        tuple(replace(one, question=renamed[one.question]) for one in wide.judgments),
    )
    judged_app.evaluation.querysets.keep(ADMIN, copy)
    assert _taught(learning) == before
    first, second = choosing(wide.questions), choosing(copy.questions)
    assert {renamed[one] for one in first} == second


def _taught(learning: Learning) -> tuple[int, int]:
    """How many sets teach, and how many questions."""
    sets = learning._sets()
    return len(sets), sum(len(one.questions) for one in once(sets))


def test_after_enough_new_questions_it_is_learned_again_in_the_background_and_never_before_somebody_has(
    judged_app: App,
) -> None:
    learning, jobs = judged_app.tuning.learning, judged_app.evaluation.jobs

    def queued():
        return [job.kind for job in jobs.jobs.recent(9) if (job.kind, job.state) == ("learn-all", "queued")]

    learning.every = 1
    learning.follow(ADMIN)
    assert queued() == [], "nobody has learned yet"
    known = sum(len({one.question for one in each.judgments}) for each in learning._sets())
    jobs.keep_result(ADMIN, "learn-all", {"questions": known}, querysets=[])
    learning.follow(ADMIN)
    assert queued() == [], "nothing is new"
    judged_app.evaluation.querysets.keep(ADMIN, questions(each=1, seed=9, name="more"))
    learning.every = 1_000
    learning.follow(ADMIN)
    assert queued() == [], "not enough is new"
    learning.every = 1
    learning.follow(ADMIN)
    assert queued() == ["learn-all"]


def test_a_question_that_its_document_lists_is_not_found_by_itself_in_training() -> None:
    index = cast("Index", SimpleNamespace(answers={4: ("How do I file  a CTR?",), 7: ()}.__getitem__))
    assert is_listed("how do i file a ctr", {4: 1.0}, index)
    assert not is_listed("how do i file a ctr", {4: 0.0, 7: 1.0}, index), "by a document that does not answer it"
    table = examples(1)[0].table
    at = table.names.index("answers match")
    assert table.values[:, at].any()
    assert not unlisted(table).values[:, at].any()
    assert np.array_equal(np.delete(unlisted(table).values, at, axis=1), np.delete(table.values, at, axis=1))
