"""Links between documents: outgoing, incoming, and rewritten after a move."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from core.curation.pictures.picture_files import is_picture
from core.curation.text.markup import line_of, parser
from core.lru import LruCache
from core.types import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

_SAFE = ("http", "https", "mailto")
_INLINE = re.compile(r"\]\([ \t]*(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)")
_DEFINED = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*(<[^<>\n]*>|\S+)")
_TAGGED = re.compile(r"""<img\b[^<>]{0,500}?\bsrc=["']([^"'<>]{1,500})["']""", re.IGNORECASE)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_KEPT = 50_000  # texts whose links are known; to parse one takes 5 ms, and after every merge all of them are asked for


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a document. `path` is set when the target is in the knowledge base."""

    text: str
    target: str
    line: int
    path: str = ""
    anchor: str = ""


_known: LruCache[tuple[str, int, int, int], tuple[Link, ...]] = LruCache(_KEPT)


def links(document: Document) -> tuple[Link, ...]:
    """Every link of the body, in order.

    >>> [link.path for link in links(Document("d", "a/b.md", "B", "See [C](../c.md#top).\\n"))]
    ['c.md']
    """
    key = (document.path, document.body, len(document.text), hash(document.text))
    return _known.find(key, lambda: links_of(document, parser().parse(document.text[document.body :])))


def links_of(document: Document, tokens: Iterable[Token]) -> tuple[Link, ...]:
    """The links of a body that is parsed already."""
    body_links: list[Link] = []
    first = document.text.count("\n", 0, document.body) + 1
    for token in tokens:
        inside = token.children or []
        for n, child in enumerate(inside):
            if child.type == "link_open":
                text = "".join(part.content for part in inside[n + 1 : _close(inside, n)])
                target = str(child.attrGet("href") or "")
                body_links.append(_link(text, target, first + line_of(token, child), document.path))
    return tuple(body_links)


def pictures_of(document: Document, tokens: Iterable[Token]) -> tuple[Link, ...]:
    """The pictures of a body that is parsed already; `text` is what stands for one that is not shown."""
    first = document.text.count("\n", 0, document.body) + 1
    return tuple(
        _link(child.content, str(child.attrGet("src") or ""), first + line_of(token, child), document.path)
        for token in tokens
        for child in token.children or []
        if child.type == "image"
    )


def _close(tokens: list, n: int) -> int:  # type: ignore[type-arg]
    return next((m for m in range(n, len(tokens)) if tokens[m].type == "link_close"), len(tokens))


def _link(text: str, target: str, line: int, path: str) -> Link:
    parts = _split(target)
    if parts is None or parts[0] or not (parts[1] or parts[2]):
        return Link(text, target, line)
    return Link(text, target, line, resolve(path, parts[1]) if parts[1] else path, parts[2])


def _split(target: str) -> tuple[str, str, str] | None:
    """Scheme or host, path and anchor; None for what is not a URL."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    return parts.scheme or parts.netloc, unquote(parts.path), unquote(parts.fragment)


def resolve(path: str, target: str) -> str:
    """The path a relative link points to; "" when it leaves the knowledge base.

    >>> resolve("it/access/vpn.md", "../policies/use.md"), resolve("a.md", "../../etc/passwd")
    ('it/policies/use.md', '')
    """
    parts = [] if target.startswith("/") else path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def is_external(target: str) -> bool:
    """Web and mail addresses; no other scheme may leave the knowledge base.

    >>> is_external("https://example.org"), is_external("javascript:alert(1)")
    (True, False)
    """
    parts = _split(target)
    return bool(parts) and re.match(rf"({'|'.join(_SAFE)}):", target.strip(), re.IGNORECASE) is not None


def backlinks(documents: Iterable[Document]) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Path to the (path, link text) of the documents that link to it."""
    sources_of: dict[str, dict[str, str]] = {}
    for document in documents:
        for link in links(document):
            if link.path and link.path != document.path:
                sources_of.setdefault(link.path, {}).setdefault(document.path, link.text)
    return {path: tuple(sorted(sources.items())) for path, sources in sources_of.items()}


def picture_paths(document: Document) -> frozenset[str]:
    """The pictures of the knowledge base that a document names, found without parsing it.

    >>> picture_paths(Document("d", "it/vpn.md", "", "![Map](vpn.assets/map.png) [x](y.md) ![a](http://b.c/d.png)\\n"))
    frozenset({'it/vpn.assets/map.png'})
    """
    return frozenset(
        link.path
        for line in document.text[document.body :].split("\n")
        for pattern in (_INLINE, _DEFINED, _TAGGED)
        for match in pattern.finditer(line)
        if is_picture((link := _link("", match[1].strip("<>"), 0, document.path)).path)
    )


def rewrite_links(document: Document, moves: Mapping[str, str]) -> str:
    """A document's text after documents moved (old path to new), possibly itself among them.

    >>> rewrite_links(Document("d", "it/vpn.md", "", "See [it](../a.md#top).\\n"), {"a.md": "old/b c.md"})
    'See [it](../old/b%20c.md#top).\\n'
    """
    first, here = document.text.count("\n", 0, document.body), moves.get(document.path, document.path)
    lines = document.text.split("\n")
    rewritten = {
        n: _rewrite_line(lines[n], document.path, here, moves)
        for n in range(first, len(lines))
        if "]" in lines[n] or "<img" in lines[n]
    }
    if changed := {n for n, line in rewritten.items() if line != lines[n]}:
        for n in changed.difference(_code_lines(document, first)):
            lines[n] = rewritten[n]
    return "\n".join(lines)


def same_but_links(before: str, after: str) -> bool:
    """Whether two texts differ in the targets of their links alone, as after a move.

    >>> (
    ...     same_but_links("See [it](a.md).", "See [it](../b.md#top)."),
    ...     same_but_links("See [it](a.md).", "Use [it](a.md)."),
    ... )
    (True, False)
    """
    old, new = before.split("\n"), after.split("\n")
    return len(old) == len(new) and all(a == b or _blank(a) == _blank(b) for a, b in zip(old, new, strict=True))


def _blank(line: str) -> str:
    """A line without where its links lead."""
    return _INLINE.sub("](", _DEFINED.sub("[]:", line))


def _rewrite_line(line: str, path: str, here: str, moves: Mapping[str, str]) -> str:
    """A line with its targets moved; in one pass, for a line can hold a hundred thousand of them."""
    code = [match.span() for match in _CODE.finditer(line)]
    begins = [start for start, _ in code]
    targets = [
        match for match in (*_INLINE.finditer(line), *_DEFINED.finditer(line), *_TAGGED.finditer(line)) if match[1]
    ]
    moved: dict[str, str] = {}
    parts, done = [], 0
    for target in sorted(targets, key=lambda target: target.start(1)):
        before = bisect_right(begins, target.start()) - 1
        if (before >= 0 and target.start() < code[before][1]) or target.start(1) < done:
            continue
        if target[1] not in moved:
            moved[target[1]] = _moved_target(target[1], path, here, moves)
        parts += [line[done : target.start(1)], moved[target[1]]]
        done = target.end(1)
    return "".join((*parts, line[done:]))


def _moved_target(written: str, path: str, here: str, moves: Mapping[str, str]) -> str:
    """The target as written from `here`, pointing to the same document after the moves."""
    bare = written[1:-1] if written.startswith("<") else written
    link = _link("", bare, 0, path)
    if not link.path or bare.startswith("#") or not (link.path in moves or (here != path and bare[:1] != "/")):
        return written
    to = moves.get(link.path, link.path)
    name = f"/{to}" if bare.startswith("/") else posixpath.relpath(to, posixpath.dirname(here) or ".")
    rest = bare[re.match(r"[^#?]*", bare).end() :]  # type: ignore[union-attr]
    if written.startswith("<"):
        return f"<{name}{rest}>"
    return re.sub(r"[\s%()<>#?\\]", lambda odd: quote(odd[0]), name) + rest


def _code_lines(document: Document, first: int) -> Iterator[int]:
    """Lines of code, where nothing is a link."""
    for token in parser().parse(document.text[document.body :]):
        if token.type in ("fence", "code_block", "html_block") and token.map:
            yield from range(first + token.map[0], first + token.map[1])
