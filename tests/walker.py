"""A browser that walks the app by itself: every page of the menu, and every control there that does not destroy.

By hand: `python -m tests.walker --base starter --role author --seed 2 --steps 200` prints what it found.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.conftest import PASSWORD
from tests.support import browser
from tests.support.bases import BASES

ROLES = ("reader", "author", "reviewer", "admin")
SCRIPT = (Path(__file__).parent / "walker_page.js").read_text(encoding="utf-8")
PROBE = re.compile(r"/\w+/_stcore/(health|host-config)$")  # Streamlit looks for its base below the page's path first
DESK = {"width": 1280, "height": 900}
TYPED = ("carrier labels", "how long do we keep records?", "<b>&\"' ünï ✓", "FN-22", "12")
FILE = {"name": "brought.md", "mimeType": "text/markdown", "buffer": b"# Brought\n\nA line.\n"}

# What is not pressed: a control whose name begins so ends the session, or destroys what later steps look at.
KEPT = re.compile(
    r"sign out|end( all others)?$|(set|change it|current|new|repeat).*password|password|change it|role of"
    r"|the account of|start recording",
    re.IGNORECASE,
)
SPARED = re.compile(
    r"delete|remove|×|discard|throw|close|withdraw|drop|merge|approve|apply suggestion|restore|revert|promote|roll back"
    r"|make default|rebuild|build|verify|generate|train|calibrate|measure|run$|evaluate|start",
    re.IGNORECASE,
)
LOOKED_AT = ("link", "tab", "radio", "choice", "select", "text", "number", "date", "range", "slider", "summary")
UNSEEN = ("Dismiss", "Next", "Copied")  # Streamlit's own for screen readers, behind a list and behind a calendar
STAYS = ("Fit", "Redo", "Undo", "Download as CSV")  # nothing may come of them in the page


def spared(control: dict[str, Any], home: str) -> bool:
    """Whether a control is left alone: it destroys, ends the session, or leaves the app."""
    if control["off"] or control["name"] in UNSEEN or (control["href"] and not control["href"].startswith(home)):
        return True
    words = re.sub(r"^[a-z_]+(?= [A-Z])", "", control["name"]).strip()  # an icon's name comes first
    opens = control["kind"] in LOOKED_AT or re.search(r"expand_(more|less)$", words)
    return bool(KEPT.match(words) or (not opens and SPARED.match(words)))


def family(control: dict[str, Any], url: str) -> str:
    """Which controls are the same one: the 40th result, the 30th row."""
    page = urlsplit(url).path if control["where"] in ("main", "popover") else control["where"]
    rows = control["kind"] in ("link", "checkbox") and control["where"] != "sidebar"
    name = "" if rows else control["name"][:45]
    return re.sub(r"\d+", "#", f"{page} {control['kind']} {control['key']} {name} {control['chain']}")


@dataclass(frozen=True)
class Served:
    """A base on its server."""

    url: str
    log: Path


@dataclass
class Walker:
    """One person in one browser. `chance` decides what comes next, so that a seed walks the same way again."""

    page: Any
    served: Served
    role: str
    chance: random.Random
    left: int  # steps
    pressed: set[str] = field(default_factory=set)
    found: dict[str, None] = field(default_factory=dict)  # what a person would call broken, each once
    control: str = ""
    events: int = 0  # what came of a control outside the page
    read: int = 0  # of the server's log

    def __post_init__(self) -> None:
        self.read = len(self.served.log.read_text())
        self.page.add_init_script(SCRIPT)
        self.page.on("console", self.heard)
        self.page.on("pageerror", lambda error: self.add(f"page error: {error}"))
        self.page.on("response", self.answered)
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.on("download", self.beyond)
        self.page.on("filechooser", self.beyond)
        self.page.on("popup", self.opened)

    def heard(self, said: Any) -> None:
        if said.type == "error" and not said.text.startswith("Failed to load resource"):  # an answer says it itself
            self.add(f"console: {said.text}")

    def answered(self, answer: Any) -> None:
        if answer.status >= 400 and not PROBE.search(answer.url):
            self.add(f"refused: {answer.status} {answer.url}")

    def beyond(self, _: Any) -> None:
        self.events += 1

    def opened(self, window: Any) -> None:
        self.events += 1
        window.close()

    def add(self, what: str) -> None:
        text = f"{self.role} at {self.page.url}, {self.control}: {what[:300]}"
        self.found[re.sub(r"\d+", "#", text.replace(self.served.url, ""))] = None

    # ------------------------------------------------------------ looking

    def settle(self) -> None:
        """Wait until nothing runs, and say what is wrong."""
        for _ in range(2):
            self.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', state="attached")
            self.page.wait_for_timeout(60)
        for _ in range(200):
            if not self.page.evaluate("walker.waiting().length"):
                break
            self.page.wait_for_timeout(100)
        look = self.page.evaluate("walker.look()")
        for kind, parts in look.items():
            for part in parts:
                self.add(f"{kind}: {part}")
        said = self.served.log.read_text()
        new, self.read = said[self.read :], len(said)
        if "Traceback" in new or re.search(r"\bERROR\b", new):
            self.add(f"server log: {' '.join(new.split())[-300:]}")

    def ready(self) -> list[dict[str, Any]]:
        """What is shown and was not pressed yet; what is open above the page first, links last."""
        self.page.evaluate_handle("window.walker_found = walker.controls()").dispose()
        shown = self.page.evaluate("walker_found.map(({ node, ...rest }, n) => ({ ...rest, n }))")
        new = [one for one in shown if not spared(one, self.served.url)]
        new = [one for one in new if family(one, self.page.url) not in self.pressed and one["where"] != "sidebar"]
        first = min(map(weight, new), default=0)
        return [one for one in new if weight(one) == first]

    # ------------------------------------------------------------ acting

    def press(self, control: dict[str, Any]) -> None:
        """Use a control as a person would, and see whether anything came of it."""
        self.left -= 1
        self.control = f"{control['kind']} {control['name']!r}"
        self.pressed.add(family(control, self.page.url))
        before, events = self.page.evaluate("walker.print()"), self.events
        node = self.page.evaluate_handle(f"walker_found[{control['n']}].node").as_element()
        try:
            use(self.page, node, control["kind"], self.chance)
        except Exception as error:
            if "intercepts pointer events" in str(error) and not self.page.locator("[role=dialog]").count():
                self.add("something lies above it")
            self.page.keyboard.press("Escape")
            return
        self.settle()
        may_stay = control["chosen"] or control["kind"] in ("text", "file", "region", "tabpanel", "link")
        if not may_stay and control["name"] not in STAYS and not self.changed(before, events):
            self.add(f"does nothing: {control['chain']}")

    def changed(self, before: int, events: int) -> bool:
        for _ in range(15):
            if self.events != events or self.page.evaluate("walker.print()") != before:
                return True
            self.page.wait_for_timeout(150)
        return False

    # ------------------------------------------------------------ walking

    def sign_in(self) -> None:
        self.page.goto(f"{self.served.url}/sign-in")
        self.page.fill("#name", self.role)
        self.page.fill("#password", PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.settle()

    def go(self, path: str) -> None:
        """To a page, twice: a reload shows the same view."""
        self.control, self.left = f"the address {path}", self.left - 1
        self.page.goto(self.served.url + path)
        self.settle()
        shown = self.page.evaluate("walker.view()")
        self.page.reload()
        self.settle()
        for _ in range(50):  # a busy machine draws late
            if shown == (again := self.page.evaluate("walker.view()")):
                return
            self.page.wait_for_timeout(200)
        self.add(f"a reload shows something else: {shown} became {again}")

    def explore(self, path: str, most: int) -> None:
        """Press what was not pressed before on one page, and come back to it from wherever that leads."""
        self.go(path)
        for _ in range(most):
            if self.left <= 0:
                return
            if urlsplit(self.page.url).path != path:
                self.page.goto(self.served.url + path)
                self.settle()
            if not (ready := self.ready()):
                self.page.keyboard.press("Escape")
                if not (ready := self.ready()):
                    return
            self.press(self.chance.choice(ready))

    def walk(self) -> None:
        """Every page of the menu, then the same again with what was not pressed yet."""
        self.sign_in()
        entries = self.page.get_by_test_id("stSidebarNavLink").all()
        pages = [urlsplit(entry.get_attribute("href")).path for entry in entries]
        most = 1 + self.left // (2 * len(pages))
        while self.left > 0:
            before = len(self.pressed)
            for path in self.chance.sample(pages, len(pages)):
                if self.left > 0:
                    self.explore(path, most)
            if len(self.pressed) == before:
                return


def weight(control: dict[str, Any]) -> int:
    if control["where"] in ("popover", "dialog"):
        return 0
    return {"link": 3, "tab": 2, "radio": 2}.get(control["kind"], 1)


def use(page: Any, node: Any, kind: str, chance: random.Random) -> None:
    """Use a control as a person would."""
    if kind == "file":
        node.set_input_files([FILE])
    elif kind == "text":
        node.fill(chance.choice(TYPED), timeout=3000)
        node.press("Enter" if node.evaluate("node => node.tagName") == "INPUT" else "Control+Enter")
    elif kind == "textbox":
        node.click(timeout=4000)
        page.keyboard.type("Walked. ")
    elif kind == "number":
        node.fill("2", timeout=3000)
        node.press("Enter")
    elif kind in ("region", "tabpanel"):  # scrolls by the keyboard
        node.focus()
    elif kind in ("slider", "range", "spinbutton"):
        node.focus()
        node.press(chance.choice(("ArrowUp", "ArrowDown") if kind == "spinbutton" else ("ArrowRight", "ArrowLeft")))
    elif kind == "select":
        if values := node.evaluate(
            "node => [...node.options].filter((o) => o.value !== node.value).map((o) => o.value)"
        ):
            node.select_option(chance.choice(values))
    elif kind == "choice":
        choose(page, node, chance)
    else:
        node.click(timeout=4000)


def choose(page: Any, node: Any, chance: random.Random) -> None:
    """Another option of a select box."""
    node.click(timeout=4000)
    page.wait_for_timeout(150)
    options = page.locator("[role=option][aria-selected=false]:not([aria-disabled=true])")
    if count := options.count():
        with suppress(Exception):
            options.nth(chance.randrange(min(count, 8))).click(timeout=4000)
    page.keyboard.press("Tab" if count else "Escape")


@contextmanager
def served(base: str, folder: Path, *documents: int, **environment: str) -> Iterator[Served]:
    """A base on a server of its own, with sign-in."""
    app = BASES[base](folder / base, *documents)
    log = folder / f"{base}.log"
    environment |= {"CONCORD_SIGN_IN": "local", "CONCORD_CACHE": str(app.settings.cache)}
    with browser.server(app.settings.home, log, **environment) as url:
        yield Served(url, log)


def walk(chromium: Any, place: Served, role: str, *, seed: int, steps: int) -> list[str]:
    """What one role finds broken on one base."""
    with browser.screen(chromium, place.url) as screen:
        page = screen.page.context.new_page()
        page.set_viewport_size(DESK)
        walker = Walker(page, place, role, random.Random(f"{seed} {role}"), steps)
        walker.walk()
        return list(walker.found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.walker", description="Walk the app and say what is broken.")
    parser.add_argument("--base", choices=list(BASES), default="starter")
    parser.add_argument("--role", choices=[*ROLES, "all"], default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400, help="of each role, at most")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.chromium() as chromium,
        served(given.base, Path(folder)) as place,
    ):
        for role in ROLES if given.role == "all" else (given.role,):
            found = walk(chromium, place, role, seed=given.seed, steps=given.steps)
            print(f"{role}: {len(found)} findings", *found, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
