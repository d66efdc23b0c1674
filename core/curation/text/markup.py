"""Markdown markup: the inline parser, plain headings and their anchors, and what says nothing to a reader (embedded
data, styles, scripts, comments, and the tags of site generators)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
    r"<!--|</?(?:a|abbr|b|big|br|center|code|del|div|em|font|h[1-6]|i|img|ins|kbd|mark|p|q|s|small|span|strong|sub"
    r"|sup|u|var|wbr)\b",
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


_DATA = re.compile(r"data:[\w.+-]{0,40}/?[\w.+-]{0,80}(?:;[\w=.+-]{1,80}){0,5},[^\s()<>\"'`]{16,}", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|address|article|aside|b|big|blockquote|br|button|caption|center|cite|code|colgroup|col|dd|del"
    r"|details|dfn|div|dl|dt"
    r"|em|figcaption|figure|font|footer|form|h[1-6]|header|hr|iframe|input|ins|i|kbd|label|link|li|main|mark|meta|nav"
    r"|ol|picture|pre|p|q"
    r"|section|select|small|source|span|strong|sub|summary|sup|svg|style|script|s|table|tbody|td|tfoot|thead|th|tr|ul"
    r"|u|var|video|wbr)"
    r"(?=[\s/>])[^<>]{0,2000}>",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(r"^[ \t]*\{:[^}\n]{0,500}\}[ \t]*$", re.MULTILINE)  # of a paragraph, as Jekyll writes them
_OPENING = re.compile(r"<!--|<(style|script|svg)\b[^<>]{0,2000}>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,500}\1(?!`)")


_TEMPLATE = re.compile(  # Liquid, Nunjucks and Jinja, then Hugo; a placeholder such as {{ name }} stays
    r"\{%[-+]?\s*comment\b.{0,20000}?\{%[-+]?\s*endcomment\s*[-+]?%\}|\{%(?:[^%]|%(?!\})){1,500}%\}"
    r"|\{\{[<%](?:[^{}]){1,500}[>%]\}\}"
    r"|\{\{-?\s*(?:(?:site|page|base|layout)\.[^{}\n]{1,200}|[^{}|\n]{1,200}\|\s*\w[^{}\n]{0,200})\}\}"
    r"|\{%[^%]{0,500}\Z|\A[^{}%]{0,500}%\}",  # cut off where a passage ends or begins
    re.DOTALL,
)
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}(.{0,20000}?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)  # shows tags as examples
_TARGET = re.compile(r"\]\(<?|^ {0,3}\[[^\]\n]+\]:[ \t]*", re.MULTILINE)
_ARGUMENT = re.compile(r"""["']([^"'\n]*)["']|\s([\w./#-]+)\s*[-%>]""")
_SPOKEN = re.compile(
    r"""\{%-?\s*\w+(?:\s+["'][^"'\n]*["'])*?\s+["']([^"'./\n]+)["']\s*-?%\}|.*?\stext=["']([^"'\n]+)["']"""
)


def untagged(text: str) -> str:
    """The text without the tags of a site generator, every other character where it is: a link keeps its target, a tag
    in a sentence its words. Code stays as it is.

    >>> untagged('See [leave]({% page "/leave/#sick" %}) in {% slack "people" %}.')
    'See [leave](         /leave/#sick) in             people.'
    >>> untagged('{% include "nav.html" %}`{% page "x" %}` {{ name }}')
    '                        `{% page "x" %}` {{ name }}'
    """
    if "{%" not in text and "{{" not in text:
        return text
    kept = _Spans((*_code(text), *(match.span(1) for match in _RAW.finditer(text))))
    targets = {match.end() for match in _TARGET.finditer(text)}

    def said(tag: re.Match[str]) -> str:
        if tag.start() in kept:
            return tag[0]
        words = _SPOKEN.match(tag[0]) if _inline(tag) else None
        if tag.start() in targets:
            words = _ARGUMENT.search(tag[0]) if text[tag.end() : tag.end() + 1] in ("", ")", ">", "\n", " ") else None
        shown = next(filter(None, words.groups()), "") if words else ""
        at = len(tag[0]) - len(shown)
        at = len(tag[0]) if "\n" in tag[0][at:] else at  # lines keep their numbers
        return re.sub(r"[^\n]", " ", tag[0][:at]) + shown[: len(tag[0]) - at]

    return _TEMPLATE.sub(said, text)


def _inline(tag: re.Match[str]) -> bool:
    """Whether a tag stands in a sentence, and not on lines of its own."""
    before = tag.string[tag.string.rfind("\n", 0, tag.start()) + 1 : tag.start()]
    return bool(before.strip() or tag.string[tag.end() : tag.end() + 200].split("\n")[0].strip())


def uncommented(text: str) -> str:
    """The text with spaces in place of HTML comments and template tags.

    >>> uncommented("Yes.<!-- for now --> `<!-- x -->`")
    'Yes.                 `<!-- x -->`'
    """
    if "<!--" in text:
        code = _Spans(_code(text))
        text = _spaces(text, [(a, b) for a, b in _blocks(text) if text.startswith("<!--", a) and a not in code])
    return untagged(text)


def blanked(text: str) -> str:
    """The text with spaces in place of what nobody searches for, so that every other character stays where it is.

    >>> blanked('A <b>bold</b> word, `<b>` as code.\\n<style>p { color: red }</style>')
    'A    bold     word, `<b>` as code.\\n                               '
    """
    text = untagged(text)
    if "<" not in text and "data:" not in text.lower() and "{:" not in text:
        return text
    spans = [match.span() for match in _DATA.finditer(text)]
    code = _Spans(_code(text))
    for start, end in (*_blocks(text), *(m.span() for p in (_TAG, _ATTRIBUTES) for m in p.finditer(text))):
        if start not in code:
            spans.append((start, end))
    return _spaces(text, sorted(spans))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Styles, scripts, drawings and comments, with what is in them."""
    at, small = 0, text.lower() if len(text.lower()) == len(text) else text
    endless = set[str]()  # kinds that nothing closes any more
    while opening := _OPENING.search(text, at):
        close = f"</{opening[1].lower()}" if opening[1] else "-->"
        end = -1 if close in endless else small.find(close, opening.end())
        if end < 0:
            endless.add(close)
            at = opening.end()
            continue
        at = text.find(">", end) + 1 or len(text)
        yield opening.start(), at


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Fenced code, and code inside a line."""
    start, mark = -1, ""
    for fence in _FENCE.finditer(text):
        if start < 0:
            start, mark = fence.start(), fence[1]
        elif fence[1].startswith(mark) and not fence[0].strip(f" {mark[0]}"):
            yield start, fence.end()
            start = -1
    if start >= 0:
        yield start, len(text)
    yield from (match.span() for match in _CODE.finditer(text))


class _Spans:
    """Places that lie in one of many spans, asked for quickly."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.starts, self.ends = list[int](), list[int]()
        for start, end in sorted(spans):
            self.starts.append(start)
            self.ends.append(max(end, self.ends[-1] if self.ends else 0))

    def __contains__(self, place: int) -> bool:
        at = bisect_right(self.starts, place) - 1
        return at >= 0 and place < self.ends[at]


def _spaces(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = list[str](), 0
    for start, end in spans:
        start = max(start, at)
        if start < end:
            parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
            at = end
    return "".join([*parts, text[at:]])
