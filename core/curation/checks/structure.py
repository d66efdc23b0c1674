"""Checks of the text: title, headings, sections, links, characters, size."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
