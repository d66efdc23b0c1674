"""Mappings to frozen dataclasses, with unknown keys refused, and digests that name them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from core.errors import BadInput
from core.types import Frozen

T = TypeVar("T")


def parse(cls: type[T], raw: Mapping[str, Any], where: str) -> T:
    """Build `cls` from a mapping; every key must be known and every value of the right type.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Cup:
    ...     size: int = 1
    >>> parse(Cup, {"size": 2}, "cup")
    Cup(size=2)
    >>> parse(Cup, {"siez": 2}, "cup")
    Traceback (most recent call last):
        ...
    core.errors.BadInput: cup: unknown key 'siez'. Known keys: size.
    """
    if not isinstance(raw, Mapping):
        raise BadInput(f"{where}: expected a mapping of keys to values, got {_short(raw)}.")
    hints = _hints(cls)  # type: ignore[arg-type]
    for key in raw:
        if key not in hints:
            raise BadInput(f"{where}: unknown key {key!r}. Known keys: {', '.join(hints)}.")
    if missing := [name for name in _required(cls) if name not in raw]:  # type: ignore[arg-type]
        raise BadInput(f"{where}: {', '.join(missing)} is missing.")
    return cls(**{key: _value(hints[key], raw[key], f"{where}.{key}") for key in raw})


@cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


@cache
def _required(cls: Any) -> tuple[str, ...]:
    none = dataclasses.MISSING
    return tuple(
        field.name for field in dataclasses.fields(cls) if field.default is none and field.default_factory is none
    )


def _short(value: Any) -> str:
    """The beginning of a value, for a sentence."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _value(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _value(next(a for a in args if a is not type(None)), value, where)
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else parse(hint, value, where)  # type: ignore[arg-type]
    if origin is tuple:
        return _tuple(args, value, where)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(args, value, where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise BadInput(f"{where}: expected {hint.__name__}, got {_short(value)}.")
    return value


def _tuple(args: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise BadInput(f"{where}: expected a list, got {_short(value)}.")
    return tuple(_value(args[0], item, f"{where}[{n}]") for n, item in enumerate(value))


def _mapping(args: tuple[Any, ...], value: Any, where: str) -> Frozen:
    if not isinstance(value, Mapping):
        raise BadInput(f"{where}: expected a mapping of keys to values, got {_short(value)}.")
    return Frozen({str(key): _value(args[1], item, f"{where}.{key}") for key, item in sorted(value.items())})


_LEAVES = frozenset({type(None), bool, int, float, str})


def plain(value: Any) -> Any:
    """The value as dicts, lists, strings and numbers, ready for JSON or YAML."""
    kind: Any = type(value)
    if kind in _LEAVES or isinstance(value, (str, int, float, bytes)):
        return value
    if names := _names(kind):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        items = value.items()  # a run holds thirty thousand: a call for each took half of the time
        return {str(key): item if type(item) in _LEAVES else plain(item) for key, item in items}
    if isinstance(value, (list, tuple, Sequence)):  # the first two are seen at once
        return [item if type(item) in _LEAVES else plain(item) for item in value]
    return sorted(map(plain, value)) if isinstance(value, frozenset) else value


@cache
def _names(cls: Any) -> tuple[str, ...]:
    """The fields of a record; none of anything else."""
    return tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()


def canonical(value: Any) -> str:
    """One spelling for equal values.

    >>> canonical({"b": 1, "a": (1, 2)})
    '{"a":[1,2],"b":1}'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any, length: int = 12) -> str:
    """A short hash; equal values have equal ones.

    >>> digest({"a": 1}) == digest({"a": 1}), digest({"a": 1}) == digest({"a": 2})
    (True, False)
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:length]
