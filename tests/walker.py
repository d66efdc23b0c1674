"""A browser that walks the app by itself: every page and tab, every control that does not destroy, every way out.

By hand, with what it saw as JSON lines: `python -m tests.walker --base starter --role author --seed 1 --steps 200 --log walk.jsonl`
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests import browser
from tests.conftest import PASSWORD
from tests.walker_bases import BASES

ROLES = ("reader", "author", "reviewer", "admin")
SCRIPT = (Path(__file__).parent / "walker_page.js").read_text(encoding="utf-8")
TYPED = ("carrier labels", "how long do we keep records?", "<b>&\"' ünï ✓", "FN-22", "12")
FILE = {"name": "brought.md", "mimeType": "text/markdown", "buffer": b"# Brought\n\nA line.\n"}

# What the walker does not touch, and why. A word stands at the beginning of a name.
KEPT = {
    r"sign out|end( all others)?$": "ends the session of the walk",
    r"(set|change it|current|new|repeat).*password|password|change it": "ends the session of the walk",
    r"role of|the account of": "takes the walker's own role away",
}
# What it does not press; a tab or a field of the same name is only looked at.
SPARED = {
    r"delete|remove|×|discard|close|withdraw|drop": "throws away what later steps look at",
    r"merge|approve|apply suggestion|restore|revert": "ends a change that later steps look at",
    r"promote|roll back|make default": "changes what everybody's search does",
    r"rebuild|build|verify|generate|train|calibrate|measure|run$|evaluate|start": "minutes of work, with journeys of its own",
    r"download|csv|json": "a file, looked at by tests of what is in it",
    r"print": "opens the printer's dialog of the browser, which nothing can press",
}
HARMLESS = ("tab", "radio", "choice", "select", "text", "number", "date", "range", "slider", "summary")
# Pages whose choices no address brings back, and why.
SESSION = {"/upload": "files that are not submitted yet belong to the session, and so does the way they came"}
PROBE = re.compile(
    r"/\w+/_stcore/(health|host-config)$"
)  # Streamlit asks below the page's path first, to find its base
NOTED = re.compile(r"Failed to load resource")  # the browser's own line about an answer, which is looked at itself
TABS = {"tab", "side", "do", "view", "queue", "as", "evaluation_tab", "tuning_tab", "index_tab"}
DESK, PHONE = (1280, 900), (390, 844)
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@dataclass(frozen=True)
class Finding:
    """Something that a person would call broken."""

    kind: str
    role: str
    base: str
    url: str
    control: str
    detail: str


@dataclass
class Log:
    """What was walked, and what was found; written to a file as it happens, where one is named."""

    path: Path | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def step(self, **what: Any) -> None:
        self.lines.append(what)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(what, ensure_ascii=False) + "\n")

    def add(self, finding: Finding) -> None:
        same = (finding.kind, re.sub(r"\d+", "#", finding.control + finding.detail))
        if all((known.kind, re.sub(r"\d+", "#", known.control + known.detail)) != same for known in self.findings):
            self.findings.append(finding)
            self.step(finding=asdict(finding))

    def table(self) -> str:
        """One row per base and role, then what was found."""
        rows = ["| Base | Role | Views | Controls | of those met | Steps | Findings |", "|---|---|---|---|---|---|---|"]
        for base, role in dict.fromkeys((line["base"], line["role"]) for line in self.lines if "base" in line):
            own = [line for line in self.lines if (line.get("base"), line.get("role")) == (base, role)]
            views = len({line["view"] for line in own})
            groups = len({line["group"] for line in own if line["way"] == "press"})
            found = sum((finding.base, finding.role) == (base, role) for finding in self.findings)
            share = groups / max(1, max(line["met"] for line in own))
            rows.append(f"| {base} | {role} | {views} | {groups} | {share:.0%} | {len(own)} | {found} |")
        kinds = Counter(finding.kind for finding in self.findings)
        rows += ["", f"{len(self.findings)} findings: {dict(kinds)}" if kinds else "Nothing found."]
        return "\n".join([*rows, *(f"- {f.kind} · {f.base} · {f.role} · {f.url} · {f.control} · {f.detail}" for f in self.findings)])  # fmt: skip


def view_of(url: str) -> str:
    """Which view an address names: the page, its parameters, and its tabs.

    >>> view_of("http://127.0.0.1:1/documents?doc=A-1&tab=History")
    '/documents doc tab=History'
    """
    parts = urlsplit(url)
    names = sorted(f"{name}={value}" if name in TABS else name for name, value in parse_qsl(parts.query))
    return " ".join([parts.path, *dict.fromkeys(names)])


def tab_of(url: str) -> str:
    """The page and its tabs: a control is the same one whatever else the address holds.

    >>> tab_of("http://127.0.0.1:1/search?q=label&tab=History")
    '/search tab=History'
    """
    return " ".join(word for word in view_of(url).split() if word.startswith("/") or "=" in word)


class Walker:
    """One person in one browser. `chance` decides what comes next, so that a seed walks the same way again."""

    def __init__(self, context: Any, url: str, role: str, base: str, server_log: Path, chance: random.Random, log: Log) -> None:  # fmt: skip
        self.context, self.url, self.role, self.base = context, url, role, base
        self.server_log, self.chance, self.log = server_log, chance, log
        self.seen: set[str] = set()
        self.met: set[str] = set()
        self.views: dict[str, str] = {}
        self.read = len(server_log.read_text())
        self.page = self.tab(context)
        self.mirror: Any = None
        self.control, self.touched, self.left = "", False, 0

    def tab(self, context: Any) -> Any:
        page = context.new_page()
        page.add_init_script(SCRIPT)
        page.on(
            "console",
            lambda said: said.type == "error" and not NOTED.match(said.text) and self.found("console", said.text),
        )
        page.on("pageerror", lambda error: self.found("page error", str(error)))
        page.on(
            "response",
            lambda answer: (
                answer.status >= 400
                and not PROBE.search(answer.url)
                and self.found("refused", f"{answer.status} {answer.url}")
            ),
        )
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    def found(self, kind: str, detail: str, control: str | None = None) -> None:
        address = self.page.url.removeprefix(self.url) if hasattr(self, "page") else ""
        detail = detail.replace(self.url, "")[:300]
        self.log.add(Finding(kind, self.role, self.base, address, self.control if control is None else control, detail))

    def step(self, view: str, way: str, group: str = "", **more: str) -> None:
        self.log.step(base=self.base, role=self.role, view=view, way=way, group=group, met=len(self.met), **more)

    # ------------------------------------------------------------ looking

    def settle(self, page: Any = None) -> None:
        """Wait until nothing runs, and say what is wrong."""
        page = page or self.page
        try:
            page.wait_for_selector(READY, timeout=60_000, state="attached")
            page.wait_for_timeout(100)
            page.wait_for_selector(READY, timeout=60_000, state="attached")
        except Exception:
            self.found("restless", "the script did not come to rest within a minute")
        waiting: list[str] = []
        for _ in range(200):
            if not (waiting := page.evaluate("walker.waiting()")):
                break
            page.wait_for_timeout(100)
        else:
            self.found("restless", f"a placeholder is still there after 20 seconds: {waiting}")
        for trouble in page.evaluate("walker.trouble()"):
            self.found("exception", re.sub(r"number \w+", "number", trouble))
        for part in page.evaluate("walker.outside()"):
            self.found("sticks out", f"{page.viewport_size['width']} px: {part}", control="")
        said = self.server_log.read_text()
        for line in said[self.read :].splitlines():
            if "Traceback" in line or re.search(r"\bERROR\b", line):
                self.found("server log", " ".join(said[self.read :].split())[-300:])
        self.read = len(said)

    def same_view(self, way: str) -> None:
        """What is shown is what the address brings in a fresh tab."""
        if urlsplit(self.page.url).path in SESSION:
            return
        if not self.mirror:  # a window of its own with the same cookie: a tab in the background draws nothing
            self.mirror = self.tab(
                self.context.browser.new_context(
                    viewport=self.page.viewport_size, storage_state=self.context.storage_state()
                )
            )
        self.mirror.goto(self.page.url)
        self.settle(self.mirror)
        problem = ""
        for _ in range(50):  # a busy machine draws late
            shown, fresh = (page.evaluate("walker.view()") for page in (self.page, self.mirror))
            if not (problem := self.difference(shown, fresh)):
                return
            self.mirror.wait_for_timeout(200)
        self.found("other view", f"{way}: {problem}")

    def difference(self, shown: dict[str, Any], fresh: dict[str, Any]) -> str:
        """What two looks at one address do not share; text counts only where nothing was touched since."""
        for part in ("title", "headings", "tabs"):
            if shown[part] != fresh[part]:
                return f"{part} {shown[part]} became {fresh[part]}"
        alike = SequenceMatcher(None, shown["lines"], fresh["lines"], autojunk=False).ratio()
        return "" if self.touched or alike >= 0.7 else f"{alike:.0%} of the text is the same"

    def controls(self, where: Sequence[str] = ("main", "popover", "dialog")) -> list[dict[str, Any]]:
        """What can be pressed now, each with the group of its like."""
        handle = self.page.evaluate_handle("window.walker_found = walker.controls()")
        told = self.page.evaluate("walker_found.map(({ node, ...rest }) => rest)")
        handle.dispose()
        for n, one in enumerate(told):
            name = (
                ""
                if one["kind"] in ("link", "checkbox") and one["where"] == "main"
                else re.sub(r"\d+", "#", one["name"])
            )
            place = re.sub(r"\d+", "#", one["key"])
            one |= {"n": n, "group": f"{tab_of(self.page.url)} {one['kind']} {place} {name} {one['chain']}"}
        usable = [one for one in told if one["where"] in where and self.may(one)]
        self.met |= {one["group"] for one in usable}
        return usable

    def may(self, control: dict[str, Any]) -> bool:
        """Whether pressing it destroys nothing and stays in the app."""
        outside = control["href"] and not control["href"].startswith(self.url)
        words = re.sub(r"^[a-z_]+(?= [A-Z])", "", control["name"]).strip()  # an icon's name comes first
        spared = KEPT if control["kind"] in HARMLESS else {**KEPT, **SPARED}
        return not (outside or control["download"] or any(re.match(rf"({word})", words, re.I) for word in spared))

    # ------------------------------------------------------------ acting

    def press(self, control: dict[str, Any]) -> None:
        """Use a control as a person would, and see whether anything came of it."""
        self.seen.add(control["group"])
        self.control = f"{control['kind']} {control['name']!r}"
        before, view = self.page.evaluate("walker.print()"), view_of(self.page.url)
        self.step(view, "press", control["group"], control=self.control)
        idle = control["chosen"] or control["kind"] in ("text", "file") or self.stays(control)
        if not self.attempt(control):
            return
        self.settle()
        if not idle and not self.changed(before):
            self.found("does nothing", control["chain"])
        self.leave_dialog()

    def attempt(self, control: dict[str, Any], again: bool = True) -> bool:
        """Whether it could be used; what lies above it is closed first, as a person would."""
        try:
            self.use(self.page.evaluate_handle(f"walker_found[{control['n']}].node").as_element(), control["kind"])
        except Exception as error:
            if "intercepts pointer events" in str(error) and again:
                self.page.keyboard.press("Escape")
                return self.attempt(control, again=False)
            if "not attached" not in str(error):
                self.found("cannot be pressed", " ".join(f"{str(error)[:80]} … {str(error)[-160:]}".split()))
            return False
        return True

    def stays(self, control: dict[str, Any]) -> bool:
        """Whether nothing may come of it: a link to where one is, a graph that fits already, a dialog of the system."""
        here = control["kind"] == "link" and ("#" in control["href"] or control["href"] == self.page.url)
        return here or control["name"] in ("upload Upload", "Fit")

    def changed(self, before: int) -> bool:
        for _ in range(15):
            if self.page.evaluate("walker.print()") != before:
                return True
            self.page.wait_for_timeout(150)
        return False

    def use(self, node: Any, kind: str) -> None:
        if kind == "file":
            node.set_input_files([FILE])
        elif kind == "text":
            node.fill(self.chance.choice(TYPED), timeout=3000)
            node.press("Enter" if node.evaluate("node => node.tagName") == "INPUT" else "Control+Enter")
        elif kind == "number":
            node.fill("2", timeout=3000)
            node.press("Enter")
        elif kind in ("slider", "range"):
            node.focus()
            node.press(self.chance.choice(("ArrowRight", "ArrowLeft")))
        elif kind == "select":
            values = node.evaluate(
                "node => [...node.options].filter((o) => o.value !== node.value).map((o) => o.value)"
            )
            if values:
                node.select_option(self.chance.choice(values))
        elif kind == "choice":
            self.choose(node)
        else:
            node.click(timeout=4000)

    def choose(self, node: Any) -> None:
        """Another option of a select box."""
        node.click(timeout=4000)
        self.page.wait_for_timeout(200)
        options = self.page.locator("[role=option][aria-selected=false]:not([aria-disabled=true])")
        if options.count():
            options.nth(self.chance.randrange(min(options.count(), 8))).click(timeout=4000)
            self.page.keyboard.press("Tab")  # a box for several stays open
        else:
            self.page.keyboard.press("Escape")

    def leave_dialog(self) -> None:
        """Try what a dialog offers, then close it."""
        dialog = self.page.locator("[role=dialog]:has(button)")
        if not dialog.count():
            return
        opened = self.control
        self.step(f"{view_of(self.page.url)} dialog {opened}", "dialog")
        for control in [one for one in self.controls(("dialog",)) if one["kind"] in ("text", "checkbox", "choice")][:2]:
            self.attempt(control)
            self.settle()
        cancel = dialog.get_by_role("button", name=re.compile("^(Cancel|Close)", re.I))
        cancel.first.click() if cancel.count() else self.page.keyboard.press("Escape")
        self.settle()
        if dialog.count():
            self.page.keyboard.press("Escape")
            self.settle()
        if dialog.count():
            self.control = opened
            self.found("dialog stays", "neither Cancel nor Escape closes it")
            self.page.reload()
            self.settle()

    # ------------------------------------------------------------ walking

    def sign_in(self) -> None:
        self.page.goto(f"{self.url}/sign-in")
        self.page.fill("#name", self.role)
        self.page.fill("#password", PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.settle()

    def way(self, name: str, go: Any) -> None:
        """Leave or come back, and look."""
        self.control, self.touched = name, False
        go()
        self.left -= 1
        self.settle()
        view = view_of(self.page.url)
        self.views.setdefault(view, self.page.url)
        self.step(view, name)

    def menu(self) -> Any:
        return self.page.get_by_test_id("stSidebarNavLink")

    def enter(self, path: str) -> None:
        """Go to a page by the menu; a phone opens the menu first."""
        if (opener := self.page.get_by_test_id("stExpandSidebarButton")).count() and opener.first.is_visible():
            opener.first.click()
        self.page.locator(f"[data-testid=stSidebarNavLink][href$='{path}']").first.click()

    def explore(self, each: int, mirror: float) -> None:
        """Press what was not pressed before in this view, so many times; other views are kept for later."""
        home, view = self.page.url, view_of(self.page.url)
        for _ in range(each):
            fresh = [one for one in self.controls() if one["group"] not in self.seen]
            if not fresh or self.left <= 0:
                return
            inner = [one for one in fresh if one["where"] == "popover"]
            self.left -= 1
            control = self.chance.choice(inner or fresh)
            address = self.page.url
            self.press(control)
            if not self.page.url.startswith(self.url):
                self.found("left the app", self.page.url)
            elif self.page.url != address or control["kind"] in ("tab", "radio"):
                if self.chance.random() < mirror:
                    self.same_view("fresh tab")
            else:
                self.touched = True
            if view_of(self.page.url) != view:
                self.views.setdefault(view_of(self.page.url), self.page.url)
                if urlsplit(self.page.url).path != urlsplit(home).path or self.chance.random() < 0.5:
                    self.come_back(home, mirror)
                else:
                    home, view = self.page.url, view_of(self.page.url)

    def come_back(self, home: str, mirror: float) -> None:
        """By the back button, by a reload, or by the menu."""
        chosen = self.chance.choice(("back", "reload", "menu"))
        if chosen == "back":
            self.way("back", lambda: self.page.go_back())
        elif chosen == "reload":
            self.way("reload", lambda: self.page.reload())
        else:
            path = urlsplit(self.page.url).path
            if self.page.locator(f"[data-testid=stSidebarNavLink][href$='{path}']").count():
                self.way("menu", lambda: self.enter(path))
        if self.chance.random() < mirror:
            self.same_view(chosen)
        if self.page.url != home:
            self.way("address", lambda: self.page.goto(home))

    def walk(self, steps: int, each: int, mirror: float) -> None:
        """Every page of the menu, then every view that was met, until the steps are used."""
        self.left = steps
        self.sign_in()
        pages = [entry.get_attribute("href") for entry in self.menu().all()]
        self.chance.shuffle(pages)
        for page in pages:
            path = urlsplit(page).path
            self.way("menu", lambda path=path: self.enter(path))
            self.explore(each, mirror)
        done: set[str] = set()
        while self.left > 0 and (later := [view for view in self.views if view not in done]):
            view = self.chance.choice(later)
            done.add(view)
            self.way("address", lambda view=view: self.page.goto(self.views[view]))
            self.explore(steps, mirror)


@contextmanager
def served(base: str, folder: Path, count: int = 0) -> Iterator[tuple[str, Path]]:
    """A base on a server of its own, with sign-in."""
    app = BASES[base](folder / base, *([count] if count and base != "handbook" else []))
    log = folder / f"{base}.log"
    log.touch()
    with browser.server(app.settings.home, log, CONCORD_SIGN_IN="local", CONCORD_CACHE=str(app.settings.cache)) as url:
        yield url, log


def walk(chromium: Any, url: str, server_log: Path, base: str, role: str, log: Log, *, seed: int, steps: int, each: int, mirror: float, window: tuple[int, int] = DESK) -> None:  # fmt: skip
    """One role on one base."""
    context = chromium.new_context(viewport=dict(zip(("width", "height"), window, strict=True)))
    walker = Walker(context, url, role, base, server_log, random.Random(f"{seed} {role} {base}"), log)
    try:
        walker.walk(steps, each, mirror)
    finally:
        context.close()
        if walker.mirror:
            walker.mirror.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.walker", description="Walk the app and say what is broken.")
    parser.add_argument("--base", choices=list(BASES), default="starter")
    parser.add_argument("--role", choices=[*ROLES, "all"], default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=150, help="per role")
    parser.add_argument("--each", type=int, default=12, help="controls per page on the first round")
    parser.add_argument("--documents", type=int, default=0, help="odd documents: beside the starter set, or in all")
    parser.add_argument("--phone", action="store_true", help="in a window of 390 px")
    parser.add_argument("--log", type=Path, default=Path("walk.jsonl"))
    given = parser.parse_args()
    given.log.write_text("")
    log, started = Log(given.log), time.time()
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.chromium() as chromium,
        served(given.base, Path(folder), given.documents) as (url, server_log),
    ):
        for role in ROLES if given.role == "all" else (given.role,):
            walk(
                chromium,
                url,
                server_log,
                given.base,
                role,
                log,
                seed=given.seed,
                steps=given.steps,
                each=given.each,
                mirror=0.3,
                window=PHONE if given.phone else DESK,
            )
    print(f"{log.table()}\n\n{time.time() - started:.0f} s, seed {given.seed}; the log is in {given.log}")


if __name__ == "__main__":
    main()
