"""A document as claims: its sentences, list items and table cells with their values, names and negations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from core.analysis import analyser
from core.chunking.blocks import Block, Outline, blocks
from core.chunking.sentences import sentences
from core.disagreements import word_lists
from core.disagreements.values import WORDS, Value, comparable, compatible, number, values
from core.types import Document, LexicalOptions

LONGEST = 600  # characters of a sentence that is read
_TERMS = analyser(LexicalOptions())

_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\s]*(?:\([^()]*\))?[^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"<[^<>\n]{1,200}>")
_MARK = re.compile(r"^(?:\s|>)*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?(?:\[[ xX]\]\s+)?")
_ITEM = re.compile(r"(?<=\n)[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3}|~~)(?=\S)|(?<=\S)(\*{1,3}|_{1,3}|~~)(?![\w*])")
_CELL = re.compile(r"(?<!\\)\|")
_TIMES_BEFORE, _TIMES_AFTER = re.compile(r"\d.*\s[x×*=+]\s*$"), re.compile(r"[^.;,]{0,20}\s[x×*=+]\s*\d")
_CUT = re.compile(r";\s|\s[–—]\s|,\s(?=(?:and|but|then|or|so|while|whereas)\s)|\s(?=(?:and|but)\s)|[:(]\s?|\)\s")
_CAMEL = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")
_CITED = re.compile(r"(?<![\w.$])\d+(?:\.\d+)+(?:\([a-z0-9]+\))*(?![\w%])")
_CASE = re.compile(r"(?:if|when|for|as|unless|after|before|during)\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d.-]*")
_EXAMPLE = re.compile(
    r"\b(?:for example|e\.g\.|for instance|such as|imagine|suppose|sample|hypothetical)", re.IGNORECASE
)
_ITSELF = re.compile(
    r"\b(?:this|these|the|our) (?:present |following "
    r")?(?:document|guide|guidance|guideline|page|section|article|chapter|handbook|"
    r"manual|topic|series|content|information|appendix|table|list|diagram|template)s?\b|\baudiences?\b|\bas "
    r"follows\b|\bbelow\b"
    r"|\b(?:divided|split|structured|organi[sz]ed) into\b",
    re.IGNORECASE,
)
_REVISION = re.compile(
    r"^\W*(?:last\s+)?(?:updated|revised|reviewed|modified|effective(?: date)?|version|published|approved "
    r"on|superseded|"
    r"revision|document (?:number|id)|date)\b\W*(?:on|date|:)?\W*\d?|\b(?:last updated|changelog|revision history)\b",
    re.IGNORECASE,
)


def _stem(word: str) -> str:
    return next(iter(_TERMS(word)), word)


_ALIKE = (
    "keep keeps kept retain retained retains retention preserve preserved store stored",
    "tell told notify notified inform informed",
    "employee employees staff personnel worker workers",
    "approve approval approved approver authorize authorise authorization",
    "vendor supplier",
    "start begin began commence",
    "purchase buy bought",
    "delete destroy destroyed destruction shred erase",
    "call phone telephone ring dial",
    "vacation pto",
    "send sent",
    "pay paid payment",
    "hand submit file filing filed",
    "review reviewed reviews",
    "computer laptop",
    "last latest",
)
SYNONYMS = {
    _stem(word): _stem(words.split()[0]) for words in _ALIKE for word in words.split()
}  # freely exchanged words
WEAK = frozenset(_stem(word) for word in word_lists.WEAK_WORDS)  # words that say little about the subject

_NOT = re.compile(r"\b(?:not|never|cannot|no|nobody|none|neither|nor|without)\b|n['’]t\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\b(?:must|may|shall|should|can|do|does|are|is) "
    r"not\b|\b(?:must|may|shall|should|do|does)n['’]t\b|\bcannot\b|\bcan['’]t\b|\bnever\b|\bprohibited\b"
    r"|\bforbidden\b|\bnobody\b|\bnot "
    r""
    r""
    r"(?:allowed|permitted|acceptable|accepted)\b|\bis banned\b|\bno\b",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(
    r"\b(?:optional|voluntary|need not|needn['’]t|not (?:required|mandatory|necessary|needed)|(?:do|does) not "
    r"(?:have|need) to)\b",
    re.IGNORECASE,
)
_REQUIRES = re.compile(
    r"\b(?:must|shall|required|mandatory|has to|have to|needs? to|always)\b(?!\s+not\b)", re.IGNORECASE
)
_SHUTS = re.compile(
    r"\b(?:unacceptable|prohibited|prohibitions?|forbidden|banned|disallowed|inappropriate|not "
    r"(?:allowed|permitted|acceptable)|"
    r"(?:do|must|should|may|shall|can) not|(?:do|must|should|can)n['’]t|cannot|never|avoid)\b",
    re.IGNORECASE,
)
_PERMITS = re.compile(r"\b(?:may|can|allowed|permitted|acceptable|free to)\b(?!\s*not\b|['’]t)", re.IGNORECASE)
EXCEPTIONS = re.compile(
    r"\b(?:unless|except|until|without|only|other than|before|instead|rather|alone|if|when|apart from|otherwise)\b",
    re.IGNORECASE,
)

_ROLE = (
    r"manager|supervisor|director|controller|treasurer|officer|owner|lead|leader|coordinator|cfo|ceo|cio|ciso|auditor|"
    r"administrator|admin|custodian|president|chair|committee|board|counsel|head|approver|clerk|commander|engineer"
    r"|desk|team|"
    r"department|office|security|treasury|payroll|legal"
)
_NAME = re.compile(
    r"`[^`]+`|(?:\b[A-Z][\w&*/.’'-]*\w|\b[A-Z]\b)(?:\s(?:of\s|and\s)?(?:[A-Z][\w&*/.’'-]*\w))*"
    rf"|\b(?:[a-z]+[- ])?(?:{_ROLE})\b"
)
ROLE = re.compile(rf"\b(?:{_ROLE})\b", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"(\w+)\s+(?:(?:the|a|an|our|your|their|its|his|her)\s+)?[`\"“‘(*_]*$")
SCOPE = frozenset(word_lists.SCOPES)


@dataclass(frozen=True, slots=True)
class Name:
    """Who or what is named; `slot` says in which place of the sentence."""

    text: str
    terms: frozenset[str]
    slot: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a document says. Values and names carry offsets of `text`, the sentence as people read it."""

    line: int
    text: str
    heading: tuple[str, ...]
    body: frozenset[str]  # terms of the clause
    near: frozenset[str]  # terms of the rest of the sentence or row
    far: frozenset[str]  # terms of headings and title
    values: tuple[Value, ...]
    others: tuple[Value, ...]  # values of the rest of the sentence
    names: tuple[Name, ...]
    negated: frozenset[str]
    mode: str  # forbids, optional, requires, permits or ""
    hedged: bool  # with an exception or a condition
    clause: tuple[int, int]
    lead: int = 0  # where the cell of a table begins, after its row and column
    cited: frozenset[str] = frozenset()  # numbered paragraphs of a law or standard: 12.8.4
    about: frozenset[str] = frozenset()  # the proper name that the document is about: a city, an alert
    kinds: frozenset[tuple[str, str]] = frozenset()  # neighbours in headings and title: (parental, leave)
    cases: frozenset[str] = frozenset()  # terms of headings and a title that name a case: If you adopt, For managers
    issue: tuple[str, ...] = ()  # the title between its numbers, then they: of a version or a year
    varies: bool = False  # its document says the same with another value elsewhere: it hangs on what stands around


def claims(document: Document) -> tuple[Claim, ...]:
    """Every claim of a document in order.

    >>> text = "# Records\\n\\n- Keep **invoices** for 7 years.\\n"
    >>> [(claim.line, claim.text, claim.values[0].text) for claim in claims(Document("d", "d.md", "Records", text))]
    [(3, 'Keep invoices for 7 years.', '7 years')]
    """
    whole = blocks(document)
    outline = Outline(document, whole)
    lines = _Lines(document.text)
    found: list[Claim] = []
    about = _proper(document.title, document.text[document.body :])
    lead_in = ""  # what stands right before a list, and ends with a colon
    for block in whole:
        if block.kind in ("heading", "code", "html", "rule", "other"):
            lead_in = ""
            continue
        heading = outline.path(block.start, block.end)
        far = context((document.title, *heading))
        shut = block.kind == "list" and forbidding(lead_in or " ".join(heading[-1:]))
        said = document.text[block.start : block.end].rstrip()
        lead_in = said.rsplit("\n\n", 1)[-1] if block.kind != "list" and said.endswith(":") else ""
        if block.kind == "table":
            found += _rows(document.text, block, heading, far, lines)
            continue
        for first, last in _items(document.text, block):
            for start, end in sentences(document.text, first, last):
                listed = _sentence(document.text[start:end], lines.of(start), heading, far)
                found += (replace(claim, mode=claim.mode or "forbids") if shut else claim for claim in listed)
    numbers, varying = _DIGITS.findall(document.title), _varying(found)
    issue = (_DIGITS.sub("", document.title), *numbers) if numbers else ()
    return tuple(
        replace(claim, **_above((document.title, *claim.heading)), about=about, issue=issue, varies=n in varying)
        for n, claim in enumerate(found)
    )


def _varying(found: Sequence[Claim]) -> set[int]:
    """Which claims a document makes in the same words with another value."""
    alike: dict[frozenset[str], list[int]] = {}
    for n, claim in enumerate(found):
        if claim.values:
            alike.setdefault(claim.body, []).append(n)
    return {
        n
        for same in alike.values()
        for n in same
        if any(
            comparable(mine, other) and not compatible(mine, other)
            for m in same
            for mine in found[n].values
            for other in found[m].values
        )
    }


def _proper(title: str, text: str) -> frozenset[str]:
    """The terms of a title that is a proper name: CamelCase, or capitalised inside sentences and never written small.

    >>> sorted(_proper("San Francisco", "The office in San Francisco opens at 6.")), _proper("Travel", "We travel.")
    (['francisco', 'san'], frozenset())
    """
    text = plain(text)
    named = all(
        _CAMEL.fullmatch(word)
        or (re.search(rf"[a-z,] {re.escape(word)}\b", text) and not re.search(rf"\b{re.escape(word.lower())}\b", text))
        for word in title.split()
    )
    return frozenset(_terms(title, ())) if named and title[:1].isupper() else frozenset()


def _items(text: str, block: Block) -> list[tuple[int, int]]:
    """The items of a list, however deep; any other block whole."""
    cuts = [match.start() for match in _ITEM.finditer(text, block.start, block.end)] if block.kind == "list" else []
    edges = [block.start, *(cut for cut in cuts if cut > block.start), block.end]
    return list(pairwise(edges))


class _Lines:
    """Line numbers of rising offsets."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1

    def of(self, offset: int) -> int:
        self.line += self.text.count("\n", self.at, offset)
        self.at = offset
        return self.line


def plain(markdown: str) -> str:
    """A sentence as people read it; code keeps its ticks, so that names of systems can be told.

    >>> plain("- Use **form** [FN-22](x.md) in `D365`, _now_.")
    'Use form FN-22 in `D365`, now.'
    """
    text = _LINK.sub(r"\1", _MARK.sub("", markdown, count=1))
    text = _EMPHASIS.sub("", _TAG.sub(" ", text))
    return " ".join(text.replace("\\", "").split())


def _sentence(markdown: str, line: int, heading: tuple[str, ...], far: frozenset[str]) -> Iterator[Claim]:
    text = plain(markdown)
    if not 12 <= len(text) <= LONGEST or text.endswith("?") or _REVISION.match(text) or _mostly_links(markdown, text):
        return
    line += markdown[: len(markdown) - len(markdown.lstrip("\n> "))].count("\n")
    known = _known_values(text)
    for start, end in _clauses(text, known):
        yield _claim(line, text, heading, far, known, (start, end))


def _mostly_links(markdown: str, text: str) -> bool:
    """Whether a sentence only leads elsewhere."""
    shown = sum(len(match[1]) for match in _LINK.finditer(markdown))
    return shown > 0.6 * len(text) or text.lower().startswith("see ")


def _known_values(text: str) -> tuple[Value, ...]:
    """The values that are meant: not those of an example."""
    example = _EXAMPLE.search(text)
    end = example.start() if example else len(text)
    found = (value for value in values(text) if value.end <= end and not _in_formula(text, value))
    own = _ITSELF.search(text)  # how many parts or readers a text has, another one need not have
    return tuple(value for value in found if not (own and value.dimension == "count"))


def _in_formula(text: str, value: Value) -> bool:
    """Whether a value is part of a calculation: 26 pay periods x 4 hours."""
    return bool(_TIMES_BEFORE.search(text[: value.start]) or _TIMES_AFTER.match(text, value.end))


def _clauses(text: str, known: Sequence[Value]) -> list[tuple[int, int]]:
    """Where a sentence with several values is cut; each part has a value and words of its own."""
    edges = [0]
    for match in _CUT.finditer(text):
        if not any(value.start < match.end() and match.start() < value.end for value in known):
            sides = (edges[-1], match.start()), (match.end(), len(text))
            if all(_speaks(text, side, known, hard=match[0][0] == ";") for side in sides):
                edges.append(match.end())
    return list(zip(edges, [*edges[1:], len(text)], strict=True))


def _speaks(text: str, span: tuple[int, int], known: Sequence[Value], hard: bool) -> bool:
    """Whether a part can stand alone; after a semicolon it needs no value."""
    inside = hard or any(span[0] <= value.start and value.end <= span[1] for value in known)
    return inside and sum(term not in WEAK for term in _terms(text[slice(*span)], ())) >= (2 if hard else 3)


def _claim(
    line: int, text: str, heading: tuple[str, ...], far: frozenset[str], known: tuple[Value, ...], span: tuple[int, int]
) -> Claim:
    start, end = span
    mine = tuple(value for value in known if start <= value.start and value.end <= end)
    rest = tuple(value for value in known if value not in mine)
    body = frozenset(_terms(text, mine, start, end))
    near = frozenset((*_terms(text, rest, 0, start), *_terms(text, rest, end, len(text)))) - body
    clause = text[start:end]
    return Claim(
        line,
        text,
        heading,
        body,
        near,
        far - body,
        mine,
        rest,
        tuple(_names(text, mine, start, end)),
        frozenset(_negated(clause)),
        mode(clause),
        bool(EXCEPTIONS.search(clause)),
        span,
        cited=frozenset(_CITED.findall(text)) - {value.text for value in known},
    )


def _terms(text: str, skipped: Sequence[Value], start: int = 0, end: int | None = None) -> Iterator[str]:
    """Stemmed terms outside of measured values; of a count or label the noun stays."""
    spans = [(value.start, value.end) for value in skipped if value.dimension not in ("count", "label", "ordinal")]
    part = text[start:end]
    for a, b, terms in _TERMS.words(part):
        if not any(left < b + start and a + start < right for left, right in spans):
            for term in terms[:1]:
                if not term.replace(".", "").isdigit() and term not in _SILENT:
                    yield SYNONYMS.get(term, term)


@lru_cache(maxsize=65536)
def kinds_of(claim: Claim) -> frozenset[tuple[str, str]]:
    """Neighbouring terms of a clause without its values, such as (server, certificate)."""
    start, end = claim.clause
    edges = [start, *(edge for value in claim.values for edge in (value.start, value.end)), end]
    said = (term for a, b in zip(edges[::2], edges[1::2], strict=True) for term in _terms(claim.text, (), a, b))
    return frozenset(pairwise(said))


def terms_between(claim: Claim, start: int, end: int) -> frozenset[str]:
    """The terms of a part of a claim's sentence."""
    return frozenset(_terms(claim.text, claim.values, start, end))


_SILENT = frozenset(
    map(
        _stem,
        [
            *WORDS,
            *word_lists.POLAR,
        ],
    )
)  # numbers, and what says whether something is demanded; both are compared on their own


@lru_cache(maxsize=4096)
def context(names: tuple[str, ...]) -> frozenset[str]:
    """The terms of headings and titles."""
    return frozenset(term for name in names for term in _terms(name, ()))


@lru_cache(maxsize=4096)
def _above(names: tuple[str, ...]) -> dict[str, Any]:
    """What title and headings say about the scope of all below them: kinds of a thing, and cases."""
    kinds = frozenset(pair for name in names for pair in pairwise(_terms(name, ())))
    return {"kinds": kinds, "cases": context(tuple(name for name in names if _CASE.match(name)))}


def _negated(clause: str) -> Iterator[str]:
    """The first content term after each negation."""
    for match in _NOT.finditer(clause):
        after = next((term for term in _terms(clause[match.end() :], ()) if term not in WEAK), "")
        if after:
            yield after


def forbidding(lead: str) -> bool:
    """Whether a heading or what leads to a list forbids all of it.

    >>> [forbidding(lead) for lead in ("Unacceptable use", "Do not:", "Acceptable use", "What you must not do")]
    [True, True, False, True]
    """
    return bool(_SHUTS.search(lead))


def mode(clause: str) -> str:
    """What a clause demands.

    >>> [mode(text) for text in ("You must not lend it", "It is optional", "Sign it", "Badges must be worn")]
    ['forbids', 'optional', '', 'requires']
    """
    for name, pattern in (
        ("optional", _OPTIONAL),
        ("forbids", _FORBIDS),
        ("requires", _REQUIRES),
        ("permits", _PERMITS),
    ):
        if pattern.search(clause):
            return name
    return ""


def _names(text: str, known: Sequence[Value], start: int, end: int) -> Iterator[Name]:
    for match in _NAME.finditer(text, start, end):
        if any(value.start < match.end() and match.start() < value.end for value in known):
            continue
        terms = frozenset(_terms(match.group(), ()))
        if terms and not (match.start() == 0 and _ordinary(match.group())):
            yield Name(match.group().strip("`"), terms, _slot(text, match.start()), *match.span())


def _ordinary(word: str) -> bool:
    """A first word that is capitalised only because it is the first."""
    return word.isalpha() and not word.isupper() and not re.fullmatch(_ROLE, word, re.IGNORECASE)


def _slot(text: str, start: int) -> str:
    """agent (subject, or after `by`), scope (after `at`, `for`, ...), or the word before."""
    before = _BEFORE_NAME.search(text[max(0, start - 40) : start])
    word = before[1].lower() if before else ""
    if not word or word in ("by", "only", "and", "the", "then"):
        return "agent"
    return "scope" if word in SCOPE else word


def _rows(text: str, block: Block, heading: tuple[str, ...], far: frozenset[str], lines: _Lines) -> Iterator[Claim]:
    """One claim per cell that holds a value or name: the row's first cell, the column's head and the cell itself."""
    rows = text[block.start : block.end].split("\n")
    head = [plain(cell) for cell in _cells(rows[0])]
    first = lines.of(block.start)
    for n, row in enumerate(rows[2:], 2):
        cells = [plain(cell) for cell in _cells(row)]
        for column, cell in list(enumerate(cells))[1 : len(head)]:
            if cell and len(row) <= 2 * LONGEST and _has_subject(cells[0], cell):
                yield from _cell(first + n, heading, far, head[column], cells, column)


def _has_subject(first: str, cell: str) -> bool:
    """A row that begins with a number says what it is about in the cell itself, or not at all."""
    return any(map(str.isalpha, first)) or sum(term not in WEAK for term in _terms(cell, ())) >= 4


def _cell(
    line: int, heading: tuple[str, ...], far: frozenset[str], title: str, cells: Sequence[str], column: int
) -> Iterator[Claim]:
    lead = f"{cells[0]} · {title}: " if title else f"{cells[0]}: "
    text = lead + cells[column]
    known = tuple(value for value in _known_values(text) if value.start >= len(lead)) or _bare(
        title, cells[column], len(lead)
    )
    if known or column == 1:
        made = _claim(line, text, heading, far, known, (0, len(text)))
        rest = frozenset(term for n, cell in enumerate(cells) if n not in (0, column) for term in _terms(cell, ()))
        names = tuple(name for name in made.names if name.start >= len(lead))
        yield replace(made, near=rest - made.body, names=names, lead=len(lead))


def _bare(title: str, cell: str, start: int) -> tuple[Value, ...]:
    """A cell that is only a number counts what its column names."""
    plain_number = re.fullmatch(r"\d+(?:,\d{3})*(?:\.\d+)?", cell)
    unit = frozenset(_terms(title, ()))
    if not plain_number or not unit:
        return ()
    last = list(_terms(title, ()))[-1]
    return (Value("number", "count", number(cell), number(cell), cell, start, start + len(cell), unit=unit, head=last),)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(row.strip().strip("|"))]
