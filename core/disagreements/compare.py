"""Two claims: do they speak of the same thing, and does one say another value, name or the opposite?

The decision depends on the two claims alone, so that it is the same for a pair in an editor, in a change and in the
list over the whole knowledge base, whatever else is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from core.disagreements.claims import WEAK, Claim, Name, claims, terms_between
from core.disagreements.values import Value, comparable, compatible
from core.types import Document

FEWEST = 1.4  # weight of the terms that both clauses must have
EACH, BOTH = 0.5, 0.62  # share of a claim that the other covers: of each, and on average
STRICT = 0.8  # both shares, for names and negations
NEAR, FAR = 0.9, 0.7  # what a term counts that the other has in the rest of its sentence, or in its headings
WINDOW = 32  # characters around a value that say what it is of


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
    shared = a.body & b.body
    if sum(map(weight, shared)) < FEWEST or a.text == b.text:
        return None
    return _values(a, b) or _negation(a, b) or _names(a, b)


@lru_cache(maxsize=200_000)
def weight(term: str) -> float:
    """How much a term says about the subject: little for words of every rule, more for identifiers.

    >>> weight("dai"), weight("invoic"), weight("fn-22")
    (0.3, 1.0, 1.5)
    """
    if term in WEAK:
        return 0.3
    return 1.5 if any(character.isdigit() or character in "*&/" for character in term) else 1.0


def covered(a: Claim, b: Claim) -> float:
    """The share of a clause, by weight, that the other claim also speaks of."""
    total = gained = 0.0
    for term in a.body:
        heavy = weight(term)
        total += heavy
        if term in b.body:
            gained += heavy
        elif term in b.near:
            gained += NEAR * heavy
        elif term in b.far:
            gained += FAR * heavy
    return gained / total if total else 0.0


def _values(a: Claim, b: Claim) -> Clash | None:
    left, right = covered(a, b), covered(b, a)
    if min(left, right) < EACH or left + right < 2 * BOTH or _other_scope(a, b):
        return None
    best: Clash | None = None
    for mine in a.values:
        for theirs in b.values:
            if not comparable(mine, theirs) or compatible(mine, theirs) or _stated(mine, b) or _stated(theirs, a):
                continue
            fit = _fit(a, mine, b, theirs)
            if fit is None:
                continue
            score = round((left + right) / 2 * (0.7 + 0.3 * fit), 3)
            made = Clash(mine.kind, mine.text, theirs.text, (mine.start, mine.end), (theirs.start, theirs.end), score)
            if best is None or (score, made.mine, made.theirs) > (best.score, best.mine, best.theirs):
                best = made
    return best


def _stated(value: Value, claim: Claim) -> bool:
    """Whether the sentence of a claim also says this value."""
    return any(comparable(value, other) and compatible(value, other) for other in (*claim.values, *claim.others))


def _fit(a: Claim, mine: Value, b: Claim, theirs: Value) -> float | None:
    """How alike the words around two values are; None where several values make it unclear which belong together."""
    one, two = _around(a, mine), _around(b, theirs)
    union = sum(map(weight, one | two))
    alike = sum(map(weight, one & two)) / union if union else 0.0
    several = sum(comparable(mine, v) for v in (*b.values, *b.others)) + sum(
        comparable(theirs, v) for v in (*a.values, *a.others)
    )
    return None if several > 2 and alike < 0.34 else alike


def _around(claim: Claim, value: Value) -> frozenset[str]:
    """The terms close to a value."""
    return terms_between(claim, max(claim.clause[0], value.start - WINDOW), min(claim.clause[1], value.end + WINDOW))


def _other_scope(a: Claim, b: Claim) -> bool:
    """Whether each names a thing, a form or a site that the other does not: then they speak of two things."""
    return (bool(_unmatched(a, b)) and bool(_unmatched(b, a))) or _scopes(a, b)


def _scopes(a: Claim, b: Claim) -> bool:
    """Headings or titles that each name another site, form or system."""
    mine, theirs = ({t for t in claim.far if weight(t) > 1} for claim in (a, b))
    return bool(mine - theirs - b.body - b.near) and bool(theirs - mine - a.body - a.near)


def _unmatched(a: Claim, b: Claim) -> list[Name]:
    everything = b.body | b.near | b.far
    return [name for name in a.names if not name.terms & everything]


def _negation(a: Claim, b: Claim) -> Clash | None:
    left, right = covered(a, b), covered(b, a)
    if min(left, right) < STRICT or a.hedged or b.hedged or _other_scope(a, b) or not _opposed(a, b):
        return None
    if any(comparable(v, w) and not compatible(v, w) for v in a.values for w in b.values):
        return None
    return Clash("negation", _cue(a), _cue(b), a.clause, b.clause, round((left + right) / 2, 3))


_OPPOSED = {
    frozenset({"forbids", "permits"}), frozenset({"forbids", "requires"}), frozenset({"requires", "optional"}),
}  # fmt: skip


def _opposed(a: Claim, b: Claim) -> bool:
    """Opposite demands, or a verb that only one of them negates."""
    if frozenset({a.mode, b.mode}) in _OPPOSED:
        return not (a.negated & b.negated)
    if bool(a.negated) == bool(b.negated):
        return False
    return any(term in b.body for term in a.negated) or any(term in a.body for term in b.negated)


def _cue(claim: Claim) -> str:
    return claim.mode or ("not" if claim.negated else "yes")


def _names(a: Claim, b: Claim) -> Clash | None:
    mine, theirs = _unmatched(a, b), _unmatched(b, a)
    if len(mine) != 1 or len(theirs) != 1 or mine[0].slot == "scope" or mine[0].slot != theirs[0].slot:
        return None
    rest_a, rest_b = _without(a, mine[0]), _without(b, theirs[0])
    if min(rest_a, rest_b) < 2.5 or _scopes(a, b) or a.mode != b.mode or bool(a.negated) != bool(b.negated):
        return None
    left, right = (_rest_covered(a, b, mine[0]), _rest_covered(b, a, theirs[0]))
    if min(left, right) < STRICT:
        return None
    one, two = mine[0], theirs[0]
    return Clash("name", one.text, two.text, (one.start, one.end), (two.start, two.end), round((left + right) / 2, 3))


def _without(claim: Claim, name: Name) -> float:
    return sum(weight(term) for term in claim.body - name.terms)


def _rest_covered(a: Claim, b: Claim, name: Name) -> float:
    total = sum(weight(term) for term in a.body - name.terms)
    kept = sum(
        weight(t) * (1 if t in b.body else NEAR if t in b.near else FAR if t in b.far else 0)
        for t in a.body - name.terms
    )
    return kept / total if total else 0.0
