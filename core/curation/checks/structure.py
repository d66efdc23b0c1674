"""Checks of the text: title, headings, sections, links, characters, size; and keys and passwords that must not be
published.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from core.curation.checks.findings import CheckContext, File, Remark
from core.curation.document.links import Link, is_external
from core.curation.text.markup import NESTING

LONG = 200_000  # characters; a document longer than this is rarely one document
_HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HTML = re.compile(r"(?i)<(script|iframe|object|embed|style|form|meta|link|base)\b")
_PROGRAM = re.compile(r"(?i)\]\(\s*<?(javascript|vbscript|data|file):")
_QUOTES = re.compile(rf"(?:[ \t]{{0,3}}>){{{NESTING + 1},}}")


def title(file: File, context: CheckContext) -> Iterator[Remark]:
    """A document has a title, in the frontmatter or as its first heading."""
    if not file.document.meta.title and not any(heading.level == 1 for heading in file.headings):
        yield Remark(
            1, "warning", f"There is no title; it will be called {file.document.title!r} after its file name.", "title"
        )
    extra = [heading for heading in file.headings if heading.level == 1][1:]
    for heading in extra[:3]:
        yield Remark(heading.line, "note", f"{heading.title!r} is a second main heading. Sections start with ##.")


def levels(file: File, context: CheckContext) -> Iterator[Remark]:
    """Headings go down one level at a time."""
    before = 1
    for heading in file.headings:
        if heading.level > before + 1:
            marks = "#" * (before + 1)
            yield Remark(
                heading.line,
                "warning",
                f"The heading {heading.title!r} skips from level {before} to {heading.level}. Start it with {marks}.",
            )
        before = heading.level


def empty_sections(file: File, context: CheckContext) -> Iterator[Remark]:
    """A heading with nothing below promises an answer that is not there."""
    if not any(line.strip() for line in file.lines[file.first - 1 :]):
        yield Remark(file.first, "error", "The document has no text. Write something below the frontmatter.")
    for heading in file.headings:
        if not heading.filled:
            name = heading.title or "(without words)"
            yield Remark(heading.line, "warning", f"The section {name!r} is empty. Fill it or take the heading out.")


def broken_links(file: File, context: CheckContext) -> Iterator[Remark]:
    """Internal links resolve; only web and mail addresses lead out."""
    own = frozenset(file.anchors)
    for link in file.links:
        if link.path:
            yield from _internal(link, own if link.path == file.path else context.anchors.get(link.path))
        elif not is_external(link.target):
            yield Remark(link.line, "warning", f"The link {_short(link.target)} leads nowhere and is shown as text.")


def _internal(link: Link, anchors: frozenset[str] | None) -> Iterator[Remark]:
    target = _short(link.target)
    if anchors is None:
        yield Remark(link.line, "warning", f"The link {target} leads to {link.path}, and there is no such document.")
    elif link.anchor and link.anchor.lower() not in anchors:
        yield Remark(link.line, "warning", f"The link {target} names a heading that {link.path} does not have.")


def characters(file: File, context: CheckContext) -> Iterator[Remark]:
    """Invisible characters can make a text read differently from what it says."""
    for number, line in enumerate(file.lines, 1):
        if match := _CONTROL.search(line):
            yield Remark(number, "error", f"There is a control character (U+{ord(match[0]):04X}). Delete it.")
            return
    for number, line in enumerate(file.lines, 1):
        if match := _HIDDEN.search(line):
            yield Remark(number, "warning", f"There is an invisible character (U+{ord(match[0]):04X}). Delete it.")
            return


def markup(file: File, context: CheckContext) -> Iterator[Remark]:
    """HTML and script links are shown as text and never run; deeply nested quotes are cut."""
    for number, line in enumerate(file.lines, 1):
        if number >= file.first and (match := _HTML.search(line)):
            yield Remark(number, "note", f"HTML such as <{match[1].lower()}> is shown as text; it never runs.")
            break
    for number, line in enumerate(file.lines, 1):
        if match := _PROGRAM.search(line):
            yield Remark(
                number, "note", f"A link that starts with {match[1].lower()}: is shown as text; it leads nowhere."
            )
            break
    for number, line in enumerate(file.lines, 1):
        if line.lstrip()[:1] == ">" and _QUOTES.match(line[:5000]):
            yield Remark(
                number, "warning", f"Quotes are nested more than {NESTING} deep. Only the outer ones are drawn."
            )
            break


def size(file: File, context: CheckContext) -> Iterator[Remark]:
    """Very long documents are hard to find and harder to review."""
    length = len(file.document.text)
    if length > LONG:
        yield Remark(1, "warning", f"The document has {length:,} characters. Several shorter ones are found better.")


def encoding(file: File, context: CheckContext) -> Iterator[Remark]:
    """What decoding changed."""
    if file.raw.startswith(b"\xef\xbb\xbf"):
        yield Remark(1, "note", "The byte-order mark at the start was removed.")
    if b"\r" in file.raw:
        yield Remark(1, "note", "Line endings were changed to plain newlines.")


def _short(target: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in target)
    return f"'{text if len(text) <= 80 else text[:77] + '...'}'"


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
    r"(?i)(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[\"'`]?[ \t]{0,4}(?:=|:|:=)[ "
    r"\t]{0,4}"
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

    >>> (
    ...     looks_random("q7Zx9KpL2mVt4Rw8"),
    ...     looks_random("month-end-close-checklist"),
    ...     looks_random("YOUR_API_KEY_1234567"),
    ... )
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
