"""What a check can say, and what it may look at."""

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
    """One thing a check has to say about one line of one file."""

    path: str
    line: int
    severity: str
    rule: str
    message: str


class Remark(NamedTuple):
    """A finding before its file and its rule are known."""

    line: int
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a file will stand beside: headings by path, paths by id, and the day."""

    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    today: date | None = None


class Heading(NamedTuple):
    """A heading with its line and where its section's own text would start and end, in lines of the whole file."""

    line: int
    level: int
    title: str
    filled: bool


@dataclass(frozen=True)
class File:
    """A file that could be read as a document, parsed once for all checks."""

    document: Document
    raw: bytes = b""

    @property
    def path(self) -> str:
        """Where it will stand."""
        return self.document.path

    @cached_property
    def first(self) -> int:
        """The number of the body's first line."""
        return self.document.text.count("\n", 0, self.document.body) + 1

    @cached_property
    def lines(self) -> list[str]:
        """The whole text by lines; line n is `lines[n - 1]`."""
        return self.document.text.split("\n")

    @cached_property
    def fields(self) -> Fields:
        """The frontmatter as written."""
        return read_fields(split(self.document.text)[0])

    @cached_property
    def tokens(self) -> list[Token]:
        """The body's blocks."""
        return parser().parse(self.document.text[self.document.body :])

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """Every heading, and whether anything stands below it."""
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
