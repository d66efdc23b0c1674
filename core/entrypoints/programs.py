"""What the doors for programs and assistants share: they name what there is, and no command that only a terminal runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from core.errors import BadInput

COMMAND = re.compile(r"\bpython -m core\b|\bpip install\b|\bmake setup\b|\brm -r?f?\b")
ASK = "Ask whoever runs Concord."
_SENTENCES = re.compile(r"(?<=[.!?;])\s+")
_OR_BY_COMMAND = re.compile(rf",? or(?: with| run)?:? *(?:{COMMAND.pattern}).*", re.DOTALL)


def for_programs(text: str) -> str:
    """A refusal without the commands that only somebody at the server's terminal can run.

    >>> for_programs("There is no change 9. List them with: python -m core change list")
    'There is no change 9.'
    >>> for_programs("No such ranker. Rankers: none yet; train one with: python -m core tune ranker")
    'No such ranker. Rankers: none yet.'
    >>> for_programs("Check it on the page Index, or with: python -m core models check tiny")
    'Check it on the page Index.'
    >>> for_programs("Write it anew with: rm -f config && python -m core init")
    'Ask whoever runs Concord.'
    """
    if not COMMAND.search(text):
        return text
    parts = [_OR_BY_COMMAND.sub(".", part) for part in _SENTENCES.split(text)]
    kept = " ".join(part for part in parts if not COMMAND.search(part))
    return re.sub(r"[;:,]$", ".", kept) or ASK


def refuse_unknown(given: Iterable[str], known: Collection[str], kind: str = "parameter") -> None:
    """Refuse what an operation does not have: a misspelled filter would find too much."""
    for name in given:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise BadInput(f"There is no {kind} {name!r} here. {kind.capitalize()}s: {there}.")
