"""Keys and passwords that must not be published. Few patterns, each unlikely to match by accident."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from core.curation.checks.findings import CheckContext, File, Remark

KEYS: Mapping[str, re.Pattern[str]] = {
    "a private key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    "a Concord access token": re.compile(r"\bconcord_[A-Za-z0-9_-]{52}(?![A-Za-z0-9_-])"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20,64}\b"),
    "a Slack token": re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{20,255}\b"),
    "a Slack webhook": re.compile(r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"),
    "a Stripe key": re.compile(r"\b[rs]k_live_[A-Za-z0-9]{20,255}\b"),
    "a Google API key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
    "a model provider's key": re.compile(r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,255}\b"),
    "a signed web token": re.compile(r"\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
}
_ASSIGNED = re.compile(
    r"(?i)(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[\"'`]?[ \t]{0,4}(?:=|:|:=)[ \t]{0,4}"
    r"[\"'`]?([A-Za-z0-9+/_.=~!@#$%^&*-]{16,200})"
)
_ENOUGH = 3.6  # bits per character: English words stay below, random keys of 20 characters lie above
_EXAMPLE = re.compile(r"(?i)example|placeholder|changeme|your[_-]|xxxx|\*\*\*\*|\.\.\.\.")


def secrets(file: File, context: CheckContext) -> Iterator[Remark]:
    """Lines that seem to hold a key. The key itself is never repeated in a message."""
    for number, line in enumerate(file.lines, 1):
        if len(line) >= 16:
            yield from _line(number, line[:20_000])


def _line(number: int, line: str) -> Iterator[Remark]:
    for name, pattern in KEYS.items():
        match = pattern.search(line)
        if match and not _EXAMPLE.search(match[0]):
            yield Remark(
                number, "error", f"This looks like {name}. Take it out, and have it replaced where it is used."
            )
            return
    for assigned in _ASSIGNED.finditer(line):
        if looks_random(assigned[1]):
            yield Remark(number, "warning", "This looks like a password or key. Name where it is kept instead.")
            return


def looks_random(value: str) -> bool:
    """Whether letters and digits mix as in no word.

    >>> looks_random("q7Zx9KpL2mVt4Rw8"), looks_random("month-end-close-checklist"), looks_random("YOUR_API_KEY_1234567")
    (True, False, False)
    """
    mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value) and not _EXAMPLE.search(value)
    return bool(mixed) and entropy(value) >= _ENOUGH and len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]", value)) >= 3


def entropy(value: str) -> float:
    """Shannon entropy in bits per character.

    >>> entropy("aaaa"), entropy("abcd")
    (0.0, 2.0)
    """
    counts = Counter(value).values()
    return abs(sum(n / len(value) * math.log2(len(value) / n) for n in counts))
