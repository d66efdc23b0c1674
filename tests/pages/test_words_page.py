"""The Words page, and words on the command line and on the Search page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.curation.words.pins import Pin
from core.services.reviews.authoring import Target
from core.types import Filters
from pages.ui.components.search_view import found
from tests.conftest import demo, forget_app, indexed, put
from tests.services.knowledge.test_words import FILES, PINS, SYNONYMS
from tests.support.apptest import words

AUTHOR = demo("author")


@pytest.fixture
def page_app(tmp_path: Path) -> Iterator[App]:
    forget_app()
    yield indexed(tmp_path / "home", {**FILES, "synonyms.yaml": SYNONYMS, "pins.yaml": PINS})
    forget_app()


def test_synonyms_are_proposed_from_the_page_into_one_draft(page_app: App, visit: Callable[..., Any]) -> None:
    page = visit("words", page_app.settings.home, "author")
    assert "**PTO** = **vacation** = **annual leave**" in words(page)
    page.text_input(key="synonym_words").input("laptop, notebook computer")
    page.button(key="synonym_add").click().run()
    page.text_input(key="synonym_words").input("the")
    page.button(key="synonym_add").click().run()
    assert page.text_input(key="synonym_words").value == "the"  # refused words stay
    page.button(key="remove_holiday -> annual leave").click().run()
    assert not page.exception
    [change] = page_app.reviews.changes.listed(AUTHOR)
    listed = {synonym.text for synonym in page_app.words.rules.synonyms(AUTHOR, change.id)}
    assert listed == {"PTO = vacation = annual leave", "laptop = notebook computer"}
    assert "in your change" in words(page)
    assert "goes with your change" in words(page)


def test_suggestions_and_pins_are_proposed_with_a_click(page_app: App, visit: Callable[..., Any]) -> None:
    page = visit("words", page_app.settings.home, "author", list="Suggestions")
    page.button(key="take_SAR").click().run()
    assert "SAR = Suspicious Activity Report" in {
        synonym.text
        for change in page_app.reviews.changes.listed(AUTHOR)
        for synonym in page_app.words.rules.synonyms(AUTHOR, change.id)
    }
    page = visit("words", page_app.settings.home, "author", list="Pinned answers")
    page.text_input(key="pin_question").input("Which form is a SAR?")
    page.selectbox(key="pin_document").select("fin/sar.md").run()
    page.button(key="pin_add").click().run()
    assert not page.exception
    pinned = page_app.words.rules.open_change(AUTHOR, "pins.yaml")
    assert {state.pin.question for state in page_app.words.rules.pins(AUTHOR, pinned)} == {
        "How do I take days off?",
        "Which form is a SAR?",
    }


def test_a_broken_list_is_named_on_the_page(page_app: App, visit: Callable[..., Any]) -> None:
    put(page_app, {"synonyms.yaml": "synonyms:\n  - PTO\n"})
    assert "synonyms.yaml, line 2" in words(visit("words", page_app.settings.home, "author"))


def test_the_search_page_says_what_is_pinned_and_what_else_was_searched(page_app: App) -> None:
    shown = found(page_app, "days off", Filters())
    assert shown["groups"][0]["badges"][0] == {"text": "Pinned answer", "tone": "note"}
    assert shown["groups"][0]["passages"][0]["why"]["sentence"].startswith("Pinned to “How do I take days off?”")
    shown = found(page_app, "vacation", Filters())
    assert shown["also"] == ["PTO", "annual leave"]
    leave = next(group for group in shown["groups"] if group["title"] == "Annual leave")
    marked = {text.lower() for passage in leave["passages"] for text, matched, _ in passage["segments"] if matched}
    assert {"annual", "leave"} <= marked


def test_a_change_that_was_submitted_is_not_written_into_by_the_page(page_app: App) -> None:
    rules = page_app.words.rules
    change = rules.pin(AUTHOR, Pin("Which form?", "FIN-1"))
    assert rules.open_change(AUTHOR, "pins.yaml") == change.id
    page_app.reviews.changes.submit(AUTHOR, change.id)
    assert rules.open_change(AUTHOR, "pins.yaml") == 0
    assert rules.pin(AUTHOR, Pin("What form?", "FIN-1"), Target(0)).id != change.id
