"""Several embedders in one profile: the laws of concatenation, the vote of ranks, and what is shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import profiles
from core.adapters.models import weights
from core.adapters.models.registry import ModelRegistry
from core.bootstrap import App, build
from core.errors import BadInput
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.retrieval.config import parse
from core.retrieval.legs.several_embedders import Vote, apart, concatenation
from core.services.playground.compare import Column
from core.services.tuning.sweeps import SweepScope
from core.settings import Settings, load
from core.types import Profile
from tests.conftest import FixedClock, HashEmbedder, SmallModels, demo, put

DOCUMENTS = {
    "a.md": "# Wires\n\nWire transfers above the limit need two signatures.\n",
    "b.md": "# Reports\n\nSuspicious activity reports are kept for five years.\n",
    "c.md": "# Lunch\n\nThe canteen serves soup on Mondays.\n",
}


class OtherEmbedder(HashEmbedder):
    """The same in another space."""

    name, dimension = "hash-32", 32

    def query(self, text: str) -> np.ndarray:
        return super().query(text[::-1])


class TwoModels(SmallModels):
    """Models by name, counting what is embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = {"first": HashEmbedder(), "second": OtherEmbedder()}

    def embedder(self, name: str) -> HashEmbedder:
        return self.parts[name]


@pytest.fixture
def two_embedders_app(tmp_path: Path) -> App:
    app = build(load({}, home=tmp_path / "home"), clock=FixedClock(), models=TwoModels())
    app.platform.workspace.create()
    put(app, dict(DOCUMENTS))
    return app


vectors = st.lists(st.floats(-1, 1), min_size=6, max_size=6).filter(lambda row: np.linalg.norm(row) > 0.1)


def units(row: list[float]) -> list[np.ndarray]:
    return [part / (np.linalg.norm(part) or 1.0) for part in np.split(np.array(row), [2, 3]) if part.size]


@given(vectors, vectors)
def test_the_dot_product_is_the_mean_of_the_cosines(a: list[float], b: list[float]) -> None:
    left, right = units(a), units(b)
    cosines = [float(x @ y) for x, y in zip(left, right, strict=True)]
    assert float(concatenation(left) @ concatenation(right)) == pytest.approx(np.mean(cosines), abs=1e-5)
    assert (apart(left) @ concatenation(right)).tolist() == pytest.approx(cosines, abs=1e-5)


def test_bundled_models_side_by_side_are_one_unit_vector() -> None:
    if not weights.present(Settings().models, weights.bundled("potion-base-8m")):
        pytest.skip("potion-base-8m is not here. Fetch it with: python -m core models fetch potion-base-8m")
    generations = ModelRegistry(Settings().models, 1, True)
    both = generations.of(Profile("both", embedder="bge-small-en-v1.5-int8", embedders=("potion-base-8m",)))
    assert (both.name, both.dimension) == ("bge-small-en-v1.5-int8+potion-base-8m", 384 + 256)
    rows = both.documents(["SAR records are retained for five years.", "Soup on Mondays."])
    query = both.query("how long are SAR records kept")
    assert np.linalg.norm([*rows, query], axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    one, other = (generations.embedder(name) for name in both.name.split("+"))
    mean = (one.query("SAR") @ one.query("report") + other.query("SAR") @ other.query("report")) / 2
    assert float(both.query("SAR") @ both.query("report")) == pytest.approx(float(mean), abs=1e-5)


def test_profiles_without_further_embedders_keep_their_names() -> None:
    assert profiles.identity(profiles.DEFAULT) == profiles.identity(replace(profiles.DEFAULT, combine="rrf"))
    more = Profile("local", embedders=("potion-base-8m",))
    names = {profiles.identity(Profile("x", embedders=more.embedders, combine=how)) for how in ("concatenation", "rrf")}
    assert len({*names, "147eba6c34"}) == 3


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"embedders": ["bge-small-en-v1.5-int8"]}, "named once"),
        ({"embedders": ["a+b"]}, "has no \\+"),
        ({"embedder": ""}, "choose at least one embedder"),
        ({"combine": "sum"}, "Known: concatenation, rrf"),
        ({"embedders": "a"}, "expected a list"),
    ],
)
def test_embedders_that_make_no_sense_are_refused(raw: dict[str, object], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        profiles.from_mapping({"name": "x", **raw})


def test_vectors_are_shared_with_profiles_of_one_embedder(two_embedders_app: App) -> None:
    assert (
        two_embedders_app.index.builder.build(profiles.from_mapping({"name": "one", "embedder": "first"})).embedded == 3
    )
    assert (
        two_embedders_app.index.builder.build(profiles.from_mapping({"name": "other", "embedder": "second"})).embedded
        == 3
    )
    both = profiles.from_mapping({"name": "both", "embedder": "first", "embedders": ["second"]})
    assert two_embedders_app.index.admin.estimate(demo("admin"), both).to_embed == 0
    assert two_embedders_app.index.builder.build(both).embedded == 0


@pytest.mark.parametrize("combine", ["concatenation", "rrf"])
def test_both_ways_find_what_was_asked_for(two_embedders_app: App, combine: str) -> None:
    raw = {"name": combine, "embedder": "first", "embedders": ["second"], "combine": combine}
    profile = profiles.from_mapping(raw)
    two_embedders_app.index.builder.build(profile)
    index = two_embedders_app.index.generations.open(profile)
    assert index.profile.combine == combine
    for config in ("dense", "convex-0.5", "rrf-60"):
        result = two_embedders_app.search.searcher.search_in(index, "suspicious activity reports", parse(config))
        assert (result.hits[0].path, result.warnings) == ("b.md", ())
    best = two_embedders_app.search.searcher.search_in(index, "suspicious activity reports", parse("dense")).hits[0]
    if combine == "rrf":
        assert best.legs["dense"].score == pytest.approx(2 / 61)


class Fixed:
    """A leg with a given order."""

    floor = -1.0

    def __init__(self, *order: int) -> None:
        self.order = order

    def search(self, depth: int, allowed: np.ndarray | None) -> dict[int, float]:
        return {chunk: 1.0 - n / 10 for n, chunk in enumerate(self.order[:depth])}

    def score(self, chunks: list[int]) -> list[float]:
        return [0.0 for _ in chunks]


def test_ranks_vote_by_hand() -> None:
    vote = Vote((Fixed(1, 2, 3), Fixed(3, 1, 4)))
    found = vote.search(3, None)
    assert found == pytest.approx({1: 1 / 61 + 1 / 62, 3: 1 / 63 + 1 / 61, 2: 1 / 62})
    assert list(found) == [1, 3, 2]
    assert vote.score([4, 9]) == pytest.approx([1 / 63, 0.0])


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_the_order_of_voters_does_not_matter(a: list[int], b: list[int]) -> None:
    assert Vote((Fixed(*a), Fixed(*b))).search(8, None) == Vote((Fixed(*b), Fixed(*a))).search(8, None)


# ---------------------------------------------------------------- every page and command


@pytest.fixture(params=["concatenation", "rrf"])
def production_app(two_embedders_app: App, request: pytest.FixtureRequest) -> App:
    """A profile with two embedders in production."""
    raw = {"name": "both", "embedder": "first", "embedders": ["second"], "combine": request.param}
    profile = two_embedders_app.index.admin.add_profile(demo("admin"), profiles.from_mapping(raw))
    two_embedders_app.index.builder.build(profile)
    two_embedders_app.index.admin.make_default(demo("admin"), "both")
    return two_embedders_app


def test_an_upload_is_compared_by_meaning(production_app: App) -> None:
    copy = f"---\ntags: [copy]\n---\n{DOCUMENTS['a.md']}".encode()
    batch = production_app.upload.uploads.read(demo("author"), [("copy.md", copy)])
    assert not [finding for finding in batch.items[0].findings if finding.severity == "error"]
    looked = production_app.upload.uploads.meaning(batch, 0)
    assert "a.md" in {duplicate.path for item in looked.items for duplicate in item.duplicates}


def test_the_graph_and_its_communities_answer(production_app: App) -> None:
    view = production_app.graph.explorer.around_query(demo("author"), "Suspicious activity reports", profile="both")
    assert view.notes
    assert isinstance(production_app.graph.communities.global_search(demo("author"), "reports", profile="both"), tuple)


def test_an_estimate_counts_both_embedders(production_app: App) -> None:
    put(production_app, {"d.md": "# Parking\n\nPark behind the house.\n"})
    assert (
        production_app.index.admin.estimate(demo("admin"), production_app.platform.settings.profile("both")).to_embed
        >= 1
    )


def test_a_run_names_both_models_and_the_playground_and_sliders_work(production_app: App) -> None:
    asked = QuerySet("few", (Question("1", "suspicious activity reports"),), (Judgment("1", "b.md"),))
    production_app.evaluation.querysets.keep(demo("admin"), asked)
    plan = production_app.evaluation.runs.plan("both", "convex-0.5")
    (run,) = production_app.evaluation.runs.evaluate("few", [plan])
    assert run.models == ("first", "second")
    assert run.figures["MRR@10"] == 1.0
    compared = production_app.playground.comparer.run(demo("author"), "reports", [Column("both", parse("dense"))])
    assert compared.outcomes[0].result
    assert production_app.tuning.sweeps.load(demo("author"), "few", SweepScope("both")).questions


def test_documents_are_cut_as_the_index_cuts_them(production_app: App) -> None:
    tools = production_app.index.builder.tools(
        production_app.platform.settings.profile("both"), lambda path, what: None
    )
    assert tools.tokens("two words")
    assert tools.embed(["a", "b"]).shape == (2, 96)
