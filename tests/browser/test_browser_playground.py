"""The playground in a real browser: run, move, explain, judge, share, and come back elsewhere to the same state."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from tests.conftest import demo, kb_settings
from tests.support import browser

pytestmark = pytest.mark.browser

QUERY = "how long do we keep SAR records"
ROOT = "[...document.querySelectorAll('*')].find((node) => node.shadowRoot?.querySelector('.board')).shadowRoot"
ORDER = (
    "(n) => [...%s.querySelectorAll(`[data-key='column-${n}'] article`)].map((node) => "
    "node.getAttribute('data-key')).join()"
)


@pytest.fixture
def own_app(kb_template: Path, tmp_path: Path) -> App:
    shutil.copytree(kb_template, tmp_path / "kb")
    made = build(kb_settings(tmp_path / "kb"))
    made.platform.workspace.create()
    return made


def columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column("local", presets()[name], name) for name in names)


def order(screen: browser.Screen, column: int) -> str:
    return str(screen.page.evaluate(ORDER % ROOT, column))


def run(screen: browser.Screen, query: str) -> None:
    """Run a query as a person would, until its hits are drawn."""
    screen.key("playground_q").locator("textarea").fill(query)
    screen.key("playground_q").locator("textarea").press("Control+Enter")
    drawn = (
        "(query) => { const root = [...document.querySelectorAll('*')].map((node) => "
        "node.shadowRoot?.querySelector('.board')).find(Boolean); return root && root.getAttribute('data-query') "
        "=== query && root.querySelector('article'); }"
    )
    screen.page.wait_for_function(drawn, arg=query, polling="raf")
    screen.settle()


def test_run_move_explain_judge_share_and_come_back(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url:
        with browser.screen(chromium, url) as screen:
            screen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            screen.open("/")
            screen.page.get_by_role("link", name="Playground").click()
            screen.settle()
            run(screen, QUERY)
            expect(screen.page.locator(".column")).to_have_count(3)
            expect(screen.page.locator(".column").nth(2)).to_contain_text(">= tau 0.7")
            screen.page.wait_for_timeout(500)
            screen.shot("playground")

            baseline, before = order(screen, 0), order(screen, 1)
            slider = screen.page.get_by_label("alpha of column B")
            slider.fill("0.6")
            for _ in range(10):
                slider.press("ArrowLeft")
            expect(screen.page.locator(".column").nth(1).locator("output").first).to_have_text("0.5")
            screen.page.wait_for_function(f"(was) => ({ORDER % ROOT})(1) !== was", arg=before)
            screen.settle()
            assert order(screen, 0) == baseline, "the first column stays"

            card = screen.page.locator(".column").nth(1).locator("article").first
            card.get_by_role("button", name="Why").click()
            expect(card).to_contain_text("Meaning (vectors)")
            expect(card).to_contain_text("Fused score")
            card.get_by_role("button", name="Grade 3: answers it").click()
            screen.settle()
            second = screen.page.locator(".column").nth(1).locator("article").nth(1)
            second.focus()
            screen.page.keyboard.press("1")
            screen.settle()
            expect(second.get_by_role("button", name="Grade 1: related")).to_have_attribute("aria-pressed", "true")
            assert sorted(said.grade for said in own_app.playground.grades.of(demo("author"), QUERY)) == [1, 3]
            card.get_by_role("button", name="Around it").click()
            screen.settle()
            expect(screen.page.locator(".around").first).to_be_visible()
            screen.shot("playground-why")

            screen.page.get_by_role("button", name="Copy link").click()
            screen.settle()
            link = screen.page.evaluate("navigator.clipboard.readText()")
            assert re.fullmatch(rf"{url}/playground\?link=[0-9a-f]{{10}}", link)
            expect(screen.page).to_have_url(link)
            orders = [order(screen, n) for n in range(3)]
        with browser.screen(chromium, url) as other:
            other.open(link.removeprefix(url))
            expect(other.page.locator(".column")).to_have_count(3)
            expect(other.page.locator("article").first).to_be_visible()
            expect(other.key("playground_q").locator("textarea")).to_have_value(QUERY)
            expect(other.page.locator(".column").nth(1).locator("output").first).to_have_text("0.5")
            assert [order(other, n) for n in range(3)] == orders
            other.page.get_by_role("button", name="Grade 3: answers it").first.wait_for()
            other.page.get_by_role("link", name="Suspicious activity reports").first.click()
            other.settle()
            expect(other.page).to_have_url(re.compile(r"doc=BSA-SOP-002&start=\d+"))
            expect(other.page.locator(".marked").first).to_be_in_viewport()


@pytest.mark.slow
def test_every_screen_of_the_playground(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    three, four = (
        columns("BM25", "Convex 0.3", "Conditional rerank"),
        columns("BM25", "Vectors", "Convex 0.3", "RRF 60"),
    )
    hits = own_app.search.searcher.search(QUERY).hits
    for n, grade in ((0, 1), (1, 3), (2, 2)):
        own_app.playground.grades.judge(demo("admin"), QUERY, hits[n], grade)
    setups = {
        "playground": Setup(QUERY, three),
        "playground-four": Setup(QUERY, four),
        "playground-strip": Setup(QUERY, three, tool="Alpha strip"),
        "playground-tau": Setup(QUERY, three, tool="Tau line"),
        "playground-where": Setup(QUERY, three, tool="Where is my document?", document="HR-POL-004"),
        "playground-blind": Setup(QUERY, three, blind=True),
    }
    with browser.server(own_app.settings.home, tmp_path / "server.log") as url:
        for name, setup in setups.items():
            link = own_app.playground.notebook.keep(demo("admin"), setup)
            for scheme in ("light", "dark"):
                with browser.screen(chromium, url, scheme=scheme) as screen:
                    screen.open(f"/playground?link={link}")
                    expect(screen.page.locator("article").first).to_be_visible()
                    screen.page.wait_for_timeout(900)
                    assert screen.page.locator("[data-testid=stException]").count() == 0
                    wide = screen.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
                    assert not wide, "nothing sticks out at 1280 px"
                    screen.shot(name if scheme == "light" else f"{name}-dark")
        with browser.screen(chromium, url) as screen:
            screen.open("/playground")
            screen.page.get_by_role("button", name="Adjust").nth(1).click()
            expect(screen.page.get_by_role("dialog")).to_contain_text("Save for the team")
            screen.page.get_by_label("Name").fill("Our favourite")
            screen.key("adjust_save").get_by_role("button").click()
            expect(screen.page.get_by_label("Configuration of column B")).to_have_value("Our favourite")
        assert list(own_app.playground.notebook.saved(demo("author"))) == ["Our favourite"]
