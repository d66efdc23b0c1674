"""Search on the command line: hits, a written answer, and the methods behind them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from core.curation.text.markup import uncommented
from core.entrypoints.record import (
    Argument,
    Bounds,
    CommandCall,
    Key,
    Option,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.retrieval import config as configs
from core.retrieval.filters import unknown
from core.services.search import searcher
from core.services.search.pending import sentence
from core.services.search.spelling import absence
from core.services.search.written_answers import Reply, as_json, in_words
from core.types import Filters, Hit, Result

if TYPE_CHECKING:
    from core.bootstrap import App


QUESTION = Bounds(longest=2_000, shortest=1)
CONFIGURATION = Bounds(longest=8_000)


@form
class FilterOptions:
    """Which documents."""

    type: Annotated[tuple[str, ...], Option("only this document type; repeat for several")] = ()
    tag: Annotated[tuple[str, ...], Option("only this tag; repeat for several")] = ()
    owner: Annotated[tuple[str, ...], Option("only this owner; repeat for several")] = ()
    folder: Annotated[tuple[str, ...], Option("only this folder; repeat for several")] = ()
    doc: Annotated[tuple[str, ...], Option("only this document id; repeat for several")] = ()

    @property
    def filters(self) -> Filters:
        """Which documents the form asks for."""
        return Filters(self.type, (), self.tag, self.owner, self.folder, self.doc)


@form
class InState(FilterOptions):
    """Which documents, and in which state."""

    status: Annotated[tuple[str, ...], Option("only this status; repeat for several")] = ()
    freshness: Annotated[tuple[str, ...], Option("only this freshness, such as overdue; repeat for several")] = ()

    @property
    def filters(self) -> Filters:
        return replace(super().filters, statuses=self.status, freshness=self.freshness)


@form
class Among(InState):
    """Which documents, in whichever state."""

    history: Annotated[bool, Option("also retired, superseded and not yet effective documents")] = False

    @property
    def filters(self) -> Filters:
        return replace(super().filters, history=self.history)


AsOfInput = Annotated[str, Option("as it was at the end of a day (2026-03-31), or at a commit", metavar="DAY")]


@form
class SearchForm(Among):
    """The parameters of a search."""

    query: Annotated[str, Argument("QUERY", "a question or a few words", key="q"), QUESTION]
    profile: Annotated[str, Option("which index (default: the one in production)")] = ""
    config: Annotated[
        str,
        Option(f"{configs.help_text()} (default: the one in production)"),
        CONFIGURATION,
    ] = ""
    k: Annotated[
        int | None,
        Option("how many hits (default: as many as the configuration says)", flags=("-k",)),
        Bounds(most=1000),
    ] = None
    as_of: AsOfInput = ""
    asked: Annotated[bool, Key("a person asked this: keep it among the asked questions")] = False
    explain: Annotated[bool, Option("show what each leg gave and how long each stage took", local=True)] = False


@operation(
    "search",
    "GET /search",
    "SearchAnswer",
    lane="search",
    state="served",
    example="GET /search?q=how+long+do+we+keep+SAR+records&k=3",
)
@command(
    "search",
    "search the knowledge base",
    "search.searcher.search",
    needs="search",
    example='search "how long do we keep SAR records" -k 3',
)
def search(call: UseCaseCall, form: SearchForm) -> Shown:
    """Passages of the approved documents that answer a question."""
    app, chosen = call.app, form.filters
    if form.k is not None and not 1 <= form.k <= 1000:
        raise BadInput("-k must be between 1 and 1000.")
    result, suggestions = _searched(app, form)
    if call.typed and not result.hits and not form.as_of and (wrong := unknown(chosen, app.knowledge.documents.all())):
        raise BadInput(wrong)
    everyday = not (form.config or form.profile or form.as_of) and chosen == Filters(history=form.history)
    if form.asked or (call.typed and everyday):  # others are experiments, or a second look
        app.search.queries.keep(call.actor, form.query)
    lines = partial(_lines, result, suggestions, explain=form.explain)
    return Shown(searcher.as_json(result, suggestions), lines, fits=result.fits)


def _searched(app: App, form: SearchForm) -> tuple[Result, tuple[str, ...]]:
    """A search, and better spellings of its words."""
    search, config = app.search.searcher, configs.parse(form.config) if form.config else None
    result = search.search(
        form.query, profile=form.profile, config=config, filters=form.filters, k=form.k or 0, as_of=form.as_of
    )
    index, _ = search.opened(app.platform.settings.profile(form.profile or result.profile), form.as_of)
    return search.told(index, result), search.suggestions(index, result)


def _lines(result: Result, suggestions: Sequence[str], *, explain: bool) -> list[str]:
    lines = [
        *_past(result),
        *([sentence(result.pending), ""] if result.pending else []),
        *_doubts(result),
        *(line for hit in result.hits for line in _hit_lines(hit, explain)),
    ]
    lines = lines or ["Nothing found. Try other words, or --history."]
    if suggestions:
        lines = [f"Did you mean: {' | '.join(suggestions)}", "", *lines]
    if result.also:
        lines = [f"Also searched: {' | '.join(result.also)}", "", *lines]
    lines += [f"! {warning}" for warning in result.remarks]
    if explain:
        lines += table(
            [(stage.name, f"{stage.ms:.2f}", stage.hits, stage.note) for stage in result.stages],
            ("stage", "ms", "hits", ""),
        )
    return lines


def _past(result: Result) -> list[str]:
    """What to say first where an earlier day answers."""
    if not result.as_of:
        return []
    return [f"As of {result.as_of} (commit {result.commit[:12]}); documents may have changed since.", ""]


def _doubts(result: Result) -> list[str]:
    """What to say first where nothing fits well."""
    if result.fits or not result.hits:
        return []
    return [
        "Nothing fits well (confidence "
        f"{result.confidence:.2f}).{f' {absence(result.missing)}' if result.missing else ''} The passages below are "
        "the nearest there are.",
        "Tell the owners what is missing on the page Search.",
        "",
    ]


def _hit_lines(hit: Hit, explain: bool) -> list[str]:
    place = " › ".join((hit.title, *hit.heading))
    lines = [
        f"{hit.rank:>2}. {place}",
        f"    {hit.path}:{hit.opens[0]}-{hit.opens[1]}  v{hit.version}  {hit.standing}  score {hit.score:.4f}",
        *([f"    pinned answer to “{hit.pinned}”"] if hit.pinned else []),
    ]
    if explain:
        for name, leg in hit.legs.items():
            lines.append(
                f"    {name:<6} rank {leg.rank or '-':>3}  score {leg.score:8.4f}  normalised {leg.normalised:.4f}  "
                f"weight {leg.weight:g}"
                + "".join(f"  {field} {points:.2f}" for field, points in leg.fields.items())
                + (f"  {leg.note}" if leg.note else "")
            )
    passage = " ".join(uncommented(hit.text[hit.opens[0] - hit.start :]).split())
    further = [
        f"    also {' › '.join(other.heading) or other.title}:{other.opens[0]}-{other.opens[1]}"
        for other in hit.further
    ]
    named = ", ".join(f"{other.title} ({other.path})" for other in hit.also)
    return [
        *lines,
        *textwrap.wrap(
            passage[:300] + ("…" if len(passage) > 300 else ""), 100, initial_indent="    ", subsequent_indent="    "
        ),
        *further,
        *([f"    same text in {named}"] if named else []),
        "",
    ]


@form
class MethodsOptions:
    markdown: Annotated[bool, Option("as a Markdown table")] = False


@command("methods", "every method with its parameters and source")
def methods(call: CommandCall, form: MethodsOptions) -> Shown:
    """Every method, by kind."""
    from core import catalogue  # all methods, which a search does not need

    rows = list(catalogue.rows())
    lines = catalogue.markdown().splitlines() if form.markdown else table(rows, catalogue.COLUMNS)
    return Shown(
        [dict(zip(("kind", "name", "about", "parameters", "source"), row, strict=True)) for row in rows], lines
    )


@form
class AskOptions(InState):
    query: Annotated[str, Argument("QUESTION", "a question or a few words", key="q"), QUESTION]
    as_of: AsOfInput = ""


@operation(
    "answer",
    "GET /answer",
    "CitedAnswer",
    lane="model",
    example="GET /answer?q=who+files+the+currency+transaction+report",
)
@command(
    "ask",
    "let the language model answer a question, every sentence with its passage",
    "search.answerer.answer",
    example='ask "who files the currency transaction report"',
)
def ask(call: UseCaseCall, form: AskOptions) -> Shown:
    """An answer with citations from documents in effect. It asks the configured language model, which may cost
    money.
    """
    answer = call.app.search.answerer.answer(call.actor, form.query, form.filters, form.as_of)
    return Shown(as_json(answer), list(_answer_lines(answer.reply)))


def _answer_lines(reply: Reply) -> Iterator[str]:
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
