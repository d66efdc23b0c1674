"""What a build would ask language models for, counted on a sample of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core import profiles
from core.chunking.agentic import context_task, segment_task
from core.chunking.passage_questions import questions_task
from core.errors import Unavailable
from core.graph import communities, extraction
from core.graph.entities import VALUES, extract
from core.llm.asking import ModelTask
from core.llm.writer import TRIES
from core.ports import Texts
from core.services.models.call_estimates import CallEstimate, CallEstimator
from core.types import Chunk, Document, Extract, Mention, Profile


def build_calls(
    estimator: CallEstimator | None,
    written: Texts | None,
    profile: Profile,
    chunked: Sequence[tuple[Document, Sequence[Chunk]]],
    scale: float,
) -> tuple[CallEstimate, ...]:
    """Every call of a language model, by what it is for; texts that were written before are not asked for again."""
    if estimator is None:
        return ()
    rows: list[CallEstimate | None] = []
    uses = {feature: name for name, feature in reversed(profiles.model_uses(profile))}  # the first writer counts
    for feature, name in uses.items():
        try:
            model = estimator.models.llm(name).name
        except Unavailable:  # nothing is asked, and the build says so
            continue
        asked = _asked(feature, profile, chunked)
        fresh = [task for key, task in asked if written is None or written.get(f"{key}|{model}") is None]
        calls, tries = round(len(fresh) * scale), 1 if feature == "entities" else TRIES
        rows.append(estimator.of(fresh, (calls, calls * tries), name))
    return tuple(row for row in rows if row)


def summary_calls(
    estimator: CallEstimator | None,
    profile: Profile,
    chunked: Sequence[tuple[Document, Sequence[Chunk]]],
    scale: float,
) -> tuple[CallEstimate, ...]:
    """The calls for topics, made when the graph is first looked at: from one to as many as there are entities for."""
    if estimator is None or profile.graph != "llm":
        return ()
    try:
        estimator.models.llm()
    except Unavailable:
        return ()
    named = {mention.key for _, chunks in chunked for chunk in chunks for mention in _things(chunk)}
    most = min(communities.MOST, round(len(named) * scale) // communities.SMALLEST)
    row = estimator.of([_topic(*one) for one in chunked if one[1]], (min(1, most), most))
    return (row,) if row else ()


def _things(chunk: Chunk) -> list[Mention]:
    return [mention for mention in extract(chunk.text).mentions if mention.kind not in VALUES]


def _topic(document: Document, chunks: Sequence[Chunk]) -> ModelTask[str]:
    """What a topic of one document would be asked."""
    labels = list(dict.fromkeys(mention.text for chunk in chunks for mention in _things(chunk)))
    return communities.task(labels[: communities.SHOWN], [document.title], [chunk.text for chunk in chunks[:3]])


def _asked(
    feature: str, profile: Profile, chunked: Sequence[tuple[Document, Sequence[Chunk]]]
) -> Iterator[tuple[str, ModelTask]]:
    """What a build asks about documents for a feature, with the key under which it is kept."""
    for document, chunks in chunked:
        if feature == "segment":
            task = segment_task(document)
            yield task.key, task.asked()
            continue
        for chunk in chunks:
            if feature == "entities":
                yield "", extraction.task(chunk.text, Extract())
                continue
            context = feature == "context"
            written = context_task(document, chunk) if context else questions_task(document, chunk, profile.questions)
            yield written.key, written.asked()
