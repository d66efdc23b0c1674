"""Evaluation and Tuning under AppTest: every state they can be in, what they do, and whom they refuse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.access import Actor
from core.bootstrap import App
from core.errors import BadInput, Refused
from core.evaluation.querysets.queryset import Question
from core.evaluation.reports.charts import ONE_HUE, heatmap
from core.evaluation.reports.report import html
from core.evaluation.runs.comparisons import leaderboard
from core.evaluation.runs.run import Run, distinct, latest, over_commits
from core.evaluation.statistics import compare
from core.services.evaluation.runs import RunPlan
from core.services.playground.compare import Column
from core.services.tuning.learning import LearnedPart, LearningReport
from core.services.tuning.production import ProductionSettings
from core.services.tuning.sweeps import SweepScope
from pages.ui import charts, flash
from tests.conftest import NoProcesses, ScriptedLlm, SmallModels, demo, forget_app, put, serve, small_app
from tests.support.apptest import page_of
from tests.support.apptest import plain_words as words
from tests.support.evaluated import ADMIN, AUTHOR, evaluated, questions

pytestmark = pytest.mark.usefixtures("few_trees")
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def judged_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged workspace, made once."""
    return evaluated(small_app(tmp_path_factory.mktemp("judged") / "home", NoProcesses())).settings.home


@pytest.fixture
def kb(judged_home: Path, tmp_path: Path) -> App:
    """A copy of it; its jobs wait for the test to do them."""
    shutil.copytree(judged_home, tmp_path / "home")
    return small_app(tmp_path / "home", NoProcesses())


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open a page on a workspace, as a persona."""

    def go(page: str, where: App, persona: str = "admin", framed: bool = False, **query: str) -> AppTest:
        serve(where, monkeypatch)
        return page_of(page, persona, framed=framed, **query)

    return go


def ran(what: Any) -> AppTest:
    """Run a page, or a widget that was just touched."""
    app: AppTest = what.run()
    assert not app.exception, app.exception
    return app


def work(app: App) -> None:
    """Do every job that waits."""
    for job in app.platform.jobs.recent():
        if job.open:
            done = app.platform.jobs.run(job.id, app.platform.workspace.works)
            assert done.state == "done", done.error


def figure(app: AppTest, key: str) -> Any:
    found = next(one for one in app.get("plotly_chart") if key in one.proto.id)
    return json.loads(found.proto.spec)


def measured(kb: App, *configs: str) -> App:
    kb.evaluation.runs.evaluate("small", [kb.evaluation.runs.plan("", config) for config in configs])
    return kb


# ---------------------------------------------------------------- nothing yet


@pytest.mark.parametrize("page", ["evaluation", "tuning"])
def test_without_an_index_both_pages_say_what_is_missing(visit: Open, tmp_path: Path, page: str) -> None:
    assert "There is no index yet" in words(visit(page, small_app(tmp_path / "empty", NoProcesses())))


def test_without_a_query_set_the_pages_say_how_to_make_one(visit: Open, tmp_path: Path) -> None:
    bare = small_app(tmp_path / "bare", NoProcesses())
    put(bare, {"a.md": "---\nanswers:\n  - What is one?\n---\n# One\n\nWords about one thing.\n"})
    bare.index.builder.build(bare.platform.settings.profile())
    app = visit("evaluation", bare)
    assert "No query set yet" in words(app)
    assert app.button(key="make_playground").disabled
    tuning = visit("tuning", bare)
    assert "No query set yet" in words(tuning)
    tuning.button(key="take_answers").click().run()
    assert [(each.name, each.questions) for each in bare.evaluation.querysets.all()] == [("frontmatter", 1)]
    assert "No query set yet" not in words(tuning)


@pytest.mark.parametrize("page", ["evaluation", "tuning"])
def test_readers_reach_neither(visit: Open, kb: App, page: str) -> None:
    app = visit(page, kb, persona="reader")
    assert "Not for this role" in words(app)
    assert not app.selectbox


# ---------------------------------------------------------------- query sets


def test_known_items_are_generated_as_a_job_and_listed(visit: Open, kb: App) -> None:
    app = visit("evaluation", kb, persona="author")
    app.text_input(key="make_name").set_value("found")
    ran(app.button(key="make_go").click())
    assert "Making questions as job" in words(app)
    work(kb)
    made = kb.evaluation.querysets.get("found")
    assert len(made.questions) > 20
    after = visit("evaluation", kb)
    assert "found" in after.selectbox(key="set").options
    assert "Paraphrases by a language model: none is configured, so they are by rules." in words(after)


def test_known_items_are_made_without_the_model_where_it_is_not_wanted(visit: Open, kb: App) -> None:
    kb = small_app(kb.settings.home, NoProcesses(), llm="openai:scripted")
    llm = ScriptedLlm("A heading in other words")
    kb.evaluation.jobs.generator = replace(kb.evaluation.generator, models=SmallModels(llm))
    kb = replace(kb, evaluation=replace(kb.evaluation, generator=kb.evaluation.jobs.generator))
    app = visit("evaluation", kb, persona="author")
    app.text_input(key="make_name").set_value("by-rules")
    app.checkbox(key="make_asks").uncheck()
    ran(app.button(key="make_go").click())
    work(kb)
    assert len(kb.evaluation.querysets.get("by-rules").questions) > 20
    assert llm.asked == []


def test_guidelines_that_another_tab_wrote_are_shown_before_they_are_replaced(visit: Open, kb: App) -> None:
    first, second = (visit("evaluation", kb, set="small") for _ in range(2))
    for page, text in ((first, "Grade the passage."), (second, "Grade the document.")):
        page.text_area(key="guide_small").set_value(text)
        ran(page.button(key="guide_keep").click())
    assert kb.evaluation.querysets.guidelines(ADMIN, "small") == "Grade the passage."
    assert "Grade the passage." in [block.value for block in second.code]
    ran(second.button(key="guide_keep").click())
    assert kb.evaluation.querysets.guidelines(ADMIN, "small") == "Grade the document."


def test_a_map_of_heat_is_as_dark_as_its_page() -> None:
    chart = heatmap(["a"], ["b"], [[0.5]], "nDCG")
    scales = [charts.themed(chart, dark)["data"][0]["colorscale"] for dark in (False, True)]
    assert scales[0] == ONE_HUE
    assert [int(colour[1:3], 16) < 64 for scale in scales for _, colour in scale] == [False, False, True, True]


def test_what_people_judged_in_the_playground_becomes_a_query_set(visit: Open, kb: App) -> None:
    hits = kb.search.searcher.search("key3first apple").hits
    kb.playground.grades.judge(AUTHOR, "key3first apple", hits[0], 3)
    kb.playground.grades.judge(ADMIN, "key3first apple", hits[0], 2)
    kb.playground.grades.judge(ADMIN, "key3first apple", hits[1], 0)
    app = visit("evaluation", kb)
    ran(app.button(key="make_playground").click())
    made = kb.evaluation.querysets.get("playground")
    assert [question.text for question in made.questions] == ["key3first apple"]
    assert sorted((one.judge, one.grade) for one in made.judgments) == [
        (ADMIN.id, 0.0),
        (ADMIN.id, 2.0),
        (AUTHOR.id, 3.0),
    ]
    assert kb.evaluation.querysets.unmapped(demo("author"), "playground", kb.search.searcher.index()) == ()
    assert kb.evaluation.querysets.agreement(demo("author"), "playground")[0].places == 1
    with pytest.raises(BadInput, match="Nobody judged anything in the playground"):
        kb.evaluation.querysets.from_playground(ADMIN, ())


def test_an_upload_brings_good_lines_in_and_names_the_bad_ones(kb: App) -> None:
    sent = b"id,question,path,grade\n1,key3first where,b/doc3.md,1\n2,two,a/doc2.md,many\n"
    made, problems = kb.evaluation.querysets.read_upload(AUTHOR, "../My Set.csv", sent)
    assert (made.name, len(made.judgments)) == ("my-set", 1)
    assert [problem.line for problem in problems] == [3]
    with pytest.raises(BadInput, match="neither CSV nor JSONL"):
        kb.evaluation.querysets.read_upload(AUTHOR, "set.exe", sent)
    with pytest.raises(Refused, match="keep a query set"):
        kb.evaluation.querysets.read_upload(demo("reader"), "set.csv", sent)


def test_a_question_and_its_judgment_are_edited_on_the_page(visit: Open, kb: App) -> None:
    app = visit("evaluation", kb, set="small")
    ran(app.selectbox(key="edited_question").select("q0first"))
    app.text_input(key="text_q0first").set_value("what key0first says")
    ran(app.button(key="save_q0first").click())
    app.text_input(key="note_q0first_0").set_value("word for word")
    app.selectbox(key="grade_q0first_0").select(2.0)
    ran(app.button(key="judged_q0first_0").click())
    kept = kb.evaluation.querysets.get("small")
    assert kept.questions[0].text == "what key0first says"
    judged = next(judgment for judgment in kept.judgments if judgment.question == "q0first")
    assert (judged.grade, judged.note, judged.source, judged.judge) == (2.0, "word for word", "person", "admin")
    ran(app.button(key="unjudged_q0first_0").click())
    assert all(judgment.question != "q0first" for judgment in kb.evaluation.querysets.get("small").judgments)


def test_what_an_import_left_out_is_counted_and_stays_listed(visit: Open, kb: App) -> None:
    sent = b"question,path,grade\nkey3first where,b/doc3.md,1\ntwo,a/doc2.md,many\n"
    kb.evaluation.querysets.read_upload(AUTHOR, "asked.csv", sent)
    app = visit("evaluation", kb, set="asked")
    assert "1 line of the last import left out" in [expander.label for expander in app.expander]


@pytest.mark.parametrize(
    ("form", "ending"), [("jsonl", "small.jsonl"), ("csv", "small.csv"), ("beir", "small-beir.zip")]
)
def test_a_set_is_exported_as_one_download(kb: App, form: str, ending: str) -> None:
    name, content = kb.evaluation.querysets.export(demo("author"), "small", form)
    assert name == ending
    assert (content[:2] == b"PK") == name.endswith("zip")


def test_judgments_that_lost_their_place_are_listed(visit: Open, kb: App) -> None:
    put(kb, {"b/doc3.md": None})
    kb.index.builder.build(kb.platform.settings.profile())
    app = visit("evaluation", kb)
    assert any("2 judgments without a place" in one.label for one in app.expander)


# ---------------------------------------------------------------- runs


def test_a_run_is_started_shown_in_progress_and_can_be_cancelled(visit: Open, kb: App) -> None:
    app = visit("evaluation", kb, persona="author", evaluation_tab="Runs")
    assert "No run yet" in words(app)
    app.multiselect(key="run_configurations").set_value(["Production", "BM25"])
    ran(app.button(key="run_start").click())
    (job,) = [one for one in kb.platform.jobs.recent() if one.kind == "evaluate"]
    assert [config for _, config in job.arguments["pairs"]] == [
        '{"base": "convex-0.5", "depth": 30}',
        '{"base": "bm25", "depth": 30}',
    ]
    ran(app.button(key=f"stop_{job.id}").click())
    with pytest.raises(Refused):
        kb.evaluation.jobs.cancel(demo("reader"), job.id)
    assert kb.platform.jobs.run(job.id, kb.platform.workspace.works).state == "cancelled"


def test_runs_are_ranked_compared_and_lead_to_the_playground(visit: Open, kb: App) -> None:
    measured(kb, "", "bm25", "dense", '{"base": "documents-0.9", "rerank": "unsure", "tau": 0.7, "rerank_blend": 0.7}')
    app = visit("evaluation", kb, evaluation_tab="Runs", framed=True)
    said = words(app)
    assert "has the highest nDCG@10" in said
    assert "on 48 questions" in said
    board = figure(app, "board_chart")["data"][0]
    assert {"BM25", "Vectors", "Conditional rerank", "Convex 0.5 · production"} == set(board["y"])
    assert len(set(board["marker"]["color"])) == 4
    heat = figure(app, "board_heat")["data"][0]
    assert heat["x"] == ["first", "second"]
    assert "3 comparisons with production" in said
    runs = [kb.evaluation.runs.get(run.id) for run in kb.evaluation.runs.all("small")]
    ranking = leaderboard(runs, baseline=kb.evaluation.runs.serving(runs))
    sentences = [row.against.sentence for row in ranking if row.against]
    raw = " ".join(str(element.value) for element in app.markdown)
    assert len(sentences) == 3
    assert list(board["x"]) == [round(row.against.difference.mean if row.against else 0, 4) for row in ranking][::-1]
    assert [one for one in sentences if flash.plain(one) not in raw] == [], "whole sentences, which wrap"
    bm25, dense = (
        next(run.id for run in kb.evaluation.runs.all("small") if run.name == name) for name in ("bm25", "dense")
    )
    app.selectbox(key="versus_before").set_value(dense)
    ran(app)
    ran(app.selectbox(key="versus_after").set_value(bm25))
    assert "Better by" in words(app)
    assert "Wins · ties · losses" in words(app)
    app.button(key="versus_open").click().run()
    link = app.query_params["link"]
    setup = kb.playground.notebook.opened(ADMIN, link if isinstance(link, str) else link[0])
    assert [column.config.legs for column in setup.columns] == [("dense",), ("bm25",)]
    assert isinstance(setup.columns[0], Column)


def test_one_category_is_no_heat_map(visit: Open, kb: App) -> None:
    one = replace(questions(), name="one", questions=tuple(replace(q, category="all") for q in questions().questions))
    kb.evaluation.querysets.keep(ADMIN, one)
    kb.evaluation.runs.evaluate("one", [kb.evaluation.runs.plan("", config) for config in ("bm25", "dense")])
    app = visit("evaluation", kb, set="one", evaluation_tab="Runs")
    assert "All questions belong to one category: all." in words(app)
    with pytest.raises(StopIteration):
        figure(app, "board_heat")


def test_one_run_is_compared_with_nothing_in_a_chart(visit: Open, kb: App) -> None:
    measured(kb, "bm25")
    app = visit("evaluation", kb, evaluation_tab="Runs")
    assert "has the highest nDCG@10" in words(app)
    assert figure(app, "board_heat")["data"]
    with pytest.raises(StopIteration):
        figure(app, "board_chart")


def test_the_trend_begins_with_the_second_commit(visit: Open, kb: App) -> None:
    measured(kb, "bm25", "dense")
    first = words(visit("evaluation", kb, evaluation_tab="Runs"))
    assert "Measured at one commit so far" in first
    assert "Some runs saw an older commit" not in first
    put(kb, {"c/new.md": "# New\n\nkey1first again and apple.\n"})
    kb.index.builder.build(kb.platform.settings.profile())
    measured(kb, "bm25")
    page = visit("evaluation", kb, evaluation_tab="Runs")
    assert len(figure(page, "trend")["data"][0]["x"]) == 2
    said = [str(element.value) for element in page.main if element.type in ("warning", "markdown")]
    mixed, leads = (
        next(n for n, text in enumerate(said) if part in text) for part in ("older commit", "has the highest")
    )
    assert mixed < leads, "a board of two commits says so before its first number"
    runs = [run for run in kb.evaluation.runs.all("small") if run.name == "bm25"]
    assert [run.commit for run in over_commits(runs, runs[0])] == [runs[1].commit, runs[0].commit]
    assert latest(runs) == (runs[0],)
    assert len(set(distinct(runs, dict.fromkeys((run.id for run in runs), "same")).values())) == 2


def test_a_report_holds_every_run(visit: Open, kb: App) -> None:
    measured(kb, "bm25", "dense")
    runs = [kb.evaluation.runs.get(run.id) for run in kb.evaluation.runs.all("small")]
    made = kb.evaluation.runs.report(demo("author"), runs)
    assert [part.title for part in made.parts][:2] == ["Leaderboard", "Leaderboard with intervals"]
    page = html(made)
    assert "Plotly.newPlot" in page
    assert all(run.id in page for run in runs)


# ---------------------------------------------------------------- tuning


def test_tuning_opens_on_the_set_of_production_whatever_others_made_meanwhile(visit: Open, kb: App) -> None:
    def opened() -> tuple[str, str]:
        app = visit("tuning", kb)
        return app.selectbox(key="set").value, next(c.value for c in app.caption if c.value.startswith("Measured on"))

    kb.evaluation.querysets.keep(ADMIN, replace(questions(), name="made-by-others"))
    assert opened() == ("small", "Measured on **small**: it is the oldest.")
    measured(kb, "convex-0.5")
    authored = tuple(replace(judgment, source="frontmatter") for judgment in questions().judgments)
    kb.evaluation.querysets.keep(ADMIN, replace(questions(), name="authors", judgments=authored))
    assert opened()[0] == "authors"
    kb.tuning.production.promote(
        ADMIN, measured(kb, "bm25").evaluation.runs.listed(ADMIN, "small")[0].id, reason="A try."
    )
    assert opened() == ("small", "Measured on **small**: production was promoted on it.")


def test_moving_alpha_moves_numbers_and_bars_of_the_whole_query_set(visit: Open, kb: App) -> None:
    app = visit("tuning", kb, persona="author")
    before = figure(app, "tune_bars")["data"]
    assert before[0]["y"] == before[1]["y"], "sliders start where production stands"
    ran(app.slider(key="tune_alpha").set_value(0.0))
    after = figure(app, "tune_bars")["data"]
    assert after[0]["y"] == before[0]["y"]
    assert after[1]["y"] != before[1]["y"]
    data = kb.tuning.sweeps.load(demo("author"), "small", SweepScope(depth=50))
    expected = kb.tuning.sweeps.measure_at(
        data, kb.evaluation.runs.plan("", '{"base": "convex-0", "depth": 30}').config
    )
    assert app.metric[0].value == f"{expected.overall.mean:.3f}"
    ran(app.selectbox(key="tune_fusion").set_value("rrf"))
    assert figure(app, "tune_bars")["data"][1]["y"] != after[1]["y"]
    assert "Against production" in words(app)
    ran(app.toggle(key="tune_rerank").set_value(True))
    slider = app.select_slider(key="tune_tau")
    share = next(text for text in slider.options if text.startswith("0.70: ")).removeprefix("0.70: ")
    assert share.removesuffix(" reranked") == app.metric[1].value, "the slider says what the figures say"
    assert app.metric[0].value == "–", "what reranking gains is not known before tau is calibrated"
    assert "Against production" not in words(app)
    ran(app.selectbox(key="tune_fusion").set_value("convex"))
    assert app.session_state["tune_tau"] == 0.7, "another fusion moves no tau"


def test_the_desk_shows_the_curve_the_best_production_and_where_one_stands(visit: Open, kb: App) -> None:
    app = visit("tuning", kb)
    curve = figure(app, "tune_curve")
    band, line = curve["data"]
    assert len(band["x"]) == 2 * len(line["x"]) == 202, "101 alphas with their interval"
    named = [mark["text"] for mark in curve["layout"]["annotations"]]
    assert named == [f"best {curve['layout']['shapes'][0]['x0']:.2f}", "production 0.50", "here 0.50"]
    assert not [trace["name"] for trace in figure(app, "alpha_categories")["data"] if "_" in trace["name"]]
    assert "The evidence is thin" in words(app) or "the evidence is thin" in words(app)
    best = curve["layout"]["shapes"][0]["x0"]
    assert f"the best is {best:.2f}" in words(app)
    ran(app.button(key="alpha_take").click())
    assert app.session_state["tune_alpha"] == best
    assert ", the best." in words(app)


def test_tau_is_calibrated_as_a_job_and_shown_with_its_interval(visit: Open, kb: App) -> None:
    app = visit("tuning", kb, persona="author", tuning_tab="Tau")
    assert "Tau is not calibrated" in words(app)
    assert "in the background" in words(app)
    ran(app.selectbox(key="tau_rule").set_value("precision"))
    app.number_input(key="tau_beta").set_value(0.05)
    app.number_input(key="tau_least").set_value(2)
    ran(app)
    ran(app.button(key="tau_go").click())
    work(kb)
    app = visit("tuning", kb, tuning_tab="Tau")
    band, line = figure(app, "tau_precision")["data"]
    assert len(band["x"]) == 2 * len(line["x"])
    assert "At tau" in words(app)
    desk = visit("tuning", kb)
    assert [trace.get("xaxis", "x") for trace in figure(desk, "tune_curve")["data"]] == ["x", "x", "x2", "x2"]
    assert "0% reranked" in words(desk)


def test_all_that_questions_teach_is_learned_with_one_button(visit: Open, kb: App) -> None:
    app = visit("tuning", kb, tuning_tab="Learn")
    assert "Nothing was learned yet" in words(app)
    assert not app.button(key="learning_go").disabled
    job = kb.evaluation.jobs.learn(demo("admin"))
    waiting = visit("tuning", kb, tuning_tab="Learn")
    assert waiting.button(key="learning_go").disabled
    assert "Nothing was learned yet" not in words(waiting)
    kb.evaluation.jobs.cancel(demo("admin"), job.id)
    gap = compare([0.5] * 60, [0.75] * 4 + [0.5] * 56)
    parts = (
        LearnedPart("Ranker", "Keep production.", "small-ranker", gain=gap),
        LearnedPart("Embedder", "Not learned: no torch."),
    )
    report = LearningReport(("small",), 60, parts)
    kb.evaluation.jobs.keep_result(demo("admin"), "learn-all", report.plain(), querysets=["small"])
    shown = words(visit("tuning", kb, persona="author", tuning_tab="Learn"))
    assert f"About {report.more:,} more judged questions would tell" in shown
    assert "Embedder: Not learned: no torch." in shown
    (run,) = kb.evaluation.runs.evaluate("small", [kb.evaluation.runs.plan("", "bm25")])
    unsettled = replace(report, best="Ranker", run=run.id, judged=gap)
    kb.evaluation.jobs.keep_result(demo("admin"), "learn-all", unsettled.plain(), querysets=["small"])
    app = visit("tuning", kb, tuning_tab="Learn")
    assert not app.success
    assert ["Look before you promote it" in box.value for box in app.info] == [True]
    ran(app.button(key="learning_weigh").click())
    assert (app.session_state["tuning_tab"], app.selectbox(key="promote_run").value) == ("Production", run.id)
    promoted = replace(unsettled, promoted=True).plain()
    kb.evaluation.jobs.keep_result(demo("admin"), "learn-all", promoted, querysets=["small"])
    app = visit("tuning", kb, tuning_tab="Learn")
    assert ["Ranker wins and is in production now" in box.value for box in app.success] == [True]
    assert not [button for button in app.button if button.key == "learning_weigh"]


# ---------------------------------------------------------------- production


def test_an_author_may_look_but_promotion_is_refused_in_the_rules_words(visit: Open, kb: App) -> None:
    measured(kb, "bm25")
    app = visit("tuning", kb, persona="author", tuning_tab="Production")
    assert "Only admins may change what is in production" in words(app)
    assert app.button(key="promote").disabled
    from pages.ui.tuning import production

    with pytest.raises(Refused, match="Only admins may change what is in production"):
        production.promote(demo("author"), kb.evaluation.runs.all("small")[0].id, "please")


def test_an_admin_promotes_with_evidence_and_rolls_back_and_the_audit_knows(visit: Open, kb: App) -> None:
    from pages.ui.tuning import production

    kb.evaluation.querysets.drop(ADMIN, "small")
    kb.evaluation.querysets.keep(ADMIN, questions(each=3))
    kb.tuning.production.promote(ADMIN, config="dense", reason="to start from something weak")
    run = kb.evaluation.runs.evaluate("small", [kb.evaluation.runs.plan("", '{"base": "bm25", "depth": 9}')])[0].id
    app = visit("tuning", kb, tuning_tab="Production")
    assert "Against production: Better by" in words(app)
    assert not app.button(key="promote").disabled, "the evidence is reason enough"
    ran(app.button(key="promote").click())
    assert "questions that nothing is chosen on" in words(app)
    assert f"Run {run} on small, " in words(app)
    assert production.promote(demo("admin"), run, "") == "BM25 is in production now."
    assert kb.platform.settings.production().config.legs == ("bm25",)
    app = visit("tuning", kb, tuning_tab="Production")
    assert "Everybody searches with **BM25** on local" in words(app)
    ran(app.button(key="unpromote").click())
    assert "BM25 goes out of production." in words(app)
    production.roll_back(demo("admin"))
    assert kb.platform.settings.production().config.legs == ("dense",)
    entries = kb.people.audit.entries(Actor("ann", "Ann", "ann@example.org", "admin"), limit=20)
    noted = [entry for entry in entries if "promote" in entry.action or "production" in entry.action][:3]
    assert [entry.action for entry in noted] == ["roll back production", "promote", "promote"]
    assert noted[1].what.startswith("bm25 on local")
    assert "Better by" in noted[1].detail
    assert list(kb.people.audit.problems()) == []


def test_without_evidence_the_button_waits_for_a_reason_that_speaks_for_one_run(visit: Open, kb: App) -> None:
    measured(kb, "dense", "rrf-60")
    app = visit("tuning", kb, tuning_tab="Production")
    assert app.button(key="promote").disabled
    run = app.selectbox(key="promote_run").value
    ran(app.text_input(key=f"promote_reason_{run}").set_value("agreed in the meeting"))
    assert not app.button(key="promote").disabled
    ran(app.selectbox(key="promote_run").select_index(1))
    assert app.button(key="promote").disabled


def test_a_run_on_older_questions_is_offered_and_one_that_cannot_be_promoted_is_measured_again(
    visit: Open, kb: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(kb, "bm25")
    kept = kb.evaluation.querysets.get("small")
    kb.evaluation.querysets.keep(ADMIN, replace(kept, questions=(*kept.questions, Question("late", "who came late?"))))
    app = visit("tuning", kb, tuning_tab="Production")
    assert app.selectbox(key="promote_run").options == ["BM25, measured on older questions"]
    assert "Against production" in words(app), "it was measured again"

    def gone(self: ProductionSettings, run: Run) -> RunPlan:
        raise BadInput("The profile 'local' is not the one of the run any more. Run it again.")

    monkeypatch.setattr(ProductionSettings, "_plan_of", gone)
    forget_app()
    app = visit("tuning", kb, tuning_tab="Production")
    assert "This run cannot be promoted. The profile 'local' is not the one of the run any more" in words(app)
    ran(app.button(key="measure_again").click())
    (job,) = [job for job in kb.platform.jobs.recent() if job.open]
    assert (job.kind, job.arguments["queryset"]) == ("evaluate", "small")


def test_what_must_rerank_first_is_measured_in_the_background(visit: Open, kb: App) -> None:
    kb.tuning.production.promote(ADMIN, config="convex-0.5+rerank", reason="to start from something slow")
    measured(kb, "bm25")
    app = visit("tuning", kb, tuning_tab="Production")
    assert "Production must rerank these questions first" in words(app)
    ran(app.button(key="measure_due").click())
    work(kb)
    assert "Against production" in words(visit("tuning", kb, tuning_tab="Production"))


def test_a_loss_of_production_is_marked(visit: Open, kb: App) -> None:
    measured(kb, "")
    kb.evaluation.jobs.drift(demo("author"))
    work(kb)
    assert "small: nothing to compare with yet." in words(visit("tuning", kb, tuning_tab="Production"))
    put(kb, {"z/unrelated.md": "# Unrelated\n\nNothing that anybody asks for.\n"})
    kb.index.builder.build(kb.platform.settings.profile())
    kb.evaluation.jobs.drift(demo("author"))
    work(kb)
    assert "No loss found" in words(visit("tuning", kb, tuning_tab="Production"))
    asked = kb.evaluation.querysets.get("small").questions
    put(kb, {f"z/{one.id}.md": f"# {one.text}\n\n{one.text} and {one.text}.\n" for one in asked})
    kb.index.builder.build(kb.platform.settings.profile())
    kb.evaluation.jobs.drift(demo("author"))
    work(kb)
    assert "Production lost quality on small" in words(visit("tuning", kb, tuning_tab="Production"))
