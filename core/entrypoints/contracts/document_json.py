"""Documents as JSON: the contract of `documents --json`, the API and the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import Actor
from core.curation.document.links import backlinks, links
from core.curation.review.diffs import Diff, FieldChange, body_diff, field_changes
from core.errors import BadInput, NotFound
from core.services.knowledge.documents import Documents, Version
from core.services.knowledge.freshness import Attention
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.bootstrap import App


def below(documents: Sequence[Document], folder: str) -> list[Document]:
    """Those in a folder or deeper; all without one."""
    return [d for d in documents if d.path.startswith(folder.strip("/") + "/" if folder else "")]


def whole_json(document: Document) -> dict[str, Any]:
    """The contract of `documents show --json`."""
    return {**as_json(document), "text": document.text, "body": document.body}


def as_json(document: Document) -> dict[str, Any]:
    """One line of `documents list --json`."""
    meta = document.meta
    return {
        "doc": document.id,
        "path": document.path,
        "title": document.title,
        "doc_type": meta.doc_type,
        "status": meta.status,
        "imported": document.imported,
        "owner": meta.owner,
        "tags": list(meta.tags),
        "effective_date": str(meta.effective_date or "") or None,
        "review_due": str(meta.review_due or "") or None,
        "supersedes": list(meta.supersedes),
        "answers": list(meta.answers),
        "version": document.version,
        "blob": document.blob,
    }


def version_json(version: Version) -> dict[str, Any]:
    """One line of `documents history --json`."""
    commit = version.commit
    return {
        "version": version.number,
        "commit": commit.id,
        "when": commit.when,
        "author": commit.author.name,
        "message": commit.message,
        "path": commit.path,
        "blob": commit.blob,
    }


def day_of(text: str) -> date:
    """A day that somebody wrote.

    >>> day_of("2026-03-31")
    datetime.date(2026, 3, 31)
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is no day. Write it like 2026-03-31.") from None


def changed_json(documents: Documents, since: date) -> list[dict[str, Any]]:
    """The contract of `documents changed --json`: commits of the main line on a day and after it, newest first."""
    known = {document.path: document for document in documents.all()}
    steps = [step for step in documents.commits() if datetime.fromisoformat(step[0].when).date() >= since]
    return [
        {
            "commit": commit.id,
            "when": commit.when,
            "author": commit.author.name,
            "message": commit.message.partition("\n")[0],
            "documents": [_changed(edit, known) for edit in edits if edit.path.endswith(".md")],
        }
        for commit, edits in steps
    ]


def _changed(edit: Edit, known: Mapping[str, Document]) -> dict[str, str]:
    document = known.get(edit.path)
    named = {"doc": document.id, "title": document.title} if document else {"doc": "", "title": ""}
    return {"kind": edit.kind, "path": edit.path, **named}


def difference(documents: Documents, name: str, old: int, new: int) -> tuple[int, int, Sequence[FieldChange], Diff]:
    """Two versions of a document, what changed in its fields and in its body; by default the newest two."""
    versions = {version.number: version.commit for version in documents.history(name)}
    new = new or max(versions)
    old = old or max(1, new - 1)
    for number in (new, old):
        if number not in versions:
            raise NotFound(f"There is no version {number}. Versions: {', '.join(map(str, sorted(versions)))}.")
    before, after = (documents.at(versions[number]) for number in (old, new))
    return old, new, field_changes(before.meta, after.meta), body_diff(before, after)


def diff_json(old: int, new: int, fields: Sequence[FieldChange], body: Diff) -> dict[str, Any]:
    """The contract of `documents diff --json`."""
    value = {"old": old, "new": new, "fields": strict.plain(fields), "added": body.added, "removed": body.removed}
    return {**value, "rows": strict.plain(body.rows)}


def links_json(documents: Documents, name: str) -> dict[str, list[dict[str, Any]]]:
    """The contract of `documents links --json`."""
    document, every = documents.show(name), documents.all()
    known = {other.path for other in every}
    out = [{**strict.plain(link), "found": link.path in known} for link in links(document)]
    into = [{"path": path, "text": text} for path, text in backlinks(every).get(document.path, ())]
    return {"links": out, "linked_from": into}


def freshness_json(attention: Attention) -> dict[str, Any]:
    """The lists of the page, as `overview` and `freshness` print them."""
    return {
        "overdue": [
            {"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": -f.days} for d, f in attention.overdue
        ],
        "due_soon": [
            {"doc": d.id, "title": d.title, "owner": d.meta.owner, "days": f.days} for d, f in attention.due_soon
        ],
        "without_owner": [{"doc": d.id, "title": d.title} for d in attention.without_owner],
        "imported": [{"doc": d.id, "title": d.title} for d in attention.imported],
    }


def confirmed(app: App, actor: Actor, name: str, until: str) -> dict[str, Any]:
    """Confirm a document; the contract of `confirm --json`."""
    document = app.knowledge.documents.show(name)
    day = _date(until) if until else app.knowledge.freshness.next_review()
    commit = app.knowledge.freshness.confirm(actor, document.path, day)
    return {"document": document.id, "review_due": day.isoformat(), "commit": commit}


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"The next review is {text!r}; write the date as YYYY-MM-DD.") from None
