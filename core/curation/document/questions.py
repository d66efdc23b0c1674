"""Questions as people type them: when two are the same, and which ones a document's headings answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.access import folded

MAX_QUESTION = 500  # characters
_ENDS = " ?!.,;:…"


def one_line(question: str) -> str:
    """A question without line breaks, double spaces and half characters, cut at the limit.

    >>> one_line(" what  is\\n\\ud83d this ")
    'what is ? this'
    """
    return " ".join(question.encode("utf-8", "replace").decode().split())[:MAX_QUESTION].strip()


def same_form(question: str) -> str:
    """A question in comparable form: case, spaces and the sign at its end aside.

    >>> same_form("  How do I file a CTR? ") == same_form("how do I  file a ctr")
    True
    """
    return folded(one_line(question)).rstrip(_ENDS)


# ---------------------------------------------------------------- questions from headings

MOST = 6  # suggestions at once

_VERBS = (
    "accept activate add adjust answer appeal apply appoint approve archive arrange ask assess assign attach "
    "authorise authorize "
    "book bring buy calculate call cancel certify change check choose claim clean clear close collect complete "
    "configure confirm "
    "connect contact convert correct count create declare decline delete deliver deploy destroy disable dispose "
    "document download "
    "draft enable encrypt enrol enroll enter escalate evacuate evaluate export file fill find finish fix forward "
    "freeze get give "
    "grant handle hire hold identify import inform inspect install investigate invite issue join keep label lay "
    "lease leave lift load "
    "lock log maintain make manage measure merge migrate monitor move name notify obtain offboard onboard open "
    "operate order organise "
    "organize pack park patch pay perform pick plan post prepare prevent print process procure provide publish "
    "purchase put raise read "
    "receive reconcile record recover redeem refund register reject release remove renew rent repair replace report "
    "request reset "
    "resolve respond restart restore return reverse review revoke rotate run save scan schedule secure select sell "
    "send set settle "
    "share ship sign start stop store submit suspend swap switch take terminate test track train transfer travel "
    "undo unlock update "
    "upgrade upload use validate verify visit wash weigh withdraw wipe write"
)
_BEFORE_THINGS = (
    "a an the your my our their its each every all any some one two three new another it them this that these those "
    "for in out up "
    "off back to access somebody someone"
)
_COMPOUNDS = (  # what an -ing word often stands before, as in "opening hours"
    "account agreement area areas authority card cards committee costs desk equipment form forms guide hours label "
    "labels letter "
    "level levels limit limits list materials method methods note notes order orders permit permits plan plans point "
    "policy "
    "procedure process program programme records report reports requirements room rooms rule rules schedule slip "
    "standard standards "
    "status system systems team terms time times window windows"
)
_GENERIC = {  # headings that say nothing without their document
    "approval": "Who approves {}?",
    "approvals": "Who approves {}?",
    "approvers": "Who approves {}?",
    "before you start": "What do I need before {}?",
    "before you begin": "What do I need before {}?",
    "prerequisites": "What do I need before {}?",
    "requirements": "What is required for {}?",
    "contact": "Who do I ask about {}?",
    "contacts": "Who do I ask about {}?",
    "help": "Who do I ask about {}?",
    "deadlines": "What are the deadlines for {}?",
    "timeline": "How long does {} take?",
    "timelines": "How long does {} take?",
    "escalation": "Who do I escalate to for {}?",
    "escalate": "Who do I escalate to for {}?",
    "exceptions": "Who may grant an exception to {}?",
    "exception": "Who may grant an exception to {}?",
    "fees": "What does {} cost?",
    "costs": "What does {} cost?",
    "cost": "What does {} cost?",
    "if something goes wrong": "What do I do when {} goes wrong?",
    "troubleshooting": "What do I do when {} goes wrong?",
    "limits": "What are the limits for {}?",
    "thresholds": "What are the limits for {}?",
    "records": "How long are records of {} kept?",
    "retention": "How long are records of {} kept?",
    "record retention": "How long are records of {} kept?",
    "responsibilities": "Who is responsible for {}?",
    "roles": "Who is responsible for {}?",
    "roles and responsibilities": "Who is responsible for {}?",
    "scope": "Who has to follow {}?",
    "who it applies to": "Who has to follow {}?",
}
_EMPTY = frozenset(
    {
        "afterwards",
        "appendix",
        "background",
        "change history",
        "changelog",
        "change log",
        "definitions",
        "diagnose",
        "example",
        "examples",
        "fix",
        "general",
        "glossary",
        "how you notice",
        "introduction",
        "links",
        "notes",
        "overview",
        "policy",
        "procedure",
        "procedures",
        "process",
        "purpose",
        "references",
        "related",
        "related documents",
        "see also",
        "steps",
        "summary",
        "terms",
        "the rules",
        "rules",
        "version history",
        "faq",
        "first five minutes",
        "what happens when it is broken",
    }
)
_NUMBER = re.compile(
    r"^(?:(?:step|part|section|fix|appendix)\s+)?(?:\d+(?:\.\d+)*|[A-Za-z])[.):]\s+|^\d+(?:\.\d+)*\s+", re.I
)
_ASKS = re.compile(
    r"^((who|whom|what|when|where|why|how|how (long|much|many|often)|which \w+)\s+)?"
    r"(is|are|am|was|can|could|may|must|do|does|did|should|will|would|has|have|if)\s",
    re.IGNORECASE,
)
_WHEN = re.compile(r"^(if|when|before|after)\s+(you|your)\s", re.IGNORECASE)
_LIST = re.compile(r"\b(faq|directory|index|glossary|list|register|catalogue)\b", re.IGNORECASE)
_TO = re.compile(r"^(how|when|where|what|whom|who)\s+to\s+(.+)$", re.IGNORECASE)


def suggested(title: str, headings: Sequence[str], have: Collection[str] = ()) -> tuple[str, ...]:
    """Questions that a document probably answers, from its title and headings, without those it lists already.

    >>> suggested("Wifi for guests", ["Purpose", "Ask for a card", "Roles", "What if it is lost?"])
    ('How does wifi for guests work?', 'How do I ask for a card?', 'Who is responsible for wifi for guests?', 'What if
    it is lost?')
    """
    listed = {same_form(question) for question in have}
    questions = (from_heading(title) or _works(title), *(from_heading(heading, title) for heading in headings))
    found = {same_form(question): question for question in questions if question}
    return tuple(question for form, question in found.items() if form not in listed)[:MOST]


def from_heading(heading: str, title: str = "") -> str:
    """A heading as somebody would ask; "" where it is not clear what one would ask.

    >>> [
    ...     from_heading(heading, "Travel expenses")
    ...     for heading in ("2. Filing a CTR", "When to call HR", "Limits", "Steps")
    ... ]
    ['How do I file a CTR?', 'When do I call HR?', 'What are the limits for travel expenses?', '']
    >>> [
    ...     from_heading(heading)
    ...     for heading in ("If you lost your key", "I lost a key", "Are pets allowed", "CTR vs SAR")
    ... ]
    ['What do I do if I lost my key?', 'I lost a key, what do I do?', 'Are pets allowed?', 'What is the difference
    between CTR and SAR?']
    >>> [
    ...     from_heading(heading)
    ...     for heading in ("Opening hours", "Reporting phishing", "Leave of absence", "Record retention")
    ... ]
    ['', 'How do I report phishing?', '', '']
    """
    words = _NUMBER.sub("", one_line(heading)).rstrip(" .:;!")
    form = words.lower().rstrip("?")
    if not words or form in _EMPTY:
        return ""
    if form in _GENERIC:
        return _GENERIC[form].format(_inner(title)) if title else ""
    if asked := _TO.match(words):
        return f"{asked[1].capitalize()} do I {asked[2].rstrip('?')}?"
    if words.endswith("?"):
        return words
    if _WHEN.match(words):
        return f"What do I do {_first_person(_inner(words))}?"
    return f"{words}?" if _ASKS.match(words) else _about(words)


def _about(words: str) -> str:
    """A question about a phrase: what to do where it begins with a verb and its object, the difference of two; else
    none.
    """
    if words.startswith(("I ", "My ")):
        return f"{words}, what do I do?"
    sides = re.split(r"\s+(?:vs\.?|versus)\s+", words, maxsplit=1, flags=re.IGNORECASE)
    if len(sides) == 2:
        return f"What is the difference between {_inner(sides[0])} and {_inner(sides[1])}?"
    first, _, rest = words.partition(" ")
    verb, following = _BASE.get(first.lower(), ""), rest.partition(" ")[0].lower()
    single = first.lower().endswith("ing") and " " not in rest and following not in _COMPOUNDS.split()
    if verb and rest and (following in _BEFORE_THINGS.split() or single):
        return f"How do I {verb} {_first_person(rest)}?"
    return ""


def _works(title: str) -> str:
    """How a thing works; "" for lists of things."""
    if not title or _LIST.search(title) or len(title.split()) > 6:
        return ""
    thing = re.split(r" (?:at|for|from|in|of|on|to|with) ", title)[0]
    does = "do" if thing.endswith("s") and not thing.endswith("ss") else "does"
    return f"How {does} {_inner(title)} work?"


def _first_person(text: str) -> str:
    """What a heading says to its reader, as the reader says it.

    >>> _first_person("if you lost your key")
    'if I lost my key'
    """
    said = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself", "are": "am"}
    swapped = re.sub(r"\b(?:you are)\b", "I am", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:you|your|yours|yourself)\b", lambda m: said[m[0].lower()], swapped, flags=re.IGNORECASE)


def _inner(text: str) -> str:
    """A phrase inside a sentence: its first letter small, unless the word is a name or an acronym."""
    first, space, rest = text.partition(" ")
    ordinary = first[1:].islower() and first[1:].replace("-", "").isalpha()
    following = rest.partition(" ")[0]
    named = (
        following[:1].isupper() and following[1:].islower()
    )  # "Bank Secrecy Act" is a name, "Travel expenses" is none
    return (first[:1].lower() + first[1:] if (ordinary and not named) or first == "A" else first) + space + rest


def _gerund(verb: str) -> str:
    """The form with -ing.

    >>> [_gerund(verb) for verb in ("file", "set", "lie", "report", "see")]
    ['filing', 'setting', 'lying', 'reporting', 'seeing']
    """
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb) or verb in ("submit", "begin", "refer")
    return f"{verb}{verb[-1]}ing" if short else f"{verb}ing"


_BASE = {form: verb for verb in _VERBS.split() for form in (verb, _gerund(verb))}
