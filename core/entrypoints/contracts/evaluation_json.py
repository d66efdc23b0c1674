"""Query sets and runs as JSON: the contract of `eval --json` and of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.evaluation.querysets.queryset import by_question
from core.evaluation.querysets.ratings import AnswerQuality, Share
from core.evaluation.runs import comparisons
from core.evaluation.runs.run import Run

if TYPE_CHECKING:
    from core.bootstrap import App


def one_json(app: App, actor: Actor, name: str, *, questions: bool) -> dict[str, Any]:
    """The contract of `eval querysets NAME --json`; with `questions` also each of them with its judgments."""
    querysets = app.evaluation.querysets
    queryset, judged_pools = querysets.show(actor, name), querysets.pool_summary(actor, name)
    lost = querysets.unmapped(actor, name, app.search.searcher.index(words=True))
    value: dict[str, Any] = {
        "name": queryset.name,
        "about": queryset.about,
        "digest": queryset.digest,
        "questions": len(queryset.questions),
        "judgments": len(queryset.judgments),
        "agreement": strict.plain(querysets.agreement(actor, name)),
        "answers": [_quality_json(quality) for quality in judged_pools.answers],
        "added": _share_json(judged_pools.added),
        "new_documents": _share_json(judged_pools.new_documents),
        "left_out": strict.plain(querysets.problems(actor, name)),
        "unmapped": [
            {"question": judgment.judgment.question, "path": judgment.judgment.path, "why": judgment.why}
            for judgment in lost
        ],
    }
    if questions:
        judged = by_question(queryset.judgments)
        value["listed"] = [
            {**strict.plain(asked), "judgments": strict.plain(judged.get(asked.id, []))} for asked in queryset.questions
        ]
    return value


def _share_json(share: Share) -> dict[str, Any]:
    return {"count": share.count, "of": share.of, "share": share.share, "interval": list(share.interval)}


def _quality_json(quality: AnswerQuality) -> dict[str, Any]:
    good, judges = _share_json(quality.good), strict.plain(quality.judges)
    return {"kind": quality.kind, "good": good, "partly": quality.partly, "agreement": judges}


def run_json(run: Run) -> dict[str, Any]:
    """One line of `eval runs --json`."""
    facts = strict.plain(run)
    facts.pop("results")
    return {**facts, "name": run.name, "cost_per_1000": 1000 * run.cost}


def comparison_json(comparison: comparisons.RunComparison) -> dict[str, Any]:
    """The contract of `eval compare --json`."""
    return {
        "before": run_json(comparison.before),
        "after": run_json(comparison.after),
        "measure": comparison.measure,
        **strict.plain(comparison.overall),
        "categories": strict.plain(comparison.by_category),
        "questions": [{**strict.plain(row), "difference": row.difference} for row in comparison.rows],
        "note": comparison.note,
    }
