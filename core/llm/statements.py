"""An answer taken apart: every sentence with the passages it cites, and why those that they do not bear out are
withheld.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from core.errors import BadInput
from core.llm.usable import content_words, prose, unsupported

BORNE = 0.8  # share of a sentence's words that its passages must have; those of the question prove nothing
SAME = 0.5  # share of a sentence's words that make a sentence of a passage the one it is taken from
_NEGATION = re.compile(r"\b(?:not|no|never|nor|neither|cannot|without|\w+n['’]t)\b", re.IGNORECASE)
_INTRODUCTION = re.compile(
    r"^(?:according to|as stated in|based on)?\s*(?:the\s+)?passages?(?:\s+in)?\s*(?:,|states? that|says? "
    r"that|explains? that)\s*",
    re.IGNORECASE,
)
_CITED = re.compile(r"\s*\[(\d+)\]")
_SPELLINGS = re.compile(  # [1, 2], [passage 2], (passage 1), 【1】
    r"[\[(【]\s*(?:passages?\s*)?(?:n\s*=\s*)?[\"“]?(\d{1,2}(?:\s*(?:,|and|&"
    r"|;)\s*(?:passage\s*)?\d{1,2})*)[\"”]?\s*[\])】]",
    re.IGNORECASE,
)
_SHORT = r"(?<!\bext)(?<!\bno)(?<!\bNo)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)"  # what a full stop shortens
_SENTENCE = re.compile(rf".+?(?:(?:{_SHORT}\.|[!?])(?:\s*\[\d+\])*(?=\s|$)|$)")
_BULLET = re.compile(r"(?:^|(?<=[.:;!?\])]\s))(?:\d{1,2}[.)]|[-*•])\s+(?=\S)")  # of a list, also one in a single line
_LINK = re.compile(r"\[([^\]\[]+)\]\([^()\s]*\)")
_NOTHING = re.compile(
    r"\b(?:do(?:es)? not|don['’]t|doesn['’]t|did not|cannot|can['’]t|no)\b[^.]{0,60}\b"
    r"(?:answer|information|contain|mention|say|state|specif|provide|address)|\bnot "
    r"(?:stated|mentioned|specified|given)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer and the numbers of its passages; `why` it is withheld, "" when it is shown."""

    text: str
    cited: tuple[int, ...]
    why: str = ""

    @property
    def marked(self) -> str:
        """The sentence with its citations before its last sign.

        >>> CitedSentence("Cash is counted twice.", (1, 3)).marked
        'Cash is counted twice [1][3].'
        """
        body, sign = (self.text[:-1], self.text[-1]) if self.text[-1:] in ".!?" else (self.text, "")
        return f"{body} {''.join(f'[{n}]' for n in self.cited)}{sign}"


def statements(answer: str, question: str, passages: Sequence[str]) -> tuple[CitedSentence, ...]:
    """The sentences of an answer, each checked against the passages it cites; none when it says that they do not
    answer.

    >>> said = statements("Cash is counted twice [1]. It is 70 % gold [1].", "Cash?", ["Cash is counted twice a day."])
    >>> [(statement.text, statement.why) for statement in said]
    [('Cash is counted twice.', ''), ('It is 70 % gold.', 'its passages do not have: 70')]
    """
    text = _SPELLINGS.sub(lambda match: "".join(f"[{n}]" for n in re.findall(r"\d+", match[1])), _plain(prose(answer)))
    if not _CITED.search(text) and _NOTHING.search(text):
        return ()
    said = tuple(_statement(match[0].strip(), question, passages) for match in _SENTENCE.finditer(text))
    if not any(statement.cited for statement in said):
        raise BadInput("it does not cite its passages")
    denied = all(statement.why for statement in said) and any(_NOTHING.search(statement.text) for statement in said)
    return () if denied else said


def _plain(text: str) -> str:
    """An answer without the signs of lists and links: a bare number is no sentence, and an address is for no reader.

    >>> _plain("Do this: 1. Open [the page](../a.md). 2. Wait until 14. Then call, Monday - Friday.")
    'Do this: Open the page. Wait until 14. Then call, Monday - Friday.'
    """
    return _BULLET.sub("", _LINK.sub(r"\1", text))


def _statement(sentence: str, question: str, passages: Sequence[str]) -> CitedSentence:
    """A sentence with its passages; where it names none, with the first that bears it out."""
    cited = tuple(dict.fromkeys(int(number) for number in _CITED.findall(sentence)))
    text = _introduced(" ".join(_CITED.sub("", sentence).split()))
    if not cited:
        bearing = (n for n in range(1, len(passages) + 1) if not _wrong(text, (n,), question, passages))
        cited = tuple(islice(bearing, 1))
    return CitedSentence(text, cited, _wrong(text, cited, question, passages))


def _introduced(text: str) -> str:
    """A sentence without words about passages, which nobody reads here.

    >>> _introduced("According to passage, cash is counted twice.")
    'Cash is counted twice.'
    """
    rest = _INTRODUCTION.sub("", text)
    return f"{rest[:1].upper()}{rest[1:]}"


def _wrong(text: str, cited: Sequence[int], question: str, passages: Sequence[str]) -> str:
    """Why the cited passages do not bear out a sentence. Words of the question are no proof: a passage about vacation
    that does not name Peru says nothing about Peru."""
    if not cited:
        return "it names no passage, and none bears it out"
    if any(not 1 <= number <= len(passages) for number in cited):
        return "it cites a passage that was not shown"
    if text.endswith("?"):
        return "it is a question"
    sources = [passages[number - 1] for number in cited]
    if missing := unsupported(text, sources):
        return f"its passages do not have: {', '.join(missing[:3])}"
    said, known = content_words(text), content_words(" ".join(sources))
    foreign = sorted(said - known)
    if len(said & known) < BORNE * len(said):
        return f"its passages do not have: {', '.join(foreign[:3])}"
    if said <= content_words(question):
        return "it only repeats the question"
    if _denies(text, sources):
        return "it or its passage denies what the other says"
    return ""


def _denies(text: str, sources: Sequence[str]) -> bool:
    """Whether the sentence of the sources that is most like this one has a negation that it lacks, or the other way
    round.

    >>> _denies("Switch off the computer.", ["Call the desk. Do not switch off the computer."])
    True
    """
    said = content_words(text)
    of = [part for source in sources for part in re.split(r"(?<=[.!?;:])\s|\n|\|", source)]
    nearest = max(of, key=lambda part: len(said & content_words(part)), default="")
    alike = len(said & content_words(nearest)) >= SAME * len(said)
    return alike and bool(_NEGATION.search(nearest)) != bool(_NEGATION.search(text))
