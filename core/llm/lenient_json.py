"""JSON as models write it: in prose, in fences, with trailing commas. Lenient about form, and about nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

from core.errors import BadInput

_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])')


def json_value(text: str, *kinds: type) -> Any:
    """The first JSON value of a kind in an answer; BadInput when there is none.

    >>> json_value('Sure, [3 questions]: {"dense": 0.5,}', dict)
    {'dense': 0.5}
    """
    plain = _LAST_COMMA.sub(lambda match: match[1] or "", text)
    at = 0
    while (start := re.search(r"[\[{]", plain[at:])) is not None:
        at += start.start()
        try:
            value, _ = json.JSONDecoder().raw_decode(plain[at:])
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, kinds) and value:
            return value
        at += 1
    raise BadInput("it holds no JSON of the form that was asked for")


def listed(text: str, key: str) -> list[Any]:
    """The list in an answer: bare, under its key, or a single object that stands for a list of one.

    >>> listed('{"rows": [{"a": 1}]}', "rows"), listed('{"a": 1}', "rows"), listed("[1, 2,]", "rows")
    ([{'a': 1}], [{'a': 1}], [1, 2])
    """
    value = json_value(text, list, dict)
    if isinstance(value, list):
        return value
    inner = value.get(key, [value])
    if not isinstance(inner, list):
        raise BadInput(f"its {key} are no list")
    return inner


def schema_of(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
