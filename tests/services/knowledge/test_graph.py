"""The graph of a generation: incremental equals full, searches are bounded and explained, views tell what they left
out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.system import sums
from core.bootstrap import App, build
from core.curation.document.links import Link
from core.errors import BadInput, NotFound, Unavailable
from core.graph import communities as community_rules
from core.graph import walk as walking
from core.graph.assembly import Named
from core.graph.communities import detect, modularity
from core.graph.entities import extract
from core.graph.walk import pagerank, sharing
from core.profiles import from_mapping
from core.retrieval import config as configs
from core.retrieval.legs.walks import LocalLeg, PageRankLeg
from core.settings import load
from core.storage.index import assembled_graph
from core.storage.index.arrays import image
from core.storage.index.record import graph_rows
from core.types import Answer, Filters, Graph, LlmRequest
from tests.conftest import ME, ROOT, FixedClock, ScriptedLlm, SmallModels, demo, examples, indexed, put, small_app
from tests.support.graphs import FILES, RELATIONS, page, some_graph


@pytest.fixture
def indexed_app(tmp_path: Path) -> App:
    return indexed(tmp_path / "home", FILES)


def graph_of(app: App) -> Graph:
    return app.search.searcher.index().graph()


def named(graph: Graph, name: str) -> int:
    return graph.names[name]


def hits(app: App, query: str, config: str, filters: Filters = Filters()) -> list:
    return list(app.search.searcher.search(query, config=configs.parse(config), filters=filters).hits)


# ---------------------------------------------------------------- building


def contents(folder: Path) -> dict[str, object]:
    """Everything that a generation's graph is made of."""
    place = folder.parent / "assembled" / folder.name
    arrays = {path.name: np.load(path).tolist() for path in place.glob("*.npy")}
    tables = [path for top in (folder / "graph", place) for path in top.glob("*.arrow")]
    return {
        **arrays,
        **{f"{path.parent.name == 'graph'} {path.name}": image.read_table(path).to_pylist() for path in tables},
    }


def folder_of(app: App) -> Path:
    profile = app.platform.settings.profile()
    return app.index.generations.folder(profile) / app.index.generations.current(profile).folder


SENTENCES = [
    "We follow the Bank Secrecy Act (BSA) here.",
    "Ask about BSA or the PO.",
    "A purchase order (PO) goes to Vienna.",
    "A post office (PO) is in Zurich.",
    "See [it](1.md) and FinCEN in 30 days.",
    "See [it](2.md) and read D-1.",
    "Plain words.",
    "Then 31 CFR 1020.320(d) and 1020.320(d) of FinCEN Form 112.",
]
Pages = dict[int, list[str]]
EDITS = st.lists(
    st.dictionaries(st.integers(0, 4), st.lists(st.sampled_from(SENTENCES), max_size=3)), min_size=1, max_size=5
)


def chunks_of(pages: Pages) -> dict[str, tuple[int, str]]:
    """Chunk id to (document, text), one chunk per line."""
    return {f"{n:08x}{m:08x}": (n, line) for n, lines in pages.items() for m, line in enumerate(lines)}


def write_graph(folder: Path, pages: Pages, parent: Path | None, changed: set[int], before: Pages) -> Path:
    """A generation's graph from its parent: only changed documents are read again."""
    folder.mkdir(parents=True)
    numbers, chunks = sorted(pages), chunks_of(pages)
    document_of = np.array([numbers.index(chunks[chunk][0]) for chunk in sorted(chunks)], np.int64)
    facts = [Named(f"D-{n}", f"{n}.md", f"T {n}") for n in numbers]
    dropped = [chunk for chunk, (n, _) in chunks_of(before).items() if n in changed]
    fresh = [chunk for chunk, (n, _) in chunks.items() if n in changed]
    links = [Link("it", f"{n}.md", 1, f"{n}.md") for n in (1, 2)]
    said = [graph_rows.rows(fresh, [extract(chunks[chunk][1], links) for chunk in fresh])]
    said += [graph_rows.tables(parent, dropped)] if parent else []
    graph_rows.write(folder, {name: pa.concat_tables([part[name] for part in said]) for name in said[0]})
    (folder.parent / "assembled").mkdir(exist_ok=True)
    graph = assembled_graph.graph_of([graph_rows.tables(folder)], sorted(chunks), facts, document_of)
    assembled_graph.save(folder.parent / "assembled" / folder.name, graph)
    return folder


@examples(30)
@given(EDITS)
def test_a_graph_updated_by_edits_equals_one_built_from_nothing(steps: list[Pages]) -> None:
    with tempfile.TemporaryDirectory() as home:
        pages: Pages = {}
        last: Path | None = None
        for n, step in enumerate(steps):
            before, pages = pages, {k: v for k, v in {**pages, **step}.items() if v}
            last = write_graph(Path(home) / str(n), pages, last, set(step), before)
        assert last is not None
        assert contents(last) == contents(write_graph(Path(home) / "full", pages, None, set(pages), {}))


def test_incremental_generations_carry_the_same_graph_as_full_ones(indexed_app: App) -> None:
    put(
        indexed_app,
        {"a.md": page("DOC-1", "We follow BSA. FinCEN too."), "d.md": None, "n.md": page("DOC-9", "See [b](b.md).")},
    )
    assert indexed_app.index.builder.build(indexed_app.platform.settings.profile()).changed == 2
    graph_of(indexed_app)
    updated = contents(folder_of(indexed_app))
    indexed_app.index.builder.build(indexed_app.platform.settings.profile(), full=True)
    graph_of(indexed_app)
    assert updated == contents(folder_of(indexed_app))
    assert indexed_app.index.verifier.problems() == ()
    wrong, folder = graph_of(indexed_app).weights + 1, folder_of(indexed_app)
    served = folder.parent / "assembled" / folder.name
    np.save(served / "weights.npy", wrong)
    assert "weights.npy is damaged" in indexed_app.index.verifier.problems()[0]
    np.save(served / "weights.npy", wrong)
    sums.write(served)  # the file is whole, what it says is wrong
    assert "(weights differ)" in indexed_app.index.verifier.problems()[0]


def test_aliases_merge_across_documents_and_vanish_with_their_explanation(indexed_app: App) -> None:
    graph = graph_of(indexed_app)
    assert named(graph, "bsa") == named(graph, "bank secrecy act")
    put(indexed_app, {"a.md": page("DOC-1", "We follow BSA. FinCEN too.")})
    indexed_app.index.builder.build(indexed_app.platform.settings.profile())
    assert "bank secrecy act" not in graph_of(indexed_app).names
    assert "bsa" in graph_of(indexed_app).names


def test_a_document_is_a_node_by_its_id_and_linked_to_what_it_links_to(indexed_app: App) -> None:
    graph = graph_of(indexed_app)
    a, b = named(graph, "doc-1"), named(graph, "doc-2")
    assert graph.kinds[a] == graph.kinds[b] == "document"
    assert (b, "links to") in [(to, name) for to, _, name in walking.neighbours(graph, a)]


def test_graphs_of_past_generations_go(indexed_app: App) -> None:
    for n in range(5):
        put(indexed_app, {"a.md": page("DOC-1", f"We follow BSA and FinCEN since {n}.")})
        indexed_app.index.builder.build(indexed_app.platform.settings.profile())
        graph_of(indexed_app)
    folder = folder_of(indexed_app)
    assert {path.name for path in (folder.parent / "assembled").iterdir()} <= {p.name for p in folder.parent.iterdir()}


def test_a_profile_without_a_graph_has_no_graph_files_and_says_so(app: App) -> None:
    put(app, FILES)
    plain = app.platform.settings.add_profile(from_mapping({"name": "bare", "graph": "none"}), ME)
    app.index.builder.build(plain)
    folder = app.index.generations.folder(plain) / app.index.generations.current(plain).folder
    assert not graph_rows.present(folder)
    result = app.search.searcher.search("FinCEN", profile="bare", config=configs.parse("trimodal-graph"))
    assert "The graph leg failed: The profile 'bare' has no graph" in result.warnings[0]
    with pytest.raises(Unavailable, match="No leg could answer"):
        app.search.searcher.search("FinCEN", profile="bare", config=configs.parse("graph"))


def test_unknown_ways_to_find_entities_are_refused() -> None:
    with pytest.raises(BadInput, match="profile.graph: 'magic' is unknown. Known: rules, spacy, llm, none."):
        from_mapping({"name": "x", "graph": "magic"})


def test_searching_without_the_graph_leg_never_opens_the_graph(indexed_app: App) -> None:
    hits(indexed_app, "FinCEN", "convex-0.5")
    assert "_graph" not in vars(indexed_app.search.searcher.index())
    hits(indexed_app, "FinCEN", "graph")
    assert "_graph" in vars(indexed_app.search.searcher.index())


def test_a_model_builds_the_graph_and_what_it_botched_is_noted(tmp_path: Path) -> None:
    rows = [
        {"text": "FinCEN", "type": "organisation", "relations": [{"to": "SAR", "name": "collects"}]},
        {"text": "SAR", "type": "form"},
    ]
    llm = ScriptedLlm(json.dumps({"entities": rows}), "nonsense")
    app = build(load({}, home=tmp_path / "home"), clock=FixedClock(), models=SmallModels(llm))
    app.platform.workspace.create()
    profile = app.platform.settings.add_profile(from_mapping({"name": "deep", "graph": "llm"}), ME)
    put(app, {"a.md": "The FinCEN takes the SAR."})
    put(app, {"b.md": "The OFAC takes the SAR."})
    built = app.index.builder.build(profile)
    assert dict(built.fallbacks).keys() == {"b.md"}
    assert built.fallbacks[0][1].startswith("1 of 1 chunks have entities by rules: The answer of scripted was not used")
    asked, note = built.generation.notes
    assert asked.startswith("Language models: 2 calls to scripted")
    assert note.startswith("1 of 2 documents indexed in another way than the profile asks")
    graph = app.search.searcher.index("deep").graph()
    assert (named(graph, "sar"), "collects") in [
        (to, name) for to, _, name in walking.neighbours(graph, named(graph, "fincen"))
    ]
    asked = len(llm.asked)
    put(app, {"b.md": "The OFAC waits."})
    app.index.builder.build(profile)
    assert len(llm.asked) == asked + 1


def test_entities_are_asked_for_as_many_at_once_as_an_endpoint_takes(tmp_path: Path) -> None:
    rows = {"entities": [{"text": "FinCEN", "type": "organisation"}]}
    six = threading.Barrier(6)

    class Slow(ScriptedLlm):
        def complete(self, request: LlmRequest) -> Answer:
            if self.asked:  # the first alone shows that the model is of use
                six.wait(300)  # breaks if fewer come
            return super().complete(request)

    llm = Slow(json.dumps(rows), "nonsense", json.dumps(rows))
    home = load({"CONCORD_LLM_CONCURRENCY": "6"}, home=tmp_path / "home")
    app = build(home, clock=FixedClock(), models=SmallModels(llm))
    app.platform.workspace.create()
    profile = app.platform.settings.add_profile(from_mapping({"name": "deep", "graph": "llm"}), ME)
    put(app, {f"{name}.md": f"FinCEN takes form {name}." for name in "abcdefghijklm"})
    built = app.index.builder.build(profile)
    assert len(built.fallbacks) == 1
    assert len(llm.asked) == 13


# ---------------------------------------------------------------- local search


def test_local_search_goes_two_hops_and_every_hit_says_its_path(indexed_app: App) -> None:
    notes = {hit.path: hit.legs["graph"].note for hit in hits(indexed_app, "what is the bsa", "graph")}
    assert notes["a.md"] in ("BSA", "Bank Secrecy Act")
    assert notes["b.md"].split(" -> ")[1:] == ["FinCEN"]
    assert notes["c.md"].split(" -> ")[1:] == ["FinCEN"]
    assert "d.md" not in notes  # three hops: BSA, FinCEN, SAR, Zurich
    notes = {hit.path: hit.legs["graph"].note for hit in hits(indexed_app, "FINCEN", "graph")}
    assert notes["d.md"] == "FinCEN -> SAR -> Zurich"


def test_hits_stand_in_the_order_of_their_cosine_and_only_reached_chunks_are_hits(indexed_app: App) -> None:
    index = indexed_app.search.searcher.index()
    vector = indexed_app.models.registry.embedder("").query("what is the bsa")
    order = [hit.chunk for hit in hits(indexed_app, "what is the bsa", "graph")]
    dense = [index.passage(chunk).id for chunk in index.dense(vector).search(100, None)]
    assert order == [chunk for chunk in dense if chunk in set(order)]
    leg = LocalLeg(index.graph(), index.dense(vector), "what is the bsa")
    reached = leg.search(100, None)
    other = next(n for n in range(index.size) if n not in reached)
    assert leg.score([other, *reached]) == [-1.0, *reached.values()]


def test_drafts_are_neither_found_nor_walked_through(indexed_app: App) -> None:
    graph = graph_of(indexed_app)
    falcon = named(graph, "project falcon")
    hidden = indexed_app.search.searcher.index().allowed(Filters(), indexed_app.search.searcher.clock.today())
    reach = walking.walk(graph, [named(graph, "fincen")], hidden)
    assert falcon not in reach.hops
    assert falcon in walking.walk(graph, [named(graph, "fincen")], None).hops
    everything = [
        hit.path for config in ("graph", "pagerank") for hit in hits(indexed_app, "Project Falcon FinCEN", config)
    ]
    assert "e.md" not in everything
    assert all("Falcon" not in leg.note for hit in hits(indexed_app, "FinCEN", "graph") for leg in hit.legs.values())
    with pytest.raises(NotFound):
        indexed_app.graph.explorer.around_entity(demo("author"), "Project Falcon")


def test_a_query_that_names_nothing_known_finds_nothing_and_says_so(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("plain talk", config=configs.parse("graph"))
    assert result.hits == ()
    assert [s.note for s in result.stages if s.name == "graph"] == ["the query names no entity of the graph"]
    assert "limits: 8 seeds, 12 relations each, 2,000 chunks" in next(
        s.note
        for s in indexed_app.search.searcher.search("SAR", config=configs.parse("graph")).stages
        if s.name == "graph"
    )


def test_amounts_are_places_to_start_from_but_not_to_pass_through(indexed_app: App) -> None:
    graph = graph_of(indexed_app)
    days = named(graph, "30 day")
    assert days not in walking.walk(graph, [named(graph, "sar")], None).hops
    assert "c.md" in [hit.path for hit in hits(indexed_app, "30 days", "graph")]


def test_growth_is_bounded_by_degree_and_candidates(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    spokes = {f"s{n}.md": page(f"S-{n}", f"Here Hubville meets Spoke{n}ville and Leaf{n}ville.") for n in range(40)}
    put(app, {**spokes, "z.md": page("Z-1", "Only Startville knows Spoke1ville.")})
    app.index.builder.build(app.platform.settings.profile())
    graph = graph_of(app)
    reach = walking.walk(graph, [named(graph, "hubville")], None)
    assert sum(hop == 1 for hop in reach.hops.values()) == walking.DEGREE
    assert sum(reach.added) == int(reach.chunks.sum())


def test_the_embedding_is_made_once_for_dense_and_graph(indexed_app: App) -> None:
    result = indexed_app.search.searcher.search("FinCEN", config=configs.parse("trimodal-graph"))
    assert [stage.name for stage in result.stages].count("embed") == 1
    weights = {name: leg.weight for name, leg in result.hits[0].legs.items()}
    assert weights == {"bm25": 0.35, "dense": 0.5, "graph": 0.15}


@pytest.mark.parametrize("name", ["graph", "pagerank", "trimodal", "trimodal+rerank", "trimodal-graph"])
def test_names_of_configurations_round_trip(name: str) -> None:
    assert configs.name(configs.parse(name)) == name
    assert configs.name(replace(configs.parse("trimodal"), weights=configs.parse("bm25").weights)) != "trimodal"


# ---------------------------------------------------------------- shared entities and PageRank


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30))
def test_pagerank_agrees_with_networkx(edges: set[tuple[int, int]]) -> None:
    pairs = sorted({(a, b) for a, b in edges if a != b} | {(b, a) for a, b in edges if a != b})
    start = np.searchsorted([a for a, _ in pairs], np.arange(9))
    mine = pagerank(start, np.array([b for _, b in pairs], np.int64))
    other = networkx.DiGraph()
    other.add_nodes_from(range(8))
    other.add_edges_from(pairs)
    theirs = networkx.pagerank(other, alpha=0.85, tol=1e-12, max_iter=1000)
    assert np.allclose(mine, [theirs[n] for n in range(8)], atol=1e-8)
    assert mine.sum() == pytest.approx(1.0)


@given(st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=8))
def test_documents_are_joined_exactly_when_they_share_two_entities(documents: list[set[int]]) -> None:
    rows = [(n, entity) for n, entities in enumerate(documents) for entity in sorted(entities)]
    columns = np.array(rows, np.int64).reshape(-1, 2)
    start, to = sharing(columns[:, 0], columns[:, 1], len(documents), 10)
    for n, mine in enumerate(documents):
        expected = [m for m, other in enumerate(documents) if m != n and len(mine & other) >= 2]
        assert to[start[n] : start[n + 1]].tolist() == expected


def test_the_score_is_shared_entities_times_one_plus_pagerank_and_half_without_them(indexed_app: App) -> None:
    index, graph = indexed_app.search.searcher.index(), graph_of(indexed_app)
    leg = PageRankLeg(graph, "FinCEN and SAR")
    ranking = leg.search(100, None)
    both = [n for n, facts in enumerate(index.documents) if facts.path in ("b.md", "c.md")]
    for document in both:
        whole, *others = sorted((leg.score([n])[0] for n in index.chunks_of(document)), reverse=True)
        assert whole == pytest.approx(2 * (1 + graph.document_rank[document]))
        assert all(score == pytest.approx(whole / 2) for score in others)
    assert {index.document_of(chunk) for chunk in list(ranking)[:2]} == set(both)
    assert leg.path(next(iter(ranking))) in ("names FinCEN, SAR", "names SAR, FinCEN")


def test_both_legs_keep_to_the_allowed_chunks(indexed_app: App) -> None:
    for config in ("graph", "pagerank"):
        assert {hit.path for hit in hits(indexed_app, "FinCEN SAR", config, Filters(docs=("DOC-2",)))} == {"b.md"}


# ---------------------------------------------------------------- communities


def test_leiden_separates_two_circles_and_is_the_same_every_time(tmp_path: Path) -> None:
    app = small_app(tmp_path)
    left, right = (" and ".join(f"{side}{x}ville" for x in "abcd") for side in ("Left", "Right"))
    put(app, {"l.md": f"Here {left} meet.\n\nAlso {left}.", "r.md": f"Here {right} meet.\n\nAlso {right}."})
    app.index.builder.build(app.platform.settings.profile())
    graph = graph_of(app)
    seen = np.ones(len(graph.keys), bool)
    membership = detect(graph, seen)
    groups = {membership[named(graph, f"{side}{x}ville")] for side in ("left", "right") for x in "abcd"}
    assert groups == {0, 1}
    assert modularity(graph, membership) == pytest.approx(0.5)
    best, score = app.graph.communities.global_search(demo("author"), "Rightaville; Rightbville; Rightcville", k=1)[0]
    assert best.documents == ("r",)
    assert score > 0.2
    assert "Rightaville" in best.summary


@given(RELATIONS)
def test_communities_are_connected_and_no_worse_than_chance(edges: list[tuple[int, int]]) -> None:
    graph = some_graph(12, edges)
    membership = detect(graph, np.ones(12, bool))
    network = networkx.Graph(edges)
    for number in range(membership.max() + 1):
        members = np.flatnonzero(membership == number).tolist()
        assert len(members) >= community_rules.SMALLEST
        assert networkx.is_connected(network.subgraph(members))
    assert modularity(graph, membership) >= modularity(graph, np.full(12, -1))


def test_communities_are_the_same_in_another_process_with_another_number_of_threads(kb_app: App) -> None:
    graph = graph_of(kb_app)
    script = (
        "import sys, numpy; from pathlib import Path; from core.bootstrap import build; from core.settings import "
        "load; "
        "from core.graph.communities import detect; graph = "
        "build(load(home=Path(sys.argv[1]))).search.searcher.index().graph(); "
        "print(*detect(graph, numpy.ones(len(graph.keys), bool)))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(kb_app.settings.home)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    here = detect(graph, np.ones(len(graph.keys), bool))
    assert [int(number) for number in done.stdout.split()] == here.tolist()
    assert modularity(graph, here) == pytest.approx(0.591, abs=0.02), "as good as igraph's Leiden: 0.588"


def test_another_algorithm_does_not_serve_the_communities_of_the_one_before(
    indexed_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed_app.graph.communities.all(demo("author"))
    (kept,) = (indexed_app.settings.home / "cache" / "communities").glob("*.json")
    kept.write_text(kept.read_text().replace("FinCEN", "of yesterday"))
    monkeypatch.setattr(community_rules, "VERSION", community_rules.VERSION + 1)
    again = build(indexed_app.settings, clock=FixedClock(), models=SmallModels())
    assert all("of yesterday" not in community.summary for community in again.graph.communities.all(demo("author")))


def test_communities_are_kept_on_disk_and_never_quote_drafts(indexed_app: App) -> None:
    first = indexed_app.graph.communities.all(demo("author"))
    assert all("Falcon" not in community.summary for community in first)
    kept = list((indexed_app.settings.home / "cache" / "communities").glob("*.json"))
    assert len(kept) == 1
    again = build(indexed_app.settings, clock=FixedClock(), models=SmallModels())
    kept[0].write_text(kept[0].read_text().replace(first[0].summary, "from the disk"))
    assert again.graph.communities.all(demo("author"))[0].summary == "from the disk"


# ---------------------------------------------------------------- views


def test_around_a_document_its_entities_links_and_kin(indexed_app: App) -> None:
    view = indexed_app.graph.explorer.around_document(demo("author"), "DOC-2", hops=2)
    kinds = {node.label: (node.kind, node.hop) for node in view.nodes}
    assert kinds["Title DOC-2"] == ("document", 0)
    assert kinds["Vienna"] == ("entity", 1)
    assert kinds["Title DOC-1"] == ("document", 1)
    assert kinds["Title DOC-3"] == ("document", 2)
    ids = [node.id for node in view.nodes]
    assert len(set(ids)) == len(ids)
    assert all({edge.source, edge.target} <= set(ids) for edge in view.edges)


def test_around_a_query_seeds_hops_and_ranked_chunks(indexed_app: App) -> None:
    view = indexed_app.graph.explorer.around_query(demo("author"), "what is FinCEN")
    assert [node.label for node in view.nodes if node.kind == "entity" and node.hop == 0] == ["FinCEN"]
    ranks = [node.rank for node in view.nodes if node.kind == "chunk"]
    assert ranks == list(range(1, len(ranks) + 1))
    assert any(note.startswith("hop 2 adds") for note in view.notes)
    assert len(indexed_app.graph.explorer.around_query(demo("author"), "what is FinCEN", limit=3).nodes) <= 3


def test_around_an_entity_and_a_sentence_when_it_is_not_there(indexed_app: App) -> None:
    view = indexed_app.graph.explorer.around_entity(demo("author"), "sar")
    assert {"FinCEN", "Zurich", "SAR"} <= {node.label for node in view.nodes}
    assert next(node for node in view.nodes if node.label == "SAR").sources == ("b.md", "c.md")
    with pytest.raises(NotFound, match="no entity 'Zurihc'. Did you mean: Zurich"):
        indexed_app.graph.explorer.around_entity(demo("author"), "Zurihc")
    with pytest.raises(BadInput, match="between 1 and 300"):
        indexed_app.graph.explorer.around_entity(demo("author"), "sar", limit=301)


def test_links_list_orphans_dead_ends_and_broken_links(indexed_app: App) -> None:
    put(indexed_app, {"f.md": page("DOC-6", "See [gone](gone.md) and [a](a.md).")})
    view = indexed_app.graph.explorer.links(demo("author"))
    assert [(edge.source, edge.target) for edge in view.edges] == [
        ("document:DOC-1", "document:DOC-2"),
        ("document:DOC-6", "document:DOC-1"),
    ]
    assert view.orphans == ("c.md", "d.md", "e.md", "f.md")
    assert view.dead_ends == ("b.md", "c.md", "d.md", "e.md")
    assert view.notes == ("f.md:8 links to gone.md, which does not exist.",)


def test_communities_that_nothing_joins_are_listed_and_not_drawn(app: App) -> None:
    joined = "Ann Alder met Bea Birch and Cal Cedar. Bea Birch knows Cal Cedar. Dan Dogwood met Eva Elm and Fay Fir. "
    joined += "Eva Elm knows Fay Fir. Ann Alder once wrote to Dan Dogwood."
    alone = "Gus Grape met Hal Hazel and Ida Iris. Hal Hazel knows Ida Iris."
    put(app, {"a.md": f"# One\n\n{joined}\n", "b.md": f"# Two\n\n{alone}\n"})
    app.index.builder.build(app.platform.settings.profile())
    view = app.graph.explorer.communities(demo("author"))
    if view.unconnected:
        ends = {end for edge in view.edges for end in (edge.source, edge.target)}
        assert {node.id for node in view.nodes} == ends
        assert any("Hazel" in name for name in view.unconnected)
        assert "listed below, not drawn" in view.notes[1]
    assert any("Hazel" in name for name in (*view.unconnected, *(node.label for node in view.nodes)))


def test_communities_are_nodes_whose_sources_are_documents(indexed_app: App) -> None:
    view = indexed_app.graph.explorer.communities(demo("author"))
    assert view.nodes
    assert all(node.kind == "community" and node.sources and node.detail for node in view.nodes)
