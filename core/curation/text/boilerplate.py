"""What stands in a text and says nothing to a reader: embedded data, styles, scripts, comments, tags."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_DATA = re.compile(r"data:[\w.+-]{0,40}/?[\w.+-]{0,80}(?:;[\w=.+-]{1,80}){0,5},[^\s()<>\"'`]{16,}", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|address|article|aside|b|big|blockquote|br|button|caption|center|cite|code|colgroup|col|dd|del|details|dfn|div|dl|dt"
    r"|em|figcaption|figure|font|footer|form|h[1-6]|header|hr|iframe|input|ins|i|kbd|label|link|li|main|mark|meta|nav|ol|picture|pre|p|q"
    r"|section|select|small|source|span|strong|sub|summary|sup|svg|style|script|s|table|tbody|td|tfoot|thead|th|tr|ul|u|var|video|wbr)"
    r"(?=[\s/>])[^<>]{0,2000}>",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(r"^[ \t]*\{:[^}\n]{0,500}\}[ \t]*$", re.MULTILINE)  # of a paragraph, as Jekyll writes them
_OPENING = re.compile(r"<!--|<(style|script|svg)\b[^<>]{0,2000}>", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,500}\1(?!`)")


def blanked(text: str) -> str:
    """The text with spaces in place of what nobody searches for, so that every other character stays where it is.

    >>> blanked('A <b>bold</b> word, `<b>` as code.\\n<style>p { color: red }</style>')
    'A    bold     word, `<b>` as code.\\n                               '
    """
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
