"""The editor in a real browser: typing, the toolbar, tables, links, findings, and text that nobody loses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import browser

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("editor", "nodes", "checks", "tables", "formatting", "linking", "pasting")
DOCUMENTS = [
    {"doc": "FIN-1", "title": "Records", "path": "finance/records.md"},
    {"doc": "it/vpn", "title": "VPN [remote]", "path": "it/vpn (home).md"},
]
pytestmark = pytest.mark.browser


def data(text: str, **more: Any) -> dict[str, Any]:
    empty = {"serial": "1", "place": "p", "path": "it/access/new.md", "title": "T", "nodes": [], "lines": []}
    said = {
        "problem": "",
        "note": "Nothing changed yet",
        "saved": "",
        "checks": [],
        "direct": "token",
        "insert": {},
        "tab": "t",
    }
    return {**empty, **said, "library": "/api/codemirror.js", "text": text, **more}


@contextmanager
def editor(chromium: Any, text: str, **more: Any) -> Iterator[Any]:
    """The editor with a text in it and the cursor at its end."""
    with browser.component(chromium, *PARTS) as page:
        page.route("**/api/v1/documents?*", lambda route: route.fulfill(json=DOCUMENTS))
        page.evaluate("show", data(text, **more))
        page.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        yield page


def typed(page: Any) -> str:
    """The text as the editor holds it."""
    page.evaluate("document.querySelector('#host').shadowRoot.activeElement?.blur()")
    said = [value for name, value in page.evaluate("sent") if name == "text"]
    assert said, "nothing was sent"
    return str(said[-1]["text"])


def call(page: Any, expression: str) -> Any:
    """What a function of the components gives for plain values."""
    folder = ROOT / "pages" / "ui" / "components"
    script = "".join((folder / f"{name}.js").read_text() for name in ("dom", "tables", "linking"))
    return page.evaluate("([script, wanted]) => new Function(`${script}; return ${wanted};`)()", [script, expression])


# ---------------------------------------------------------------- the library


def test_the_bundle_names_its_versions_and_its_licence() -> None:
    script = (ROOT / "pages" / "ui" / "components" / "vendor" / "codemirror.js").read_text()
    wanted = json.loads((ROOT / ".ci" / "editor" / "package.json").read_text())["devDependencies"]
    head = script[: script.index("*/")]
    for name, version in wanted.items():
        assert (f"{name} {version}" in head) == name.startswith("@"), name
    assert "MIT License" in head
    assert "Permission is hereby granted" in head
    assert len(script) < 450_000
    assert not re.search(r"\b(import|fetch|XMLHttpRequest|WebSocket|eval)\(|new Function", script), "it loads nothing"


# ---------------------------------------------------------------- tables


def test_a_table_is_laid_out_with_aligned_columns(chromium: Any) -> None:
    with browser.component(chromium, *PARTS) as page:
        lines = ["  |a|b\\\\|c|", "  |-|:-:|", "  |long cell|x", "  |1|2|3|"]
        written = call(page, f"writeTable(readTable({json.dumps(lines)}))".replace("\\\\\\\\", "\\\\"))
        assert written == [
            "  | a         | b\\|c |     |",
            "  | --------- | :--: | --- |",
            "  | long cell |  x   |     |",
            "  | 1         |  2   | 3   |",
        ]
        assert call(page, f"writeTable(readTable({json.dumps(written)}))") == written, "twice is once"
        assert call(page, 'tableAround(["text", "a | b", "--|--", "1 | 2", "", "x | y"], 3)') == {"first": 1, "last": 3}
        assert call(page, 'tableAround(["x | y", "no table"], 0)') is None


def test_tab_moves_through_a_table_and_enter_adds_a_row(chromium: Any) -> None:
    with editor(chromium, "| Who | What |\n|--|--|\n| Ann | reads |") as page:
        page.keyboard.press("Home")
        page.keyboard.press("Tab")
        page.keyboard.type("writes a lot")
        page.keyboard.press("Tab")  # the last cell: a new row
        page.keyboard.type("Bob")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        page.keyboard.type("Eve")
        page.keyboard.press("Enter")
        page.keyboard.type("Dan")
        page.keyboard.press("Tab")
        text = typed(page)
    lines = ("| Who | What |", "|--|--|", "| Eve | writes a lot |", "| Dan |     |", "| Bob |     |")
    assert [line.rstrip() for line in text.split("\n")] == list(lines), "no line changes that nobody typed in"


def test_enter_in_an_empty_last_row_leaves_the_table(chromium: Any) -> None:
    with editor(chromium, "| A | B |\n|---|---|\n| 1 | 2 |\n|   |   |") as page:
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        page.keyboard.type("After.")
        assert typed(page) == "| A | B |\n|---|---|\n| 1 | 2 |\n\nAfter."


def test_rows_and_columns_are_added_and_removed_at_the_cursor(chromium: Any) -> None:
    with editor(chromium, "| A | B |\n|---|---|\n| 1 | 2 |") as page:
        page.get_by_role("button", name="+Col").click()
        page.keyboard.type("new")
        page.get_by_role("button", name="+Row").click()
        page.get_by_role("button", name="−Row").click()
        page.get_by_role("button", name="−Col").click()
        page.get_by_role("button", name="−Row").click()
        assert page.get_by_role("button", name="−Row").is_disabled()  # the header stays
        assert page.get_by_role("button", name="+Row").is_enabled()
        assert typed(page) == "| A   | B   |\n| --- | --- |"


@pytest.mark.parametrize(
    ("kind", "clip", "wanted"),
    [
        ("text/plain", "Who\tWhat\nAnn\ta|b\n", "| Who | What |\n| --- | ---- |\n| Ann | a\\|b |"),
        (
            "text/html",
            "<h2>Steps</h2><p>Do <b>it</b> <a href='https://x.org/a'>now</a>.<script>window.bad = "
            "1</script></p><ol><li>one<ul><li>deep</li></ul></li><li>two</li></ol>",
            "## Steps\n\nDo **it** [now](https://x.org/a).\n\n1. one\n   - deep\n2. two",
        ),
        (
            "text/html",
            "<table><tr><td>A</td><td>B</td></tr><tr><td>1</td></tr></table>",
            "| A   | B   |\n| --- | --- |\n| 1   |     |",
        ),
        (
            "text/html",
            "<p class='MsoListParagraph'>·   first</p><p class='MsoListParagraph'>2.  second</p><p><a "
            "href='javascript:bad()'>x</a></p>",
            "- first\n\n2. second\n\nx",
        ),
    ],
)
def test_what_is_pasted_from_elsewhere_becomes_markdown(chromium: Any, kind: str, clip: str, wanted: str) -> None:
    with editor(chromium, "") as page:
        page.evaluate(
            """([kind, clip]) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData(kind, clip);
                const target = document.querySelector("#host").shadowRoot.querySelector(".cm-content");
                target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }""",
            [kind, clip],
        )
        assert typed(page) == wanted
        assert page.evaluate("window.bad") is None


# ---------------------------------------------------------------- toolbar and keys


def test_the_toolbar_and_its_shortcuts_write_markdown(chromium: Any) -> None:
    with editor(chromium, "Read the rules") as page:
        page.keyboard.press("Control+b")  # the word at the cursor
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.keyboard.type("first")
        page.get_by_role("button", name="Numbered list").click()
        page.keyboard.press("Enter")  # goes on with the next number
        page.keyboard.type("second")
        page.keyboard.press("Tab")  # under the first
        page.keyboard.press("Control+i")
        assert typed(page) == "Read the **rules**\n\n1. first\n   2. _second_"
        page.locator(".cm-content").focus()
        page.keyboard.press("Control+Home")
        page.get_by_label("Heading").select_option("2")
        assert typed(page).startswith("## Read the **rules**\n")
        page.get_by_role("button", name="Undo").click()
        assert typed(page).startswith("Read the **rules**\n")


def test_the_heading_says_what_the_selected_lines_are(chromium: Any) -> None:
    from playwright.sync_api import expect

    with editor(chromium, "## Purpose\n\nWhy we do it") as page:
        heading = page.get_by_label("Heading")
        expect(heading).to_have_value("0")  # the cursor stands at the end
        page.keyboard.press("Control+Home")
        expect(heading).to_have_value("2")
        page.keyboard.press("Control+a")
        expect(heading).to_have_value("")
        heading.select_option("3")
        assert typed(page) == "### Purpose\n\n### Why we do it"


def test_marks_and_lists_are_taken_away_by_the_same_button(chromium: Any) -> None:
    with editor(chromium, "- [ ] one\n- [x] two") as page:
        page.keyboard.press("Control+a")
        page.get_by_role("button", name="Task list").click()
        assert typed(page) == "one\ntwo"
        page.get_by_role("button", name="Bulleted list").click()
        assert typed(page) == "- one\n- two"
        page.get_by_role("button", name="Quote").click()
        assert typed(page) == "> - one\n> - two"


def test_the_toolbar_is_one_tab_stop_with_arrow_keys(chromium: Any) -> None:
    with editor(chromium, "x") as page:
        page.get_by_label("Heading").focus()
        page.keyboard.press("ArrowRight")
        name = "document.querySelector('#host').shadowRoot.activeElement.getAttribute('aria-label')"
        assert page.evaluate(name) == "Undo"
        page.keyboard.press("Tab")
        assert page.evaluate(name) == "Text of the document (Markdown)"


# ---------------------------------------------------------------- links


def test_two_brackets_offer_documents_and_write_a_relative_link(chromium: Any) -> None:
    with editor(chromium, "See ") as page:
        page.keyboard.type("[[fin-1")
        page.get_by_role("option", name="Records").wait_for()
        page.wait_for_timeout(120)  # the list takes no key in its first moments
        page.keyboard.press("Enter")
        page.keyboard.type(" and [the tunnel](vp")
        page.get_by_role("option", name="VPN").wait_for()
        page.wait_for_timeout(120)
        page.keyboard.press("Tab")
        assert typed(page) == "See [Records](../../finance/records.md) and [the tunnel](../vpn%20%28home%29.md)"


def test_ctrl_k_links_the_selected_words(chromium: Any) -> None:
    with editor(chromium, "the schedule") as page:
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+k")
        page.get_by_role("option", name="Records").wait_for()
        page.wait_for_timeout(120)
        page.keyboard.press("Enter")
        assert typed(page) == "[the schedule](../../finance/records.md)"


@pytest.mark.parametrize(
    ("here", "there", "link"),
    [
        ("a.md", "b.md", "b.md"),
        ("it/a.md", "it/b.md", "b.md"),
        ("it/x/a.md", "hr/b.md", "../../hr/b.md"),
        ("", "hr/b c#1.md", "hr/b%20c%231.md"),
    ],
)
def test_links_are_relative_as_the_checks_read_them(chromium: Any, here: str, there: str, link: str) -> None:
    from core.curation.document.links import links
    from core.types import Document

    with browser.component(chromium, *PARTS) as page:
        assert call(page, f"relativePath({json.dumps(here)}, {json.dumps(there)})") == link
    assert links(Document("d", here, "", f"[x]({link})\n"))[0].path == there


def test_a_chosen_picture_is_handed_over_and_shown_where_the_cursor_is(chromium: Any) -> None:
    with editor(chromium, "See:") as page:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Picture").click()
        chooser.value.set_files({"name": "map.png", "mimeType": "image/png", "buffer": b"PNG"})
        page.wait_for_function("sent.length")
        ((name, picture),) = page.evaluate("sent")
        assert (name, picture["name"], picture["data"]) == ("picture", "map.png", "UE5H")
        answer = {"id": picture["id"], "markdown": "![map](new.assets/map.png)"}
        page.evaluate("show", data("See:", insert=answer))
        page.evaluate("show", data("See:", insert=answer))  # a later draw inserts nothing again
        page.keyboard.type("The way in")
        assert typed(page) == "See:\n\n![The way in](new.assets/map.png)\n\n"


# ---------------------------------------------------------------- findings and preview


def test_a_finding_stands_at_its_line_and_a_click_leads_there(chromium: Any) -> None:
    text = "\n".join(f"line {n}" for n in range(1, 60))
    found = [[50, "error", "This is wrong."], [0, "warning", "No owner."]]
    with editor(chromium, text, checks=found, above=11) as page:
        page.locator(".cm-lint-marker-error").first.wait_for()
        page.keyboard.press("Control+Home")
        assert page.locator(".cm-lineNumbers .cm-activeLineGutter").inner_text() == "12", (
            "lines count as in the file and its review"
        )
        page.get_by_role("button", name="Line 61").click()
        page.keyboard.type("!")
        assert "\n!line 50\n" in typed(page)
        page.locator(".cm-lint-marker-error").hover()
        assert page.locator(".cm-tooltip").inner_text() == "This is wrong."
        assert "Fields" in page.get_by_label("Checks").inner_text()


def test_what_the_checks_say_is_announced_while_somebody_types(chromium: Any) -> None:
    with editor(chromium, "") as page:
        assert page.get_by_label("Checks").get_attribute("aria-live") == "polite"
        assert page.get_by_label("Text of the document").get_attribute("spellcheck") == "true"


def test_the_preview_follows_by_line(chromium: Any) -> None:
    text = "\n".join(["first", "", "filler"] + ["x"] * 300 + ["", "last"])
    nodes = [["p", {}, ["first"]], ["p", {}, ["\n".join(["x"] * 300)]], ["p", {}, ["last"]]]
    with editor(chromium, text, nodes=nodes, lines=[1, 3, 305]) as page:
        page.evaluate(
            """() => { const root = document.querySelector("#host").shadowRoot;
                root.querySelector(".preview").style.cssText = "height: 200px; overflow: auto; white-space: pre";
                root.querySelector(".write").style.cssText = "height: 200px"; }"""
        )
        for key, wanted in (("Control+Home", "first"), ("Control+End", "last")):
            page.locator(".cm-content").focus()
            page.keyboard.press(key)
            page.wait_for_timeout(300)
            shown = page.evaluate(
                """(words) => { const root = document.querySelector("#host").shadowRoot;
                    const box = root.querySelector(".preview").getBoundingClientRect();
                    const block = [...root.querySelectorAll(".preview p")].find((p) => p.textContent === words).getBoundingClientRect();
                    return block.top >= box.top - 1 && block.bottom <= box.bottom + 1; }""",  # noqa: E501
                wanted,
            )
            assert shown, wanted


# ---------------------------------------------------------------- nothing is lost


def test_a_reload_before_the_text_was_confirmed_loses_nothing(chromium: Any) -> None:
    with editor(chromium, "Saved.") as page:
        page.keyboard.type(" Typed.")
        assert typed(page) == "Saved. Typed."
        assert page.get_by_role("status").inner_text() == "Saving …"
        kept = page.evaluate("sessionStorage.getItem('concord-editor-p')")
        page.evaluate("show", data("Saved. Typed.", saved="2026-11-16T10:41:00"))
        assert page.get_by_role("status").inner_text() == "Draft saved 10:41"
        assert page.evaluate("sessionStorage.getItem('concord-editor-p')") is None
    with browser.component(chromium, *PARTS) as page:  # the same tab after a reload
        page.evaluate("(kept) => sessionStorage.setItem('concord-editor-p', kept)", kept)
        page.evaluate("show", data("Saved."))
        assert page.evaluate("sent") == [["text", {"serial": "1", "text": "Saved. Typed.", "after": ["Saved."]}]]
        page.evaluate("show", data("Thrown away.", serial="2"))
        page.locator(".cm-content").wait_for()
        assert page.locator(".cm-content").inner_text() == "Thrown away.", "a reset by this tab hides no text behind it"
        assert page.evaluate("sessionStorage.getItem('concord-editor-p')") is None


@pytest.mark.parametrize("restarted", [False, True])
def test_a_text_that_another_tab_overtook_is_handed_over_and_kept_until_then(chromium: Any, restarted: bool) -> None:
    with editor(chromium, "Saved.") as page:
        page.keyboard.type(" Typed.")
        if not restarted:
            typed(page)
            kept = page.evaluate("sessionStorage.getItem('concord-editor-p')")
            page.evaluate("(kept) => sessionStorage.setItem('concord-editor-q', kept)", kept)
        other = data("Saved. By phone.", serial="2", tab="u", place="p" if restarted else "q")
        page.evaluate("sent.length = 0")
        page.evaluate("show", other)
        ((name, left),) = page.evaluate("sent")
        assert (name, left["text"]) == ("left", "Saved. Typed.")
        assert left["after"][0] == "Saved."
        assert page.locator(".cm-content").inner_text() == "Saved. By phone."
        key = f"sessionStorage.getItem('concord-editor-{other['place']}')"
        page.evaluate("show", other)
        assert "Typed" in page.evaluate(key), "Python has not kept it yet"
        page.evaluate("show", {**other, "left": left["id"]})
        assert page.evaluate(key) is None


def test_two_tabs_of_one_person_keep_both_texts(chromium: Any, served_url: str) -> None:
    from playwright.sync_api import expect

    with browser.screen(chromium, served_url) as first:
        second = browser.Screen(first.page.context.new_page(), served_url)
        for tab in (first, second):
            tab.open("/documents?doc=HR-FAQ-001&do=edit")
        kept = "Kept beside your other text"
        for tab, words, note in (
            (first, "One. ", "Draft saved"),
            (second, "Two. ", kept),
            (first, "Three. ", "Draft saved"),
        ):
            tab.page.bring_to_front()
            tab.page.locator(".cm-content").click()
            tab.page.keyboard.press("Control+Home")
            tab.page.keyboard.type(words)
            expect(tab.page.locator(".bar").get_by_text(note)).to_be_visible()
        page = second.page
        page.reload()
        expect(page.locator(".cm-content")).to_contain_text("Three. One.")
        expect(page.locator("td.minus")).to_contain_text("Two.")
        page.get_by_role("button", name="Use the other text").click()
        expect(page.locator(".cm-content")).to_contain_text("Two.")
        page.get_by_role("button", name="Throw it away").click()
        expect(page.locator(".cm-content", has_text="Two.")).to_have_count(0)  # two editors while the page is drawn


def test_without_the_library_the_text_can_still_be_typed(chromium: Any) -> None:
    with browser.component(chromium, *PARTS) as page:
        page.route("**/codemirror.js*", lambda route: route.fulfill(status=404, body=""))
        page.evaluate("show", data("one\ntwo", checks=[[2, "error", "Wrong."]]))
        page.get_by_role("toolbar").wait_for(state="detached")
        page.get_by_role("button", name="Line 2").click()
        page.keyboard.type("x")
        assert typed(page) == "one\nxtwo"
