"""Markdown markup: the inline parser, plain headings and their anchors."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

NESTING = 20  # quotes and lists inside each other that are read
TITLE = 500  # characters of a heading that count

_MARKUP = re.compile(r"[\\`*_\[\]<>&~]")
_NAMED = re.compile(r"\s*\{#[^}]*\}\s*$")
_REFERENCE = re.compile(r"(?<![\w\\])\[([^\[\]]+)\]\[[^\[\]]*\]")
_HTML = re.compile(  # tags of text, and comments; <user> is a placeholder, and stays
    r"<!--|</?(?:a|abbr|b|big|br|center|code|del|div|em|font|h[1-6]|i|img|ins|kbd|mark|p|q|s|small|span|strong|sub|sup|u|var|wbr)\b",
    re.IGNORECASE,
)


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables; raw HTML stays text."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING}).enable(["table", "strikethrough"])


def plain_heading(raw: str) -> str:
    """A heading or title as people read it: links, emphasis, code, pictures, HTML and escapes reduced to their words.

    >>> plain_heading("**Steps** for [CTR](ctr.md) `v2` {#steps}")
    'Steps for CTR v2'
    >>> plain_heading("[![Build](b.svg)](ci) R&amp;D <em>for</em> <user> in `a_<b>`")
    'Build R&D for <user> in a_<b>'
    """
    text = _NAMED.sub("", raw[:TITLE])
    if _MARKUP.search(text):
        text = "".join(map(_words, _heading_parser().parseInline(_REFERENCE.sub(r"\1", text))))
    return " ".join(text.split())


@cache
def _heading_parser() -> MarkdownIt:
    """Like `parser`, but it tells HTML from text."""
    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough")


def _words(token: Token) -> str:
    """The visible words of a token and of those inside it."""
    if token.children:
        return "".join(map(_words, token.children))
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "" if token.type == "html_inline" and _HTML.match(token.content) else token.content


def slugify(title: str) -> str:
    """The anchor of a heading, as most Markdown tools build it.

    >>> slugify("Step 1: Refer on form BSA-5")
    'step-1-refer-on-form-bsa-5'
    """
    text = unicodedata.normalize("NFC", title).lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text)).strip("-") or "section"


def unique_slug(title: str, seen: Counter[str]) -> str:
    """The anchor of a heading after the ones already `seen`; a repeated one gets a number.

    >>> seen: Counter[str] = Counter()
    >>> [unique_slug(title, seen) for title in ("Steps", "Roles", "Steps")]
    ['steps', 'roles', 'steps-1']
    """
    slug = slugify(title)
    seen[slug] += 1
    return slug if seen[slug] == 1 else f"{slug}-{seen[slug] - 1}"
