"""Entities by rules: names, references, forms, identifiers, amounts and dates, and which spellings mean the same.

The cascade study takes capitalised phrases and numbers. Here words that are capital only because of where they stand
(sentences, clauses, cells, labels, menus) are told from names, identifiers stay whole, addresses and tags are left out,
and an acronym explained in brackets is the same entity as its long form. docs/research/methods.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.analysis import STOPWORDS, fold
from core.chunking.sentences import sentences
from core.curation.document.links import Link
from core.graph.entity_patterns import PATTERNS
from core.types import Extract, Mention

MAX_MENTIONS = 200  # per chunk: a table of numbers is not a text
VALUES = ("amount", "date")  # searches may start from them, but "30 days" joins nothing that belongs together

_WORD = (
    rf"(?!{PATTERNS['date']}|{PATTERNS['form']}|{PATTERNS['identifier']}|{PATTERNS['reference']})"
    r"[A-ZÀ-Þ]\w*(?:[-&][A-Za-zµÀ-ÿ]\w*|['’](?!s\b)[A-Za-zÀ-ÿ]\w*)*"
)
_NAME = rf"\b{_WORD}(?:(?:\s(?:of|for)\s(?:the\s)?|\s(?:de|van|von|&)\s|\s){_WORD})*"
# nothing else is tried at most places: six times faster
_START = r"(?<!\w)(?=[\dA-ZÀ-Þ$€£§]|forms?\s|v\d|[a-z]+-|[a-z]\w*\+\+)"
_KINDS = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in {**PATTERNS, "name": _NAME}.items())
_ENTITY = re.compile(f"{_START}(?:{_KINDS})")

_OPENERS = Path(__file__).with_name("sentence_openers.txt").read_text(encoding="utf-8").split()
_COMMON = STOPWORDS["english"].union(_OPENERS)
_SHOUTED = frozenset({"IT", "US", "WHO", "OFF"})  # names although the word is common
_OPENS = re.compile(
    r"[\[\"“‘(*_`]$|(?:^|[:|>#;.!?]|\s[-–—]|^\s*(?:[-*+]|\d{1,3}[.)])"
    r"|(?:^|[|*])[\s*]*\d{1,3}(?:[.:]\d{1,3})*[.)]?(?=[\s*]))[\s>|#*_\"“‘'`(\[-]*$"
)
_MENU = re.compile(r"[\w ]*\s>\s")  # Quality > Lot hold
_FORMED = re.compile(r"[A-Z][a-z]+(?:ing|ly|ed)")  # words that a sentence opens with and that name nothing
_ADDRESS = re.compile(
    r"(?<=\])\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<[^<>\s]+@[^<>\s]+>|\b(?:https?://|www\.)[^\s<>)\]]+|\S+@\S+\.\w+"
    r"|</?[A-Za-z][^<>]*>"
)  # targets of links, addresses, tags
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.DOTALL | re.MULTILINE)
_BRACKETS = re.compile(r"\(([A-Z][A-Za-z&]{1,9}?)s?\)")
_EXPLAINED = re.compile(r"\b([A-Z][A-Z&]{1,8})\s\(([A-Za-z][^()\n]{4,80})\)")
_WORDS = re.compile(r"[\w’'&]+")


def extract(text: str, links: Sequence[Link] = ()) -> Extract:
    """Everything a chunk names, by rules; `links` are those of its document.

    >>> extracted = extract("The Bank Secrecy Act (BSA) asks for FinCEN Form 112 above $10,000.")
    >>> [(mention.kind, mention.text) for mention in extracted.mentions]
    [('name', 'Bank Secrecy Act'), ('name', 'BSA'), ('form', 'FinCEN Form 112'), ('amount', '$10,000')]
    >>> extracted.aliases
    (('form 112', 'fincen form 112'), ('bsa', 'bank secrecy act'))
    """
    mentions: list[Mention] = []
    aliases: dict[tuple[str, str], None] = {}
    code = [match.span() for match in _FENCED.finditer(text)]
    for number, (start, end) in enumerate(sentences(text)):
        sentence = text[start:end]
        quoted = any(first < end and start < last for first, last in code)
        for kind, surface in _entities(_ADDRESS.sub(lambda match: " " * len(match[0]), sentence)):
            if quoted and kind in ("name", *VALUES):
                continue  # of code only what is certainly an identifier
            mentions.append(Mention(key(surface, kind), surface, kind, number))
            aliases |= dict.fromkeys(_parts(mentions[-1]))
        mentions += _linked(sentence, links, number)
        for short, long in acronyms(sentence):
            mentions.append(Mention(key(long), long, "name", number))
            aliases[key(short), key(long)] = None
    unique = dict.fromkeys(mention for mention in mentions if mention.key)
    return Extract(tuple(unique)[:MAX_MENTIONS], tuple(pair for pair in aliases if pair[0] != pair[1]))


def _entities(sentence: str) -> Iterator[tuple[str, str]]:
    for match in _ENTITY.finditer(sentence):
        kind = str(match.lastgroup)
        surface = match.group()
        if kind == "name":
            label = _MENU.match(sentence, match.end()) is not None
            surface = (
                ""
                if sentence[match.end() :][:1] in ("-", "_")
                else _name(surface, label or _opens(sentence, match.start()))
            )
        if surface:
            yield kind, " ".join(surface.split())


def _opens(sentence: str, at: int) -> bool:
    """Whether a word stands where any word would have a capital: first in a sentence, a cell, an item."""
    return _OPENS.search(sentence[max(0, at - 16) : at]) is not None


def _name(phrase: str, opens: bool) -> str:
    """A capitalised phrase without the words that only the sentence made capital; "" when nothing is left."""
    words = [] if "_" in phrase else phrase.split()
    while words and (_is_common(words[0]) or (opens and len(words) > 1 and _FORMED.fullmatch(words[0]))):
        opens = words.pop(0).lower() in ("not", "never", "no")
    while words and _is_common(words[-1]) and not (len(words) > 1 and len(words[-1]) == 1):
        words.pop()
    if len(words) == 1 and (len(words[0]) < 2 or (opens and words[0][1:].islower())):
        return ""
    return " ".join(words)


def _is_common(word: str) -> bool:
    return word not in _SHOUTED and not {word.lower(), singular(word.lower())}.isdisjoint(_COMMON)


def _linked(sentence: str, links: Sequence[Link], number: int) -> Iterator[Mention]:
    """Documents that the sentence links to."""
    for link in links:
        if link.path and f"]({link.target}" in sentence:
            yield Mention(document_key(link.path), link.text, "document", number)


def _parts(mention: Mention) -> Iterator[tuple[str, str]]:
    """Shorter names of references and forms: `1020.320(d)` for `31 CFR 1020.320(d)`, `form 112` for `FinCEN Form
    112`.
    """
    if mention.kind == "reference" and " cfr " in mention.key:
        section = mention.key.split(" cfr ", 1)[1].lstrip("§ ")
        if not section.isdigit():
            yield section, mention.key
    if mention.kind == "form" and " form " in mention.key:
        yield mention.key[mention.key.index("form ") :], mention.key


def acronyms(sentence: str) -> Iterator[tuple[str, str]]:
    """Acronyms that the sentence explains, with their long forms.

    >>> list(acronyms("A currency transaction report (CTR), not a SAR (suspicious activity report)."))
    [('CTR', 'currency transaction report'), ('SAR', 'suspicious activity report')]
    >>> list(acronyms("See [pull-requests](PR)."))
    [('PR', 'pull-requests')]
    """
    for match in _BRACKETS.finditer(sentence):
        before = list(_WORDS.finditer(sentence, 0, match.start()))
        for count in range(2, min(len(before), len(match[1]) + 3) + 1):
            long = sentence[before[-count].start() : match.start()].strip(" *_`()[],;:")
            if _spells(match[1], long):
                yield match[1], long
                break
    for match in _EXPLAINED.finditer(sentence):
        if _spells(match[1], match[2]):
            yield match[1], match[2]


def _spells(short: str, long: str) -> bool:
    """Whether the first letters of a phrase, or of its words that carry meaning, make the acronym."""
    words = [fold(word) for word in _WORDS.findall(long) if word != "&"]
    wanted = fold(short).replace("&", "")
    if not words or words[0] in STOPWORDS["english"]:
        return False
    heavy = [word for word in words if word not in STOPWORDS["english"]]
    return wanted in ("".join(word[0] for word in some) for some in (words, heavy))


# ---------------------------------------------------------------- keys


def key(surface: str, kind: str = "name") -> str:
    """What all spellings of an entity share: no case, accents, possessive, article or plural.

    >>> key("The Suspicious Activity Reports"), key("SARs"), key("60-day", "amount"), key("form BSA-5", "form")
    ('suspicious activity report', 'sar', '60 day', 'bsa-5')
    """
    text = re.sub(r"['’]s?$", "", fold(" ".join(surface.split())))
    if kind in ("identifier", "reference", "date"):
        return re.sub(r"(?<=\d)s$", "", text)
    if kind == "form":
        bare = re.sub(r"^(.*\s)?forms?\s", "", text)
        return bare if not bare.isdigit() else re.sub(r"\bforms\b", "form", text)
    if kind == "amount":
        text = re.sub(r"(?<=\d)[ -]*(?=[a-z%°µ])", " ", text.replace(",", "")).replace("-", " ")
    words = text.removeprefix("the ").split(" ")
    return " ".join((*words[:-1], singular(words[-1])))


def singular(word: str) -> str:
    """A word without its plural ending.

    >>> [singular(word) for word in ("reports", "policies", "boxes", "business", "status", "sars")]
    ['report', 'policy', 'box', 'business', 'status', 'sar']
    """
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses")) else word[:-1]


def document_key(path: str) -> str:
    """The key of a document's own node; a slash in front keeps it apart from what texts name.

    >>> document_key("finance/ctr-filing.md")
    '/finance/ctr-filing.md'
    """
    return f"/{path}"
