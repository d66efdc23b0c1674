"""A comparison as plain values: what the component draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.evaluation.rank_distance import Move
from core.ports import Index
from core.retrieval import config as configs
from core.retrieval.presets import presets
from core.retrieval.snippets import snippet
from core.services.playground.compare import Column, Comparison, Held, Lane, Surroundings
from core.services.search.page import freshness_of, readable
from core.types import DocumentFacts, Hit, SearchConfig
from pages.ui import style
from pages.ui.passage_links import place

LETTERS = "ABCD"
_WIDTHS = {1: 420, 2: 320, 3: 240, 4: 190}  # characters of a passage, by number of columns


def columns(
    made: Comparison, held: Mapping[str, Held], choices: Sequence[str], page: Comparison | None = None
) -> list[dict[str, Any]]:
    """Every column of a comparison; beside what a page shows already, only what is new to it."""
    width = _WIDTHS[len(made.lanes)]
    known = page.lanes if page and len(page.lanes) == len(made.lanes) else (None,) * len(made.lanes)
    return [
        {"pairs": _pairs(made, n)}
        if _stays(lane, was, made, page)
        else {**head(lane.column, n, choices), **_answer(lane, made, n), "hits": _hits(lane, was, made, held, width)}
        for n, (lane, was) in enumerate(zip(made.lanes, known, strict=True))
    ]


def _stays(lane: Lane, was: Lane | None, made: Comparison, page: Comparison | None) -> bool:
    """Whether neither the column nor the one it is compared with was touched."""
    return bool(was and page and lane.column == was.column and made.lanes[0].column == page.lanes[0].column)


def _hits(lane: Lane, was: Lane | None, made: Comparison, held: Mapping[str, Held], width: int) -> list[dict[str, Any]]:
    if lane.result is None:
        return []
    shown = {_span(hit) for hit in was.result.hits} if was and was.result else set()
    config, memory = lane.result.config, held[lane.column.profile]
    return [
        {
            **_standing(hit, config, _move(lane.moves, place)),
            **({} if _span(hit) in shown else _passage(hit, made.query, memory, width)),
        }
        for place, hit in enumerate(lane.result.hits)
    ]


def head(column: Column, n: int, choices: Sequence[str]) -> dict[str, Any]:
    """What a column is set to, before anything is found."""
    changed = presets().get(column.name, column.config) != column.config
    return {
        "letter": LETTERS[n],
        "color": style.CONFIGURATIONS[n],
        "name": column.title,
        "choices": list(dict.fromkeys([column.title, *choices])),
        "profile": column.profile,
        "about": ("changed · " if changed else "") + about(column.config),
        "knobs": knobs(column.config),
    }


def about(config: SearchConfig) -> str:
    """A configuration in one line.

    >>> from core.retrieval.config import parse
    >>> about(parse("convex-0.3"))
    'bm25 + dense · convex, minmax · 10 deep'
    """
    parts = [" + ".join(config.legs)]
    if config.fusion != "single":
        parts.append(config.fusion + ("" if config.normalisation == "none" else f", {config.normalisation}"))
    parts.append(f"{config.depth} deep")
    if config.rerank != "off":
        parts.append(f"rerank {config.rerank}")
    return " · ".join(parts)


def knobs(config: SearchConfig) -> list[dict[str, Any]]:
    """The sliders that change anything for this configuration.

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


def legend(made: Comparison) -> list[list[str]]:
    """The colours of the legs that any column uses, and of reranking."""
    legs = dict.fromkeys(leg for lane in made.lanes for leg in lane.column.config.legs)
    reranked = ("rerank",) if any(lane.column.config.rerank != "off" for lane in made.lanes) else ()
    return [[style.stage_title(name), style.stage_colour(name)] for name in (*legs, *reranked)]


def _answer(lane: Lane, made: Comparison, n: int) -> dict[str, Any]:
    result = lane.result
    if result is None:
        return {"error": lane.error, "stages": [], "warnings": [], "pairs": [], "gone": [], "empty": False}
    note = next((stage.note for stage in result.stages if stage.name == "rerank"), "")
    return {
        "error": "",
        "empty": not result.hits,
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
        "note": note[:1].upper() + note[1:],
        "cost": sum(stage.cost for stage in result.stages),
        "warnings": list(result.warnings),
        "pairs": _pairs(made, n),
        "gone": [{"rank": hit.rank, "title": hit.title, "heading": " › ".join(hit.heading[-1:])} for hit in lane.gone],
    }


def _pairs(made: Comparison, n: int) -> list[dict[str, Any]]:
    return [
        {"with": LETTERS[a], "color": style.CONFIGURATIONS[a], **_agreed(made, a, b)}
        for a, b in made.pairs
        if b == n and made.lanes[a].result is not None and made.lanes[b].result is not None
    ]


def _agreed(made: Comparison, a: int, b: int) -> dict[str, Any]:
    agreed = made.pairs[a, b]
    longest = max(len(lane.result.hits) if lane.result else 0 for lane in (made.lanes[a], made.lanes[b]))
    return {
        "overlap": agreed.overlap,
        "of": longest,
        "jaccard": f"{agreed.jaccard:.2f}",
        "rbo": f"{agreed.rbo:.2f}",
        "swaps": agreed.swaps,
        "by": made.by,
    }


def _move(moves: Sequence[Move], place: int) -> dict[str, Any] | None:
    return {"kind": moves[place].kind, "steps": moves[place].steps} if moves else None


def hit_view(hit: Hit, query: str, config: SearchConfig, held: Held, width: int) -> dict[str, Any]:
    """One hit: where it stands, what it says, and why."""
    return {**_standing(hit, config, None), **_passage(hit, query, held, width)}


def _standing(hit: Hit, config: SearchConfig, move: dict[str, Any] | None) -> dict[str, Any]:
    """The part of a hit that knobs move."""
    return {
        "chunk": hit.chunk,
        "rank": hit.rank,
        "move": move,
        "legs": _legs(hit, config),
        "sentence": _sentence(hit, config),
    }


def _passage(hit: Hit, query: str, held: Held, width: int) -> Mapping[str, Any]:
    """The part that stays: made once per run and passage, whichever columns show it."""
    key = (*_span(hit), query, width)
    if key not in held.shown:
        held.shown[key] = _written(hit, query, held, width)
    made: Mapping[str, Any] = held.shown[key]
    return made


def _written(hit: Hit, query: str, held: Held, width: int) -> dict[str, Any]:
    index, facts = held.index, _facts(held.index, hit)
    found = snippet(readable(hit.text), query, index.profile.lexical, index.rarity, width)
    state = freshness_of(facts, held.searcher.clock.today())
    return {
        "title": hit.title,
        "heading": list(hit.heading),
        "version": hit.version,
        "doc": hit.doc,
        "badges": style.badges(hit.status, state, facts.effective_date),
        "segments": [[part.text, part.matched, part.best] for part in found.segments],
        "cut": [found.cut_before, found.cut_after],
        "place": place(hit.doc, hit.start, hit.end, hit.version),
    }


def _span(hit: Hit) -> tuple[str, int, int]:
    """What tells passages apart: a chunk may stand for itself or for its parent."""
    return hit.chunk, hit.start, hit.end


def _legs(hit: Hit, config: SearchConfig) -> list[dict[str, Any]]:
    total = sum(leg.weight for leg in hit.legs.values()) or 1.0
    return [
        {
            "label": style.stage_title(name),
            "color": style.stage_colour(name),
            "rank": leg.rank or "–",
            "raw": f"{leg.score:.3f}",
            "scaled": f"{leg.normalised:.2f}",
            "weight": f"{leg.weight / total:.2f}",
            "part": max(0.0, leg.part),
            "gave": _shown(leg.part, config),
        }
        for name, leg in hit.legs.items()
    ]


def _shown(score: float, config: SearchConfig) -> str:
    """A fused score with as many digits as its fusion needs: reciprocal ranks are small."""
    return f"{score:.4f}" if config.fusion == "rrf" else f"{score:.3f}"


def _sentence(hit: Hit, config: SearchConfig) -> str:
    shown = _shown(sum(leg.part for leg in hit.legs.values()), config)
    if hit.rerank_score is None:
        return f"Fused score {shown}: rank {hit.rank}."
    return f"Fused score {shown}, rank {hit.fused_rank}; the reranker gave {hit.rerank_score:.2f}: rank {hit.rank}."


def _facts(index: Index, hit: Hit) -> DocumentFacts:
    return index.documents[index.document_of(index.number(hit.chunk) or 0)]


def around(found: Surroundings) -> dict[str, str]:
    """Neighbours and parent, as people read them."""
    return {"before": readable(found.before), "after": readable(found.after), "parent": readable(found.parent)}
