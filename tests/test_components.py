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
