"""Lists in settings files of the knowledge base: one key with a list, each entry with its line."""

from __future__ import annotations

import json
from typing import Any

import yaml

from core.curation.document.frontmatter import decode
from core.errors import BadInput

MAX_BYTES = 256 * 1024
NESTING = 4  # the key, its list, an entry, a list in it
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def entries(raw: bytes, file: str, key: str) -> list[tuple[int, Any]]:
    """The entries under the key: texts, lists of texts, or mappings to them. Nothing else is read as YAML would.

    >>> entries(b"pins:\\n  - question: Why?\\n    also: [how]\\n", "pins.yaml", "pins")
    [(2, {'question': 'Why?', 'also': ['how']})]
    """
    if len(raw) > MAX_BYTES:
        raise BadInput(f"{file} has {len(raw):,} bytes; the limit is {MAX_BYTES:,}.")
    text = decode(raw)
    try:
        _refuse_odd(text, file)
        top = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}" if mark else file
        raise BadInput(f"{where}: this is not well-formed YAML. Quote the value, or fix the indentation.") from None
    if top is None:
        return []
    if not isinstance(top, yaml.MappingNode) or [name.value for name, _ in top.value] != [key]:
        raise BadInput(f"{file} must hold one key, `{key}`, with a list below it.")
    listed = top.value[0][1]
    if isinstance(listed, yaml.ScalarNode) and not listed.value:
        return []
    if not isinstance(listed, yaml.SequenceNode):
        raise BadInput(f"{_at(file, listed)}: `{key}` must be a list, each entry on a line that starts with a dash.")
    return [(node.start_mark.line + 1, _plain(node, file)) for node in listed.value]


def _refuse_odd(text: str, file: str) -> None:
    """Refuse what no such file needs before anything is built of it."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if getattr(event, "anchor", None):
            raise BadInput(f"{_at(file, event)}: anchors and aliases (& and *) are not allowed. Quote the value.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > NESTING:
            raise BadInput(f"{_at(file, event)}: this is nested too deep. Keep an entry to names and texts.")


def _at(file: str, node: Any) -> str:
    return f"{file}, line {node.start_mark.line + 1}"


def _plain(node: Any, file: str) -> Any:
    """A node as text, list or mapping."""
    if isinstance(node, yaml.ScalarNode):
        return " ".join(node.value.split())
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, file) for item in node.value]
    names = [str(name.value) for name, _ in node.value]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{_at(file, node)}: the key {name!r} appears twice. Keep one.")
    return {name: _plain(value, file) for name, (_, value) in zip(names, node.value, strict=True)}


def written(text: str) -> str:
    """A text as YAML reads it back: as it is, or in quotes.

    >>> written("PTO = vacation"), written("yes: no")
    ('PTO = vacation', '"yes: no"')
    """
    try:
        plain = yaml.compose(f"- {text}", Loader=_LOADER)
        same = plain.value[0].value == text and isinstance(plain.value[0], yaml.ScalarNode)
    except (yaml.YAMLError, IndexError, AttributeError):
        same = False
    return text if same else json.dumps(text, ensure_ascii=False)


def comments(raw: bytes) -> str:
    """The remarks above the list, which stay when the file is written anew."""
    lines = decode(raw).splitlines(keepends=True)
    above = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    return "".join(lines[:above])
