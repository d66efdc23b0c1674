"""Whether what a model wrote is about its source: names and numbers that stand there, and more than its words again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.errors import BadInput
from core.llm.usable import runs, words

REPEATS = 0.5  # share of the runs of four words that a text may take from what it describes
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"(?<![.!?:;\"“‘(\[]\s)(?<=\s)[\"“‘(\[]?([A-Z][\w&*-]*)")
_SMALL = frozenset({
    "a", "about", "above", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "below", "between", "both", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from",
    "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "long", "many", "may", "might", "more",
    "most", "much", "must", "no", "nor", "not", "of", "on", "one", "only", "or", "other", "our", "out", "over",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "through", "to", "too", "under", "up", "used", "uses", "using", "was", "we", "were", "what", "when",
    "where", "which", "who", "whom", "why", "will", "with", "within", "without", "would", "you", "your",
})  # fmt: skip


def content_words(text: str) -> set[str]:
    """Words that say something, without their endings.

    >>> sorted(content_words("What are the approval limits?"))
    ['approval', 'limit']
    """
    return {stem(word) for word in words(text) if word not in _SMALL and (len(word) > 2 or word.isdigit())}


def stem(word: str) -> str:
    """A word without a plural or a verb's ending, roughly."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def repeats(text: str, source: str) -> float:
    """The share of a text's runs of four words that stand in a source; 1 for a short text that stands there whole.

    >>> repeats("Cash is counted twice a day.", "Here cash is counted twice a day by two people.")
    1.0
    """
    own = runs(text, 4)
    if not own:
        return float(" ".join(words(text)) in " ".join(words(source)))
    known = set(runs(source, 4))
    return sum(run in known for run in own) / len(own)


def unsupported(text: str, sources: Iterable[str]) -> list[str]:
    """Numbers and names of a text that none of its sources has.

    >>> unsupported("The HQ is a Japanese business of 70 years.", ["Our HQ was built 7 years ago."])
    ['70', 'Japanese']
    """
    everything = " ".join(sources)
    digits = {_digits(number) for number in _NUMBER.findall(everything)}
    known = {stem(word) for word in words(everything)}
    numbers = [number.rstrip(".,:/-") for number in _NUMBER.findall(text)]
    names = [match[1] for match in _NAME.finditer(text)]
    missing = [number for number in numbers if _digits(number) not in digits]
    missing += [name for name in names if not {stem(word) for word in words(name) if not word.isdigit()} <= known]
    return list(dict.fromkeys(name for name in missing if name != "I"))


def _digits(number: str) -> str:
    """A number without signs: 10,000 and 10000 are the same.

    >>> _digits("10,000.00"), _digits("2026-11-15")
    ('10000', '20261115')
    """
    return re.sub(r"\D", "", re.sub(r"[.,]0+$", "", number.rstrip(".,:/-")))


def grounded(text: str, *sources: str) -> str:
    """The text, if its names and numbers stand in its sources and it shares words with them."""
    missing = unsupported(text, sources)
    if missing:
        raise BadInput(f"it names what its source does not: {', '.join(missing[:3])}")
    if not content_words(text) & content_words(" ".join(sources)):
        raise BadInput("it has not one word in common with its source")
    return text
