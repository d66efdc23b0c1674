"""Which words of a query a document has, in which field and passage, and which it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import analyser, options_for
from core.ports import Index

FIELDS = ("title", "heading", "text")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query: the fields of the document that have it, its chunks that do, and whether any document does."""

    word: str
    fields: tuple[str, ...]
    chunks: tuple[str, ...]
    known: bool

    @property
    def sentence(self) -> str:
        """Where the word stands.

        >>> QueryWord("keep", ("heading", "text"), ("c1", "c2"), True).sentence
        'in a heading and the text, 2 passages'
        >>> QueryWord("kept", (), (), False).sentence
        'in no document'
        """
        if not self.fields:
            return "not in this document" if self.known else "in no document"
        places = {"title": "the title", "heading": "a heading", "text": "the text"}
        listed = " and ".join(places[field] for field in self.fields)
        return f"in {listed}, {len(self.chunks)} passage{'' if len(self.chunks) == 1 else 's'}"


def query_words(index: Index, document: int, query: str) -> tuple[QueryWord, ...]:
    """Each word of the query that counts, in the order in which it was asked."""
    options = options_for(query, index.profile.lexical)
    analyse, only_stops = analyser(options), options != index.profile.lexical
    wanted: dict[str, str] = {}
    for start, end, terms in analyse.words(query):
        if terms:
            wanted.setdefault(terms[0], query[start:end])
    passages = {number: index.passage(number) for number in index.chunks_of(document)}
    texts = {number: set(analyse(index.excerpt(number))) for number in passages}
    read = {number: texts[number] | set(analyse(index.context(number))) for number in passages}
    terms_of = {
        "title": set(analyse(index.documents[document].title)),
        "heading": {term for passage in passages.values() for term in analyse(" ".join(passage.heading))},
        "text": set().union(*texts.values()),
    }
    return tuple(
        QueryWord(
            word,
            tuple(field for field in FIELDS if term in terms_of[field]),
            tuple(passage.id for number, passage in passages.items() if term in read[number]),
            only_stops or index.rarity(term) > 0,
        )
        for term, word in wanted.items()
    )
