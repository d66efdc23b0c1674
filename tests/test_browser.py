"""Journeys in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import browser


@pytest.mark.browser
def test_first_start_to_first_search(kb_home: Path, tmp_path: Path) -> None:
    with (
        browser.chromium() as chromium,
        browser.server(kb_home, tmp_path / "server.log") as url,
        browser.screen(chromium, url) as screen,
    ):
        screen.open()
        box = screen.page.get_by_label("Search the knowledge base")
        box.fill("how long do we keep SAR records")
        box.press("Enter")
        screen.page.get_by_text("Suspicious activity reports").first.wait_for()
        screen.settle().shot("search")
        assert "5 years" in screen.key("hit_1").inner_text()
