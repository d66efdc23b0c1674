"""Disagreements: of a text, of a change, and over the whole knowledge base; a person's word that both are right, a
model's second opinion. The claims of every document in force are read once per text and kept as an index that follows
the main line."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from core import strict
from core.access import READS, Actor, use_case
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.statuses import freshness
from core.cures import DISAGREEMENTS
from core.disagreements.claims import Claim, claims
from core.disagreements.lookup import ClaimIndex, Match
from core.errors import BadInput, ConcordError, NotFound
from core.llm.prompt import RULE, cut, quoted
from core.ports import Clock, Llm, Texts
from core.services.knowledge.documents import Documents
from core.services.people.audit import Audit
from core.services.reviews.changes import Change, Changes
from core.storage.cache.readings import KeptReadings
from core.storage.state.records import Settlement
from core.types import Document, LlmRequest

if TYPE_CHECKING:
    from core.storage.git.repository import Repository
    from core.storage.state.database import Database


RULES = ("disagreements/*.py", "chunking/*.py", "curation/**/*.py", "analysis.py")  # that read a claim
Pair = tuple[str, Claim, Match]  # the path of the first claim, and what disagrees with it


class ClaimBase:
    """What the documents in force say. Only documents that changed are read again."""

    def __init__(self, documents: Documents, clock: Clock, caches: Path) -> None:
        self.documents, self.clock = documents, clock
        self.kept = KeptReadings[tuple[Claim, ...]](caches, "claims", tuple[Claim, ...], RULES)
        self.index = ClaimIndex()
        self.read = lru_cache(maxsize=4096)(self._read)
        self._answers = lru_cache(maxsize=64)(self._answer)  # an editor asks again and again
        self._state: tuple[str, str] = ("", "")
        self._texts: dict[str, tuple[str, str]] = {}  # blob and title by path
        self._pairs: dict[tuple[str, str], tuple[Pair, ...]] = {}
        self._stale: set[str] = set()
        self._lock = threading.RLock()

    def in_force(self, document: Document) -> bool:
        """Approved, and its first day has come."""
        dates = (document.meta.effective_date, document.meta.review_due)
        return document.meta.status == "approved" and freshness(*dates, self.clock.today()).state != "upcoming"

    def claims(self, document: Document) -> tuple[Claim, ...]:
        return self.read(document.text, document.title, document.body)

    def _read(self, text: str, title: str, body: int) -> tuple[Claim, ...]:
        return claims(Document("", "", title, text, body))

    def against(self, said: Iterable[Claim], without: frozenset[str]) -> tuple[tuple[Claim, Match], ...]:
        """What documents in force say otherwise, except those on the paths `without`."""
        if not (said := tuple(said)):
            return ()
        with self._lock:
            self._follow()
            found = self._answers(self._state, said, without)
        seen = self.documents.readership.now()
        return found if seen is None else tuple(pair for pair in found if seen.path(pair[1].path))

    def _answer(
        self, state: tuple[str, str], said: tuple[Claim, ...], without: frozenset[str]
    ) -> tuple[tuple[Claim, Match], ...]:
        return tuple(self.index.against(said, without))

    def pairs(self) -> tuple[Pair, ...]:
        """Every disagreement between two documents in force, by path and line."""
        with self._lock:
            self._follow()
            self._compare_changed()
            seen = self.documents.readership.now()
            every = (pair for pairs in self._pairs.values() for pair in pairs)
            every = (pair for pair in every if seen is None or seen.paths((pair[0], pair[2].path)))
            return tuple(sorted(every, key=lambda pair: (pair[0], pair[1].line, pair[2].path, pair[2].claim.line)))

    def _follow(self) -> None:
        """Bring the index to the newest commit and to today."""
        now = (self.documents.repository.head(), self.clock.today().isoformat())
        if now == self._state:
            return
        live = {document.path: document for document in self.documents.whole() if self.in_force(document)}
        texts = {path: (document.text, document.title) for path, document in live.items()}
        for path in self._texts.keys() - texts.keys():
            self.index.remove(path)
            self._stale.add(path)
        changed = [live[path] for path in sorted(texts) if self._texts.get(path) != texts[path]]
        for path, said in self._said(changed).items():
            self.index.put(path, said)
            self._stale.add(path)
        self._texts, self._state = texts, now

    def _said(self, documents: Sequence[Document]) -> dict[str, tuple[Claim, ...]]:
        """The claims of each document by path. To read 249 takes 8 CPU seconds, so they are kept on disk."""
        known = self.kept.get((document.path, document.blob) for document in documents)
        new = {
            (document.path, document.blob): self.claims(document)
            for document in documents
            if (document.path, document.blob) not in known
        }
        self.kept.put(new)
        every = known | new
        return {document.path: every[document.path, document.blob] for document in documents}

    def _compare_changed(self) -> None:
        for ends in [ends for ends in self._pairs if self._stale.intersection(ends)]:
            del self._pairs[ends]
        found: dict[tuple[str, str], list[Pair]] = {}
        for path, claim, match in self.index.pairs(self._stale):
            ends = (path, match.path)
            found.setdefault(ends, []).append((path, claim, match))
        self._pairs |= {ends: tuple(pairs) for ends, pairs in found.items()}
        self._stale.clear()


MOST = 600  # characters of a statement that are shown
_SYSTEM = f"You compare statements of a knowledge base. {RULE}"
_TASK = (
    "Two documents of one organisation contain these statements. Can both be right as they stand, because they speak "
    "of "
    "different things, places, cases or times, or say the same in other words? Answer with one word: both, if both can "
    "be right; or conflict, if a reader who follows one breaks the other."
)
_WORD = re.compile(r"\b(both|conflict)\b", re.IGNORECASE)


class SecondOpinion:
    """Asks once per pair; without a model, or without an answer, the finding stays."""

    def __init__(self, llm: Callable[[], Llm], known: Texts, model: str) -> None:
        self.llm, self.known, self.model = llm, known, model

    def dismissed(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether the model says that both can be right. Each side is (title and headings, statement)."""
        if not self.model:
            return False
        sides = sorted((one, other))  # the same question from either side
        key = f"disagreement|{self.model}|{strict.digest(sides, 24)}"
        answer = self.known.get(key)
        if answer is None and (answer := self._ask(sides)):
            self.known.put(key, answer)
        return answer == "both"

    def _ask(self, sides: list[tuple[str, str]]) -> str:
        """The model's word, "" where it has none."""
        shown = [quoted("passage", cut(f"{where}\n{text}", MOST), n) for n, (where, text) in enumerate(sides, 1)]
        try:
            request = LlmRequest("\n\n".join((_TASK, *shown)), "second opinion", _SYSTEM, max_tokens=10)
            answer = self.llm().complete(request)
        except ConcordError:
            return ""
        word = _WORD.search(answer.text)
        return word[1].lower() if word else ""


MAX_REASON = 2000
STATES = ("open", "settled", "dismissed")  # dismissed: by the second opinion of a language model


@dataclass(frozen=True, slots=True)
class Statement:
    """What a document says, and where. `span` marks the words that differ."""

    path: str
    doc: str
    title: str
    owner: str
    line: int
    heading: tuple[str, ...]
    text: str
    value: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two documents that say different things. The key is made of what they say: an edit of either makes it a new
    one.
    """

    key: str
    kind: str
    mine: Statement
    theirs: Statement
    score: float
    state: str = "open"
    reason: str = ""  # why both are right
    settled_by: str = ""
    settled_at: str = ""
    more: int = 0  # other pairs of documents with the same two sentences; of names, whatever they name

    @property
    def sentence(self) -> str:
        """The disagreement in one sentence."""
        pairs = "pair says" if self.more == 1 else "pairs say"
        again = f" {self.more:,} more {pairs} the same." if self.more else ""
        if self.kind == "negation":
            return f"{self.theirs.title} says the opposite.{again}"
        return f"{self.theirs.title} says {self.theirs.value}, this says {self.mine.value}.{again}"


class Disagreements:
    """What other documents say otherwise."""

    def __init__(
        self,
        base: ClaimBase,
        repository: Repository,
        changes: Changes,
        database: Database,
        audit: Audit,
        opinion: SecondOpinion,
    ) -> None:
        self.base = base
        self.repository = repository
        self.changes = changes
        self.opinion = opinion
        self.database, self.audit = database, audit

    # ------------------------------------------------------------ finding

    @use_case("propose a change", READS)
    def of_text(self, actor: Actor, path: str, text: str) -> tuple[Disagreement, ...]:
        """What documents in force say otherwise than a text that is being written or uploaded, by line."""
        document = read_document(path or "new.md", text)
        without = frozenset({document.path, *self._same(document)})
        pairs = self.base.against(self.base.claims(document), without)
        return self._judged((document, claim, match) for claim, match in pairs)

    @use_case("propose a change", READS)
    def of_change(self, actor: Actor, number: int) -> tuple[Disagreement, ...]:
        """What a change adds or edits, against the main line as it will be after the merge."""
        change = self.changes.show(actor, number)
        after = {document.path: document for document in self._after(change)}
        touched = frozenset(path for edit in change.documents for path in (edit.path, edit.old_path) if path)
        replaced = frozenset(path for document in after.values() for path in self._same(document))
        pairs: list[tuple[Document, Claim, Match]] = []
        beside = ClaimIndex()  # documents of the same change, compared once
        for path, document in sorted(after.items()):
            said = self._new_claims(change, document)
            everywhere = (*self.base.against(said, touched | replaced), *beside.against(said, frozenset({path})))
            pairs += [(document, claim, match) for claim, match in everywhere]
            if self.base.in_force(document):
                beside.put(path, self.base.claims(document))
        return self._judged(pairs, after)

    @use_case("propose a change", READS)
    def everywhere(self, actor: Actor) -> tuple[Disagreement, ...]:
        """Every disagreement between two documents in force, the surest first; what many documents share is one."""
        return tuple(sorted(_grouped(self._everywhere()), key=lambda found: -found.score))

    def _everywhere(self) -> tuple[Disagreement, ...]:
        known = {document.path: document for document in self.base.documents.all()}
        return self._judged((known[path], claim, match) for path, claim, match in self.base.pairs())

    def _same(self, document: Document) -> Iterator[str]:
        """Where the same document lies now, or one that it replaces."""
        names = {document.meta.id, *document.meta.supersedes} - {""}
        return (other.path for other in self.base.documents.all() if names & {other.meta.id, other.path})

    def _after(self, change: Change) -> Iterator[Document]:
        """The documents of a change as the merge will leave them."""
        merged = self.repository.merged_blobs(change.head) if change.open and not change.conflicts else {}
        for edit in change.documents:
            if edit.kind != "deleted" and edit.path.endswith(".md"):
                raw = self.repository.blob(merged.get(edit.path, "")) or self.repository.read(change.head, edit.path)
                document = _readable(edit.path, raw)
                if document and document.meta.status not in ("superseded", "retired"):
                    yield document

    def _new_claims(self, change: Change, document: Document) -> list[Claim]:
        """What the change says anew: claims whose words the document did not have before."""
        edit = next(edit for edit in change.documents if edit.path == document.path)
        before: set[str] = set()
        if edit.kind != "added":
            raw = self.repository.read(change.start, edit.old_path or edit.path)
            old = _readable(edit.old_path or edit.path, raw)
            before = {claim.text for claim in self.base.claims(old)} if old else set()
        return [claim for claim in self.base.claims(document) if claim.text not in before]

    def _judged(
        self, pairs: Iterable[tuple[Document, Claim, Match]], drafts: dict[str, Document] | None = None
    ) -> tuple[Disagreement, ...]:
        """Pairs as people see them: once each, with what somebody said about them."""
        known = {document.path: document for document in self.base.documents.all()} | (drafts or {})
        made: dict[str, Disagreement] = {}
        for document, claim, match in pairs:
            found = _disagreement(document, claim, known[match.path], match)
            made.setdefault(found.key, found)
        rows = self.database.settlements.all() if made else {}
        return tuple(self._in_state(found, rows.get(key)) for key, found in made.items())

    def _in_state(self, found: Disagreement, row: Settlement | None) -> Disagreement:
        """What a person said counts; else the second opinion may take it away."""
        if row:
            return replace(found, state="settled", reason=row.reason, settled_by=row.name, settled_at=row.at)
        sides = [(" > ".join((side.title, *side.heading)), side.text) for side in (found.mine, found.theirs)]
        return replace(found, state="dismissed") if self.opinion.dismissed(*sides) else found

    # ------------------------------------------------------------ settling

    @use_case("settle a disagreement")
    def settle(self, actor: Actor, key: str, reason: str) -> Disagreement:
        """Both are right, and why. It holds until one of the two statements is edited."""
        words = reason.strip()
        if not words:
            raise BadInput("Say why both are right.")
        if len(words) > MAX_REASON:
            raise BadInput(f"The reason has {len(words):,} characters; the limit is {MAX_REASON:,}.")
        found = self._known(actor, key)
        with self.database.transaction() as state:
            at = self.audit.clock.stamp()
            state.settlements.keep(Settlement(key=found.key, reason=words, who=actor.id, name=actor.name, at=at))
            self.audit.record(state, actor, "settle a disagreement", _titles(found), detail=f"{found.key}: {words}")
        return self._known(actor, found.key)

    @use_case("settle a disagreement")
    def reopen(self, actor: Actor, key: str) -> Disagreement:
        found = self._known(actor, key)
        if found.state == "open":
            raise BadInput("It is open already.")
        with self.database.transaction() as state:
            state.settlements.drop(found.key)
            self.audit.record(state, actor, "reopen a disagreement", _titles(found), detail=found.key)
        return self._known(actor, found.key)

    def _known(self, actor: Actor, key: str) -> Disagreement:
        """By its key, among documents in force and in open changes."""
        for found in self._all(actor):
            if found.key == key:
                return found
        raise NotFound(f"There is no disagreement {key!r} now.", DISAGREEMENTS)

    def _all(self, actor: Actor) -> Iterator[Disagreement]:
        yield from self._everywhere()
        for change in self.changes.all(state="open"):
            yield from self.of_change(actor, change.id)


def _readable(path: str, raw: bytes) -> Document | None:
    try:
        return read_document(path, decode(raw))
    except ConcordError:
        return None


def _disagreement(document: Document, claim: Claim, other: Document, match: Match) -> Disagreement:
    clash = match.clash
    mine = _statement(document, claim, clash.mine, clash.my_span)
    theirs = _statement(other, match.claim, clash.theirs, clash.their_span)
    ends = sorted((_end(mine), _end(theirs)))
    return Disagreement(strict.digest([clash.kind, *ends]), clash.kind, mine, theirs, clash.score)


def _statement(document: Document, claim: Claim, value: str, span: tuple[int, int]) -> Statement:
    owner = document.meta.owner
    return Statement(
        document.path, document.id, document.title, owner, claim.line, claim.heading, claim.text, value, span
    )


def _end(statement: Statement) -> list[str]:
    """A document and its words, whatever the white space and the line."""
    return [statement.doc or statement.path, re.sub(r"\W+", " ", statement.text).casefold()]


def _grouped(every: Sequence[Disagreement]) -> tuple[Disagreement, ...]:
    """Boilerplate once: pairs that differ in their documents alone are one, and what was said about one holds for
    all.
    """
    groups: dict[tuple[str, frozenset[str]], list[Disagreement]] = {}
    for found in every:
        ends = frozenset(_frame(end, found.kind == "name") for end in (found.mine, found.theirs))
        groups.setdefault((found.kind, ends), []).append(found)
    first = (next((one for one in group if one.state != "open"), group[0]) for group in groups.values())
    return tuple(replace(one, more=len(group) - 1) for one, group in zip(first, groups.values(), strict=True))


def _frame(statement: Statement, without_name: bool) -> str:
    """A sentence, or what it says whoever it names: pages of one kind name each their own."""
    start, end = statement.span
    text = f"{statement.text[:start]} {statement.text[end:]}" if without_name else statement.text
    return " ".join(re.sub(r"\W+|\b(?:the|an?)\b", " ", text.casefold()).split())


def _titles(found: Disagreement) -> str:
    return f"{found.mine.title} and {found.theirs.title}"
