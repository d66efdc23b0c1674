"""The columns of a comparison as plain values, for the component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.curation.text.excerpts import excerpt_text
from core.evaluation.measures.rank_distance import Move
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.engines import approximate
from core.retrieval.fusions import FUSIONS
from core.retrieval.presets import advice, presets
from core.retrieval.snippets import snippet
from core.retrieval.term_scores import term_scores
from core.services.playground.compare import CachedSearch, Column, ColumnOutcome, Comparison, Surroundings
from core.services.playground.grades import K, LiveScore
from core.services.search.page import freshness_of
from core.types import DocumentFacts, Filters, Hit, LegScore, SearchConfig
from pages.ui import style
from pages.ui.passage_links import also, also_sentence, place

LETTERS = "ABCD"
_WIDTHS = {1: 420, 2: 320, 3: 240, 4: 190}  # characters of a passage, by number of columns


def columns(
    comparison: Comparison, searches: Mapping[str, CachedSearch], choices: Sequence[str], page: Comparison | None = None
) -> list[dict[str, Any]]:
    """Every column of a comparison; given what the page shows already, only what changed."""
    width = _WIDTHS[len(comparison.outcomes)]
    known = (
        page.outcomes if page and len(page.outcomes) == len(comparison.outcomes) else (None,) * len(comparison.outcomes)
    )
    return [
        {"pairs": _pairs(comparison, n)}
        if _unchanged(outcome, before, comparison, page)
        else {
            **head(outcome.column, n, choices, outcome.result is not None and approximate(outcome.result.stages)),
            **_answer(outcome, comparison, n),
            "hits": _hits(outcome, before, comparison, searches, width),
        }
        for n, (outcome, before) in enumerate(zip(comparison.outcomes, known, strict=True))
    ]


def _unchanged(
    outcome: ColumnOutcome, before: ColumnOutcome | None, comparison: Comparison, page: Comparison | None
) -> bool:
    """Whether neither the column nor the first one, which it is compared with, changed."""
    return bool(
        before and page and outcome.column == before.column and comparison.outcomes[0].column == page.outcomes[0].column
    )


def _hits(
    outcome: ColumnOutcome,
    before: ColumnOutcome | None,
    comparison: Comparison,
    searches: Mapping[str, CachedSearch],
    width: int,
) -> list[dict[str, Any]]:
    if outcome.result is None:
        return []
    shown = {_span(hit) for hit in before.result.hits} if before and before.result else set()
    config, search = outcome.result.config, searches[outcome.column.profile]
    return [
        {
            **_rank_data(hit, config, _move(outcome.moves, place)),
            **({} if _span(hit) in shown else _passage(hit, comparison.query, search, width)),
        }
        for place, hit in enumerate(outcome.result.hits)
    ]


def head(column: Column, n: int, choices: Sequence[str], missing: bool = False) -> dict[str, Any]:
    """The settings of a column, without results; `missing`: whether a passage may have been missed."""
    changed = presets().get(column.name, column.config) != column.config
    return {
        "letter": LETTERS[n],
        "color": style.CONFIGURATIONS[n],
        "name": column.title,
        "choices": list(choices),
        "profile": column.profile,
        "about": ("changed · " if changed else "") + about(column.config) + (" · approximate" if missing else ""),
        "advice": "" if changed else advice(column.name),
        "knobs": knobs(column.config),
    }


def about(config: SearchConfig) -> str:
    """A configuration in one line.

    >>> from core.retrieval.config import parse
    >>> about(parse("convex-0.3"))
    'bm25 + dense · convex, minmax · 10 deep'
    >>> about(parse("bm25@duckdb"))
    'bm25 by duckdb · 10 deep'
    """
    legs = [f"{leg} by {config.engines[leg]}" if leg in config.engines else leg for leg in config.legs]
    parts = [" + ".join(legs)]
    if config.fusion != "single":
        parts.append(config.fusion + ("" if config.normalisation == "none" else f", {config.normalisation}"))
    parts += [" + ".join(config.fields)] if any(config.fields.values()) else []
    switched = [name for name in ("documents", "collapse") if getattr(config, name)]
    parts.append(", ".join((f"{config.depth} deep", *switched)))
    if config.rerank != "off":
        parts.append(f"rerank {config.rerank}")
    return " · ".join(parts)


def knobs(config: SearchConfig) -> list[dict[str, Any]]:
    """The sliders that have an effect on this configuration.

    >>> from core.retrieval.config import parse
    >>> [knob["knob"] for knob in knobs(parse("rrf-60"))]
    ['rrf_k', 'depth']
    """
    return [
        {
            "knob": knob.name,
            "label": knob.title if knob.title.startswith("RRF") else knob.title.lower(),
            "min": knob.low,
            "max": max(knob.top, getattr(config, knob.name)),
            "step": knob.step,
            "value": getattr(config, knob.name),
        }
        for knob in configs.knobs(config)
    ]


def legend(comparison: Comparison) -> list[list[str]]:
    """The colours of the legs that any column uses, and of reranking."""
    legs = dict.fromkeys(leg for outcome in comparison.outcomes for leg in outcome.column.config.legs)
    reranked = ("rerank",) if any(outcome.column.config.rerank != "off" for outcome in comparison.outcomes) else ()
    return [[style.stage_title(name), style.stage_colour(name)] for name in (*legs, *reranked)]


def _nothing(comparison: Comparison) -> str:
    """Why a column has no hit."""
    narrowed = comparison.filters != Filters()
    return "The filters leave out every passage that matches." if narrowed else "No passage matches the question."


def _answer(outcome: ColumnOutcome, comparison: Comparison, n: int) -> dict[str, Any]:
    result = outcome.result
    if result is None:
        return {"error": outcome.error, "stages": [], "warnings": [], "pairs": [], "gone": [], "empty": ""}
    notes = [stage.note for stage in result.stages if stage.name in ("hop", "rerank") and stage.note]
    return {
        "error": "",
        "empty": "" if result.hits else _nothing(comparison),
        "ms": sum(stage.ms for stage in result.stages),
        "generation": result.generation,
        "stages": [
            {
                "label": style.stage_title(stage.name),
                "ms": stage.ms,
                "color": style.stage_colour(stage.name),
                "hits": stage.hits,
            }
            for stage in result.stages
        ],
        "note": " · ".join(note[:1].upper() + note[1:] for note in notes),
        "cost": sum(stage.cost for stage in result.stages),
        "warnings": list(result.warnings),
        "pairs": _pairs(comparison, n),
        "gone": [
            {"rank": hit.rank, "title": hit.title, "heading": " › ".join(hit.heading[-1:])} for hit in outcome.gone
        ],
    }


def live_score(score: LiveScore | None) -> dict[str, Any] | None:
    """A column's score by the judgments so far.

    >>> live_score(LiveScore(0.8312, 0.4, 6, 10))
    {'k': 10, 'ndcg': '0.83', 'precision': '0.40', 'judged': 6, 'unjudged': 4}
    """
    if score is None:
        return None
    measures = {"k": K, "ndcg": f"{score.ndcg:.2f}", "precision": f"{score.precision:.2f}"}
    return {**measures, "judged": score.judged, "unjudged": score.unjudged}


def _pairs(comparison: Comparison, n: int) -> list[dict[str, Any]]:
    return [
        {"with": LETTERS[a], "color": style.CONFIGURATIONS[a], **_agreement_data(comparison, a, b)}
        for a, b in comparison.pairs
        if b == n and comparison.outcomes[a].result is not None and comparison.outcomes[b].result is not None
    ]


def _agreement_data(comparison: Comparison, a: int, b: int) -> dict[str, Any]:
    agreement = comparison.pairs[a, b]
    longest = max(
        len(outcome.result.hits) if outcome.result else 0
        for outcome in (comparison.outcomes[a], comparison.outcomes[b])
    )
    return {
        "overlap": agreement.overlap,
        "of": longest,
        "jaccard": f"{agreement.jaccard:.2f}",
        "rbo": f"{agreement.rbo:.2f}",
        "inversions": agreement.inversions,
        "by": comparison.by,
    }


def _move(moves: Sequence[Move], place: int) -> dict[str, Any] | None:
    return {"kind": moves[place].kind, "steps": moves[place].steps} if moves else None


def hit_view(hit: Hit, query: str, config: SearchConfig, search: CachedSearch, width: int) -> dict[str, Any]:
    """A hit: its rank, its text, and why."""
    return {**_rank_data(hit, config, None), **_passage(hit, query, search, width)}


def _rank_data(hit: Hit, config: SearchConfig, move: dict[str, Any] | None) -> dict[str, Any]:
    """The part of a hit that knobs change."""
    return {
        "chunk": hit.chunk,
        "rank": hit.rank,
        "move": move,
        "legs": _legs(hit, config),
        "sentence": _sentence(hit, config) + also_sentence(hit),
        "also": also(hit),
    }


def _passage(hit: Hit, query: str, search: CachedSearch, width: int) -> Mapping[str, Any]:
    """The part that stays: computed once per run and passage for all columns."""
    key = (*_span(hit), query, width)
    passage: Mapping[str, Any] = search.shown.find(key, lambda: _passage_data(hit, query, search, width))
    return passage


def _passage_data(hit: Hit, query: str, search: CachedSearch, width: int) -> dict[str, Any]:
    index, facts = search.index, _facts(search.index, hit)
    shown_snippet = snippet(excerpt_text(hit.text), query, index.profile.lexical, index.rarity, width)
    state = freshness_of(facts, search.searcher.clock.today())
    return {
        "title": hit.title,
        "heading": list(hit.heading),
        "version": hit.version,
        "doc": hit.doc,
        "badges": style.badges(hit.status, state, facts.effective_date),
        "segments": [[part.text, part.matched, part.best] for part in shown_snippet.segments],
        "cut": [shown_snippet.cut_before, shown_snippet.cut_after],
        "full": _whole(hit, query, search) if shown_snippet.cut_before or shown_snippet.cut_after else None,
        "place": place(hit.doc, *hit.opens, hit.version),
        "words": _words(index, query, hit.chunk),
    }


def _words(index: Index, query: str, chunk: str) -> dict[str, Any]:
    """BM25 word by word; pins and graph walks can bring passages that the index does not number."""
    number = index.number(chunk)
    if number is None:
        return {"length": 0, "rows": []}
    length, scored = term_scores(index, query, number)
    return {"length": length, "rows": [[one.word, one.tf, f"{one.idf:.2f}", f"{one.gives:.3f}"] for one in scored]}


def _whole(hit: Hit, query: str, search: CachedSearch) -> list[list[Any]]:
    """The whole passage with the words of the query marked, for when it is expanded in place."""
    text, index = excerpt_text(hit.text), search.index
    parts = snippet(text, query, index.profile.lexical, index.rarity, len(text) + 1).segments
    return [[part.text, part.matched, part.best] for part in parts]


def _span(hit: Hit) -> tuple[str, int, int]:
    """The identity of a passage: with parents, one chunk can appear with different spans."""
    return hit.chunk, hit.start, hit.end


def _legs(hit: Hit, config: SearchConfig) -> list[dict[str, Any]]:
    arithmetic = FUSIONS[config.fusion].arithmetic
    return [
        {
            "label": style.stage_title(name) + _of_fields(leg),
            "color": style.stage_colour(name),
            "rank": leg.rank or "–",
            "raw": f"{leg.score:.3f}",
            "arithmetic": arithmetic(leg, config),
            "part": max(0.0, leg.part),
            "gave": style.fused_score(leg.part, config),
            "note": leg.note,
        }
        for name, leg in hit.legs.items()
    ]


def _of_fields(leg: LegScore) -> str:
    """What of a leg's score came from fields.

    >>> _of_fields(LegScore(9.0, 1.0, 1.0, 1, fields={"title": 4.25}))
    ', title 4.2'
    """
    return "".join(f", {name} {points:.1f}" for name, points in leg.fields.items())


def _sentence(hit: Hit, config: SearchConfig) -> str:
    shown = style.fused_score(sum(leg.part for leg in hit.legs.values()), config)
    if hit.rerank_score is None:
        return f"Fused score {shown}: rank {hit.rank}."
    blend = (
        f", with the fused score blended in at {config.rerank_blend:g} {hit.score:.3f}" if config.rerank_blend else ""
    )
    return (
        f"Fused score {shown}, rank {hit.fused_rank}; the reranker gave {hit.rerank_score:.2f}{blend}: rank {hit.rank}."
        f"{style.contributions(hit)}"
    )


def _facts(index: Index, hit: Hit) -> DocumentFacts:
    return index.documents[index.document_of(index.number(hit.chunk) or 0)]


def around(surroundings: Surroundings) -> dict[str, str]:
    """Neighbours and parent as plain text."""
    return {
        "before": excerpt_text(surroundings.before),
        "after": excerpt_text(surroundings.after),
        "parent": excerpt_text(surroundings.parent),
    }
