"""Words in fields, and documents ranked by their best passages."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.entrypoints.api.calls import encoded
from core.errors import BadInput
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.hits import FurtherHits
from core.services.evaluation.cached_candidates import CandidateCache
from core.storage.index.arrays.fields import load
from core.storage.index.arrays.kernels import fit
from core.types import FIELDS, SearchConfig
from tests.conftest import indexed

LONG = "Nothing of that kind is said here, nor will it be. " * 40  # so that every section is a passage
FILES = {
    "travel/flights.md": "---\nid: T-1\ntitle: Booking flights\ntags: [travel, air]\nanswers:\n  - Who pays for my "
    "seat?\n---\n"
    f"# Booking flights\n\nAsk the desk for a ticket. {LONG}\n\n## Seats\n\nChoose one at the desk. {LONG}\n",
    "travel/hotels.md": "---\nid: T-2\ntitle: What to know before booking hotels and flights abroad\n---\n"
    f"# Hotels\n\nBooking flights is described elsewhere. Booking a hotel needs a ticket. {LONG}\n",
    "desk/hours.md": "---\nid: T-3\ntitle: Desk hours\n---\n"
    f"# Desk hours\n\nThe desk opens at nine. {LONG}\n\n## Flights\n\nThe desk for booking flights opens at ten. "
    f"{LONG}\n",
}
worth = st.floats(0.01, 100.0)


@pytest.fixture
def indexed_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


def with_fields(base: str = "bm25", **weights: float) -> SearchConfig:
    return configs.from_mapping({"base": base, "fields": weights, "depth": 50, "k": 50})


@given(worth, worth, worth)
def test_a_fit_is_a_share_and_a_longer_entry_fits_less(said: float, rest: float, unsaid: float) -> None:
    whole, longer = fit(np.array([said, said]), np.array([said + rest, said + 2 * rest]), said + unsaid).tolist()
    assert 0 < longer < whole <= 1
    assert fit(np.array([said]), np.array([said]), said).tolist() == [1.0]


def test_a_title_that_is_the_question_beats_a_long_one_that_holds_it(indexed_app: App) -> None:
    search = indexed_app.search.searcher.search
    hits = search("booking flights", config=with_fields(title=1.5)).hits
    assert hits[0].path == "travel/flights.md"
    given = {hit.path: hit.legs["bm25"].fields.get("title", 0.0) for hit in hits}
    assert given["travel/flights.md"] == pytest.approx(15.0)
    assert 0 < given["travel/hotels.md"] < given["travel/flights.md"]
    assert given["desk/hours.md"] == 0


def test_what_fields_give_is_what_the_score_gains(indexed_app: App) -> None:
    search = indexed_app.search.searcher.search
    plain = {hit.chunk: hit.legs["bm25"].score for hit in search("who pays for my seat", config=with_fields()).hits}
    fielded = search("who pays for my seat", config=with_fields(title=1, headings=2, path=1, tags=1, answers=3)).hits
    for hit in fielded:
        leg = hit.legs["bm25"]
        assert leg.score == pytest.approx(plain.get(hit.chunk, 0.0) + sum(leg.fields.values()))
    assert fielded[0].legs["bm25"].fields["answers"] == pytest.approx(30.0)
    assert any("headings" in hit.legs["bm25"].fields for hit in fielded)


@pytest.mark.parametrize("engine", ["duckdb", "rank-bm25"])
def test_every_engine_adds_the_same_for_fields(indexed_app: App, engine: str) -> None:
    search = indexed_app.search.searcher.search
    config = with_fields(title=1.5, tags=1)
    other = replace(config, engines={"bm25": engine})
    ours, theirs = (search("air travel desk flights", config=one).hits for one in (config, other))
    assert [hit.chunk for hit in ours] == [hit.chunk for hit in theirs]
    assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], rel=1e-5)


def test_a_question_that_a_document_lists_does_not_find_itself_when_it_is_judged(indexed_app: App) -> None:
    searcher, database = indexed_app.search.searcher, indexed_app.evaluation.runs.database
    judged, plain = (
        CandidateCache(searcher, database, searcher.index(), config)
        for config in (with_fields(answers=3), with_fields())
    )

    def found(cache, query):
        return cache.of(query).candidates.retrieved["bm25"]

    assert found(judged, "who pays for my  SEAT") == found(plain, "who pays for my  SEAT")
    assert max(found(judged, "who pays my seat here").values()) > max(found(plain, "who pays my seat here").values())


def test_fields_are_built_once_and_then_read_from_the_disk(indexed_app: App) -> None:
    index = indexed_app.search.searcher.index()
    folder = index._cache.folder(index._folder, index.segments[0])  # type: ignore[attr-defined]
    built = load(folder, index.analyse)  # type: ignore[attr-defined]
    assert (folder / "fields").is_dir()
    read = load(folder, lambda text: [])
    terms = index.analyse("booking flights seat travel")  # type: ignore[attr-defined]
    assert all(
        np.array_equal(built[name].scores(terms)(np.s_[:]), read[name].scores(terms)(np.s_[:])) for name in FIELDS
    )
    assert [name for name in FIELDS if not built[name].scores(terms)(np.s_[:]).any()] == ["questions"]
    chunks = np.arange(index.size)
    assert all(
        np.array_equal(built[name].scores(terms)(np.s_[:]), built[name].scores(terms)(chunks)) for name in FIELDS
    )


def test_each_document_is_one_hit_with_its_other_passages_below(indexed_app: App) -> None:
    config = configs.from_mapping({"base": "convex-0.5", "documents": True})
    index = indexed_app.search.searcher.index()
    hits = indexed_app.search.searcher.search("booking flights at the desk", config=config).hits
    assert len({hit.doc for hit in hits}) == len(hits) == 3
    for hit in hits:
        others = {other.chunk for other in hit.further}
        assert {other.doc for other in hit.further} <= {hit.doc}
        assert hit.chunk not in others
        family = index.chunks_of(index.document_of(index.number(hit.chunk) or 0))
        assert others <= {index.passage(chunk).id for chunk in family}
        best = max(index.bm25("booking flights at the desk").score(family))
        assert hit.legs["bm25"].score == pytest.approx(best)
    assert any(hit.further for hit in hits)
    assert encoded(hits) == encoded([replace(hit, further=tuple(hit.further)) for hit in hits])


def test_other_passages_are_made_when_they_are_asked_for(indexed_app: App) -> None:
    index = indexed_app.search.searcher.index()
    read: list[int] = []
    watched = cast(
        Index,
        SimpleNamespace(
            documents=index.documents, passage=index.passage, excerpt=lambda chunk: read.append(chunk) or ""
        ),
    )
    further = FurtherHits(watched, "", 2, [0, 1, 2])
    assert (len(further), read) == (3, [])
    assert [hit.chunk for hit in further[1:2]] == [index.passage(1).id]
    assert read == [1]
    copied = pickle.loads(pickle.dumps(FurtherHits(index, "", 2, [0, 1])))
    assert type(copied) is tuple
    assert FurtherHits(index, "", 2, [0, 1]) == copied != FurtherHits(index, "", 2, [1, 0])


def test_depth_and_k_count_documents(indexed_app: App) -> None:
    config = configs.from_mapping({"base": "bm25", "documents": True, "depth": 2, "k": 2})
    assert len(indexed_app.search.searcher.search("booking flights desk", config=config).hits) == 2


def test_the_search_page_shows_the_passages_of_a_document_together(indexed_app: App) -> None:
    settings = indexed_app.platform.settings
    production = settings.production()
    page = indexed_app.search.page
    page.team_settings = type(  # what an admin would promote
        "Promoted",
        (),
        {"production": lambda self: replace(production, config=replace(production.config, documents=True))},
    )()
    groups = page.find("booking flights at the desk").groups
    assert len({group.facts.doc for group in groups}) == len(groups) == 3
    assert max(len(group.passages) for group in groups) > 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"footer": 1.0}, "fields: 'footer' is unknown"), ({"title": 11.0}, "fields.title: 11 is not between 0 and 10")],
)
def test_a_field_that_does_not_exist_or_weighs_too_much_is_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        configs.from_mapping({"fields": fields})


def test_configurations_without_fields_keep_the_names_that_runs_know_them_by() -> None:
    assert configs.identity(configs.parse("convex-0.5")) == "80bf6228d486"
    assert configs.identity(with_fields(title=1.0)) != configs.identity(with_fields())
