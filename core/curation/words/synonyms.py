"""`synonyms.yaml` in the knowledge base: words that mean the same here, changed by review as documents are.

    synonyms:
      - PTO = vacation = annual leave
      - laptop -> notebook computer

Words joined by = stand for one another. Who types what stands before -> also finds what stands after it, and not the
other way round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.curation.words.entries import comments, entries, written
from core.errors import BadInput

FILE, KEY = "synonyms.yaml", "synonyms"
MOST, PHRASES, LONGEST = 2000, 12, 80  # synonyms in the file, phrases in one, characters of a phrase
_EXAMPLE = "Write PTO = vacation, or laptop -> notebook computer."


@dataclass(frozen=True, slots=True)
class Synonym:
    """Phrases that mean the same; with `means` they only lead there."""

    words: tuple[str, ...]
    means: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def phrases(self) -> tuple[str, ...]:
        return (*self.words, *self.means)

    @property
    def text(self) -> str:
        """As it is written.

        >>> Synonym(("PTO", "vacation")).text, Synonym(("laptop",), ("notebook computer",)).text
        ('PTO = vacation', 'laptop -> notebook computer')
        """
        return " -> ".join(" = ".join(side) for side in (self.words, self.means) if side)

    def leads(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Each phrase that may be typed, with what else is searched for then.

        >>> dict(Synonym(("PTO", "vacation")).leads())
        {'PTO': ('vacation',), 'vacation': ('PTO',)}
        """
        for word in self.words:
            yield word, self.means or tuple(other for other in self.words if other != word)


def read(raw: bytes) -> tuple[Synonym, ...]:
    """The synonyms of the file; BadInput names the line and what to do.

    >>> [synonym.text for synonym in read(b"synonyms:\\n  - PTO = vacation\\n")]
    ['PTO = vacation']
    """
    listed = entries(raw, FILE, KEY)
    if len(listed) > MOST:
        raise BadInput(f"{FILE} has {len(listed):,} entries; the limit is {MOST:,}.")
    known: dict[Synonym, int] = {}
    for line, value in listed:
        where = f"{FILE}, line {line}"
        if not isinstance(value, str):
            raise BadInput(f"{where}: an entry is one text. {_EXAMPLE}")
        synonym = parse(value, where, line)
        if synonym in known:
            raise BadInput(f"{where}: {synonym.text!r} stands in line {known[synonym]} already. Keep one.")
        known[synonym] = line
    return tuple(known)


def parse(text: str, where: str = "Synonyms", line: int = 0) -> Synonym:
    """One entry.

    >>> parse("PTO = vacation = annual leave").words
    ('PTO', 'vacation', 'annual leave')
    """
    sides = [tuple(" ".join(word.split()) for word in side.split("=")) for side in text.replace("→", "->").split("->")]
    if len(sides) > 2:
        raise BadInput(f"{where}: {text!r} has more than one arrow. {_EXAMPLE}")
    phrases = [phrase for side in sides for phrase in side]
    if len(phrases) < 2 or not all(phrases):
        raise BadInput(f"{where}: {text!r} needs words on both sides of its sign. {_EXAMPLE}")
    if len(phrases) > PHRASES:
        raise BadInput(f"{where}: {len(phrases)} phrases are too many for one entry; the limit is {PHRASES}. Split it.")
    for phrase in phrases:
        _check(phrase, where)
    folded = [phrase.casefold() for phrase in phrases]
    if twice := [phrase for phrase, plain in zip(phrases, folded, strict=True) if folded.count(plain) > 1]:
        raise BadInput(f"{where}: {twice[-1]!r} appears twice in one entry. Keep one.")
    return Synonym(sides[0], sides[1] if len(sides) > 1 else (), line)


def _check(phrase: str, where: str) -> None:
    if len(phrase) > LONGEST:
        raise BadInput(f"{where}: {phrase[:40]!r}… is longer than {LONGEST} characters. Shorten it.")
    if not all(character.isprintable() for character in phrase):
        raise BadInput(f"{where}: {phrase!r} holds a character that cannot be shown. Type it again.")
    if not any(character.isalnum() for character in phrase):
        raise BadInput(f"{where}: {phrase!r} has no word. Name one.")


def write(synonyms: Iterable[Synonym], before: bytes = b"") -> bytes:
    """The file: one line each in the order of the alphabet, so that two changes rarely meet in one place.

    >>> write([Synonym(("PTO", "vacation"))])
    b'synonyms:\\n  - PTO = vacation\\n'
    """
    lines = sorted({synonym.text for synonym in synonyms}, key=lambda text: (text.casefold(), text))
    head = comments(before) if before else ""
    return (head + f"{KEY}:\n" + "".join(f"  - {written(line)}\n" for line in lines)).encode()
