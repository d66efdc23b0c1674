"""How many chunks hold a word, and how many titles, paths, tags, headings and questions do.

Scores need these numbers of the whole collection and nothing else of it. A build takes the parent's, without what goes
and with what comes, so they are exact; a reader looks a word up in a mapped file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import log, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.lru import last_results
from core.storage.serving import fields, image
from core.types import FIELDS

PASSAGE = "passage"
Analyse = Callable[[str], list[str]]


class Counts:
    """Words by where they stand (`passage`, or a field), while a build adds and takes away."""

    def __init__(self, holders: Mapping[str, int], entries: Mapping[str, int], tokens: int) -> None:
        self.holders, self.entries, self.tokens = Counter(holders), Counter(entries), tokens

    def passages(self, terms: Iterable[str], sign: int) -> None:
        """Count the words of chunks, or take them away again."""
        for words in map(str.split, terms):
            self.tokens += sign * len(words)
            self._entry(PASSAGE, set(words), sign)

    def fields(self, documents: pa.Table, rows: pa.Table, analyse: Analyse, sign: int) -> None:
        """Count the words of the fields of documents, and of the headings above their chunks."""
        for name in FIELDS:
            for text in (text for own in fields.texts(name, documents, rows) for text in own):
                self._entry(name, set(analyse(text)), sign)

    def _entry(self, name: str, words: Iterable[str], sign: int) -> None:
        self.entries[name] += sign
        self.holders.update({f"{name} {word}": sign for word in words})

    def write(self, folder: Path) -> dict[str, int]:
        """Write the numbers, by word; what is left goes into the manifest."""
        keys = sorted(key for key, holders in self.holders.items() if holders > 0)
        image.write_table(folder / "words.arrow", pa.table({"word": pa.array(keys, pa.string())}))
        np.save(folder / "holders.npy", np.array([self.holders[key] for key in keys], dtype=np.int32))
        return {"tokens": self.tokens, **{f"{name} entries": count for name, count in sorted(self.entries.items())}}


class Statistics:
    """The numbers of one generation."""

    def __init__(self, folder: Path, totals: Mapping[str, int]) -> None:
        self._words = image.MappedTexts(image.read_table(folder / "words.arrow"), "word")
        self._holders = image.map_array(folder / "holders.npy")
        self._totals = totals
        self.holders = last_results(self._looked_up, 50_000)

    def counts(self) -> Counts:
        """The same numbers, to be changed."""
        entries = {name: self.entries(name) for name in (PASSAGE, *FIELDS)}
        holders = dict(zip(self._words.all(), self._holders.tolist(), strict=True))
        return Counts(holders, entries, self._totals["tokens"])

    def entries(self, name: str) -> int:
        return self._totals.get(f"{name} entries", 0)

    @property
    def mean_length(self) -> float:
        """Words of a chunk."""
        chunks = self.entries(PASSAGE)
        return self._totals["tokens"] / chunks if chunks and self._totals["tokens"] else 1.0

    def _looked_up(self, name: str, word: str) -> int:
        """How many entries of a place hold a word."""
        key = f"{name} {word}"
        at = bisect_left(self._words, key)  # type: ignore[call-overload]
        return int(self._holders[at]) if at < len(self._words) and self._words[at] == key else 0

    def rarity(self, name: str, word: str) -> float:
        """The inverse frequency of a word; the greatest for one that nothing holds."""
        held, entries = self.holders(name, word), max(1, self.entries(name))
        return log((entries - held + 0.5) / (held + 0.5) + 1.0)

    def fit(self, name: str, terms: Sequence[str], entries: Iterable[frozenset[str]]) -> float:
        """How well a question fits the best of some entries of a field, from 0 to 10 points."""
        asked = sum(self.rarity(name, term) for term in terms)
        return max((self._fit(name, terms, entry, asked) for entry in entries), default=0.0)

    def _fit(self, name: str, terms: Sequence[str], entry: frozenset[str], asked: float) -> float:
        said = sum(self.rarity(name, term) for term in terms if term in entry)
        whole = sum(self.rarity(name, term) for term in entry) if said else 1.0
        return fields.POINTS * said / whole * sqrt(said / asked) if said else 0.0

    def vocabulary(self) -> PassageWords:
        return PassageWords(self._words, partial(self.holders, PASSAGE))


class ReducedStatistics(Statistics):
    """The numbers of a generation without some of its documents."""

    def __init__(self, whole: Statistics, gone: Counts) -> None:
        self._words, self._holders, self._gone = whole._words, whole._holders, gone
        less = {"tokens": gone.tokens, **{f"{name} entries": count for name, count in gone.entries.items()}}
        self._totals = {name: count - less.get(name, 0) for name, count in whole._totals.items()}
        self.holders = last_results(self._looked_up, 50_000)

    def _looked_up(self, name: str, word: str) -> int:
        return super()._looked_up(name, word) - self._gone.holders[f"{name} {word}"]


class PassageWords(Mapping[str, int]):
    """The words of chunks with their numbers, looked up in a mapped file."""

    def __init__(self, words: image.MappedTexts, holders: Callable[[str], int]) -> None:
        self._words, self._holders = words, holders
        self._first, self._end = (bisect_left(words, f"{PASSAGE}{sign}") for sign in (" ", "!"))  # type: ignore[call-overload]

    def __getitem__(self, word: str) -> int:
        if not self._holders(word):
            raise KeyError(word)
        return int(bisect_left(self._words, f"{PASSAGE} {word}")) - self._first  # type: ignore[call-overload]

    def __iter__(self) -> Iterator[str]:
        words = (self._words[at][len(PASSAGE) + 1 :] for at in range(self._first, self._end))
        return filter(self._holders, words)

    def __len__(self) -> int:
        return sum(1 for _ in self)
