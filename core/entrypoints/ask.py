"""Answers with citations on the command line, from the search in production."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated

from core.entrypoints.record import Argument, Shown, UseCaseCall, command, form, operation
from core.entrypoints.search import QUESTION, AsOfInput, InState
from core.services.search.written_answers import Reply, as_json, in_words


@form
class AskOptions(InState):
    query: Annotated[str, Argument("QUESTION", key="q"), QUESTION]
    as_of: AsOfInput = ""


@operation("answer", "GET /answer", "CitedAnswer", lane="model")
@command("ask", calls="search.answerer.answer")
def ask(call: UseCaseCall, form: AskOptions) -> Shown:
    """An answer with citations from documents in effect. It asks the configured language model, which may cost money."""
    answer = call.app.search.answerer.answer(call.actor, form.query, form.filters, form.as_of)
    return Shown(as_json(answer), list(_lines(answer.reply)))


def _lines(reply: Reply) -> Iterator[str]:
    yield from textwrap.wrap(in_words(reply), 100)
    for hit in reply.cited:
        place = " › ".join((hit.title, *hit.heading))
        yield f"  [{reply.passages.index(hit) + 1}] {place}  {hit.path}:{hit.start}-{hit.end}  v{hit.version}"
    for statement in reply.withheld:
        yield f"  withheld, {statement.why}: {statement.text}"
    if reply.advice:
        yield f"! {reply.advice}"
    if reply.model:
        yield f"  {reply.model}" + (f", ${reply.dollars:.4f}" if reply.dollars else "")
