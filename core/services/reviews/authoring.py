"""What an author does to one document, as the files of a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.access import Actor
from core.curation import pictures
from core.curation.frontmatter import decode
from core.curation.links import picture_paths, rewrite_links
from core.curation.names import collision_key, safe_path
from core.curation.writing import with_fields
from core.errors import BadInput
from core.services.knowledge.documents import Documents
from core.services.reviews.changes import Change, Changes
from core.types import Document

Files = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Target:
    """Where an edit goes: an open change by number, or a new one with a title. `base` is the edited commit."""

    change: int = 0
    title: str = ""
    why: str = ""
    base: str = ""


def save(changes: Changes, actor: Actor, target: Target, files: Files) -> Change:
    """Create or continue a change. Others' edits since the text was opened are kept, or become conflicts."""
    if target.change:
        if not target.base:
            _not_there_yet(changes.show(actor, target.change), files)
        return changes.edit(actor, target.change, files, target.why, expected=target.base or None)
    return changes.propose(actor, target.title, files, target.why, start=target.base)


def _not_there_yet(change: Change, files: Files) -> None:
    """An edit based on main would undo what the change already contains."""
    known = {path for edit in change.documents for path in (edit.path, edit.old_path) if path}
    for path in sorted(known & set(files)):
        raise BadInput(f"Change {change.id} already edits {path}. Open the change and edit its text there.")


def check_new_path(documents: Documents, path: str) -> str:
    """The path in its one spelling; refused if a document is there already."""
    name = safe_path(path)
    taken = {collision_key(entry.path): entry.path for entry in documents.store.entries(documents.store.head())}
    if collision_key(name) in taken:
        raise BadInput(f"There already is a document at {taken[collision_key(name)]}. Edit that one, or choose a name.")
    return name


def moved(documents: Documents, path: str, to: str, *, fix_links: bool = True) -> Files:
    """A document at another path with its own pictures and links adjusted, and with `fix_links` those of others to it.

    A picture that others show too stays where it is unless their links are fixed.
    """
    if to == path:
        raise BadInput("The document already is at this path. Choose another one.")
    name = safe_path(to) if collision_key(to) == collision_key(path) else check_new_path(documents, to)
    head = documents.store.head()
    files: dict[str, bytes | None] = {path: None, name: documents.store.read(head, path)}
    every = _moves(documents, path, name, fix_links)
    for document in documents.all():
        if document.path == path:
            files[name] = rewrite_links(document, every).encode()
        elif fix_links and (text := rewrite_links(document, every)) != document.text:
            files[document.path] = text.encode()
    for old, new in every.items():
        if old != path:
            files |= {old: None, new: documents.store.read(head, old)}
    return files


def _moves(documents: Documents, path: str, name: str, fix_links: bool) -> dict[str, str]:
    """The document and its own pictures, from where to where."""
    own = pictures.moves(path, name, (entry.path for entry in documents.store.pictures(documents.store.head())))
    if own and not fix_links:
        shared = {other for document in documents.all() if document.path != path for other in picture_paths(document)}
        own = {old: new for old, new in own.items() if old not in shared}
    return {path: name, **own}


def with_status(documents: Documents, path: str, status: str) -> Files:
    text = decode(documents.store.read(documents.store.head(), path))
    return {path: with_fields(text, {"status": status}).encode()}


def restored(documents: Documents, path: str, commit: str, old_path: str) -> Files:
    """A document as an old version had it, at its current path, with the pictures that it showed and that are gone."""
    old, now = documents.store.read(commit, old_path), documents.store.read(documents.store.head(), path)
    if old == now:
        raise BadInput("This version is the same as what is approved today.")
    stored = documents.store.pictures(commit)
    own = pictures.moves(old_path, path, (entry.path for entry in stored)) if old_path != path else {}
    document = Document("", old_path, "", decode(old))
    text = rewrite_links(document, {old_path: path, **own}).encode() if old_path != path else old
    there = {entry.path: entry.blob for entry in documents.store.pictures(documents.store.head())}
    wanted = {own.get(entry.path, entry.path): entry for entry in stored if entry.path in picture_paths(document)}
    files = {name: documents.store.read(commit, entry.path) for name, entry in wanted.items() if name not in there}
    return {path: text, **files}


def my_open(changes: Changes, actor: Actor) -> tuple[Change, ...]:
    """Changes that this person can continue."""
    return changes.listed(actor, state="open", author=actor.id)


def touching(changes: Changes, actor: Actor, path: str) -> tuple[Change, ...]:
    """Open changes that edit a document."""
    return tuple(
        change
        for change in changes.listed(actor, state="open")
        if any(path in (edit.path, edit.old_path) for edit in change.documents)
    )
