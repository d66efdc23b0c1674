"""The playground under AppTest: every state it can be in, and who may see it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import strict
from core.bootstrap import App
from core.errors import Unavailable
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.services.playground.where import Diagnosis, PassageRanks
from core.types import Filters
from pages.ui.playground.where import ranks
from tests.conftest import ROOT, ScriptedLlm, SmallModels, demo, indexed, put, serve, small_app
from tests.support.apptest import PATIENCE, all_drawn, page_of, words
from tests.support.small_kb import FILES

Open = Callable[..., AppTest]
QUERY = "file form 111"


@pytest.fixture(scope="module")
def played_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """A small workspace with an index of one profile."""
    return indexed(tmp_path_factory.mktemp("playground") / "home", FILES)


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, played_app: App) -> Open:
    """Open the playground on a setup, as a persona."""

    def go(setup: Setup | None = None, where: App = played_app, persona: str = "admin", **query: str) -> AppTest:
        serve(where, monkeypatch)
        if setup:
            query["link"] = where.playground.notebook.keep(demo("admin"), setup)
        return page_of("playground", persona, framed=False, **query)

    return go


def columns(*names: str, **change: object) -> tuple[Column, ...]:
    return tuple(Column("local", replace(presets()[name], **change), name) for name in names)


def drawn(app: AppTest) -> Any:
    """What the columns were given to draw."""
    (found,) = all_drawn(app, "playground")
    return found


def test_a_first_visit_shows_three_columns_that_wait_for_a_query(visit: Open) -> None:
    data = drawn(visit())
    assert [column["name"] for column in data["columns"]] == ["BM25", "Documents 0.9", "Conditional rerank"]
    assert [knob["knob"] for knob in data["columns"][2]["knobs"]] == ["alpha", "tau", "depth"]
    assert "hits" not in data["columns"][0]
    assert len({column["color"] for column in data["columns"]}) == 3


def test_running_a_query_fills_the_columns_and_keeps_a_link_and_a_history(visit: Open, played_app: App) -> None:
    app = visit()
    app.text_area(key="playground_q").set_value("  error   809 ")
    next(button for button in app.button if button.label == "Run").click().run()
    assert not app.exception, app.exception
    data = drawn(app)
    assert data["query"] == "error 809"
    assert data["columns"][0]["hits"][0]["doc"] == "IT-1"
    (link,) = [app.query_params["link"]] if isinstance(app.query_params["link"], str) else app.query_params["link"]
    notebook = played_app.playground.notebook
    assert notebook.opened(demo("admin"), link).query == "error 809"
    assert "error 809" in [asked.query for asked in notebook.history(demo("admin"))]


@pytest.mark.parametrize(
    "names", [("BM25",), ("BM25", "Vectors"), ("BM25", "Convex 0.3", "RRF 60", "Conditional rerank")]
)
def test_one_to_four_columns(visit: Open, names: tuple[str, ...]) -> None:
    data = drawn(visit(Setup(QUERY, columns(*names))))
    assert [column["letter"] for column in data["columns"]] == list("ABCD"[: len(names)])
    for n, column in enumerate(data["columns"]):
        assert [hit["rank"] for hit in column["hits"]] == list(range(1, len(column["hits"]) + 1))
        assert [pair["with"] for pair in column["pairs"]] == list("ABCD"[:n])
        assert all((hit["move"] is None) == (n == 0) for hit in column["hits"])
        for hit in column["hits"]:
            assert {"title", "heading", "version", "badges", "segments", "legs", "place", "sentence"} <= set(hit)


def test_a_hit_says_what_each_leg_gave(visit: Open) -> None:
    hit = drawn(visit(Setup(QUERY, columns("BM25", "Convex 0.3"))))["columns"][1]["hits"][0]
    assert [leg["label"] for leg in hit["legs"]] == ["Words (BM25)", "Meaning (vectors)"]
    assert sum(leg["part"] for leg in hit["legs"]) == pytest.approx(
        float(hit["sentence"].split()[2].rstrip(":")), abs=1e-3
    )
    assert any(matched for _, matched, _ in hit["segments"])
    assert sum(float(row[3]) for row in hit["words"]["rows"]) == pytest.approx(float(hit["legs"][0]["raw"]), abs=0.005)
    assert all((tf > 0) == (float(gives) > 0) for _, tf, _, gives in hit["words"]["rows"])


def test_reranking_and_a_second_look_explain_themselves_above_the_column(visit: Open) -> None:
    shown = columns("Conditional rerank", tau=0.0) + columns("Rerank always", "Two hops")
    data = drawn(visit(Setup(QUERY, shown)))
    assert data["columns"][0]["note"].startswith("Not reranked because the first hit answers with a chance of")
    assert data["columns"][1]["note"].startswith("Reranked always")
    assert data["columns"][2]["note"].startswith(("Second look from “", "No second look: "))
    assert all("note" in leg for leg in data["columns"][2]["hits"][0]["legs"])


def test_no_index_says_how_to_build_one(visit: Open, tmp_path: Path) -> None:
    data = drawn(visit(Setup(QUERY, columns("BM25", "Vectors")), small_app(tmp_path / "empty")))
    assert all("has no index yet" in column["error"] for column in data["columns"])
    assert data["profiles"] == []


def test_no_hits_is_an_empty_column_and_not_a_failure(visit: Open) -> None:
    data = drawn(visit(Setup("zzzz", columns("BM25", "Vectors"), Filters(folders=("nowhere",)))))
    narrowed = "The filters leave out every passage that matches."
    assert [(column["empty"], column["error"]) for column in data["columns"]] == [(narrowed, ""), (narrowed, "")]
    data = drawn(visit(Setup("zzzz", columns("BM25", "Vectors"))))
    assert [column["empty"] for column in data["columns"]] == ["No passage matches the question.", ""]


def test_a_failed_leg_is_named_in_its_columns_only(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, name: str) -> None:
        raise Unavailable("The model is not on this machine.")

    monkeypatch.setattr(SmallModels, "embedder", broken)
    data = drawn(visit(Setup(QUERY, columns("BM25", "RRF 60", "Vectors"))))
    assert data["columns"][0]["warnings"] == []
    assert data["columns"][1]["warnings"] == ["The dense leg failed: The model is not on this machine."]
    assert data["columns"][1]["hits"]
    assert "No leg could answer" in data["columns"][2]["error"]


def test_blind_judging_pools_the_columns_and_shows_no_ranks(visit: Open) -> None:
    page = visit(Setup(QUERY, columns("BM25", "Vectors"), blind=True))
    data = drawn(page)
    (tools,) = [one.proto for one in page.get("button_group") if "Look closer" in str(one.proto)]
    assert tools.disabled, "a tool would say who found what"
    assert data["blind"]
    assert all("hits" not in column for column in data["columns"])
    assert len(data["pool"]) == len({hit["chunk"] for hit in data["pool"]}) > 1
    assert {hit["rank"] for hit in data["pool"]} == {0}


def test_a_blind_judge_adds_what_the_list_lacks_and_rates_the_answer(visit: Open, played_app: App) -> None:
    app = played_app
    app.evaluation.querysets.keep(demo("admin"), QuerySet("lacking", (Question("q1", "cash over 10,000"),)))
    setup = Setup("cash over 10,000", columns("BM25"), blind=True, queryset="lacking", question="q1")
    page = visit(setup)
    listed = {hit["chunk"] for hit in drawn(page)["pool"]}
    page.text_input(key="playground_missing").set_value("error 809").run()
    missing = next(one for one in page.segmented_control if one.key and one.key.startswith("add_"))
    missing.set_value("2").run()
    assert not page.exception, page.exception
    new = missing.key.removeprefix("add_")
    data = drawn(page)
    assert {hit["chunk"] for hit in data["pool"]} == listed | {new}
    assert data["grades"][new] == 2
    assert [judgment.grade for judgment in app.evaluation.querysets.get("lacking").judgments] == [2.0]
    other = visit(setup, persona="reviewer")
    assert new in {hit["chunk"] for hit in drawn(other)["pool"]}
    assert new not in drawn(other)["grades"]
    assert "You added" not in words(other)
    assert "You added" in words(page)

    assert "Was it good?" not in words(page)
    page.button(key="show_first").click().run()
    assert "Currency reports" in words(page)
    page.segmented_control(key="rating").set_value("partly")
    page.text_input(key="rating_note").set_value("no deadline")
    next(each for each in page.button if each.label == "Keep" and not str(each.key).startswith("star_")).click().run()
    assert [
        (given.rating, given.note) for given in app.playground.pools.ratings(demo("admin"), "cash over 10,000")
    ] == [("partly", "no deadline")]
    page.button(key=f"out_{new}").click().run()
    assert {hit["chunk"] for hit in drawn(page)["pool"]} == listed


def test_grades_that_were_given_are_shown(visit: Open, played_app: App) -> None:
    app = played_app
    hit = app.search.searcher.search(QUERY).hits[0]
    app.playground.grades.judge(demo("admin"), QUERY, hit, 2)
    assert drawn(visit(Setup(QUERY, columns("BM25"))))["grades"] == {hit.chunk: 2}


def test_a_grade_scores_the_columns_and_a_long_passage_comes_whole(visit: Open, tmp_path: Path) -> None:
    made = small_app(tmp_path / "long")
    text = " ".join(f"Sentence {n} says how a claim is filed here." for n in range(40))
    put(made, {"long.md": f"# Claims\n\n{text}\n"})
    made.index.builder.build(made.platform.settings.profile())
    setup = Setup("claim filed", columns("BM25", "Vectors"), blind=True)
    data = drawn(visit(setup, made))
    cut = next(hit for hit in data["pool"] if hit["full"])
    assert "".join(part[0] for part in cut["full"]).split() > "".join(part[0] for part in cut["segments"]).split()
    assert data["scores"] == [None, None]
    hit = made.search.searcher.search("claim filed").hits[0]
    made.playground.grades.judge(demo("admin"), "claim filed", hit, 3, note="all of it")
    data = drawn(visit(setup, made))
    assert [score["judged"] for score in data["scores"]] == [1, 1]
    assert list(data["notes"].values()) == ["all of it"]


def test_a_query_set_is_judged_question_by_question(visit: Open, played_app: App) -> None:
    app = played_app
    asked = (Question("q1", "file form 112"), Question("q2", "error 809"), Question("q3", "fatigue"))
    app.evaluation.querysets.keep(demo("admin"), QuerySet("asked", asked, (Judgment("q1", "fin/ctr.md"),)))
    page = visit(judge="asked")
    assert "question 2 of 3" in words(page)
    assert drawn(page)["query"] == "error 809"
    page.button(key="judging_open").click().run()
    assert drawn(page)["query"] == "fatigue"
    page.button(key="judging_back").click().run()
    assert drawn(page)["query"] == "error 809"
    page.button(key="judging_stop").click().run()
    assert "question 2 of 3" not in words(page)


def test_the_alpha_strip_is_drawn_where_alpha_matters(visit: Open) -> None:
    app = visit(Setup(QUERY, columns("BM25", "Convex 0.3"), tool="Alpha strip"))
    (chart,) = app.get("plotly_chart")
    labels = [note["text"] for note in json.loads(chart.proto.spec)["layout"]["annotations"]]
    titles = [trace["name"].split(" › ")[0] for trace in json.loads(chart.proto.spec)["data"] if trace.get("name")]
    assert any(label.removesuffix("…") in title for label in labels for title in titles), (
        "a line is named by its document"
    )
    assert "changes at" in words(app)
    assert "No column weighs its legs by alpha" in words(visit(Setup(QUERY, columns("BM25"), tool="Alpha strip")))


def test_the_tau_line_says_where_a_query_stands(visit: Open) -> None:
    app = visit(Setup(QUERY, columns("BM25", "Conditional rerank"), tool="Tau line"))
    (chart,) = app.get("plotly_chart")
    heights = [note.get("yshift", 0) for note in json.loads(chart.proto.spec)["layout"]["annotations"]]
    assert len(set(heights)) == len(heights) == 2, "one label never stands on the other"
    assert re.search(r"[\d.]+, (not )?below tau 0.7: ", words(app).replace("\\", ""))
    assert "calibrate tau on the Tuning page" in words(app)
    assert "No column reranks by tau" in words(visit(Setup(QUERY, columns("BM25"), tool="Tau line")))


def test_where_is_my_document_names_the_cut_and_the_cure(visit: Open) -> None:
    app = visit(Setup(QUERY, columns("BM25", "RRF 60"), tool="Where is my document?", document="BSA-9"))
    assert words(app).count("It is superseded") == 2
    assert "Include history" in words(app)
    assert ":green-badge[file] in the text, 1 passage" in words(app)
    app.button(key="where_apply_0_filters").click().run()
    assert words(app).count("It is here, at rank") == 2, "filters are those of all columns"


def test_a_misspelt_question_is_offered_its_spelling_and_no_edit_of_the_document(visit: Open) -> None:
    app = visit(Setup("closd portt", columns("BM25"), tool="Where is my document?", document="IT-1"))
    assert "Add the missing words" not in words(app)
    button = next(one for one in app.button if str(one.key) == "where_spelling_0")
    assert button.label == "Search for “closed port”"
    button.click().run()
    assert drawn(app)["query"] == "closed port"


def test_a_passage_of_a_document_that_is_found_by_another_one_is_not_called_no_match() -> None:
    first, second = PassageRanks("a", (), 0, 9, {"dense": 2}), PassageRanks("b", (), 9, 20, {"dense": 0, "bm25": 0})
    found = Diagnosis("D", "Title", "d.md", 0, 10, "k", "", (first, second), size=36, unit="document")
    said = ranks(second, found).splitlines()
    assert said[0].strip() == "Meaning (vectors): another passage stands for the document"
    assert said[1].strip().endswith("no match")
    assert "2 of 36 documents" in ranks(first, found)


def test_a_suggested_change_is_applied_to_its_column_alone_and_its_name_follows(visit: Open) -> None:
    start = replace(presets()["Convex 0.3"], k=1)
    both = (Column("local", start, "Convex 0.3"), Column("local", start, "Convex 0.3"))
    app = visit(Setup("file form 112 or form 111 within days", both, tool="Where is my document?", document="BSA-1"))
    assert "**Smallest change:** Move alpha" in words(app)
    assert "a longer list, its rank stays" in words(app)
    app.button(key="where_apply_1_alpha").click().run()
    assert not app.exception
    names = [column["name"] for column in drawn(app)["columns"]]
    assert names[0] == "Convex 0.3"
    assert names[1].startswith("Convex 0.")
    assert names[1] != "Convex 0.3"
    assert words(app).count("It is here, at rank 1") == 1


def test_a_gap_is_reported_with_the_document_that_was_expected(visit: Open, played_app: App) -> None:
    app = visit(Setup(QUERY, columns("BM25"), tool="Where is my document?", document="IT-1"))
    app.button(key="where_gap").click().run()
    gap = played_app.knowledge.gaps.open(demo("author"))[0]
    assert (gap.query, gap.note) == (QUERY, "Expected: VPN (IT-1).")


def test_ask_without_a_model_says_what_to_configure_and_shows_an_extract(visit: Open) -> None:
    app = visit(Setup("error 809", columns("BM25"), tool="Ask"))
    app.button(key="ask_go").click().run()
    assert not app.exception
    assert "No language model is configured" in words(app)
    assert "Error 809 means the port is closed." in words(app)


def test_an_answer_stays_through_knobs_and_reruns_and_its_citations_lead_to_the_passage(
    visit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = ScriptedLlm("The port is closed [1].")
    monkeypatch.setattr(SmallModels, "llm", lambda self, name="": llm)
    app = visit(Setup("error 809", columns("BM25", "Convex 0.3"), tool="Ask"))
    assert "The port is closed" not in words(app)
    app.button(key="ask_go").click().run()
    best = drawn(app)["columns"][0]["hits"][0]
    (line,) = all_drawn(app, "listing")[0]["items"]
    assert line["place"] == best["place"]
    app.run()
    assert "The port is closed [1]." in words(app)
    assert "found before" not in words(app)
    kept = app.session_state["playground"]
    kept["setup"]["columns"].reverse()
    app.session_state["playground"] = kept
    app.run()
    assert "The port is closed [1]." in words(app), "it was paid for"
    assert "found before" in words(app)
    app.segmented_control(key="ask_column").set_value(1).run()
    assert "The port is closed" not in words(app), "the other column was not asked"
    assert len(llm.asked) == 1
    app.segmented_control(key="ask_column").set_value(0)
    app.text_area(key="playground_q").set_value("form 111")
    next(button for button in app.button if button.label == "Run").click().run()
    assert "The port is closed" not in words(app), "nobody asked about the new query"


def test_applying_filters_leaves_a_query_alone_that_was_typed_and_not_yet_run(visit: Open) -> None:
    app = visit(Setup(QUERY, columns("BM25")))
    app.multiselect(key="playground_folders").set_value(["it"])
    next(button for button in app.button if button.label == "Apply").click().run()
    assert not app.exception, app.exception
    assert not app.text_area(key="playground_q").proto.set_value, "the browser keeps what stands in the box"
    data = drawn(app)
    assert (data["query"], data["setup"]["filters"]["folders"]) == (QUERY, ["it"])


def test_the_filters_of_another_link_replace_the_ones_before(visit: Open, played_app: App) -> None:
    app = visit(Setup(QUERY, columns("BM25"), Filters(folders=("it",), history=True)))
    assert app.multiselect(key="playground_folders").value == ["it"]
    assert app.toggle(key="playground_history").value
    other = Setup(QUERY, columns("BM25"), Filters(types=("sop",)))
    app.query_params["link"] = played_app.playground.notebook.keep(demo("admin"), other)
    app.run()
    assert not app.exception, app.exception
    assert [one.value for one in app.multiselect] == [["sop"], [], []]
    assert not app.toggle(key="playground_history").value
    assert app.text_area(key="playground_q").proto.set_value, "a link shows everything as it was, the query too"
    next(button for button in app.button if button.label == "Apply").click().run()
    assert drawn(app)["setup"]["filters"] == strict.plain(other.filters)


def test_the_dialog_shows_the_column_that_it_was_opened_on(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.ui.playground import results as component

    opened: list[int] = []
    real = component.playground

    def clicked(*given: Any) -> Any:
        return SimpleNamespace(**{**real(*given), "adjust": {"column": opened[-1]} if opened else None})

    monkeypatch.setattr("pages.ui.playground.results.playground", clicked)
    app = visit(
        Setup(QUERY, columns("Convex 0.3") + columns("Conditional rerank", alpha=0.8, tau=0.4) + columns("BM25"))
    )

    def labels():
        return {one.label for one in (*app.number_input, *app.selectbox, *app.toggle)}

    for at, alpha, name in ((0, 0.3, "Convex 0.3"), (1, 0.8, "Conditional rerank"), (0, 0.3, "Convex 0.3")):
        opened.append(at)
        app.run()
        assert not app.exception, app.exception
        assert next(one.value for one in app.number_input if one.label == "Alpha") == alpha
        assert next(one.value for one in app.text_input if one.label == "Name") == name
        assert ("Tau" in labels()) == (at == 1), "only what matters for the column is asked"
    assert not labels() & {"RRF k", "Trained model", "Prompt", "Rerank depth"}
    assert "Weight of the dense side: 0 is words alone, 1 is meaning alone." in words(app)
    opened.append(2)
    app.run()
    assert not app.exception, app.exception
    assert not labels() & {"Fusion", "Normalisation", "Alpha", "HyDE"}


def test_the_same_comparison_as_command_as_python_and_as_csv(visit: Open, played_app: App) -> None:
    from core.entrypoints.cli import parser
    from pages.ui.playground import share

    setup = Setup("o'hara; rm -rf", columns("BM25", "Conditional rerank"), Filters(types=("sop",), history=True))
    assert share.as_cli(setup).startswith(
        'python -m core compare \'o\'"\'"\'hara; rm -rf\' --config bm25 --config \'{"base": "documents-0.9", "rerank"'
    )
    compile(share.as_python(setup), "shared", "exec")
    made = played_app.playground.comparer.run(demo("author"), QUERY, columns("BM25", "Vectors"))
    rows = share.as_csv(made).splitlines()
    assert len(rows) == 1 + sum(len(outcome.result.hits) for outcome in made.outcomes if outcome.result)
    typed = shlex.split(share.as_cli(setup))[3:]
    assert parser(typed).parse_args(typed).query == setup.query


def test_an_unknown_link_is_a_sentence_and_a_fresh_playground(visit: Open) -> None:
    app = visit(link="0123456789")
    assert [column["name"] for column in drawn(app)["columns"]] == ["BM25", "Documents 0.9", "Conditional rerank"]
    assert any("no playground link" in str(toast.value) for toast in app.toast)


def test_readers_do_not_reach_the_playground(visit: Open) -> None:
    app = visit(Setup(QUERY, columns("BM25")), persona="reader")
    assert "Not for this role" in words(app)
    assert not app.get("bidi_component")
    assert not app.text_area


@pytest.mark.parametrize("persona", ["author", "reviewer"])
def test_authors_and_reviewers_do(visit: Open, persona: str) -> None:
    assert drawn(visit(Setup(QUERY, columns("BM25")), persona=persona))["columns"][0]["hits"]


def test_the_demo_data_fills_three_columns(visit: Open, kb_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    kb_app.platform.workspace.create()
    link = kb_app.playground.notebook.keep(
        demo("admin"), Setup("how long do we keep SAR records", columns("BM25", "Vectors", "RRF 60"))
    )
    serve(kb_app, monkeypatch)
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=PATIENCE)
    app.session_state["persona"] = "admin"
    app.run()
    app.query_params["link"] = link
    app.switch_page("pages/playground.py").run()
    assert not app.exception, app.exception
    assert [len(column["hits"]) for column in drawn(app)["columns"]] == [10, 10, 10]
