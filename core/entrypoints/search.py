"""Search on the command line."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput
from core.retrieval import config as configs
from core.services.search import searcher
from core.services.search.pending import sentence
from core.settings import Settings
from core.types import Filters, Hit, Result

if TYPE_CHECKING:
    from core.bootstrap import App


def register(add: Any) -> None:
    command = add("search", search)
    command.add_argument("query", metavar="QUERY")
    command.add_argument("--profile", default="", help="which index (default: the one in production)")
    command.add_argument(
        "--config",
        default="",
        help=f"{configs.help_text()} (default: the one in production)",
    )
    command.add_argument("-k", type=int, default=0, help="how many hits")
    command.add_argument("--explain", action="store_true", help="show what each leg gave and how long each stage took")
    add_filters(command)
    command.add_argument("--status", action="append", default=[], help="only this status; repeat for several")
    command.add_argument(
        "--history", action="store_true", help="also retired, superseded and not yet effective documents"
    )


def add_filters(command: Any) -> None:
    """The options that say which documents, and of which day."""
    for name, about in (
        ("type", "document type"),
        ("tag", "tag"),
        ("owner", "owner"),
        ("folder", "folder"),
        ("doc", "document id"),
    ):
        command.add_argument(f"--{name}", action="append", default=[], help=f"only this {about}; repeat for several")
    command.add_argument(
        "--as-of", default="", metavar="DAY", help="as it was at the end of a day (2026-03-31), or at a commit"
    )


def search(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    chosen = filters(options)
    if options.k < 0 or options.k > 1000:
        raise BadInput("-k must be between 1 and 1000.")
    result, suggestions = searched(
        app, options.query, options.profile, options.config, chosen, options.k, options.as_of
    )
    lines = [
        *_past(result),
        *([sentence(result.pending), ""] if result.pending else []),
        *_doubts(result),
        *(line for hit in result.hits for line in _hit_lines(hit, options.explain)),
    ]
    lines = lines or ["Nothing found. Try other words, or --history."]
    if suggestions:
        lines = [f"Did you mean: {' | '.join(suggestions)}", "", *lines]
    if result.also:
        lines = [f"Also searched: {' | '.join(result.also)}", "", *lines]
    lines += [f"! {warning}" for warning in result.warnings]
    if options.explain:
        lines += table(
            [(stage.name, f"{stage.ms:.2f}", stage.hits, stage.note) for stage in result.stages],
            ("stage", "ms", "hits", ""),
        )
    terminal.show(searcher.as_json(result, suggestions), lines)
    everyday = not options.config and not options.profile and not options.as_of
    if everyday and chosen == Filters(history=options.history):
        app.search.queries.keep(acting(app, options), options.query)  # others are experiments, or a second look
    return 0


def searched(
    app: App, query: str, profile: str, config: str, filters: Filters, k: int, as_of: str = ""
) -> tuple[Result, tuple[str, ...]]:
    """A search, and better spellings of its words; "" and 0 are what is in production, and now."""
    searcher, chosen = app.search.searcher, configs.parse(config) if config else None
    result = searcher.search(query, profile=profile, config=chosen, filters=filters, k=k, as_of=as_of)
    index, _ = searcher.opened(app.platform.settings.profile(profile or result.profile), as_of)
    return result, searcher.suggestions(index, result)


def filters(options: Namespace) -> Filters:
    """What the options of `add_filters` ask for."""
    return Filters(
        types=tuple(options.type),
        statuses=tuple(getattr(options, "status", ())),
        tags=tuple(options.tag),
        owners=tuple(options.owner),
        folders=tuple(options.folder),
        docs=tuple(options.doc),
        history=getattr(options, "history", False),
    )


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
