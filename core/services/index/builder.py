"""From a commit to a generation: only changed documents are chunked, only new texts are embedded.

Where embedding would take long, a generation of words is published first, so that people can search; the vectors are
computed behind it into the cache, and the next generation of the same commit has both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core import strict
from core.access import ANYONE, use_case
from core.analysis import analyser
from core.bulk import InlineBulk, in_order
from core.chunking import chunker, embedded_text, known
from core.chunking.chunker import Tools
from core.curation.document.frontmatter import decode, read_document
from core.cures import BRING_IN, reindex
from core.errors import BadInput, ConcordError, Conflict, Unavailable
from core.llm.asking import Bill, together
from core.llm.writer import Writer
from core.ports import Bulk, Embedder, Models, Progress, no_progress
from core.profiles import model_uses
from core.services.index.embedding import embed_texts, evenly, in_background, unknown_texts
from core.services.index.entity_extraction import EntityExtractor, Extracts
from core.services.knowledge.documents import assign_ids
from core.storage.index.generation_list import BuildBatch
from core.types import Chunk, Document, Generation, Profile

if TYPE_CHECKING:
    import numpy as np

    from core.services.platform.base import Base
    from core.storage.index.generation_list import Parent
    from core.storage.index.generations import Generations


_RACES = 4  # times that another machine may publish first
_TIMED = 4  # texts that are embedded to see how long all would take
_BETWEEN = 64  # texts that are embedded between two looks at whether main moved
_CALLS = ("calls", "worth")  # of language models, that a manifest sums over the builds of a generation


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did and how long each part took."""

    generation: Generation
    changed: int
    chunked: int
    embedded: int
    seconds: Mapping[str, float]
    skipped: tuple[tuple[str, str], ...] = ()
    fresh: bool = True
    fallbacks: tuple[tuple[str, str], ...] = ()  # documents that were not chunked as the profile asks, and why
    cost: float = 0.0  # dollars

    @property
    def total(self) -> float:
        """The build time that its generation keeps; nothing where nothing was built."""
        return self.generation.seconds if self.fresh else 0.0


@dataclass(slots=True)
class Stopwatch:
    """Seconds per named part."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """Which documents a build reads and which it takes over from the parent.

    `rows` are path -> [blob, version, declared id, id]; `skipped` are path -> [version, why].
    """

    rows: Mapping[str, list[Any]]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    skipped: Mapping[str, list[Any]]
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a build goes about it."""

    bulk: Bulk | None = None  # where chunking and embedding are done, if not here
    words_first: bool = False  # whether words may be published before vectors that take long
    spent: float = 0.0  # seconds before it began


class IndexBuilder:
    """Builds generations."""

    def __init__(self, base: Base, models: Models, extracting: EntityExtractor) -> None:
        self.repository, self.documents, self.generations = base.repository, base.documents, base.generations
        self.models, self.extracting, self.clock = models, extracting, base.clock
        self.cache, self.texts = base.vectors, base.texts
        self.at_once = base.settings.llm_concurrency  # questions that a language model is asked at the same time
        self.words_first = base.settings.words_first  # seconds of embedding beyond which words are published first

    def behind(self, profile: Profile) -> bool:
        """Whether the index does not serve the newest commit yet, or serves words of it alone."""
        current, head = self.generations.current(profile), self.repository.head()
        return bool(head) and (current is None or current.commit != head or bool(current.pending))

    def build(
        self,
        profile: Profile,
        *,
        full: bool = False,
        progress: Progress = no_progress,
        bulk: Bulk | None = None,
        words: bool = False,
    ) -> Built:
        """Index the newest commit, unless it is indexed already. `bulk` says where to chunk and embed: in this process
        if it is not given. With `words`, vectors that take long are left to a later build."""
        built = self._build_once(profile, full, progress, bulk)
        while built.generation.pending and not words:
            embedded, seconds = self._embed_pending(profile, progress, bulk)
            if self.generations.pinned(profile):
                break  # somebody rolled back meanwhile
            whole = self._build_once(profile, False, progress, bulk, seconds + sum(built.seconds.values()))
            built = _joined(built, whole, embedded, seconds)
        return built

    def _build_once(
        self, profile: Profile, full: bool, progress: Progress, bulk: Bulk | None, spent: float = 0.0
    ) -> Built:
        """Publish one generation; start again from what another machine published first. `spent` counts as its time
        too.
        """
        for _ in range(_RACES):
            with suppress(Conflict):
                return self._build_newest(profile, full, progress, bulk, spent)
        return self._build_newest(profile, full, progress, bulk, spent)

    def _embed_pending(self, profile: Profile, progress: Progress, bulk: Bulk | None) -> tuple[int, float]:
        """Fill the cache, until it has every vector that is pending or main moves: the words of what is new come first.
        How many texts were embedded, and in how many seconds."""
        embedder, head, started = self.models.of(profile), self.repository.head(), time.perf_counter()
        step, done = _BETWEEN * (bulk.at_once if bulk else 1), 0
        with self.generations.embedding(profile) as texts, in_background(lambda step: self.generations.prepare()):
            new = evenly(unknown_texts(embedder, self.cache, texts), step)
            while done < len(new) and self.repository.head() == head:
                some = new[done : done + step]
                embed_texts(embedder, self.cache, some, _part(progress, done, len(new)), bulk)
                done += len(some)
        return done, time.perf_counter() - started

    def _takes_long(self, embedder: Embedder, texts: Sequence[str], embed: Callable[[Sequence[str]], object]) -> bool:
        """Whether embedding would take longer than people should wait, by the time that a few texts take: the better
        of two.
        """
        new = evenly(unknown_texts(embedder, self.cache, texts), _TIMED)
        if len(new) <= 2 * _TIMED:
            return False
        seconds = math.inf
        for some in (new[:_TIMED], new[_TIMED : 2 * _TIMED]):
            started = time.perf_counter()
            embed(some)
            seconds = min(seconds, time.perf_counter() - started)
        return seconds / _TIMED * (len(new) - 2 * _TIMED) > self.words_first

    def _build_newest(self, profile: Profile, full: bool, progress: Progress, bulk: Bulk | None, spent: float) -> Built:
        """One try; finishes what a killed build left."""
        with self.generations.building(profile) as parent:
            commit = self.repository.head()
            if not commit:
                raise BadInput("There is nothing to index yet.", BRING_IN)
            if parent and not full and (parent.manifest["commit"] == commit or self._overtaken(parent, commit)):
                commit = parent.manifest["commit"]
                if self.generations.is_whole(parent) and not self._can_have_vectors(profile, parent, bulk):
                    return Built(self.generations.adopt(profile, parent), 0, 0, 0, {}, fresh=False)
                parent = next(filter(self.generations.is_whole, self.generations.usable(profile)), None)
            base = (
                None
                if full or not parent or not self.repository.contains(commit, parent.manifest["commit"])
                else parent
            )
            return self._build(profile, commit, base, self.generations, progress, BuildOptions(bulk, True, spent))

    def _can_have_vectors(self, profile: Profile, parent: Parent, bulk: Bulk | None) -> bool:
        """Whether the vectors of a generation are pending, and known or soon computed."""
        texts = self.generations.pending_texts(profile, parent)
        embedder = self.models.of(profile)
        embed = partial(embed_texts, embedder, self.cache, bulk=bulk)
        return bool(texts) and not self._takes_long(embedder, texts, embed)

    def _overtaken(self, parent: Parent, commit: str) -> bool:
        """Whether another machine indexed a later commit of main than is known here."""
        indexed = parent.manifest["commit"]
        if not self.generations.copies or self.repository.contains(commit, indexed):
            return False
        if not self.repository.contains(indexed, indexed):
            raise Unavailable(f"The index is at {indexed[:12]}, which is not known here yet. Try again in a moment.")
        return self.repository.contains(indexed, commit)

    def build_offline(
        self,
        profile: Profile,
        commit: str,
        parent: Parent | None,
        target: Generations,
        progress: Progress = no_progress,
    ) -> Built:
        """Index a commit beside the one that serves, in a place of its own, starting from a generation of another
        place.
        """
        with target.building(profile):
            return self._build(profile, commit, parent, target, progress)

    def _build(
        self,
        profile: Profile,
        commit: str,
        base: Parent | None,
        target: Generations,
        progress: Progress,
        way: BuildOptions = BuildOptions(),
    ) -> Built:
        watch, started, bulk = Stopwatch(), time.perf_counter(), way.bulk
        with watch.timed("read"):
            plan = self._plan(commit, base.manifest if base else None)
        embedder, fallbacks = self.models.of(profile), _taken_over(base, plan)
        tools = self.tools(profile, lambda path, what: fallbacks.setdefault(path, []).append(what), bulk)
        with watch.timed("chunk"):
            chunks, terms = self._chunk(profile, tools, plan.documents, progress, bulk or InlineBulk(self.models))
        asked = Bill()  # for entities
        extract = partial(self.extracting.extracts, profile.graph, plan.documents, chunks, bill=asked, bulk=bulk)
        embedded, vectors = 0, None

        def embed(texts: Sequence[str], told: Progress = progress) -> np.ndarray:
            nonlocal embedded
            rows, new = embed_texts(embedder, self.cache, texts, told, bulk)
            embedded += new
            return rows

        with watch.timed("embed"):
            texts = [embedded_text(chunk) for chunk in chunks]
            timed = partial(embed, told=no_progress)
            waiting = [*target.pending_texts(profile, base), *texts]
            later = way.words_first and self._takes_long(embedder, waiting, timed)
        with in_background(partial(self._prepare, profile, extract, not later)) as prepared:
            if not later:
                with watch.timed("embed"):
                    vectors = embed(texts)
            with watch.timed("entities"):  # only the wait that embedding did not cover
                extracts, by_rules = prepared() or extract(progress)
        for path, why in by_rules.items():
            fallbacks.setdefault(path, []).append(why)
        progress(len(chunks), len(chunks), "Writing the index")
        paid, everything = _bills(base, tools.writer or Writer((), self.texts), asked)
        facts = {
            "commit": commit,
            "documents": plan.rows,
            "skipped": plan.skipped,
            "built": self.clock.stamp(),
            "seconds": round(time.perf_counter() - started + way.spent, 3),
            "fallbacks": fallbacks,
            "notes": _notes(fallbacks, len(plan.rows), paid),
            **{key: getattr(everything, key) for key in _CALLS},
        }
        batch = BuildBatch(plan.gone, plan.documents, chunks, terms, vectors, extracts, embed)
        generation = target.write(profile, base, batch, facts, watch.timed)
        seconds = {name: round(value, 3) for name, value in watch.seconds.items()}
        return Built(
            generation,
            len(plan.changed),
            len(chunks),
            embedded,
            seconds,
            tuple((path, why) for path, (_, why) in plan.skipped.items()),
            fallbacks=tuple((path, _sentence(fallbacks[path])) for path in plan.changed if path in fallbacks),
            cost=paid.dollars,
        )

    def _prepare(
        self, profile: Profile, extract: Callable[[Progress], Extracts], vectors: bool, step: Progress
    ) -> Extracts | None:
        """Runs while the embedder computes. A language model is left for later: it has its own threads."""
        if vectors:
            self.generations.prepare()
        return None if profile.graph == "llm" else extract(step)

    def _plan(self, commit: str, before: Mapping[str, Any] | None) -> BuildPlan:
        """Compare the commit with the parent's manifest and read the documents that differ."""
        old: Mapping[str, list[Any]] = before["documents"] if before else {}
        known = {path: row[1] for path, row in old.items()} | {
            path: row[0] for path, row in (before["skipped"] if before else {}).items()
        }
        versions = self.documents.versions(commit, since=before["commit"] if before else "", known=known)
        entries = self.repository.blobs(commit)
        reread = [
            path for path, blob in entries.items() if path not in old or old[path][:2] != [blob, versions.get(path, 1)]
        ]
        read, skipped = self._read(reread, entries, versions)
        declared = {path: row[2] for path, row in old.items() if path in entries and path not in skipped} | {
            d.path: d.meta.id for d in read
        }
        ids = assign_ids(declared)
        renamed = [path for path in declared if path in old and path not in reread and ids[path] != old[path][3]]
        read += self._read(renamed, entries, versions)[0]
        documents = tuple(replace(document, id=ids[document.path]) for document in sorted(read, key=lambda d: d.path))
        changed = {document.path for document in documents}
        gone = tuple(
            sorted(row[3] for path, row in old.items() if path not in entries or path in changed or path in skipped)
        )
        rows = {path: [entries[path], versions.get(path, 1), declared[path], ids[path]] for path in sorted(declared)}
        left_out = {path: [versions.get(path, 1), skipped[path]] for path in sorted(skipped)}
        return BuildPlan(rows, tuple(sorted(changed)), gone, left_out, documents)

    def _read(
        self, paths: Sequence[str], entries: Mapping[str, str], versions: Mapping[str, int]
    ) -> tuple[list[Document], dict[str, str]]:
        """The readable documents, and the error of each file that is not."""
        documents: list[Document] = []
        skipped: dict[str, str] = {}
        for path, raw in zip(paths, self.repository.read_blobs([entries[path] for path in paths]), strict=True):
            try:
                documents.append(read_document(path, decode(raw), blob=entries[path], version=versions.get(path, 1)))
            except ConcordError as error:
                skipped[path] = str(error)
        return documents, skipped

    @use_case(ANYONE)
    def tools(self, profile: Profile, report: Callable[[str, str], object], bulk: Bulk | None = None) -> Tools:
        """What the profile's chunker may use; language models are loaded on first use."""
        embedder = self.models.of(profile)
        writer = Writer([partial(self.models.llm, name) for name in profile.writers or ("",)], self.texts, self.at_once)
        return Tools(
            embedder.tokens, lambda texts: embed_texts(embedder, self.cache, texts, bulk=bulk)[0], writer, report
        )

    def _chunk(
        self, profile: Profile, tools: Tools, documents: Sequence[Document], progress: Progress, bulk: Bulk
    ) -> tuple[list[Chunk], list[str]]:
        """Chunks and their terms. A chunker that asks models works here, where it waits for them, often for several at
        once.
        """
        if model_uses(profile) or known(profile.chunker.name).asks:
            return self._chunk_asking(
                profile, tools, documents, progress, self.at_once if model_uses(profile) else bulk.at_once
            )
        parts = in_order(bulk.map("chunk", profile, documents, progress))
        return [chunk for chunks, _ in parts for chunk in chunks], [line for _, terms in parts for line in terms]

    def _chunk_asking(
        self, profile: Profile, tools: Tools, documents: Sequence[Document], progress: Progress, at_once: int
    ) -> tuple[list[Chunk], list[str]]:
        split, analyse = chunker(profile.chunker, tools, profile.context, profile.questions), analyser(profile.lexical)
        chunks: list[Chunk] = []
        with together(split, documents, at_once) as results:
            for n, some in enumerate(results, 1):
                chunks += some
                progress(n, len(documents), "Chunking")
        return chunks, [" ".join(analyse(embedded_text(chunk))) for chunk in chunks]


def _part(progress: Progress, done: int, total: int) -> Progress:
    """The progress of what comes after `done`."""
    return lambda n, _, what: progress(done + n, total, what)


def _joined(words: Built, whole: Built, embedded: int, seconds: float) -> Built:
    """A build in two steps as one, with the texts that were embedded between them."""
    names = dict.fromkeys((*words.seconds, *whole.seconds))
    spent = {name: words.seconds.get(name, 0.0) + whole.seconds.get(name, 0.0) for name in names}
    spent["embed"] = spent.get("embed", 0.0) + seconds
    return replace(
        whole,
        changed=words.changed + whole.changed,
        chunked=words.chunked + whole.chunked,
        embedded=words.embedded + embedded + whole.embedded,
        seconds={name: round(value, 3) for name, value in spent.items()},
        fresh=words.fresh or whole.fresh,
        fallbacks=tuple({**dict(words.fallbacks), **dict(whole.fallbacks)}.items()),
        cost=words.cost + whole.cost,
    )


def _taken_over(base: Any, plan: BuildPlan) -> dict[str, list[str]]:
    """The parent's fallbacks for documents that are taken over."""
    before: Mapping[str, list[str]] = base.manifest.get("fallbacks", {}) if base else {}
    return {path: list(why) for path, why in before.items() if path in plan.rows and path not in plan.changed}


def _bills(base: Parent | None, written: Writer, asked: Bill) -> tuple[Bill, Bill]:
    """What this build pays, and what its generation cost with what it takes over."""
    paid, everything = Bill(), Bill(**{key: (base.manifest if base else {}).get(key, 0) for key in _CALLS})
    for bill in (written.bill, asked):
        paid.join(bill)
    for bill in (paid, written.again):
        everything.join(bill)
    return paid, everything


def _sentence(reasons: Sequence[str]) -> str:
    return "; ".join(why.rstrip(".") for why in reasons) + "."


def _notes(fallbacks: Mapping[str, list[str]], documents: int, bill: Bill) -> list[str]:
    """Remarks shown with a generation.

    >>> _notes({"a.md": ["2 of 9 chunks have structural context only: timed out."]}, 59, Bill())[0][:66]
    '1 of 59 documents indexed in another way than the profile asks, su'
    """
    notes = [f"Language models: {bill}"] if bill.calls else []
    if fallbacks:
        path, why = next(iter(sorted(fallbacks.items())))
        notes.append(
            f"{len(fallbacks)} of {documents} documents indexed in another way than the profile asks, "
            f"such as {path}: {'; '.join(why)} {reindex(full=True).sentence}"
        )
    return notes


def describe(built: Built) -> str:
    """One line for people.

    >>> made = Generation(3, "local", "d", "c" * 40, 59, 520, "", 2.0, 1)
    >>> describe(Built(made, 1, 9, 9, {"embed": 1.5, "lexical": 0.5}))
    'Generation 3: 59 documents, 520 chunks; 1 document changed, 9 chunks new, 9 embedded in 2.0 s (4.5 chunks/s).'
    """
    generation, total = built.generation, built.total
    later = f" Words can be searched; vectors of {generation.pending} chunks follow." if generation.pending else ""
    if not built.fresh:
        return (
            f"Generation {generation.number} is up to date: {generation.documents} documents, {generation.chunks} "
            f"chunks.{later}"
        )
    noun = "document" if built.changed == 1 else "documents"
    return (
        f"Generation {generation.number}: {generation.documents} documents, {generation.chunks} chunks; "
        f"{built.changed} {noun} changed, "
        f"{built.chunked} chunks new, {built.embedded} embedded in {total:.1f} s "
        f"({built.chunked / total if total else 0:.1f} chunks/s).{later}"
    )


def as_json(built: Built) -> dict[str, Any]:
    total = built.total
    return {
        "generation": strict.plain(built.generation),
        "documents": built.generation.documents,
        "chunks": built.generation.chunks,
        "changed_documents": built.changed,
        "new_chunks": built.chunked,
        "embedded": built.embedded,
        "seconds": round(total, 3),
        "seconds_per_stage": dict(built.seconds),
        "chunks_per_second": round(built.chunked / total, 1) if total else None,
        "skipped": [{"path": path, "why": why} for path, why in built.skipped],
        "built": built.fresh,
        "fallbacks": [{"path": path, "why": why} for path, why in built.fallbacks],
        "cost": built.cost,
    }
