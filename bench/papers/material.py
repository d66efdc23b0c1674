"""What a replay reads and asks: the documents of the knowledge base or a few of them, and its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from bench.papers.context import QA, PaperContext, sampled
from core import strict
from core.access import SYSTEM, Actor
from core.bootstrap import evaluation_workspace
from core.errors import BadInput, NotFound
from core.evaluation.generators import known_items, qa
from core.evaluation.generators.qa import QaSettings
from core.evaluation.querysets.queryset import QuerySet, by_question
from core.ports import Progress
from core.services.evaluation import collections
from core.types import Document

KINDS = {"single-file-1-hop": "SF1H", "single-file-2-hop": "SF2H", "multi-file-2-hop": "MF2H"}  # as the thesis has them
PROMPTS = 4  # of each kind, at least


def prepared(
    context: PaperContext,
    actor: Actor,
    name: str,
    limit: int,
    default: str,
    progress: Progress,
) -> PaperContext:
    """The context with questions, over all documents or in a workspace of its own with a few; builds what is in
    production.
    """
    named = context.runs.querysets.get(name) if name else None
    documents = context.options.documents
    if documents:
        context = _scratch_workspace(context, actor, documents, named)
    context.builder.build(context.runs.team_settings.production().profile, progress=progress)
    if named:
        queryset = restricted(named, {document.path for document in context.documents.all()}) if documents else named
    elif default == QA:
        context, queryset = quoting(context, actor, limit, progress)
    else:
        queryset = context.known_items(actor, progress)
    taken = sampled(queryset, limit)
    if len(taken.questions) < len(queryset.questions):
        context = context.limited_by("questions", f"{len(taken.questions)} of {len(queryset.questions)}")
    return replace(context, queryset=taken)


def _scratch_workspace(context: PaperContext, actor: Actor, documents: int, named: QuerySet | None) -> PaperContext:
    everything = context.generator.findable()
    if documents < 1:
        raise BadInput(f"A replay needs at least one document, not {documents}.")
    if documents >= len(everything):
        return context
    chosen = choose(everything, documents, named)
    by = "those that most questions are about" if named else "the longest"
    return replace(context, **_aside(context, chosen)).limited_by(
        "documents", f"{len(chosen)} of {len(everything)}: {by}"
    )


def _aside(context: PaperContext, documents: Sequence[Document]) -> dict[str, Any]:
    """A workspace of its own with a few documents; what is in production counts there, too."""
    name = f"documents-{strict.digest([[document.path, document.blob] for document in documents])}"
    app = evaluation_workspace(context.app, SYSTEM, name)
    if not app.knowledge.repository.head():
        files = {document.path: document.text.encode() for document in documents}
        app.knowledge.documents.save(collections.AUTHOR, files, [], "Documents of a replay")
    runs = copy(app.evaluation.runs)
    runs.team_settings = context.runs.team_settings
    return {"app": app, "runs": runs}


def choose(everything: Sequence[Document], count: int, named: QuerySet | None = None) -> list[Document]:
    """So many documents: those that most questions are about, the longer ones first."""
    judged = Counter(judgment.path for judgment in named.judgments) if named else Counter[str]()
    order = sorted(everything, key=lambda each: (-judged[each.path], -len(each.text.split()), each.path))
    return sorted(order[:count], key=lambda document: document.path)


def restricted(queryset: QuerySet, paths: Collection[str]) -> QuerySet:
    """The questions whose answers stand in some documents only."""
    judged = by_question(judgment for judgment in queryset.judgments if judgment.grade > 0)
    ids = {question for question, rows in judged.items() if all(row.path in paths for row in rows)}
    if not ids:
        raise BadInput(f"No question of {queryset.name!r} is answered by these {len(paths)} documents. Take more.")
    return _only(queryset, ids)


def quoting(context: PaperContext, actor: Actor, limit: int, progress: Progress) -> tuple[PaperContext, QuerySet]:
    """Questions that quote their answers: kept ones, else written by the language model, else known items
    with quotes.
    """
    try:
        return context, context.runs.querysets.get(QA)
    except NotFound:
        why = "No language model is configured to write questions"
    if context.llm() is not None:
        size = fitting(context.generator.findable())
        per_kind = max(PROMPTS, -(-limit // len(KINDS))) or known_items.PER_CATEGORY
        written = context.generator.qa(actor, QaSettings(per_kind=per_kind, name=QA, size=size), progress)
        if written.queryset.questions:
            said = (
                f"written by {context.models.llm().name} from segments of {size:,} words; {_dropped(written.refused)}"
            )
            missing = [f"no {KINDS[kind]}: {why}" for kind, why in written.left_out.items()]
            return context.limited_by("question source", "; ".join([said, *missing])), written.queryset
        why = f"The language model wrote no usable question ({_dropped(written.refused)})"
    known = context.known_items(actor, progress)
    quoted = {judgment.question for judgment in known.judgments if judgment.quote and judgment.grade > 0}
    said = f"{why}, so these are known items that quote their answers, not SF1H, SF2H and MF2H."
    return context.limited_by("question source", said), _only(known, quoted)


def fitting(documents: Sequence[Document]) -> int:
    """The words of a segment: a thousand, or half as many until a third of the documents has two segments.

    >>> fitting([Document("d", "d.md", "D", "word " * 700)]), fitting([Document("d", "d.md", "D", "word " * 1600)])
    (250, 1000)
    """
    sizes = [qa.WORDS >> halved for halved in range(4)]
    several = {size: sum(len(qa.segments(each, size, size // 2)) > 1 for each in documents) for size in sizes}
    return next((size for size in sizes if 3 * several[size] >= len(documents)), sizes[-1])


def _only(queryset: QuerySet, ids: Collection[str]) -> QuerySet:
    return replace(
        queryset,
        questions=tuple(question for question in queryset.questions if question.id in ids),
        judgments=tuple(judgment for judgment in queryset.judgments if judgment.question in ids),
    )


def _dropped(refused: Mapping[str, int]) -> str:
    """What was wrong with what a model proposed."""
    total = sum(refused.values())
    return f"{total} dropped, most often: {max(refused, key=refused.__getitem__)}" if total else "none was dropped"
