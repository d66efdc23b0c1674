"""What components ask between two runs of their page: records as of the API, which serves them under /api/v1/page.

Programs have no use for them: answers are what a component draws, and may change with any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from core import strict
from core.entrypoints.record import Bounds, Key, Shown, UseCaseCall, form, operation
from core.services.playground.notebook import Setup
from core.services.search.searcher import pending_json
from core.types import Filters
from pages.ui import keys, vectors
from pages.ui.components import search_view
from pages.ui.playground import view_data

Chosen = Annotated[tuple[str, ...], Key("values of a facet"), Bounds(many=20)]
Moves = Annotated[tuple[Mapping[str, Any], ...], Key("column, knob and value of each"), Bounds(many=500)]


@form
class BoxForm:
    """What stands in the search box and beside it."""

    q: Annotated[str, Key("the question"), Bounds(longest=64_000)]
    types: Chosen = ()
    statuses: Chosen = ()
    freshness: Chosen = ()
    folders: Chosen = ()
    owners: Chosen = ()
    tags: Chosen = ()
    history: Annotated[bool, Key("also documents that are not in effect")] = False
    as_of: Annotated[str, Key("a day")] = ""


@form
class FinishedForm:
    """A question that somebody has finished typing, and which document it led to."""

    q: Annotated[str, Key("the question"), Bounds(longest=64_000)] = ""
    opened: Annotated[str, Key("the document of the hit that was opened")] = ""


@form
class KnobsForm:
    """What the playground shows, and the knobs that were turned since."""

    setup: Annotated[Mapping[str, Any], Key("query, columns and filters")]
    run: Annotated[str, Key("the run whose searches are cached")] = ""
    turns: Moves = ()
    looked: Annotated[tuple[str, ...], Key("passages shown with what stands around them"), Bounds(many=500)] = ()


@operation("find", "GET /page/search", "", calls="search.page.find", needs="search", lane="search", own_page=True)
def find(call: UseCaseCall, form: BoxForm) -> Shown:
    """The results as the page draws them."""
    chosen = {name: getattr(form, name) for name in keys.FACETS}
    return Shown(search_view.found(call.app, form.q, Filters(**chosen, history=form.history), form.as_of))


@operation("pending", "GET /page/pending", "", needs="search", own_page=True)
def pending(call: UseCaseCall) -> Shown:
    """How far vectors are that are still being computed; null when all are there."""
    return Shown(pending_json(vectors.pending(call.app)))


@operation("asked", "POST /page/asked", "", calls="search.queries.keep", own_page=True)
def asked(call: UseCaseCall, form: FinishedForm) -> Shown:
    """Keep the question, without names."""
    keep = call.app.search.queries.keep
    return Shown({"kept": keep(call.actor, form.q, opened=bool(form.opened), document=form.opened)})


@operation("playground", "POST /page/playground", "", needs="compare configurations", lane="knobs", own_page=True)
def playground(call: UseCaseCall, form: KnobsForm) -> Shown:
    """The columns as knobs move: ranked from the cache."""
    call.app.platform.memory.require_room("only searches are answered")
    shown = view_data.Board(strict.parse(Setup, form.setup, "setup"), form.run, form.looked)
    return Shown(view_data.update(call.actor, shown, form.turns))
