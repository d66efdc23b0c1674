"""A model's answer parsed as a permutation: lenient about its form, strict about what it says. No answer makes this
fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_ARRAY = re.compile(r"\[[^\[\]]*\]")
_CHAIN = re.compile(r"\[?\d{1,9}\]?(?:\s*(?:>|,|;|\n)\s*\[?\d{1,9}\]?)+")  # [2] > [1] > [3], 2 > 1 > 3
ENOUGH = 0.5  # share of the passages that an order must name: the rest would be our order, not the model's


@dataclass(frozen=True, slots=True)
class Repaired:
    """An order of 0 .. n-1 that is always complete. `kept`: the answer was of no use and the given order stands."""

    order: tuple[int, ...]
    note: str = ""
    kept: bool = False


def permutation(text: str, n: int, asked: int = 0) -> Repaired:
    """The order that an answer with the numbers 1 .. n gives; fixed where that is unambiguous. `asked`: how many of the
    passages it should name, all of them by default.

    >>> permutation("[3, 1, 2]", 3)
    Repaired(order=(2, 0, 1), note='', kept=False)
    >>> permutation("Sure! [3, 9, 3, 1,]", 3)
    Repaired(order=(2, 0, 1), note='1 out of range, 1 repeated, 1 missing', kept=False)
    >>> permutation("I cannot say.", 3)
    Repaired(order=(0, 1, 2), note='no array of numbers', kept=True)
    """
    if n <= 0:
        return Repaired(())
    arrays = _arrays(text)
    if not arrays:
        return Repaired(tuple(range(n)), "no array of numbers" if text.strip() else "empty answer", kept=True)
    chosen = next((array for array in arrays if _whole(array, n)), arrays[0])
    return _fixed(_from_zero(chosen, n), n, asked or n)


def _arrays(text: str) -> list[list[int | None]]:
    """The JSON arrays in a text, in order, then what is written as a chain; single numbers in prose are no order."""
    arrays = [array for match in _ARRAY.finditer(text) if (array := _numbers(match[0]))]
    chains: list[list[int | None]] = [
        [int(number) for number in re.findall(r"\d+", match[0])] for match in _CHAIN.finditer(text)
    ]
    return [array for array in arrays if len(array) > 1] or chains or ([] if _prose(text) else arrays)


def _prose(text: str) -> bool:
    """Whether words stand around the numbers."""
    return bool(re.search(r"[^\W\d_]{2,}", text.replace("json", "").replace("order", "")))


def _numbers(text: str) -> list[int | None]:
    """The items of one array; None for what is no whole number. Empty when there is not one number in it."""
    try:
        items = [_number(item) for item in json.loads(re.sub(r",\s*\]", "]", text))]
    except ValueError:
        return []
    return items if any(item is not None for item in items) else []


def _number(item: object) -> int | None:
    if isinstance(item, str) and item.strip().isdecimal() and len(item) < 10:
        return int(item)
    if isinstance(item, float) and item.is_integer():
        return int(item)
    return item if isinstance(item, int) and not isinstance(item, bool) else None


def _whole(array: Sequence[int | None], n: int) -> bool:
    return set(array) in (set(range(1, n + 1)), set(range(n)))


def _from_zero(array: Sequence[int | None], n: int) -> list[int | None]:
    """Places from 0. An array that is exactly 0 .. n-1 was counted from 0 already."""
    if n > 1 and set(array) == set(range(n)):
        return list(array)
    return [None if number is None else number - 1 for number in array]


def _fixed(places: Sequence[int | None], n: int, asked: int) -> Repaired:
    inside = [place for place in places if place is not None and 0 <= place < n]
    named = list(dict.fromkeys(inside))
    if len(named) < ENOUGH * asked:
        why = f"{len(named)} of {asked} passages named" if named else "no number in range"
        return Repaired(tuple(range(n)), why, kept=True)
    seen = set(named)
    missing = [place for place in range(n) if place not in seen]
    faults = {
        "out of range": len(places) - len(inside),
        "repeated": len(inside) - len(named),
        "missing": max(0, asked - len(named)),
    }
    return Repaired((*named, *missing), ", ".join(f"{count} {fault}" for fault, count in faults.items() if count))
