"""The playground, wired."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from core.services.evaluation.runs import Runs
from core.services.platform.base import Base
from core.services.playground.compare import Comparer
from core.services.playground.examples import Examples
from core.services.playground.grades import Grades
from core.services.playground.notebook import Notebook
from core.services.playground.pools import Pools
from core.services.playground.where import Locator
from core.services.search.page import SearchPage
from core.services.search.wiring import Search
from core.types import Hit


@dataclass(frozen=True, slots=True)
class Playground:
    """Configurations side by side, and why a passage ranks where it does."""

    comparer: Comparer
    locator: Locator
    notebook: Notebook
    grades: Grades
    pools: Pools
    examples: Examples


def wire(base: Base, search: Search, runs: Runs) -> Playground:
    database, clock, audit = base.database, base.clock, base.audit
    comparer = Comparer(search.searcher)
    shown = partial(_as_shown, search.page)
    return Playground(
        comparer,
        Locator(comparer, base.documents),
        Notebook(database, clock, audit),
        Grades(database, clock, audit),
        Pools(database, search.searcher, shown, search.answerer, clock, audit),
        Examples(runs, base.documents),
    )


def _as_shown(page: SearchPage, query: str) -> list[Hit]:
    """The hits of a query in the order of the Search page."""
    return [passage.hit for group in page.find(query).groups for passage in group.passages]
