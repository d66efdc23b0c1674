"""What people do with synonyms and pins: look, take up an acronym, and propose a change of synonyms or pins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.access import READS, Actor, use_case
from core.analysis import fold
from core.chunking.sentences import sentences
from core.curation.text.render import plain
from core.curation.words import pins, synonyms
from core.curation.words.pins import Pin, pin_problem
from core.curation.words.synonyms import Synonym
from core.cures import PINS, WORDS
from core.errors import BadInput, NotFound
from core.graph.entities import acronyms
from core.retrieval.query_rules import idle
from core.services.knowledge.documents import Documents
from core.services.reviews.authoring import Target, my_open, save
from core.services.reviews.changes import Change, Changes
from core.services.words.rule_files import QueryRuleFiles
from core.types import Document, LexicalOptions

TITLE = 80  # characters of a title that a change gets by itself


@dataclass(frozen=True, slots=True)
class PinState:
    """A pin, the title of its document, and what is wrong with it; "" where nothing is."""

    pin: Pin
    title: str
    problem: str


@dataclass(frozen=True, slots=True)
class Acronym:
    """A short form that a document explains, with the sentence, and how many documents explain it so."""

    short: str
    long: str
    path: str
    title: str
    sentence: str
    documents: int = 1

    @property
    def synonym(self) -> Synonym:
        return Synonym((self.short, self.long))


class SynonymsAndPins:
    """Synonyms and pins of the main line, suggestions, and changes of both."""

    def __init__(self, files: QueryRuleFiles, documents: Documents, changes: Changes) -> None:
        self.files = files
        self.documents = documents
        self.changes = changes
        self.repository = documents.repository
        self._acronyms = lru_cache(maxsize=2)(self._found)

    # ------------------------------------------------------------ look

    @use_case("propose a change", READS)
    def problems(self, actor: Actor) -> tuple[str, ...]:
        """Why a file on the main line cannot be read, and so counts for nothing."""
        return self.files.problems(self.repository.head())

    @use_case("propose a change", READS)
    def synonyms(self, actor: Actor, change: int = 0) -> tuple[Synonym, ...]:
        """The synonyms of the main line, or of a change."""
        return self.files.synonyms(self._commit(actor, change))

    @use_case("propose a change", READS)
    def pins(self, actor: Actor, change: int = 0) -> tuple[PinState, ...]:
        """The pins of the main line, or of a change, each with what is wrong with it now."""
        known = {document.path: document for document in self.documents.all()}
        seen = self.documents.readership.now()
        shown = [pin for pin in self.files.pins(self._commit(actor, change)) if not seen or seen.path(pin.document)]
        listed = ((pin, known.get(pin.document)) for pin in shown)
        return tuple(
            PinState(pin, document.title if document else "", pin_problem(pin, document)[1]) for pin, document in listed
        )

    @use_case("propose a change", READS)
    def open_change(self, actor: Actor, file: str) -> int:
        """One's own draft that edits a file already, so that one edit after the other goes into it; 0 for none."""
        mine = my_open(self.changes, actor)
        drafts = [one.id for one in mine if one.state == "draft" and file in {edit.path for edit in one.documents}]
        return max(drafts, default=0)

    @use_case("propose a change", READS)
    def acronyms(self, actor: Actor) -> tuple[Acronym, ...]:
        """Acronyms that approved documents explain and no synonym knows, those of most documents first."""
        known = {frozenset(map(fold, synonym.words)) for synonym in self.files.synonyms(self.repository.head())}
        return tuple(
            found
            for found in self._acronyms(self.repository.head(), self.documents.readership.audience())
            if not any({fold(found.short), fold(found.long)} <= words for words in known)
        )

    def _found(self, commit: str, audience: str) -> tuple[Acronym, ...]:
        """One for each acronym; a short form with two meanings is left to people."""
        by_short: dict[str, dict[str, list[Acronym]]] = {}
        for document in self.documents.all():
            if document.meta.status == "approved":
                for found in _explained(document):
                    by_short.setdefault(fold(found.short), {}).setdefault(fold(found.long), []).append(found)
        single = [next(iter(meanings.values())) for meanings in by_short.values() if len(meanings) == 1]
        counted = [replace(same[0], documents=len({found.path for found in same})) for same in single]
        return tuple(sorted(counted, key=lambda found: (-found.documents, fold(found.short))))

    # ------------------------------------------------------------ propose

    @use_case("propose a change")
    def add(self, actor: Actor, texts: Sequence[str], target: Target = Target()) -> Change:
        """Propose synonyms, each written as `PTO = vacation` or `laptop -> notebook computer`."""
        new = [synonyms.parse(text) for text in texts]
        if not new:
            raise BadInput("Name at least two words that mean the same.")
        for synonym in new:
            if message := idle(synonym, LexicalOptions()):
                raise BadInput(message)
        known = self.synonyms(actor, target.change)
        if all(synonym in known for synonym in new):
            raise BadInput(f"{new[0].text!r} is there already.")
        return self._save(actor, synonyms.FILE, _titled(target, "Words", new[0].text), listed=[*known, *new])

    @use_case("propose a change")
    def remove(self, actor: Actor, text: str, target: Target = Target()) -> Change:
        """Propose to take a synonym out."""
        gone, known = synonyms.parse(text), self.synonyms(actor, target.change)
        if gone not in known:
            raise NotFound(f"There is no synonym {gone.text!r}.", WORDS)
        left = [synonym for synonym in known if synonym != gone]
        return self._save(actor, synonyms.FILE, _titled(target, "Words without", gone.text), listed=left)

    @use_case("propose a change")
    def pin(self, actor: Actor, pin: Pin, target: Target = Target()) -> Change:
        """Propose to show a document first for a question; a pin of the same question is replaced."""
        document = next((one for one in self.documents.all() if pin.document in (one.path, one.id)), None)
        wanted = pins.check(replace(pin, document=document.path if document else pin.document))
        severity, problem = pin_problem(wanted, document)
        if severity == "error":
            raise BadInput(problem)
        asked = set(map(fold, wanted.questions))
        kept = [one for one in self._pins(actor, target) if not asked & set(map(fold, one.questions))]
        return self._save(actor, pins.FILE, _titled(target, "Pin", wanted.question), pinned=[*kept, wanted])

    @use_case("propose a change")
    def unpin(self, actor: Actor, question: str, target: Target = Target()) -> Change:
        """Propose to take a pin out."""
        known = self._pins(actor, target)
        left = [pin for pin in known if fold(question) not in map(fold, pin.questions)]
        if len(left) == len(known):
            raise NotFound(f"Nothing is pinned to {question!r}.", PINS)
        return self._save(actor, pins.FILE, _titled(target, "Unpin", question), pinned=left)

    def _pins(self, actor: Actor, target: Target) -> tuple[Pin, ...]:
        return self.files.pins(self._commit(actor, target.change))

    def _save(
        self, actor: Actor, file: str, target: Target, listed: Sequence[Synonym] = (), pinned: Sequence[Pin] = ()
    ) -> Change:
        commit = self._commit(actor, target.change)
        before = self.files.raw(commit, file)
        content = synonyms.write(listed, before) if file == synonyms.FILE else pins.write(pinned, before)
        return save(self.changes, actor, replace(target, base=commit), {file: content})

    def _commit(self, actor: Actor, change: int) -> str:
        return self.changes.show(actor, change).head if change else self.repository.head()


def _explained(document: Document) -> Iterator[Acronym]:
    text = document.text
    for start, end in sentences(text, document.body) if "(" in text else ():
        sentence = text[start:end]
        for short, long in acronyms(sentence) if "(" in sentence else ():
            clean = " ".join(long.replace("*", "").replace("_", " ").split())
            if len(clean) <= synonyms.LONGEST and "=" not in clean and "->" not in clean:
                yield Acronym(short, clean, document.path, document.title, " ".join(plain(sentence).split()))


def _titled(target: Target, what: str, text: str) -> Target:
    """The target with a title, where nobody wrote one."""
    if target.title or target.change:
        return target
    return replace(target, title=f"{what}: {text[:TITLE]}{'…' if len(text) > TITLE else ''}")
