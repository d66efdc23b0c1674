"""Components alone in a real browser: what is typed stays, and so does the focus."""

from __future__ import annotations

from typing import Any

import pytest

from tests import browser

pytestmark = pytest.mark.browser


def test_a_comment_stays_in_its_box_until_it_was_taken(chromium: Any) -> None:
    data = {"items": [], "may": {"comment": True}, "closed": "", "heard": ["", False]}
    with browser.component(chromium, "discussion", "nodes", "talk") as page:
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
            ["open", {"doc": "D-1", "anchor": "part-8"}],
        ]
