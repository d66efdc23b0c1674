"""The playground: compare configurations, and follow a document through a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from core import strict
from core.entrypoints.contracts.comparison_json import column_of, columns_of, compare_json, scores_of
from core.entrypoints.knowledge.search import CONFIGURATION, QUESTION, Among
from core.entrypoints.record import (
    Argument,
    Bounds,
    Option,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.evaluation.measures.rank_distance import Move
from core.retrieval import config as configs
from core.services.playground.compare import ColumnOutcome, Comparison
from core.services.playground.grades import K, LiveScore

if TYPE_CHECKING:
    pass

_SIGNS = {"up": "+", "down": "-", "same": "=", "new": "new"}


ProfileInput = Annotated[str, Option("which index (default: the one in production)")]


@form
class CompareOptions(Among):
    query: Annotated[str, Argument("QUERY", "a question or a few words", key="q"), QUESTION]
    config: Annotated[
        tuple[str, ...],
        Option(f"{configs.help_text()}; repeat for up to four columns"),
        Bounds(longest=8_000, many=4),
    ] = ()
    profile: Annotated[
        tuple[str, ...], Option("one for all columns, or one per column; local@7 is local with change 7")
    ] = ()


@form
class WhereIsOptions(Among):
    query: Annotated[str, Argument("QUERY", "a question or a few words", key="q"), QUESTION]
    document: Annotated[str, Argument("DOC", "a document by its id or path")]
    config: Annotated[str, Option("a name or JSON (default: the one in production)"), CONFIGURATION] = ""
    profile: ProfileInput = ""


@operation(
    "compare",
    "GET /compare",
    "CompareAnswer",
    lane="slow",
    example="GET /compare?q=cash+over+10,000&config=bm25&config=dense",
)
@command(
    "compare",
    "search with several configurations and compare what they find",
    "playground.comparer.run",
    example='compare "cash over 10,000" --config bm25 --config dense',
)
def compare(call: UseCaseCall, form: CompareOptions) -> Shown:
    """Several configurations side by side; without any, both legs alone and what is in production."""
    app = call.app
    columns = columns_of(app, form.config, form.profile)
    comparison = app.playground.comparer.run(call.actor, form.query, columns, form.filters)
    scores = scores_of(app, call.actor, comparison)
    lines = [line for outcome in comparison.outcomes for line in _outcome_lines(outcome)]
    return Shown(
        compare_json(comparison, scores), [*lines, *_score_lines(comparison, scores), *_pair_lines(comparison)]
    )


def _score_lines(comparison: Comparison, scores: Sequence[LiveScore | None]) -> list[str]:
    rows = [
        (outcome.column.title, f"{score.ndcg:.3f}", f"{score.precision:.2f}", score.judged, score.unjudged)
        for outcome, score in zip(comparison.outcomes, scores, strict=True)
        if score
    ]
    return [*table(rows, ("column", f"ndcg@{K}", f"p@{K}", "judged", "not judged")), ""] if rows else []


def _outcome_lines(outcome: ColumnOutcome) -> list[str]:
    if outcome.result is None:
        return [f"{outcome.column.title}: {outcome.error}", ""]
    moves = outcome.moves or tuple(Move("same") for _ in outcome.result.hits)
    rows = [
        (hit.rank, _moved(move), f"{hit.score:.4f}", " › ".join((hit.title, *hit.heading[-1:])), hit.doc)
        for hit, move in zip(outcome.result.hits, moves, strict=True)
    ]
    took = sum(stage.ms for stage in outcome.result.stages)
    notes = [f"! {warning}" for warning in outcome.result.warnings] + [s.note for s in outcome.result.stages if s.note]
    heads = ("rank", "move", "score", "passage", "doc")
    return [f"{outcome.column.title} ({outcome.column.profile}), {took:.1f} ms", *notes, *table(rows, heads), ""]


def _moved(move: Move) -> str:
    return f"{_SIGNS[move.kind]}{move.steps or ''}"


def _pair_lines(comparison: Comparison) -> list[str]:
    names = [outcome.column.title for outcome in comparison.outcomes]
    rows = [
        (f"{names[a]} / {names[b]}", pair.overlap, f"{pair.jaccard:.2f}", f"{pair.rbo:.2f}", pair.inversions)
        for (a, b), pair in comparison.pairs.items()
    ]
    return table(rows, ("columns", "shared", "jaccard", "rbo", "inversions")) if rows else []


@operation(
    "where",
    "GET /where",
    "Diagnosis",
    lane="slow",
    calls="playground.locator.where",
    example="GET /where?q=cash+over+10,000&document=BSA-SOP-001",
)
def where_is(call: UseCaseCall, form: WhereIsOptions) -> Shown:
    """Where a document ranks for a question and why, and what would bring it into the list."""
    column = column_of(call.app, form.config, form.profile)
    place = call.app.playground.locator.where(call.actor, form.query, form.document, column, form.filters)
    return Shown(strict.plain(place))
