"""The playground in a real browser: run, move, explain, judge, share, and come back elsewhere to the same state."""

from __future__ import annotations

import re
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App, build
from core.retrieval.presets import presets
from core.services.playground.compare import Column
from core.services.playground.notebook import Setup
from core.settings import load
from tests import browser
from tests.conftest import demo, kb_settings

pytestmark = pytest.mark.browser

QUERY = "how long do we keep SAR records"
LARGE = 20_000  # chunks
OTHERS = (
    "who signs for a wire of 200,000",
    "carrier labels do not print",
    "hazmat training every three years",
    "what a new teller learns first",
    "when a customer disputes a charge",
)
ROOT = "[...document.querySelectorAll('*')].find((node) => node.shadowRoot?.querySelector('.board')).shadowRoot"
ORDER = "(n) => [...%s.querySelectorAll(`[data-key='column-${n}'] article`)].map((node) => node.getAttribute('data-key')).join()"
WAIT = """
([n, value]) => new Promise((done) => {
  const root = %s, order = () => [...root.querySelectorAll(`[data-key='column-${n}'] article`)].map((node) => node.getAttribute('data-key')).join();
  const before = order(), started = performance.now();
  const slider = root.querySelector(`[data-key='column-${n}'] input[type=range]`);
  slider.value = value;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => (order() !== before ? done(performance.now() - started) : performance.now() - started > 20000 ? done(-1) : requestAnimationFrame(look));
  look();
})
"""


@pytest.fixture
def own_app(kb_home: Path, tmp_path: Path) -> App:
    shutil.copytree(kb_home, tmp_path / "kb")
    made = build(kb_settings(tmp_path / "kb"))
    made.platform.workspace.create()
    return made


def columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column("local", presets()[name], name) for name in names)


def order(screen: browser.Screen, column: int) -> str:
    return str(screen.page.evaluate(ORDER % ROOT, column))


def run(screen: browser.Screen, query: str) -> float:
    """Run a query as a person would; milliseconds from the key to the drawn hits."""
    screen.key("playground_q").locator("textarea").fill(query)
    screen.page.evaluate("window.__asked = performance.now()")
    screen.key("playground_q").locator("textarea").press("Control+Enter")
    drawn = "(query) => { const root = [...document.querySelectorAll('*')].map((node) => node.shadowRoot?.querySelector('.board')).find(Boolean); return root && root.getAttribute('data-query') === query && root.querySelector('article') && performance.now() - window.__asked; }"
    took = screen.page.wait_for_function(drawn, arg=query, polling="raf").json_value()
    screen.settle()
    return float(took)


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


@pytest.fixture(scope="module")
def large_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of 20,000 chunks. Its vectors are made up; questions are embedded by the real model."""
    from bench.playground import synthetic

    app, _ = synthetic(tmp_path_factory.mktemp("large"), LARGE)
    assert app.search.searcher.index("local").size == LARGE
    return app.settings.home


@pytest.mark.slow
def test_a_slider_is_far_quicker_than_a_search(chromium: Any, own_app: App, tmp_path: Path, capsys: Any) -> None:
    quicker(chromium, own_app, tmp_path, capsys, "the starter knowledge base", OTHERS)


@pytest.mark.slow
def test_a_slider_is_far_quicker_than_a_search_of_20000_chunks(
    chromium: Any, large_home: Path, tmp_path: Path, capsys: Any
) -> None:
    from bench.corpus import queries

    quicker(chromium, build(load({}, home=large_home)), tmp_path, capsys, f"{LARGE:,} chunks", queries(5))


def quicker(chromium: Any, app: App, folder: Path, capsys: Any, where: str, asked: Sequence[str]) -> None:
    """Print and check what a move takes beside a search, without reranking and with it."""
    said, ratios = [], []
    with browser.server(app.settings.home, folder / "server.log") as url:
        for third in ("RRF 60", "Rerank always"):
            link = app.playground.notebook.keep(demo("admin"), Setup(asked[0], columns("BM25", "Convex 0.3", third)))
            with browser.screen(chromium, url) as screen:
                screen.open(f"/playground?link={link}")
                move, search = medians(screen, asked)
            ratios.append(move / search)
            said.append(f"{where}, with {third}: move {move:.0f} ms, search {search:.0f} ms = 1 : {search / move:.1f}")
    with capsys.disabled():
        print("", *said, sep="\n")
    assert max(ratios) <= 1 / 5, said


def medians(screen: browser.Screen, asked: Sequence[str], rounds: int = 2) -> tuple[float, float]:
    """Milliseconds of a move and of a search. They take turns, so that a busy machine slows both."""
    run(screen, "warm up")
    searches, moves = [], []
    for _ in range(rounds):
        for query in asked:
            searches.append(run(screen, query))
            moves += [float(screen.page.evaluate(WAIT % ROOT, [1, value])) for value in (1, 0, 1, 0)]
            screen.page.wait_for_timeout(600)  # the session hears of the knob before the next query
            screen.settle()
    assert min(moves) > 0, "every move changed the order"
    return statistics.median(moves), statistics.median(searches)


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
