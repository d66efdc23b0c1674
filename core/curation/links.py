"""Links between documents: which there are, where they lead, and who links here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from core.curation.markup import parser
from core.types import Document

_SAFE = ("http", "https", "mailto")


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a document. `path` is set when it leads to a place in the knowledge base."""

    text: str
    target: str
    line: int
    path: str = ""
    anchor: str = ""


def links(document: Document) -> tuple[Link, ...]:
    """Every link of the body, in order.

    >>> [link.path for link in links(Document("d", "a/b.md", "B", "See [C](../c.md#top).\\n"))]
    ['c.md']
    """
    found: list[Link] = []
    first = document.text.count("\n", 0, document.body) + 1
    for token in parser().parse(document.text[document.body :]):
        line = first + (token.map[0] if token.map else 0)
        inside = token.children or []
        for n, child in enumerate(inside):
            if child.type == "link_open":
                text = "".join(part.content for part in inside[n + 1 : _close(inside, n)])
                found.append(_link(text, str(child.attrGet("href") or ""), line, document.path))
    return tuple(found)


def _close(tokens: list, n: int) -> int:  # type: ignore[type-arg]
    return next((m for m in range(n, len(tokens)) if tokens[m].type == "link_close"), len(tokens))


def _link(text: str, target: str, line: int, path: str) -> Link:
    parts = _split(target)
    if parts is None or parts[0] or not (parts[1] or parts[2]):
        return Link(text, target, line)
    return Link(text, target, line, resolve(path, parts[1]) if parts[1] else path, parts[2])


def _split(target: str) -> tuple[str, str, str] | None:
    """Scheme or host, path and anchor; None when it is no link at all."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    return parts.scheme or parts.netloc, unquote(parts.path), unquote(parts.fragment)


def resolve(path: str, target: str) -> str:
    """The path that a relative link leads to; "" when it leaves the knowledge base.

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
    """Whether a link may lead out: only web and mail addresses.

    >>> is_external("https://example.org"), is_external("javascript:alert(1)")
    (True, False)
    """
    parts = _split(target)
    return bool(parts) and re.match(rf"({'|'.join(_SAFE)}):", target.strip(), re.IGNORECASE) is not None


def backlinks(documents: Iterable[Document]) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Path to the (path, link text) of documents that link to it."""
    found: dict[str, dict[str, str]] = {}
    for document in documents:
        for link in links(document):
            if link.path and link.path != document.path:
                found.setdefault(link.path, {}).setdefault(document.path, link.text)
    return {path: tuple(sorted(sources.items())) for path, sources in found.items()}
