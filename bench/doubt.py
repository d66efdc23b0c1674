"""Doubt about the first result on every shared collection, and cheap rankings against a word that is only nearly said.

Nothing is indexed anew for a candidate: the legs are those of the index, and a word's part of BM25 is scaled where a
passage has it in another form, as a part of a longer name, or in the target of a link alone.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np

from bench.confidence import AskedCollection, QuestionedFiles, sources
from bench.corpus import SHARED
from bench.disagreements import wilson
from core.access import SYSTEM
from core.analysis import analyser, fold
from core.bootstrap import build, evaluation_workspace
from core.chunking import with_context
from core.evaluation.measures.by_name import ndcg
from core.evaluation.statistics import compare
from core.ports import Index, Leg
from core.retrieval import config as configs
from core.retrieval import pipeline
from core.retrieval.confidence import LOOKED_AT, lacking, word_worths
from core.retrieval.methods import LegQuery
from core.settings import load
from core.storage.index.arrays.tfidf import FullLeg
from core.types import Filters

SEED = 5
LARGE = {"scifact": 600, "hotpotqa_200": 600, "18f-handbook": 120, "chunking": 150}  # documents; all that answer stay
THINNED = {"nfcorpus": 700}  # documents at random, and what answers only where it is among them
SIZE = 3_000  # characters of a document that a long text is cut into
QUESTIONS = 150  # of a set whose answers would be everything
CONFIG = configs.RECOMMENDED
STEM, PART, LINK = "stem", "part", "link"  # ways of holding a word less than as it was asked
CANDIDATES: Mapping[str, Mapping[str, float]] = {
    "another form of the word .7": {STEM: 0.7},
    "another form of the word .4": {STEM: 0.4},
    "part of a longer name .7": {PART: 0.7},
    "part of a longer name .4": {PART: 0.4},
    "both .7": {STEM: 0.7, PART: 0.7},
    "no targets of links": {LINK: 0.0},
}
_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()]*\))?[^()]*\)")
_PARTS = re.compile(r"[^\W_]+")


# ---------------------------------------------------------------- collections


def collections() -> Iterator[QuestionedFiles]:
    """All that `confidence` is measured on and the corpora of chunking_evaluation; large ones as samples."""
    for source in sources():
        yield _smaller(source)
    if (SHARED / "chunking_evaluation").is_dir():
        yield _smaller(_cut_corpora(SHARED / "chunking_evaluation"))


def _smaller(source: QuestionedFiles) -> QuestionedFiles:
    """At most so many documents, the same every time."""
    chance = random.Random(SEED)
    if source.name in THINNED:
        kept = set(chance.sample(sorted(source.files), THINNED[source.name]))
        return _only(source, kept, {query: paths & kept for query, paths in source.answers.items() if paths & kept})
    if source.name not in LARGE or len(source.files) <= LARGE[source.name]:
        return source
    judged = sorted(query for query in source.questions if source.answers.get(query))
    if source.name == "chunking":
        judged = sorted(chance.sample(judged, QUESTIONS))
    kept = {path for query in judged for path in source.answers[query]}
    rest = sorted(source.files.keys() - kept)
    kept |= set(chance.sample(rest, max(0, min(len(rest), LARGE[source.name] - len(kept)))))
    return _only(source, kept, {query: source.answers[query] for query in judged})


def _only(source: QuestionedFiles, paths: set[str], answers: Mapping[str, frozenset[str]]) -> QuestionedFiles:
    files = {path: source.files[path] for path in sorted(paths)}
    return replace(
        source, files=files, questions={query: source.questions[query] for query in answers}, answers=answers
    )


def _cut_corpora(folder: Path) -> QuestionedFiles:
    """Five long texts as documents of some pages; those answer that overlap a place that the answer was taken from."""
    files: dict[str, str] = {}
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for path in sorted((folder / "corpora").glob("*.md")):
        text, start = path.read_text(), 0
        pages = spans.setdefault(path.stem, [])
        while start < len(text):
            end = text.find("\n", start + SIZE) + 1 or len(text)
            pages.append((start, end, f"{path.stem}/{len(pages):04d}.md"))
            files[pages[-1][2]] = text[start:end]
            start = end
    questions, answers = {}, {}
    with (folder / "questions_df.csv").open() as lines:
        for n, row in enumerate(csv.DictReader(lines)):
            places = [(place["start_index"], place["end_index"]) for place in json.loads(row["references"])]
            pages = spans[row["corpus_id"]]
            hit = (path for start, end, path in pages if any(start < b and a < end for a, b in places))
            questions[str(n)], answers[str(n)] = row["question"], frozenset(hit)
    return QuestionedFiles("chunking", files, questions, answers)


# ---------------------------------------------------------------- asking


class Forms:
    """How each passage holds each term: in which forms, as a part of a longer name, in the target of a link alone."""

    def __init__(self, index: Index) -> None:
        self.index, analyse = index, analyser(index.profile.lexical)
        self.forms: dict[str, dict[int, set[str]]] = {}
        self.whole: dict[str, set[int]] = {}
        self.visible: dict[str, set[int]] = {}
        for chunk in range(index.size):
            text = with_context(index.context(chunk), index.excerpt(chunk))
            targets = [match.span() for match in _TARGET.finditer(text)]
            for start, end, terms in analyse.words(text):
                seen = not any(a <= start < b for a, b in targets)
                for term in terms:
                    if seen:
                        self.visible.setdefault(term, set()).add(chunk)
                    if len(terms) == 1 or term == terms[0]:
                        self.whole.setdefault(term, set()).add(chunk)
                    self.forms.setdefault(term, {}).setdefault(chunk, set()).update(
                        _PARTS.findall(fold(text[start:end]))
                    )

    def scale(self, word: str, term: str, weights: Mapping[str, float]) -> np.ndarray:
        """What a passage's points for a word of a question are multiplied by."""
        scale, asked = np.ones(self.index.size), fold(word)
        whole, visible = self.whole.get(term, set()), self.visible.get(term, set())
        for chunk, forms in self.forms.get(term, {}).items():
            if asked not in forms:
                scale[chunk] *= weights.get(STEM, 1.0)
            if chunk not in whole:
                scale[chunk] *= weights.get(PART, 1.0)
            if chunk not in visible:
                scale[chunk] *= weights.get(LINK, 1.0)
        return scale


@dataclass(frozen=True)
class Answer:
    """What a search found for a judged question."""

    right: bool  # the first result
    doubted: bool
    lacking: bool  # the first result lacks a word that a later one has
    gain: float  # nDCG@10


@dataclass
class Asker:
    """A collection whose questions are asked under several rankings."""

    asked: AskedCollection
    every: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.every = np.arange(self.asked.index.size)

    @cached_property
    def forms(self) -> Forms:
        return Forms(self.asked.index)

    def answers(self, weights: Mapping[str, float] | None = None) -> list[Answer]:
        """Every judged question; `weights` scale words of BM25."""
        leg = partial(self._leg, weights) if weights else pipeline.open_leg
        context = pipeline.SearchContext(embed=self.asked.vector, filters=Filters(history=True), open_leg=leg)
        return [
            self._answer(text, self.asked.answers[query], self.asked.excluded.get(query, frozenset()), context)
            for query, text in self.asked.questions.items()
            if self.asked.answers.get(query)
        ]

    def _answer(
        self, text: str, right: frozenset[str], without: frozenset[str], context: pipeline.SearchContext
    ) -> Answer:
        index = self.asked.index
        found = pipeline.search(text, replace(CONFIG, k=20), index, context).hits
        hits = [hit for hit in found if hit.path not in without]
        first = [number for hit in hits[:LOOKED_AT] if (number := index.number(hit.chunk)) is not None]
        gains = dict.fromkeys(right - without, 1.0)
        paths = list(dict.fromkeys(hit.path for hit in hits))
        return Answer(
            bool(paths) and paths[0] in right,
            bool(lacking(" ".join(text.split()), first, index)),
            _lacks(text, first, index),
            ndcg(paths, gains, 10),
        )

    def _leg(self, weights: Mapping[str, float], name: str, asked: LegQuery, index: Index) -> Leg:
        leg = pipeline.open_leg(name, asked, index)
        return FullLeg(lambda: self._scaled(leg, asked.query, weights)) if name == "bm25" else leg

    def _scaled(self, leg: Leg, text: str, weights: Mapping[str, float]) -> np.ndarray:
        """All scores of the leg, less what is taken from words that a passage holds in a lesser way."""
        scores = np.array(leg.score(self.every.tolist()))
        for word, term in self._words(text):
            points = self._points(word)
            scores -= points * (1.0 - self.forms.scale(word, term, weights))
        return scores

    def _words(self, text: str) -> list[tuple[str, str]]:
        """The words of a question that are one term, each term once."""
        words = analyser(self.asked.index.profile.lexical).words(text)
        return list({terms[0]: (text[a:b], terms[0]) for a, b, terms in words if len(terms) == 1}.values())

    @cached_property
    def _points(self) -> Callable[[str], np.ndarray]:
        return cache(lambda word: np.array(self.asked.index.bm25(word).score(self.every.tolist())))


def _lacks(text: str, chunks: Sequence[int], index: Index) -> bool:
    """Whether the first passage lacks a word of the question that a later one of another document has."""
    if len(chunks) < 2:
        return False
    documents = index.documents_of(chunks)
    others = [chunk for chunk, document in zip(chunks, documents, strict=True) if document != documents[0]]
    return any(
        not index.holding(term, chunks[:1])[0] and any(index.holding(term, others)) for term in word_worths(text, index)
    )


# ---------------------------------------------------------------- tables


def measure(home: Path) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Rows of doubt, rows of the candidates, over all and by collection, and the names of the collections."""
    main = build(load(home=home / "doubt"))
    plain: dict[str, list[Answer]] = {}
    others: dict[str, dict[str, list[Answer]]] = {name: {} for name in CANDIDATES}
    for source in collections():
        asker = Asker(AskedCollection(evaluation_workspace(main, SYSTEM, f"doubt-{source.name}"), source))
        plain[source.name] = asker.answers()
        for name, weights in CANDIDATES.items():
            others[name][source.name] = asker.answers(weights)
    rows = [_doubt_row(name, answers) for name, answers in plain.items()]
    return rows, list(_candidate_rows(plain, others)), list(plain)


def _doubt_row(name: str, answers: Sequence[Answer]) -> list[str]:
    right = [answer.doubted for answer in answers if answer.right]
    wrong = [answer.doubted for answer in answers if not answer.right]
    return [name, str(len(answers)), _share(right), _share(wrong)]


def _share(said: Sequence[bool]) -> str:
    low, high = wilson(sum(said), len(said))
    return f"{sum(said)} of {len(said)}, {sum(said) / max(1, len(said)):.1%} ({100 * low:.1f} to {100 * high:.1f})"


def _candidate_rows(
    plain: Mapping[str, list[Answer]], others: Mapping[str, Mapping[str, list[Answer]]]
) -> Iterator[list[str]]:
    """For each candidate nDCG@10 less that of today: over all questions, over the family, and each collection."""
    base = [answer for answers in plain.values() for answer in answers]
    yield [
        "as shipped",
        f"{np.mean([a.gain for a in base]):.4f}",
        f"{np.mean([a.gain for a in base if a.lacking]):.4f}",
    ] + [f"{np.mean([a.gain for a in answers]):.4f}" for answers in plain.values()]
    for name, by_collection in others.items():
        after = [answer for collection in plain for answer in by_collection[collection]]
        pairs = list(zip(base, after, strict=True))
        yield [name, _gained(pairs), _gained([pair for pair in pairs if pair[0].lacking])] + [
            _gained(list(zip(answers, by_collection[collection], strict=True))) for collection, answers in plain.items()
        ]


def _gained(pairs: Sequence[tuple[Answer, Answer]]) -> str:
    """The mean difference with its 95 % interval; the paired bootstrap."""
    interval = compare([one.gain for one, _ in pairs], [other.gain for _, other in pairs]).difference
    return f"{interval.mean:+.4f} ({interval.low:+.4f} to {interval.high:+.4f})"
