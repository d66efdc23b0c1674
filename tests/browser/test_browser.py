"""Journeys in a real browser. Each asserts that no request left the machine and no traceback is in the log."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from core.bootstrap import App, build
from core.services.people.accounts import NewAccount
from tests.conftest import demo, kb_settings, put, until
from tests.support import browser

pytestmark = pytest.mark.browser


@pytest.fixture
def own_app(kb_template: Path, tmp_path: Path) -> App:
    shutil.copytree(kb_template, tmp_path / "kb")
    return build(kb_settings(tmp_path / "kb"))


def both_ways(chromium: Any, url: str, name: str, path: str) -> None:
    """Leave a screenshot in light and one in dark."""
    for scheme in ("light", "dark") if browser.PICTURES else ():
        with browser.screen(chromium, url, scheme=scheme) as screen:
            screen.open(path)
            screen.page.wait_for_timeout(900)
            screen.shot(name if scheme == "light" else f"{name}-dark")


def test_first_start_to_first_search(chromium: Any, served_url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, served_url) as screen:
        screen.open("/")
        expect(screen.page.get_by_text("Needs attention")).to_be_visible()
        box = screen.page.get_by_label("Search the knowledge base")
        box.fill("how long do we keep SAR records")
        box.press("Enter")
        first = screen.page.locator("article").first
        expect(first).to_contain_text("Suspicious activity reports")
        expect(first).to_contain_text("5 years")
        more = screen.page.get_by_role("button", name="more document")
        more.click()
        expect(more).to_have_count(0)
        screen.page.get_by_label("Include history").check()
        expect(more).to_be_visible()  # as for whoever opens the address
        screen.page.get_by_label("Include history").uncheck()
        screen.page.keyboard.press("Escape")
        screen.page.mouse.click(900, 700)
        screen.page.keyboard.press("/")
        again = screen.page.get_by_label("Search the knowledge base")
        expect(again).to_be_focused()
        screen.page.keyboard.type("carrier labels do not print", delay=20)
        expect(screen.page.locator("article").first).to_contain_text("carrier labels", ignore_case=True)
        expect(screen.page).to_have_url(re.compile(r"q=carrier"))
    for name, path in (
        ("home", "/"),
        ("search", "/search?q=how+long+do+we+keep+SAR+records"),
        ("documents", "/documents"),
    ):
        both_ways(chromium, served_url, name, path)
    with browser.screen(chromium, served_url, width=390, height=844) as phone:
        phone.open("/search?q=vendor+bank+change")
        expect(phone.page.locator("article").first).to_be_visible()
        phone.page.wait_for_timeout(600)
        phone.shot("search-phone")
        wide = phone.page.evaluate("document.scrollingElement.scrollWidth > window.innerWidth + 1")
        assert not wide, "nothing sticks out on a phone"
        for path, first in (("/", ".item a"), ("/freshness", ".item a")):  # something to do, not figures
            phone.go(path)
            expect(phone.page.locator(first).first).to_be_in_viewport()


def test_filter_open_read_compare_and_take_apart(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    path = "finance/compliance/ctr-filing.md"
    text = own_app.knowledge.repository.read("main", path).decode()
    put(own_app, {path: text.replace("15 calendar days", "fifteen calendar days")}, "Write the deadline out")
    own_app.index.builder.build(own_app.platform.settings.profile())
    with browser.server(own_app.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        screen.open("/search?q=currency+transaction+report+deadline")
        screen.page.get_by_label("finance").check()
        screen.settle()
        expect(screen.page).to_have_url(re.compile(r"folders=finance"))
        screen.page.locator(".menu summary").first.click()
        screen.page.get_by_role("button", name="Why this rank").first.click()
        expect(screen.page.get_by_text("Words (BM25)").first).to_be_visible()
        screen.shot("search-why")
        with browser.screen(chromium, url) as other:
            other.open(screen.page.url.removeprefix(url))
            expect(other.page.get_by_label("finance")).to_be_checked()
        screen.page.get_by_role("link", name="Currency transaction reports").first.click()
        screen.settle()
        expect(screen.page).to_have_url(re.compile(r"doc=BSA-SOP-001&start=\d+&end=\d+&version=2"))
        expect(screen.page.locator(".marked").first).to_be_in_viewport()
        screen.shot("document-passage")
        screen.page.get_by_text("History", exact=True).click()
        screen.settle()
        expect(screen.page.locator("td.plus b").first).to_have_text("fifteen")
        screen.shot("document-history")
        screen.page.get_by_text("Chunks", exact=True).click()
        screen.settle()
        screen.page.get_by_text("Compare with another chunker").click()
        screen.settle()
        expect(screen.page.locator(".sheet")).to_have_count(2)
        screen.page.wait_for_timeout(400)
        screen.shot("document-chunks")
        screen.page.get_by_text("Read", exact=True).click()
        screen.settle()
        screen.page.locator(".body a").first.click()
        expect(screen.page).not_to_have_url(re.compile("BSA-SOP-001"))  # a link leads to the other document
        screen.settle()
        screen.page.go_back()
        expect(screen.page).to_have_url(re.compile("BSA-SOP-001"))
        screen.settle()
        screen.page.get_by_test_id("stSidebarNavLink").filter(has_text="Documents").click()
        expect(screen.page.locator("tr.item")).to_have_count(59)  # the list, not the document that was left
        screen.page.go_back()
        expect(screen.page.get_by_text("On this page")).to_be_visible()
        both_ways(chromium, url, "document", "/documents?doc=BSA-SOP-001")


@pytest.mark.slow
def test_every_way_out_of_a_view_leads_where_people_expect(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    author = demo("author")
    document = own_app.knowledge.documents.show("BSA-SOP-001")
    change = own_app.reviews.changes.propose(author, "Longer", {document.path: f"{document.text}\nMore.\n".encode()})
    own_app.reviews.changes.submit(author, change.id)
    with (
        browser.server(own_app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url) as screen,
    ):
        page = screen.page
        entry = page.get_by_test_id("stSidebarNavLink")
        rows = page.locator("tr.item")

        screen.open("/search?q=how+long+do+we+keep+SAR+records")
        page.locator("article h2 a").first.click()
        expect(page.locator(".marked").first).to_be_visible()
        page.go_back()
        expect(page.locator("article").first).to_be_visible()
        expect(page.get_by_label("Search the knowledge base")).to_have_value("how long do we keep SAR records")
        expect(page).to_have_url(re.compile(r"/search\?q=how"))

        page.go_forward()
        expect(page.locator(".marked").first).to_be_visible()
        page.get_by_text("Chunks", exact=True).click()
        expect(page).to_have_url(re.compile("tab=Chunks"))
        screen.settle()
        page.get_by_role("button", name="All documents").click()
        expect(rows).to_have_count(59)
        rows.first.get_by_role("link").click()
        expect(page.get_by_text("On this page")).to_be_visible()  # the text, not the last document's tab
        entry.filter(has_text="Documents").click()
        expect(rows).to_have_count(59)
        page.go_back()
        expect(page.get_by_text("On this page")).to_be_visible()

        screen.open(f"/reviews?change={change.id}")
        page.get_by_text("Discussion", exact=True).click()
        expect(page).to_have_url(re.compile("side=Discussion"))
        screen.settle()
        page.get_by_role("button", name="All changes").click()
        page.get_by_role("link", name="Longer").click()
        expect(page).to_have_url(re.compile(rf"/reviews\?change={change.id}$"))
        entry.filter(has_text="Reviews").click()
        expect(page.get_by_role("link", name="Longer")).to_be_visible()

        page.get_by_text("Merged (0)").click()
        expect(page).to_have_url(re.compile(r"/reviews\?queue=merged$"))
        screen.settle()
        page.go_back()
        expect(page.get_by_role("link", name="Longer")).to_be_visible()
        expect(page.get_by_role("radio", name="Merged (0)")).to_have_attribute("aria-checked", "false")
        for other, title in (("Reviews", "Reviews"), ("Graph", "Graph")):
            screen.open("/upload")
            entry.filter(has_text=other).click()
            expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
            screen.settle()
            page.go_back()
            expect(page.get_by_role("heading", name="Upload", level=1)).to_be_visible()
            assert page.url == f"{url}/upload", "one step back, without parameters of the page that was left"


@pytest.mark.slow
def test_an_admin_rebuilds_with_progress_and_rolls_back(chromium: Any, own_app: App, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        put(
            own_app,
            {
                "supply-chain/safety/turnstiles.md": "# Turnstiles\n\n"
                + "\n\n".join(
                    f"The turnstile at the airlock of door {n} is locked after shift {n}." for n in range(120)
                )
            },
            "Say when turnstiles are locked",
        )
        screen.open("/index")
        expect(screen.page.get_by_text("1 change cannot be found yet")).to_be_visible()
        screen.key("rebuild").get_by_role("button").click()
        dialog = screen.page.get_by_role("dialog")
        expect(dialog).to_contain_text("nothing is embedded twice")
        screen.shot("index-confirm")
        screen.key("confirm_yes").get_by_role("button").click()
        screen.page.get_by_role("tab", name="Jobs").click()
        expect(screen.page.get_by_text("Rebuild (local)").first).to_be_visible()
        screen.shot("index-jobs")
        expect(screen.page.get_by_text("done", exact=True).first).to_be_visible()
        screen.open("/search?q=turnstile+airlock")
        expect(screen.page.locator("article").first).to_contain_text("Turnstiles")
        screen.open("/index")
        expect(screen.page.get_by_text("Generation 2 serves the newest state")).to_be_visible()
        screen.key("rollback").get_by_role("button").click()
        expect(screen.page.get_by_role("dialog")).to_contain_text("This lasts until the next rebuild")
        screen.key("confirm_yes").get_by_role("button").click()
        expect(screen.page.get_by_text("rolled back to by hand")).to_be_visible()
        screen.open("/search?q=turnstile+airlock")
        expect(screen.page.get_by_text("No document mentions “")).to_be_visible()
        screen.open("/index")
        screen.key("verify").get_by_role("button").click()
        screen.page.get_by_role("tab", name="Jobs").click()
        expect(
            screen.page.get_by_text("Every file is whole; repository, database and index agree.").first
        ).to_be_visible()
        both_ways(chromium, url, "index", "/index")


@contextmanager
def running_job(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Callable[[], None]]]:
    """A job that runs, and how to end it."""
    jobs, over = app.platform.jobs, Event()
    monkeypatch.setattr(jobs.crew.processes, "limit", 0)
    number = jobs.start("merge", {"profile": "local"}).id
    worker = Thread(target=jobs.run, args=(number, {"merge": lambda *_: over.wait(600)}))
    worker.start()  # it has the job before a worker of the server can claim it
    until(lambda: jobs.get(number).state == "running")

    def end() -> None:
        over.set()
        worker.join()

    try:
        yield number, end
    finally:
        end()


@pytest.mark.slow
def test_a_dialog_stays_open_when_a_job_ends_under_it(
    chromium: Any, own_app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

    with (
        running_job(own_app, monkeypatch) as (number, end),
        browser.server(own_app.settings.home, tmp_path / "server.log") as url,
        browser.screen(chromium, url) as screen,
    ):
        screen.open("/index")
        screen.key("rebuild").get_by_role("button").click()
        dialog = screen.page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        end()
        screen.page.wait_for_timeout(4000)  # the list of jobs looks every second
        expect(dialog).to_be_visible()
        screen.key("confirm_yes").get_by_role("button").click()
        expect(screen.page.get_by_text("Rebuild started as job")).to_be_visible()  # it acts although the page is older
        expect(dialog).to_have_count(0)
        screen.page.get_by_role("tab", name="Jobs").click()
        expect(screen.key(f"job_{number}").get_by_text("done", exact=True)).to_be_visible()


def test_a_reader_cannot_reach_admin_screens_by_link_by_stale_tab_or_by_callback(
    chromium: Any, own_app: App, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    with browser.server(own_app.settings.home, tmp_path / "server.log") as url:
        with browser.screen(chromium, url) as screen:
            screen.open("/index")
            screen.key("rebuild").get_by_role("button").click()
            expect(screen.page.get_by_role("dialog")).to_be_visible()
            own_app.people.accounts.add(
                demo("admin"), NewAccount("second", "Second Admin", "second@example.org", "admin")
            )
            own_app.people.accounts.set_role(
                own_app.people.accounts.actor("second"), "admin", "reader"
            )  # while the tab is open
            screen.key("confirm_yes").get_by_role("button").click()
            refusal = "Only admins may rebuild the index; Ada Brandt is a reader."
            expect(screen.page.get_by_text(refusal)).to_be_visible()
            expect(screen.page.get_by_test_id("stSidebarNavLink").filter(has_text="Index")).to_have_count(0)
            screen.open("/index")
            assert screen.key("rebuild").count() == 0
        assert not [job for job in own_app.platform.jobs.recent() if job.kind == "reindex"]


@pytest.mark.slow
def test_an_empty_workspace_is_calm_everywhere(chromium: Any, tmp_path: Path) -> None:
    build(kb_settings(tmp_path / "empty")).platform.workspace.create()
    with browser.server(tmp_path / "empty", tmp_path / "server.log") as url, browser.screen(chromium, url) as screen:
        for path in ("/", "/search?q=anything", "/documents", "/index"):
            screen.open(path)
            assert screen.page.locator("[data-testid=stException]").count() == 0
        screen.open("/")
        screen.shot("home-empty")


def test_search_takes_another_token_for_one_that_is_too_old_and_says_where_nothing_answers(
    chromium: Any, served_url: str
) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, served_url) as screen:
        old: list[Any] = []

        def refuse_once(route: Any) -> None:
            old.append(route)
            route.fulfill(status=401) if len(old) in (1, 3) else route.continue_()

        screen.open("/search")
        screen.page.route("**/api/v1/page/search?*", refuse_once)
        box, found = screen.page.get_by_label("Search the knowledge base"), screen.page.locator("article")
        for count in (1, 3):
            box.fill("hazmat training every three years")
            expect(found.first).to_contain_text("hazardous", ignore_case=True)
            assert len(old) == count
            box.fill("wire transfer")
            expect(found.first).not_to_contain_text("hazardous", ignore_case=True)
            assert len(old) == count + 1
        screen.page.unroute("**/api/v1/page/search?*")
        screen.page.route("**/api/v1/page/search?*", lambda route: route.fulfill(status=404, body="<p>A proxy.</p>"))
        box.fill("cash")
        expect(screen.page.get_by_text("The server cannot be reached. Try again in a moment.")).to_be_visible()


def test_an_emptied_box_stays_empty_and_thanks_stay_said(chromium: Any, served_url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, served_url) as screen:
        screen.open("/search?q=hazmat")
        box, found = screen.page.get_by_label("Search the knowledge base"), screen.page.locator("article")
        expect(found.first).to_be_visible()
        held: list[Any] = []
        screen.page.route("**/api/v1/page/search?*", lambda route: held.append(route))
        with screen.page.expect_request("**/api/v1/page/search?*"):
            box.fill("wire transfer")
        box.fill("")
        expect(found).to_have_count(0)
        for late in held:
            late.continue_()
        screen.page.wait_for_timeout(1000)
        expect(found).to_have_count(0)
        screen.page.unroute("**/api/v1/page/search?*")
        box.fill("hazmat")
        expect(found.first).to_be_visible()
        screen.page.get_by_role("button", name="Not what you were looking for?").click()
        screen.page.get_by_role("button", name="Tell the owners").click()
        screen.settle()
        screen.page.wait_for_timeout(500)
        expect(screen.page.get_by_text("Thank you. The owners will see this question.")).to_have_count(1)
