"""Who owns a document: the accounts that its `owner:` names; where it names none, the admins. And who could own
many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.access import ANYONE, PERSON, Actor, folded, use_case
from core.errors import BadInput
from core.services.people.accounts import Accounts
from core.services.people.directory import accounts_matching, owners
from core.spreadsheet import csv_records, unguarded
from core.types import Commit, Document, Edit, Person

TOO_MANY = 20  # documents of one commit: who moves or imports that many did not write them
NAMES = ("path", "document", "doc", "id", "file", "folder", "title")  # columns that say which document


@dataclass(frozen=True, slots=True)
class ProposedOwners:
    """Who would own which document, by path; names that nobody here answers to; and what no document fits."""

    owners: Mapping[str, str]
    unknown: Mapping[str, int]
    missing: tuple[str, ...] = ()

    @property
    def shares(self) -> dict[str, int]:
        """How many documents each would own, the most first."""
        return dict(Counter(self.owners.values()).most_common())

    def known(self) -> ProposedOwners:
        """Without the names that nobody answers to."""
        kept = {path: owner for path, owner in self.owners.items() if owner not in self.unknown}
        return ProposedOwners(kept, self.unknown, self.missing)


class Owners:
    """Finds the people behind documents."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    def of(self, documents: Iterable[Document]) -> set[str]:
        """The accounts that own any of these documents; the admins where nobody does."""
        return self.named(*(document.meta.owner for document in documents))

    def named(self, *texts: str) -> set[str]:
        """The accounts that any `owner:` names; the admins where none does."""
        accounts = self.accounts.all()
        people = {account.id for text in texts for account in owners(accounts, text)[0]}
        return people or {account.id for account in accounts if account.active and account.role == "admin"}

    @use_case(ANYONE)
    def unknown(self, document: Document) -> tuple[str, ...]:
        """Names in `owner:` that nobody in Concord has."""
        return owners(self.accounts.all(), document.meta.owner)[1]

    @use_case(ANYONE)
    def offered(self, actor: Actor, written: Iterable[str], *more: str) -> list[str]:
        """Whom a field for an owner offers: oneself, the other people by name, then what documents say besides.

        People who share a name are offered by their id.
        """
        spelled = self._spelled()
        mine = spelled.pop(actor.id, actor.name)
        names = [mine, *sorted(spelled.values(), key=str.casefold)]
        return list(dict.fromkeys([*names, *sorted({name for name in (*written, *more) if name}, key=str.casefold)]))

    @use_case(ANYONE)
    def by_folder(self, documents: Iterable[Document], folders: Mapping[str, str]) -> ProposedOwners:
        """Each folder's owner for the documents in it and below; the deepest folder that is named counts."""
        named = {folder.strip("/"): " ".join(owner.split()) for folder, owner in folders.items() if owner.strip()}
        found = {document.path: _nearest(document.path, named) for document in documents}
        used = {folder for folder, _ in found.values() if folder}
        return self._proposed({path: owner for path, (_, owner) in found.items() if owner}, sorted(set(named) - used))

    @use_case(ANYONE)
    def by_history(
        self, documents: Iterable[Document], steps: Iterable[tuple[Commit, tuple[Edit, ...]]]
    ) -> ProposedOwners:
        """For each document whoever wrote most of its commits; of equals, the last one. Programs and imports do not
        count.
        """
        writers, accounts, spelled = most_frequent(steps), self.accounts.all(), self._spelled()
        owners_of: dict[str, str] = {}
        for document in documents:
            if person := writers.get(document.path):
                people = accounts_matching(accounts, person.email) or accounts_matching(accounts, person.name)
                owners_of[document.path] = spelled.get(people[0].id, people[0].id) if people else person.name
        return self._proposed(owners_of)

    @use_case(ANYONE)
    def by_table(self, documents: Iterable[Document], text: str, column: str = "owner") -> ProposedOwners:
        """From a CSV: the column of owners, beside one of paths, ids, titles or folders."""
        everything = list(documents)
        paths = {name.casefold(): d.path for d in everything for name in (d.title, d.id, d.path)}
        rows = dict(_rows(text, column.strip().casefold()))
        below = self.by_folder(everything, {name: who for name, who in rows.items() if name.casefold() not in paths})
        direct = {paths[name.casefold()]: who for name, who in rows.items() if who and name.casefold() in paths}
        return self._proposed({**below.owners, **direct}, below.missing)

    def _spelled(self) -> dict[str, str]:
        """How each person is written as an owner: by name, or by id where several share it."""
        people = [account for account in self.accounts.all() if account.active and account.kind == PERSON]
        times = Counter(folded(account.name) for account in people)
        return {account.id: account.name if times[folded(account.name)] == 1 else account.id for account in people}

    def _proposed(self, owners_of: Mapping[str, str], missing: Iterable[str] = ()) -> ProposedOwners:
        accounts, times = self.accounts.all(), Counter(owners_of.values())
        unknown = {owner: count for owner, count in times.most_common() if owners(accounts, owner)[1]}
        return ProposedOwners(owners_of, unknown, tuple(missing))

    @use_case(ANYONE)
    def remark(self, owner: str) -> str:
        """What to know about an owner before it is written: that nobody answers to a name; "" where all is well."""
        if not (missing := owners(self.accounts.all(), owner)[1]):
            return ""
        return f"There is no account named {', '.join(missing)}. Reminders and questions about it go to the admins."


def most_frequent(steps: Iterable[tuple[Commit, tuple[Edit, ...]]]) -> dict[str, Person]:
    """Who wrote most of the commits of each file that is there now, through renames; commits come newest first.

    >>> ann, bob = Person("Ann", "a@x.org"), Person("Bob", "b@x.org")
    >>> step = lambda who, *edits: (Commit("", who, "", ""), edits)
    >>> edited = Edit("edited", "b.md")
    >>> most_frequent([step(bob, edited), step(ann, Edit("renamed", "b.md", "a.md")), step(ann, Edit("added", "a.md"))])
    {'b.md': Person(name='Ann', email='a@x.org')}
    """
    times: dict[str, Counter[str]] = defaultdict(Counter)
    people: dict[str, Person] = {}
    now: dict[str, str] = {}  # an old path to the newest
    for commit, edits in steps:
        author, counts = commit.author, len(edits) <= TOO_MANY and not commit.author.name.endswith("[bot]")
        for edit in edits:
            path = now.get(edit.path, edit.path)
            if edit.old_path:
                now.setdefault(edit.old_path, path)
            if counts and edit.kind != "deleted":
                people.setdefault(author.email, author)
                times[path][author.email] += 1
    return {path: people[counter.most_common(1)[0][0]] for path, counter in times.items()}


def _nearest(path: str, named: Mapping[str, str]) -> tuple[str, str]:
    """The deepest named folder above a path, and its owner."""
    parts = path.split("/")[:-1]
    above = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next(((folder, named[folder]) for folder in above if folder in named), ("", ""))


def _rows(text: str, column: str) -> Iterable[tuple[str, str]]:
    """What a CSV names, each with its owner."""
    records = [cells for _, cells in csv_records(text.removeprefix("\ufeff")) if cells]
    head = [cell.strip().casefold() for cell in records[0]] if records else []
    which = next((n for n, name in enumerate(head) if name in NAMES and name != column), -1)
    if column not in head or which < 0:
        raise BadInput(
            f"The first line of the file must name a column {column!r} and one of: {', '.join(NAMES)}. It has: "
            f"{', '.join(head) or 'nothing'}."
        )
    who = head.index(column)
    for cells in records[1:]:
        if len(cells) > max(which, who) and cells[which].strip():
            yield unguarded(cells[which]).strip(), " ".join(unguarded(cells[who]).split())
