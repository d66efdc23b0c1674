"""Search results as the component draws them: facets, documents with their passages, and why each ranks
where it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core import strict
from core.bootstrap import App
from core.curation.document.names import top_folder
from core.retrieval.engines import approximate
from core.retrieval.fusions import FUSIONS
from core.retrieval.snippets import Snippet
from core.services.search.page import Group, PagePassage, PageResults
from core.services.search.searcher import pending_json
from core.services.search.spelling import absence
from core.types import Commit, Document, Filters, Result, SearchConfig
from pages.ui import keys, style
from pages.ui.components import component, heard
from pages.ui.configurations import called
from pages.ui.passage_links import also, also_sentence, pinned, place

TITLES = {
    "types": "Type",
    "statuses": "Status",
    "freshness": "Freshness",
    "folders": "Folder",
    "owners": "Owner",
    "tags": "Tag",
}
MAX_OPTIONS = 8
PLACEHOLDER = "Ask a question, or paste a code"
EXAMPLES = 4  # questions that documents say they answer


def search_view(
    asked: Mapping[str, Any], results: Mapping[str, Any] | None, key: str, around: Mapping[str, Any]
) -> Any:
    """Draw the box and the results. Returns `asked` (where the token is too old), and the clicks `report`, `feedback`,
    `watch`,
    `pin` and `consent`.
    Around the results: `direct` is the token, `may` says whether to offer a pin and how the search ran, `kept` what
    becomes of
    questions, `answers` whether a model writes answers, `pending` how far vectors are that are still being computed."""
    data = {"asked": asked, "found": results, "serial": strict.digest(asked), "placeholder": PLACEHOLDER, **around}
    clicks = heard("asked", "report", "feedback", "watch", "pin", "consent")
    return component("search", "snippet", "answer")(key=key, data=data, default={"asked": None}, **clicks)


def examples(documents: Sequence[Document]) -> list[str]:
    """Short questions that documents say they answer, from as many folders as there are."""
    shortest: dict[str, str] = {}
    for document in documents:
        for question in document.meta.answers:
            folder = top_folder(document.path)
            shortest[folder] = min(shortest.get(folder, question), question, key=lambda asked: (len(asked), asked))
    return sorted(shortest.values(), key=lambda asked: (len(asked), asked))[:EXAMPLES]


def found(app: App, query: str, filters: Filters, as_of: str = "") -> dict[str, Any]:
    """Search, and return what the component draws."""
    results = app.search.page.find(query, filters, as_of=as_of)
    return view(results, filters, {} if as_of else app.knowledge.documents.touched())


def view(results: PageResults, filters: Filters, touched: Mapping[str, Commit]) -> dict[str, Any]:
    """Everything the component draws, as plain values."""
    result = results.result
    passages = sum(len(group.passages) for group in results.groups)
    took = sum(stage.ms for stage in result.stages)
    return {
        "query": result.query,
        "summary": (
            f"{style.count(passages, 'passage')} in {style.count(len(results.groups), 'document')}" if passages else ""
        ),
        "how": (
            f"{took:.0f} ms, {called(result.config)}, generation {result.generation}, "
            + ("approximate, " if approximate(result.stages) else "")
            + f"confidence {result.confidence:.0%}"
        ),
        "warnings": list(result.warnings),
        "doubt": result.doubt,
        "also": list(result.also),
        "pending": pending_json(result.pending),
        "confidence": round(result.confidence, 4),
        "fits": result.fits,
        "as_of": style.day(result.as_of) if result.as_of else "",
        "notice": _notice(results),
        "nearest": list(results.nearest),
        "advice": _advice(filters),
        "facets": [
            {"key": name, "title": TITLES[name], "options": _options(name, results, filters)} for name in keys.FACETS
        ],
        "groups": [_group(group, result, touched.get(group.facts.path)) for group in results.groups],
        "stages": [
            {
                "label": style.stage_title(stage.name),
                "ms": stage.ms,
                "color": style.stage_colour(stage.name),
                "note": stage.note,
            }
            for stage in result.stages
        ],
    }


def _notice(results: PageResults) -> str:
    """What is missing, and what is shown instead."""
    missing = absence(results.result.missing)
    if results.literal:
        return f"{missing} The passages below are the nearest there are.".strip()
    return f"{missing or 'No document uses these words.'} The passages below are nearest in meaning."


def _advice(filters: Filters) -> str:
    narrowed = any(getattr(filters, name) for name in keys.FACETS)
    first = "Try without the filters, " if narrowed else "Try other or fewer words, "
    return first + "a form number, or a name as it is written in the document."


def _options(name: str, results: PageResults, filters: Filters) -> list[dict[str, Any]]:
    """The most frequent values, and all chosen ones."""
    counts, chosen = dict(results.facets.get(name, ())), getattr(filters, name)
    names = list(dict.fromkeys([*list(counts)[:MAX_OPTIONS], *chosen]))
    if len(names) == 1 and not chosen:
        return []
    return [
        {"value": value, "label": _label(name, value), "count": counts.get(value, 0), "on": value in chosen}
        for value in names
    ]


def _label(facet: str, value: str) -> str:
    labels = {"types": style.TYPES, "statuses": style.STATUSES, "freshness": style.FRESHNESS}.get(facet, {})
    return labels.get(value, value)


def _group(group: Group, result: Result, last: Commit | None) -> dict[str, Any]:
    facts = group.facts
    about = [
        facts.doc if facts.doc != facts.path.removesuffix(".md") else "",
        f"kept by {facts.owner}" if facts.owner else "no owner",
        f"version {facts.version}" + (f" of {style.day(last.when[:10])}" if last else ""),
        f"next review {style.day(facts.review_due)}" if facts.review_due and group.freshness.state == "current" else "",
        " / ".join(facts.path.split("/")[:-1]),
    ]
    standing = style.standing(group.passages[0].hit.standing)
    return {
        "doc": facts.doc,
        "title": facts.title,
        "type": style.type_name(facts.doc_type),
        "badges": [*_pinned(group), *standing, *style.badges(facts.status, group.freshness, facts.effective_date)],
        "about": " · ".join(part for part in about if part),
        "passages": [_passage(group, passage, result) for passage in group.passages],
    }


def _pinned(group: Group) -> list[dict[str, str]]:
    pinned = any(passage.hit.pinned for passage in group.passages)
    return [{"text": "Pinned answer", "tone": "note"}] if pinned else []


def _passage(group: Group, passage: PagePassage, result: Result) -> dict[str, Any]:
    hit = passage.hit
    here = place(hit.doc, *hit.opens, hit.version)
    cited = pinned(here, result.commit)
    where = ", ".join(f"“{heading}”" for heading in hit.heading[-1:])
    return {
        "chunk": hit.chunk,
        "heading": list(hit.heading),
        "segments": _segments(passage.snippet),
        "whole": _segments(passage.whole) if passage.whole else None,
        "cut": [passage.snippet.cut_before, passage.snippet.cut_after],
        "place": cited if result.as_of else here,
        "cited": cited,
        "citation": f"{hit.title}{', ' + where if where else ''} ({group.facts.doc}, version {hit.version}).",
        "also": also(hit),
        "why": _why(passage, result.config),
        "pinned": bool(hit.pinned),
    }


def _segments(snippet: Snippet) -> list[list[Any]]:
    return [[segment.text, segment.matched, segment.best] for segment in snippet.segments]


def _why(passage: PagePassage, config: SearchConfig) -> dict[str, Any]:
    hit, arithmetic = passage.hit, FUSIONS[config.fusion].arithmetic
    largest = sum(leg.part for leg in hit.legs.values()) or 1.0
    legs = [
        {
            "label": style.stage_title(name),
            "color": style.stage_colour(name),
            "rank": leg.rank or "–",
            "score": f"{leg.score:.3f}",
            "arithmetic": arithmetic(leg, config),
            "gives": style.fused_score(leg.part, config),
            "share": min(1.0, max(0.0, leg.part / largest)),
            "note": leg.note,
        }
        for name, leg in hit.legs.items()
    ]
    sentence = f"Fused score {style.fused_score(hit.score, config)}, rank {hit.rank}."
    if hit.rerank_score is not None:
        by = "learned ranker" if hit.reasons else "cross-encoder"
        sentence = f"Fused rank {hit.fused_rank}; the {by} gave {hit.rerank_score:.2f}, which makes it rank {hit.rank}."
    sentence += style.contributions(hit)
    if hit.pinned:
        sentence = (
            f"Pinned to “{hit.pinned}”, so it stands first. Without the pin: {sentence[:1].lower()}{sentence[1:]}"
        )
    return {"legs": legs, "sentence": sentence + also_sentence(hit)}
