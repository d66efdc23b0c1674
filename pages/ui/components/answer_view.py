"""An answer with citations as the component draws it."""

from __future__ import annotations

from typing import Any

from core.access import Actor
from core.bootstrap import App
from core.errors import ConcordError
from core.services.search.answers import Reply, WrittenAnswer, in_words
from core.types import Filters, Hit
from pages.ui import flash
from pages.ui.passage_links import pinned, place


def written(app: App, actor: Actor, query: str, filters: Filters, as_of: str = "") -> dict[str, Any]:
    """Ask, and return what the component draws; a refusal becomes its own sentence."""
    try:
        return view(app.search.answerer.answer(actor, query, filters, as_of))
    except ConcordError as error:
        return {"error": flash.refusal(error)}


def view(answer: WrittenAnswer) -> dict[str, Any]:
    """Sentences with the numbers of their passages, those passages as links, and what was withheld."""
    reply, commit = answer.reply, answer.result.commit if answer.result.as_of else ""
    numbers = sorted({number for statement in reply.statements for number in statement.cited})
    return {
        "text": in_words(reply),
        "sentences": [{"text": statement.text, "citations": statement.cited} for statement in reply.statements],
        "extract": reply.extract,
        "sources": {number: _source(reply.passages[number - 1], commit) for number in numbers},
        "withheld": [{"text": statement.text, "why": statement.why} for statement in reply.withheld],
        "note": _note(reply),
    }


def _note(reply: Reply) -> str:
    """Who wrote it, and from what."""
    if reply.extract and reply.statements:
        return "Word for word from the passage that fits best; it may not answer the question."
    if not reply.statements:
        return "The passages below are the nearest there are." if reply.model else ""
    return f"Written by {reply.model.partition(':')[2] or reply.model}. Its words were checked against the passages."


def _source(hit: Hit, commit: str) -> dict[str, Any]:
    """A passage as a link, into the text of a commit where an earlier day answered."""
    here = place(hit.doc, hit.start, hit.end, hit.version)
    return {
        "label": " › ".join((hit.title, *hit.heading[-1:])),
        "about": f"version {hit.version}",
        "place": pinned(here, commit) if commit else here,
    }
