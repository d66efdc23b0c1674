"""The answer above the hits in a real browser: on a button or always, after the hits, with links, and with what was
withheld.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import Journey, screen, server
from tests.support.scripted_server import BROKEN, ScriptedServer

pytestmark = pytest.mark.browser
QUESTION = "how long do we keep SAR records"


def from_the_passages(prompt: str) -> str:
    """The first whole sentences of the first two passages, and one that is made up."""
    if "approves" in prompt.rpartition("<query>")[2]:
        return "The passages do not answer the question."
    said = []
    for number, passage in enumerate(
        re.findall(r"<passage n=.\d+.>\n[^\n]*\n(.*?)\n</passage>", prompt, re.DOTALL)[:2], 1
    ):
        plain = " ".join(re.sub(r"[*_`|#>\[\]-]", " ", passage).split())
        sentence = next((part for part in re.split(r"(?<=[.!?])\s", plain) if len(part.split()) > 5), plain[:90] + ".")
        said.append(f"{sentence.rstrip('.!?')} [{number}].")
    return " ".join([*said, "Fines reach 98765 dollars since 1997 [1]."])


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer([from_the_passages], seconds=0.4) as running:
        yield running


@pytest.mark.slow
def test_an_answer_comes_after_the_hits_with_its_passages(
    chromium: Any, kb_template: Path, tmp_path: Path, model: ScriptedServer
) -> None:
    home = Path(shutil.copytree(kb_template, tmp_path / "home"))
    settings = {
        "CONCORD_LLM": "openai:small",
        "CONCORD_OPENAI_URL": f"{model.url}/v1",
        "CONCORD_OPENAI_KEY": "sk-x",
        "CONCORD_CACHE": str(tmp_path / "cache"),
    }
    with server(home, tmp_path / "log", **settings) as base, screen(chromium, base) as shown:
        journey, page = Journey(shown.open(f"/search?q={QUESTION.replace(' ', '+')}"), "answer"), shown.page
        hits, answer = page.locator("article.card"), page.get_by_role("region", name="Answer")
        expect(hits.first).to_be_visible()
        assert not model.seen, "hits come first, and nobody asked"
        allowed = threading.Event()
        model.answers = [lambda prompt: from_the_passages(prompt) if allowed.wait(300) else ""]
        journey.step("offered")
        answer.get_by_role("button", name="Answer from these passages").click()
        expect(answer.get_by_text("Reading the passages")).to_be_visible()
        expect(hits.first).to_be_visible()
        allowed.set()
        expect(answer.locator("a.cite").first).to_be_visible()
        expect(answer.get_by_text("98765")).not_to_be_visible()
        journey.step("answered")
        answer.get_by_text("Withheld: 1 sentence that its passages do not bear out").click()
        expect(answer.get_by_text("its passages do not have: 98765, 1997")).to_be_visible()
        journey.step("withheld")
        allowed.clear()
        answer.get_by_label("Always answer").check()
        page.get_by_label("Search the knowledge base").fill("who approves a wire transfer")
        expect(answer.get_by_text("Reading the passages")).to_be_visible()
        allowed.set()
        expect(answer.get_by_text("The knowledge base does not say.")).to_be_visible()
        journey.step("does not say")
        assert len(model.seen) == 2, "once for each settled question"
        model.faults = [BROKEN] * 20
        page.get_by_label("Search the knowledge base").fill("when do we file a suspicious activity report")
        expect(answer.get_by_text("No answer could be written.")).to_be_visible()
        journey.step("failed")
        model.faults = []
        answer.get_by_role("button", name="Try again").click()
        expect(answer.locator("a.cite").first).to_be_visible()
        answer.locator("a.cite").first.click()
        page.wait_for_url(re.compile(r"/documents\?doc=.*start=\d+"))


@pytest.mark.slow
def test_without_a_model_the_page_says_nothing_about_answers(chromium: Any, kb_template: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(kb_template, tmp_path / "home"))
    with server(home, tmp_path / "log") as base, screen(chromium, base) as shown:
        shown.open(f"/search?q={QUESTION.replace(' ', '+')}")
        expect(shown.page.locator("article.card").first).to_be_visible()
        expect(shown.page.get_by_role("region", name="Answer")).to_have_count(0)
