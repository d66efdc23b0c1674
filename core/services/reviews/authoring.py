"""What an author does to one document, as the files of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.access import Actor
from core.curation.document.frontmatter import decode
from core.curation.document.frontmatter_edit import with_fields
from core.curation.document.links import picture_paths, rewrite_links
from core.curation.document.names import collision_key, safe_path
from core.curation.pictures import picture_files
from core.curation.review.conflicts import Hunk, hunks, solve
from core.errors import BadInput, Conflict, NotFound
from core.services.knowledge.documents import Documents
from core.services.reviews.changes import Change, ChangeBasis, Changes
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
    if not target.change:
        return changes.propose(actor, target.title, files, target.why, ChangeBasis(target.base))
    change = changes.show(actor, target.change)
    if target.base:
        files = {path: _joined(changes, change, target.base, path, raw) for path, raw in files.items()}
    else:
        _not_there_yet(change, files)
    return changes.edit(actor, change.id, files, target.why, expected=change.head)


def _joined(changes: Changes, change: Change, base: str, path: str, raw: bytes | None) -> bytes | None:
    """An edit together with what others did to the document in the change since; refused where both touch a line."""
    parts = _since(changes, change, base, path, raw)
    if any(part.conflict for part in parts):
        steps = changes.repository.log(change.head, since=base)
        names = sorted({step.author.name for step, edits in steps if path in {edit.path for edit in edits}})
        raise Conflict(
            f"{' and '.join(names)} edited the same lines of {path} in change #{change.id} since you opened it. "
            "Nothing was saved, and your text is kept.",
            (path,),
        )
    return solve(parts, ()).encode() if parts else raw


def _since(changes: Changes, change: Change, base: str, path: str, raw: bytes | None) -> tuple[Hunk, ...]:
    """Both edits of a document, hunk by hunk; nothing where only one side has any."""
    if base == change.head or raw is None or picture_files.is_picture(path):
        return ()
    before, theirs = (decode(changes.repository.read(commit, path)) for commit in (base, change.head))
    return hunks(before, decode(raw), theirs) if before != theirs else ()


def with_both(changes: Changes, actor: Actor, target: Target, path: str, raw: bytes) -> tuple[str, str]:
    """A text with what others wrote meanwhile, theirs above mine where both touch a line, and the commit it is based
    on.
    """
    change = changes.show(actor, target.change)
    parts = _since(changes, change, target.base, path, raw)
    choices = ["=" + "\n".join((*part.theirs, *part.mine)) for part in parts if part.conflict]
    return solve(parts, choices) if parts else decode(raw), change.head


def _not_there_yet(change: Change, files: Files) -> None:
    """An edit based on main would undo what the change already contains."""
    known = {path for edit in change.documents for path in (edit.path, edit.old_path) if path}
    for path in sorted(known & set(files)):
        raise BadInput(f"Change {change.id} already edits {path}. Open the change and edit its text there.")


def check_new_path(documents: Documents, path: str) -> str:
    """The path in its one spelling; refused if a document is there already."""
    name = safe_path(path)
    taken = {
        collision_key(entry.path): entry.path for entry in documents.repository.entries(documents.repository.head())
    }
    if collision_key(name) in taken:
        raise BadInput(f"There already is a document at {taken[collision_key(name)]}. Edit that one, or choose a name.")
    return name


def moved(documents: Documents, path: str, to: str, *, fix_links: bool = True) -> Files:
    """A document at another path, with what follows it."""
    if to == path:
        raise BadInput("The document already is at this path. Choose another one.")
    name = safe_path(to) if collision_key(to) == collision_key(path) else check_new_path(documents, to)
    return relocated(documents, {path: name}, fix_links=fix_links)


def relocated(documents: Documents, moves: Mapping[str, str], *, fix_links: bool = True) -> Files:
    """Documents at other paths with their own pictures and links adjusted, and with `fix_links` those of others to
    them.

    A picture that others show too stays where it is unless their links are fixed.
    """
    head = documents.repository.head()
    every = {**moves, **_pictures_of(documents, moves, fix_links)}
    files: dict[str, bytes | None] = dict.fromkeys(every)
    files |= {new: documents.repository.read(head, old) for old, new in every.items()}
    for document in documents.all(head):
        if document.path in moves:
            files[moves[document.path]] = rewrite_links(document, every).encode()
        elif fix_links and (text := rewrite_links(document, every)) != document.text:
            files[document.path] = text.encode()
    return files


def _pictures_of(documents: Documents, moves: Mapping[str, str], fix_links: bool) -> dict[str, str]:
    """The documents' own pictures, from where to where."""
    stored = [entry.path for entry in documents.repository.pictures(documents.repository.head())]
    own = {a: b for old, new in moves.items() for a, b in picture_files.moves(old, new, stored).items()}
    if own and not fix_links:
        others = (document for document in documents.all() if document.path not in moves)
        shared = {picture for document in others for picture in picture_paths(document)}
        own = {old: new for old, new in own.items() if old not in shared}
    return own


def with_status(documents: Documents, path: str, status: str) -> Files:
    text = decode(documents.repository.read(documents.repository.head(), path))
    return {path: with_fields(text, {"status": status}).encode()}


def deleted(documents: Documents, path: str) -> Files:
    """A document gone, with its own pictures that no other one shows; its history stays."""
    own = picture_files.moves(path, path, (e.path for e in documents.repository.pictures(documents.repository.head())))
    shown = {other for document in documents.all() if document.path != path for other in picture_paths(document)}
    return {path: None, **{picture: None for picture in own if picture not in shown}}


def brought_back(documents: Documents, name: str) -> Files:
    """A deleted document as it was, with the pictures that went with it."""
    gone = documents.deleted(name)
    if gone is None:
        raise NotFound(f"No document {name!r} was deleted.")
    document, before, head = gone.document, gone.commit.parents[0], documents.repository.head()
    there = {entry.path for entry in documents.repository.pictures(head)}
    shown = [e.path for e in documents.repository.pictures(before) if e.path in picture_paths(document)]
    files = {path: documents.repository.read(before, path) for path in shown if path not in there}
    return {check_new_path(documents, document.path): document.text.encode(), **files}


def restored(documents: Documents, path: str, commit: str, old_path: str) -> Files:
    """A document as an old version had it, at its current path, with the pictures that it showed and that are gone."""
    old, now = documents.repository.read(commit, old_path), documents.repository.read(documents.repository.head(), path)
    if old == now:
        raise BadInput("This version is the same as what is approved today.")
    stored = documents.repository.pictures(commit)
    own = picture_files.moves(old_path, path, (entry.path for entry in stored)) if old_path != path else {}
    document = Document("", old_path, "", decode(old))
    text = rewrite_links(document, {old_path: path, **own}).encode() if old_path != path else old
    there = {entry.path: entry.blob for entry in documents.repository.pictures(documents.repository.head())}
    wanted = {own.get(entry.path, entry.path): entry for entry in stored if entry.path in picture_paths(document)}
    files = {name: documents.repository.read(commit, entry.path) for name, entry in wanted.items() if name not in there}
    return {path: text, **files}


def my_open(changes: Changes, actor: Actor) -> Sequence[Change]:
    """Changes that this person can continue."""
    return changes.listed(actor, state="open", author=actor.id)


def touching(changes: Changes, actor: Actor, path: str) -> tuple[Change, ...]:
    """Open changes that edit a document."""
    return tuple(
        change
        for change in changes.listed(actor, state="open")
        if any(path in (edit.path, edit.old_path) for edit in change.documents)
    )
