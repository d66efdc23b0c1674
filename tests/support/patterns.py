"""Every regular expression of the program, and texts made to be slow for each of them."""

from __future__ import annotations

import ast
import importlib
import re
import re._parser as parser
import signal
import time
from collections.abc import Iterator
from typing import Any

from tests.conftest import ROOT

_CHARACTERS = " a1A-_.\n\t,;:|>#*`[]()!?\"'é/&+@=x<{}~\\%°"
_FLAGS = {name: getattr(re, name) for name in ("IGNORECASE", "DOTALL", "MULTILINE", "VERBOSE", "ASCII")}


class Late(BaseException):
    """Raised by the clock; no handler of the program catches it."""


def seconds(act: Any, most: float = 5.0) -> float:
    """The seconds of computing that a call needs; one that needs more than `most` is interrupted."""

    def ring(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    began = time.process_time()
    try:
        act()
    except Late:
        return most
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - began


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Those that modules keep, and those that are written where they are used."""
    for path in sorted((ROOT / "core").rglob("*.py")):
        place = path.relative_to(ROOT).with_suffix("")
        if place.name not in ("__main__", "env"):  # which are run, not imported
            try:
                module = importlib.import_module(".".join(place.parts).removesuffix(".__init__"))
            except ImportError:  # a package that is not installed here
                continue
            for name, value in vars(module).items():
                yield from ((f"{place}.{name}", one) for one in _inside(value))
        yield from ((f"{place}:{line}", one) for line, one in _written(path.read_text(encoding="utf-8")))


def _inside(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        for part in value:
            yield from _inside(part)
    elif type(value) is dict:
        yield from _inside(list(value.values()))


def _written(source: str) -> Iterator[tuple[int, re.Pattern[Any]]]:
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if getattr(node.func.value, "id", "") == "re" and isinstance(first := node.args[0], ast.Constant):
            names = {
                part.attr
                for given in (*node.args[1:], *node.keywords)
                for part in ast.walk(given)
                if isinstance(part, ast.Attribute)
            }
            yield node.lineno, re.compile(first.value, sum(_FLAGS[name] for name in names & _FLAGS.keys()))


def slow_texts(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """For each part that repeats: what leads to it, what it repeats, and an end that it does not expect."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~(re.UNICODE | re.DEBUG))
    seen = set()
    for before, repeated in _repeats(tree):
        if repeated and (before, repeated) not in seen:
            seen.add((before, repeated))
            for end in ("", "\n", "\0", "!"):
                yield (before + repeated * (size // len(repeated)))[: size - 1] + end
            yield ((before + repeated) * size)[:size]
            yield ((before + repeated * 60) * size)[:size]


def _repeats(items: Any, before: str = "") -> Iterator[tuple[str, str]]:
    for op, value in items:
        kind = str(op)
        inner: list[Any] = []
        if kind.endswith("_REPEAT"):
            yield from ((before, _example(value[2], other)) for other in range(4))
            inner = [value[2]]
        elif kind == "SUBPATTERN":
            inner = [value[3]]
        elif kind == "BRANCH":
            inner = value[1]
        elif kind in ("ASSERT", "ASSERT_NOT"):
            inner = [value[1]]
        for part in inner:
            yield from _repeats(part, before)
        before += _example([(op, value)], 1)


def _example(items: Any, other: int) -> str:
    """A short text that a part matches; `other` chooses among several."""
    text = ""
    for op, value in items:
        kind = str(op)
        if kind == "LITERAL":
            text += chr(value)
        elif kind in ("ANY", "NOT_LITERAL"):
            text += "b" if kind == "NOT_LITERAL" and value == ord("a") else "a"
        elif kind == "IN":
            fitting = [c for c in _CHARACTERS if _member(value, c)] or [
                chr(v if str(o) == "LITERAL" else v[0]) for o, v in value if str(o) in ("LITERAL", "RANGE")
            ]
            text += fitting[other % len(fitting)] if fitting else "a"
        elif kind.endswith("_REPEAT"):
            text += _example(value[2], other) * max(value[0], min(other, 1))
        elif kind in ("SUBPATTERN", "ASSERT", "ATOMIC_GROUP"):
            text += _example(value[3] if kind == "SUBPATTERN" else value[1] if kind == "ASSERT" else value, other)
        elif kind == "BRANCH":
            text += _example(value[1][other % len(value[1])], other)
    return text


def _member(parts: Any, character: str) -> bool:
    negated = found = False
    for op, value in parts:
        kind = str(op)
        negated = negated or kind == "NEGATE"
        if kind == "LITERAL":
            found |= chr(value) == character
        elif kind == "RANGE":
            found |= value[0] <= ord(character) <= value[1]
        elif kind == "CATEGORY":
            name = str(value)
            of = character.isdigit() if "DIGIT" in name else character.isspace() if "SPACE" in name else None
            of = character.isalnum() or character == "_" if of is None else of
            found |= of != ("NOT" in name)
    return found != negated
