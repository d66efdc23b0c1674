"""axe-core on every view of the app. `python -m tests.axe [light dark]` prints what it finds, page by page."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import browser
from tests.support.bases import starter
from tests.support.browser import ROOT

SCRIPT = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async (spared) => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const told = await axe.run(document, { runOnly: tags, resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
  return told.violations.flatMap(({ id, nodes }) => nodes.map((node) => ({
    rule: id, where: node.target.flat().join(" "), html: node.html.slice(0, 160),
    why: [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ").slice(0, 200),
  }))).filter(({ rule, where, html }) => !spared.some(([other, part]) => rule === other && (where.includes(part) || html.includes(part))));
}"""  # noqa: E501
# What belongs to the markup of Streamlit or CodeMirror and cannot be reached from here: the rule, part of the place,
# and why.
SPARED = (
    ("empty-table-header", 'role="columnheader"', "st.dataframe leaves the head of its check boxes empty"),
    (
        "scrollable-region-focusable",
        "cm-scroller",
        "CodeMirror scrolls around its text, and the text takes the keyboard",
    ),
)
VIEWS = {
    "home": "/",
    "search": "/search",
    "search results": "/search?q=how+long+do+we+keep+SAR+records",
    "search nothing": "/search?q=zzqqx",
    "documents": "/documents",
    "document": "/documents?doc=BSA-SOP-001",
    "document history": "/documents?doc=BSA-SOP-001&tab=History",
    "document links": "/documents?doc=BSA-SOP-001&tab=Links",
    "document chunks": "/documents?doc=BSA-SOP-001&tab=Chunks",
    "editor": "/documents?doc=BSA-SOP-001&do=edit",
    "new document": "/documents?do=new",
    "upload": "/upload",
    "upload with a file": "/upload",
    "upload status words": "/upload",
    "reviews": "/reviews",
    "change": "/reviews?change=1",
    "change chunks": "/reviews?change=1&side=Chunks",
    "change search": "/reviews?change=1&side=Search",
    "change discussion": "/reviews?change=1&side=Discussion",
    "change conflicts": "/reviews?change=2&side=Conflicts",
    "freshness": "/freshness",
    "freshness answers": "/freshness?show=Answers",
    "freshness disagreements": "/freshness?show=Disagreements",
    "words": "/words",
    "words pins": "/words?list=Pinned+answers",
    "words suggestions": "/words?list=Suggestions",
    "playground": "/playground",
    "playground results": "/playground?q=how+long+do+we+keep+SAR+records",
    "playground judged blind": "/playground?q=how+long+do+we+keep+SAR+records",
    "graph document": "/graph?around=BSA-SOP-001",
    "graph query": "/graph?view=Query&about=wire+transfer",
    "graph entity": "/graph?view=Entity",
    "graph path": "/graph?view=Path",
    "graph communities": "/graph?view=Communities",
    "graph links": "/graph?view=Links",
    "graph table": "/graph?around=BSA-SOP-001&as=Table",
    "evaluation": "/evaluation",
    "evaluation runs": "/evaluation?evaluation_tab=Runs",
    "evaluation asked": "/evaluation?evaluation_tab=Asked",
    "tuning": "/tuning",
    "tuning tau": "/tuning?tuning_tab=Tau",
    "tuning confidence": "/tuning?tuning_tab=Confidence",
    "tuning learn": "/tuning?tuning_tab=Learn",
    "tuning production": "/tuning?tuning_tab=Production",
    "index": "/index",
    "index jobs": "/index?index_tab=Jobs",
    "index profiles": "/index?index_tab=Profiles",
    "index models": "/index?index_tab=Models",
    "index money": "/index?index_tab=Money",
    "remote": "/remote",
    "inbox": "/inbox",
    "accounts": "/accounts",
    "audit": "/audit",
    "account": "/account",
    "account new token": "/account",
    "deliveries": "/deliveries",
    "webhooks": "/deliveries?deliveries=Webhooks",
    "messages": "/account?part=Messages",
}
# What is pressed before a view is looked at.
PRESSED = {
    "upload status words": "Status words",
    "account new token": "New token",
    "playground judged blind": "Judge blind",
}
FILE = {"name": "brought.md", "mimeType": "text/markdown", "buffer": b"# Brought\n\n#Not a heading\n\nTODO: a line.\n"}


def script() -> str:
    """axe-core, where `make lint` has installed it."""
    if not SCRIPT.exists():
        pytest.skip("NO AXE-CORE ON THIS MACHINE: npm ci --prefix .ci installs it, and so does make lint")
    return SCRIPT.read_text(encoding="utf-8")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    app = starter(folder / "home")
    with browser.server(app.settings.home, folder / "server.log", CONCORD_CACHE=str(app.settings.cache)) as url:
        yield url


def violations(screen: browser.Screen, view: str, source: str) -> list[dict[str, str]]:
    """What axe says about a view that is open."""
    if view.endswith("with a file"):
        screen.page.locator("input[type=file]").set_input_files([FILE])
        screen.page.get_by_text("brought").first.wait_for()
        screen.settle()
    if name := PRESSED.get(view):
        screen.page.get_by_text(name, exact=True).first.click()
        screen.settle()
    screen.page.wait_for_selector("[data-testid=stSkeleton]", state="detached", timeout=20_000)
    screen.page.wait_for_timeout(600)  # what fades in has faded in
    screen.page.evaluate(source)
    return screen.page.evaluate(RUN, [[rule, part] for rule, part, _ in SPARED])


def looked_at(
    chromium: Any, url: str, views: Sequence[str], scheme: str, one_session: bool = False
) -> dict[str, list[dict[str, str]]]:
    """What axe says about each of them. In one session it steps from view to view, and what one leaves is in the
    next.
    """
    source, found = script(), {}
    with browser.screen(chromium, url, scheme=scheme) as screen:
        for view in views:
            (screen.go if one_session and found else screen.open)(VIEWS[view])
            found[view] = violations(screen, view, source)
    return found


def table(found: dict[str, list[dict[str, str]]]) -> str:
    """One line per view, with a line per violation below it."""
    lines = []
    for view, own in found.items():
        lines += [
            f"- {view}: {len(own)}",
            *(f"  - {one['rule']} · {one['where']} · {one['why']} · `{one['html']}`" for one in own),
        ]
    return "\n".join(lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium, served(Path(folder)) as url:
        for scheme in sys.argv[1:] or ("light", "dark"):
            found = looked_at(chromium, url, list(VIEWS), scheme)
            print(f"## {scheme}: {sum(map(len, found.values()))}\n\n{table(found)}\n", flush=True)


if __name__ == "__main__":
    main()
