"""Who may read which documents: `readers` in the file of the review rules, and `readers:` of a document itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from core.access import ROLES, SYSTEM, Actor, folded, plain_address
from core.curation.checks.findings import Finding
from core.curation.pictures.picture_files import as_document
from core.errors import BadInput
from core.types import Document, Edit, Frozen

FILE = "review-rules.yaml"
EVERYONE = "everyone"
ROLE, GROUP = "role:", "group:"
MOST_FOLDERS, MOST_NAMES = 2_000, 500


@dataclass(frozen=True, slots=True)
class Readers:
    """Folders with their readers. The nearest folder above a document decides, and what the document says itself
    before it.
    """

    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    admins: bool = True  # whether admins read all of it, by their role
    named: bool = False  # whether the file speaks of readers at all

    def of(self, path: str, own: Collection[str] | None = None) -> Collection[str] | None:
        """Who may read a path; None for everybody.

        >>> people = Readers({"people/": ("group:hr",), "people/handbook/": ("everyone",)})
        >>> people.of("people/pay.md"), people.of("people/handbook/leave.md"), people.of("it/vpn.md")
        (('group:hr',), ('everyone',), None)
        """
        if own is not None:
            return own
        folder = path
        while "/" in folder:
            folder = folder.rpartition("/")[0]
            if (names := self.folders.get(f"{folder}/")) is not None:
                return names
        return self.folders.get("/")


OPEN = Readers()
CLOSED = Readers(Frozen({"/": ()}), named=True)  # where the policy cannot be read


def is_reader(actor: Actor, names: Collection[str] | None) -> bool:
    """Whether somebody is among the readers: by name, group or role, where a role is also those above it.

    >>> ann = Actor("ann", "Ann Lee", "ann@example.org", "author", groups=("hr",))
    >>> [
    ...     is_reader(ann, (name,))
    ...     for name in ("ann", "ANN@example.org", "group:hr", "role:author", "role:admin", "everyone")
    ... ]
    [True, True, True, True, False, True]
    """
    if names is None or EVERYONE in names:
        return True
    own = {folded(actor.id), plain_address(actor.email)} - {""}
    return any(_names(actor, own, name) for name in names)


def _names(actor: Actor, own: set[str], name: str) -> bool:
    if name.startswith(ROLE):
        lowest = name.removeprefix(ROLE)
        return actor.role in ROLES and lowest in ROLES and ROLES.index(actor.role) >= ROLES.index(lowest)
    if name.startswith(GROUP):
        return folded(name.removeprefix(GROUP)) in {folded(group) for group in actor.groups}
    return folded(name) in own or plain_address(name) in own


def by_role(actor: Actor, readers: Readers) -> bool:
    """Whether the role alone lets somebody read everything."""
    return (actor.id, actor.door) == (SYSTEM.id, SYSTEM.door) or (actor.role == "admin" and readers.admins)


def said_by(document: Document) -> tuple[str, ...] | None:
    """What a document says of its own readers; None where it says nothing.

    >>> from core.types import Meta
    >>> said_by(Document("a", "a.md", "A", "", meta=Meta(extra={"readers": "ann"})))
    ('ann',)
    """
    said = document.meta.extra.get("readers")
    if said is None:
        return None
    return tuple(map(str, said)) if isinstance(said, (list, tuple)) else (str(said),)


@dataclass(frozen=True)
class Readable:
    """What one account may read, by the policy of a commit of main."""

    actor: Actor
    readers: Readers
    own: Mapping[str, tuple[str, ...]]  # what documents of main say themselves, by path
    hidden: frozenset[str]  # paths of main's documents that the account may not read
    hidden_ids: frozenset[str]
    titles: frozenset[str]  # of the same
    key: str  # equal for those who may read the same
    later: Mapping[str, str] = field(default_factory=dict)  # where documents that are gone from a path went

    def path(self, path: str, said: tuple[str, ...] | None = None) -> bool:
        """Whether a file may be read: `said` is what its text says of readers, where it is not the one on main."""
        if path == FILE:  # it names folders and people
            return self.actor.role == "admin"
        document = as_document(path)
        if (now := self.later.get(document)) and not self.path(now):
            return False
        return _may(self.actor, self.readers, document, self.own.get(document)) and (
            said is None or _may(self.actor, self.readers, document, said)
        )

    def paths(self, paths: Iterable[str]) -> bool:
        """Whether all of some files may be read."""
        return all(map(self.path, paths))

    def beside_hidden(self, paths: Iterable[str]) -> Callable[[str], bool]:
        """Whether a path begins a folder in a place where a hidden folder could have the same name. Admins know all
        names.
        """
        names = [] if self.actor.role == ROLES[-1] else [name for name in self.readers.folders if not self.path(name)]
        known = {folder for path in filter(self.path, paths if names else ()) for folder in _above(path)}
        known |= {folder for name in self.readers.folders if self.path(name) for folder in _above(name)}
        places = {_place_of_new(name, known) for name in names} - {None}
        return lambda path: _place_of_new(path, known) in places

    def findings(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Findings without hidden paths, and without those on links into hidden documents: they tell of headings."""
        said = ((each, self.redacted(each.message)) for each in findings)
        return tuple(
            replace(each, message=message) for each, message in said if each.rule != "links" or message == each.message
        )

    def edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Those of files that may be read, before and after."""
        return tuple(edit for edit in edits if self.paths(filter(None, (edit.path, edit.old_path))))

    def document(self, identity: str, path: str) -> bool:
        """Whether a document may be read, also where it was on another day: what is hidden now was never shown."""
        return path not in self.hidden and identity not in self.hidden_ids and self.path(path)

    def names(self, text: str) -> bool:
        """Whether a text names a document that may not be read, by title or path: also one that is gone from a
        folder.
        """
        if any(name in text for name in (*self.hidden, *self.titles)):
            return True
        folders = tuple(self.readers.folders)
        return any(word.startswith(folders) and not self.path(word) for word in text.split())

    def redacted(self, text: str) -> str:
        """A sentence without the paths that may not be read."""
        for path in self.hidden:
            text = text.replace(path, "another document") if path in text else text
        return text

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Readable) and self.key == other.key


@dataclass(frozen=True, slots=True)
class Shared:
    """What all readers of some documents may read: what is open to everybody, and what has the same readers."""

    commits: tuple[str, str]  # of the policy and of the documents
    names: frozenset[frozenset[str]]  # the readers of these documents, where they are not everybody
    readers: Readers = field(compare=False)
    own: Mapping[str, tuple[str, ...]] = field(compare=False)

    def document(self, identity: str, path: str) -> bool:
        """Whether all of them may read a document."""
        names = self.readers.of(path, self.own.get(path))
        return names is None or EVERYONE in names or frozenset(names) in self.names


def _above(path: str) -> list[str]:
    """The folders above a path, the nearest to the top first.

    >>> _above("hr/pay/a.md"), _above("hr/")
    (['hr/', 'hr/pay/'], ['hr/'])
    """
    return [path[: at + 1] for at, letter in enumerate(path) if letter == "/"]


def _place_of_new(path: str, known: Collection[str]) -> str | None:
    """The known folder in which a path begins a new one; None where it begins none.

    >>> _place_of_new("hr/pay/a.md", {"hr/"}), _place_of_new("hr/a.md", {"hr/"}), _place_of_new("it/a.md", {"hr/"})
    ('hr/', None, '')
    """
    return next((above for above, folder in pairwise(["", *_above(path)]) if folder not in known), None)


def _may(actor: Actor, readers: Readers, path: str, own: tuple[str, ...] | None) -> bool:
    inside = not actor.folders or any(path.startswith(f"{folder.strip('/')}/") for folder in actor.folders)
    names = readers.of(path, own) if readers.named else None
    return inside and (by_role(actor, readers) or is_reader(actor, names))


def readable(actor: Actor, readers: Readers, documents: Iterable[Document]) -> Readable:
    """What somebody may read of main."""
    known = list(documents)
    own = {document.path: said for document in known if (said := said_by(document)) is not None}
    hidden = [document for document in known if not _may(actor, readers, document.path, own.get(document.path))]
    return Readable(
        actor,
        readers,
        own,
        frozenset(document.path for document in hidden),
        frozenset(document.id for document in hidden),
        frozenset(document.title for document in hidden),
        "",
    )


@dataclass(frozen=True, slots=True)
class Audience:
    """Readers before and after a change: how many documents are hidden from and shown to how many accounts."""

    hidden: int = 0
    hidden_from: int = 0
    shown: int = 0
    shown_to: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """In words.

        >>> Audience(42, 12).sentences
        ('42 documents will be hidden from 12 people.',)
        """
        sides = ((self.hidden, "hidden from", self.hidden_from), (self.shown, "shown to", self.shown_to))
        return tuple(
            f"{documents:,} document{'s' * (documents != 1)} will be {verb} {people:,} "
            f"{'people' if people != 1 else 'person'}."
            for documents, verb, people in sides
            if documents
        )


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """A document of main under a policy: where it lies, and what it says of its readers."""

    readers: Readers
    path: str
    own: tuple[str, ...] | None

    def open_to(self, actor: Actor) -> bool:
        return not self.readers.named or _may(actor, self.readers, self.path, self.own)


def effect(places: Iterable[tuple[PolicyDocument, PolicyDocument]], accounts: Iterable[Actor]) -> Audience:
    """What a change does to who may read what."""
    people, documents = {"hidden": set[str](), "shown": set[str]()}, {"hidden": set[str](), "shown": set[str]()}
    pairs = [pair for pair in places if pair[0] != pair[1]]
    for actor in accounts:
        for before, after in pairs:
            was, will = before.open_to(actor), after.open_to(actor)
            if was != will:
                way = "hidden" if was else "shown"
                people[way].add(actor.id)
                documents[way].add(before.path)
    return Audience(len(documents["hidden"]), len(people["hidden"]), len(documents["shown"]), len(people["shown"]))


def parse(value: object, admins: object, where: str) -> Readers:
    """The policy from what its file says.

    >>> parse({"people": ["group:hr", "role:reviewer"]}, None, "rules.yaml").folders
    {'people/': ('group:hr', 'role:reviewer')}
    """
    if not isinstance(value, dict) or len(value) > MOST_FOLDERS:
        raise BadInput(f"{where}: `readers` must name folders, at most {MOST_FOLDERS:,}, each with a list of readers.")
    if admins not in (None, True, False):
        raise BadInput(f"{where}: `admins_read` must be true or false.")
    folders = {f"{str(folder).strip('/')}/": listed(names, f"{where}, {folder}") for folder, names in value.items()}
    return Readers(Frozen(folders), admins is not False, named=True)


def listed(names: object, where: str) -> tuple[str, ...]:
    """A list of readers, checked."""
    given: list[Any] = names if isinstance(names, list) else [names]
    if not all(isinstance(name, str) and name.strip() for name in given) or len(given) > MOST_NAMES:
        raise BadInput(f"{where}: readers are a list of accounts, `{GROUP}NAME`, `{ROLE}NAME` or `{EVERYONE}`.")
    for name in given:
        if name.startswith(ROLE) and name.removeprefix(ROLE) not in ROLES:
            raise BadInput(f"{where}: there is no role {name.removeprefix(ROLE)!r}. Roles: {', '.join(ROLES)}.")
    return tuple(name.strip() for name in given)
