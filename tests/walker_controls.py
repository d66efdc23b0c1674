"""What the walker makes of a control: whether it may press it, which others are the same, and how a person uses it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TYPED = ("carrier labels", "how long do we keep records?", "<b>&\"' ünï ✓", "FN-22", "12")
FILE = {"name": "brought.md", "mimeType": "text/markdown", "buffer": b"# Brought\n\nA line.\n"}
OUTSIDE = "leaves the app"

# What the walker does not touch, and why. A word stands at the beginning of a name.
KEPT = {
    r"sign out|end( all others)?$": "ends the session of the walk",
    r"(set|change it|current|new|repeat).*password|password|change it": "ends the session of the walk",
    r"role of|the account of": "takes the walker's own role away",
    r"start recording": "records the screen, which no window of a test has",
}
# What it does not press; a tab or a field of the same name is only looked at, and what only opens is opened.
SPARED = {
    r"delete|remove|×|discard|throw|close|withdraw|drop": "throws away what later steps look at",
    r"merge|approve|apply suggestion|restore|revert": "ends a change that later steps look at",
    r"promote|roll back|make default": "changes what everybody's search does",
    r"rebuild|build|verify|generate|train|calibrate|measure|run$|evaluate|start": "minutes of work, with journeys of its own",
}
HARMLESS = (
    "link",
    "tab",
    "radio",
    "choice",
    "select",
    "text",
    "number",
    "date",
    "range",
    "slider",
    "summary",
    "spinbutton",
)
OPENER = re.compile(r"expand_(more|less)$")
TABS = {"tab", "side", "do", "view", "queue", "as", "evaluation_tab", "tuning_tab", "index_tab"}
# Parts of one Streamlit widget that come again on every page: one kind for a page is enough.
PARTS = re.compile(
    r"^(Help for|Open$|Clear value|Remove|Dismiss$|Fullscreen|Close fullscreen|Decrement|Increment|(month|day|year),)"
)

# What a control says after it was pressed, and names that people gave.
SAME = {
    "expand_less": "expand_more",
    "keyboard_arrow_(down|right)|chevron_right": "arrow",
    r"\bHide\b": "Show",
    "“.*”?": "…",
    " [↑↓]": "",
    r".*\?$": "…",
}


def view_of(url: str) -> str:
    """Which view an address names: the page, its parameters, and its tabs.

    >>> view_of("http://127.0.0.1:1/documents?doc=A-1&tab=History")
    '/documents doc tab=History'
    """
    parts = urlsplit(url)
    names = sorted(f"{name}={value}" if name in TABS else name for name, value in parse_qsl(parts.query))
    return " ".join([parts.path, *dict.fromkeys(names)])


def spared(control: dict[str, Any], home: str) -> str:
    """Why a control is not pressed: it destroys, or it leaves the app; nothing where it may be."""
    if control["href"] and not control["href"].startswith(home):
        return OUTSIDE
    words = re.sub(r"^[a-z_]+(?= [A-Z])", "", control["name"]).strip()  # an icon's name comes first
    closes = control["where"] == "dialog" and words.startswith("Close") and not control["key"]
    chip = words.startswith("Remove") and re.match("BUTTON<(SPAN<SPAN|SMALL)", control["chain"])  # out of a field
    safe = control["kind"] in HARMLESS or OPENER.search(words) or closes or chip
    rules = KEPT if safe else {**KEPT, **SPARED}
    return next((why for word, why in rules.items() if re.match(rf"({word})", words, re.I)), "")


class Families:
    """Which controls are the same one: the 40th result, the 30th row, the option of a facet that data named."""

    def __init__(self, data: Iterable[str]) -> None:
        words = sorted({word.strip() for word in data if len(word.strip()) > 1}, key=len, reverse=True)
        pattern = re.compile("|".join(rf"(?<!\w){re.escape(word[:90])}(?!\w)" for word in words) or r"(?!)")
        self.plain: Callable[[str], str] = lru_cache(None)(lambda name: self._plain(pattern, name))

    @staticmethod
    def _plain(pattern: re.Pattern[str], name: str) -> str:
        without = re.sub(r"\d+", "#", pattern.sub("…", name))
        without = re.sub(r"(?<=column )[A-Z]\b", "*", without)
        for one, other in SAME.items():
            without = re.sub(one, other, without)
        return without if len(without) <= 45 else "…"

    def of(self, control: dict[str, Any], url: str) -> str:
        """The page, the kind and the place of a control, and its name where that is not data."""
        page = urlsplit(url).path if control["where"] in ("main", "popover") else control["where"]
        key = self.plain(re.sub(r"[0-9a-f]{6,}|\d+", "#", control["key"]).replace("_", " "))
        key = re.sub(r"\S*-\S*", "#", key)  # the id of a document
        key = re.sub("^queue .*", "queue", key)  # lists of the same kind
        kind = control["kind"]
        chain = re.sub(r"\d+", "#", re.sub(r"(\.[^\s<]*)[^<]*", r"\1", control["chain"]))  # its class, not its state
        if (part := PARTS.match(control["name"])) and "." not in chain:
            return f"{page} {kind} {part[1]}"
        rows = kind in ("link", "checkbox") and control["where"] != "sidebar"
        rows = rows or chain.startswith("DIV<TD")  # a day
        facet = ".options<" in chain or ".facet" in chain or (re.search(r" \d+$", control["name"]) and "NAV" in chain)
        name = "" if rows or facet else self.plain(control["name"])
        return f"{page} {kind} {key} {name} {chain}"


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
        node.press(chance.choice(("ArrowRight", "ArrowLeft") if kind != "spinbutton" else ("ArrowUp", "ArrowDown")))
    elif kind == "select":
        values = node.evaluate("node => [...node.options].filter((o) => o.value !== node.value).map((o) => o.value)")
        if values:
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
    if options.count():
        try:
            options.nth(chance.randrange(min(options.count(), 8))).click(timeout=4000)
        finally:
            page.keyboard.press("Tab")  # a box for several stays open, and one whose option was not there
    else:
        page.keyboard.press("Escape")
