"""Hostile documents are text, on every screen."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.curation.document.frontmatter import read_document
from core.curation.text.render import TAGS, plain, render
from core.services.people.accounts import NewAccount
from core.services.reviews.discussion import CommentPlace
from core.types import Document
from tests.conftest import put
from tests.support import browser
from tests.support.bases import settled
from tests.support.hostile import INSPECT, PAYLOADS, document

ATTRIBUTES = {
    "start",
    "end",
    "id",
    "href",
    "doc",
    "anchor",
    "refused",
    "first",
    "align",
    "language",
    "image",
    "elsewhere",
    "picture",
    "alt",
}


def check(node: Any) -> None:
    if isinstance(node, str):
        return
    tag, attributes, children = node
    assert tag in TAGS
    assert set(attributes) <= ATTRIBUTES
    assert str(attributes.get("href", "https:")).lower().startswith(("http:", "https:", "mailto:"))
    assert str(attributes.get("elsewhere", "https:")).lower().startswith(("http:", "https:"))
    assert not re.search(r"^/|:|\\|(^|/)\.\.(/|$)", str(attributes.get("picture", ""))), "a path of the knowledge base"
    for child in children:
        check(child)


def test_there_are_at_least_fifty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 50


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_payload_becomes_harmless_nodes(payload: str) -> None:
    made = render(Document("d", "it/d.md", "D", payload))
    for node in made.nodes:
        check(node)
    json.dumps(made.nodes)
    assert isinstance(plain(payload), str)
    assert read_document("it/h.md", document(1, payload)).id == "HOSTILE-1"


def test_huge_documents_are_drawn_in_part_and_say_so() -> None:
    made = render(Document("d", "d.md", "D", "".join(f"# h{n}\n\n" for n in range(2000))))
    assert len(made.nodes) == 1500
    assert made.hidden == 500
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 2000
    assert len(render(Document("d", "d.md", "D", table)).nodes) == 1
    assert render(Document("d", "d.md", "D", ">" * 10_000 + " x")).nodes
    assert render(Document("d", "d.md", "D", "[" * 20_000)).nodes


@pytest.fixture
def hostile_app(tmp_path: Path, request: pytest.FixtureRequest) -> App:
    """Hostile documents and a hostile change. The quick suite has them in one text, on an index that costs nothing to
    build.
    """
    app = settled(tmp_path / "kb")
    files = {f"it/hostile-{n}.md": document(n, payload) for n, payload in enumerate(PAYLOADS)}
    if request.node.callspec.id == "quick":
        files = dict(list(files.items())[:4])
    files["it/hostile-all.md"] = (
        "---\nid: HOSTILE-ALL\ntitle: Hostile all\n---\n# Hostile all\n\nhostileword\n\n" + "\n\n".join(PAYLOADS) + "\n"
    )
    files["it/hostile-huge.md"] = (
        "---\nid: HOSTILE-HUGE\n---\n# Huge\n\n"
        + "| a | b |\n|---|---|\n"
        + "| 1 | 2 |\n" * 2000
        + "".join(f"\n## h{n}\n" for n in range(3000))
    )
    put(app, files, "<script>window.__pwned=1</script>")
    put(app, {"it/hostile-all.md": files["it/hostile-all.md"] + "\n<img src=x onerror=window.__pwned=1>\n"}, "again")
    app.index.builder.build(app.platform.settings.profile())
    proposed(app)
    return app


def proposed(app: App) -> None:
    """A change that carries payloads wherever a change can carry text, by somebody with a hostile name."""
    app.platform.workspace.create()
    name = "<img src=x onerror=window.__pwned=1>"
    app.people.accounts.add(
        app.people.accounts.actor("admin"), NewAccount("mallory", name, "mallory@example.org", "author")
    )
    mallory, all_of_it = app.people.accounts.actor("mallory"), "\n\n".join(PAYLOADS)
    files = {"it/hostile-all.md": f"# Hostile\n\n{all_of_it}\n".encode(), "it/hostile-1.md": None}
    change = app.reviews.changes.propose(
        mallory, "<script>window.__pwned=1</script> [x](javascript:window.__pwned=1)", files, all_of_it
    )
    app.reviews.discussion.comment(mallory, change.id, all_of_it)
    body = f"{all_of_it}\n\n```suggestion\n<script>window.__pwned=1</script>\n```"
    app.reviews.discussion.comment(mallory, change.id, body, CommentPlace("it/hostile-all.md", 3))
    app.reviews.changes.submit(mallory, change.id)
    app.reviews.discussion.request_changes(app.people.accounts.actor("reviewer"), change.id, all_of_it)


TABS = 4  # screens that load at the same time
SCREENS = [
    "/",
    "/search?q=hostileword",
    "/search?q=%3Cscript%3Ewindow.__pwned%3D1%3C%2Fscript%3E",
    "/search?q=hostileword&types=%3Cscript%3E&owners=%22%3E%3Cimg%20src%3Dx%20onerror%3Dwindow.__pwned%3D1%3E",
    "/documents",
    "/documents?doc=HOSTILE-ALL",
    "/documents?doc=HOSTILE-ALL&tab=History",
    "/documents?doc=HOSTILE-ALL&tab=Links",
    "/documents?doc=HOSTILE-ALL&tab=Chunks",
    "/documents?doc=HOSTILE-3",
    "/documents?doc=HOSTILE-HUGE",
    "/documents?doc=%3Cscript%3Ewindow.__pwned%3D1%3C%2Fscript%3E",
    "/index",
    "/reviews",
    "/reviews?queue=open",
    "/reviews?change=1",
    "/reviews?change=1&side=Chunks",
    "/reviews?change=1&side=Discussion",
    "/reviews?change=%3Cscript%3Ewindow.__pwned%3D1%3C%2Fscript%3E",
    "/documents?doc=HOSTILE-ALL&do=edit",
    "/documents?do=edit&change=1&path=it/hostile-all.md",
    "/freshness",
    "/audit",
    "/accounts",
]


# ways to draw text: a text, a diff, chunks, a change with its discussion, an editor; hits come last
QUICK = [SCREENS[n] for n in (5, 6, 8, 17, 19)]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("screens", "tabs_at_once"),
    [(QUICK, 1), pytest.param(SCREENS, TABS, marks=pytest.mark.slow)],
    ids=["quick", "every"],
)
def test_no_screen_runs_or_loads_what_a_document_says(
    screens: list[str], tabs_at_once: int, chromium: Any, hostile_app: App, tmp_path: Path
) -> None:
    environment = {"CONCORD_CACHE": str(hostile_app.settings.cache), "CONCORD_WORKERS": str(tabs_at_once - 1)}
    with (
        browser.server(hostile_app.settings.home, tmp_path / "server.log", **environment) as url,
        ExitStack() as stack,
    ):
        tabs = [stack.enter_context(browser.screen(chromium, url)) for _ in range(tabs_at_once)]
        dialogs: list[str] = []
        for tab in tabs:
            tab.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        for n in range(0, len(screens), tabs_at_once):
            batch = list(zip(tabs, screens[n : n + tabs_at_once], strict=False))
            for tab, path in batch:
                if n and tabs_at_once == 1:
                    tab.go(path)
                else:
                    tab.page.goto(url + path, wait_until="commit")
            for tab, _ in batch:
                tab.settle()
            tabs[0].page.wait_for_timeout(500)
            for tab, path in batch:
                assert tab.page.evaluate("window.__pwned") is None, path
                assert tab.page.locator("[data-testid=stException]").count() == 0, path
                assert tab.page.evaluate(INSPECT) == [], path
        screen = tabs[0].go("/search?q=hostileword")
        screen.page.locator(".menu summary").first.click()
        screen.page.get_by_role("button", name="Why this rank").first.click()
        for link in screen.page.locator("article a").all()[:5]:
            link.hover()
        assert screen.page.evaluate("window.__pwned") is None
        assert dialogs == []
