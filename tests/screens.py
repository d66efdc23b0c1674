"""The pictures that the docs link and those that pages of an empty base show, taken of a fresh sample: python -m
tests.screens, or `make screens`.

The sample is made in a folder of its own. `python -m tests.screens search change` takes only these, `pages` those of
an empty base; with CONCORD_HOME set, that workspace is shown instead.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from core.bootstrap import App, build
from core.entrypoints.cli import main
from core.settings import load
from pages.ui import style
from pages.ui.home.tour import BREAKS
from tests import conftest  # conftest: one thread for each library, as in tests
from tests.support import browser  # conftest: one thread for each library, as in tests
from tests.support.browser import Screen, act_as, small_png

ROOT = conftest.ROOT
FOLDER = ROOT / "docs" / "screens"
READER, AUTHOR, REVIEWER, ADMIN = "Robin Falk", "Avery Lindqvist", "Petra Voss", "Ada Brandt"


def newest_in_review(app: App) -> str:
    """The change in review that most was said about."""
    actor = app.people.accounts.actor("reviewer")
    waiting = [one for one in app.reviews.changes.all() if one.state == "in review"]
    said = {one.id: len(app.reviews.discussion.comments(actor, one.id)) for one in waiting}
    return f"/reviews?change={max(said, key=lambda number: said[number])}"


def hits(screen: Screen) -> None:
    screen.page.get_by_role("link", name="Open here").first.wait_for()


def drop(screen: Screen) -> None:
    """A file that says what another document says, and one that is ready."""
    raw = (ROOT / "kb/supply-chain/safety/dock-safety-cmh2.md").read_text(encoding="utf-8").replace("CMH2", "ATL4")
    files = {
        "dock-safety-atl4.md": raw.replace("\nid: ", "\nformer: ").replace("Priya Raman", "Avery Lindqvist"),
        "yard-lights.md": "---\ntitle: Yard lights\ndoc_type: sop\nowner: Avery Lindqvist\nreview_due: 2030-01-01\n"
        "answers: [Who repairs a broken yard light?]\n---\n# Yard lights\n\nThe night lead checks every yard light "
        "at 21:00."
        "\n\n## A broken light\n\nClose the row with cones and call Facilities at ext. 2250. They repair it within "
        "two days.\n",
    }
    screen.page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in files.items()]
    )
    screen.page.locator("li:has(button.title)").first.wait_for(timeout=browser.PATIENCE * 1000)


def ask(screen: Screen) -> None:
    """One question of all columns."""
    screen.page.locator("textarea").first.fill("how long do we keep SAR records")
    screen.page.get_by_role("button", name="Run", exact=True).click()
    screen.page.get_by_role("button", name="Why", exact=True).first.wait_for(timeout=browser.PATIENCE * 1000)


def measured(screen: Screen) -> None:
    """What a change does to search is known."""
    screen.page.get_by_text("is being measured").wait_for(state="detached", timeout=browser.PATIENCE * 1000)
    wait(screen)


def wait(screen: Screen) -> None:
    screen.page.wait_for_timeout(3000)


def with_readers(app: App) -> str:
    """A group, and a folder of it that holds nothing yet: other pictures stay as they are."""
    admin = app.people.accounts.actor("admin")
    app.people.accounts.set_groups(admin, "author2", ["people team"])
    text = "readers:\n  people/investigations/: [group:people team, reviewer]\nadmins_read: false\n"
    if not app.reviews.changes.readers(admin):
        app.knowledge.repository.commit("main", {"review-rules.yaml": text.encode()}, admin.person, "Readers")
        app.reviews.merger.repair()
    return "/reviews"


def list_readers(screen: Screen) -> None:
    screen.page.get_by_text("Readers", exact=True).click()
    screen.page.get_by_test_id("stDataFrame").last.wait_for()
    screen.settle().page.get_by_role("button", name="Choose who reads a folder").scroll_into_view_if_needed()


def choose_readers(screen: Screen) -> None:
    """The form, filled in."""
    list_readers(screen)
    screen.page.get_by_role("button", name="Choose who reads a folder").click()
    for key, option in (("readers_folder", "people/offboarding"), ("readers_names", "group people team")):
        screen.settle().page.locator(f"[class*='st-key-{key}'] input").first.click()
        screen.page.keyboard.type(option)
        screen.page.get_by_role("option", name=option, exact=True).click()
    screen.page.keyboard.press("Escape")
    screen.page.get_by_text("will be hidden from").wait_for()


Address = Callable[[App], str]
PICTURES: Mapping[str, tuple[str, Address, Callable[[Screen], None], int]] = {  # by whom, where, then what, how high
    "search": (READER, lambda app: "/search?q=how+long+do+we+keep+SAR+records", hits, 900),
    "upload": (AUTHOR, lambda app: "/upload", drop, 1000),
    "change": (REVIEWER, newest_in_review, measured, 1000),
    "playground": (AUTHOR, lambda app: "/playground", ask, 1000),
    "tuning": (ADMIN, lambda app: "/tuning", wait, 1000),
    "readers": (ADMIN, with_readers, choose_readers, 760),
    "readers-list": (ADMIN, with_readers, list_readers, 900),
    "graph-path": (AUTHOR, lambda app: "/graph?view=Path&connect=SAR&with=OFAC", wait, 900),
}
PAGES = {  # shown where there are no documents yet, each in light and dark
    "home": (AUTHOR, "/"),
    "search": (READER, "/search?q=vpn+wont+connect"),
    "documents": (AUTHOR, "/documents?doc=HR-POL-002"),
    "inbox": (REVIEWER, "/inbox"),
    "reviews": (REVIEWER, f"/reviews?change={BREAKS}"),
    "freshness": (AUTHOR, "/freshness"),
    "words": (AUTHOR, "/words"),
    "playground": (ADMIN, "/playground"),
    "graph": (ADMIN, "/graph"),
    "evaluation": (ADMIN, "/evaluation"),
    "tuning": (ADMIN, "/tuning"),
}
SMALL = style.ASSETS / "sample"
WIDE, SHOWN, QUALITY = 1360, 720, 60  # pixels of the window and of the picture, and how much of it is kept
SIGN_IN = "sign-in"  # of a server that asks for a password


def take(names: list[str], home: Path) -> None:
    """Each picture by whom it is for, in light, 1,280 wide."""
    app = build(load(home=home))
    with tempfile.TemporaryDirectory() as logs, browser.chromium() as chromium:
        with browser.server(home, Path(logs) / "app.log") as url:
            for name in names:
                if name in PICTURES:
                    who, address, then, height = PICTURES[name]
                    with browser.screen(chromium, url, height=height) as screen:
                        act_as(screen.open(address(app)), who)
                        then(screen)
                        keep(screen.settle(), name)
            if "pages" in names:
                for name, (who, path) in PAGES.items():
                    high = 1200 if name == "playground" else 850  # its hits begin below its sliders
                    with browser.screen(chromium, url, width=WIDE, height=high) as screen:
                        screen.open(path)
                        if who != ADMIN:  # whom the demo begins as
                            act_as(screen, who)
                        wait(screen)
                        for scheme in ("light", "dark"):
                            keep_small(screen.look(scheme), f"{name}-{scheme}")
        if SIGN_IN in names:
            asking = browser.server(home, Path(logs) / "sign-in.log", CONCORD_SIGN_IN="local")
            with asking as url, browser.screen(chromium, url) as screen:
                screen.page.goto(f"{url}/sign-in")
                keep(screen, SIGN_IN)


def keep(screen: Any, name: str) -> None:
    screen.page.wait_for_timeout(500)
    small_png(screen.page.screenshot(animations="disabled"), FOLDER / f"{name}.png")
    print(name)


def keep_small(screen: Screen, name: str) -> None:
    """The page without the menu beside it."""
    raw = screen.page.locator('[data-testid="stMain"]').screenshot(animations="disabled")
    picture = Image.open(io.BytesIO(raw)).convert("RGB")
    SMALL.mkdir(exist_ok=True)
    picture.thumbnail((SHOWN, SHOWN))
    picture.save(SMALL / f"{name}.webp", quality=QUALITY, method=6)
    print(name)


def sample(home: Path) -> Path:
    os.environ.setdefault("CONCORD_CACHE", str(ROOT / ".cache" / "tests"))  # where vectors of the sample are already
    for command in (["init", "--sample"], ["reindex"]):
        if code := main(["--home", str(home), "--quiet", *command]):
            sys.exit(code)
    return home


if __name__ == "__main__":
    wanted = sys.argv[1:] or [*PICTURES, "pages", SIGN_IN]
    if given := os.environ.get("CONCORD_HOME"):
        take(wanted, Path(given))
    else:
        with tempfile.TemporaryDirectory() as folder:
            take(wanted, sample(Path(folder) / "home"))
