"""Typed values in a sentence: numbers with units, money, periods, dates, times of day, counts and labels.

Values of one dimension are comparable: 84 months are 7 years, USD 10k is $10,000, 24 hours are one day.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.disagreements import word_lists

KINDS = ("number", "amount", "date", "period", "name", "negation")
ROUGH = 0.03  # months and years are counted as days: 90 days are 3 months

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = {
    **{word: n for n, word in enumerate(_ONES.split())},
    **{word: 20 + 10 * n for n, word in enumerate(_TENS.split())},
    "half": 0.5,
    "dozen": 12,
    "hundred": 100,
}
_ORDINALS = {
    word: n
    for n, word in enumerate(
        word_lists.ORDINALS,
        1,
    )
}
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9}
_MONTHS = {name: n // 2 + 1 for n, name in enumerate(word_lists.MONTHS)} | {"sept": 9}
_DAYS = {
    name: n for n, name in enumerate(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
}

_HOURS = {"second": 1 / 3600, "sec": 1 / 3600, "minute": 1 / 60, "min": 1 / 60, "hour": 1, "hr": 1, "h": 1, "day": 24}
_HOURS |= {"night": 24, "week": 168, "fortnight": 336, "month": 730.5, "quarter": 2191.5, "year": 8766, "yr": 8766}
_EVERY = {"hourly": 1, "daily": 24, "nightly": 24, "weekly": 168, "fortnightly": 336, "biweekly": 336, "monthly": 730.5}
_EVERY |= {"quarterly": 2191.5, "semiannually": 4383, "semi-annually": 4383, "annually": 8766, "yearly": 8766}
_UNITS: dict[str, tuple[str, float]] = {
    "%": ("%", 1),
    "percent": ("%", 1),
    "per cent": ("%", 1),
    "mph": ("speed", 1.609344),
    "km/h": ("speed", 1),
    "kph": ("speed", 1),
    "inch": ("length", 0.0254),
    "inches": ("length", 0.0254),
    "foot": ("length", 0.3048),
    "feet": ("length", 0.3048),
    "ft": ("length", 0.3048),
    "yard": ("length", 0.9144),
    "yards": ("length", 0.9144),
    "mile": ("length", 1609.344),
    "miles": ("length", 1609.344),
    "mm": ("length", 0.001),
    "cm": ("length", 0.01),
    "meter": ("length", 1),
    "meters": ("length", 1),
    "metre": ("length", 1),
    "metres": ("length", 1),
    "km": ("length", 1000),
    "lb": ("mass", 0.45359237),
    "lbs": ("mass", 0.45359237),
    "pound": ("mass", 0.45359237),
    "pounds": ("mass", 0.45359237),
    "oz": ("mass", 0.0283495),
    "kg": ("mass", 1),
    "gram": ("mass", 0.001),
    "grams": ("mass", 0.001),
    "ton": ("mass", 907.185),
    "tons": ("mass", 907.185),
    "kb": ("data", 1e3),
    "mb": ("data", 1e6),
    "gb": ("data", 1e9),
    "tb": ("data", 1e12),
    "kilobytes": ("data", 1e3),
    "megabytes": ("data", 1e6),
    "gigabytes": ("data", 1e9),
    "terabytes": ("data", 1e12),
    "gallon": ("volume", 3.785411784),
    "gallons": ("volume", 3.785411784),
    "liter": ("volume", 1),
    "liters": ("volume", 1),
    "litre": ("volume", 1),
    "litres": ("volume", 1),
}
_CURRENCIES = {"$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "€": "eur", "eur": "eur"}
_CURRENCIES |= {"euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp"}
_STOPS = frozenset(word_lists.NO_NOUNS)
_LABELS = frozenset(word_lists.LABELS)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text. `low` and `high` differ for a range; `unit` says what is counted, if it is no measure.

    `bound`: "" for exact, "least", "most", "over" (more than) or "under".
    """

    kind: str
    dimension: str
    low: float
    high: float
    text: str
    start: int
    end: int
    bound: str = ""
    unit: frozenset[str] = frozenset()
    rough: bool = False  # counted in months or years
    head: str = ""  # the noun of the unit


def comparable(a: Value, b: Value) -> bool:
    """Whether two values measure the same thing."""
    if a.dimension != b.dimension or a.dimension in ("weekday", "month"):
        return a.dimension == b.dimension
    return not a.unit or not b.unit or a.head in b.unit or b.head in a.unit


def compatible(a: Value, b: Value) -> bool:
    """Whether two comparable values can both be true.

    >>> seven, months, least = (values(text)[0] for text in ("7 years", "84 months", "at least 5 years"))
    >>> compatible(seven, months), compatible(seven, least), compatible(least, values("3 years")[0])
    (True, True, False)
    """
    if a.dimension == "date":
        return _same_date(a, b)
    if a.dimension in ("weekday", "month"):
        return bool(a.unit & b.unit)
    if a.bound == b.bound or {a.bound, b.bound} <= {"over", "least"} or {a.bound, b.bound} <= {"under", "most"}:
        return _overlap(a, b)
    lower, upper = _open(a), _open(b)
    return _overlap(lower, upper)


def _open(value: Value) -> Value:
    """A bounded value as the range that it admits."""
    if value.bound in ("least", "over"):
        return replace(value, high=math.inf)
    if value.bound in ("most", "under"):
        return replace(value, low=-math.inf)
    return value


def _overlap(a: Value, b: Value) -> bool:
    slack = ROUGH if a.rough != b.rough else 1e-6
    top, bottom = min(a.high, b.high), max(a.low, b.low)
    return bottom <= top or (math.isfinite(bottom) and bottom - top <= slack * max(abs(bottom), abs(top)))


def _same_date(a: Value, b: Value) -> bool:
    """Dates as year * 10000 + month * 100 + day; a missing year agrees with any."""
    (ya, da), (yb, db) = divmod(int(a.low), 10_000), divmod(int(b.low), 10_000)
    return (da == db or not da or not db) and (ya == yb or not ya or not yb)


_WORD_NUMBER = (
    rf"(?:(?:{'|'.join(_TENS.split())})(?:[- ](?:{'|'.join(_ONES.split()[1:10])}))?|{'|'.join(_ONES.split())})"
)
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|{_WORD_NUMBER})"
_TO = r"-?\s*(?:-|–|—|\bto\b|\bor\b|\band\b)\s*"
_SPAN = rf"(?P<low>{_NUMBER})(?:{_TO}(?P<high>{_NUMBER}))?"
_LEFT = r"(?<![\w.,:/#$€£*+-])"
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_PERIODS = "|".join(sorted(_HOURS, key=len, reverse=True))

_DATE = re.compile(
    rf"{_LEFT}(?:(?P<iso>(?:19|20)\d\d-\d\d-\d\d)|(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd"
    r"|th)?(?!\d)(?:,?\s+(?P<year>(?:19|20)\d\d))?"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH})\b(?:,?\s+(?P<year2>(?:19"
    r"|20)\d\d))?)(?![\w-])",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\w.:-])(?:(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"|(?P<hour2>1[0-2]|0?[1-9])\s*(?P<half2>[ap]\.?m\b\.?)|(?P<name>noon|midnight)\b)",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"(?:(?P<sign>US\$|[$€£]|\b(?:USD|EUR|GBP)\s?)\s?(?P<low>\d[\d,]*(?:\.\d+)?)(?:{_TO}(?:[$€£]"
    r"|USD\s?)?(?P<high>\d[\d,]*(?:\.\d+)?))?\s?(?P<scale>k|m|mn|bn|million|billion|thousand)?\b"
    rf"|{_LEFT}(?P<low2>{_NUMBER})\s?(?P<scale2>k|million|billion|thousand|hundred)?\s(?P<name>dollars|euros?|USD|EUR"
    r"|GBP))(?!\w)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    rf"{_LEFT}{_SPAN}(?:\s?\(\s?\d+\s?\))?[\s-]+(?:full\s+|consecutive\s+)?(?P<work>business|working|bank|work"
    rf"|banking)?(?:[\s-]?(?:calendar)[\s-])?\s?(?P<unit>{_PERIODS})s?\b(?:['’])?",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    rf"\b(?:every|each|once (?:an?|every|per|each))\s+(?:(?P<low>{_NUMBER}|other|second"
    rf"|third)[\s-]+)?(?P<unit>{_PERIODS})s?\b"
    rf"|\b(?P<times>once|twice|{_NUMBER} times)\s+(?:an?|per|every|each)\s+(?P<unit2>{_PERIODS})\b"
    rf"|\b(?P<adverb>{'|'.join(_EVERY)})\b(?!(?-i:(?<=ly)\s[A-Z][a-z]))",
    re.IGNORECASE,
)
_NET = re.compile(r"\bnet[ -](?P<low>\d{1,3})\b(?!\.\d)", re.IGNORECASE)
_ARTICLE = re.compile(
    r"\b(?:within|for|after|in|least|than|to|over|under)\s+(?P<unit1>an?\s+(?P<work>business\s+"
    r"|working\s+)?(?P<unit>hour|day|week|month|quarter|year))\b(?!\s*['’]s)",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"\b(?:permanent|permanently|indefinitely|forever)\b", re.IGNORECASE)
_MEASURE = re.compile(
    rf"{_LEFT}{_SPAN}(?:\s|-)?(?P<unit>°\s?[FC]|degrees (?:F|C|Fahrenheit|Celsius)|%"
    rf"|{'|'.join(sorted((u for u in _UNITS if u != '%'), key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b({'|'.join(day.title() for day in _DAYS)})s?\b")
_MONTH_ONLY = re.compile(r"\b(January|February|March|April|June|July|August|September|October|November|December)\b")
_ORDINAL = re.compile(
    rf"\b(?P<word>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))\s+(?P<noun>[a-z]{{3,}}(?:[ ](?!(?:of|in|at|to|on"
    rf"|for|and|or|the|with|after|before|by|from|is|are|was|that|must)\b)[a-z]{{3,}})?)\b"
)
_COUNT = re.compile(rf"{_LEFT}{_SPAN}\b(?!\s*[%°:])(?P<after>(?:[ -][A-Za-z][\w’'-]*){{0,3}})", re.IGNORECASE)
_LABEL = re.compile(
    r"\b(?P<noun>[A-Za-z]{2,})\.?\s+(?P<low>\d+(?:,\d{3})*)(?:\s*(?:to|-|–|and)\s*(?P<high>\d+))?(?![\w.,%°:/-]*\d|\w"
    r"|%)"
)
_PHONE = re.compile(r"(?<![\w-])(?:\+?1[ -])?\(?\d{3}\)?[ -]\d{3}-\d{4}(?!\w)")

_BOUNDS = (
    (
        "least",
        r"at least|no (?:less|fewer|earlier|sooner) than|not (?:less|fewer|earlier) than|minimum(?: of)?|a minimum of"
        r"|min\.",
    ),
    (
        "most",
        r"at most|no (?:more|longer|greater|later) than|not (?:more|longer) than|not (?:to )?exceed(?:ing)?|up to"
        r"|maximum(?: of)?|max\.",
    ),
    ("over", r"more than|over|above|greater than|exceed(?:s|ing)?|longer than|older than|beyond"),
    ("under", r"less than|under|below|fewer than|shorter than"),
)
_BEFORE = tuple(
    (name, re.compile(rf"(?:{words})\s+(?:the\s+|an?\s+|about\s+)?$", re.IGNORECASE)) for name, words in _BOUNDS
)
_AFTER = tuple(
    (name, re.compile(rf"\s*+(?:,\s*+)?(?:{words})\b", re.IGNORECASE))
    for name, words in (
        ("least", r"or (?:more|longer|above|over|higher|older|greater)|(?:at )?(?:the )?minimum|and (?:above|over|up)"),
        ("most", r"or (?:less|fewer|under|below|lower)|(?:at )?(?:the )?(?:maximum|most)"),
    )
)

_OFTEN = {"least": "most", "most": "least"}  # at least once a year: at most a year lies between

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None]]


def values(text: str) -> tuple[Value, ...]:
    """The values of a text in order; where two readings overlap, the more specific one counts.

    >>> [(v.dimension, v.low, v.text) for v in values("Keep it for 7 years; over $10k by 5 pm")]
    [('period', 61362.0, '7 years'), ('money usd', 10000.0, '$10k'), ('time', 1020, '5 pm')]
    """
    taken: list[Value] = []
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            value = read(match)
            if value and (at := _free(taken, value)) >= 0:
                taken.insert(at, _bounded(text, value))
    return tuple(value for value in taken if value.kind != "ignored")


def _free(taken: Sequence[Value], value: Value) -> int:
    """The place of a value among others, which are in order and do not overlap; -1 where one is in its way."""
    at = bisect_left(taken, value.start, key=lambda other: other.start)
    before, after = taken[max(0, at - 1) : at], taken[at : at + 1]
    overlaps = any(other.end > value.start for other in before) or any(other.start < value.end for other in after)
    return -1 if overlaps else at


def _bounded(text: str, value: Value) -> Value:
    if value.bound:
        return value
    for name, before in _BEFORE:
        if before.search(text[max(0, value.start - 28) : value.start]):
            return replace(value, bound=_OFTEN.get(name, name) if value.dimension == "frequency" else name)
    for name, after in _AFTER:
        if after.match(text, value.end):
            return replace(value, bound=name)
    return value


def number(text: str) -> float:
    """A number in digits or words.

    >>> number("10,000"), number("twenty-four"), number("two hundred")
    (10000.0, 24.0, 200.0)
    """
    plain = text.lower().replace(",", "").strip()
    if plain[:1].isdigit():
        return float(plain)
    total = 0.0
    for word in re.split(r"[\s-]+", plain):
        total = total * 100 if word == "hundred" and total else total + WORDS[word]
    return total


def _value(
    match: re.Match[str],
    kind: str,
    dimension: str,
    one: float,
    other: float | None = None,
    unit: frozenset[str] = frozenset(),
) -> Value:
    """What a match says, without the white space around it."""
    low, high = sorted((one, one if other is None else other))
    text = match.group()
    start, end = match.start() + len(text) - len(text.lstrip()), match.start() + len(text.rstrip())
    head = next(iter(unit)) if len(unit) == 1 else ""
    return Value(kind, dimension, low, high, text.strip(), start, end, unit=unit, head=head)


def _date(match: re.Match[str]) -> Value | None:
    if iso := match["iso"]:
        year, month, day = map(int, iso.split("-"))
    else:
        month = _MONTHS[(match["month"] or match["month2"]).lower()]
        day, year = int(match["day"] or match["day2"]), int(match["year"] or match["year2"] or 0)
    return _value(match, "date", "date", year * 10_000 + month * 100 + day) if 1 <= day <= 31 else None


def _time(match: re.Match[str]) -> Value | None:
    if match["name"]:
        return _value(match, "date", "time", 720 if match["name"].lower() == "noon" else 0)
    hour, minute = int(match["hour"] or match["hour2"]), int(match["minute"] or 0)
    half = (match["half"] or match["half2"] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return _value(match, "date", "time", hour * 60 + minute)


def _money(match: re.Match[str]) -> Value | None:
    scale = _SCALES.get((match["scale"] or match["scale2"] or "").lower(), 1)
    scale = 100 if (match["scale2"] or "").lower() == "hundred" else scale
    currency = _CURRENCIES[(match["sign"] or match["name"]).strip().lower()]
    low = number((match["low"] or match["low2"]).rstrip(",."))
    high = number(match["high"].rstrip(",.")) if match["high"] else low
    return _value(match, "amount", f"money {currency}", low * scale, high * scale)


def _period(match: re.Match[str]) -> Value | None:
    unit = match["unit"].lower()
    low, high = number(match["low"]), number(match["high"] or match["low"])
    if match["work"] and unit in ("day", "week"):
        days = 5 if unit == "week" else 1
        return _value(match, "period", "business days", low * days, high * days)
    hours = _HOURS[unit]
    return replace(_value(match, "period", "period", low * hours, high * hours), rough=hours > 700)


def _terms_of_payment(match: re.Match[str]) -> Value | None:
    return _value(match, "period", "payment terms", float(match["low"]))


def _frequency(match: re.Match[str]) -> Value | None:
    if adverb := match["adverb"]:
        every = _EVERY[adverb.lower()]
        return replace(_value(match, "period", "frequency", every), rough=every > 700)
    unit = _HOURS[(match["unit"] or match["unit2"]).lower()]
    if times := match["times"]:
        count = {"once": 1.0, "twice": 2.0}.get(times.lower()) or number(times.lower().removesuffix(" times"))
        return replace(_value(match, "period", "frequency", unit / count), rough=unit > 700) if count else None
    low = (match["low"] or "one").lower()
    count = {"other": 2.0, "second": 2.0, "third": 3.0}.get(low) or number(low)
    return replace(_value(match, "period", "frequency", unit * count), rough=unit > 700)


def _article(match: re.Match[str]) -> Value | None:
    start, end = match.span("unit1")
    hours = _HOURS[match["unit"].lower()]
    dimension = "business days" if match["work"] else "period"
    low = hours / 24 if match["work"] else hours
    return Value("period", dimension, low, low, match["unit1"], start, end, rough=hours > 700)


def _always(match: re.Match[str]) -> Value | None:
    return _value(match, "period", "period", math.inf)


def _measure(match: re.Match[str]) -> Value | None:
    unit, low, high = match["unit"].lower(), number(match["low"]), number(match["high"] or match["low"])
    if "°" in unit or unit.startswith("degrees"):
        if unit.removeprefix("degrees").strip("° ")[0] == "f":
            low, high = (low - 32) / 1.8, (high - 32) / 1.8
        return _value(match, "number", "temperature", low, high)
    dimension, factor = _UNITS[unit]
    return _value(match, "number", dimension, low * factor, high * factor)


def _weekday(match: re.Match[str]) -> Value | None:
    return _value(match, "date", "weekday", _DAYS[match[1].lower()], unit=frozenset({match[1].lower()}))


def _month_only(match: re.Match[str]) -> Value | None:
    return _value(match, "date", "month", _MONTHS[match[1].lower()], unit=frozenset({match[1].lower()}))


def _ordinal(match: re.Match[str]) -> Value | None:
    word = match["word"].lower()
    place = float(_ORDINALS.get(word) or int(word.rstrip("stndrh")))
    nouns = tuple(_stems(match["noun"]))
    return replace(_value(match, "number", "ordinal", place, unit=frozenset(nouns)), head=nouns[-1])


def _count(match: re.Match[str]) -> Value | None:
    """A number with what it counts: the words that follow it, up to the first that cannot be a noun."""
    nouns: list[str] = []
    for word in match["after"].replace("-", " ").split():
        if word.lower() in _STOPS or word in ("x", "X"):
            break
        nouns.append(word)
    low = match["low"]
    if not nouns or (low.isdigit() and len(low) == 4 and low[:2] in ("19", "20")):
        return None
    end = match.start("after") + match["after"].find(nouns[-1]) + len(nouns[-1])
    top = number(match["high"] or low)
    text = match.string[match.start() : end]
    lowest, highest = sorted((number(low), top))
    unit = tuple(_stems(" ".join(nouns)))
    return Value("number", "count", lowest, highest, text, match.start(), end, unit=frozenset(unit), head=unit[-1])


def _label(match: re.Match[str]) -> Value | None:
    """A number that names one of several things: door 124, ext. 4100, net 45."""
    noun = match["noun"].lower()
    if noun not in _LABELS and noun.rstrip("s") not in _LABELS:
        return None
    low = number(match["low"])
    return _value(match, "number", "label", low, float(match["high"] or low), unit=frozenset(_stems(noun)))


def _phone(match: re.Match[str]) -> Value | None:
    return _value(match, "number", "phone", float(re.sub(r"\D", "", match[0])[-10:]))


def _nothing(match: re.Match[str]) -> Value | None:
    return _value(match, "ignored", "", 0)


def _stems(words: str) -> Iterator[str]:
    """Words without the plural."""
    for word in words.lower().split():
        yield word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_ADDRESS = re.compile(r"https?://\S+|(?<!\S)\S[^\s@]*+@\S[^\s.]*+\.\S+")  # one way through a word, however long
_REFERENCE = re.compile(
    r"\b\d+\s+(?:CFR|U\.?S\.?C\.?)\s+[\d.]+(?:\([a-z0-9]+\))*|\bv\d+(?:\.\d+)*\b|\b\d+\.\d+\.\d+[\w.]*|§+\s*[\d.]+"
    r"|\b(?:section|step|version|form|page|chapter|article|part|rule|figure|table|appendix|level|tier|phase|sev"
    r"|priority|iso"
    r"|rfc|title|requirement|control|clause)s?\.?\s+[\d.]+(?:\([a-z0-9]+\))*(?:\s*(?:to|-|–|and|,)\s*\d+)*\b",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"^\d+(?:\.\d+)+\s|\b[A-Z]{2,}\s\d+(?:\.\d+)+")  # its number, and that of a standard
_IDENTIFIER = re.compile(r"\b[A-Za-z]+[-/]?\d[\w/-]*|\b\d+[A-Za-z][\w-]*(?<!st)(?<!nd)(?<!rd)(?<!th)\b")
_RULES: tuple[Rule, ...] = (
    (_ADDRESS, _nothing),
    (_PHONE, _phone),
    (_DATE, _date),
    (_MONEY, _money),
    (_TIME, _time),
    (_REFERENCE, _nothing),
    (_PARAGRAPH, _nothing),
    (_NET, _terms_of_payment),
    (_FREQUENCY, _frequency),
    (_PERIOD, _period),
    (_MEASURE, _measure),
    (_ARTICLE, _article),
    (_ALWAYS, _always),
    (_IDENTIFIER, _nothing),
    (_ORDINAL, _ordinal),
    (_WEEKDAY, _weekday),
    (_MONTH_ONLY, _month_only),
    (_LABEL, _label),
    (_COUNT, _count),
)
