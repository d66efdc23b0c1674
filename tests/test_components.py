"""Components alone in a real browser: what is typed stays, and so does the focus."""

from __future__ import annotations

from typing import Any

import pytest

from tests import browser

pytestmark = pytest.mark.browser


def test_a_comment_stays_in_its_box_until_it_was_taken(chromium: Any) -> None:
    data = {"items": [], "may": {"comment": True}, "closed": "", "heard": ["", False]}
    with browser.component(chromium, "discussion", "nodes", "difftext", "talk") as page:
        page.evaluate("show", data)
        box, comment = page.get_by_label("Comment on the whole change"), page.get_by_role("button", name="Comment")
        box.fill("Say from when the years count.")
        comment.click()
        comment.click()
        (sent,) = page.evaluate("sent")
        assert sent[1]["body"] == "Say from when the years count."
        page.evaluate("show", {**data, "heard": [sent[1]["n"], False]})
        assert box.input_value() == "Say from when the years count.", "it was refused"
        comment.click()
        page.evaluate("show", {**data, "heard": [page.evaluate("sent")[1][1]["n"], True]})
        assert box.input_value() == ""


def test_the_other_parts_of_a_long_document_are_one_click_away(chromium: Any) -> None:
    nodes = [["h2", {"id": f"part-{n}", "start": n, "end": n + 1}, [f"Part {n}"]] for n in (2, 3)]
    outline = [{"level": 2, "title": f"Part {n}", "slug": f"part-{n}"} for n in range(9)]
    data = {"doc": "D-1", "path": "d.md", "version": 1, "nodes": nodes, "outline": outline, "mark": None, "anchor": ""}
    with browser.component(chromium, "reader", "nodes") as page:
        page.evaluate("show", {**data, "first": 2, "step": 2, "hidden": 5})
        page.get_by_role("button", name="Show 5 more blocks").click()
        page.get_by_role("button", name="Show 2 earlier blocks").click()
        page.get_by_role("link", name="Part 3").click()
        page.get_by_role("link", name="Part 8").click()
        assert page.evaluate("sent") == [
            ["more", {"from": 4}],
            ["more", {"from": 0}],
        ]
        assert page.url.endswith("/documents?doc=D-1&anchor=part-8")


FOCUS = "() => { const at = document.querySelector('#host').shadowRoot.activeElement; return at && (at.getAttribute('aria-label') || at.textContent); }"
STYLED = "(css) => { const style = document.createElement('style'); style.textContent = css; document.querySelector('#host').shadowRoot.append(style); }"


def test_filtering_and_sorting_the_library_keeps_the_focus_and_shows_the_folder(chromium: Any) -> None:
    names = (
        "title",
        "typeName",
        "owner",
        "updated",
        "review",
        "sub",
        "type",
        "status",
        "fresh",
        "freshName",
        "statusName",
    )
    row = {**dict.fromkeys(names, ""), "updatedText": "", "reviewText": "", "search": "", "badges": [], "version": 1}
    rows = [{**row, "doc": f"d{n}", "title": f"D{n}", "folder": "it" if n else "hr"} for n in range(3)]
    with browser.component(chromium, "library") as page:
        page.evaluate("show", {"rows": rows, "folder": ""})
        page.get_by_role("button", name="it2").press("Enter")
        assert page.evaluate(FOCUS) == "it2"
        assert page.locator("[aria-current=true]").inner_text() == "it2"
        page.get_by_role("button", name="Owner").press("Enter")
        assert page.evaluate(FOCUS) == "Owner ↑"
        page.evaluate("show", {"rows": rows[1:], "folder": ""})
        assert page.evaluate(FOCUS) == "Owner ↑", "new data came from the server"


def test_choosing_a_facet_of_the_board_keeps_the_focus(chromium: Any) -> None:
    row = {
        "owner": "Ann",
        "folder": "it",
        "kind": "due",
        "title": "T",
        "about": "",
        "doc": "d",
        "badge": {"text": "Due"},
    }
    with browser.component(chromium, "freshness") as page:
        page.evaluate("show", {"rows": [row, {**row, "owner": "Bob"}], "kinds": {}, "may": False, "empty": ""})
        page.get_by_role("button", name="Bob").press("Enter")
        assert page.evaluate(FOCUS) == "Bob1"


def test_a_facet_of_the_search_keeps_the_focus_when_its_answer_arrives(chromium: Any) -> None:
    options = [{"value": name, "label": name, "count": 1, "on": False} for name in ("it", "hr")]
    found = {"facets": [{"key": "folders", "title": "Folder", "options": options}], "groups": [], "nearest": []}
    found |= {"stages": [], "warnings": [], "summary": "", "advice": "", "notice": "", "query": "q", "how": ""}
    data = {"asked": {"q": "q", "filters": {}}, "found": found, "direct": None, "serial": "1", "placeholder": ""}
    with browser.component(chromium, "search", "snippet") as page:
        page.evaluate("show", data)
        page.locator("[data-key='folders=hr']").press("Space")
        ((_, asked),) = page.evaluate("sent")
        assert asked["filters"] == {"folders": ["hr"]}
        page.evaluate("show", {**data, "asked": asked, "serial": "2"})
        assert page.locator("[data-key='folders=hr']").evaluate("(box) => box.matches(':focus')")


def test_the_tab_key_goes_from_the_search_box_to_the_first_result_and_to_the_filters_last(chromium: Any) -> None:
    option = {"value": "it", "label": "it", "count": 1, "on": False}
    found = {"facets": [{"key": "folders", "title": "Folder", "options": [option]}], "nearest": [], "stages": []}
    found |= {"warnings": [], "summary": "", "advice": "", "notice": "", "query": "q", "how": ""}
    passage = {
        "heading": [],
        "segments": [["words", False, False]],
        "cut": [False, False],
        "chunk": "c",
        "citation": "",
    }
    passage |= {"place": {"doc": "d"}, "why": {"legs": [], "sentence": ""}}
    found["groups"] = [{"doc": "d", "title": "First", "type": "SOP", "badges": [], "about": "", "passages": [passage]}]
    data = {"asked": {"q": "q", "filters": {}}, "found": found, "direct": None, "serial": "1", "placeholder": ""}
    with browser.component(chromium, "search", "snippet") as page:
        page.evaluate("show", data)
        page.evaluate(STYLED, (browser.ROOT / "pages" / "ui" / "components" / "search.css").read_text())
        page.locator("[data-key=search]").focus()
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS) == "First"
        box = page.locator("[data-key='folders=it']")
        left, right = page.locator("article").bounding_box(), box.bounding_box()
        assert right["x"] < left["x"], "the filters stand on the left as before"
        for _ in range(12):
            page.keyboard.press("Tab")
            if box.evaluate("(box) => box.matches(':focus')"):
                break
        assert box.evaluate("(box) => box.matches(':focus')"), "the filters are reached as well"


def test_a_pool_is_judged_blind_with_the_keyboard_alone(chromium: Any) -> None:
    hit = {"heading": [], "segments": [["words", False, False]], "cut": [False, False]}
    data = {"run": 1, "query": "q", "blind": True, "summary": "", "legend": [], "columns": [], "most": 4, "link": "x"}
    data |= {
        "pool": [{**hit, "chunk": f"c{n}", "title": f"T{n}"} for n in range(3)],
        "grades": {},
        "setup": {"columns": []},
    }
    with browser.component(chromium, "playground", "snippet") as page:
        page.evaluate("show", data)
        page.get_by_role("article", name="T0").focus()
        for n, key in enumerate("320"):
            page.keyboard.press(key)
            said = [value for name, value in page.evaluate("sent") if name == "judge"]
            assert [(one["chunk"], one["grade"]) for one in said][n:] == [(f"c{n}", int(key))]
            data = {**data, "grades": {one["chunk"]: one["grade"] for one in said}}
            page.evaluate("show", data)
        page.get_by_role("article", name="T1").get_by_role("button", name="Grade 1").press("Enter")
        page.evaluate("show", {**data, "grades": {**data["grades"], "c1": 1}})
        assert page.evaluate(FOCUS) == "Grade 1: related"
