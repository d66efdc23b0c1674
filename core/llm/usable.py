"""Whether an answer may be used at all: whole, not refused, no echo of what was asked. Every feature asks here first.

JSON is read as models write it, lenient about form and about nothing else; what was written must be about its source.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from core.errors import BadInput, Unusable
from core.llm.prompt import TAGS
from core.types import Answer

ECHO = 10  # words in a row that an answer may not share with what was asked
_CUT = ("length", "max_tokens")
_REFUSED = ("content_filter", "content_filtered", "guardrail_intervened", "refusal")
_THINK = r"think|thinking|reasoning|thought"
_THOUGHT = re.compile(rf"<({_THINK})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\A\s*(?:[^\n`]{0,160}:\s*\n+)?```[\w-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am|we are|we['’]re)\s+(?:very\s+|so\s+)?(?:sorry|unable|not able|afraid)\b"
    r"|sorry\b|unfortunately,? i\b|my apologies|i apologi[sz]e"
    r"|as an? (?:ai|artificial|language model|large language)"
    r"|i (?:can['’]?t|can ?not|won['’]?t|will not|could not|couldn['’]?t|am not able to|do not feel|must decline)\b)"
    r"|\bas an ai (?:language )?(?:model|assistant)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\A\s*(?:sure|certainly|of course|okay|ok|here (?:is|are|it is|they are|you (?:are|go))|here['’]s|below "
    r"(?:is|are)|the following|answer|response)\b"
    r"[^\n:]{0,160}:\s*|\A\s*(?:sure|certainly|of course|okay|ok)[!,.]\s+",
    re.IGNORECASE,
)
_TAG = re.compile(rf"</?(?:{'|'.join(TAGS)})\b[^>]*>", re.IGNORECASE)
_ENDED = re.compile(r"[.!?…][\"'”’)\]】*]*\Z|[.!?…]\s*\[\d+\]\Z|\]\.?\Z")


def usable(answer: Answer, prompt: str = "", system: str = "", max_tokens: int = 0) -> str:
    """The words of an answer without thoughts and fences; Unusable, with the reason, for anything else.

    >>> usable(Answer("<think>Two?</think>```json\\n[2, 1]\\n```", "m", finish="stop"))
    '[2, 1]'
    >>> usable(Answer("I'm sorry, but I can't assist with that.", "m"))
    Traceback (most recent call last):
        ...
    core.errors.Unusable: The answer of m was not used: it is a refusal.
    """
    full = not answer.finish and 0 < max_tokens <= answer.output_tokens
    if answer.finish in _CUT or full:
        raise _unusable(answer, "it was cut at its limit of length")
    if answer.finish in _REFUSED:
        raise _unusable(answer, "it is a refusal")
    text = _THOUGHT.sub("", answer.text)
    text = re.split(rf"</(?:{_THINK})>", text, flags=re.IGNORECASE)[-1]
    if re.search(rf"<(?:{_THINK})>", text, re.IGNORECASE):
        raise _unusable(answer, "its thoughts have no end")
    fenced = _FENCED.match(text)
    text = (fenced[1] if fenced and "```" not in fenced[1] else text).strip()
    why = _wrong(text, prompt, system)
    if why:
        raise _unusable(answer, why)
    return text


def _wrong(text: str, prompt: str, system: str) -> str:
    if not text:
        return "it is empty"
    if _REFUSAL.search(text):
        return "it is a refusal"
    if _TAG.search(text) or echoes(text, f"{_without_data(prompt)} {system}"):
        return "it repeats what was asked"
    return ""


def _unusable(answer: Answer, why: str) -> Unusable:
    return Unusable(f"The answer of {answer.model} was not used: {why}.")


def _without_data(prompt: str) -> str:
    """The instructions of a prompt: what stands between our tags is left out, words of documents may be repeated."""
    return re.sub(rf"<({'|'.join(TAGS)})\b[^>]*>.*?</\1>", " ", prompt, flags=re.DOTALL)


def words(text: str) -> list[str]:
    """The words of a text in comparable form."""
    return re.findall(r"[^\W_]+", text.casefold())


def runs(text: str, length: int) -> list[tuple[str, ...]]:
    """Every run of so many words."""
    every = words(text)
    return [tuple(every[n : n + length]) for n in range(len(every) - length + 1)]


def echoes(text: str, asked: str, length: int = ECHO) -> bool:
    """Whether a text shares a run of so many words with what was asked.

    >>> echoes("One two three four.", "zero one two three", 3)
    True
    """
    return not set(runs(text, length)).isdisjoint(runs(asked, length))


def prose(text: str) -> str:
    """Words for people: one line of whole sentences, without an opening such as "Here is the summary:".

    >>> prose("Sure, here is the passage:\\nCash is counted twice. Then the")
    'Cash is counted twice.'
    """
    plain = " ".join(_OPENING.sub("", text.encode("utf-8", "replace").decode()).split()).strip("\"“”'` ")
    if _loops(plain):
        raise BadInput("it repeats itself")
    if not _ENDED.search(plain):
        plain = plain[: max((match.end() for match in re.finditer(r"[.!?…](?=\s)", plain)), default=0)]
    if len(words(plain)) < 3:
        raise BadInput("it has not one whole sentence")
    return plain


def _loops(text: str) -> bool:
    """Whether half of a text is the same four words again and again, or a fifth of its runs of four stand in it
    before.
    """
    four = runs(text, 4)
    again = len(four) - len(set(four))
    return len(four) >= 12 and (4 * max(Counter(four).values()) >= 0.5 * len(four) or again >= 0.2 * len(four))


def chance(answer: Answer, yes: str = "yes", no: str = "no") -> float:
    """How likely the first word of an answer is `yes` rather than `no`, by its log-probabilities.

    >>> round(chance(Answer("Yes", "m", first=(("Yes", -0.1), (" no", -2.5)))), 3)
    0.917
    """
    if not answer.first:
        raise Unusable(
            f"The endpoint of {answer.model} gives no log-probabilities, so its yes and no cannot be weighed. "
            "Choose the cross-encoder or listwise instead."
        )
    sums = [_mass(answer.first, word) for word in (yes, no)]
    if not any(sums):
        raise _unusable(answer, f"it is neither {yes} nor {no}")
    return sums[0] / sum(sums)


def _mass(first: Sequence[tuple[str, float]], word: str) -> float:
    return math.fsum(math.exp(value) for token, value in first if token.strip(" ▁Ġ*\"'.").casefold() == word)


REPEATS = 0.5  # share of the runs of four words that a text may take from what it describes
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_NAME = re.compile(r"(?<![.!?:;\"“‘(\[]\s)(?<=\s)[\"“‘(\[]?([A-Z][\w&*-]*)")
_SMALL = frozenset(
    {
        "a",
        "about",
        "above",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "each",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "long",
        "many",
        "may",
        "might",
        "more",
        "most",
        "much",
        "must",
        "no",
        "nor",
        "not",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "up",
        "used",
        "uses",
        "using",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "within",
        "without",
        "would",
        "you",
        "your",
    }
)


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


_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])')


def json_value(text: str, *kinds: type) -> Any:
    """The first JSON value of a kind in an answer; BadInput when there is none.

    >>> json_value('Sure, [3 questions]: {"dense": 0.5,}', dict)
    {'dense': 0.5}
    """
    plain = _LAST_COMMA.sub(lambda match: match[1] or "", text)
    at = 0
    while (start := re.search(r"[\[{]", plain[at:])) is not None:
        at += start.start()
        try:
            value, _ = json.JSONDecoder().raw_decode(plain[at:])
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, kinds) and value:
            return value
        at += 1
    raise BadInput("it holds no JSON of the form that was asked for")


def listed(text: str, key: str) -> list[Any]:
    """The list in an answer: bare, under its key, or a single object that stands for a list of one.

    >>> listed('{"rows": [{"a": 1}]}', "rows"), listed('{"a": 1}', "rows"), listed("[1, 2,]", "rows")
    ([{'a': 1}], [{'a': 1}], [1, 2])
    """
    value = json_value(text, list, dict)
    if isinstance(value, list):
        return value
    inner = value.get(key, [value])
    if not isinstance(inner, list):
        raise BadInput(f"its {key} are no list")
    return inner


def schema_of(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
