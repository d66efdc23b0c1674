"""MDX as Markdown: imports, exports, components and expressions go, the text inside and between them stays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MODULE = re.compile(
    r"import\s*(?:['\"{*]|[\w$]+\s*(?:,|from\b))|export\s+(?:const|let|var|function|default|class|async|type"
    r"|interface|[{*])"
)
_CODE = re.compile(r"(`+)(?!`)(?:.|\n){0,2000}?(?<!`)\1(?!`)")
_NAME = re.compile(r"</?([A-Za-z][\w.:-]*)")
_MARK = re.compile(r"[\\`<{]")
_FRAGMENT = re.compile(r"</?>")
_ADDRESS = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]*:|[^\s<>@]+@)[^\s<>]*>")
_STRING = re.compile(r"""\{\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|`([^`\\$]*)`)\s*\}""")
_WORDS = re.compile(
    r"""\b(?:title|label|summary|heading)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|\{\s*["'`]([^"'`{}<>]*)["'`]\s*\})"""
)
_QUOTES = "\"'`"
_QUOTED = re.compile(  # strings and remarks; an escaped character first, so that only one way leads through a text
    r"""\\.|(['"`])(?:\\.|(?!\1)[^\\])*\1|//.*"""
)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
KEPT = ("br", "img")  # which a document shows
INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "code",
        "del",
        "em",
        "i",
        "ins",
        "kbd",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "u",
        "var",
    ]
)
LONGEST = 5_000  # characters of one tag or expression; anything longer is text
UNCLOSED = 100  # a file with more of these is no MDX, and looking for their ends takes long


@dataclass
class LeftOut:
    """What was left out, counted by name."""

    modules: list[str] = field(default_factory=list)
    components: Counter[str] = field(default_factory=Counter)
    expressions: list[str] = field(default_factory=list)
    tags: int = 0  # of HTML
    comments: int = 0
    open_ended: int = 0  # marks that nothing closes; after UNCLOSED of them the rest is text

    def sentence(self) -> str:
        """All of it in words; "" for nothing.

        >>> LeftOut(["import"], Counter(Tabs=2, Card=1), ["props.x"]).sentence()
        'Left out of the MDX: 1 import or export, the components Tabs (2) and Card, the expression {props.x}. Their
        text stays.'
        """
        names = [name if count == 1 else f"{name} ({count})" for name, count in self.components.items()]
        parts = (
            [f"{len(self.modules)} import{'s or exports' if len(self.modules) > 1 else ' or export'}"]
            if self.modules
            else []
        )
        parts += [f"the component{'s' * (len(names) > 1)} {_listed(names)}"] if names else []
        shown = [f"{{{code}}}" for code in self.expressions]
        parts += [f"the expression{'s' * (len(shown) > 1)} {_listed(shown)}"] if shown else []
        parts += [f"{self.tags} HTML tag{'s' * (self.tags > 1)}"] if self.tags else []
        parts += [f"{self.comments} comment{'s' * (self.comments > 1)}"] if self.comments else []
        return (
            f"Left out of the MDX: {', '.join(parts)}.{' Their text stays.' * bool(names or self.tags)}"
            if parts
            else ""
        )


def _listed(names: list[str], most: int = 12) -> str:
    """Names in a row, the last after "and"."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    row = [*names[:most], *more]
    return row[0] if len(row) == 1 else f"{', '.join(row[:-1])} and {row[-1]}"


def as_markdown(body: str) -> tuple[str, LeftOut]:
    """The body of an MDX file as Markdown, and what was left out. Code stays as it is.

    >>> text, gone = as_markdown("import A from './a'\\n\\n# Hi\\n\\n<Note title='Mind'>Use `<b>` {x}.</Note>\\n")
    >>> text, gone.sentence()
    ('# Hi\\n\\n**Mind** Use `<b>` .\\n', 'Left out of the MDX: 1 import or export, the component Note, the expression
    {x}. Their text stays.')
    """
    gone = LeftOut()
    parts = [part if code else _plain(part, gone) for part, code in _by_fences(_without_modules(body, gone))]
    return re.sub(r"\n{3,}", "\n\n", _dedented("".join(parts))).lstrip("\n"), gone


def _dedented(text: str) -> str:
    """Blocks from the margin: what is indented inside a component would be read as code. Lists keep their levels."""
    lines: list[str] = []
    margin, listed, fence = 0, False, ""
    for line in text.split("\n"):
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if bare and not fence and not (listed and indent > margin):
            margin, listed = indent, bool(_ITEM.match(bare))
        fence = _fenced(line, fence)
        lines.append(line[min(indent, margin) :] if bare else "")
    return "\n".join(lines)


# ---------------------------------------------------------------- imports and exports


def _without_modules(body: str, gone: LeftOut) -> str:
    """Imports and exports stand at the start of a block, and end at a blank line outside their brackets."""
    lines = body.split("\n")
    kept: list[str] = []
    fence, starts, n = "", True, 0
    while n < len(lines):
        line = lines[n]
        fence = _fenced(line, fence)
        if starts and not fence and _MODULE.match(line):
            end = _module_end(lines, n, gone)
            gone.modules.append(" ".join(lines[n].split())[:80])
            n, starts = end, True
            continue
        kept.append(line)
        starts = not line.strip()
        n += 1
    return "\n".join(kept)


def _module_end(lines: list[str], start: int, gone: LeftOut) -> int:
    """The line after an import or export; the first blank line where its brackets never close."""
    depth = 0
    for n in range(start, min(len(lines), start + 400) if gone.open_ended <= UNCLOSED else start):
        code = _QUOTED.sub("", lines[n])
        depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
        following = lines[n + 1] if n + 1 < len(lines) else ""
        if depth <= 0 and (not following.strip() or _MODULE.match(following)):
            return n + 1
    gone.open_ended += 1
    return next((n for n in range(start, len(lines)) if not lines[n].strip()), len(lines))


def _fenced(line: str, fence: str) -> str:
    """The fence that is open after a line."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) and not line.strip().strip(fence[0]) else fence


def _by_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Runs of lines, and whether each is fenced code."""
    run, fence = list[str](), ""
    for line in text.splitlines(keepends=True):
        after = _fenced(line, fence)
        if after and not fence:
            yield "".join(run), False
            run = []
        run.append(line)
        if fence and not after:
            yield "".join(run), True
            run = []
        fence = after
    yield "".join(run), bool(fence)


# ---------------------------------------------------------------- components and expressions


def _plain(text: str, gone: LeftOut) -> str:
    """A text outside fences without tags and expressions."""
    pieces, at = list[str](), 0
    while mark := _MARK.search(text, at):
        pieces.append(text[at : mark.start()])
        at = mark.start()
        if mark[0] == "\\":
            step, said = 2, text[at : at + 2]
        elif mark[0] == "`":
            code = _CODE.match(text, at)
            step, said = (len(code[0]), code[0]) if code else (1, "`")
        else:
            step, said = (_tag if mark[0] == "<" else _expression)(text, at, gone)
        pieces.append(said)
        at += step
    return "".join([*pieces, text[at:]])


def _tag(text: str, at: int, gone: LeftOut) -> tuple[int, str]:
    """How many characters a tag has, and what stays of it: the words of its title, pictures and line breaks whole."""
    if text.startswith("<!--", at):
        return _comment(text, at, gone)
    if kept := _FRAGMENT.match(text, at) or _ADDRESS.match(text, at):
        return len(kept[0]), kept[0] if kept[0].strip("</>") else ""
    named = _NAME.match(text, at)
    end = _close(text, named.end(), ">", gone) if named else 0
    if not named or not end:
        return 1, "<"
    tag, name = text[at:end], named[1]
    if name.lower() in KEPT and "={" not in tag:
        return len(tag), tag
    closing = tag.startswith("</")
    component = name[0].isupper() or name.lower() in KEPT
    if component and not closing:
        gone.components[name] += 1
    gone.tags += not component
    said = "" if closing else _said(tag, name)
    if said:
        return len(tag), f"{said}{' ' if text[end : end + 1].strip() else chr(10)}"
    joins = name.lower() not in INLINE and text[at - 1 : at].strip() and text[end : end + 1].strip()
    return len(tag), " " if joins else ""


def _comment(text: str, at: int, gone: LeftOut) -> tuple[int, str]:
    end = text.find("-->", at, at + LONGEST) if gone.open_ended <= UNCLOSED else -1
    gone.comments += end >= 0
    gone.open_ended += end < 0
    return (end + 3 - at, "") if end >= 0 else (1, "<")


def _said(tag: str, name: str) -> str:
    """What a component says by itself: its title in bold, or the words of a picture."""
    if name.lower() in KEPT:
        return _first_group(_ALT.search(tag))
    words = _first_group(_WORDS.search(tag)) if name[0].isupper() else ""
    return f"**{words}**" if words else ""


def _first_group(match: re.Match[str] | None) -> str:
    return next((group for group in match.groups() if group), "").strip() if match else ""


def _expression(text: str, at: int, gone: LeftOut) -> tuple[int, str]:
    """How many characters an expression has, and what stays of it: a text, or the name of a heading."""
    if text.startswith(("{#", "{:"), at) and "}" in text[at : at + 200]:  # a heading's name, as other tools write it
        end = text.index("}", at) + 1
        return end - at, text[at:end]
    if literal := _STRING.match(text, at):
        return len(literal[0]), literal[1] or literal[2] or literal[3] or ""
    end = _close(text, at + 1, "}", gone)
    if not end:
        return 1, "{"
    code = " ".join(text[at + 1 : end - 1].split())
    if code.startswith("/*"):
        gone.comments += 1
    elif code:
        gone.expressions.append(code if len(code) <= 40 else f"{code[:37]}...")
    return end - at, ""


def _close(text: str, at: int, mark: str, gone: LeftOut) -> int:
    """Where a tag or expression ends, behind `mark`, outside quotes and inner brackets; 0 where it does not."""
    depth, quote = 0, ""
    if gone.open_ended > UNCLOSED:
        return 0
    for n in range(at, min(len(text), at + LONGEST)):
        char = text[n]
        if quote:
            quote = "" if char == quote and text[n - 1] != "\\" else quote
        elif not depth and char == mark:
            return n + 1
        elif not depth and mark == ">" and char == "<":
            break
        elif char in _QUOTES and (depth or mark == "}" or text[n - 1] in "= "):
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
    gone.open_ended += 1
    return 0
