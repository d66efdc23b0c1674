"""Search on the command line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

from core.entrypoints.contracts.search import searched
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.retrieval import config as configs
from core.retrieval.filters import unknown
from core.services.search import searcher
from core.services.search.pending import sentence
from core.types import Filters, Hit, Result

if TYPE_CHECKING:
    pass


@form
class FilterOptions:
    """Which documents, and of which day."""

    type: Annotated[tuple[str, ...], Option("only this document type; repeat for several")] = ()
    tag: Annotated[tuple[str, ...], Option("only this tag; repeat for several")] = ()
    owner: Annotated[tuple[str, ...], Option("only this owner; repeat for several")] = ()
    folder: Annotated[tuple[str, ...], Option("only this folder; repeat for several")] = ()
    doc: Annotated[tuple[str, ...], Option("only this document id; repeat for several")] = ()
    as_of: Annotated[str, Option("as it was at the end of a day (2026-03-31), or at a commit", metavar="DAY")] = ""


@form
class SearchOptions(FilterOptions):
    query: Annotated[str, Argument("QUERY")]
    profile: Annotated[str, Option("which index (default: the one in production)")] = ""
    config: Annotated[
        str,
        Option(f"{configs.help_text()} (default: the one in production)"),
    ] = ""
    k: Annotated[int | None, Option("how many hits (default: as many as the configuration says)", flags=("-k",))] = None
    explain: Annotated[bool, Option("show what each leg gave and how long each stage took")] = False
    status: Annotated[tuple[str, ...], Option("only this status; repeat for several")] = ()
    history: Annotated[bool, Option("also retired, superseded and not yet effective documents")] = False


@command("search", calls="search.searcher.search")
def search(call: CommandCall, form: SearchOptions) -> Shown:
    app = call.app
    chosen = filters(form, form.status, history=form.history)
    if form.k is not None and not 1 <= form.k <= 1000:
        raise BadInput("-k must be between 1 and 1000.")
    result, suggestions = searched(app, form.query, form.profile, form.config, chosen, form.k or 0, form.as_of)
    if not result.hits and not form.as_of and (wrong := unknown(chosen, app.knowledge.documents.all())):
        raise BadInput(wrong)
    lines = [
        *_past(result),
        *([sentence(result.pending), ""] if result.pending else []),
        *_doubts(result),
        *(line for hit in result.hits for line in _hit_lines(hit, form.explain)),
    ]
    lines = lines or ["Nothing found. Try other words, or --history."]
    if suggestions:
        lines = [f"Did you mean: {' | '.join(suggestions)}", "", *lines]
    if result.also:
        lines = [f"Also searched: {' | '.join(result.also)}", "", *lines]
    lines += [f"! {warning}" for warning in result.warnings]
    if form.explain:
        lines += table(
            [(stage.name, f"{stage.ms:.2f}", stage.hits, stage.note) for stage in result.stages],
            ("stage", "ms", "hits", ""),
        )
    everyday = not form.config and not form.profile and not form.as_of
    if everyday and chosen == Filters(history=form.history):
        app.search.queries.keep(call.actor, form.query)  # others are experiments, or a second look
    return Shown(searcher.as_json(result, suggestions), lines)


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
        f"Nothing fits well (confidence {result.confidence:.2f}). The passages below are the nearest there are.",
        "Tell the owners what is missing with: python -m core gaps report QUERY",
        "",
    ]


def _hit_lines(hit: Hit, explain: bool) -> list[str]:
    place = " › ".join((hit.title, *hit.heading))
    lines = [
        f"{hit.rank:>2}. {place}",
        f"    {hit.path}:{hit.start}-{hit.end}  v{hit.version}  {hit.status}  score {hit.score:.4f}",
        *([f"    pinned answer to “{hit.pinned}”"] if hit.pinned else []),
    ]
    if explain:
        for name, leg in hit.legs.items():
            lines.append(
                f"    {name:<6} rank {leg.rank or '-':>3}  score {leg.score:8.4f}  normalised {leg.normalised:.4f}  weight {leg.weight:g}"
                + "".join(f"  {field} {points:.2f}" for field, points in leg.fields.items())
                + (f"  {leg.note}" if leg.note else "")
            )
    passage = " ".join(hit.text.split())
    further = [
        f"    also {' › '.join(other.heading) or other.title}:{other.start}-{other.end}" for other in hit.further
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


def filters(form: FilterOptions, statuses: tuple[str, ...] = (), *, history: bool = False) -> Filters:
    """Which documents a form asks for."""
    return Filters(form.type, statuses, form.tag, form.owner, form.folder, form.doc, history=history)
