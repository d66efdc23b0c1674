"""What checks report and what they may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from core.curation.frontmatter import Fields, read_fields, split
from core.curation.markup import parser, plain_heading
from core.types import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

SEVERITIES = ("error", "warning", "note")  # an error is refused; a warning should be fixed; a note is good to know


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of a rule about one line of one file."""

    path: str
    line: int
    severity: str
    rule: str
    message: str


class Remark(NamedTuple):
    """A finding before its file and rule are known."""

    line: int
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the knowledge base holds besides the file: headings by path, paths by id, and today's date."""

    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    today: date | None = None


class Heading(NamedTuple):
    """A heading, its line in the whole file, and whether its section has content."""

    line: int
    level: int
    title: str
    filled: bool


@dataclass(frozen=True)
class File:
    """A readable file, parsed once for all checks."""

    document: Document
    raw: bytes = b""

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


def _headings(tokens: list[Token], first: int) -> Iterator[Heading]:
    opens = [n for n, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    for at, n in enumerate(opens):
        level = int(tokens[n].tag[1])
        after = tokens[n + 3] if n + 3 < len(tokens) else None
        deeper = after is not None and at + 1 < len(opens) and opens[at + 1] == n + 3 and int(after.tag[1]) > level
        filled = after is not None and (after.type != "heading_open" or deeper)
        yield Heading(first + (tokens[n].map or [0])[0], level, plain_heading(tokens[n + 1].content), filled)


Rule = Callable[[File, CheckContext], Iterator[Remark]]
