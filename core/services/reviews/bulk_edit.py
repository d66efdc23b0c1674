"""One edit of many documents, their fields or their folder, as the files of one change."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from core.access import Actor, require
from core.curation.document.frontmatter import decode
from core.curation.document.frontmatter_edit import Value, with_fields
from core.curation.document.names import collision_key, safe_path
from core.curation.document.statuses import STATUSES
from core.errors import BadInput, ConcordError
from core.services.knowledge.documents import Documents
from core.services.reviews.authoring import Target, relocated, save
from core.services.reviews.changes import Change, Changes
from core.types import Document, Filters, Meta

MOST_NAMED = 50  # documents that a description names


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """What is set in every document. None and empty leave a field as it is; an empty owner takes the owner away.

    `folder` is where they move to, "" the top level; the folders below the one they share are kept unless `flat`.
    """

    owner: str | None = None
    status: str = ""
    review_due: date | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    doc_type: str = ""
    folder: str | None = None
    flat: bool = False

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
    """The files of a bulk edit, the documents that need none, those whose frontmatter a person must edit, and moves."""

    files: Mapping[str, bytes | None]
    unchanged: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    moves: Mapping[str, str] = field(default_factory=dict)

    @property
    def edited(self) -> tuple[str, ...]:
        """The documents that are other than before, where they are afterwards."""
        return tuple(path for path, raw in self.files.items() if raw is not None and path.endswith(".md"))


def chosen(documents: Iterable[Document], filters: Filters) -> tuple[Document, ...]:
    """The documents that fit every filter; an owner "" stands for those without one.

    >>> [
    ...     d.id
    ...     for d in chosen([Document("a", "x/a.md", "", ""), Document("b", "y/b.md", "", "")], Filters(folders=("x",)))
    ... ]
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
    if replace(edit, flat=False) == BulkEdit():
        raise BadInput("Say what to set: an owner, a type, tags, a review date, a status or a folder.")
    if edit.status and edit.status not in STATUSES:
        raise BadInput(f"There is no status {edit.status!r}. Statuses: {', '.join(STATUSES)}.")
    return _files((document, edit) for document in documents)


def planned(documents: Documents, wanted: Sequence[Document], edit: BulkEdit) -> BulkFiles:
    """The same with the documents in their new folder, and links and pictures following them."""
    made = bulk_files(wanted, edit)
    if edit.folder is None:
        return made
    left_out = {path for path, _ in made.refused}
    going = [document for document in wanted if document.path not in left_out]
    moves = destinations(going, edit)
    _check_free(documents, moves)
    files = dict(relocated(documents, moves))
    for document in going:
        place = moves.get(document.path, document.path)
        text = decode(files.get(place) or document.text.encode())
        if (edited := with_fields(text, edit.values(document.meta))) != document.text:
            files[place] = edited.encode()
    stay = tuple(document.path for document in going if document.path not in moves and document.path not in files)
    return BulkFiles(files, stay, made.refused, moves)


def destinations(documents: Iterable[Document], edit: BulkEdit) -> dict[str, str]:
    """From where to where documents move; those that are there already are left out.

    >>> some = [Document("a", "hr/leave/a.md", "", ""), Document("b", "hr/b.md", "", "")]
    >>> destinations(some, BulkEdit(folder="people"))
    {'hr/leave/a.md': 'people/leave/a.md', 'hr/b.md': 'people/b.md'}
    >>> destinations(some, BulkEdit(folder="hr", flat=True))
    {'hr/leave/a.md': 'hr/a.md'}
    """
    paths = [document.path for document in documents]
    shared = shared_folder(paths)
    folder = (edit.folder or "").strip("/ ")
    names = {path: posixpath.basename(path) if edit.flat else path[len(shared) :].lstrip("/") for path in paths}
    moves = {path: safe_path(posixpath.join(folder, name)) for path, name in names.items()}
    return {old: new for old, new in moves.items() if old != new}


def shared_folder(paths: Iterable[str]) -> str:
    """The deepest folder that holds all of them; "" for the top level.

    >>> shared_folder(["hr/leave/a.md", "hr/b.md"]), shared_folder(["hr/b.md", "it/c.md"])
    ('hr', '')
    """
    return posixpath.commonpath(folders) if (folders := [posixpath.dirname(path) for path in paths]) else ""


def _check_free(documents: Documents, moves: Mapping[str, str]) -> None:
    """Nothing is where a document goes, and no two go to one place."""
    every = documents.repository.entries(documents.repository.head())
    taken = {collision_key(entry.path): entry.path for entry in every if entry.path not in moves}
    for old, new in moves.items():
        if other := taken.get(collision_key(new)):
            keep = " Keep their folders, or" if other in moves else ""
            there = f"{other} and {old} would both become {new}" if keep else f"There already is a document at {other}"
            raise BadInput(f"{there}.{keep or ' Then'} move {old} by itself under another name.")
        taken[collision_key(new)] = old


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
        changes,
        documents,
        actor,
        target,
        lambda every: planned(documents, [d for d in every if wanted & {d.id, d.path}], edit),
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
