"""A real browser on a real server: Debian's chromium, driven by Playwright."""

from __future__ import annotations

import io
import os
import re
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from bench.cluster.browsers import FLAGS, executable
from tests.support.fork_server import Program, start

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = executable()
ARGUMENTS = [
    *FLAGS,
    "--in-process-gpu",
    "--disable-threaded-animation",
    "--disable-smooth-scrolling",  # nobody watches: a third of the CPU seconds
]
PATIENCE = 300  # seconds until what must come is missing: a busy machine is slow, and nobody waits longer than needed
PICTURES = os.environ.get(
    "CONCORD_SCREENS", ""
)  # where they go; without it none are taken, and nothing is done for them
EMPTY = "http://127.0.0.1/"  # of a component before it is drawn
LOCAL = re.compile(r"^(https?|wss?)://127\.0\.0\.1[:/]|^(data|blob|about):")

COUNT = """
const ended = (bytes) => {  // whether Streamlit says that a script has ended well: 0 in the sixth field of a message
    let at = 0;
    const number = () => { let sum = 0, place = 1, byte; do { byte = bytes[at++]; sum += (byte & 127) * place; place *= 128; } while (byte & 128); return sum; };
    while (at < bytes.length) {
        const field = number(), value = number();
        if (field === 6 << 3) return value === 0;
        if ((field & 7) === 2) at += value;
    }
};
window.runs = new EventTarget();
window.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", ({ data }) => ended(new Uint8Array(data)) && runs.dispatchEvent(new Event("end")));
    }
};
"""  # noqa: E501
STEP = """([path, seconds]) => new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`nothing ran for ${path}`)), seconds * 1000);
    const drawn = () => requestAnimationFrame(() => requestAnimationFrame(done));
    runs.addEventListener("end", drawn, { once: true });
    history.pushState({}, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
})"""  # until the script has run: its state in the page need not change, since a quick run begins and ends in one drawing  # noqa: E501


@contextmanager
def server(home: Path, log: Path, *flags: str, folder: Path = ROOT, port: int = 0, **environment: str) -> Iterator[str]:
    """`streamlit run streamlit_app.py` in a folder, on a free port. A traceback in its log fails whoever used it.

    It is forked from a process that has imported core and pages/ui; another folder may have pages and a config.toml of
    its own. Where nobody looks at what a worker does, `CONCORD_WORKERS="0"` saves one: two to six CPU seconds.
    """
    port = free(port or own_port())
    arguments = ["run", "streamlit_app.py", "--server.port", str(port), "--server.headless", "true", *flags]
    variables = {
        **os.environ,
        "CONCORD_HOME": str(home),
        "CONCORD_CACHE": str(ROOT / ".cache" / "tests"),
        **environment,
    }
    process = start("streamlit", arguments, log, folder, variables)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.join(PATIENCE)
    assert "Traceback" not in log.read_text(), log.read_text()


@cache
def own_port() -> int:
    """One server after the other of this process has one address, so that a browser keeps what it has loaded from
    there. It lies below the ports that the system gives to connections."""
    return 20_000 + os.getpid() % 10_000


def free(port: int) -> int:
    """This port, or any other if somebody has it."""
    for wanted in (port, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            probe.bind(("127.0.0.1", wanted))
            return int(probe.getsockname()[1])
    raise OSError("no port is free")


def wait_for(url: str, process: Program, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not process.is_alive():
            raise RuntimeError(log.read_text())
        try:
            urllib.request.urlopen(url, timeout=PATIENCE)
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no answer from {url}: {log.read_text()}")


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; where a machine has none, the test is skipped loudly."""
    if not CHROMIUM:
        pytest.skip(
            "NO BROWSER ON THIS MACHINE: install chromium-headless-shell or chromium to run the browser journeys"
        )
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=ARGUMENTS, timeout=PATIENCE * 1000
        )
        yield browser
        browser.close()


def new_page(browser: Any) -> Any:
    """In a context of its own; whatever it waits for, it waits for with patience."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    context.add_init_script(COUNT)
    return context.new_page()


IDLE: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # by browser: pages in contexts of their own


class Screen:
    """A page with stable ways to find things, and a memory for requests that left the machine."""

    def __init__(self, page: Any, base: str) -> None:
        self.page, self.base, self.outside, self.heard = page, base, [], []  # type: Any, str, list[str], list[Any]
        self.on("request", lambda request: None if LOCAL.match(request.url) else self.outside.append(request.url))

    def on(self, event: str, listener: Callable[[Any], object]) -> None:
        """Listen until the page is left to the next test."""
        self.page.on(event, listener)
        self.heard.append((event, listener))

    def leave(self) -> None:
        """As nobody had been here, but with the scripts and styles that the browser has read."""
        for event, listener in self.heard:
            self.page.remove_listener(event, listener)
        context = self.page.context
        for page in context.pages:
            if page.url.startswith("http"):
                page.evaluate("() => { sessionStorage.clear(); localStorage.clear(); }")
            if page != self.page:
                page.close()
        self.page.unroute_all()
        context.unroute_all()
        if self.page.url != EMPTY:
            self.page.goto("about:blank")
        context.clear_cookies()
        context.clear_permissions()

    def open(self, path: str = "/") -> Screen:
        """Go somewhere and wait until the script has finished."""
        self.page.goto(self.base + path)
        return self.settle()

    def go(self, path: str) -> Screen:
        """To another address of the same session, as a step back does: loading a page takes two CPU seconds."""
        self.page.evaluate(STEP, [path, PATIENCE])
        return self.settle()

    def settle(self) -> Screen:
        """Wait until nothing runs."""
        ready = '[data-testid="stApp"][data-test-script-state="notRunning"]'
        self.page.wait_for_selector(ready)
        self.page.wait_for_timeout(80)
        self.page.wait_for_selector(ready)
        return self

    def key(self, key: str) -> Any:
        """The element with a widget key."""
        return self.page.locator(f".st-key-{key}")

    def look(self, scheme: str = "light", height: int = 0) -> Screen:
        """The same page in light or dark, or in a taller window; nothing is loaded again."""
        self.page.emulate_media(color_scheme=scheme)
        if height:
            self.page.set_viewport_size({"width": self.page.viewport_size["width"], "height": height})
        self.page.wait_for_timeout(150)
        return self if self.page.url == "about:blank" else self.settle()

    def picture(self, name: str) -> None:
        """A page outside Streamlit, in light, dark and on a phone."""
        if PICTURES:
            size = self.page.viewport_size
            for suffix, scheme, width in (
                ("", "light", size["width"]),
                ("-dark", "dark", size["width"]),
                ("-phone", "light", 390),
            ):
                self.page.emulate_media(color_scheme=scheme)
                self.page.set_viewport_size({"width": width, "height": size["height"]})
                small_png(self.page.screenshot(animations="disabled"), ROOT / PICTURES / f"{name}{suffix}.png")
            self.page.emulate_media(color_scheme="light")
            self.page.set_viewport_size(size)

    def shots(self, name: str) -> None:
        """A screenshot in light and one in dark."""
        self.shot(name)
        if PICTURES:
            self.look("dark").shot(f"{name}-dark")
            self.look("light")

    def shot(self, name: str) -> None:
        """A screenshot in the folder that CONCORD_SCREENS names; without one, only wait until the page is complete."""
        self.page.wait_for_selector("[data-testid=stSkeleton]", state="detached")
        if PICTURES:
            small_png(self.page.screenshot(animations="disabled"), ROOT / PICTURES / f"{name}.png")


def press(target: Any) -> None:
    """Scroll, then click: a click scrolls to what is out of sight, and a list of options closes when its page
    scrolls.
    """
    target.hover()
    target.page.wait_for_timeout(80)
    target.click()


def act_as(screen: Screen, name: str) -> None:
    """Choose a persona in the sidebar."""
    press(screen.key("persona").locator("input"))
    screen.page.get_by_role("option", name=re.compile(name)).click()
    screen.settle()


class Journey:
    """What one person does from beginning to end, with a numbered picture of each step: light, dark and on a phone."""

    def __init__(self, screen: Screen, name: str) -> None:
        self.screen, self.name, self.steps, self.clicks = screen, name, 0, 0

    def click(self, target: Any) -> None:
        """A click that counts, and what follows from it."""
        self.clicks += 1
        press(target)
        self.screen.settle()

    def step(self, name: str) -> None:
        """The page as it is now, under the next number; pictures are taken only where CONCORD_SCREENS names a
        folder.
        """
        self.steps += 1
        if not PICTURES:
            return
        size, place = self.screen.page.viewport_size, f"journeys/{self.name}-{self.steps:02}-{name}"
        self.screen.shots(place)
        self.screen.page.set_viewport_size({"width": 390, "height": size["height"]})
        self.screen.settle().shot(f"{place}-phone")
        self.screen.page.set_viewport_size(size)
        self.screen.settle()


def small_png(raw: bytes, path: Path) -> None:
    """Write a picture with 256 colours: a third of the bytes, and nobody sees the difference on a page of text."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(raw)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


@contextmanager
def screen(browser: Any, base: str, width: int = 1280, height: int = 900, scheme: str = "light") -> Iterator[Screen]:
    """A browser profile in which nobody has been. No request may leave the machine.

    A new one costs three CPU seconds before its first page is there: what a test leaves in order serves the next one.
    """
    idle = IDLE.setdefault(browser, [])
    page = idle.pop() if idle else new_page(browser)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    made = Screen(page, base)
    try:
        yield made
        made.leave()
        idle.append(page)
    except BaseException:
        page.context.close()
        raise
    assert made.outside == [], made.outside


@contextmanager
def component(browser: Any, name: str, *shared: str) -> Iterator[Any]:
    """One component alone on a page, without a server: `show(data)` draws it, `sent` holds what it said.

    Going to a page takes half of its CPU seconds: it is left as empty as the next one needs it.
    """
    folder = ROOT / "pages" / "ui" / "components"
    script = "".join(
        (folder / f"{part}.js").read_text() for part in ("dom", *shared, name) if (folder / f"{part}.js").exists()
    )
    idle = IDLE.setdefault(browser, [])
    page = idle.pop() if idle else new_page(browser)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="light")
    page.route("**", lambda route: route.fulfill(content_type="text/html", body='<div id="host"></div>'))
    library = (folder / "vendor" / "codemirror.js").read_text()
    page.route("**/codemirror.js*", lambda route: route.fulfill(content_type="text/javascript", body=library))
    if page.url != EMPTY:
        page.goto(EMPTY)
    page.evaluate(
        """([script]) => {
            const parentElement = document.querySelector("#host").attachShadow({ mode: "open" });
            parentElement.innerHTML = '<div id="root" class="root"></div>';
            window.sent = [];
            const say = (name, value) => window.sent.push([name, value]);
            const draw = new Function(script.replace("export default function", "const component = function") + "; return component;")();
            window.show = (data) => draw({ data, parentElement, setTriggerValue: say, setStateValue: say });
        }""",  # noqa: E501
        [script],
    )
    try:
        yield page
        left = Screen(page, "")
        left.on("dialog", lambda dialog: dialog.accept())  # an editor asks whether its text may go
        page.goto(EMPTY)
        left.leave()
        idle.append(page)
    except BaseException:
        page.context.close()
        raise
