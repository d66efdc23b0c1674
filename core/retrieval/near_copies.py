"""Near-copies among the candidates of one query: the best one is listed, the others are named with it.

A text is a copy of a better one where it says nothing else: the same words, a run of them, or, at the same length, all
but a few plain ones. A number and what it counts, a name, a code, a negation: those must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from core.curation.upload.shingles import FEWEST, WIDTH

ALIKE = 0.9  # of the shingles of both texts (Jaccard)
LOOK = 3  # times k: so many candidates are looked through for copies
NEARLY = 0.05  # of the best score: a copy in an approved document may be so much worse and still be the one listed
LEAST = FEWEST + WIDTH - 1  # words below which texts must be the same, their title too
_TITLE = re.compile(r"\s*# [^\n]*")
_MARKUP = tuple(map(re.compile, (rb"\n[ \t]*(?:[-*+>]+[ \t]+)+", rb"\]\((?:[^)\s]*/)?", rb"<[a-zA-Z/][^>\n]*>")))
_SIGNS = bytes(32 if chr(code) in '*_`|#()[]{}.,;:!?"\\' else code for code in range(256))
_QUOTES = tuple(quote.encode() for quote in ("’", "‘", "“", "”", "„"))
_DASHES = frozenset(dash.encode() for dash in ("-", "--", "---", "–", "—"))
_TELLING = frozenset(
    b"no not never none neither nor cannot cant dont doesnt isnt arent mustnt shouldnt wont without except unless only "
    b"zero one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety "
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
        after = [False, *tells[:-1]]
        return [word for word, here, before in zip(self.words, tells, after, strict=True) if here or before]

    @cached_property
    def shingles(self) -> frozenset[tuple[bytes, ...]]:
        return frozenset(zip(*(self.words[n:] for n in range(WIDTH)), strict=False))

    def copies(self, other: ComparedText) -> bool:
        """Whether the other text holds all that this one says.

        >>> limit = "Payments over 500 dollars need a second signature from a supervisor on the same day."
        >>> ComparedText(limit).copies(ComparedText("**Note:** " + limit)), ComparedText(limit).copies(ComparedText(limit.replace("5", "6")))
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
    order: Sequence[int], text: Callable[[int], str], k: int, whole: Callable[[int], str] | None = None
) -> list[list[int]]:
    """The first k that are distinct, each followed by its copies; what comes after them stands by itself.

    Candidates are looked through until k are distinct, and on to `LOOK` times k: a copy may stand below the last hit.
    Where a candidate stands for a `whole` document, that must be a copy, too: a page that says more hides behind none.

    >>> said = {7: "Ring the bell.", 8: "Lock the door.", 9: "Ring  the *bell*."}
    >>> groups([7, 8, 9], said.__getitem__, 2), groups([7, 9], said.__getitem__, 2, {7: "Ring.", 9: "Ring. Wait."}.__getitem__)
    ([[7, 9], [8]], [[7], [9]])
    """

    def alike(one: int, other: int) -> bool:
        return whole is None or compared(whole(one)).copies(compared(whole(other)))

    distinct: list[tuple[frozenset[bytes], ComparedText, list[int]]] = []
    same: dict[bytes, list[int]] = {}
    rest: list[list[int]] = []
    for place, candidate in enumerate(order):
        if place >= LOOK * k and len(distinct) >= k:
            return [*(group for _, _, group in distinct), *rest, *([other] for other in order[place:])]
        own = compared(text(candidate))
        group = same.get(own.text) if own.words else None
        if group is None or not alike(candidate, group[0]):
            first, second = own.longest  # whoever has neither is no copy: cheap to see, and so it is with nearly all
            near = [(other, group) for words, other, group in distinct if first in words or second in words]
            group = next((group for other, group in near if own.copies(other) and alike(candidate, group[0])), None)
        if group is not None:
            group.append(candidate)
        elif len(distinct) < k:
            distinct.append((own.vocabulary, own, [candidate]))
            same[own.text] = distinct[-1][2]
        else:
            rest.append([candidate])
    return [*(group for _, _, group in distinct), *rest]


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
