"""Every page under AppTest: it renders, it answers, it says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import ROOT


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, kb_home: Path) -> AppTest:
    import streamlit as st

    st.cache_resource.clear()
    monkeypatch.setenv("CONCORD_HOME", str(kb_home))
    return AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)


def test_search_shows_hits_with_their_place(page: AppTest) -> None:
    page.run()
    assert not page.exception
    page.text_input(key="q").set_value("how long do we keep SAR records").run()
    assert not page.exception
    assert "Suspicious activity reports" in page.markdown[0].value


def test_without_an_index_the_page_says_how_to_build_it(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONCORD_HOME", str(tmp_path / "empty"))
    page.run()
    page.text_input(key="q").set_value("anything").run()
    assert not page.exception
    assert "has no index yet" in page.error[0].value
