"""The second look: what the first hit names leads to a document that the question does not name."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from core.bootstrap import App
from core.retrieval import config as configs
from core.retrieval.confidence import word_worths
from core.retrieval.legs.second_look import second_query
from core.types import Filters, Result
from tests.conftest import indexed

ASKED = "When was the pianist of Night at Hollow Lane born?"
RECORD = "Here Mira Dornfeld, the pianist, softly plays Night at Hollow Lane."


def page(title: str, text: str, status: str = "approved") -> str:
    return f"---\ntitle: {title}\nstatus: {status}\n---\n# {title}\n\n{text}\n"


FILES = {
    "record.md": page("Night at Hollow Lane", RECORD),
    "mira.md": page("Mira Dornfeld", "She was born in Graz, and so was Mira Dornfeld's brother."),
    "weiss.md": page("Anna Weiss", "Anna Weiss was born in Linz."),
    "kerner.md": page("Otto Kerner", "Otto Kerner was born in Wels."),
    **{f"other-{n}.md": page(f"Room {n}", f"The heating of room {n} is off at weekends.") for n in range(6)},
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    return indexed(tmp_path_factory.mktemp("hops"), FILES)


def asked(app: App, text: str = ASKED, config: str = "two-hops", filters: Filters = Filters()) -> Result:
    return app.search.searcher.search(text, config=configs.parse(config), filters=filters)


def note(result: Result) -> str:
    return next(stage.note for stage in result.stages if stage.name == "hop")


def test_what_the_first_hit_names_stands_second_and_both_have_the_leg_whole(app: App) -> None:
    first, second, *_ = asked(app).hits
    assert [first.path, second.path] == ["record.md", "mira.md"]
    assert [round(hit.legs["hop"].normalised, 6) for hit in (first, second)] == [1.0, 1.0]
    assert [round(hit.legs["hop"].part, 6) for hit in (first, second)] == [
        round(0.15 / 1.15, 6)
    ] * 2  # its share of the weights
    assert asked(app, config="documents-0.9").hits[0].path == "record.md"


def test_the_second_look_says_from_where_and_for_what(app: App) -> None:
    result = asked(app)
    assert note(result) == "Second look from “Night at Hollow Lane” for: Mira Dornfeld, born"
    assert [hit.legs["hop"].note for hit in result.hits[:2]] == [
        "the second look starts here",
        "second look from “Night at Hollow Lane” for: Mira Dornfeld, born",
    ]
    weiss = next(hit for hit in result.hits if hit.path == "weiss.md")
    assert weiss.legs["hop"].note == "second look from “Night at Hollow Lane” for: born"


def test_it_looks_again_where_a_tenth_of_the_question_is_left_open(app: App) -> None:
    index = app.search.searcher.index()
    start = next(n for n in range(index.size) if "plays" in index.excerpt(n))
    common, rare = log(1 + (10 - 3 + 0.5) / 3.5), log(1 + (10 - 1 + 0.5) / 1.5)  # in three of ten passages, in one
    worths = word_worths(ASKED, index)
    assert worths == pytest.approx(
        {"born": common, "pianist": rare, "night": rare, "hollow": rare, "lane": rare}, abs=1e-6
    )
    assert common / (common + 4 * rare) == pytest.approx(0.1257, abs=1e-4)  # over .1, so it looks again
    query = second_query(ASKED, start, index)
    assert query is not None
    assert (query.names, query.words) == (("Mira Dornfeld",), ("born",))
    assert common / (common + 6 * rare) == pytest.approx(0.0874, abs=1e-4)  # with two more rare words that it holds
    assert second_query(f"{ASKED} plays softly", start, index) is None


def test_a_question_that_the_first_hit_answers_is_left_as_it_is(app: App) -> None:
    plain, hops = (asked(app, "who plays Night at Hollow Lane", config) for config in ("documents-0.9", "two-hops"))
    assert [hit.path for hit in hops.hits] == [hit.path for hit in plain.hits]
    assert (
        note(hops) == "No second look: the first hit leaves nothing rare of the question open, or names nothing more."
    )
    assert all(hit.legs["hop"].part == 0.0 and not hit.legs["hop"].note for hit in hops.hits)


def test_an_unsure_first_hit_leads_nowhere(app: App) -> None:
    said = note(asked(app, "is the heating off"))  # six documents say the same
    assert said.startswith("No second look: the first hit is right with a chance of 0.")
    assert said.endswith(", and 0.8 is asked.")


def test_nobody_is_led_through_a_passage_that_may_not_be_found(tmp_path: Path) -> None:
    files = {**FILES, "record.md": page("Night at Hollow Lane", RECORD, "draft")}
    result = asked(indexed(tmp_path, files))
    assert "Hollow" not in note(result)
    assert all("Hollow" not in leg.note for hit in result.hits for leg in hit.legs.values())


def test_the_name_of_the_method_round_trips() -> None:
    assert configs.name(configs.parse("two-hops")) == "two-hops"
    assert configs.parse("two-hops+rerank").rerank == "always"
