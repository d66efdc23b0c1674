"""Frozen values that every part of Concord shares; behaviour lives in functions elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from core.cures import Cure
from core.errors import Corrupt

if TYPE_CHECKING:
    import numpy as np


class Frozen(dict[str, Any]):
    """An immutable, hashable mapping.

    >>> {Frozen(a=1): "found"}[Frozen(a=1)]
    'found'
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        return Frozen, (dict(self),)  # a copy is made whole, not filled item by item

    def _refuse(self, *_: object, **__: object) -> Any:
        raise TypeError("a frozen mapping does not change")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = Frozen()


REPOSITORY_MOVED, STORE_MOVED, JOB_WAITS = "repository", "store", "jobs"  # what nodes tell each other at once


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not what was written: which, in what way, and what brings it back.

    >>> from core.cures import shell
    >>> print(Damage("kb.git/HEAD", "is missing", shell("Recreate it", "git init --bare kb.git")))
    kb.git/HEAD is missing. Recreate it with: git init --bare kb.git
    """

    file: str
    what: str
    cure: Cure

    def __str__(self) -> str:
        return f"{self.file} {self.what}. {self.cure}"

    def refusal(self) -> Corrupt:
        return Corrupt(f"{self.file} {self.what}.", self.cure)


# ---------------------------------------------------------------- documents


@dataclass(frozen=True, slots=True)
class Meta:
    """What the frontmatter says about a document. Keys Concord does not know are kept in `extra`."""

    id: str = ""
    title: str = ""
    doc_type: str = ""
    status: str = "approved"
    owner: str = ""
    tags: tuple[str, ...] = ()
    effective_date: date | None = None
    review_due: date | None = None
    supersedes: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown file at one version. `text` is the whole file; the body starts at `body`."""

    id: str
    path: str
    title: str
    text: str
    body: int = 0
    meta: Meta = field(default_factory=Meta)
    blob: str = ""
    version: int = 1
    imported: bool = False  # counts as approved, but nobody here has approved or confirmed it

    @property
    def status(self) -> str:
        """What people are told: imported where nobody approved it."""
        return "imported" if self.imported else self.meta.status


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document: `text == document.text[start:end]`. What a model or a rule adds is `context`."""

    id: str
    doc: str
    start: int
    end: int
    text: str
    heading: tuple[str, ...] = ()
    context: str = ""
    parent: tuple[int, int] | None = None
    tokens: int = 0
    context_by: str = ""  # who wrote the context: structural, or the name of a model
    questions: tuple[str, ...] = ()  # that it answers, by a model


# ---------------------------------------------------------------- the repository


@dataclass(frozen=True, slots=True)
class Person:
    """An author or committer."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file of a commit."""

    path: str
    blob: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """One file that differs between two commits. `kind`: added, edited, renamed or deleted."""

    kind: str
    path: str
    old_path: str = ""
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit in the history of one document or of the whole repository."""

    id: str
    author: Person
    when: str
    message: str
    path: str = ""
    blob: str = ""
    parents: tuple[str, ...] = ()


# ---------------------------------------------------------------- how documents become an index


FIELDS = {
    "title": "The title of the document.",
    "headings": "The headings above the passage.",
    "path": "The words of its folders and file name.",
    "tags": "The tags of the document.",
    "answers": "The questions that the document says it answers.",
    "questions": "Questions that a language model wrote for the passage, where the profile asks for them.",
}
"""Short texts around a passage that words are also looked up in, beside the passage itself."""


@dataclass(frozen=True, slots=True)
class LexicalOptions:
    """How words are analysed and scored."""

    k1: float = 1.5
    b: float = 0.75
    stemmer: str = "porter"
    stopwords: str = "english"


@dataclass(frozen=True, slots=True)
class ChunkerSpec:
    """A chunker by name, with its parameters."""

    name: str = "markdown"
    params: Mapping[str, int] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Profile:
    """How documents become an index. Changing it needs a build."""

    name: str
    chunker: ChunkerSpec = field(default_factory=ChunkerSpec)
    context: str = "structural"
    embedder: str = "bge-small-en-v1.5-int8"
    lexical: LexicalOptions = field(default_factory=LexicalOptions)
    writers: tuple[str, ...] = ()  # language models for contexts, segments and questions, in order of fallback
    embedders: tuple[str, ...] = ()  # more models, combined with `embedder`
    combine: str = "concatenation"  # or rrf: each ranks by itself, and the ranks are fused
    graph: str = "rules"
    questions: int = 0  # that a language model writes for each passage, as a field of their own


@dataclass(frozen=True, slots=True)
class Generation:
    """A profile built at a commit. Immutable once published; `folder` is relative to `index/`."""

    number: int
    profile: str
    digest: str
    commit: str
    documents: int
    chunks: int
    built: str
    seconds: float
    bytes: int
    folder: str = ""
    current: bool = False
    notes: tuple[str, ...] = ()
    calls: int = 0  # of language models, in the builds that made it
    worth: float = 0.0  # dollars that these cost without a cache
    pending: int = 0  # chunks that have no vector yet: until all have one, it is searched by words alone


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A document in a generation, without its text. Dates are ISO text, "" when there is none."""

    doc: str
    path: str
    title: str
    doc_type: str
    status: str
    owner: str
    tags: tuple[str, ...]
    effective_date: str
    review_due: str
    version: int
    blob: str
    body: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk in a generation, without its text."""

    id: str
    document: int
    start: int
    end: int
    heading: tuple[str, ...]
    parent: tuple[int, int] | None


# ---------------------------------------------------------------- how an index is searched


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How a generation is searched. Changing it needs no build."""

    legs: tuple[str, ...] = ("bm25", "dense")
    depth: int = 10
    normalisation: str = "minmax"
    fusion: str = "convex"
    alpha: float = 0.5
    rrf_k: int = 60
    weights: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    missing: str = "exact"
    rerank: str = "off"
    tau: float = 1.0
    rerank_depth: int = 20
    k: int = 10
    reranker: str = "cross-encoder"
    rerank_model: str = ""  # "" is the default model of the reranker
    rerank_prompt: str = "one-shot"
    rerank_blend: float = 0.0  # the share of the fused score in the final order
    hyde: bool = False
    alpha_from: str = "fixed"  # or learned, llm, rules: then every query gets its own
    alpha_model: str = ""
    parents: bool = False  # search children, return their parents
    engines: Mapping[str, str] = field(default_factory=lambda: NOTHING)  # of a leg; by default the served image
    rerank_orders: int = 2  # in which a language model sees the passages: 2 is also from last to first
    fields: Mapping[str, float] = field(default_factory=lambda: NOTHING)  # what words there add to those of the passage
    documents: bool = False  # fuse documents by their best passages: one hit each
    synonyms: bool = True  # words are also searched for in the wordings of the knowledge base's `synonyms.yaml`
    pins: bool = True  # the document that `pins.yaml` names for a question stands first
    collapse: bool = False  # name near-copies with the best of them instead of listing them


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may be found. Empty means any; `history` also admits retired, superseded and upcoming ones."""

    types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    freshness: tuple[str, ...] = ()
    history: bool = False


@dataclass(frozen=True, slots=True)
class LegScore:
    """A leg's score of a chunk. `rank` is 0 when the leg did not retrieve it itself."""

    score: float
    normalised: float
    weight: float
    rank: int
    note: str = ""  # why the leg retrieved it, e.g. the entities it shares with the query
    part: float = 0.0  # its share of the fused score
    fields: Mapping[str, float] = field(default_factory=lambda: NOTHING)  # what of the score each field gave


@dataclass(frozen=True, slots=True)
class AlsoIn:
    """Where a copy of a hit's text stands."""

    doc: str
    path: str
    title: str
    heading: tuple[str, ...]
    chunk: str
    start: int
    end: int
    version: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage of one version of a document, and why it ranks where it does.

    `score` decides the order, `rerank_score` is the reranker's own; `fused_rank` is 0 when a reranker brought the
    passage in as a neighbour of a fused one.
    """

    rank: int
    doc: str
    path: str
    title: str
    heading: tuple[str, ...]
    chunk: str
    start: int
    end: int
    text: str
    score: float
    legs: Mapping[str, LegScore]
    status: str
    version: int
    fused_rank: int = 0
    rerank_score: float | None = None
    further: Sequence[Hit] = ()  # other passages of the same document, where documents are found
    pinned: str = ""  # the question that it is pinned to, and stands first for
    reasons: Mapping[str, float] = field(default_factory=lambda: NOTHING)  # what a learned ranker adds for each feature
    also: tuple[AlsoIn, ...] = ()  # other documents that hold the same text, where copies collapse
    imported: bool = False  # its document counts as approved, but nobody here has approved or confirmed it
    section: tuple[int, int] | None = None  # the part that `heading` heads, where the passage has several sections
    within: tuple[str, ...] | None = None  # then, the heading path of the whole passage

    @property
    def standing(self) -> str:
        """What people are told: imported where nobody approved it."""
        return "imported" if self.imported else self.status

    @property
    def passage_heading(self) -> tuple[str, ...]:
        """The heading path of the whole passage, whatever was asked."""
        return self.heading if self.within is None else self.within

    @property
    def opens(self) -> tuple[int, int]:
        """The span that a link leads to: the section that answers."""
        return self.section or (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of the pipeline: how long it took and how many candidates it passed on."""

    name: str
    ms: float
    hits: int
    note: str = ""
    cost: float = 0.0  # dollars


@dataclass(frozen=True, slots=True)
class Pending:
    """Vectors that are still being computed: how many passages have theirs, of how many; `seconds` is about what is
    left.
    """

    done: int
    total: int
    seconds: float | None = None  # None while nothing is known of their speed
    stopped: bool = False  # nobody computes them any more: the build failed, or was cancelled


@dataclass(frozen=True, slots=True)
class Result:
    """A search with all that explains its ranks."""

    query: str
    profile: str
    generation: int
    commit: str
    config: SearchConfig
    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    warnings: tuple[str, ...] = ()
    confidence: float = 0.0  # how likely it is that the question is answered here, from 0 to 1
    fits: bool = True  # whether that is enough
    also: tuple[str, ...] = ()  # the query in other words, which were searched for, too
    missing: tuple[str, ...] = ()  # where nothing fits: words of the query that no document uses, misspelt ones aside
    as_of: str = ""  # the earlier day that was asked about; "" is now
    pending: Pending | None = None  # vectors are not there yet, so that words alone were searched
    doubt: str = ""  # about the first hit, where a later one holds far more of the question

    @property
    def remarks(self) -> tuple[str, ...]:
        """Everything to say about the result: what failed, and doubt about its first hit."""
        return (*self.warnings, *filter(None, [self.doubt]))


# ---------------------------------------------------------------- language models


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model wrote, and what it cost. Untrusted: the caller checks it."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0
    worth: float = 0.0  # dollars that it costs without a cache
    cached: bool = False
    finish: str = ""  # why it ended, in the endpoint's words: stop, length, content_filter; "" where it does not say
    first: tuple[tuple[str, float], ...] = ()  # alternatives for the first token with their log-probabilities


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """What a language model is asked. An answer that `check` refuses, by raising, is not kept for the next time."""

    prompt: str
    purpose: str  # what the ledger says that it was for
    system: str = ""
    max_tokens: int = 1000
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None  # asked of endpoints that take one
    alternatives: int = 0  # candidates for the first token that come with their log-probabilities
    check: Callable[[Answer], object] | None = None


# ---------------------------------------------------------------- the graph


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a chunk. All spellings share the `key`; `sentence` counts within the chunk, -1 for "anywhere"."""

    key: str
    text: str
    kind: str
    sentence: int = -1


@dataclass(frozen=True, slots=True)
class Extract:
    """What was extracted from a chunk: entities, (short, long) keys of aliases, and (key, relation, key)."""

    mentions: tuple[Mention, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one attempt to deliver: it was taken, may be tried again, or was refused for good."""

    state: str  # sent, again, refused
    code: int = 0  # of the other side; 0 where it said none
    note: str = ""
    reachable: bool = True  # False: whatever else goes there would fail now, too
    after: float = 0.0  # seconds that the other side asks to wait


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """The entities of a generation as flat arrays, numbered in the order of their keys.

    Three tables in compressed sparse rows: entity to chunks, chunk to entities, and entity to related entities
    with the strongest relation first. Row `n` is `values[start[n] : start[n + 1]]`.
    """

    keys: list[str]
    labels: list[str]
    kinds: list[str]
    names: Mapping[str, int]  # every key and alias
    document_of: np.ndarray  # the document of each chunk
    document_nodes: np.ndarray  # the entity that stands for each document
    chunk_start: np.ndarray
    chunks: np.ndarray
    entity_start: np.ndarray
    entities: np.ndarray
    related_start: np.ndarray
    related: np.ndarray
    weights: np.ndarray  # sentences that name both, or relations that say so
    relations: np.ndarray  # which of `relation_names`
    relation_names: list[str]
    document_rank: np.ndarray  # PageRank of each document
    entity_rank: np.ndarray  # PageRank of each entity
