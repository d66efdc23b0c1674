"""Markdown markup: the inline parser, plain headings and their anchors."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, image, link
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
    """CommonMark with tables; raw HTML stays text. Links and pictures know where in their paragraph they begin."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING}).enable(["table", "strikethrough"])
    for name, rule in (("link", link), ("image", image), ("autolink", autolink)):
        made.inline.ruler.at(name, _placed(rule))
    return made


def _placed(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def read(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        done = rule(state, silent)
        for token in state.tokens[known:]:
            if token.type in ("link_open", "image"):
                token.meta.setdefault("at", start)
        return done

    return read


def line_of(inline: Token, child: Token) -> int:
    """The line of the body, from 0, on which a link or picture begins.

    >>> inline = parser().parse("One\\ntwo [x](y)\\n")[1]
    >>> line_of(inline, inline.children[3])
    1
    """
    return (inline.map or [0])[0] + inline.content.count("\n", 0, child.meta.get("at", 0))


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
