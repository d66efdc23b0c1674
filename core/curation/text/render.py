"""Markdown to a tree of safe nodes, and to plain text. Nothing here is HTML; the frontend creates the elements.

A node is a text, or a list `[tag, attributes, children]` with a tag from `TAGS`. Links keep their target only if
it is a web or mail address or another document; a picture is a path of the knowledge base, which `with_pictures` turns
into an address; pictures of other sites are never loaded; raw HTML stays text, line breaks and pictures apart.
Comments and the tags of site generators are left out; a link to a page of a site becomes one to its document by
`with_pages`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from markdown_it.token import Token

from core.curation.document.links import is_external, resolve
from core.curation.text.markup import parser, plain_heading, uncommented, unique_slug
from core.types import Document

Node = Any  # str | [tag, {attribute: value}, [Node, ...]]

TAGS = {
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "em",
    "strong",
    "s",
    "a",
    "br",
    "hr",
    "span",
    "img",
}
_TAGS = re.compile(r"<br\s*/?>|<img\b[^<>]{0,1000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(src|alt)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""", re.IGNORECASE)
MAX_BLOCKS = 1500  # top-level blocks drawn at once


@dataclass(frozen=True, slots=True)
class RenderedHeading:
    """A heading of the outline."""

    level: int
    title: str
    slug: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """Nodes with their offsets in the text, the outline, and how many blocks were left out."""

    nodes: tuple[Node, ...]
    outline: tuple[RenderedHeading, ...]
    hidden: int = 0
    first: int = 0  # the number of the first block drawn, from 0


def render(document: Document, first: int = 0, around: int | str = "") -> Rendered:
    """The body as nodes from one block on, or from the part around an offset or a heading's slug.

    Blocks know where they stand in the text, so that a passage can be marked.
    """
    body = uncommented(document.text)[document.body :]
    tokens = parser().parse(body)
    places = _Places(body, document.body)
    seen: Counter[str] = Counter()
    blocks: list[Node] = []
    outline: list[RenderedHeading] = []
    for group in _top_level(tokens):
        node = _Builder(document.path, places).build(group)
        if group[0].type == "heading_open":
            title = plain_heading(group[1].content)
            slug = unique_slug(title, seen)
            node[0][1]["id"] = slug
            outline.append(RenderedHeading(int(group[0].tag[1]), title, slug))
            if not outline[1:] and not blocks and title.casefold() == document.title.casefold():
                continue  # whoever draws the document shows its title already
        blocks += node
    if around != "":
        first = _holding(blocks, around) // MAX_BLOCKS * MAX_BLOCKS
    first = first if first < len(blocks) else 0
    shown = blocks[first : first + MAX_BLOCKS]
    return Rendered(tuple(shown), tuple(outline[:MAX_BLOCKS]), len(blocks) - first - len(shown), first)


def _holding(blocks: Sequence[Node], around: int | str) -> int:
    """The block at an offset or with a slug; 0 when there is none."""
    known = ((n, block[1]) for n, block in enumerate(blocks) if not isinstance(block, str))
    if isinstance(around, str):
        return next((n for n, at in known if at.get("id") == around), 0)
    return next((n for n, at in known if around < at.get("end", 0)), 0)


def _top_level(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Groups of tokens, one per top-level block."""
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0 and (token.nesting == -1 or len(group) == 1):
            yield group
            group = []


class _Places:
    """Line numbers of the body to offsets of the whole text."""

    def __init__(self, body: str, start: int) -> None:
        self.lines = [start]
        for line in body.split("\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)

    def of(self, token: Token) -> dict[str, int]:
        if not token.map:
            return {}
        last = len(self.lines) - 1
        return {"start": self.lines[min(token.map[0], last)], "end": self.lines[min(token.map[1], last)]}


class _Builder:
    """Tokens to nodes."""

    def __init__(self, path: str, places: _Places) -> None:
        self.path, self.places = path, places

    def build(self, tokens: Sequence[Token]) -> list[Node]:
        root: list[Node] = []
        stack = [root]
        for token in tokens:
            if token.nesting == 1:
                node = self._open(token)
                stack[-1].append(node)
                stack.append(node[2])
            elif token.nesting == -1:
                if len(stack) > 1:
                    stack.pop()
            else:
                stack[-1].extend(self._leaf(token))
        return root

    def _open(self, token: Token) -> Node:
        tag = token.tag if token.tag in TAGS else "span"
        attributes: dict[str, Any] = self.places.of(token)
        if tag == "a":
            return self._anchor(str(token.attrGet("href") or ""))
        if tag == "ol" and token.attrGet("start"):
            attributes["first"] = str(token.attrGet("start"))
        if tag in ("td", "th") and "text-align:" in str(token.attrGet("style") or ""):
            attributes["align"] = str(token.attrGet("style")).split(":")[1].strip()
        if token.hidden:
            tag = "span"
        return [tag, attributes, []]

    def _text(self, content: str) -> Iterator[Node]:
        """A text, with the line breaks and pictures that are written as HTML."""
        at = 0
        for match in _TAGS.finditer(content):
            yield from [content[at : match.start()]] if match.start() > at else []
            yield ["br", {}, []] if match[0][1:3].lower() == "br" else self._picture(*_tag(match[0]))
            at = match.end()
        yield from [content[at:]] if content[at:] else []

    def _picture(self, target: str, alt: str) -> Node:
        """A picture of the knowledge base by its path; of another site only its words and its address."""
        words = " ".join(alt.split())
        if is_external(target):
            return ["span", {"image": words or "Picture", "elsewhere": target}, []]
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.IGNORECASE):
            return ["span", {"image": words or "Picture"}, []]
        path = resolve(self.path, unquote(target.partition("#")[0].partition("?")[0]))
        return ["img", {"picture": path, "alt": words}, []]

    def _anchor(self, target: str) -> Node:
        if is_external(target):
            return ["a", {"href": target}, []]
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.IGNORECASE):
            return ["span", {"refused": target[:200]}, []]
        path = resolve(self.path, name) if name else self.path
        if path.endswith(".md"):
            return ["a", {"doc": path, "anchor": anchor}, []]
        return ["span", {"page": path, "anchor": anchor} if path and "." not in path.split("/")[-1] else {}, []]

    def _leaf(self, token: Token) -> list[Node]:
        if token.type == "inline":
            return self.build(token.children or [])
        if token.type in ("text", "html_inline"):
            return list(self._text(token.content))
        if token.type in ("softbreak", "hardbreak"):
            return ["\n"] if token.type == "softbreak" else [["br", {}, []]]
        if token.type == "code_inline":
            return [["code", {}, [token.content]]]
        if token.type in ("fence", "code_block"):
            language = token.info.split()[0] if token.info.split() else ""
            return [["pre", {**self.places.of(token), "language": language[:30]}, [["code", {}, [token.content]]]]]
        if token.type == "image":
            return [self._picture(str(token.attrGet("src") or ""), token.content)]
        if token.type == "hr":
            return [["hr", self.places.of(token), []]]
        return [token.content] if token.content else []


def _tag(html: str) -> tuple[str, str]:
    """The address and the words of a picture that is written as HTML."""
    found = {match[1].lower(): match[2] or match[3] or "" for match in _ATTRIBUTE.finditer(html)}
    return found.get("src", ""), found.get("alt", "")


def with_pictures(nodes: Iterable[Node], address: Callable[[str], str]) -> list[Node]:
    """Nodes whose pictures have the address that `address` gives to their path; "" means that a picture is missing.

    >>> with_pictures([["p", {}, [["img", {"picture": "a.png", "alt": "A"}, []]]]], lambda path: f"/pictures/{path}")
    [['p', {}, [['img', {'picture': 'a.png', 'alt': 'A', 'src': '/pictures/a.png'}, []]]]]
    """
    return [node if isinstance(node, str) else _addressed(node, address) for node in nodes]


def _addressed(node: Node, address: Callable[[str], str]) -> Node:
    tag, attributes, children = node
    if tag == "img":
        return [tag, {**attributes, "src": address(attributes["picture"])}, []]
    return [tag, attributes, with_pictures(children, address)]


def with_pages(nodes: Iterable[Node], paths: Iterable[str]) -> list[Node]:
    """Nodes whose links to a page of a site, such as /leave/sick/, lead to the document that such a page is made of.

    >>> with_pages([["span", {"page": "leave/sick", "anchor": ""}, ["it"]]], ["site/leave/sick.md", "sick.md"])
    [['a', {'doc': 'site/leave/sick.md', 'anchor': ''}, ['it']]]
    """
    pages = {f"/{_INDEX.sub('', path)}": path for path in paths}

    def linked(node: Node) -> Node:
        if isinstance(node, str):
            return node
        tag, attributes, children = node
        if "page" in attributes:
            ends = f"/{attributes['page']}"
            found = min((page for page in pages if page.endswith(ends)), key=len, default="")
            link = ["a", {"doc": pages[found], "anchor": attributes["anchor"]}] if found else ["span", {}]
            return [*link, children]
        return [tag, attributes, [linked(child) for child in children]]

    return [linked(node) for node in nodes]


_INDEX = re.compile(r"(?:/(?:_?index|README))?\.md$")
_IMAGES = re.compile(
    r"!\[((?:[^\[\]\n]|\\[\[\]]){0,500})\](?:\((?:<[^<>\n]*>"
    r"|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+[^)\n]{0,300})?\)|\[[^\]\n]{0,200}\])"
)


def in_words(markdown: str) -> str:
    """Markdown with pictures by their words alone: addresses and embedded data would be found, and would mean nothing.

    >>> in_words("See ![Dock door 14](dock.assets/p-1.png) and <img src='a.png' alt='the gate'>.<br>Done.")
    'See Dock door 14 and the gate. Done.'
    """
    if "![" not in markdown and "<" not in markdown:
        return markdown
    return _TAGS.sub(lambda tag: _tag(tag[0])[1] or " ", _IMAGES.sub(r"\1", markdown))


def plain(markdown: str) -> str:
    """A passage as plain text, without headings: the breadcrumb shows them.

    >>> table = "|a|b|\\n|-|-|\\n|1|2|\\n"
    >>> plain(f"## Records\\n\\nKept for **5 years** ([schedule](x.md)).\\n\\n- one\\n- two\\n\\n{table}")
    'Kept for 5 years (schedule).\\none\\ntwo\\na · b\\n1 · 2'
    """
    lines: list[str] = []
    row: list[str] | None = None
    heading = False
    tokens = parser().parse(uncommented(markdown))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            heading = token.type == "heading_open"
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            lines.append(" · ".join(cell for cell in row or [] if cell))
            row = None
        elif token.type in ("fence", "code_block"):
            lines.append(token.content.rstrip())
        elif token.type == "inline" and not heading:
            (lines if row is None else row).append(words(token))
    text = "\n".join(line for line in lines if line.strip())
    return text or "\n".join(words(token) for token in tokens if token.type == "inline")


def words(token: Token) -> str:
    """The words of an inline token, without markup."""
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "text":
            parts.append(_TAGS.sub(lambda tag: _tag(tag[0])[1] or " ", child.content))
        elif child.type in ("code_inline", "html_inline", "image"):
            parts.append(child.content)
    return "".join(parts).strip()
