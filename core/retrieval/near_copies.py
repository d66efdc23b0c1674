"""Near-copies among the candidates of one query: the best one is listed, the others are named with it.

A text is a copy of a better one where it says nothing else: the same words, a run of them, or, at the same length, all
but a few plain ones. A number and what it counts, a name, a code, a negation: those must be the same.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from core.curation.upload.shingles import FEWEST, WIDTH

if TYPE_CHECKING:
    import numpy as np

ALIKE = 0.9  # of the shingles of both texts (Jaccard)
LOOK = 3  # times k: so many candidates are looked through for copies
NEARLY = 0.05  # of the best score: a copy in an approved document may be so much worse and still be the one listed
LEAST = FEWEST + WIDTH - 1  # words below which texts must be the same, their title too
BITS, PROBES = 1024, 4  # of the signature of a text's words, and how many of its words are looked up in another's
SIGNATURE = 3 + PROBES  # where it begins in a sketch
SKETCH = SIGNATURE + BITS // 32  # numbers of a sketch
_TITLE = re.compile(r"\s*# [^\n]*")
_MARKUP = tuple(map(re.compile, (rb"\n[ \t]*(?:[-*+>]+[ \t]+)+", rb"\]\((?:[^)\s]*/)?", rb"<[a-zA-Z/][^>\n]*>")))
_SIGNS = bytes(32 if chr(code) in '*_`|#()[]{}.,;:!?"\\' else code for code in range(256))
_QUOTES = tuple(quote.encode() for quote in ("’", "‘", "“", "”", "„"))
_DASHES = frozenset(dash.encode() for dash in ("-", "--", "---", "–", "—"))
_TELLING = frozenset(
    b"no not never none neither nor cannot cant dont doesnt isnt arent mustnt shouldnt wont without except unless only "
    b"zero one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty "
    b"ninety "
    b"hundred thousand half twice daily weekly monthly yearly before after above below more less".split()
)


class ComparedText:
    """What a text says, without markup and white space. Bytes, because they are taken apart several times faster."""

    def __init__(self, text: str) -> None:
        title = _TITLE.match(text)
        words = _words(text[title.end() :] if title else text)
        self.words = words if title is None or len(words) >= LEAST else _words(text)
        self.text = b" %b " % b" ".join(self.words)
        half = len(self.words) // 2
        self.longest = [max(part, key=len, default=b"") for part in (self.words[:half], self.words[half:])]

    @cached_property
    def vocabulary(self) -> frozenset[bytes]:
        return frozenset(self.words)

    @cached_property
    def telling(self) -> list[bytes]:
        """Words that make a difference, and the one after each: numbers, names, codes, negations."""
        tells = [not (word.isalpha() and word.islower()) or word in _TELLING for word in self.words]
        after = [False, *tells]
        return [word for word, here, before in zip(self.words, tells, after, strict=False) if here or before]

    @cached_property
    def shingles(self) -> frozenset[tuple[bytes, ...]]:
        return frozenset(zip(*(self.words[n:] for n in range(WIDTH)), strict=False))

    def copies(self, other: ComparedText) -> bool:
        """Whether the other text holds all that this one says.

        >>> limit = "Payments over 500 dollars need a second signature from a supervisor on the same day."
        >>> (
        ...     ComparedText(limit).copies(ComparedText("**Note:** " + limit)),
        ...     ComparedText(limit).copies(ComparedText(limit.replace("5", "6"))),
        ... )
        (True, False)
        """
        if len(self.words) < LEAST:
            return bool(self.words) and self.text == other.text
        within = all(word in other.vocabulary for word in self.longest)  # cheaper to see than whether all of it is
        return (within and self.text in other.text) or (self._as_long_as(other) and self._alike(other))

    def _as_long_as(self, other: ComparedText) -> bool:
        return len(self.words) >= ALIKE * len(other.words) and len(other.words) >= ALIKE * len(self.words)

    def _alike(self, other: ComparedText) -> bool:
        if self.telling != other.telling:
            return False
        shared = len(self.shingles & other.shingles)
        return shared >= ALIKE * (len(self.shingles) + len(other.shingles) - shared)


@lru_cache(maxsize=8192)
def compared(text: str) -> ComparedText:
    """The wording of a text; the same passages are found again and again."""
    return ComparedText(text)


def groups(
    order: Sequence[int],
    text: Callable[[int], str],
    k: int,
    whole: Callable[[int], str] | None = None,
    maybe: Mapping[int, Sequence[int]] | None = None,
) -> list[list[int]]:
    """The first k that are distinct, each followed by its copies; what comes after them stands by itself.

    Candidates are looked through until k are distinct, and on to `LOOK` times k: a copy may stand below the last hit.
    Where a candidate stands for a `whole` document, that must be a copy, too: a page that says more hides behind none.
    `maybe` has the earlier places of which a candidate may be a copy, if sketches of the first `LOOK` times k told.

    >>> said = {7: "Ring the bell.", 8: "Lock the door.", 9: "Ring  the *bell*."}
    >>> (
    ...     groups([7, 8, 9], said.__getitem__, 2),
    ...     groups([7, 9], said.__getitem__, 2, {7: "Ring.", 9: "Ring. Wait."}.__getitem__),
    ... )
    ([[7, 9], [8]], [[7], [9]])
    """
    said = cache(lambda candidate: compared(text(candidate)))

    def alike(one: int, other: int) -> bool:
        return whole is None or compared(whole(one)).copies(compared(whole(other)))

    def group_of(candidate: int, near: Sequence[list[int]]) -> list[int] | None:
        own = said(candidate)
        same = [group for group in near if own.words and said(group[0]).text == own.text]
        if same and alike(candidate, same[-1][0]):
            return same[-1]
        first, second = own.longest  # whoever has neither is no copy: cheap to see, and so it is with nearly all
        for group in near:
            other = said(group[0])
            within = first in other.vocabulary or second in other.vocabulary
            if within and own.copies(other) and alike(candidate, group[0]):
                return group
        return None

    distinct: dict[int, list[int]] = {}  # by the place of the first
    rest: list[list[int]] = []
    for place, candidate in enumerate(order):
        if place >= LOOK * k and len(distinct) >= k:
            return [*distinct.values(), *rest, *([other] for other in order[place:])]
        looked = maybe is not None and place < LOOK * k
        near = [distinct[n] for n in (maybe or {}).get(place, ()) if n in distinct] if looked else [*distinct.values()]
        group = group_of(candidate, near) if near else None
        if group is not None:
            group.append(candidate)
        elif len(distinct) < k:
            distinct[place] = [candidate]
        else:
            rest.append([candidate])
    return [*distinct.values(), *rest]


def sketched(texts: Iterable[str]) -> np.ndarray:
    """What tells quickly that a text is no copy of another, a row for each: how many words, sums of all of it and of
    the telling words, words to look up in another's signature, and the own signature of all words (Bloom 1970)."""
    import numpy as np

    rows = [_sketch(ComparedText(text)) for text in texts]
    return np.array(rows, np.uint32).reshape(len(rows), SKETCH)


def _sketch(text: ComparedText) -> list[int]:
    signature = [0] * (BITS // 32)
    for word in text.vocabulary:
        bit = zlib.crc32(word) % BITS
        signature[bit >> 5] |= 1 << (bit & 31)
    cuts = [len(text.words) * n // PROBES for n in range(PROBES + 1)]
    longest = [max(text.words[start:end], key=len, default=b"") for start, end in pairwise(cuts)]
    probes = (zlib.crc32(word or text.longest[1]) % BITS for word in longest)
    return [len(text.words), zlib.crc32(text.text), zlib.crc32(b" ".join(text.telling)), *probes, *signature]


def possible(rows: np.ndarray) -> np.ndarray:
    """Which of some texts may be copies of which others, by their sketches: never fewer than there are."""
    words, text, telling = (rows[:, n] for n in range(3))
    probes = rows[:, 3:SIGNATURE]
    held = rows[:, SIGNATURE:][:, probes >> 5] >> (probes & 31) & 1  # whether the first has a word of the second
    one, other = words[:, None], words[None, :]
    within = held.all(axis=2).T & (one <= other)
    alike = (telling[:, None] == telling) & (one >= ALIKE * other) & (other >= ALIKE * one)
    may: np.ndarray = (text[:, None] == text) | ((one >= LEAST) & (within | alike))
    return may


def led(group: Sequence[int], score: Callable[[int], float], approved: Callable[[int], bool]) -> list[int]:
    """A group with the one that is listed first: the best, or an approved one that is nearly as good.

    >>> led([4, 7], {4: 1.0, 7: 0.97}.__getitem__, {4: False, 7: True}.__getitem__)
    [7, 4]
    """
    best = group[0]
    if len(group) == 1 or approved(best):
        return list(group)
    least = score(best) - NEARLY * abs(score(best))
    first = next((other for other in group if approved(other) and score(other) >= least), best)
    return [first, *(other for other in group if other != first)]


def _words(text: str) -> list[bytes]:
    raw = b"\n" + text.encode("utf-8", "surrogatepass").replace(b"\xc2\xa0", b" ")
    for markup in _MARKUP:
        raw = markup.sub(b"\n", raw)
    if b"\xe2\x80" in raw:
        for quote in _QUOTES:
            raw = raw.replace(quote, b"")
    words = raw.translate(_SIGNS, b"'").split()
    return words if _DASHES.isdisjoint(words) else [word for word in words if word not in _DASHES]
