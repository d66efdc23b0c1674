"""What a build would ask language models for, counted on a sample of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core import profiles
from core.chunking.agentic import context_task, segment_task
from core.errors import Unavailable
from core.graph import extraction
from core.llm.asking import ModelTask
from core.llm.writer import TRIES
from core.ports import Texts
from core.services.models.estimates import CallEstimate, CallEstimator
from core.types import Chunk, Document, Extract, Profile


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
        asked = _asked(feature, chunked)
        fresh = [task for key, task in asked if written is None or written.get(f"{key}|{model}") is None]
        calls, tries = round(len(fresh) * scale), 1 if feature == "entities" else TRIES
        rows.append(estimator.of(fresh, (calls, calls * tries), name))
    return tuple(row for row in rows if row)


def _asked(feature: str, chunked: Sequence[tuple[Document, Sequence[Chunk]]]) -> Iterator[tuple[str, ModelTask]]:
    """What a build asks about documents for a feature, with the key under which it is kept."""
    for document, chunks in chunked:
        if feature == "segment":
            task = segment_task(document)
            yield task.key, task.asked()
            continue
        for chunk in chunks:
            if feature == "context":
                written = context_task(document, chunk)
                yield written.key, written.asked()
            else:
                yield "", extraction.task(chunk.text, Extract())
