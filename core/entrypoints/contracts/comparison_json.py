"""Searches and comparisons: what the command line and the API ask, and how they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.errors import BadInput
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.playground.compare import Column, Comparison, to_json
from core.services.playground.grades import LiveScore
from core.services.search.searcher import CHANGE

if TYPE_CHECKING:
    from core.bootstrap import App


def compare_json(comparison: Comparison, scores: Sequence[LiveScore | None]) -> dict[str, Any]:
    """The contract of `compare --json`."""
    return {**to_json(comparison), "scores": strict.plain(scores)}


def scores_of(app: App, actor: Actor, comparison: Comparison) -> list[LiveScore | None]:
    """What the judgments so far say of each column; None for a column without a result."""
    index = app.search.searcher.index
    asked = [(index(one.column.profile), one.result.hits) for one in comparison.outcomes if one.result]
    scores = iter(app.playground.grades.scores(actor, comparison.query, asked))
    return [next(scores) if outcome.result else None for outcome in comparison.outcomes]


def columns_of(app: App, chosen: Sequence[str], where: Sequence[str]) -> list[Column]:
    """Configurations by name or as JSON, each in its profile; by default both legs alone and what is in production."""
    wanted = chosen or ["bm25", "dense", spell(app.platform.settings.production().config)]
    profiles = where or [app.platform.settings.production().profile.name]
    if len(profiles) == 1:
        profiles = [*profiles] * len(wanted)
    if len(profiles) != len(wanted):
        raise BadInput(
            f"There are {len(wanted)} columns and {len(profiles)} profiles. Name one profile, or one per column."
        )
    return [
        Column(_place(app, profile), configs.parse(config), "" if config.startswith("{") else config)
        for profile, config in zip(profiles, wanted, strict=True)
    ]


def _place(app: App, profile: str) -> str:
    """The name of a profile; after it perhaps a change, as in `local@7`."""
    name, at, change = profile.partition(CHANGE)
    return f"{app.platform.settings.profile(name).name}{at}{change}"


def column_of(app: App, config: str, profile: str) -> Column:
    """A configuration in a profile; "" is what is in production."""
    chosen = configs.parse(config) if config else app.platform.settings.production().config
    return Column(app.platform.settings.profile(profile).name, chosen)
