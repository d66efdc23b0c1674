"""The graph page under AppTest: every view, what is missing, who may see it, and texts that would like to be
programs.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from core.bootstrap import App
from core.services.graph.view import GraphEdge, GraphNode, GraphView
from pages.ui.graph.network import HIGH, WIDE, bundle, drawing, settle
from pages.ui.graph.offline import as_html
from pages.ui.graph.tables import narrowed
from pages.ui.graph.views import largest
from pages.ui.menu import PAGES
from tests.conftest import ROOT, demo, examples, indexed, put, serve, small_app
from tests.support.apptest import PATIENCE, all_drawn, words
from tests.support.hostile import PAYLOADS, document
from tests.support.small_kb import FILES

Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def graph_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    """A small workspace with an index."""
    return indexed(tmp_path_factory.mktemp("graph") / "home", FILES)


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, graph_app: App) -> Open:
    """Open the page on an address, as a persona."""

    def go(where: App = graph_app, persona: str = "admin", **query: str) -> AppTest:
        serve(where, monkeypatch)
        app = AppTest.from_file(str(ROOT / "pages" / "graph.py"), default_timeout=PATIENCE)
        app.session_state["persona"] = persona
        for name, value in query.items():
            app.query_params[name] = value
            if name in ("view", "about", "entity", "connect", "with", "as"):
                app.session_state[name] = value
        app.run()
        assert not app.exception, app.exception
        return app

    return go


def drawn(app: AppTest) -> Any:
    """What the canvas was given to draw."""
    (shown,) = all_drawn(app, "network")
    return shown


def test_the_menu_leads_here() -> None:
    assert ("graph", "Graph") in [(name, title) for name, title, _, _ in PAGES["Analysis"]]


def test_around_a_document_it_is_the_start_and_what_it_names_is_near(visit: Open) -> None:
    data = drawn(visit(view="Document", around="BSA-1"))
    (start,) = [node for node in data["nodes"] if node["borderWidth"] > 2]
    assert start["id"] == "document:BSA-1"
    assert start["shape"] == "square"
    assert data["about"]["document:BSA-1"]["sources"][0][0] == "BSA-1"
    assert data["options"]["physics"] == {"enabled": False}
    ids = {node["id"] for node in data["nodes"]}
    assert all({edge["from"], edge["to"]} <= ids for edge in data["edges"])


def test_around_a_query_each_passage_says_its_hop_and_where_it_landed(visit: Open) -> None:
    app = visit(view="Query", about="who files FinCEN Form 111")
    ranks = sorted(node["label"].split(" · ")[0] for node in drawn(app)["nodes"] if node["shape"] == "diamond")
    assert ranks[0] == "1"
    table = app.dataframe[0].value
    assert {"Graph leg", "Hop", "Production", "Tri-modal", "Passage", "By way of"} <= set(table.columns)
    assert list(table["Graph leg"]) == list(range(1, len(table) + 1))
    assert all(re.fullmatch(r"/documents\?doc=.+&start=\d+&end=\d+&version=1", link) for link in table["Open"])
    places = [one["place"] for one in drawn(app)["about"].values() if one["kind"] == "Passage"]
    assert places
    assert all(one["start"] < one["end"] for one in places)
    assert "Hop 0 adds" in words(app)
    assert len(app.get("plotly_chart")) == 1


def test_a_query_that_names_nothing_says_so(visit: Open) -> None:
    assert "names no entity" in words(visit(view="Query", about="zzzz qqqq"))
    assert "Ask something" in words(visit(view="Query"))


def test_an_entity_that_is_not_there_is_a_sentence(visit: Open) -> None:
    assert "The graph has no entity" in words(visit(view="Entity", entity="Zebra crossing"))


def test_a_document_that_is_not_there_is_a_sentence(visit: Open) -> None:
    assert "There is no document NOPE" in words(visit(view="Document", around="NOPE"))
    assert "There is no document" not in words(visit(view="Document", around="BSA-1"))


def test_any_entity_of_the_list_can_be_looked_around(graph_app: App, kb_app: App) -> None:
    for graphs in (graph_app.graph.explorer, kb_app.graph.explorer):
        listed = graphs.entities(demo("author"), 40)
        assert [one.size for one in listed] == sorted((one.size for one in listed), reverse=True)
        assert {one.kind for one in listed} == {"entity"}
        for one in listed:
            starts = {node.id for node in graphs.around_entity(demo("author"), one.label).nodes if node.hop == 0}
            assert one.id in starts


# ---------------------------------------------------------------- how are these connected?


def test_a_path_is_a_chain_whose_steps_quote_passages_that_open(visit: Open, kb_app: App) -> None:
    app = visit(kb_app, view="Path", connect="SAR", **{"with": "OFAC"})
    paths = all_drawn(app, "chain")[0]["paths"]
    assert "SAR and OFAC are 2 steps apart." in words(app)
    for path in paths:
        labels = [node["label"] for node in path["nodes"]]
        assert (labels[0], labels[-1]) == ("SAR", "OFAC")
        assert len(path["steps"]) == 2
        for step in path["steps"]:
            assert 1 <= len(step["witnesses"]) <= 3
            assert all(witness["quote"] and witness["place"]["doc"] for witness in step["witnesses"])
    assert all_drawn(app, "listing")[0]["items"], "documents that name both"


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        ({}, "Choose two entities"),
        ({"connect": "SAR"}, "Choose two entities"),
        ({"connect": "SAR", "with": "SARs"}, "'SAR' and 'SARs' are the same entity"),
        ({"connect": "SAR", "with": "Zebra crossing"}, "The graph has no entity 'Zebra crossing'"),
        ({"connect": "SAR", "with": PAYLOADS[0]}, "The graph has no entity"),
        ({"connect": "Savannah", "with": "OFAC"}, "There is no path: Savannah is connected only with "),
    ],
)
def test_without_a_path_a_sentence_says_why(visit: Open, kb_app: App, ends: dict[str, str], sentence: str) -> None:
    app = visit(kb_app, view="Path", **ends)
    assert sentence in re.sub(r"\\(.)", r"\1", words(app))
    assert not all_drawn(app, "chain")


def test_links_list_orphans_and_dead_ends(visit: Open, tmp_path: Path) -> None:
    made = small_app(tmp_path / "linked")
    put(made, {"a.md": "# A\n\n[b](b.md) and [gone](gone.md)\n", "b.md": "# B\n\nends here\n"})
    app = visit(made, view="Links")
    said = words(app)
    assert "Orphans (1)" in said
    assert "Dead ends (1)" in said
    assert "Broken links (1)" in said
    assert len(drawn(app)["edges"]) == 1, "links need no index"


def test_the_table_holds_what_the_picture_holds(visit: Open) -> None:
    picture = drawn(visit(view="Document", around="BSA-1"))
    app = visit(view="Document", around="BSA-1", **{"as": "Table"})
    assert not all_drawn(app, "network")
    assert len(app.dataframe[0].value) == len(picture["nodes"])
    assert len(app.dataframe[1].value) == len(picture["edges"])
    assert app.dataframe[0].proto.HasField("placeholder"), "a cell without a value is empty, not None"


def test_without_documents_and_without_an_index_every_view_says_what_to_do(visit: Open, tmp_path: Path) -> None:
    made = small_app(tmp_path / "home")
    for view in ("Document", "Links"):
        assert "There are no documents yet" in words(visit(made, view=view))
    put(made, dict(FILES))
    for view in ("Document", "Entity", "Path", "Communities"):
        for persona, then in (("admin", "Build one, then come back."), ("author", "An admin builds one")):
            said = words(visit(made, persona, view=view))
            assert "There is no index yet" in said
            assert then in said
            assert "python -m core" not in said, "a command is of no use on a page"


def test_readers_do_not_reach_the_graph(visit: Open) -> None:
    app = visit(persona="reader")
    assert "Not for this role" in words(app)
    assert not app.get("bidi_component")


def test_communities_of_the_demo_are_summed_up_and_searched(visit: Open, kb_app: App) -> None:
    app = visit(kb_app, view="Communities")
    assert {node["shape"] for node in drawn(app)["nodes"]} == {"hexagon"}
    assert "communities by" in words(app)
    app.text_input(key="graph_global").set_value("who may approve a payment").run()
    (answers,) = all_drawn(app, "listing")
    scores = [float(item["right"]) for item in answers["items"]]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)


# ---------------------------------------------------------------- nothing runs


def test_hostile_titles_are_labels_and_nothing_else(visit: Open, tmp_path: Path) -> None:
    made = small_app(tmp_path / "hostile")
    put(made, {f"it/hostile-{n}.md": document(n, text) for n, text in enumerate(PAYLOADS[:12])})
    data = drawn(visit(made, view="Links"))
    assert any("<script>" in one["label"] for one in data["about"].values()), "text stays what it is"
    assert {key for node in data["nodes"] for key in node} == {
        "id",
        "label",
        "shape",
        "color",
        "x",
        "y",
        "size",
        "borderWidth",
    }, "no title that vis-network could read as markup"


class Tags(HTMLParser):
    """The tags of a file with their attributes, and what each script holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.scripts += [""] * (tag == "script")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def hostile_view() -> GraphView:
    """A view whose every text would like to be a program, or to end the script that it is in."""
    texts = [
        *PAYLOADS,
        "</script><img src=x onerror=window.__pwned=1>",
        "<!--<script>",
        "{{ 7 * 7 }}{% raw %}",
        "\u2028",
    ]
    nodes = [
        GraphNode(f"entity:{text}", text, "entity", text, text, 0.1, sources=(text,), detail=text) for text in texts
    ]
    edges = [GraphEdge(nodes[0].id, node.id, 1.0, node.label) for node in nodes[1:]]
    return GraphView(tuple(nodes), tuple(edges))


def test_a_picture_as_a_file_loads_nothing_and_runs_its_own_scripts_only() -> None:
    data = drawing(hostile_view(), "type", {text: (text, text) for text in PAYLOADS})
    page = Tags(as_html(f"Graph {PAYLOADS[0]}", data))
    assert [tag for tag, _ in page.tags] == [
        "html",
        "head",
        "meta",
        "meta",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "div",
        "script",
        "script",
        "script",
    ]
    assert {name for _, attributes in page.tags for name in attributes} <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "id",
        "class",
        "type",
    }, "nothing with an address"
    policy = next(attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes)
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in page.scripts[1:]]
    scripts = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}"
    kept = json.loads(page.scripts[0])
    assert (kept["nodes"], kept["relations"]) == (data["nodes"], [list(one) for one in data["relations"]])


def test_the_picture_can_be_downloaded_and_the_table_not(visit: Open) -> None:
    (button,) = visit(view="Document", around="BSA-1").get("download_button")
    assert button.proto.label == "Download as HTML"
    assert not visit(view="Document", around="BSA-1", **{"as": "Table"}).get("download_button")


def test_the_bundle_and_the_component_never_parse_markup() -> None:
    ours = (ROOT / "pages" / "ui" / "components" / "network.js").read_text()
    for script in (ours, bundle()):
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval("):
            assert word not in script, word


# ---------------------------------------------------------------- laws of the picture

GRAPHS = some.integers(1, 30).flatmap(
    lambda n: some.tuples(
        some.lists(some.integers(0, 2), min_size=n, max_size=n),
        some.lists(some.tuples(some.integers(0, n - 1), some.integers(0, n - 1)), max_size=60),
    )
)


@examples(25)
@given(GRAPHS)
def test_every_layout_is_the_same_twice_and_inside_its_box(graph: tuple[list[int], list[tuple[int, int]]]) -> None:
    places = settle(*graph)
    assert places == settle(*graph)
    assert len(places) == len(graph[0])
    assert all(abs(x) <= WIDE / 2 and abs(y) <= HIGH / 2 for x, y in places)


def star(leaves: int) -> GraphView:
    nodes = [GraphNode("document:d", "Start", "document", "sop", "it", 0.5, sources=("it/d.md",))]
    nodes += [
        GraphNode(f"entity:{n}", f"E{n}", "entity", "name", size=0.1 + n, hop=1, sources=("hr/e.md",))
        for n in range(leaves)
    ]
    edges = [GraphEdge("document:d", f"entity:{n}", float(n + 1), "names") for n in range(leaves)]
    return GraphView(tuple(nodes), tuple(edges))


def test_sizes_follow_pagerank_and_widths_follow_weight() -> None:
    data = drawing(star(9), "type", {})
    sizes = [node["size"] for node in data["nodes"][1:]]
    assert sizes == sorted(sizes)
    widths = [edge["width"] for edge in data["edges"]]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_filters_keep_the_start_and_cut_edges_with_their_nodes() -> None:
    kept = narrowed(star(4), ["Policy"], [])
    assert [node.id for node in kept.nodes] == ["document:d"]
    assert kept.edges == ()
    assert len(narrowed(star(4), [], ["hr"]).nodes) == 5
    assert narrowed(star(4), [], []) == star(4)


def test_a_picture_shows_three_hundred_nodes_and_no_more() -> None:
    shown = largest(star(400))
    assert len(shown.nodes) == 300
    assert shown.nodes[0].id == "document:d", "the start stays"
    assert "entity:399" in {node.id for node in shown.nodes}, "and so do the largest"
    assert "entity:0" not in {node.id for node in shown.nodes}
