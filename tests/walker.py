"""A browser that walks the app by itself: every page and tab, every control that does not destroy, every way out.

By hand, with what it saw as JSON lines: `python -m tests.walker --base starter --role author --seed 1 2 --steps 200 --log walk.jsonl`
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.bootstrap import App
from tests.conftest import PASSWORD
from tests.support import browser
from tests.walker_bases import BASES
from tests.walker_controls import Families, spared, use, view_of
from tests.walker_coverage import PRESSED, Finding, Log

ROLES = ("reader", "author", "reviewer", "admin")
SCRIPT = (Path(__file__).parent / "walker_page.js").read_text(encoding="utf-8")
PROBE = re.compile(
    r"/\w+/_stcore/(health|host-config)$"
)  # Streamlit asks below the page's path first, to find its base
NOTED = re.compile(r"Failed to load resource")  # the browser's own line about an answer, which is looked at itself
DESK, PHONE = (1280, 900), (390, 844)
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
UNSEEN = ("Dismiss", "Next")  # Streamlit's own for screen readers alone, behind a list and behind a calendar
DIALOG = "[role=dialog]:has(button)"
FILLS_THE_WINDOW = "nodes => nodes.some((node) => getComputedStyle(node).position === 'fixed')"


@dataclass(frozen=True)
class Served:
    """A base on its server, with the words in it that are data."""

    url: str
    log: Path
    base: str
    words: tuple[str, ...] = ()


def changes(shown: Any, fresh: Any) -> str:
    """What two looks do not share, so that a long list says it at its beginning.

    >>> changes(["a", "b", "c"], ["a", "d", "c"]), changes(["a", "b"], ["b", "a"]), changes("Home", "Search")
    ("['b'] became ['d']", 'the order', 'Home became Search')
    """
    if not isinstance(shown, list):
        return f"{shown} became {fresh}"
    gone, come = ([each for each in some if each not in others] for some, others in ((shown, fresh), (fresh, shown)))
    return f"{gone} became {come}" if gone or come else "the order"


class Walker:
    """One person in one browser. `chance` decides what comes next, so that a seed walks the same way again."""

    def __init__(self, window: Callable[[], Any], served: Served, role: str, chance: random.Random, log: Log) -> None:
        self.window, self.url, self.role, self.base = window, served.url, role, served.base
        self.server_log, self.chance, self.log = served.log, chance, log
        self.coverage, self.families = log.of(served.base, role), Families(served.words)
        self.elsewhere = log.pressed(served.base)  # by another role
        self.read = len(served.log.read_text())
        self.mirror: Any = None
        self.mirrored = log.compared.setdefault(served.base, set())
        self.control, self.touched, self.left, self.events, self.before = "", False, 0, 0, 0
        self.shown: list[dict[str, Any]] = []
        self.page = self.tab()

    def tab(self) -> Any:
        page = self.window()
        page.add_init_script(SCRIPT)
        page.on("console", self.heard)
        page.on("pageerror", lambda error: self.found("page error", str(error)))
        page.on("response", self.answered)
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("download", self.beyond)
        page.on("filechooser", self.beyond)
        page.on("popup", self.opened)
        return page

    def heard(self, said: Any) -> None:
        if said.type == "error" and not NOTED.match(said.text):
            self.found("console", said.text)

    def answered(self, answer: Any) -> None:
        if answer.status >= 400 and not PROBE.search(answer.url):
            self.found("refused", f"{answer.status} {answer.url}")

    def beyond(self, _: Any) -> None:
        """Something came of it outside the page: a file, or the system's dialog for one."""
        self.events += 1

    def opened(self, window: Any) -> None:
        """A link that opens a window of its own led somewhere."""
        self.events += 1
        window.close()

    def found(self, kind: str, detail: str, control: str | None = None) -> None:
        address = self.page.url.removeprefix(self.url) if hasattr(self, "page") else ""
        detail = detail.replace(self.url, "")[:300]
        self.log.add(Finding(kind, self.role, self.base, address, self.control if control is None else control, detail))

    def step(self, way: str, family: str = "") -> None:
        self.left -= 1
        self.coverage.steps += 1
        view = view_of(self.page.url)
        self.coverage.views.setdefault(view, self.address())
        self.log.step(base=self.base, role=self.role, view=view, way=way, control=self.control, family=family, at=round(time.time(), 1))  # fmt: skip

    def address(self) -> str:
        return self.page.url.removeprefix(self.url)

    # ------------------------------------------------------------ looking

    def settle(self, page: Any = None) -> None:
        """Wait until nothing runs, and say what is wrong."""
        page = page or self.page
        try:
            for _ in range(2):
                page.wait_for_selector(READY, timeout=300_000, state="attached")
                page.wait_for_timeout(60)
        except Exception:
            self.found("restless", "the script did not come to rest within five minutes")
        told: dict[str, Any] = {}
        for _ in range(200):
            told = page.evaluate("walker.look()")
            if not told["waiting"]:
                break
            page.wait_for_timeout(100)
        else:
            self.found("restless", f"a placeholder is still there after 20 seconds: {told['waiting']}")
        for trouble in told["trouble"]:
            self.found("exception", re.sub(r"number \w+", "number", trouble))
        for part in told["outside"]:
            self.found("sticks out", f"{page.viewport_size['width']} px: {part}", control="")
        self.listen()

    def listen(self) -> None:
        """What the server wrote since the last look."""
        said = self.server_log.read_text()
        new, self.read = said[self.read :], len(said)
        if "Traceback" in new or re.search(r"\bERROR\b", new):
            self.found("server log", " ".join(new.split())[-300:])

    def same_view(self, way: str) -> None:
        """What is shown is what the address brings in a fresh window; each view of a base is compared once."""
        view = view_of(self.page.url)
        if view in self.mirrored or self.page.locator(DIALOG).count():
            return
        self.mirrored.add(view)
        if not self.mirror:  # a window of its own with the same cookie: a tab in the background draws nothing
            self.mirror = self.tab()
            self.mirror.context.add_cookies(self.page.context.cookies())
        self.compare(way, lambda: self.page.evaluate("walker.view()"), self.mirror, lambda: self.page.url)

    def compare(self, way: str, shown: Callable[[], Any], page: Any, url: Callable[[], str] | None = None) -> None:
        """Say what a page shows otherwise; a busy machine draws late, and may not have been where it goes."""
        problem, opened = "", ""
        for _ in range(50):
            if url and opened != url():
                opened = url()
                page.goto(opened)
                self.settle(page)
            if not (problem := self.difference(shown(), page.evaluate("walker.view()"))):
                return
            page.wait_for_timeout(200)
        self.found("other view", f"{way}: {problem}")

    def difference(self, shown: dict[str, Any], fresh: dict[str, Any]) -> str:
        """What two looks at one address do not share; text counts only where nothing was touched since."""
        for part in ("title", "headings", "tabs"):
            if shown[part] != fresh[part]:
                return f"{part}: {changes(shown[part], fresh[part])}"
        alike = SequenceMatcher(None, shown["lines"], fresh["lines"], autojunk=False).ratio()
        return "" if self.touched or alike >= 0.7 else f"{alike:.0%} of the text is the same"

    def look(self, via: str = "") -> list[dict[str, Any]]:
        """Every control that is shown now, with its family; new ones are noted with what brought them."""
        handle = self.page.evaluate_handle("window.walker_found = walker.controls()")
        self.shown = self.page.evaluate("walker_found.map(({ node, ...rest }) => rest)")
        handle.dispose()
        for n, one in enumerate(self.shown):
            if one["name"] == "Copied" or (one["name"] in UNSEEN and not one["key"]):
                one["off"] = True
                continue
            one |= {"n": n, "family": self.families.of(one, self.page.url), "spared": spared(one, self.url)}
            self.coverage.meet(one["family"], self.address(), via, one["spared"], one["off"])
        return self.usable()

    def usable(self) -> list[dict[str, Any]]:
        return [one for one in self.shown if not one["off"] and not one["spared"]]

    def fresh(self) -> list[dict[str, Any]]:
        """What is shown and was not pressed yet: what is open first, links and tabs last."""
        waiting = set(self.near(self.coverage.waiting()))
        ready = [one for one in self.usable() if one["family"] in waiting]
        order = {"link": 3, "tab": 2, "radio": 2}
        weight = lambda one: 0 if one["where"] in ("popover", "dialog") else order.get(one["kind"], 1)
        first = min(map(weight, ready), default=0)
        return [one for one in ready if weight(one) == first]

    # ------------------------------------------------------------ acting

    def press(self, control: dict[str, Any]) -> None:
        """Use a control as a person would, and see whether anything came of it."""
        self.control = f"{control['kind']} {control['name']!r}"
        family, address, self.before = control["family"], self.page.url, self.page.evaluate("walker.print()")
        idle = control["chosen"] or control["kind"] in ("text", "file", "region", "tabpanel") or self.stays(control)
        events = self.events
        self.step("press", family)
        if not self.attempt(control) and not self.attempt_again(family):
            self.coverage.missed(family)
            return
        self.settle()
        if not idle and not self.changed(events):
            self.found("does nothing", control["chain"])
        self.coverage.known[family].state = PRESSED
        if not self.page.url.startswith(self.url):
            self.found("left the app", self.page.url)
            self.way("address", lambda: self.page.goto(address))
        elif self.page.url != address:
            self.coverage.views.setdefault(view_of(self.page.url), self.address())
            self.look()
            self.same_view(control["kind"] if control["kind"] in ("link", "tab") else "choice")
        else:
            self.touched = True
            self.look(via=family)

    def attempt(self, control: dict[str, Any], again: bool = True) -> bool:
        """Whether it could be used; what lies above it is closed first, as a person would."""
        try:
            node = self.page.evaluate_handle(f"walker_found[{control['n']}].node").as_element()
            use(self.page, node, control["kind"], self.chance)
        except Exception as error:
            if again:
                return self.attempt_otherwise(control, str(error))
            if not re.search("not attached|not visible|not enabled|(?s:Timeout.*scroll)", str(error)):
                self.found("cannot be pressed", " ".join(f"{str(error)[:80]} … {str(error)[-160:]}".split()))
            return False
        return True

    def attempt_otherwise(self, control: dict[str, Any], why: str) -> bool:
        """What lies above is closed first; what is shown only under the pointer gets the pointer."""
        if "intercepts pointer events" in why:
            self.page.keyboard.press("Escape")
            if "stSidebar" in why:  # on a phone the menu lies above the page
                self.page.locator("[data-testid=stSidebarCollapseButton] button").first.click(force=True, timeout=2000)
                self.page.wait_for_timeout(400)
            self.before = self.page.evaluate("walker.print()")
        elif control["kind"] == "link":
            around = self.page.evaluate_handle(f"walker_found[{control['n']}].node.parentElement?.parentElement")
            with suppress(Exception):  # it says what is wrong when it is pressed
                around.as_element().hover(timeout=2000)
        return self.attempt(control, again=False)

    def attempt_again(self, family: str) -> bool:
        """What was drawn anew meanwhile is looked up once more."""
        there = [one for one in self.look() if one.get("family") == family]
        return bool(there) and self.attempt(there[0])

    def stays(self, control: dict[str, Any]) -> bool:
        """Whether nothing may come of it: a link to where one is, a graph that fits, nothing to undo, a dialog of the system."""
        here = control["kind"] == "link" and ("#" in control["href"] or control["href"] == self.page.url)
        saves = control["name"] == "Download as CSV"  # Streamlit's own, which asks the system where to
        return here or saves or control["name"] in ("Fit", "Redo", "Undo")

    def changed(self, events: int) -> bool:
        for _ in range(15):
            if self.events != events or self.page.evaluate("walker.print()") != self.before:
                return True
            self.page.wait_for_timeout(150)
        return False

    def leave_dialog(self) -> None:
        """Close what is open above the page, by its button or by Escape."""
        if self.page.get_by_test_id("stFullScreenFrame").evaluate_all(FILLS_THE_WINDOW):  # a table or a chart
            self.page.keyboard.press("Escape")
        dialog = self.page.locator(DIALOG)
        if not dialog.count():
            return
        cancel = dialog.get_by_role("button", name=re.compile("^(Cancel|Close)", re.I))
        if cancel.count() and self.chance.random() < 0.5:
            cancel.first.click()
            self.settle()
        for _ in range(3):  # a list that is open inside closes first
            if dialog.count():
                self.page.keyboard.press("Escape")
                self.settle()
        if dialog.count():
            self.found("dialog stays", "neither its button nor Escape closes it")
            self.way("reload", lambda: self.page.reload())

    # ------------------------------------------------------------ walking

    def sign_in(self) -> None:
        self.page.goto(f"{self.url}/sign-in")
        self.page.fill("#name", self.role)
        self.page.fill("#password", PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.settle()

    def way(self, name: str, go: Any) -> None:
        """Leave or come back, and look."""
        self.coverage.ways.add(f"{urlsplit(self.page.url).path} {name}")
        self.control, self.touched = name, False
        go()
        self.settle()
        self.step(name)
        self.look()

    def menu(self) -> list[str]:
        return [
            urlsplit(entry.get_attribute("href")).path for entry in self.page.get_by_test_id("stSidebarNavLink").all()
        ]

    def enter(self, path: str) -> None:
        """Go to a page by the menu; on a phone, or where it was folded, the menu is opened first."""
        link = self.page.locator(f"[data-testid=stSidebarNavLink][href$='{path}']")
        opener = self.page.get_by_test_id("stExpandSidebarButton")
        link.or_(opener).filter(visible=True).first.wait_for()  # one of them is late while the page is drawn
        if opener.filter(visible=True).count():
            opener.first.click()
        link.first.click()

    def explore(self) -> None:
        """Press what was not pressed before, as long as there is something here."""
        while self.left > 0 and (ready := self.fresh()):
            self.press(self.chance.choice(ready))

    def leave(self) -> None:
        """By a way that was not tried on this page: the back button, then a reload."""
        page = urlsplit(self.page.url).path
        if f"{page} reload" not in self.coverage.ways:
            with suppress(Exception):  # a busy server draws late what the last step asked for
                self.page.locator("[data-testid=stMain] :is(h1, h2)").first.wait_for(timeout=20_000)
            self.settle()
            shown = self.page.evaluate("walker.view()")
            touched = self.touched
            self.way("reload", self.page.reload)
            self.touched = touched
            self.compare("reload", lambda: shown, self.page)
        elif f"{page} back" not in self.coverage.ways and self.page.evaluate("history.length") > 2:
            self.way("back", self.page.go_back)
            self.same_view("back")

    def go(self, address: str) -> None:
        """To an address: by the menu where it is a page, and by a link that somebody sent otherwise."""
        self.leave_dialog()
        self.leave()
        page = urlsplit(address).path
        if address == page and page in self.menu():  # whoever hides the analysis hides pages
            self.way("menu", lambda: self.enter(page))
            self.entered(page)
            self.same_view("menu")
        else:
            self.way("address", lambda: self.page.goto(self.url + address))

    def entered(self, page: str) -> None:
        """The entry of the menu was pressed."""
        for one in self.shown:
            if one["where"] == "sidebar" and one["kind"] == "link" and urlsplit(one["href"]).path == page:
                self.coverage.known[one["family"]].state = PRESSED

    def reach(self, family: str) -> None:
        """Come to a control where it was seen, by what was pressed to see it, and press it."""
        path = self.coverage.path(family)
        if not any(one.get("family") == path[0] for one in self.shown):
            self.go(self.coverage.known[path[0]].at)
        for step in path:
            there = [one for one in self.usable() if one["family"] == step]
            if not there:
                return self.coverage.missed(family)
            self.press(self.chance.choice(there))
        return None

    def again(self) -> None:
        """Somewhere, anything: what was pressed already may bring something new."""
        self.go(self.chance.choice(list(self.coverage.views.values())))
        for _ in range(5):
            ready = [one for one in self.usable() if one["where"] != "sidebar"]
            if not ready or self.left <= 0 or self.fresh():
                return
            self.press(self.chance.choice(ready))

    def walk(self, steps: int, wander: bool) -> None:
        """Every page of the menu, then every control that waits; then, to meet new ones, anything anywhere."""
        self.left = steps
        self.sign_in()
        self.look()
        pages = self.menu()
        for page in self.chance.sample(pages, len(pages)):
            if self.left > 0 and page not in self.coverage.views:
                self.go(page)
        while self.left > 0:
            self.explore()
            if waiting := self.coverage.waiting():
                self.reach(self.chance.choice(self.near(waiting)))
            elif wander:
                self.again()
            else:
                return

    def near(self, waiting: list[str]) -> list[str]:
        """What no role has pressed here, or else what waits; on this page, or else anywhere."""
        waiting = [one for one in waiting if one not in self.elsewhere] or waiting
        here = urlsplit(self.page.url).path
        return [one for one in waiting if self.coverage.known[one].at.split("?")[0] == here] or waiting


@contextmanager
def served(base: str, folder: Path, count: int = 0, **environment: str) -> Iterator[Served]:
    """A base on a server of its own, with sign-in."""
    app = BASES[base](folder / base, *([count] if count and base != "handbook" else []))
    log = folder / f"{base}.log"
    log.touch()
    environment |= {"CONCORD_SIGN_IN": "local", "CONCORD_CACHE": str(app.settings.cache)}
    with browser.server(app.settings.home, log, **environment) as url:
        yield Served(url, log, base, tuple(words_of(app)))


def words_of(app: App) -> Iterator[str]:
    """The words on buttons that are data: titles, paths, ids and people."""
    for document in app.knowledge.documents.all():
        yield from (document.title, document.path, document.path.rsplit("/", 1)[-1], *document.path.split("/")[:-1], document.id)  # fmt: skip
    for account in app.people.accounts.all():
        yield from (account.id, account.name)


def walk(chromium: Any, place: Served, role: str, log: Log, *, seed: int, steps: int, wander: bool = False, window: tuple[int, int] = DESK) -> None:  # fmt: skip
    """One role on one base."""
    with ExitStack() as windows:

        def opened() -> Any:
            page = windows.enter_context(browser.screen(chromium, place.url)).page.context.new_page()
            page.set_viewport_size(dict(zip(("width", "height"), window, strict=True)))
            return page

        walker = Walker(opened, place, role, random.Random(f"{seed} {role} {place.base}"), log)
        started = time.time()
        try:
            walker.walk(steps, wander)
        finally:
            walker.coverage.seconds += time.time() - started
            log.save()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.walker", description="Walk the app and say what is broken.")
    parser.add_argument("--base", choices=list(BASES), default="starter")
    parser.add_argument("--role", choices=[*ROLES, "all"], default="all")
    parser.add_argument("--seed", type=int, nargs="+", default=[1], help="one walk after the other")
    parser.add_argument("--steps", type=int, default=400, help="of the first seed, at most, per role")
    parser.add_argument("--further", type=int, default=60, help="steps per role of the seeds after the first")
    parser.add_argument("--documents", type=int, default=0, help="odd documents: beside the starter set, or in all")
    parser.add_argument("--phone", action="store_true", help="in a window of 390 px")
    parser.add_argument("--log", type=Path, default=Path("walk.jsonl"))
    parser.add_argument("--coverage", type=Path, help="what was pressed, for the next walk to go on from")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # server and browser end with it
    given.log.write_text("")
    log, window = Log(given.log, given.coverage), PHONE if given.phone else DESK
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            browser.chromium() as chromium,
            served(given.base, Path(folder), given.documents) as place,
        ):
            for n, seed in enumerate(given.seed):
                for role in ROLES if given.role == "all" else (given.role,):
                    known = log.of(given.base, role)
                    before, started = known.row()[1], time.time()
                    steps = given.further if n else given.steps
                    walk(chromium, place, role, log, seed=seed, steps=steps, wander=bool(n), window=window)
                    new = known.row()[1] - before
                    print(f"seed {seed}, {role}: {new} new controls pressed ({new / max(1, known.row()[1]):.1%}) in {time.time() - started:.0f} s", flush=True)  # fmt: skip
    finally:
        print(f"{log.unpressed()}\n\n{log.table()}\n\nseeds {given.seed}; the log is in {given.log}")


if __name__ == "__main__":
    main()
