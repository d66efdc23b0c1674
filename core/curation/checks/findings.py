"""What checks report, what they may read, and findings in the forms that git hosts show beside the lines of a pull
request.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from core.curation.document.frontmatter import Fields, read_fields, split
from core.curation.document.links import Link, links_of, pictures_of
from core.curation.text.markup import parser, plain_heading, unique_slug
from core.errors import BadInput
from core.types import Document

if TYPE_CHECKING:
    from markdown_it.token import Token


SEVERITIES = ("error", "warning", "note")  # an error is refused; a warning should be fixed; a note is good to know


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of a rule about one line of one file. `field` names the field of the frontmatter that it is about.

    `known`: the knowledge base has it already; a change only touches the document.
    """

    path: str
    line: int
    severity: str
    rule: str
    message: str
    field: str = ""
    known: bool = False


class Remark(NamedTuple):
    """A finding before its file and rule are known."""

    line: int
    severity: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the knowledge base holds besides the file: headings by path, paths by id, today's date, paths of
    pictures.
    """

    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    today: date | None = None
    attachments: Collection[str] = frozenset()


class Heading(NamedTuple):
    """A heading, its line in the whole file, and whether its section has content."""

    line: int
    level: int
    title: str
    filled: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What parsing a document gives: findings of the rules that need nothing else, anchors of its headings, links,
    pictures.
    """

    findings: tuple[Finding, ...] = ()
    anchors: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    pictures: tuple[Link, ...] = ()


@dataclass(frozen=True)
class File:
    """A readable file, parsed at most once for all checks; not at all where its reading is known."""

    document: Document
    raw: bytes = b""
    reading: Reading | None = None

    @property
    def path(self) -> str:
        return self.document.path

    @cached_property
    def first(self) -> int:
        """The line number of the body's first line."""
        return self.document.text.count("\n", 0, self.document.body) + 1

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the whole text; line n is `lines[n - 1]`."""
        return self.document.text.split("\n")

    @cached_property
    def fields(self) -> Fields:
        return read_fields(split(self.document.text)[0])

    @cached_property
    def tokens(self) -> list[Token]:
        return parser().parse(self.document.text[self.document.body :])

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        return tuple(_headings(self.tokens, self.first))

    @cached_property
    def anchors(self) -> tuple[str, ...]:
        """The anchors of its headings, in order."""
        if self.reading:
            return self.reading.anchors
        seen: Counter[str] = Counter()
        return tuple(unique_slug(heading.title, seen) for heading in self.headings)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        return self.reading.links if self.reading else links_of(self.document, self.tokens)

    @cached_property
    def pictures(self) -> tuple[Link, ...]:
        return self.reading.pictures if self.reading else pictures_of(self.document, self.tokens)


def _headings(tokens: list[Token], first: int) -> Iterator[Heading]:
    opens = [n for n, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    for at, n in enumerate(opens):
        level = int(tokens[n].tag[1])
        after = tokens[n + 3] if n + 3 < len(tokens) else None
        deeper = after is not None and at + 1 < len(opens) and opens[at + 1] == n + 3 and int(after.tag[1]) > level
        filled = after is not None and (after.type != "heading_open" or deeper)
        yield Heading(first + (tokens[n].map or [0])[0], level, plain_heading(tokens[n + 1].content), filled)


Rule = Callable[[File, CheckContext], Iterator[Remark]]
Read = Callable[[Document], Reading]


class Anchors(Mapping[str, frozenset[str]]):
    """Anchors by path; a document is read only when a link leads to it."""

    def __init__(self, paths: Collection[str], load: Callable[[str], Document | None], read: Read) -> None:
        self.paths, self.load, self.read = paths, load, read
        self._known: dict[str, frozenset[str]] = {}

    def __getitem__(self, path: str) -> frozenset[str]:
        if path not in self.paths:
            raise KeyError(path)
        if path not in self._known:
            self._known[path] = self._anchors(path)
        return self._known[path]

    def _anchors(self, path: str) -> frozenset[str]:
        """None for a file that cannot be read; it has a finding of its own."""
        try:
            document = self.load(path)
            return frozenset(self.read(document).anchors if document else ())
        except BadInput:
            return frozenset()

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def github(findings: Iterable[Finding], folder: str = "") -> tuple[str, ...]:
    """Workflow commands of GitHub Actions.

    >>> github([Finding("a,b.md", 3, "error", "links", "100% gone:\\nno file")], "docs")
    ('::error file=docs/a%2Cb.md,line=3,title=links::100%25 gone:%0Ano file',)
    """
    return tuple(
        f"::{_LEVELS[each.severity]} "
        f"file={_property(_at(folder, each.path))},line={each.line},title={_property(each.rule)}"
        f"::{_escaped(each.message)}"
        for each in findings
    )


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(findings: Iterable[Finding], folder: str = "") -> str:
    """A code quality report of GitLab CI.

    >>> json.loads(gitlab([Finding("a.md", 3, "error", "links", "No file.")]))[0]["location"]
    {'path': 'a.md', 'lines': {'begin': 3}}
    """
    rows = [
        {
            "description": each.message,
            "check_name": each.rule,
            "fingerprint": hashlib.sha256(
                f"{each.path}\0{each.line}\0{each.rule}\0{each.message}".encode()
            ).hexdigest(),
            "severity": _SEVERITIES[each.severity],
            "location": {"path": _at(folder, each.path), "lines": {"begin": each.line}},
        }
        for each in findings
    ]
    return json.dumps(rows, indent=2)


def _at(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def cell(text: str) -> str:
    """Words of a document or a person in a cell of a Markdown table, as plain text.

    >>> cell("a | b\\n<i> @all")
    'a \\\\| b &lt;i&gt; &#64;all'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in ("\\", "`", "*", "_", "[", "]", "|", "!"):
        plain = plain.replace(sign, f"\\{sign}")
    return plain.replace("@", "&#64;")
