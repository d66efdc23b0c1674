"""What an account may read, by the policy on main: one place decides, and documents, index and changes ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import ROLES, SYSTEM, Actor, reader, reader_is_lazy, reading_as
from core.curation.document.frontmatter import decode, read_document
from core.curation.review import policy, readers
from core.curation.review.readers import CLOSED, OPEN, PolicyDocument, Readable, Readers, Shared
from core.errors import ConcordError, NotFound
from core.retrieval.reader_index import seen_by
from core.types import Document, Edit

if TYPE_CHECKING:
    from core.ports import Index
    from core.storage.git.repository import Repository
    from core.storage.state.database import State
    from core.storage.state.records import AccountRow, ChangeRow, Gap, SessionOfAccount, TokenOfAccount

PUBLIC = Actor("", "Webhook", "", "")  # outside: no list of readers can name it
LISTS = ("question", "freshness", "answers")  # messages about several documents


class Readership:
    """Who may read what; asked anew at every use, cached by commit of main and by account."""

    def __init__(self, repository: Repository, documents: Callable[[str], Iterable[Document]]) -> None:
        """`documents` gives all of a commit."""
        self.repository, self._documents = repository, documents
        self.opened_by_role: list[Callable[[Actor, Document], object]] = []
        self._noted: set[tuple[str, str, str]] = set()  # once for each version
        self._policy = lru_cache(maxsize=8)(self._read)
        self._files = lru_cache(maxsize=4096)(self._read_files)
        self._start = lru_cache(maxsize=4096)(self._parent)
        self._own = lru_cache(maxsize=8)(self._read_own)
        self._denied = lru_cache(maxsize=64)(self._deny)
        self._moves = lru_cache(maxsize=2)(self._read_moves)
        self._readable = lru_cache(maxsize=1024)(self._look)

    def now(self) -> Readable | None:
        """What whoever reads now may read; None for everything."""
        if reader_is_lazy() and not self.policy().named:
            return None
        actor = reader()
        return None if actor is SYSTEM else self.of(actor)

    def audience(self) -> str:
        """Equal for those who may read the same, and "" for everything."""
        seen = self.now()
        return seen.key if seen else ""

    def of(self, actor: Actor) -> Readable | None:
        """What an account may read; None for everything."""
        head = self.repository.head()
        policy = self._policy(head)
        if not actor.folders and (not policy.named or readers.by_role(actor, policy)):
            return None
        return self._readable(head, replace(actor, door="", scope="", token="", request="", name=""))

    def may_read(self, actor: Actor, path: str) -> bool:
        """Whether an account may read the file at a path of main."""
        seen = self.of(actor)
        return seen is None or seen.path(path)

    def sees_change(self, row: ChangeRow, seen: Readable | None) -> bool:
        """Whether every file of a change may be read, as it was and as it would be."""
        return seen is None or all(seen.path(path, said) for path, said in self._files(*self.span(row)))

    def sees_commit(self, commit: str, seen: Readable) -> bool:
        """Whether every file of a commit may be read, before and after it; none of a commit that is gone."""
        with suppress(NotFound):
            start = self._start(commit)
            return all(seen.path(path, said) for path, said in self._files(start, commit))
        return False

    def _parent(self, commit: str) -> str:
        return (*self.repository.log(commit, limit=1)[0][0].parents, "")[0]

    def span(self, row: ChangeRow) -> tuple[str, str]:
        """The commits between which a change lies."""
        head = row.head or self.repository.newest(f"change/{row.id}") or row.start
        return self.repository.merge_base(row.start if row.merged else self.repository.head(), head), head

    def _read_files(self, start: str, head: str) -> tuple[tuple[str, tuple[str, ...] | None], ...]:
        """Each file between two commits, before and after, with what its text says of its readers."""
        files = []
        for edit in self.repository.changed(start, head):
            files += [(start, edit.old_path or edit.path)] if edit.kind != "added" else []
            files += [(head, edit.path)] if edit.kind != "deleted" else []
        return tuple((path, self._said(commit, path)) for commit, path in files)

    def _said(self, commit: str, path: str) -> tuple[str, ...] | None:
        if path.endswith(".md"):
            with suppress(ConcordError):
                return readers.said_by(read_document(path, decode(self.repository.read(commit, path))))
        return None

    def effect(
        self, head: str, edits: Sequence[Edit], accounts: Iterable[Actor], policy: Readers | None = None
    ) -> tuple[str, ...]:
        """What the edits of a change, or another policy, do to who may read what, in sentences."""
        before = self.policy()
        after = policy or (self._policy(head) if any(edit.path == readers.FILE for edit in edits) else before)
        if not before.named and not after.named:
            return ()
        said = {edit.path: self._said(head, edit.path) for edit in edits if edit.kind != "deleted"}
        moved = {edit.old_path: edit.path for edit in edits if edit.kind == "renamed"}
        gone = {edit.path for edit in edits if edit.kind == "deleted"}
        with reading_as(SYSTEM):
            documents = [each for each in self._documents(self.repository.head()) if each.path not in gone]
        places = []
        for document in documents:
            own, path = readers.said_by(document), moved.get(document.path, document.path)
            places.append(
                (PolicyDocument(before, document.path, own), PolicyDocument(after, path, said.get(path, own)))
            )
        stays = tuple(
            f"Earlier versions of {path} stay with the readers of {old.rpartition('/')[0] or 'the top level'}."
            for old, path in moved.items()
            if before.of(old) != after.of(path) and before.of(old) is not None
        )
        return (*readers.effect(places, accounts).sentences, *stays)

    def note(self, document: Document) -> None:
        """Tell whoever listens that an account opens a document which its role alone lets it read."""
        actor, policy = reader(), self.policy() if not reader_is_lazy() else OPEN
        if not policy.named or actor is SYSTEM or not readers.by_role(actor, policy):
            return
        names = policy.of(document.path, readers.said_by(document))
        key = (actor.id, document.path, document.blob)
        if not readers.is_reader(actor, names) and key not in self._noted:
            self._noted.add(key)
            for listener in self.opened_by_role:
                listener(actor, document)

    def sees_gap(self, gap: Gap, seen: Readable | None) -> bool:
        """Whether the document nearest to a question may be read. An account also sees what it reported."""
        if seen is None or seen.path(gap.near):
            return True
        return bool(gap.account) and gap.account == seen.actor.id and not seen.actor.folders

    def may_be_told(self, state: State, actor: Actor, content: Mapping[str, Any]) -> bool:
        """Whether an account may read what a message is about.

        That is a change by number, a document or folder by path, documents named by title in its text, and all `names`.
        """
        about, ref, text = (str(content.get(name, "")) for name in ("about", "ref", "text"))
        seen = self.of(actor)
        if seen is None or not seen.paths(content.get("names", ())):
            return seen is None
        if about in LISTS:
            return not seen.names(text)
        if about not in ("change", "document", "folder"):
            return True
        if about == "change":
            row = state.changes.get(int(ref)) if ref.isdecimal() else None
            return row is not None and self.sees_change(row, seen)
        return seen.path(ref if about == "document" else f"{ref}/")

    def policy(self) -> Readers:
        """The policy in force."""
        return self._policy(self.repository.head())

    def view(self, index: Index) -> Index:
        """An open generation as whoever reads now may see it."""
        return seen_by(index, self.now())

    def view_aside(self, index: Index) -> Index:
        """The same of a change or an earlier day: what its documents say about their readers counts, too."""
        seen = self.now()
        if seen is None:
            return index
        denied = self._denied(index.generation.commit, seen)
        key = strict.digest([seen.key, sorted(denied)])
        return seen_by(index, replace(seen, hidden=seen.hidden | denied, key=key) if denied else seen)

    def shared(self, index: Index, paths: Iterable[str]) -> Shared | None:
        """What all readers of some documents may read, or all people without paths; None for everything."""
        head, commit = self.repository.head(), index.generation.commit
        policy = self._policy(head)
        if not policy.named:
            return None
        own = self._own(commit)
        names = (policy.of(path, own.get(path)) for path in paths)
        return Shared((head, commit), frozenset(frozenset(each) for each in names if each is not None), policy, own)

    def _deny(self, commit: str, seen: Readable) -> frozenset[str]:
        """Documents of a commit that say themselves that somebody may not read them."""
        return frozenset(path for path, own in self._own(commit).items() if not seen.path(path, own))

    def _read_own(self, commit: str) -> dict[str, tuple[str, ...]]:
        """What the documents of a commit say of their readers, by path."""
        with reading_as(SYSTEM):
            said = ((document.path, readers.said_by(document)) for document in self._documents(commit))
            return {path: own for path, own in said if own is not None}

    def _read(self, head: str) -> Readers:
        try:
            return policy.read_all(self.repository.read(head, policy.FILE))[1] if head else OPEN
        except NotFound:
            return OPEN
        except ConcordError:  # it came with a repository of somewhere else: nobody reads by accident
            return CLOSED

    def _look(self, head: str, actor: Actor) -> Readable:
        with reading_as(SYSTEM):
            documents = tuple(self._documents(head))
        policy = self._policy(head)
        found = readers.readable(actor, policy, documents)
        decided = [readers.is_reader(actor, names) for names in policy.folders.values()]
        folders = [*policy.folders, readers.by_role(actor, policy), decided, sorted(actor.folders)]
        key = strict.digest([folders, sorted(found.hidden), sorted(found.own.items())])
        return replace(found, key=key, later=self._moves(head))

    def _read_moves(self, head: str) -> dict[str, str]:
        """Where the documents went that were renamed and whose old path is free: what is hidden there was here."""
        moves: dict[str, str] = {}
        for _, edits in reversed(self.repository.log(head)):
            for edit in edits:
                moves.pop(edit.path, None)
                if edit.kind == "renamed":
                    moves[edit.old_path] = edit.path
        return moves


def actor_of(row: AccountRow) -> Actor:
    """The account of a row, as it reads."""
    return Actor(row.id, row.name, row.email, row.role, kind=row.kind, groups=groups_of(row))


def named_reader(state: State, name: str) -> Actor:
    """A reader as lists name them: an account as it is now, a role, a member of a group; anybody else is outside."""
    if name.startswith(readers.ROLE):
        return replace(PUBLIC, role=name.removeprefix(readers.ROLE))
    if name.startswith(readers.GROUP):
        return replace(PUBLIC, role=ROLES[0], groups=(name.removeprefix(readers.GROUP),))
    row = state.accounts.get(name) or state.accounts.by_email(name)
    return actor_of(row) if row and row.active else PUBLIC


def groups_of(row: AccountRow | SessionOfAccount | TokenOfAccount) -> tuple[str, ...]:
    """The groups that an account is in: those given here, and those that the provider named."""
    return tuple(dict.fromkeys((*row.member_of.splitlines(), *row.provider_groups.splitlines())))
