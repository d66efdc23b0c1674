"""Bytes to Document: decoding, frontmatter, title. Hostile input raises BadInput, never anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

import yaml

from core.curation.document.names import safe_id
from core.curation.document.statuses import counts_as
from core.curation.text.markup import plain_heading
from core.errors import BadInput
from core.types import Document, Frozen, Meta

Value = TypeVar("Value")

MAX_BYTES = 1024 * 1024
MAX_FRONTMATTER = 16 * 1024
MAX_LINES = 20_000
MAX_NESTING = 6

_OPEN = re.compile(r"---[ \t]*\n")
_STATUS = re.compile(r"^status[ \t]*:(.*)$", re.MULTILINE)
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_H1 = re.compile(r"^(```|~~~)|^# ([^\n]*)|^(?! |[-*+>#|])([^\n]+)\n=+[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"(?:^| )#+$")
_QUOTED = re.compile(r'(?<=: )"(?:[^"\\\n]|\\.)*"')
_ESCAPES = re.compile(r"\\(?=[^\w\s\"/\\])")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Fields:
    """The frontmatter as written: values as text, and the line of each key."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]


def decode(raw: bytes) -> str:
    """The text of a file: UTF-8 without byte-order mark, line feeds only.

    >>> decode(b"\\xef\\xbb\\xbfone\\r\\ntwo")
    'one\\ntwo'
    """
    if len(raw) > MAX_BYTES:
        raise BadInput(f"The file has {len(raw):,} bytes; the limit is {MAX_BYTES:,}. Split it into several documents.")
    if b"\0" in raw:
        raise BadInput("The file is not text: it holds NUL bytes. Save it as UTF-8 Markdown.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"Line {line} is not valid UTF-8 (byte {error.start}). Save the file as UTF-8.") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MAX_LINES:
        raise BadInput(
            f"The file has {text.count(chr(10)):,} lines; the limit is {MAX_LINES:,}. Split it into several documents."
        )
    return text


def split(text: str) -> tuple[str, int]:
    """The frontmatter's YAML and the offset of the body.

    >>> split("---\\ntitle: A\\n---\\n# A\\n")
    ('title: A\\n', 17)
    >>> split("# no frontmatter")
    ('', 0)
    """
    opened = _OPEN.match(text)
    if not opened:
        return "", 0
    closed = _CLOSE.search(text, opened.end())
    if not closed:
        return "", 0
    if closed.start() - opened.end() > MAX_FRONTMATTER:
        raise BadInput(f"The frontmatter is longer than {MAX_FRONTMATTER:,} characters. Keep the text in the body.")
    return text[opened.end() : closed.start()], closed.end()


def read_fields(raw: str) -> Fields:
    """YAML to text, lists and mappings. Anchors, aliases, tags and repeated keys are refused."""
    try:
        lines: dict[str, int] = {}
        value = _document(yaml.parse(_doubled(raw), Loader=_LOADER), lines)
    except yaml.YAMLError as error:
        raise BadInput(_yaml_sentence(error)) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The fields at the top cannot be read: {error}.") from None
    return Fields(Frozen(value), Frozen(lines))


def _doubled(raw: str) -> str:
    """The YAML with Markdown's escapes, which it does not know between double quotes, as plain backslashes.

    >>> _doubled(r'title: "Foo \\& Bar"')
    'title: "Foo \\\\\\\\& Bar"'
    """
    return _QUOTED.sub(lambda quoted: _ESCAPES.sub(r"\\\\", quoted[0]), raw) if "\\" in raw else raw


def _document(events: Iterator[Any], lines: dict[str, int]) -> dict[str, Any]:
    for event in events:
        if isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            continue
        if isinstance(event, yaml.StreamEndEvent):
            return {}
        if isinstance(event, yaml.MappingStartEvent):
            value: dict[str, Any] = _node(event, events, 1, lines)
            if any(isinstance(rest, yaml.DocumentStartEvent) for rest in events):
                raise BadInput(
                    "The fields at the top are followed by more of the same. Keep one block between the --- lines."
                )
            return value
        if isinstance(event, yaml.ScalarEvent) and event.value.strip() in ("", "null", "~"):
            return {}
        raise BadInput(
            f"Line {event.start_mark.line + 2}: the fields at the top must be lines with a name, a colon and a value."
        )
    return {}


def _node(event: Any, events: Iterator[Any], depth: int, lines: dict[str, int] | None = None) -> Any:
    """One value from the event stream, so that nothing beyond the limits is ever built."""
    where = f"Line {event.start_mark.line + 2}"
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise BadInput(
            f"{where}: anchors and aliases (& and *) are not allowed in frontmatter. Write the value out, or quote it."
        )
    if getattr(event, "tag", None) not in (None, "!"):
        raise BadInput(
            f"{where}: tags ({event.tag}) are not allowed in the fields at the top. Remove the tag, or quote the value."
        )
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if depth > MAX_NESTING:
        raise BadInput(f"{where}: the frontmatter is nested more than {MAX_NESTING} deep.")
    if isinstance(event, yaml.SequenceStartEvent):
        return list(_items(events, depth))
    return _mapping(events, depth, lines)


def _items(events: Iterator[Any], depth: int) -> Iterator[Any]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        yield _node(event, events, depth + 1)


def _mapping(events: Iterator[Any], depth: int, lines: dict[str, int] | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        key = _node(event, events, depth + 1)
        if not isinstance(key, str):
            raise BadInput(f"Line {event.start_mark.line + 2}: a key must be plain text.")
        if key in values:
            raise BadInput(f"Line {event.start_mark.line + 2}: the key {key!r} appears twice. Keep one.")
        if lines is not None:
            lines[key] = event.start_mark.line + 2
        values[key] = _node(next(events), events, depth + 1)
    return values


_PROBLEMS = {  # what a parser says, in words for people
    "found unexpected end of stream": "a quote is opened and never closed",
    "mapping values are not allowed": "there is a second colon in a value",
    "could not find expected ':'": "a colon is missing",
    "found character '\\t'": "a tab stands where spaces belong",
    "found character": "a value begins with a mark that needs quotes around it",
    "did not find expected": "a bracket, a comma or the indentation is not right",
}


def _yaml_sentence(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "they are not well formed"
    problem = next((words for start, words in _PROBLEMS.items() if problem.startswith(start)), problem)
    where = f"Line {mark.line + 2}: " if mark else ""
    return f"{where}the fields at the top cannot be read: {problem}. Quote the value or fix the indentation."


def read_meta(fields: Fields) -> Meta:
    """Validated metadata; errors name the line."""
    values = dict(fields.values)

    def take(key: str, read: Callable[[Any, str], Value]) -> Value:
        return read(values.pop(key, ""), f"Line {fields.lines.get(key, 1)}: {key}")

    status = counts_as(take("status", _text)) or "approved"
    identity = take("id", _text)
    return Meta(
        id=safe_id(identity) if identity else "",
        title=take("title", _text),
        doc_type=take("doc_type", _text).lower(),
        status=status,
        owner=take("owner", _text),
        tags=take("tags", _separated),
        effective_date=take("effective_date", _date),
        review_due=take("review_due", _date),
        supersedes=take("supersedes", _separated),
        answers=take("answers", _texts),
        extra=Frozen(values),
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{where} must be one line of text, not a list or a mapping.")
    text = " ".join(value.split())
    return "" if text in ("~", "null") else text


def _texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise BadInput(f"{where} must be a list of texts.")
    return tuple(text for item in value if (text := _text(item, where)))


def _separated(value: Any, where: str) -> tuple[str, ...]:
    """The same where commas separate the texts."""
    return _texts(value.split(",") if isinstance(value, str) else value, where)


def _date(value: Any, where: str) -> date | None:
    text = _text(value, where)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadInput(f"{where} is {text!r}; write the date as YYYY-MM-DD.") from None


def says_status(document: Document) -> bool:
    """Whether a file says itself which of our statuses it has.

    >>> says_status(read_document("a.md", "---\\nstatus: Approved\\n---\\n")), says_status(read_document("a.md", "# A"))
    (True, False)
    """
    said = _STATUS.search(document.text, 0, document.body)
    return bool(said and counts_as(said[1]))


def read_document(path: str, text: str, *, blob: str = "", version: int = 1) -> Document:
    """A decoded file as a Document. Without a title in the frontmatter: the first heading, else the file name; as
    plain text.

    >>> read_document("it/vpn.md", "---\\nid: IT-1\\n---\\n# Using the VPN\\n").title
    'Using the VPN'
    """
    raw, body = split(text)
    meta = read_meta(read_fields(raw)) if raw.strip() else Meta()
    return Document(
        id=meta.id or path.removesuffix(".md"),
        path=path,
        title=plain_heading(meta.title).replace("&amp;", "&") or _first_heading(text[body:]) or _from_name(path),
        text=text,
        body=body,
        meta=meta,
        blob=blob,
        version=version,
    )


def _first_heading(body: str) -> str:
    fenced = False
    for match in _H1.finditer(body):
        if match[1]:
            fenced = not fenced
        elif not fenced and (title := plain_heading(_CLOSING.sub("", (match[2] or match[3] or "").strip()))):
            return title
    return ""


def _from_name(path: str) -> str:
    stem = path.removesuffix(".md").split("/")[-1]
    return re.sub(r"[-_]+", " ", stem).strip().capitalize() or stem
