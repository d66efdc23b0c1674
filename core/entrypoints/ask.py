"""Answers with citations on the command line, from the search in production."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from core.entrypoints.search import add_filters, filters
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal
from core.services.search.answers import Reply, as_json, in_words
from core.settings import Settings


def register(add: Any) -> None:
    command = add("ask", ask)
    command.add_argument("query", metavar="QUESTION")
    add_filters(command)


def ask(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    answer = app.search.answerer.answer(acting(app, options), options.query, filters(options), options.as_of)
    terminal.show(as_json(answer), list(_lines(answer.reply)))
    return 0


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
