"""Real browsers on the pages while the cluster is disturbed: python -m bench.cluster.browsers ADDRESS MINUTES TABS.

Each tab is somebody who signed in: they type questions into the search box, open changes and documents, and wait until
the
page has answered. Prints what they did, and every time that a page did not do what they wanted within half a minute.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from typing import Any

from bench.cluster.accounts import PASSWORD
from bench.cluster.searches import questions

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE = 30_000  # milliseconds
PAGES = ("/reviews", "/documents", "/inbox", "/")


def executable() -> str | None:
    """The browser of this machine; the shell has no windows, and costs a third less CPU than all of chromium."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


class BrowserTab:
    """One person with one browser window."""

    def __init__(self, browser: Any, address: str, number: int) -> None:
        self.context = browser.new_context()
        self.page, self.address, self.rng = self.context.new_page(), address, random.Random(number)
        self.name, self.done = f"walker-{number:02}", 0
        self.failed, self.nodes = list[str](), set[str]()
        self.due = 0.0

    def sign_in(self) -> None:
        self.page.goto(f"{self.address}/search", timeout=PATIENCE)
        self.page.fill("#name", self.name)
        self.page.fill("#password", PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_selector(READY, timeout=2 * PATIENCE)

    def act(self) -> None:
        """Search twice as often as anything else; a failure is written down, and the page is loaded again."""
        try:
            (self.search if self.rng.random() < 0.67 else self.look)()
            self.done += 1
        except Exception as error:
            self.failed.append(f"{self.page.url.removeprefix(self.address)}: {str(error).splitlines()[0][:120]}")
        for cookie in self.context.cookies():
            if cookie["name"] == "concord_node":
                self.nodes.add(cookie["value"])
        self.due = time.monotonic() + self.rng.uniform(3, 9)

    def search(self) -> None:
        if "/search" not in self.page.url or self.failed:
            self.page.goto(f"{self.address}/search", timeout=PATIENCE)
            self.page.wait_for_selector(READY, timeout=PATIENCE)
        box = self.page.get_by_label("Search the knowledge base")
        box.fill("")
        self.page.locator("article").first.wait_for(state="detached", timeout=PATIENCE)
        box.fill(self.rng.choice(questions()))
        self.page.locator("article").first.wait_for(timeout=PATIENCE)

    def look(self) -> None:
        self.page.goto(self.address + self.rng.choice(PAGES), timeout=PATIENCE)
        self.page.wait_for_selector(READY, timeout=PATIENCE)
        if self.page.locator('[data-testid="stException"]').count():
            raise RuntimeError("The page shows an exception.")


def main(address: str, minutes: float, tabs: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), headless=True, args=FLAGS)
        people = [BrowserTab(browser, address, number) for number in range(1, tabs + 1)]
        for one in people:
            one.sign_in()
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            one = min(people, key=lambda each: each.due)
            time.sleep(max(0.0, one.due - time.monotonic()))
            one.act()
        browser.close()
    print(
        json.dumps(
            [{"who": one.name, "did": one.done, "failed": one.failed, "nodes": sorted(one.nodes)} for one in people]
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
