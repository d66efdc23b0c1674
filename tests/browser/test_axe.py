"""axe-core finds nothing: names, contrast, landmarks, heading order and target sizes, in light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from tests import axe
from tests.support import browser
from tests.support.bases import in_review

pytestmark = pytest.mark.browser
QUICK = ("search results", "document", "change")


def test_axe_finds_nothing_on_the_everyday_pages(chromium: Any, own_app: App, tmp_path: Path) -> None:
    axe.script()
    in_review(own_app)
    with browser.server(own_app.settings.home, tmp_path / "server.log", CONCORD_WORKERS="0") as url:
        found = axe.looked_at(chromium, url, QUICK, "light", one_session=True)
    assert not any(found.values()), axe.table(found)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view(chromium: Any, tmp_path: Path, scheme: str) -> None:
    axe.script()
    with axe.served(tmp_path) as url:
        found = axe.looked_at(chromium, url, list(axe.VIEWS), scheme)
    assert not any(found.values()), axe.table(found)
