"""The numbers and bullets that Word draws before paragraphs and does not keep in their text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BULLET = "•"
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


@dataclass(frozen=True, slots=True)
class Level:
    """How a list writes one of its levels."""

    form: str = "decimal"
    text: str = "%1."
    start: int = 1


@dataclass
class WordNumbers:
    """Counts the lists of one file, paragraph by paragraph, as Word does."""

    levels: Mapping[str, Mapping[int, Level]] = field(default_factory=dict)  # by abstract list
    lists: Mapping[str, str] = field(default_factory=dict)  # its abstract list, by list
    restarts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    styles: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # list and level, by style
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)

    def before(self, paragraph: ElementTree.Element) -> str:
        """What stands before a paragraph; "" where it is in no list."""
        number, depth = self._place(paragraph)
        abstract = self.lists.get(number, "")
        level = self.levels.get(abstract, {}).get(depth)
        if level is None:
            return ""
        counts = self._counts.setdefault(abstract, {})
        if number not in self._met:
            self._met.add(number)
            for n, start in self.restarts.get(number, {}).items():
                counts[n] = start - 1
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [n for n in counts if n > depth]:
            del counts[deeper]
        return self._drawn(abstract, level, counts)

    def _place(self, paragraph: ElementTree.Element) -> tuple[str, int]:
        own = _listed(paragraph.find(f"{W}pPr/{W}numPr"))
        style = _value(paragraph.find(f"{W}pPr/{W}pStyle"))
        number, depth = self.styles.get(style, ("", 0))
        return own if own and own[0] else (number, depth)

    def _drawn(self, abstract: str, level: Level, counts: Mapping[int, int]) -> str:
        if level.form == "bullet":
            return BULLET
        levels = self.levels[abstract]

        def one(match: re.Match[str]) -> str:
            n = int(match[1]) - 1
            known = levels.get(n, Level())
            return numeral(counts.get(n, known.start), known.form)

        return re.sub(r"%(\d)", one, level.text)


def numeral(count: int, form: str) -> str:
    """A number as a list writes it.

    >>> [numeral(4, form) for form in ("decimal", "lowerLetter", "upperRoman", "decimalZero", "none")]
    ['4', 'd', 'IV', '04', '']
    """
    if form == "none":
        return ""
    if form in ("lowerLetter", "upperLetter"):
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters.upper() if form == "upperLetter" else letters
    if form in ("lowerRoman", "upperRoman"):
        letters = ""
        for value, sign in _ROMAN:
            letters, count = letters + sign * (count // value), count % value
        return letters.upper() if form == "upperRoman" else letters
    return f"{count:02}" if form == "decimalZero" else str(count)


def numbers_of(numbering: bytes, styles: bytes) -> WordNumbers:
    """The lists of a file, from its parts for numbering and for styles; either may be empty."""
    root = ElementTree.fromstring(numbering) if numbering else ElementTree.Element("none")
    abstracts = {_attribute(each, "abstractNumId"): _levels(each) for each in root.iter(f"{W}abstractNum")}
    nums = {_attribute(each, "numId"): each for each in root.iter(f"{W}num")}
    lists = {number: _value(each.find(f"{W}abstractNumId")) for number, each in nums.items()}
    restarts = {number: _restarts(each) for number, each in nums.items()}
    return WordNumbers(abstracts, lists, restarts, _styles(styles))


def _levels(abstract: ElementTree.Element) -> dict[int, Level]:
    levels = {}
    for each in abstract.iter(f"{W}lvl"):
        form, text, start = (_value(each.find(f"{W}{name}")) for name in ("numFmt", "lvlText", "start"))
        levels[_whole(_attribute(each, "ilvl"))] = Level(form or "decimal", text, _whole(start, 1))
    return levels


def _restarts(num: ElementTree.Element) -> dict[int, int]:
    given = {each: _value(each.find(f"{W}startOverride")) for each in num.iter(f"{W}lvlOverride")}
    return {_whole(_attribute(each, "ilvl")): _whole(start, 1) for each, start in given.items() if start}


def _styles(raw: bytes) -> dict[str, tuple[str, int]]:
    root = ElementTree.fromstring(raw) if raw else ElementTree.Element("none")
    found = {_attribute(each, "styleId"): _listed(each.find(f"{W}pPr/{W}numPr")) for each in root.iter(f"{W}style")}
    return {name: place for name, place in found.items() if place and place[0]}


def _listed(place: ElementTree.Element | None) -> tuple[str, int] | None:
    if place is None:
        return None
    return _value(place.find(f"{W}numId")), _whole(_value(place.find(f"{W}ilvl")))


def _value(node: ElementTree.Element | None) -> str:
    return _attribute(node, "val") if node is not None else ""


def _attribute(node: ElementTree.Element, name: str) -> str:
    return node.get(f"{W}{name}") or ""


def _whole(text: str, instead: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else instead
