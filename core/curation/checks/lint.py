"""Checks of what a person sees at once: marks that did not take effect, broken tables, missing pictures, unfinished
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from core.curation.checks.findings import CheckContext, File, Remark
from core.curation.document.links import is_external
from core.curation.document.templates import TEMPLATES

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKED = re.compile(r"(#{2,6})(?=[^\s#])|(#)(?=[^\W\d_])")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_CELLS = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)*+(?:\|[ \t]*+)?")
_UNFINISHED = re.compile(r"""(?<!["'“‘])\b(?:TODO|TBD|FIXME)\b(?![-"'”’]| (?:items?|lists?)\b)|(?i:\blorem ipsum\b)""")
_PAIRS = (
    (re.compile(r"(?<!\*)\*\*(?=\w)|(?<=[\w.,:;!?)])\*\*(?!\*)"), "**", "bold"),
    (re.compile(r"(?<=[\s(])[*_](?=[^\W_])"), "*", "emphasis"),
    (re.compile(r"`"), "`", "code"),
    (re.compile(r"~~(?=\w)|(?<=[\w.,:;!?)])~~"), "~~", "struck-out text"),
)


def heading_marks(file: File, context: CheckContext) -> Iterator[Remark]:
    """A heading needs a space after its marks, or it is read as text."""
    for token in file.tokens:
        if token.type == "inline" and token.level == 1:
            for at, line in enumerate(token.content.split("\n")):
                mark = _MARKED.match(line)
                if mark and (mark[1] or (at == 0 and line[1].isupper())):
                    marks, words = line[: mark.end()], line[mark.end() :].strip()[:60]
                    sentence = f"This is no heading yet: {marks} needs a space behind it, as in '{marks} {words}'."
                    yield Remark(_line(file, token, at), "warning", sentence)


def tables(file: File, context: CheckContext) -> Iterator[Remark]:
    """Every row has as many cells as the header, and a line of dashes stands below it."""
    width = 0
    for n, token in enumerate(file.tokens):
        if token.type == "tr_open" and token.map:
            line = file.first + token.map[0]
            found = cells(file.lines[line - 1])
            if file.tokens[n - 1].type == "thead_open":
                width = found
            elif found != width:
                yield Remark(line, "warning", _row(found, width))
        elif token.type == "inline" and token.level > 0 and file.tokens[n - 1].type == "paragraph_open":
            yield from _undrawn(file, token)


def cells(row: str) -> int:
    r"""How many cells a row of a table has; a pipe that belongs to a cell is written \|.

    >>> cells("| a | b |"), cells("a | b | c"), cells(r"| a \| b |")
    (2, 3, 1)
    """
    inside = row.strip().lstrip("> \t").removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return len(_CELLS.findall(inside)) + 1


def _row(found: int, width: int) -> str:
    if found == 1:
        return "This line is drawn as a row of the table above it. Put a blank line before it."
    surplus = f"The last {found - width} would not be shown" if found > width else f"{width - found} would be empty"
    return f"This row has {found} cells, the header of the table {width}. {surplus}."


def _undrawn(file: File, token: Token) -> Iterator[Remark]:
    """Lines that were meant as a table and are none."""
    lines = token.content.split("\n")
    for at, (line, below) in enumerate(pairwise(lines)):
        if "|" in line and "|" in below and _DELIMITER.fullmatch(below):
            sentence = (
                f"This table is not drawn: its header has {cells(line)} cells, the dashes below it {cells(below)}."
            )
            yield Remark(_line(file, token, at), "warning", sentence)
            return
        if all(row.startswith("|") and cells(row) > 1 for row in (line.strip(), below.strip())):
            sentence = "This table is not drawn: below its header a line of dashes is missing, as in | --- | --- |."
            yield Remark(_line(file, token, at), "warning", sentence)
            return


def pictures(file: File, context: CheckContext) -> Iterator[Remark]:
    """A picture is there, beside the documents."""
    for picture in file.pictures:
        name = picture.text or picture.target
        if picture.path and picture.path not in context.attachments:
            sentence = f"The picture {_short(name)} is missing: there is no file {picture.path}."
            yield Remark(picture.line, "warning", sentence)
        elif not picture.path and is_external(picture.target):
            sentence = f"The picture {_short(name)} lies on another site and is not shown. Bring the file along."
            yield Remark(picture.line, "note", sentence)


def unclosed(file: File, context: CheckContext) -> Iterator[Remark]:
    """Marks that stayed marks: nothing closes them."""
    for token in file.tokens:
        if token.type == "fence" and token.map and not _closed(token, file.lines[file.first + token.map[1] - 2]):
            sentence = f"The code that starts here never ends. Close it with a line of {token.markup}."
            yield Remark(_line(file, token), "warning", sentence)
        elif token.type == "inline":
            yield from _unpaired(file, token)


def _closed(fence: Token, last: str) -> bool:
    mark = re.escape(fence.markup[0])
    long_enough = re.fullmatch(rf"{mark}{{{len(fence.markup)},}}[ \t]*", last.lstrip("> \t"))
    return bool(long_enough) and fence.map is not None and fence.map[1] - fence.map[0] > 1


def _shown(child: Token) -> str:
    if child.type == "text":
        return child.content
    return "\n" if child.type.endswith("break") else "\0"


def _unpaired(file: File, token: Token) -> Iterator[Remark]:
    shown = "".join(map(_shown, token.children or []))
    for pattern, mark, what in _PAIRS:
        if pattern.search(shown):
            written = blanked(token.content, code=mark != "`").split("\n")
            rows = [at for at, line in enumerate(written) if pattern.search(line)]
            odd = [at for at in rows if written[at].count(mark) % 2]
            if rows:
                sentence = f"The {what} that {mark} should mark is not closed, so the mark itself is shown."
                yield Remark(_line(file, token, (odd or rows)[0]), "warning", sentence)


def blanked(text: str, code: bool = True) -> str:
    r"""The text without escaped marks and code, line for line.

    >>> blanked("a \\* `b\nc` d")
    'a    \n d'
    """
    without = _ESCAPED.sub("  ", text)
    return _CODE.sub(lambda match: "\n" * match[0].count("\n"), without) if code else without


def unfinished(file: File, context: CheckContext) -> Iterator[Remark]:
    """Nobody follows a step that says TODO."""
    for token in file.tokens:
        if token.type == "inline":
            for at, line in enumerate(blanked(token.content).split("\n")):
                if match := _UNFINISHED.search(line):
                    sentence = f"'{match[0]}' stands here. Finish it, or take it out."
                    yield Remark(_line(file, token, at), "warning", sentence)


def template_hints(file: File, context: CheckContext) -> Iterator[Remark]:
    """What a template suggests is no answer."""
    left = [n for n, line in enumerate(file.lines, 1) if line.strip() in _hints()]
    if left:
        more = "This line is a hint" if len(left) == 1 else f"{len(left)} lines are hints, the first here"
        yield Remark(left[0], "warning", f"{more}: the template's words. Write what holds, or take them out.")
    asked = [question for question in file.document.meta.answers if question in _hints()]
    if asked:
        sentence = f"{_short(asked[0])} is the template's question. Write what people ask, or take it out."
        yield Remark(1, "warning", sentence, "answers")


@cache
def _hints() -> frozenset[str]:
    """Lines and questions of the templates that say something only about how to write."""
    lines = {line.strip() for template in TEMPLATES.values() for line in template.body.split("\n")}
    questions = {question for template in TEMPLATES.values() for question in template.answers}
    return frozenset({line for line in lines if len(line) > 24 and not line.startswith(("#", "|--"))} | questions)


def _line(file: File, token: Token, at: int = 0) -> int:
    return file.first + (token.map or [0])[0] + at


def _short(name: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in name)
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"
