"""Contradictions that a script plants: a fact of one document, restated in another with another value or
the opposite.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from bench.disagreements import everywhere, shown
from core.disagreements.claims import WEAK, Claim, claims
from core.disagreements.lookup import index_of
from core.types import Document

EACH = {"period": 9, "number": 7, "amount": 5, "date": 5, "negation": 8}  # at most, per base
FIRST = 20  # findings that are read
_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
_OFTEN = {"annually": "monthly", "quarterly": "weekly", "monthly": "quarterly", "weekly": "monthly", "daily": "monthly"}
_TURNED = (
    (r"\b(must|shall|should|may|do|does|can) not\b", r"\1"),
    (r"\bcannot\b", "can"),
    (r"\bnever\b", "always"),
    (r"\b(must|shall|should|may|can)\b(?! not|['’]t)", r"\1 not"),
    (r"\b(is|are) (required|allowed|prohibited|permitted|mandatory)\b", r"\1 not \2"),
)
_OTHER_WORDS = (
    (" must not ", " is never to "),
    (" should not ", " ought not to "),
    (" must ", " has to "),
    (" should ", " ought to "),
    (" within ", " in no more than "),
    (" are ", " always are "),
)
_CONDITION = re.compile(r"((?:If|When|After|Before|For|In|On|Within|During|Once)\b[^,.;]{6,80}), (.+)\.$")


@dataclass(frozen=True, slots=True)
class Plant:
    """A fact of `source`, and what `host` says instead."""

    kind: str
    source: str
    text: str
    host: str
    planted: str

    @property
    def ends(self) -> frozenset[tuple[str, str]]:
        return frozenset({(self.source, self.text), (self.host, self.planted)})


def plants(documents: Mapping[str, Document], seed: int = 7) -> list[Plant]:
    """Facts of whole sentences that no other document has, each in the document that speaks most of the same things."""
    said = {path: claims(document) for path, document in documents.items()}
    often = Counter(text for all_claims in said.values() for text in {claim.text for claim in all_claims})
    terms = {path: frozenset(t for claim in found for t in claim.body | claim.far) for path, found in said.items()}
    pool = [(path, c) for path in sorted(said) for c in said[path] if often[c.text] == 1 and _is_fact(c)]
    random.Random(seed).shuffle(pool)
    made: list[Plant] = []
    for path, claim in pool:
        kind, text = _turned(claim)
        count = sum(plant.kind == kind for plant in made)
        if text and count < EACH[kind] and claim.text not in {plant.text for plant in made}:
            host = max((p for p in said if p != path), key=lambda p: (len((claim.body | claim.near) & terms[p]), p))
            made.append(Plant(kind, path, claim.text, host, _FORMS[count % len(_FORMS)](text)))
    return made


def _is_fact(claim: Claim) -> bool:
    whole = 45 <= len(claim.text) <= 220 and claim.text.endswith(".") and not claim.lead
    return whole and sum(term not in WEAK for term in claim.body) >= 4


def _turned(claim: Claim) -> tuple[str, str]:
    """The kind of contradiction and the sentence with it; no sentence where a script cannot tell how."""
    if len(claim.values) == 1 and not claim.others:
        value = claim.values[0]
        new = another(value.text)
        return value.kind, claim.text[: value.start] + new + claim.text[value.end :] if new else ""
    plain = not claim.values and not claim.hedged and len(claim.text) <= 160
    return "negation", opposite(claim.text) if plain else ""


def another(text: str) -> str:
    """Another value of the same unit.

    >>> another("7 years"), another("20-30 minutes"), another("5 pm"), another("annually"), another("two managers")
    ('21 years', '110-120 minutes', '7 pm', 'monthly', 'five managers')
    """
    if re.search(r"\d-\d{4}$", text):
        return text[:-2] + f"{(int(text[-2:]) + 37) % 100:02}"
    if span := re.match(r"(\d+)(\s*(?:-|–|to)\s*)(\d+)(.*)", text):
        return f"{int(span[1]) + 3 * int(span[3])}{span[2]}{4 * int(span[3])}{span[4]}"
    if digits := re.search(r"\d[\d,]*(?:\.\d+)?", text):
        return text[: digits.start()] + _other_number(digits, text) + text[digits.end() :]
    for names, step in ((_WORDS, 3), (_DAYS, 2)):
        for n, name in enumerate(names):
            if re.search(rf"\b{name}\b", text, re.IGNORECASE):
                return re.sub(rf"\b{name}\b", names[(n + step) % len(names)], text, flags=re.IGNORECASE)
    return _OFTEN.get(text.lower(), "")


def _other_number(digits: re.Match[str], text: str) -> str:
    number = float(digits[0].replace(",", ""))
    if re.search(r":|[ap]\.?m", text):
        return f"{number % 9 + 2:g}"
    if number > 31 and text[digits.end() :].startswith("th"):
        return f"{number - 9:g}"
    if number <= 31 and re.search(r"[A-Z][a-z]{2,}", text):
        return f"{number % 25 + 3:g}"
    return f"{number * 3 if number >= 2 else number + 3:,.10g}"


def opposite(text: str) -> str:
    """The sentence turned round.

    >>> opposite("Visitors must sign the register."), opposite("Codes are not sent.")
    ('Visitors must not sign the register.', '')
    """
    turned = next(((old, new) for old, new in _TURNED if re.search(old, text)), None)
    return re.sub(*turned, text, count=1) if turned else ""


def _as_a_rule(text: str) -> str:
    return "As a rule, " + (text[0].lower() + text[1:] if text[1:2].islower() else text)


def _in_other_words(text: str) -> str:
    if found := _CONDITION.match(text):
        return f"{found[2][0].upper()}{found[2][1:]} {found[1][0].lower()}{found[1][1:]}."
    return next((text.replace(old, new, 1) for old, new in _OTHER_WORDS if old in text), text)


_FORMS: tuple[Callable[[str], str], ...] = (str, _as_a_rule, _in_other_words)


def planted(documents: Mapping[str, Document], made: list[Plant]) -> dict[str, Document]:
    """The documents with what was planted, each under a heading of its own at the end."""
    after = dict(documents)
    for plant in made:
        host = after[plant.host]
        after[plant.host] = replace(host, text=f"{host.text.rstrip()}\n\n## Good to know\n\n{plant.planted}\n")
    return after


def row(name: str, documents: Mapping[str, Document]) -> list[str]:
    """What is found in a base as it is, and of what was planted: all, and among the first twenty."""
    made = plants(documents)
    ends = {plant.ends for plant in made}
    first = list(_found(documents))
    after = list(_found(planted(documents, made)))
    top = after[:FIRST]
    right = shown(sum(pair in ends for pair in top), len(top))
    return [name, f"{len(documents):,}", f"{len(first):,}", right, shown(len(ends & set(after)), len(made))]


def _found(documents: Mapping[str, Document]) -> Iterator[frozenset[tuple[str, str]]]:
    """Both ends of each finding, the surest first, the same two sentences once."""
    said = {path: claims(document) for path, document in documents.items()}
    seen = set()
    for path, mine, other, theirs, _ in sorted(everywhere(said, index_of(said)), key=lambda pair: -pair[4].score):
        if (texts := frozenset({mine.text, theirs.text})) not in seen:
            seen.add(texts)
            yield frozenset({(path, mine.text), (other, theirs.text)})
