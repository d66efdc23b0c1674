"""Checks of the frontmatter beyond syntax."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import fields

from core.curation.checks.findings import CheckContext, File, Remark
from core.curation.document.statuses import SOURCE, STATUSES, counts_as, spelled
from core.types import Meta

TYPES = ("sop", "policy", "runbook", "faq", "glossary", "reference")
KNOWN = tuple(field.name for field in fields(Meta) if field.name != "extra")
_WANTED = {
    "owner": "Nobody owns this document. Name who keeps it true.",
    "review_due": "There is no date for the next review, so nobody will be asked to look at it again.",
    "answers": "No questions are listed that this document answers. They become search tests.",
}


def wanted(file: File, context: CheckContext) -> Iterator[Remark]:
    """Optional fields that a good document has."""
    for key, sentence in _WANTED.items():
        if not getattr(file.document.meta, key):
            yield Remark(_line(file, key), "note", sentence, key)


def doc_type(file: File, context: CheckContext) -> Iterator[Remark]:
    """The type is one that filters know."""
    kind = file.document.meta.doc_type
    if not kind:
        slip = " A field named type is not read." if "type" in file.document.meta.extra else ""
        sentence = f"The document has no type.{slip} Choose one of {', '.join(TYPES)}."
        yield Remark(_line(file, "doc_type"), "note", sentence, "doc_type")
    elif kind not in TYPES:
        near = difflib.get_close_matches(kind, TYPES, 1)
        hint = f"Did you mean {near[0]}?" if near else f"Known types: {', '.join(TYPES)}."
        yield Remark(_line(file, "doc_type"), "warning", f"The type {kind[:60]!r} is not known. {hint}", "doc_type")


def status(file: File, context: CheckContext) -> Iterator[Remark]:
    """The status is one of ours, or a word that counts as one."""
    word = " ".join(str(file.fields.values.get("status", "")).split())[:60]
    known = counts_as(word)
    if word and not known and word not in ("~", "null"):
        sentence = (
            f"The status {word!r} is not known here, so the document counts as approved. Statuses: "
            f"{', '.join(STATUSES)}."
        )
        yield Remark(_line(file, "status"), "warning", sentence, "status")
    elif known and spelled(word) != known:
        yield Remark(_line(file, "status"), "note", f"The status {word!r} counts as {known}.", "status")


def keys(file: File, context: CheckContext) -> Iterator[Remark]:
    """An unknown key that resembles a known one is probably a typo."""
    for key in (name for name in file.document.meta.extra if name != SOURCE):
        near = difflib.get_close_matches(key.lower().replace("-", "_")[:40], KNOWN, 1, 0.75)
        if near and near[0] not in file.fields.values:
            yield Remark(_line(file, key), "warning", f"The key {key[:60]!r} is not known. Did you mean {near[0]}?")


def dates(file: File, context: CheckContext) -> Iterator[Remark]:
    """Dates that contradict each other or have passed."""
    meta = file.document.meta
    if meta.review_due and meta.effective_date and meta.review_due < meta.effective_date:
        yield Remark(
            _line(file, "review_due"), "warning", "The review is due before the document takes effect.", "review_due"
        )
    elif meta.review_due and context.today and meta.review_due < context.today:
        yield Remark(
            _line(file, "review_due"),
            "warning",
            f"The review was due on {meta.review_due}. Set a new date.",
            "review_due",
        )


def identity(file: File, context: CheckContext) -> Iterator[Remark]:
    """Ids are unique."""
    owner = context.ids.get(file.document.meta.id, file.path)
    if file.document.meta.id and owner != file.path:
        yield Remark(
            _line(file, "id"),
            "error",
            f"The id {file.document.meta.id!r} belongs to {owner}. Give this document its own, or replace that one.",
        )


def supersedes(file: File, context: CheckContext) -> Iterator[Remark]:
    """What it supersedes exists."""
    for name in file.document.meta.supersedes:
        if name not in context.ids and name not in context.anchors:
            yield Remark(
                _line(file, "supersedes"),
                "warning",
                f"It supersedes {name[:80]!r}, which is not known here.",
                "supersedes",
            )


def _line(file: File, key: str) -> int:
    return file.fields.lines.get(key, 1)
