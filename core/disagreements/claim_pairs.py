"""Two claims: do they speak of the same thing, and does one say another value, name or the opposite?

The decision depends on the two claims alone, so that it is the same for a pair in an editor, in a change and in the
list over the whole knowledge base, whatever else is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.disagreements import word_lists
from core.disagreements.claims import ROLE, WEAK, Claim, Name, claims, context, kinds_of, terms_between
from core.disagreements.values import Value, comparable, compatible
from core.types import Document

FEWEST = 1.4  # weight of the terms that both clauses must have
ENOUGH = 3.2  # weight of shared words after which two counts are of one thing
PLENTY = 2.5  # weight that needs no tie in title, heading or the rest of the sentence
GENERIC = frozenset(word_lists.GENERIC_STEMS)
EACH, BOTH = 0.5, 0.62  # share of a claim that the other covers: of each, and on average
WHOLE, SOME = 0.9, 0.38  # where one claim is covered whole, this much of the other is enough
SURE = 0.6  # what the shares and the words around the values must come to
WORDING = 0.45  # share of either clause that both must have word for word, for names and negations
STRICT = 0.8  # both shares, for names and negations
NEAR, FAR = 0.9, 0.7  # what a term counts that the other has in the rest of its sentence, or in its headings
WINDOW = 40  # characters around a value that say what it is of
LOCAL, LESS = 2.4, 0.85  # weight that both must have around the value, and what a local likeness then counts
LABEL = 0.7  # EACH and BOTH for numbers that name a thing, such as an extension
_CODE = re.compile(r"[A-Za-z]\W?\d|\d\W?[A-Za-z]")
_SITE = re.compile(r"[a-z]+\d+")
OWNER = 0.5  # likeness of the words right before a label
_CALLING = re.compile(r"\b(?:calls?|dial|phones?)\s+$", re.IGNORECASE)
SEVERAL = 0.3  # likeness around a value where the other sentence has several of its kind


@dataclass(frozen=True, slots=True)
class Clash:
    """How two claims disagree: the kind, what each says, where in its sentence, and how sure the rules are (0 to 1)."""

    kind: str
    mine: str
    theirs: str
    my_span: tuple[int, int]
    their_span: tuple[int, int]
    score: float

    def turned(self) -> Clash:
        """The same from the other side."""
        return Clash(self.kind, self.theirs, self.mine, self.their_span, self.my_span, self.score)


def between(
    text_a: str, text_b: str, *, title_a: str = "", title_b: str = ""
) -> tuple[tuple[Claim, Claim, Clash], ...]:
    """Where two texts disagree.

    >>> [(c.mine, c.theirs) for _, _, c in between("Invoices are kept for 7 years.", "Keep invoices for 60 months.")]
    [('7 years', '60 months')]
    >>> between("Invoices are kept for 7 years.", "Keep invoices for 84 months.")
    ()
    """
    mine, theirs = (
        claims(Document(name, name, title, text))
        for name, title, text in (("a.md", title_a, text_a), ("b.md", title_b, text_b))
    )
    return tuple((a, b, c) for a in mine for b in theirs if (c := clash(a, b)))


def clash(a: Claim, b: Claim) -> Clash | None:
    """How two claims disagree, if they do.

    The first found of: another value, the opposite, another name.
    """
    shared = sum(map(weight, a.body & b.body))
    if shared < FEWEST or a.text == b.text or (shared < PLENTY and not _same_context(a, b)):
        return None
    if found := _values(a, b, shared):
        return found
    close = shared >= WORDING * max(body_weight(a), body_weight(b))
    return (_negation(a, b) or _names(a, b)) if close else None


def body_weight(claim: Claim) -> float:
    """The weight of all terms of a clause."""
    return sum(map(weight, claim.body))


def _same_context(a: Claim, b: Claim) -> bool:
    """Whether something beyond some shared words ties two short claims together: a word of title, heading or sentence,
    or that nothing but the value differs."""
    if a.body == b.body and any(weight(term) >= 1 and term not in GENERIC for term in a.body):
        return True
    outer_a, outer_b = a.far | a.near, b.far | b.near
    ties = (outer_a & (outer_b | b.body)) | (outer_b & a.body)
    return any(weight(term) >= 1 and term not in GENERIC for term in ties)


@lru_cache(maxsize=200_000)
def weight(term: str) -> float:
    """How much a term says about the subject: little for words of every rule, more for identifiers.

    >>> weight("dai"), weight("invoic"), weight("fn-22")
    (0.3, 1.0, 1.5)
    """
    if term in WEAK:
        return 0.3
    return 1.5 if any(character.isdigit() or character in "*&/" for character in term) else 1.0


def covered(a: Claim, b: Claim, terms: frozenset[str] | None = None) -> float:
    """The share of a clause, or of some of its terms, that the other claim also speaks of."""
    total = gained = 0.0
    for term in a.body if terms is None else terms:
        heavy = weight(term)
        total += heavy
        if term in b.body:
            gained += heavy
        elif term in b.near:
            gained += NEAR * heavy
        elif term in b.far:
            gained += FAR * heavy
    return gained / total if total else 0.0


def _values(a: Claim, b: Claim, shared: float) -> Clash | None:
    if not a.values or not b.values or a.varies or b.varies:
        return None
    if shared < LOCAL and covered(a, b) + covered(b, a) < 2 * BOTH:  # then what stands around the values cannot help
        return None
    if not any(_says_what(term) for term in a.body & (b.body | b.near) | b.body & a.near):
        return None
    pairs = [(mine, theirs) for mine in a.values for theirs in b.values if _differ(a, mine, b, theirs)]
    if not pairs or _other_scope(a, b) or _two_headings(a, b):
        return None
    clashes = [found for mine, theirs in pairs if (found := _value_clash(a, mine, b, theirs))]
    return max(clashes, key=lambda found: (found.score, found.mine, found.theirs), default=None)


def _differ(a: Claim, mine: Value, b: Claim, theirs: Value) -> bool:
    """Whether two values cannot both be true, and neither is what the other sentence says elsewhere."""
    if not comparable(mine, theirs) or compatible(mine, theirs) or _other_things(a, mine, b, theirs):
        return False
    return not _stated(mine, b) and not _stated(theirs, a)


def _other_things(a: Claim, mine: Value, b: Claim, theirs: Value) -> bool:
    """Whether two counts count different things: sick leave, annual leave."""
    alone_a, alone_b = (mine.unit - theirs.unit, theirs.unit - mine.unit) if mine.dimension == "count" else ((), ())
    said_a, said_b = a.text.lower(), b.text.lower()
    return any(word not in said_b for word in alone_a) and any(word not in said_a for word in alone_b)


def _value_clash(a: Claim, mine: Value, b: Claim, theirs: Value) -> Clash | None:
    around_a, around_b = _around(a, mine), _around(b, theirs)
    left, right = _share(a, b, around_a), _share(b, a, around_b)
    alike = _alike(around_a, around_b)
    several = _rivals(mine, b) + _rivals(theirs, a)
    each, both = (EACH, BOTH) if mine.dimension != "label" else (LABEL, LABEL)
    if max(left, right) >= WHOLE and mine.dimension != "label":
        each = SOME
    if min(left, right) < each or left + right < 2 * both or (several > 2 and alike < SEVERAL):
        return None
    if mine.dimension == "label" and (_listing(a, b) or not _same_owner(a, mine, b, theirs)):
        return None
    if mine.dimension == "count" and not _same_subject(a, b):
        return None
    if _phrase(a, b) and not _same_place(a, b):
        return None
    score = round((left + right) / 2 * (0.7 + 0.3 * alike), 3)
    if score < SURE:
        return None
    return Clash(mine.kind, mine.text, theirs.text, (mine.start, mine.end), (theirs.start, theirs.end), score)


def _says_what(term: str) -> bool:
    """Whether a term can name what a rule is about: no word of every rule, no general one. All records are kept."""
    return weight(term) >= 1 and term not in GENERIC and term != "keep"


def _listing(*claims: Claim) -> bool:
    """Whether each lists several labels, one for each site or person."""
    return all(sum(value.dimension == "label" for value in (*one.values, *one.others)) > 1 for one in claims)


def _same_subject(a: Claim, b: Claim) -> bool:
    """Whether titles, headings or most of the words say that two counts are of one thing: two tests may have any
    number of questions."""
    if sum(map(weight, a.body & b.body)) >= ENOUGH:
        return True
    ties = a.far & (b.far | b.body | b.near) | b.far & (a.body | a.near)
    return any(weight(term) >= 1 and term not in GENERIC for term in ties)


def _phrase(*claims: Claim) -> bool:
    """Whether any is no sentence, so that its heading says what it is about: `Interviewers: two engineers`."""
    return any(not claim.lead and not claim.text.endswith((".", "!", ")")) for claim in claims)


def _same_place(a: Claim, b: Claim) -> bool:
    """Whether two phrases say enough, or stand under headings that share a word."""
    if sum(map(weight, a.body & b.body)) >= ENOUGH:
        return True
    tied = any(_says_what(term) for term in context(a.heading[-1:]) & context(b.heading[-1:]))
    return tied or not a.heading or not b.heading


def _same_owner(a: Claim, mine: Value, b: Claim, theirs: Value) -> bool:
    """Whether the words right before two labels name the same thing: `service desk, ext. 4357`."""
    one, other = _before(a, mine), _before(b, theirs)
    return bool(one and other) and _alike(one, other) >= OWNER


def _before(claim: Claim, value: Value) -> frozenset[str]:
    if _CALLING.search(claim.text[: value.start]):
        return frozenset()
    words = terms_between(claim, max(claim.clause[0], value.start - 30), value.end)
    return frozenset(term for term in words if weight(term) >= 1)


def _share(a: Claim, b: Claim, around: frozenset[str]) -> float:
    """How much of a clause the other covers; of a long one, what stands around the value may be enough."""
    whole = covered(a, b)
    if sum(map(weight, around & b.body)) < LOCAL:
        return whole
    return max(whole, LESS * covered(a, b, around))


def _rivals(value: Value, claim: Claim) -> int:
    """How many values of the other sentence could be meant."""
    return sum(comparable(value, other) for other in (*claim.values, *claim.others))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    union = sum(map(weight, one | other))
    return sum(map(weight, one & other)) / union if union else 0.0


def _stated(value: Value, claim: Claim) -> bool:
    """Whether the sentence of a claim also says this value."""
    return any(comparable(value, other) and compatible(value, other) for other in (*claim.values, *claim.others))


@lru_cache(maxsize=65536)
def _around(claim: Claim, value: Value) -> frozenset[str]:
    """The terms close to a value."""
    return terms_between(claim, max(claim.clause[0], value.start - WINDOW), min(claim.clause[1], value.end + WINDOW))


def _other_scope(a: Claim, b: Claim) -> bool:
    """Whether each names a thing, a form or a site that the other does not: then they speak of two things."""
    if (a.cited and b.cited and not a.cited & b.cited) or (_foreign(a, b) and _foreign(b, a)):
        return True
    if (_unmatched(a, b) and _unmatched(b, a)) or _scopes(a, b) or _two_kinds(a, b):
        return True
    return _siblings(a, b) or (any(_alone(t, b) for t in a.cases) and any(_alone(t, a) for t in b.cases))


def _siblings(a: Claim, b: Claim) -> bool:
    """Whether they stand under two headings of one: Quality > Beta, Quality > Official."""
    (*above, last), (*others, other) = (
        (context((h,)) for h in a.heading or ("",)),
        (context((h,)) for h in b.heading or ("",)),
    )
    return bool(above and others and above[-1] and above[-1] == others[-1] and last and other and not last & other)


def _two_kinds(a: Claim, b: Claim) -> bool:
    """Whether they speak of two kinds of a thing: the client certificate, the server certificate."""
    mine, theirs = ({what for kind, what in kinds_of(x) if _alone(kind, y)} for x, y in ((a, b), (b, a)))
    return bool(mine & theirs)


def _two_headings(a: Claim, b: Claim) -> bool:
    """Whether their titles or headings do: parental leave, medical leave."""
    mine, theirs = (
        {what for kind, what in x.kinds if _says_what(what) and _alone(kind, y)} for x, y in ((a, b), (b, a))
    )
    return bool(mine & theirs)


def _alone(term: str, other: Claim) -> bool:
    return weight(term) == 1 and term not in other.body and term not in other.near and term not in other.far


def _foreign(a: Claim, b: Claim) -> bool:
    """Whether the document of a claim is about something by name, of which the other says nothing."""
    return bool(a.about) and not a.about & (b.body | b.near | b.far)


def _scopes(a: Claim, b: Claim) -> bool:
    """Headings or titles that each name another site, form or system, or another version or year."""
    if a.issue[:1] == b.issue[:1] and a.issue != b.issue:
        return True
    mine, theirs = ({t for t in claim.far if _SITE.fullmatch(t)} for claim in (a, b))
    return bool(mine - theirs - b.body - b.near) and bool(theirs - mine - a.body - a.near)


def _unmatched(a: Claim, b: Claim) -> list[Name]:
    everything, text = b.body | b.near | b.far, b.text.casefold()
    return [name for name in a.names if not name.terms & everything and name.text.casefold() not in text]


def _negation(a: Claim, b: Claim) -> Clash | None:
    left, right = covered(a, b), covered(b, a)
    if min(left, right) < STRICT or a.hedged or b.hedged or _fragment(a, b) or not _opposed(a, b):
        return None
    if _other_scope(a, b) or any(comparable(v, w) and not compatible(v, w) for v in a.values for w in b.values):
        return None
    return Clash("negation", _cue(a), _cue(b), a.clause, b.clause, round((left + right) / 2, 3))


_OPPOSED = {
    frozenset({"forbids", "permits"}),
    frozenset({"forbids", "requires"}),
    frozenset({"requires", "optional"}),
}


def _fragment(*claims: Claim) -> bool:
    """Whether any is a cell or a phrase of a list, whose sense hangs on what stands before it."""
    return any(claim.lead or not claim.text.endswith((".", "!")) for claim in claims)


def _opposed(a: Claim, b: Claim) -> bool:
    """Opposite demands, or a verb that only one of them negates."""
    if frozenset({a.mode, b.mode}) in _OPPOSED:
        return not (a.negated & b.negated)
    if a.mode == b.mode or bool(a.negated) == bool(b.negated):
        return False
    return any(term in b.body for term in a.negated) or any(term in a.body for term in b.negated)


def _cue(claim: Claim) -> str:
    return claim.mode or ("not" if claim.negated else "yes")


def _names(a: Claim, b: Claim) -> Clash | None:
    mine, theirs = _unmatched(a, b), _unmatched(b, a)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].slot == "scope" or mine[0].slot != theirs[0].slot:
        return None
    if a.lead or b.lead or not _rivals_by_name(mine[0], theirs[0]):
        return None
    rest_a, rest_b = _without(a, mine[0]), _without(b, theirs[0])
    if min(rest_a, rest_b) < 2.5 or _scopes(a, b) or a.mode != b.mode or bool(a.negated) != bool(b.negated):
        return None
    left, right = (_rest_covered(a, b, mine[0]), _rest_covered(b, a, theirs[0]))
    if min(left, right) < STRICT:
        return None
    one, two = mine[0], theirs[0]
    return Clash("name", one.text, two.text, (one.start, one.end), (two.start, two.end), round((left + right) / 2, 3))


def _rivals_by_name(one: Name, other: Name) -> bool:
    """Two roles, or two identifiers that are not what the sentences are about, and not two spellings of one."""
    plain_one, plain_other = (re.sub(r"\W", "", name.text).casefold() for name in (one, other))
    if plain_one.startswith(plain_other) or plain_other.startswith(plain_one):
        return False
    codes = one.slot != "agent" and all(_CODE.search(name.text) for name in (one, other))
    return codes or all(ROLE.search(name.text) for name in (one, other))


def _without(claim: Claim, name: Name) -> float:
    return sum(weight(term) for term in claim.body - name.terms)


def _rest_covered(a: Claim, b: Claim, name: Name) -> float:
    total = sum(weight(term) for term in a.body - name.terms)
    kept = sum(weight(term) * _nearness(term, b) for term in a.body - name.terms)
    return kept / total if total else 0.0


def _nearness(term: str, claim: Claim) -> float:
    if term in claim.body:
        return 1
    if term in claim.near:
        return NEAR
    return FAR if term in claim.far else 0
