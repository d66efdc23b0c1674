"""The short fields of several segments as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.storage.index.arrays import image
from core.storage.index.arrays.fields import OF_PASSAGES, POINTS, Field, OwnerScores
from core.storage.index.arrays.kernels import fit
from core.storage.index.arrays.stitched import MergedSegments
from core.types import FIELDS


class StitchedField:
    """One field of several segments: a word's worth counts the entries of all."""

    def __init__(self, parts: Sequence[Field], stitched: MergedSegments, of_chunks: bool) -> None:
        self._parts = parts
        numbering = stitched.chunks if of_chunks else stitched.documents
        self._owner_of = np.arange(len(numbering)) if of_chunks else stitched.doc_of
        self._owners = len(numbering)
        self._owner = [numbers[part.owner] for part, numbers in zip(parts, numbering.numbers, strict=True)]  # -1: gone
        self._entries = sum(int((owner >= 0).sum()) for owner in self._owner)
        self._worth = self._worths([self._frequencies(n) for n in range(len(parts))])
        self._whole = [
            np.bincount(part.where, np.repeat(worth, np.diff(part.start)), minlength=len(part.owner))
            for part, worth in zip(parts, self._worth, strict=True)
        ]

    def _frequencies(self, n: int) -> np.ndarray:
        """How many live entries of a part hold each of its terms."""
        part, gone = self._parts[n], self._owner[n] < 0
        held = np.diff(part.start)
        if gone.any():
            held = held - np.bincount(np.repeat(np.arange(len(held)), held)[gone[part.where]], minlength=len(held))
        return held

    def _worths(self, frequencies: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The worth of each term of each part: what its live entries in all parts make of it."""
        largest = max(range(len(self._parts)), key=lambda n: len(frequencies[n]))
        totals = [own.copy() for own in frequencies]
        for n, part in enumerate(self._parts):
            for term in part.vocabulary if n != largest else ():
                others = [
                    (m, other.vocabulary[term]) for m, other in enumerate(self._parts) if term in other.vocabulary
                ]
                for m, place in others:
                    totals[m][place] = sum(int(frequencies[k][own]) for k, own in others)
        return [image.inverse_frequencies(total, self._entries) for total in totals]

    def scores(self, terms: Sequence[str]) -> OwnerScores:
        """The scores of the entries that fit best. The terms are looked up once."""
        return OwnerScores(self._best(terms), self._owner_of)

    def _best(self, terms: Sequence[str]) -> np.ndarray:
        best = np.zeros(self._owners)
        asked = self._asked(terms)
        for part, owner, worth, whole in zip(self._parts, self._owner, self._worth, self._whole, strict=True):
            known = [part.vocabulary[term] for term in terms if term in part.vocabulary]
            if known:
                lists = [part.where[part.start[term] : part.start[term + 1]] for term in known]
                held = np.repeat(worth[known], [len(entries) for entries in lists])
                said = np.bincount(np.concatenate(lists), held, minlength=len(owner))
                entries = np.flatnonzero((said > 0) & (owner >= 0))
                np.maximum.at(best, owner[entries], fit(said[entries], whole[entries], asked))
        return POINTS * best

    def _asked(self, terms: Sequence[str]) -> float:
        rarest = float(image.inverse_frequencies(np.zeros(1), max(1, self._entries))[0])
        known = [worth for term in terms if (worth := self._worth_of(term, rarest)) < rarest]
        return float(np.array(known).sum()) + rarest * (len(terms) - len(known))

    def _worth_of(self, term: str, unknown: float) -> float:
        for part, worth in zip(self._parts, self._worth, strict=True):
            if term in part.vocabulary:
                return float(worth[part.vocabulary[term]])
        return unknown


def stitched_fields(parts: Sequence[Mapping[str, Field]], together: MergedSegments) -> dict[str, StitchedField]:
    """The fields of several segments."""
    return {name: StitchedField([part[name] for part in parts], together, name in OF_PASSAGES) for name in FIELDS}
