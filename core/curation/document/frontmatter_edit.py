"""Set frontmatter fields and leave everything else as written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import date

from core.curation.document.frontmatter import read_fields, read_meta, split
from core.errors import BadInput
from core.types import Meta

Value = str | date | tuple[str, ...] | None

_PLAIN = re.compile(r"[A-Za-z0-9](?:[\w ./()@'&+-]*[\w./()@'&+])?")  # what YAML reads as the same text without quotes
_KNOWN = frozenset(field.name for field in fields(Meta)) - {"extra"}
_UNCLOSED = re.compile(r"---[^\n]*\n?((?:(?![ \t]*\n|#)[^\n]*\n?)*)")  # up to a blank line or a heading
_BLOCKS = ("answers",)  # lists whose items are sentences: one line each


def with_fields(text: str, values: Mapping[str, Value]) -> str:
    """The file with these fields set. An empty value removes the line; an equal one leaves it as written.

    >>> text = "---\\ntitle: A  # mine\\nowner: Ann\\n---\\nx\\n"
    >>> with_fields(text, {"title": "A", "owner": "", "tags": ("b", "c d")})
    '---\\ntitle: A  # mine\\ntags: [b, c d]\\n---\\nx\\n'
    """
    raw, body = split(text)
    before = _meta(raw)
    for key, value in values.items():
        if getattr(before, key) != value:
            raw = _written(raw, key, value)
    _check(before, raw, values)
    return (f"---\n{raw.rstrip(chr(10))}\n---\n" if raw.strip() else "") + text[body:]


def started_fresh(text: str) -> str:
    """The file with those lines of its frontmatter that can be read by themselves; the others are left out.

    >>> started_fresh("---\\ntitle: A\\ntags: {a: 1}\\nowner: 'Ann\\n---\\n# A\\n")
    '---\\ntitle: A\\n---\\n# A\\n'
    >>> started_fresh("---\\ntitle: A\\n\\n# A\\n")
    '---\\ntitle: A\\n---\\n\\n# A\\n'
    """
    raw, body = split(text)
    if not body and text.startswith("---"):
        raw = _UNCLOSED.match(text)[1]  # type: ignore[index]
        body = text.index("\n") + 1 + len(raw) if "\n" in text else len(text)
    kept: dict[str, str] = {}
    for line in raw.split("\n"):
        if _alone(line):
            kept.setdefault(line.partition(":")[0], line)
    return ("---\n" + "\n".join(kept.values()) + "\n---\n" if kept else "") + text[body:]


def _alone(line: str) -> bool:
    """Whether a line is a known field with a value that can be read."""
    try:
        values = read_fields(line).values
        read_meta(read_fields(line))
    except BadInput:
        return False
    return len(values) == 1 and all(key in _KNOWN and value for key, value in values.items())


def with_body(text: str, body: str) -> str:
    """The same frontmatter over another body.

    >>> with_body("---\\ntitle: A\\n---\\nold", "new")
    '---\\ntitle: A\\n---\\nnew'
    """
    return text[: split(text)[1]] + body


def _meta(raw: str) -> Meta:
    return read_meta(read_fields(raw)) if raw.strip() else Meta()


def _written(raw: str, key: str, value: Value) -> str:
    """The frontmatter with one field replaced, added or removed."""
    lines = raw.rstrip("\n").split("\n") if raw.strip() else []
    at = read_fields(raw).lines.get(key) if lines else None
    start = len(lines) if at is None else at - 2
    end = start if at is None else at - 1
    while at is not None and end < len(lines) and lines[end][:1] in (" ", "\t", "-"):
        end += 1
    lines[start:end] = _lines(key, value)
    return "\n".join(lines)


def _lines(key: str, value: Value) -> list[str]:
    if not value:
        return []
    if key in _BLOCKS and isinstance(value, tuple):
        return [f"{key}:", *(f"  - {scalar(item)}" for item in value)]
    if isinstance(value, tuple):
        return [f"{key}: [{', '.join(map(scalar, value))}]"]
    return [f"{key}: {value.isoformat() if isinstance(value, date) else scalar(value)}"]


def scalar(text: str) -> str:
    """A text as one line of YAML, quoted only where necessary.

    >>> scalar("Month-end close"), scalar('Who signs "A": Ann?')
    ('Month-end close', '"Who signs \\\\"A\\\\": Ann?"')
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if _PLAIN.fullmatch(flat) else json.dumps(flat, ensure_ascii=False)


def _check(before: Meta, raw: str, values: Mapping[str, Value]) -> None:
    """Read back what was written; refuse if any other field changed."""
    try:
        after = _meta(raw)
    except BadInput as error:
        raise BadInput(f"The fields cannot be written into this frontmatter. Edit the whole file. {error}") from None
    for field in fields(Meta):
        wanted = (
            values[field.name] or getattr(Meta(), field.name) if field.name in values else getattr(before, field.name)
        )
        if getattr(after, field.name) != wanted:
            raise BadInput(f"The field {field.name} cannot be kept in this frontmatter. Edit the whole file instead.")
