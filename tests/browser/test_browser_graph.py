"""The graph in a real browser: open it, focus a node, follow it into Documents; hostile titles stay text."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.bootstrap import App, build
from pages.ui.graph.network import drawing
from pages.ui.graph.offline import as_html
from tests.conftest import kb_settings, put
from tests.pages.test_graph_page import hostile_view
from tests.support import browser
from tests.support.hostile import PAYLOADS, document

pytestmark = pytest.mark.browser

STAGE = "[...document.querySelectorAll('*')].map((node) => node.shadowRoot?.querySelector('.stage')).find(Boolean)"
READY = f"() => Boolean(({STAGE})?.network)"
PLACE = f"""(id) => {{ const stage = {STAGE}, box = stage.getBoundingClientRect(), at = stage.network.canvasToDOM(stage.network.getPositions([id])[id]);
  return [box.x + at.x, box.y + at.y]; }}"""  # noqa: E501
QUERY = "how+long+do+we+keep+SAR+records"


@pytest.fixture(scope="module")
def own_app(kb_template: Path, tmp_path_factory: pytest.TempPathFactory) -> App:
    home = tmp_path_factory.mktemp("graph") / "kb"
    shutil.copytree(kb_template, home)
    return build(kb_settings(home))


def show(screen: browser.Screen, address: str) -> None:
    """Open a view and wait until it is drawn."""
    screen.open(address)
    screen.page.wait_for_function(READY)
    screen.page.wait_for_timeout(250)


def click(screen: browser.Screen, node: str) -> None:
    screen.page.mouse.click(*screen.page.evaluate(PLACE, node))


def test_a_downloaded_picture_opens_without_a_network_and_asks_for_nothing(chromium: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    file = tmp_path / "graph.html"
    view = hostile_view()
    data = drawing(view, "type", {node.label: (node.label, node.label) for node in view.nodes})
    file.write_text(as_html(f"Graph {PAYLOADS[0]}", data), encoding="utf-8")
    page = browser.new_page(chromium)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.wait_for_function("() => Boolean(document.querySelector('.stage')?.network)")
    expect(page.locator("h1")).to_have_text(f"Graph {PAYLOADS[0]}")
    ending = "</script><img src=x onerror=window.__pwned=1>"
    page.get_by_label("Find a node").fill(ending)
    page.keyboard.press("Enter")
    side = page.locator("aside.side")
    expect(side.locator("h2")).to_have_text(ending)
    expect(side.locator(".source")).to_contain_text(ending)
    expect(side.get_by_role("link")).to_have_count(0)
    expect(side.get_by_role("button", name="Look around it")).to_have_count(0)
    assert page.evaluate("window.__pwned") is None
    assert asked == [file.as_uri()]
    page.context.close()


@pytest.mark.slow
def test_focus_a_node_look_around_it_and_open_its_document(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url:
        with browser.screen(chromium, url) as screen:
            show(screen, "/graph?view=Document&around=BSA-SOP-002")
            side = screen.page.locator("aside.side")
            expect(side).to_contain_text("nodes")
            click(screen, "entity:suspicious activity report")
            expect(side.locator("h2")).to_have_text("SAR")
            expect(side).to_contain_text("In 5 documents")
            expect(screen.page.locator(".frame")).to_have_attribute("data-key", "entity:suspicious activity report")
            screen.page.wait_for_timeout(300)
            screen.shot("graph")
            side.get_by_role("button", name="Look around it").click()
            expect(screen.page).to_have_url(re.compile("view=Entity.*entity=SAR|entity=SAR.*view=Entity"))
            screen.settle()
            screen.page.wait_for_function(READY)
            expect(side).to_contain_text("relations")
            screen.page.get_by_label("Find a node").fill("bsa off")
            screen.page.keyboard.press("Enter")
            expect(side.locator("h2")).to_have_text("BSA Officer")
            screen.page.keyboard.press("Escape")
            expect(side).to_contain_text("Largest")
            side.get_by_role("button", name="BSA Officer").click()
            side.get_by_role("link", name="Currency transaction reports").click()
            expect(screen.page).to_have_url(re.compile("documents.*doc=BSA-SOP-001"))
        with browser.screen(chromium, url, scheme="dark") as screen:
            show(screen, "/graph?view=Entity&entity=SAR&hops=2")
            click(screen, "entity:bsa officer")
            expect(screen.page.locator("aside.side h2")).to_have_text("BSA Officer")
            screen.page.get_by_role("button", name="Look around it").click()  # where the box of the entity is shown
            expect(screen.page).to_have_url(re.compile(r"entity=BSA(\+|%20)Officer"))
            expect(screen.settle().page.get_by_label("Entity", exact=True)).to_have_value("BSA Officer")
            screen.page.wait_for_timeout(300)
            screen.shot("graph-dark")
        with browser.screen(chromium, url) as screen:
            for name, address in {
                "graph-query": f"/graph?view=Query&about={QUERY}&hops=2",
                "graph-links": "/graph?view=Links",
                "graph-communities-dark": "/graph?view=Communities",
            }.items():
                if name.endswith("-dark"):
                    screen.look("dark")
                show(screen, address)
                assert screen.page.locator("[data-testid=stException]").count() == 0
                wide = screen.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
                assert not wide, "nothing sticks out at 1280 px"
                screen.shot(name)


@pytest.mark.slow
def test_filters_are_in_the_address_and_come_back_with_it(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        show(screen, "/graph?view=Document&around=BSA-SOP-002")
        side, chosen = screen.page.locator("aside.side"), screen.page.locator("[data-tag]")
        everything = side.inner_text()
        screen.page.get_by_role("combobox", name="Types").click()
        screen.page.get_by_role("option", name="Form", exact=True).click()
        expect(screen.page).to_have_url(re.compile("of_type=Form"))
        screen.page.reload()
        expect(screen.settle().page).to_have_url(re.compile("of_type=Form"))
        expect(chosen).to_have_text("Form")
        expect(side).not_to_have_text(everything)
        screen.page.go_back()
        expect(screen.settle().page).not_to_have_url(re.compile("of_type"))
        expect(chosen).to_have_count(0)


@pytest.mark.slow
def test_how_two_entities_are_connected(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url:
        with browser.screen(chromium, url) as screen:
            screen.open("/graph?view=Path&connect=SAR")
            to = screen.page.get_by_role("combobox", name="To")
            to.click()
            to.fill("OFAC")
            screen.page.get_by_role("option", name="OFAC", exact=True).click()
            heading = screen.page.locator("summary").first
            expect(heading).to_have_text("SAR→MECU→OFAC")
            screen.page.reload()
            screen.settle()
            expect(heading).to_have_text("SAR→MECU→OFAC")
            screen.shots("graph-path")
            screen.page.locator(".stop").nth(1).get_by_role("button").click()
            expect(screen.page).to_have_url(re.compile("entity=MECU"))
            screen.open("/graph?view=Path&connect=SAR&with=OFAC")
            screen.page.locator(".witness a").first.click()
            expect(screen.page).to_have_url(re.compile("documents.*doc=.*start="))
        with browser.screen(chromium, url, width=390) as screen:
            screen.open("/graph?view=Path&connect=SAR&with=OFAC")
            expect(screen.page.locator(".stop").first).to_contain_text("SAR")
            wide = screen.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
            assert not wide, "nothing sticks out at 390 px"


def test_hostile_names_in_a_path_stay_text(chromium: Any) -> None:
    with browser.component(chromium, "chain") as page:
        nodes = [
            {"id": f"entity:{n}", "label": text, "kind": "entity", "about": text} for n, text in enumerate(PAYLOADS)
        ]
        witness = {"title": PAYLOADS[0], "quote": PAYLOADS[1], "place": {"doc": PAYLOADS[2], "start": 1, "end": 2}}
        step = {"relation": PAYLOADS[3], "count": "1 passage", "witnesses": [witness], "more": 1}
        path = {"nodes": nodes, "steps": [step] * (len(nodes) - 1)}
        page.evaluate("(data) => window.show(data)", {"paths": [path, path]})
        assert page.locator(".stop").count() == 2 * len(PAYLOADS)
        assert page.locator("script, img, iframe, svg, object, form").count() == 0
        assert page.evaluate("window.__pwned") is None
        page.locator(".witness a").first.click()
        assert parse_qs(urlsplit(page.url).query)["doc"] == [PAYLOADS[2]]


def point_at(screen: browser.Screen, node: str, words: str) -> None:
    """Hold the mouse over a node until its tip says what it must; the camera may still be on its way."""
    for _ in range(40):
        x, y = screen.page.evaluate(PLACE, node)
        screen.page.mouse.move(x + 3, y + 3)
        screen.page.mouse.move(x, y)
        screen.page.wait_for_timeout(250)
        if words in " ".join(screen.page.locator(".tip strong").all_inner_texts()):
            return
    raise AssertionError(f"No tip says {words!r}.")


@pytest.mark.slow
def test_hostile_titles_run_nowhere(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    put(own_app, {f"it/hostile-{n}.md": document(n, text) for n, text in enumerate(PAYLOADS)})
    with browser.server(own_app.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        show(screen, "/graph?view=Links")
        for n in (0, 2, 4, 8):
            screen.page.get_by_label("Find a node").fill(f"Hostile {n} ")
            screen.page.keyboard.press("Enter")
            expect(screen.page.locator("aside.side h2")).to_contain_text(f"Hostile {n} ")
            point_at(screen, f"document:HOSTILE-{n}", f"Hostile {n} <")
        assert screen.page.evaluate("window.__pwned") is None
        elements = (
            f"[...({STAGE}).getRootNode().querySelectorAll('script, img, iframe, svg, style ~ style, object, "
            "form')].length"
        )
        assert screen.page.evaluate(elements) == 0
