"""One edit of the frontmatter of many documents, as the files of one change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from core.access import Actor, require
from core.curation.document.frontmatter_edit import Value, with_fields
from core.curation.document.statuses import STATUSES
from core.errors import BadInput, ConcordError
from core.services.knowledge.documents import Documents
from core.services.reviews.authoring import Target, save
from core.services.reviews.changes import Change, Changes
from core.types import Document, Filters, Meta

MOST_NAMED = 50  # documents that a description names


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """What is set in every document. None and empty leave a field as it is; an empty owner takes the owner away."""

    owner: str | None = None
    status: str = ""
    review_due: date | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    doc_type: str = ""

    def values(self, meta: Meta) -> Mapping[str, Value]:
        """The fields of one document after the edit, those that stay left out.

        >>> BulkEdit(owner="Ann", add_tags=("b",), remove_tags=("a",)).values(Meta(tags=("a", "c")))
        {'owner': 'Ann', 'tags': ('c', 'b')}
        """
        tags = tuple(dict.fromkeys(tag for tag in (*meta.tags, *self.add_tags) if tag not in self.remove_tags))
        wanted: dict[str, Value] = {
            "owner": self.owner,
            "doc_type": self.doc_type,
            "status": self.status,
            "review_due": self.review_due,
        }
        kept = {name: value for name, value in wanted.items() if value or (name == "owner" and value is not None)}
        return kept | ({"tags": tags} if self.add_tags or self.remove_tags else {})


@dataclass(frozen=True, slots=True)
class BulkFiles:
    """The files of a bulk edit, the documents that need none, and those whose frontmatter a person must edit."""

    files: Mapping[str, bytes | None]
    unchanged: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def chosen(documents: Iterable[Document], filters: Filters) -> tuple[Document, ...]:
    """The documents that fit every filter; an owner "" stands for those without one.

    >>> [d.id for d in chosen([Document("a", "x/a.md", "", ""), Document("b", "y/b.md", "", "")], Filters(folders=("x",)))]
    ['a']
    """
    return tuple(document for document in documents if _fits(document, filters))


def _fits(document: Document, filters: Filters) -> bool:
    meta = document.meta
    below = [f"{folder.strip('/')}/" for folder in filters.folders]
    return (
        (not filters.types or meta.doc_type in filters.types)
        and (not filters.statuses or meta.status in filters.statuses)
        and (not filters.owners or meta.owner in filters.owners)
        and (not filters.tags or bool(set(meta.tags) & set(filters.tags)))
        and (not filters.docs or document.id in filters.docs or document.path in filters.docs)
        and (not below or document.path.startswith(tuple(below)))
    )


def bulk_files(documents: Iterable[Document], edit: BulkEdit) -> BulkFiles:
    """What the edit makes of each document; one that it cannot be written into does not hold up the others."""
    if edit == BulkEdit():
        raise BadInput("Say what to set: an owner, a type, tags, a review date or a status.")
    if edit.status and edit.status not in STATUSES:
        raise BadInput(f"There is no status {edit.status!r}. Statuses: {', '.join(STATUSES)}.")
    return _files((document, edit) for document in documents)


def owner_files(documents: Iterable[Document], owners: Mapping[str, str]) -> BulkFiles:
    """The same for owners by path, each document its own."""
    return _files(
        (document, BulkEdit(owner=owners[document.path])) for document in documents if document.path in owners
    )


def _files(edits: Iterable[tuple[Document, BulkEdit]]) -> BulkFiles:
    files: dict[str, bytes | None] = {}
    unchanged: list[str] = []
    refused: list[tuple[str, str]] = []
    for document, edit in edits:
        try:
            text = with_fields(document.text, edit.values(document.meta))
        except ConcordError as error:
            refused.append((document.path, str(error)))
            continue
        if text == document.text:
            unchanged.append(document.path)
        else:
            files[document.path] = text.encode()
    return BulkFiles(files, tuple(unchanged), tuple(refused))


def save_bulk(
    changes: Changes, documents: Documents, actor: Actor, names: Iterable[str], edit: BulkEdit, target: Target
) -> tuple[Change, BulkFiles]:
    """Edit documents, named by id or path, in one commit of one change."""
    wanted = set(names)
    return _saved(
        changes, documents, actor, target, lambda every: bulk_files([d for d in every if wanted & {d.id, d.path}], edit)
    )


def save_owners(
    changes: Changes, documents: Documents, actor: Actor, owners: Mapping[str, str], target: Target
) -> tuple[Change, BulkFiles]:
    """Give documents their owners, by path, in one commit of one change."""
    return _saved(changes, documents, actor, target, lambda every: owner_files(every, owners))


def _saved(
    changes: Changes,
    documents: Documents,
    actor: Actor,
    target: Target,
    make: Callable[[Iterable[Document]], BulkFiles],
) -> tuple[Change, BulkFiles]:
    require(actor, "propose a change")
    base = documents.repository.head()
    made = make(documents.all(base))
    if not made.files:
        left = f" {len(made.refused)} cannot be edited this way." if made.refused else ""
        raise BadInput(f"Nothing to save: no document would change.{left}")
    start = "" if target.change else base
    return save(changes, actor, replace(target, why=_why(target, made), base=start), made.files), made


def _why(target: Target, made: BulkFiles) -> str:
    """What reviewers should know: also which documents are missing."""
    names = ", ".join(path for path, _ in made.refused[:MOST_NAMED])
    more = f" and {len(made.refused) - MOST_NAMED} more" if len(made.refused) > MOST_NAMED else ""
    left = f"Left out, because their frontmatter must be edited by hand: {names}{more}." if made.refused else ""
    return "\n\n".join(part for part in (target.why, left) if part)
