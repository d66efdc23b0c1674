"""Every page under AppTest: it renders, it answers, it is empty, it is refused, it says what is wrong."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.adapters.system.processes import SystemClock
from core.bootstrap import App, build
from core.errors import Refused, Unavailable
from core.services.knowledge.home import Home
from core.types import LexicalOptions, Profile
from pages.ui.index.jobs import NAMES
from tests.conftest import ROOT, demo, forget_app, kb_settings, put
from tests.support.apptest import PATIENCE, Open, all_drawn, drawn, words


@pytest.fixture
def own_app(kb_template: Path, tmp_path: Path) -> App:
    """A copy of the starter workspace that a test may change."""
    shutil.copytree(kb_template, tmp_path / "kb")
    return build(kb_settings(tmp_path / "kb"))


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    build(kb_settings(tmp_path / "empty")).platform.workspace.create()
    return tmp_path / "empty"


# ---------------------------------------------------------------- home


def test_home_shows_figures_attention_and_changes(visit: Open) -> None:
    app = visit("home")
    assert {metric.label: metric.value for metric in app.metric}["Documents"] == "59"
    attention, changes = [shown["items"] for shown in all_drawn(app, "listing") if "items" in shown][-2:]
    assert [item["badges"][0]["text"] for item in attention].count("Overdue") >= 3
    assert [item["badges"][0]["text"] for item in attention].count("No owner") == 1
    assert changes[0]["title"]


def test_home_of_an_empty_workspace_says_how_to_begin(visit: Open, empty_home: Path) -> None:
    app = visit("home", home=empty_home)
    assert [link.proto.label for link in app.get("page_link")] == ["Bring files in", "Write one"]
    reader = visit("home", home=empty_home, persona="reader")
    assert not reader.get("page_link")
    assert "python -m" not in words(app) + words(reader), "nobody types commands on a page"


def test_search_offers_questions_that_documents_answer_and_no_others(
    visit: Open, kb_app: App, empty_home: Path
) -> None:
    answered = {question for document in kb_app.knowledge.documents.all() for question in document.meta.answers}
    offered = drawn(visit("search"), "search")["examples"]
    assert len(offered) == 4
    assert set(offered) <= answered
    assert drawn(visit("search", home=empty_home), "search")["examples"] == []


def test_the_box_on_home_leads_to_search(visit: Open) -> None:
    app = visit("home")
    app.text_input(key="home_q").set_value("hazmat training").run()
    assert not app.exception
    assert drawn(app, "search")["asked"]["q"] == "hazmat training"


def test_home_names_documents_that_cannot_be_read_and_an_index_that_is_behind(visit: Open, own_app: App) -> None:
    put(own_app, {"it/broken.md": "---\nreview_due: soon\n---\n# Broken\n"})
    put(own_app, {"synonyms.yaml": "synonyms: []\n", "reference/glossary.md": "# Glossary\n"})
    app = visit("home", home=own_app.settings.home)
    changes = [shown["items"] for shown in all_drawn(app, "listing") if "items" in shown][-1]
    assert [item["sub"].split(" · ")[1] for item in changes[:2]] == ["Glossary", "1 file"]
    titles = [item["title"] for shown in all_drawn(app, "listing") for item in shown.get("items", [])]
    assert "it/broken.md" in titles
    assert "The index is catching up" in titles


# ---------------------------------------------------------------- search


def test_search_groups_passages_by_document_with_marks_badges_and_reasons(visit: Open) -> None:
    data = drawn(visit("search", q="how long do we keep SAR records"), "search")["found"]
    first = data["groups"][0]
    assert first["title"] == "Suspicious activity reports"
    passage = first["passages"][0]
    assert any(matched for _, matched, _ in passage["segments"])
    assert any(best for _, _, best in passage["segments"])
    assert passage["place"]["doc"] == "BSA-SOP-002"
    assert passage["place"]["start"] < passage["place"]["end"]
    assert passage["place"]["version"] == 1
    assert [leg["label"] for leg in passage["why"]["legs"]] == ["Words (BM25)", "Meaning (vectors)"]
    assert "Suspicious activity reports" in passage["citation"]
    assert len({group["doc"] for group in data["groups"]}) == len(data["groups"]) > 2
    assert {facet["key"] for facet in data["facets"]} == {"types", "statuses", "freshness", "folders", "owners", "tags"}


def test_facets_filter_and_stay_countable(visit: Open) -> None:
    app = visit("search", q="cash over 10,000", types="policy")
    data = drawn(app, "search")["found"]
    assert {group["type"] for group in data["groups"]} == {"Policy"}
    types = next(facet for facet in data["facets"] if facet["key"] == "types")["options"]
    assert {option["value"]: option["on"] for option in types}["policy"] is True
    assert sum(option["count"] for option in types if not option["on"]) > 0


def test_history_is_shown_only_when_asked_for_and_then_marked(visit: Open) -> None:
    plain = drawn(visit("search", q="suspicious activity reports 2022 fax"), "search")["found"]
    assert "BSA-SOP-009" not in {group["doc"] for group in plain["groups"]}
    asked = drawn(visit("search", q="suspicious activity reports 2022 fax", history="true"), "search")["found"]
    old = next(group for group in asked["groups"] if group["doc"] == "BSA-SOP-009")
    assert old["badges"][0]["text"] == "Superseded"


def test_an_empty_box_finds_nothing_and_fails_nothing(visit: Open) -> None:
    assert drawn(visit("search"), "search")["found"] is None


def test_no_hits_says_what_to_try(visit: Open) -> None:
    data = drawn(visit("search", q="payroll", owners="Nobody At All"), "search")["found"]
    assert data["groups"] == []
    assert "without the filters" in data["advice"]


def test_words_that_nobody_uses_lead_to_words_that_look_like_them(visit: Open) -> None:
    data = drawn(visit("search", q="suspisious activty reprots"), "search")["found"]
    assert "No document uses these words" in data["notice"]
    assert data["nearest"][0] == "suspicious activity reports"


def test_a_failed_leg_is_named(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.adapters.models.registry import ModelRegistry

    def broken(self: object, name: str) -> None:
        raise Unavailable("The model is not on this machine.")

    monkeypatch.setattr(ModelRegistry, "embedder", broken)
    data = drawn(visit("search", q="vendor bank change"), "search")["found"]
    assert data["warnings"] == ["The dense leg failed: The model is not on this machine."]
    assert data["groups"], "the other leg still answers"


def test_search_without_an_index_says_how_to_build_it(visit: Open, empty_home: Path) -> None:
    assert "has no index yet" in drawn(visit("search", home=empty_home, q="anything"), "search")["found"]["error"]


@pytest.mark.parametrize("query", ["'; DROP TABLE", "<script>alert(1)</script>", "[x](javascript:y)", "🙂", "x" * 5000])
def test_odd_queries_are_just_words(visit: Open, query: str) -> None:
    assert drawn(visit("search", q=query), "search")["found"]["query"] == query


def test_a_gap_is_kept_for_the_owners(own_app: App) -> None:

    for _ in range(2):
        own_app.knowledge.gaps.report(demo("reader"), "how do I book the boat", "there was a boat once")
    assert [(gap.query, gap.note, gap.who) for gap in own_app.knowledge.gaps.open(demo("admin"))] == [
        ("how do I book the boat", "there was a boat once", "Robin Falk")
    ]


def test_a_reported_question_reaches_those_who_write_and_becomes_a_document(visit: Open, own_app: App) -> None:
    home, question = own_app.settings.home, "where do guests get *wifi*?"
    own_app.knowledge.gaps.report(demo("reader"), question, "A card at the desk")
    assert "Questions without an answer" not in words(visit("home", home, "reader"))
    app = visit("home", home, "author")
    (gap,) = own_app.knowledge.gaps.open(demo("author"))
    assert question in words(app).replace("\\", "")
    app.button(key=f"write_{gap.id}").click().run()
    assert not app.exception
    assert question in [field.value for field in app.text_input if "_answer_" in str(field.key)]
    visit("home", home, "author").button(key=f"answered_{gap.id}").click().run()
    assert own_app.knowledge.gaps.open(demo("author")) == ()


def test_a_gap_is_kept_from_the_page_and_leaves_no_message_for_a_later_one(
    visit: Open, own_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages.ui.components import search_view

    told = {"query": "how do I book the boat", "note": "", "hits": 0}
    monkeypatch.setattr(
        search_view,
        "search_view",
        lambda *given, **named: SimpleNamespace(
            open=None, answer=None, report=dict(told), feedback=None, watch=None, settled=None, consent=None, pin=None
        ),
    )
    app = visit("search", home=own_app.settings.home, q=told["query"])
    assert [gap.query for gap in own_app.knowledge.gaps.open(demo("admin"))] == [told["query"]]
    assert "flash" not in app.session_state, "the fragment would not show it, so a later page would"


# ---------------------------------------------------------------- documents


def test_the_library_lists_every_document_with_what_to_know(visit: Open) -> None:
    rows = drawn(visit("documents"), "library")["rows"]
    assert len(rows) == 59
    retired = next(row for row in rows if row["doc"] == "IT-SOP-006")
    assert retired["badges"][0]["text"] == "Retired"
    assert {"title", "owner", "updatedText", "reviewText", "version", "folder", "search"} <= set(retired)


def test_a_document_is_read_with_outline_and_marked_passage(visit: Open) -> None:
    app = visit("documents", doc="BSA-SOP-002", start="7000", end="7445")
    data = drawn(app, "reader")
    assert data["mark"] == {"start": 7000, "end": 7445}
    assert "Records" in [line["title"] for line in data["outline"]]
    header = drawn(app, "header")
    assert header["title"] == "Suspicious activity reports"
    assert ["Owner", "Mei-Lin Chao"] in header["facts"]


@pytest.mark.parametrize(("start", "end"), [("x", "y"), ("9", "3"), ("-1", "5"), ("1e9", "2e9"), ("99999999999", "2")])
def test_a_passage_that_is_none_is_not_marked(visit: Open, start: str, end: str) -> None:
    assert drawn(visit("documents", doc="BSA-SOP-002", start=start, end=end), "reader")["mark"] is None


def test_a_link_to_an_older_version_marks_its_words_where_they_stand_now(visit: Open, own_app: App) -> None:
    path = "finance/compliance/ctr-filing.md"
    text = own_app.knowledge.repository.read("main", path).decode()
    start = text.index("15 calendar days")
    link = {"doc": "BSA-SOP-001", "start": str(start), "end": str(start + 30), "version": "1"}
    quote = text[start : start + 30]
    moved = text.replace("\n# ", "\nNew here.\n\n# ", 1).replace("15 calendar days", "15\ncalendar days")
    put(own_app, {path: moved})
    mark = drawn(visit("documents", home=own_app.settings.home, **link), "reader")["mark"]
    assert moved[mark["start"] : mark["end"]].split() == quote.split()
    put(own_app, {path: text.replace("15 calendar days", "12 calendar days")})
    app = visit("documents", home=own_app.settings.home, **link)
    assert drawn(app, "reader")["mark"] is None
    assert "This passage has changed since." in words(app)


@pytest.mark.parametrize("version", ["0", "9", "x"])
def test_a_version_that_never_was_breaks_nothing(visit: Open, version: str) -> None:
    app = visit("documents", doc="BSA-SOP-002", start="7000", end="7445", version=version)
    assert ("changed since" in words(app)) == (version == "9")


def test_a_long_document_is_read_part_by_part_and_opens_at_its_mark(visit: Open, own_app: App) -> None:
    text = "# Long\n\n" + "\n\n".join(f"## Part {n}\n\nWords of {n}." for n in range(1000)) + "\n"
    put(own_app, {"it/long.md": text})

    def read(**query: str) -> Any:
        return drawn(visit("documents", home=own_app.settings.home, doc="it/long", **query), "reader")

    first, start = read(), text.index("Words of 900.")
    assert (first["first"], len(first["nodes"]), first["hidden"]) == (0, 1500, 500)
    later = read(**{"from": "1500"})
    assert (later["first"], len(later["nodes"]), later["hidden"]) == (1500, 500, 0)
    marked = read(start=str(start), end=str(start + 13))
    assert marked["first"] == read(anchor="part-900")["first"] == 1500
    assert any(node[1].get("start") == start for node in marked["nodes"])
    assert read(**{"from": "99999"})["first"] == 0


def test_an_unknown_document_is_named(visit: Open) -> None:
    shown = words(visit("documents", doc="NOPE-1"))
    assert "There is no document" in shown
    assert "python -m core" not in shown, "a page offers pages"


def test_history_compares_any_two_versions(visit: Open, own_app: App) -> None:
    path = "finance/compliance/ctr-filing.md"
    text = own_app.knowledge.repository.read("main", path).decode()
    put(
        own_app,
        {
            path: text.replace("owner: Mei-Lin Chao", "owner: Grant Sorensen").replace(
                "15 calendar days", "12 calendar days"
            )
        },
        "Shorter deadline",
    )
    app = visit("documents", home=own_app.settings.home, doc="BSA-SOP-001", tab="History")
    data = drawn(app, "diff")
    assert {field["name"]: (field["before"], field["after"]) for field in data["fields"]} == {
        "owner": ("Mei-Lin Chao", "Grant Sorensen")
    }
    changed = [row for row in data["rows"] if row["kind"] == "changed"]
    assert changed
    assert [True, "12"] in changed[0]["after"]


def test_the_first_version_has_nothing_to_compare(visit: Open) -> None:
    assert "first version" in words(visit("documents", doc="BSA-SOP-001", tab="History"))


def test_links_show_both_directions(visit: Open) -> None:
    app = visit("documents", doc="BSA-SOP-002", tab="Links")
    assert all(shown["items"] for shown in all_drawn(app, "listing"))


def test_chunks_are_drawn_and_two_chunkers_compared(visit: Open) -> None:
    app = visit("documents", doc="BSA-SOP-002", tab="Chunks")
    assert len(drawn(app, "chunks")["sides"]) == 1
    app.toggle(key="compare").set_value(True).run()
    app.selectbox(key="chunker").set_value("hierarchical").run()
    data = drawn(app, "chunks")
    assert [side["name"].split()[0] for side in data["sides"]] == ["markdown", "hierarchical"]
    text = data["text"]
    for side in data["sides"]:
        assert all(text[chunk["start"] : chunk["end"]].strip() for chunk in side["chunks"])
    app.number_input(key="chunker_hierarchical_overlap").set_value(900).run()
    assert "contradict" in words(app)


def test_an_address_names_the_compared_chunker(visit: Open) -> None:
    app = visit("documents", doc="BSA-SOP-002", tab="Chunks")
    app.toggle(key="compare").set_value(True).run()
    named = [app.toggle(key="compare"), app.selectbox(key="chunker"), *app.number_input]
    assert [one.proto.query_param_key for one in named] == [one.key for one in named]


def test_an_empty_library_says_how_to_begin(visit: Open, empty_home: Path) -> None:
    assert "Write one, or bring files in on Upload." in words(visit("documents", home=empty_home))


def test_a_broken_document_is_named_and_the_rest_is_shown(visit: Open, own_app: App) -> None:
    put(own_app, {"it/broken.md": "---\nreview_due: soon\n---\n# Broken\n"})
    app = visit("documents", home=own_app.settings.home)
    assert "it/broken.md cannot be read" in words(app)
    assert len(drawn(app, "library")["rows"]) == 59


# ---------------------------------------------------------------- index


def test_the_index_page_shows_what_serves(visit: Open) -> None:
    app = visit("index")
    assert "serves the newest state" in words(app)
    assert app.dataframe[0].value["State"].tolist() == ["serving"]
    assert "local" in app.dataframe[1].value["Profile"].tolist()


def test_the_index_page_of_an_empty_workspace(visit: Open, empty_home: Path) -> None:
    assert "There is no index yet" in words(visit("index", home=empty_home))


def test_the_index_page_says_what_paid_models_took(visit: Open, own_app: App) -> None:
    assert "cost nothing" in words(visit("index", home=own_app.settings.home))
    call = {"at": SystemClock().stamp(), "purpose": "rerank", "model": "openai:small"}
    own_app.models.ledger.database.calls.add(**call, input_tokens=900, output_tokens=5, dollars=2.5)
    page = visit("index", home=own_app.settings.home)
    assert [one.value for one in page.metric if one.label.startswith(("Spent", "Left"))] == ["$2.50", "$7.50"]
    rows = next(one.value for one in page.dataframe if "Purpose" in one.value and "When" not in one.value)
    assert list(rows["Purpose"]) == ["rerank"]


def test_a_rolled_back_index_says_so(visit: Open, own_app: App) -> None:
    put(own_app, {"it/new.md": "# New\n\nSomething new.\n"})
    own_app.index.builder.build(own_app.platform.settings.profile())
    own_app.index.generations.rollback(own_app.platform.settings.profile(), 1)
    assert "rolled back to by hand" in words(visit("index", home=own_app.settings.home))


def test_adding_a_profile_and_making_an_unbuilt_one_the_default(visit: Open, own_app: App) -> None:
    app = visit("index", home=own_app.settings.home)
    app.text_input(key="new_name").set_value("small")
    app.selectbox(key="new_chunker").set_value("fixed").run()
    app.number_input(key="new_fixed_max_tokens").set_value(120)
    app.button(key="new_add").click().run()
    assert not app.exception
    assert own_app.platform.settings.profile("small").chunker.params["max_tokens"] == 120
    from core.errors import BadInput

    with pytest.raises(BadInput, match="has no index yet"):
        own_app.index.admin.make_default(demo("admin"), "small")


def test_a_known_setting_fills_the_fields_of_its_chunker(visit: Open, own_app: App) -> None:
    app = visit("index", home=own_app.settings.home)
    app.text_input(key="new_name").set_value("kin").run()
    app.selectbox(key="new_chunker").set_value("hierarchical").run()
    app.selectbox(key="new_hierarchical_preset").set_value("hierarchical-2000-500-100").run()
    assert app.number_input(key="new_hierarchical-2000-500-100_overlap").value == 100
    app.button(key="new_add").click().run()
    assert dict(own_app.platform.settings.profile("kin").chunker.params) == {
        "child": 500,
        "overlap": 100,
        "parent": 2000,
    }


def test_the_profile_form_has_every_part_that_a_profile_has(visit: Open, own_app: App) -> None:
    """A new field of a profile needs a place in the form and a flag on the command line."""
    app = visit("index", home=own_app.settings.home)
    app.text_input(key="new_name").set_value("whole").run()
    app.selectbox(key="new_chunker").set_value("hierarchical").run()
    app.selectbox(key="new_context").set_value("none").run()
    app.selectbox(key="new_graph").set_value("none").run()
    app.selectbox(key="new_stemmer").set_value("none").run()
    app.selectbox(key="new_stopwords").set_value("none").run()
    app.number_input(key="new_lexical_k1").set_value(0.9).run()
    app.number_input(key="new_lexical_b").set_value(0.4).run()
    assert app.multiselect(key="new_embedders").value == ["bge-small-en-v1.5-int8"]
    assert app.selectbox(key="new_combine").disabled, "one embedder is not combined"
    app.button(key="new_add").click().run()
    assert not app.exception
    made, usual = own_app.platform.settings.profile("whole"), Profile("whole")
    same = [part.name for part in fields(Profile) if getattr(made, part.name) == getattr(usual, part.name)]
    asking = ["writers", "questions"]  # no model writes here
    assert [name for name in same if name not in asking] == ["name", "embedder", "embedders", "combine"], "one embedder"
    left = [
        part.name
        for part in fields(LexicalOptions)
        if getattr(made.lexical, part.name) == getattr(usual.lexical, part.name)
    ]
    assert left == []


def test_every_kind_of_job_has_a_name(own_app: App) -> None:
    assert set(own_app.platform.workspace.works) <= set(NAMES)


def test_a_profile_that_is_wrong_is_refused_while_it_is_filled_in(visit: Open, own_app: App) -> None:
    app = visit("index", home=own_app.settings.home)
    assert app.button(key="new_add").disabled
    assert not app.warning
    app.text_input(key="new_name").set_value("local").run()
    assert "There already is a profile 'local'" in app.warning[0].value
    app.text_input(key="new_name").set_value("thin").run()
    assert not app.button(key="new_add").disabled
    app.selectbox(key="new_chunker").set_value("fixed").run()
    app.number_input(key="new_fixed_overlap").set_value(600).run()
    assert "contradict each other" in app.warning[0].value
    assert app.button(key="new_add").disabled
    assert app.button(key="new_build").disabled
    app.number_input(key="new_fixed_overlap").set_value(10).run()
    app.multiselect(key="new_embedders").set_value([]).run()
    assert "choose at least one embedder" in app.warning[0].value


def test_a_model_writes_for_contexts_and_for_the_agentic_chunker(visit: Open, own_app: App) -> None:
    app = visit("index", home=own_app.settings.home)
    assert not [box for box in app.multiselect if box.key == "new_writers"]
    app.selectbox(key="new_chunker").set_value("agentic").run()
    assert app.multiselect(key="new_writers").label == "Writer"


def test_a_new_profile_is_estimated_before_it_is_added_and_built(visit: Open, own_app: App) -> None:
    app = visit("index", home=own_app.settings.home)
    app.text_input(key="new_name").set_value("later").run()
    app.button(key="new_build").click().run()
    assert not app.exception
    assert "Add and build the profile later?" in words(app)
    assert "must be embedded" in words(app)
    assert "later" not in {profile.name for profile in own_app.platform.settings.profiles()}


@pytest.mark.parametrize("persona", ["reader", "author", "reviewer"])
def test_only_admins_reach_the_index(visit: Open, persona: str, monkeypatch: pytest.MonkeyPatch, kb_home: Path) -> None:
    forget_app()
    monkeypatch.setenv("CONCORD_HOME", str(kb_home))
    app = AppTest.from_file(
        str(ROOT / "pages" / "index.py"), default_timeout=PATIENCE
    )  # a deep link runs the page alone
    app.session_state["persona"] = persona
    app.run()
    assert "Not for this role" in words(app)
    assert not app.button
    assert not app.dataframe


def test_a_role_that_is_lost_while_the_page_is_drawn_is_said_in_a_sentence(
    kb_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(self: Home, steps: int = 8) -> object:
        raise Refused("Only authors and above may propose a change; Ada Brandt is a reader.")

    forget_app()
    monkeypatch.setenv("CONCORD_HOME", str(kb_home))
    monkeypatch.setattr(Home, "overview", lost)
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=PATIENCE).run()  # in the frame
    assert not app.exception
    assert "Ada Brandt is a reader" in words(app)


def test_the_demo_refuses_any_other_address(visit: Open, monkeypatch: pytest.MonkeyPatch, kb_home: Path) -> None:
    import streamlit as st

    monkeypatch.setenv("CONCORD_HOME", str(kb_home))
    real = st.get_option
    monkeypatch.setattr(st, "get_option", lambda key: "0.0.0.0" if key == "server.address" else real(key))
    app = AppTest.from_file(str(ROOT / "pages" / "search.py"), default_timeout=PATIENCE).run()
    assert "only runs on this machine's own address" in app.error[0].value
    assert not app.get("bidi_component")


# ---------------------------------------------------------------- colours


def channels(value: str, names: dict[str, str], under: list[float]) -> list[float]:
    """Red, green and blue of a CSS colour: a hex code, a name, or a mix of two; what shines through is `under`."""
    if found := re.fullmatch(r"color-mix\(in srgb, (.+) (\d+)%, (.+)\)", value):
        one, other = (channels(found[n], names, under) for n in (1, 3))
        return [a * int(found[2]) / 100 + b * (1 - int(found[2]) / 100) for a, b in zip(one, other, strict=True)]
    if found := re.fullmatch(r"var\((.+)\)", value):
        return channels(names[found[1]], names, under)
    return under if value == "transparent" else [int(value[n : n + 2], 16) for n in (1, 3, 5)]


def contrast(one: list[float], other: list[float]) -> float:
    """WCAG 2.2: from 1 to 21."""

    def light(colour: list[float]) -> float:
        linear = [c / 3294.6 if c <= 10.31 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dim, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_quiet_words_and_badges_can_be_read_on_both_backgrounds(scheme: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][scheme]
    css = (ROOT / "pages" / "ui" / "components" / "base.css").read_text()
    names = dict(re.findall(r"(--[a-z]+): (.+?);", css))
    given = {"text": "textColor", "background": "backgroundColor", "secondary-background": "secondaryBackgroundColor"}
    names |= {f"--st-{name}-color": theme[key] for name, key in (given | {"primary": "primaryColor"}).items()}
    badges = re.findall(r"\.badge\.\w+ \{\s*background: (.+?);\s*color: (.+?);\s*\}", css, re.S)
    assert len(badges) == 4
    for under in (channels(theme[name], names, []) for name in ("backgroundColor", "secondaryBackgroundColor")):
        for back, front in (("transparent", "var(--muted)"), *badges):
            ratio = contrast(channels(back, names, under), channels(front, names, under))
            assert ratio >= 4.5, f"{front} has {ratio:.2f}:1 on {back}"


def test_no_page_shows_a_refusal_with_a_command_of_the_terminal() -> None:
    doors = {
        "intake.py",
        "routes.py",
        "unsubscribe.py",
        "pictures.py",
        "flash.py",
    }  # they answer programs, or say it first
    raw = [
        path
        for path in (ROOT / "pages").rglob("*.py")
        if "str(error)" in path.read_text(encoding="utf-8") and path.name not in doors and "sign_in" not in path.parts
    ]
    assert raw == [], "say flash.refusal(error)"
