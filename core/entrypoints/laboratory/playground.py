"""Commands of the playground: compare configurations, follow a document, judge passages and answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from core import strict
from core.entrypoints.contracts.comparison_json import column_of, columns_of, compare_json, scores_of
from core.entrypoints.knowledge.search import CONFIGURATION, QUESTION, Among
from core.entrypoints.record import (
    MAYBE,
    Argument,
    Bounds,
    CommandCall,
    Option,
    Shown,
    UseCaseCall,
    command,
    form,
    operation,
)
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.evaluation.measures.rank_distance import Move
from core.evaluation.querysets.ratings import FIRST, WRITTEN
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.playground.compare import Column, ColumnOutcome, Comparison, named_passage
from core.services.playground.grades import K, LiveScore
from core.services.playground.where import Diagnosis, SuggestedChange, applied
from core.types import Filters, Hit

if TYPE_CHECKING:
    from core.bootstrap import App

_SIGNS = {"up": "+", "down": "-", "same": "=", "new": "new"}


ProfileInput = Annotated[str, Option("which index (default: the one in production)")]


@form
class CompareOptions(Among):
    query: Annotated[str, Argument("QUERY", key="q"), QUESTION]
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
    query: Annotated[str, Argument("QUERY", key="q"), QUESTION]
    document: Annotated[str, Argument("DOC")]
    config: Annotated[str, Option("a name or JSON (default: the one in production)"), CONFIGURATION] = ""
    profile: ProfileInput = ""


@form
class JudgePassageOptions:
    query: Annotated[str, Argument("QUERY")]
    chunk: Annotated[str, Argument("CHUNK", "as search --json names it", nargs=MAYBE)] = ""
    grade: Annotated[int | None, Argument("GRADE", "0 to 3", nargs=MAYBE)] = None
    profile: Annotated[str, Option("which index the chunk is in (default: the one in production)")] = ""
    note: Annotated[str | None, Option("why this grade")] = None
    remove: Annotated[bool, Option("take your own grade of the passage back")] = False


@form
class PoolOptions:
    query: Annotated[str, Argument("QUERY")]
    config: Annotated[tuple[str, ...], Option("whose hits are pooled; repeat for several")] = ()
    profile: ProfileInput = ""
    find: Annotated[str, Option("passages that could be added, by title", metavar="WORDS")] = ""
    add: Annotated[str, Option("put a passage into the pool, for every judge", metavar="CHUNK")] = ""
    grade: Annotated[int | None, Option("with --add: how relevant it is, 0 to 3")] = None
    remove: Annotated[str, Option("take your own addition out again", metavar="CHUNK")] = ""


@form
class RateOptions:
    query: Annotated[str, Argument("QUERY")]
    rating: Annotated[str, Argument("RATING", "yes, partly or no", nargs=MAYBE)] = ""
    written: Annotated[bool, Option("the answer that a language model writes, not the first result")] = False
    note: Annotated[str, Option("why")] = ""


@operation("compare", "GET /compare", "CompareAnswer", lane="slow")
@command("compare", calls="playground.comparer.run")
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


@operation("where", "GET /where", "Diagnosis", lane="slow")
@command("where", calls="playground.locator.where")
def where_is(call: UseCaseCall, form: WhereIsOptions) -> Shown:
    """Where a document ranks for a question and why, and what would bring it into the list."""
    column = column_of(call.app, form.config, form.profile)
    place = call.app.playground.locator.where(call.actor, form.query, form.document, column, form.filters)
    return Shown(strict.plain(place), _where_lines(place, column))


def _where_lines(place: Diagnosis, column: Column) -> list[str]:
    legs = list(place.ways[0].legs) if place.ways else []
    rows = [
        (
            " › ".join(way.heading) or "(beginning)",
            *(way.legs[leg] or "no match" for leg in legs),
            way.fused or "-",
            way.final or "-",
            " ".join(way.words) or "-",
        )
        for way in place.ways
    ]
    return [
        f"{place.title} ({place.path}): {place.sentence}",
        *(f"  {change.sentence}{_as_option(column, change)}" for change in place.changes),
        *(f"  {word.word}: {word.sentence}" for word in place.words),
        *(table(rows, ("passage", *legs, "fused", "final", "words")) if rows else []),
    ]


def _as_option(column: Column, change: SuggestedChange) -> str:
    """The option that applies a change."""
    if change.knob == "filters":
        return ""
    return f"  --config {shlex.quote(spell(applied(column, Filters(), change)[0].config))}"


@command("judge", calls="playground.grades.withdraw")
def judge_passage(call: CommandCall, form: JudgePassageOptions) -> Shown:
    """Save a grade; without a passage, list the grades of the query."""
    app = call.app
    if not form.chunk:
        grades = app.playground.grades.of(call.actor, form.query)
        rows = [
            (grade.grade, grade.name, "blind" if grade.blind else "", grade.path, grade.heading, grade.note)
            for grade in grades
        ]
        return Shown(list(grades), table(rows, ("grade", "judge", "", "path", "heading", "note")))
    if form.remove:
        app.playground.grades.withdraw(call.actor, form.query, _hit(app, form))
        return Shown({"removed": form.chunk}, ["The grade was taken back."])
    if form.grade is None:
        raise BadInput("Give a grade from 0 to 3 after the passage.")
    grade = app.playground.grades.judge(call.actor, form.query, _hit(app, form), form.grade, note=form.note)
    return Shown(strict.plain(grade), [f"{grade.path}, {grade.heading or 'beginning'}: {grade.grade}."])


def _hit(app: App, form: JudgePassageOptions) -> Hit:
    """The passage as a hit."""
    return named_passage(app.search.searcher.index(form.profile), form.chunk)


@command("pool", calls="playground.grades.judge")
def pool(call: CommandCall, form: PoolOptions) -> Shown:
    """The pool with the actor's own grades; or find, add and take out passages."""
    app = call.app
    actor, pools = call.actor, app.playground.pools
    index = app.search.searcher.index(form.profile)
    if form.find:
        return _show_passages(call, form.query, pools.find(actor, form.find, index))
    if form.remove:
        pools.remove(actor, form.query, named_passage(index, form.remove))
        return Shown({"removed": form.remove}, ["It was taken out of the pool. Grades of it stay."])
    columns = columns_of(app, form.config, [form.profile] if form.profile else [])
    compared = app.playground.comparer.run(actor, form.query, columns)
    found = [outcome.result.hits for outcome in compared.outcomes if outcome.result]
    pooled = pools.pool(actor, form.query, found, index)
    if not form.add:
        return _show_passages(call, form.query, pooled)
    hit = named_passage(index, form.add)
    added = pools.add(actor, form.query, hit, pooled)
    grade = None
    if form.grade is not None:
        grade = app.playground.grades.judge(actor, form.query, hit, form.grade, blind=True)
    lines = [f"{added.path}, {added.heading or 'beginning'}: every judge of this query gets it now."]
    return Shown({**strict.plain(added), "grade": grade.grade if grade else None}, lines)


def _show_passages(call: CommandCall, query: str, hits: Sequence[Hit]) -> Shown:
    """Passages without rank, score or who found them."""
    own = call.app.playground.grades.grades(call.actor, query, hits)
    grades = {chunk: grade.grade for chunk, grade in own.items()}
    rows = [(hit.chunk, grades.get(hit.chunk, "-"), " › ".join((hit.title, *hit.heading)), hit.doc) for hit in hits]
    shown = [
        {"chunk": hit.chunk, "doc": hit.doc, "path": hit.path, "title": hit.title, "heading": list(hit.heading),
         "text": hit.text, "grade": grades.get(hit.chunk)}
        for hit in hits
    ]  # fmt: skip
    return Shown(shown, table(rows, ("chunk", "grade", "passage", "doc")) if rows else ["Nothing found."])


@command("rate", calls="playground.pools.rate")
def rate(call: CommandCall, form: RateOptions) -> Shown:
    """Show an answer and keep the rating; without a rating, list what was said."""
    actor, pools = call.actor, call.app.playground.pools
    if not form.rating:
        ratings = pools.ratings(actor, form.query)
        rows = [(given.rating, given.kind, given.name, given.answer[:60], given.note) for given in ratings]
        return Shown(list(ratings), table(rows, ("good", "kind", "judge", "answer", "note")))
    shown = pools.answer(actor, form.query, WRITTEN if form.written else FIRST)
    given = pools.rate(actor, form.query, shown, form.rating, form.note)
    place = " › ".join((shown.title, *shown.heading)) if shown.title else shown.by or shown.advice
    return Shown(strict.plain(given), [place, shown.text, "", f"Good: {given.rating}."])
