"""Known-item questions: each is made from one place of the knowledge base, and a search should find that place.

The five categories of the compliance benchmark, deterministic by seed. Paraphrases come from synonyms or from a
language model; the source of each judgment says which.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core import strict
from core.analysis import fold
from core.chunking.blocks import Block, Outline, blocks
from core.chunking.sentences import sentences
from core.curation.text.render import plain
from core.evaluation.generators.paraphrase import by_rules
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.ports import Progress, no_progress
from core.types import NOTHING, Document

_ENTITY = re.compile(
    r"""(?<![\w/.-])(?:
        \d{1,3}\ (?:CFR|U\.S\.C\.|USC)\ [\d.]+(?:\([a-z0-9]+\))*      # laws
      | [A-Z][A-Za-z]*[*\#/-][A-Z0-9][\w*\#/-]*                        # FIN-POL-001, CU*BASE, TMS-Lane#7
      | (?:Form|Section|Schedule|Rule|Article)\ [A-Z0-9][\w.-]*
      | [A-Z]{2,}\d+\b | [A-Z]{3,6}\b                                  # RNO1, SWIFT
      | (?:[A-Z][a-z]+\ ){1,2}[A-Z][a-z]+                              # names
    )(?![\w])""",
    re.VERBOSE,
)
_OPENERS = frozenset(
    [
        "A",
        "All",
        "Always",
        "An",
        "Any",
        "Ask",
        "At",
        "Both",
        "By",
        "Call",
        "Check",
        "Contact",
        "Do",
        "Each",
        "Every",
        "File",
        "For",
        "From",
        "If",
        "In",
        "It",
        "Keep",
        "Never",
        "New",
        "Next",
        "No",
        "Of",
        "On",
        "Only",
        "Open",
        "Our",
        "Read",
        "Report",
        "See",
        "Send",
        "Take",
        "The",
        "These",
        "They",
        "This",
        "To",
        "Use",
        "We",
        "When",
        "With",
        "Write",
        "You",
        "Your",
    ]
)  # capitalised because they open a sentence


def entities(text: str) -> list[str]:
    """Names and identifiers of a text, in order of appearance.

    >>> entities("Complete RC-114 for Dana Whitfield under 49 CFR 370.5. The Inbound Manager signs.")
    ['RC-114', 'Dana Whitfield', '49 CFR 370.5', 'Inbound Manager']
    """
    names = []
    for match in _ENTITY.finditer(text):
        words = match[0].rstrip(".-/").split()
        while words and words[0] in _OPENERS:
            words = words[1:]
        if words and (len(words) > 1 or not words[0].istitle()):
            names.append(" ".join(words))
    return list(dict.fromkeys(names))


RULES, LLM = "known-item (rules)", "known-item (llm)"
PER_CATEGORY = 120
PHRASE = (5, 9)  # words of an exact phrase
MOST_HOLDERS = 3  # documents; an entity that more of them name is no known item

Paraphrase = Callable[[str, str, str], tuple[str, str]]
"""(heading, title) to (question, source)."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text directly below it."""

    document: Document
    heading: tuple[str, ...]
    start: int
    end: int

    @property
    def body(self) -> str:
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and the places that answer it; `body` is its section as it is written, where a model rewords it."""

    text: str
    places: tuple[Judgment, ...]
    body: str = ""


@dataclass(frozen=True, slots=True)
class KnownItemSettings:
    """Which known items are asked for."""

    seed: int = 42
    per_category: int = PER_CATEGORY
    name: str = "known-items"
    sizes: Mapping[str, int] = NOTHING  # by category, instead of the same of each


def generate(
    documents: Sequence[Document],
    settings: KnownItemSettings = KnownItemSettings(),
    paraphrase: Paraphrase | None = None,
    progress: Progress = no_progress,
) -> QuerySet:
    """A query set over the documents: the same documents and seed give the same questions."""
    seed, per_category, sizes = settings.seed, settings.per_category, settings.sizes
    corpus = Corpus(tuple(sorted(documents, key=lambda document: document.path)))
    questions: list[Question] = []
    judgments: list[Judgment] = []
    for n, (category, candidates) in enumerate(CATEGORIES.items(), 1):
        pool = {fold(item.text): item for item in candidates(corpus, random.Random(f"{seed}:{category}"))}
        for item in _sample(list(pool.values()), sizes.get(category, per_category), f"{seed}:{category}:sample"):
            if category == "heading_paraphrase":
                item = _reworded(item, paraphrase or by_rules_labelled)
            question = Question(f"{category}-{strict.digest(item.text, 8)}", item.text, category)
            questions.append(question)
            judgments += [replace(place, question=question.id) for place in item.places]
        progress(n, len(CATEGORIES), f"Asking: {category}")
    unique = {question.id: question for question in questions}
    most = f"{sum(sizes.values()):,} asked for" if sizes else f"at most {per_category} per category"
    about = f"known items of {len(corpus.documents)} documents, seed {seed}, {most}"
    return QuerySet(settings.name, tuple(unique.values()), tuple(dict.fromkeys(judgments)), about)


def _sample(items: list[KnownItem], size: int, seed: str) -> list[KnownItem]:
    """At most `size` items, spread over the documents: every document gives one before any gives a second."""
    chance = random.Random(seed)
    chance.shuffle(items)
    turn: Counter[str] = Counter()
    order = []
    for item in items:
        turn[item.places[0].path] += 1
        order.append((turn[item.places[0].path], item))
    return [item for _, item in sorted(order, key=lambda pair: pair[0])][:size]


class Corpus:
    """The documents with their sections, and how many documents hold each word."""

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self.documents = documents
        self.blocks = {document.path: blocks(document) for document in documents}
        self.sections = tuple(section for document in documents for section in sections(document))
        self.words = {document.path: fold(plain(document.text[document.body :])) for document in documents}
        self.holders = Counter(word for text in self.words.values() for word in set(_words(text)))
        self.titles = Counter(fold(section.heading[-1]) for section in self.sections)

    def holding(self, words: str) -> list[str]:
        """Paths of the documents that contain this phrase."""
        phrase = fold(words)
        pattern = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
        return [path for path, text in self.words.items() if phrase in text and pattern.search(text)]


def sections(document: Document) -> Iterator[Section]:
    """The sections of a document that have a heading below the title, without the sections inside them."""
    outline = Outline(document, blocks(document))
    edges = [*(block.start for block in outline.headings), len(document.text)]
    for block, path, end in zip(outline.headings, outline.paths, edges[1:], strict=True):
        if path:
            yield Section(document, path, block.end, end)


# ---------------------------------------------------------------- the five categories


def heading_direct(corpus: Corpus, chance: random.Random) -> Iterator[KnownItem]:
    """Headings as they stand, where a single section of the knowledge base has that heading."""
    for section in corpus.sections:
        heading = section.heading[-1]
        if corpus.titles[fold(heading)] == 1 and len(_words(heading)) > 1:
            yield KnownItem(heading, (Judgment("", section.document.path, section.heading, source=RULES),))


def entity_lookup(corpus: Corpus, chance: random.Random) -> Iterator[KnownItem]:
    """Names, identifiers and form numbers that at most three documents name; each of those is an answer."""
    seen: dict[str, Section] = {}
    for section in corpus.sections:
        for entity in entities(plain(section.body)):
            seen.setdefault(entity, section)
    for entity in seen:
        holders = corpus.holding(entity)
        if 1 <= len(holders) <= MOST_HOLDERS:
            yield KnownItem(entity, tuple(Judgment("", path, source=RULES) for path in holders))


def heading_paraphrase(corpus: Corpus, chance: random.Random) -> Iterator[KnownItem]:
    """Headings to paraphrase; the document's title tells apart those that several documents share."""
    for section in corpus.sections:
        places = (Judgment("", section.document.path, section.heading, source=RULES),)
        yield KnownItem(section.heading[-1], places, section.body)


def exact_phrase(corpus: Corpus, chance: random.Random) -> Iterator[KnownItem]:
    """The rarest phrase of a sentence, where a single document contains it."""
    for section in corpus.sections:
        for raw in _prose(section, corpus):
            phrase = _rarest(raw.split(), corpus, chance.randint(*PHRASE))
            if phrase and len(corpus.holding(phrase)) == 1:
                yield KnownItem(phrase, (Judgment("", section.document.path, section.heading, phrase, source=RULES),))
                break


def first_sentence(corpus: Corpus, chance: random.Random) -> Iterator[KnownItem]:
    """The first sentence of a section, if it has 6 to 40 words."""
    for section in corpus.sections:
        raw = next(iter(_prose(section, corpus)), "")
        if 6 <= len(raw.split()) <= 40:
            yield KnownItem(raw, (Judgment("", section.document.path, section.heading, raw, source=RULES),))


CATEGORIES: Mapping[str, Callable[[Corpus, random.Random], Iterable[KnownItem]]] = {
    "heading_direct": heading_direct,
    "entity_lookup": entity_lookup,
    "heading_paraphrase": heading_paraphrase,
    "exact_phrase": exact_phrase,
    "first_sentence": first_sentence,
}


LACKING: Mapping[str, str] = {
    "heading_direct": "no heading of two words or more stands in one section alone",
    "entity_lookup": f"no name or number stands in at most {MOST_HOLDERS} documents",
    "heading_paraphrase": "no document has a heading below its title",
    "exact_phrase": f"no sentence of {PHRASE[0]} words or more has words that one document alone holds",
    "first_sentence": "no section begins with a sentence of 6 to 40 words",
}
"""What documents lack when a category has no questions."""


def left_out(queryset: QuerySet) -> dict[str, str]:
    """The categories without a question, each with the reason."""
    made = {question.category for question in queryset.questions}
    return {category: LACKING[category] for category in CATEGORIES if category not in made}


def by_rules_labelled(heading: str, title: str, body: str = "") -> tuple[str, str]:
    return by_rules(heading, title), RULES


def _reworded(item: KnownItem, paraphrase: Paraphrase) -> KnownItem:
    place = item.places[0]
    title = place.path.rsplit("/", 1)[-1].removesuffix(".md").replace("-", " ")
    text, source = paraphrase(item.text, title, plain(item.body))
    return KnownItem(text, (replace(place, source=source),))


# ---------------------------------------------------------------- words


def _prose(section: Section, corpus: Corpus) -> Iterator[str]:
    """Sentences of the section's paragraphs that hold no links or markup."""
    document = section.document
    for block in corpus.blocks[document.path]:
        if block.kind == "paragraph" and section.start <= block.start < section.end:
            yield from _sentences(document.text, block)


def _sentences(text: str, block: Block) -> Iterator[str]:
    for start, end in sentences(text, block.start, block.end):
        raw = text[start:end]
        if not re.search(r"[\[\]*_`|<>]", raw):
            yield " ".join(raw.split())


def _rarest(words: Sequence[str], corpus: Corpus, size: int) -> str:
    """The phrase of `size` words whose words the fewest documents hold; the first of equals."""
    phrases = [words[n : n + size] for n in range(len(words) - size + 1)]

    def rarity(phrase: Sequence[str]) -> float:
        return sum(1.0 / corpus.holders.get(word, 10**6) for token in phrase for word in _words(fold(token))[:1])

    best = max(phrases, key=rarity, default=[])
    return " ".join(best).strip(" .,;:!?()\"'")


def _words(text: str) -> list[str]:
    return re.findall(r"\w[\w'*#/.-]*\w|\w", text)
