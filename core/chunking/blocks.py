"""Markdown as top-level blocks with their offsets: headings, paragraphs, lists, tables, code."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.chunking.sentences import sentences, trim
from core.curation.text.markup import plain_heading
from core.types import Document

Span = tuple[int, int]

MOST = 0.6  # the share of a chunk that gives it the name of a section

_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block of the body; `items` are the entries of a list."""

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    items: tuple[Span, ...] = ()


@cache
def _parser() -> MarkdownIt:
    """Blocks only: inline markup does not move a boundary, and skipping it is four times faster."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def blocks(document: Document) -> tuple[Block, ...]:
    """The blocks of the body in order. Together they hold every visible character.

    >>> text = "# A\\n\\nHello.\\n\\n- x\\n- y\\n"
    >>> [(b.kind, text[b.start:b.end]) for b in blocks(Document("d", "d.md", "D", text))]
    [('heading', '# A'), ('paragraph', 'Hello.'), ('list', '- x\\n- y')]
    """
    return _blocks(document.text, document.body)


@lru_cache(maxsize=4)
def _blocks(text: str, body: int) -> tuple[Block, ...]:
    lines = _line_starts(text, body)
    row: list[Block] = []
    at = body
    for block in _top_level(_parser().parse(text[body:]), lines, text):
        row += _loose(text, at, block.start)
        row.append(block)
        at = block.end
    return (*row, *_loose(text, at, len(text)))


def _line_starts(text: str, body: int) -> list[int]:
    starts = [body]
    while (newline := text.find("\n", starts[-1])) >= 0:
        starts.append(newline + 1)
    return [*starts, len(text)]


def _top_level(tokens: Sequence[Token], lines: list[int], text: str) -> Iterator[Block]:
    for n, token in enumerate(tokens):
        if token.level or token.type not in _KINDS or not token.map:
            continue
        start, end = trim(text, *_place(token, lines))
        if start == end:
            continue
        kind = _KINDS[token.type]
        if kind == "heading":
            yield Block(kind, start, end, level=int(token.tag[1]), title=plain_heading(tokens[n + 1].content))
        else:
            yield Block(kind, start, end, items=_items(tokens, n, lines, text) if kind == "list" else ())


def _place(token: Token, lines: list[int]) -> Span:
    first, last = token.map or [0, 0]
    return lines[min(first, len(lines) - 1)], lines[min(last, len(lines) - 1)]


def _items(tokens: Sequence[Token], n: int, lines: list[int], text: str) -> tuple[Span, ...]:
    spans = []
    for at in range(n + 1, len(tokens)):
        token = tokens[at]
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open":
            spans.append(trim(text, *_place(token, lines)))
    return tuple(spans)


def _loose(text: str, start: int, end: int) -> list[Block]:
    """Text outside any block, such as link definitions."""
    start, end = trim(text, start, end)
    return [Block("other", start, end)] if start < end else []


def parts(text: str, block: Block) -> list[Span]:
    """Where a block that is too large may be cut: items, rows, lines, or sentences."""
    if block.items:
        return _covering(block, [start for start, _ in block.items[1:]])
    if block.kind in ("table", "code", "html"):
        return _covering(block, [n + 1 for n in range(block.start, block.end) if text[n] == "\n"])
    return _covering(block, [start for start, _ in sentences(text, block.start, block.end)[1:]])


def _covering(block: Block, cuts: list[int]) -> list[Span]:
    edges = [block.start, *cuts, block.end]
    return list(pairwise(edges))


def table_header(text: str, block: Block) -> str:
    """The header row and the rule below it."""
    return "\n".join(text[block.start : block.end].split("\n")[:2])


class Outline:
    """The heading path at any place of a document."""

    def __init__(self, document: Document, document_blocks: Sequence[Block]) -> None:
        self.starts: list[int] = []
        self.paths: list[tuple[str, ...]] = []
        self.headings = tuple(block for block in document_blocks if block.kind == "heading")
        path: list[tuple[int, str]] = []
        for block in self.headings:
            path = [step for step in path if step[0] < block.level]
            if not (block.level == 1 and block.title.casefold() == document.title.casefold()):
                path.append((block.level, block.title))
            self.starts.append(block.start)
            self.paths.append(tuple(title for _, title in path))

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """The path of the section that makes up most of the span, else what all its sections have in common."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1)
        inside = [self.paths[n] if n >= 0 else () for n in range(first, last)]
        edges = [start, *self.starts[first + 1 : last], end]
        for path, (a, b) in zip(inside, pairwise(edges), strict=True):
            if b - a > MOST * (end - start):
                return path
        return _common(inside)


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if not paths:
        return ()
    shortest, longest = min(paths), max(paths)
    for n, step in enumerate(shortest):
        if step != longest[n]:
            return shortest[:n]
    return shortest
