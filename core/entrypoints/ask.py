"""Answers with citations on the command line, from the search in production."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated

from core.entrypoints.record import Argument, CommandCall, Shown, command, form
from core.entrypoints.search import FilterOptions, filters
from core.services.search.answers import Reply, as_json, in_words


@form
class AskOptions(FilterOptions):
    query: Annotated[str, Argument("QUESTION")]


@command("ask", calls="search.answerer.answer")
def ask(call: CommandCall, form: AskOptions) -> Shown:
    answer = call.app.search.answerer.answer(call.actor, form.query, filters(form), form.as_of)
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
