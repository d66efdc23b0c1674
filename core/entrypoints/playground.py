"""Commands of the playground: compare configurations, follow a document, judge passages and answers."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput
from core.evaluation.measures.rank_distance import Move
from core.evaluation.querysets.ratings import FIRST, WRITTEN
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.playground.compare import Column, ColumnOutcome, Comparison, named_passage, to_json
from core.services.playground.grades import K, LiveScore
from core.services.playground.where import Diagnosis, SuggestedChange, applied
from core.services.search.searcher import CHANGE
from core.settings import Settings
from core.types import Filters, Hit

if TYPE_CHECKING:
    from core.bootstrap import App

FILTERS = (("type", "types"), ("tag", "tags"), ("owner", "owners"), ("folder", "folders"), ("status", "statuses"))
_SIGNS = {"up": "+", "down": "-", "same": "=", "new": "new"}


def register(add: Any) -> None:
    both = add("compare", compare)
    both.add_argument("query", metavar="QUERY")
    both.add_argument(
        "--config", action="append", default=[], help=f"{configs.help_text()}; repeat for up to four columns"
    )
    both.add_argument(
        "--profile",
        action="append",
        default=[],
        help="one for all columns, or one per column; local@7 is local with change 7",
    )
    _filters(both)
    where = add("where", where_is)
    where.add_argument("query", metavar="QUERY")
    where.add_argument("document", metavar="DOC")
    where.add_argument("--config", default="", help="a name or JSON (default: the one in production)")
    where.add_argument("--profile", default="", help="which index (default: the one in production)")
    _filters(where)
    judge = add("judge", judge_passage)
    judge.add_argument("query", metavar="QUERY")
    judge.add_argument("chunk", metavar="CHUNK", nargs="?", default="", help="as search --json names it")
    judge.add_argument("grade", metavar="GRADE", nargs="?", type=int, default=None, help="0 to 3")
    judge.add_argument("--profile", default="", help="which index the chunk is in (default: the one in production)")
    judge.add_argument("--note", default=None, help="why this grade")
    judge.add_argument("--remove", action="store_true", help="take your own grade of the passage back")
    pooled = add("pool", pool)
    pooled.add_argument("query", metavar="QUERY")
    pooled.add_argument("--config", action="append", default=[], help="whose hits are pooled; repeat for several")
    pooled.add_argument("--profile", default="", help="which index (default: the one in production)")
    pooled.add_argument("--find", default="", metavar="WORDS", help="passages that could be added, by title")
    pooled.add_argument("--add", default="", metavar="CHUNK", help="put a passage into the pool, for every judge")
    pooled.add_argument("--grade", type=int, default=None, help="with --add: how relevant it is, 0 to 3")
    pooled.add_argument("--remove", default="", metavar="CHUNK", help="take your own addition out again")
    rating = add("rate", rate)
    rating.add_argument("query", metavar="QUERY")
    rating.add_argument("rating", metavar="RATING", nargs="?", default="", help="yes, partly or no")
    rating.add_argument(
        "--written", action="store_true", help="the answer that a language model writes, not the first result"
    )
    rating.add_argument("--note", default="", help="why")


def _filters(command: ArgumentParser) -> None:
    for name, _ in FILTERS:
        command.add_argument(f"--{name}", action="append", default=[], help=f"only this {name}; repeat for several")
    command.add_argument(
        "--history", action="store_true", help="also retired, superseded and not yet effective documents"
    )


def _filters_of(options: Namespace) -> Filters:
    return Filters(**{field: tuple(getattr(options, name)) for name, field in FILTERS}, history=options.history)


def compare(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Columns side by side; the first is the baseline."""
    app = open_app(settings)
    columns = columns_of(app, options.config, options.profile)
    comparison = app.playground.comparer.run(acting(app, options), options.query, columns, _filters_of(options))
    scores = scores_of(app, acting(app, options), comparison)
    lines = [line for outcome in comparison.outcomes for line in _outcome_lines(outcome)]
    terminal.show(
        compare_json(comparison, scores), [*lines, *_score_lines(comparison, scores), *_pair_lines(comparison)]
    )
    return 0


def compare_json(comparison: Comparison, scores: Sequence[LiveScore | None]) -> dict[str, Any]:
    """The contract of `compare --json`."""
    return {**to_json(comparison), "scores": strict.plain(scores)}


def scores_of(app: App, actor: Actor, comparison: Comparison) -> list[LiveScore | None]:
    """What the judgments so far say of each column; None for a column without a result."""
    index = app.search.searcher.index
    asked = [(index(one.column.profile), one.result.hits) for one in comparison.outcomes if one.result]
    scores = iter(app.playground.grades.scores(actor, comparison.query, asked))
    return [next(scores) if outcome.result else None for outcome in comparison.outcomes]


def _score_lines(comparison: Comparison, scores: Sequence[LiveScore | None]) -> list[str]:
    rows = [
        (outcome.column.title, f"{score.ndcg:.3f}", f"{score.precision:.2f}", score.judged, score.unjudged)
        for outcome, score in zip(comparison.outcomes, scores, strict=True)
        if score
    ]
    return [*table(rows, ("column", f"ndcg@{K}", f"p@{K}", "judged", "not judged")), ""] if rows else []


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


def where_is(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    column = column_of(app, options.config, options.profile)
    place = app.playground.locator.where(
        acting(app, options), options.query, options.document, column, _filters_of(options)
    )
    terminal.show(place, _where_lines(place, column))
    return 0


def column_of(app: App, config: str, profile: str) -> Column:
    """A configuration in a profile; "" is what is in production."""
    chosen = configs.parse(config) if config else app.platform.settings.production().config
    return Column(app.platform.settings.profile(profile).name, chosen)


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


def judge_passage(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Save a grade; without a passage, list the grades of the query."""
    app = open_app(settings)
    if not options.chunk:
        grades = app.playground.grades.of(acting(app, options), options.query)
        rows = [
            (grade.grade, grade.name, "blind" if grade.blind else "", grade.path, grade.heading, grade.note)
            for grade in grades
        ]
        terminal.show(list(grades), table(rows, ("grade", "judge", "", "path", "heading", "note")))
        return 0
    if options.remove:
        app.playground.grades.withdraw(acting(app, options), options.query, _hit(app, options))
        terminal.show({"removed": options.chunk}, ["The grade was taken back."])
        return 0
    if options.grade is None:
        raise BadInput("Give a grade from 0 to 3 after the passage.")
    grade = app.playground.grades.judge(
        acting(app, options), options.query, _hit(app, options), options.grade, note=options.note
    )
    terminal.show(strict.plain(grade), [f"{grade.path}, {grade.heading or 'beginning'}: {grade.grade}."])
    return 0


def _hit(app: App, options: Namespace) -> Hit:
    """The passage as a hit."""
    return named_passage(app.search.searcher.index(options.profile), options.chunk)


def pool(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """The pool with the actor's own grades; or find, add and take out passages."""
    app = open_app(settings)
    actor, pools = acting(app, options), app.playground.pools
    index = app.search.searcher.index(options.profile)
    if options.find:
        return _show_passages(app, options, terminal, pools.find(actor, options.find, index))
    if options.remove:
        pools.remove(actor, options.query, named_passage(index, options.remove))
        terminal.show({"removed": options.remove}, ["It was taken out of the pool. Grades of it stay."])
        return 0
    columns = columns_of(app, options.config, [options.profile] if options.profile else [])
    compared = app.playground.comparer.run(actor, options.query, columns)
    found = [outcome.result.hits for outcome in compared.outcomes if outcome.result]
    pooled = pools.pool(actor, options.query, found, index)
    if not options.add:
        return _show_passages(app, options, terminal, pooled)
    hit = named_passage(index, options.add)
    added = pools.add(actor, options.query, hit, pooled)
    grade = None
    if options.grade is not None:
        grade = app.playground.grades.judge(actor, options.query, hit, options.grade, blind=True)
    lines = [f"{added.path}, {added.heading or 'beginning'}: every judge of this query gets it now."]
    terminal.show({**strict.plain(added), "grade": grade.grade if grade else None}, lines)
    return 0


def _show_passages(app: App, options: Namespace, terminal: Terminal, hits: Sequence[Hit]) -> int:
    """Passages without rank, score or who found them."""
    own = app.playground.grades.grades(acting(app, options), options.query, hits)
    grades = {chunk: grade.grade for chunk, grade in own.items()}
    rows = [(hit.chunk, grades.get(hit.chunk, "-"), " › ".join((hit.title, *hit.heading)), hit.doc) for hit in hits]
    shown = [
        {"chunk": hit.chunk, "doc": hit.doc, "path": hit.path, "title": hit.title, "heading": list(hit.heading),
         "text": hit.text, "grade": grades.get(hit.chunk)}
        for hit in hits
    ]  # fmt: skip
    terminal.show(shown, table(rows, ("chunk", "grade", "passage", "doc")) if rows else ["Nothing found."])
    return 0


def rate(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Show an answer and keep the rating; without a rating, list what was said."""
    app = open_app(settings)
    actor, pools = acting(app, options), app.playground.pools
    if not options.rating:
        ratings = pools.ratings(actor, options.query)
        rows = [(given.rating, given.kind, given.name, given.answer[:60], given.note) for given in ratings]
        terminal.show(list(ratings), table(rows, ("good", "kind", "judge", "answer", "note")))
        return 0
    shown = pools.answer(actor, options.query, WRITTEN if options.written else FIRST)
    given = pools.rate(actor, options.query, shown, options.rating, options.note)
    place = " › ".join((shown.title, *shown.heading)) if shown.title else shown.by or shown.advice
    terminal.show(strict.plain(given), [place, shown.text, "", f"Good: {given.rating}."])
    return 0
