"""The modules of records, by the title that help gives their commands.

A new module is named here; a new command or operation is not. What a module holds is read from its source:
importing all of them takes a second of CPU, which help and a wrong word do without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from core import entrypoints

ROOMS: Mapping[str, tuple[str, ...]] = {
    "Find": ("knowledge.search", "knowledge.documents", "knowledge.freshness"),
    "Write and review": ("knowledge.upload", "team.reviews", "knowledge.questions"),
    "Measure and tune": (
        "laboratory.playground",
        "laboratory.querysets",
        "laboratory.evaluation",
        "laboratory.tuning",
    ),
    "Index and models": ("operation.index", "laboratory.models"),
    "Operate": ("operation.workspace", "team.accounts", "operation.jobs", "team.deliveries"),
    "Integrate": ("mcp.command", "team.remote"),
}
_COMMAND = re.compile(r'^@command\(\s*"([^"]+)",\s*((?:"[^"]*"\s*)+)', re.MULTILINE)
_OPERATION = re.compile(r"^@operation\(", re.MULTILINE)


class CommandOutline(NamedTuple):
    """A command before its record is imported."""

    name: str
    about: str
    module: str


@cache
def outlines(module: str) -> tuple[CommandOutline, ...]:
    """The commands of a module."""
    found = _COMMAND.findall(_source(module))
    return tuple(CommandOutline(name, "".join(re.findall('"([^"]*)"', about)), module) for name, about in found)


def by_word() -> dict[str, list[CommandOutline]]:
    """Every command by the first of its words, in the order of help."""
    found: dict[str, list[CommandOutline]] = {}
    for modules in ROOMS.values():
        for outline in (each for module in modules for each in outlines(module)):
            found.setdefault(outline.name.partition(" ")[0], []).append(outline)
    return found


def with_operations() -> Iterator[str]:
    """The modules that hold operations of the HTTP API."""
    yield from (module for modules in ROOMS.values() for module in modules if _OPERATION.search(_source(module)))


def load(module: str) -> str:
    """Import a module; gives its whole name."""
    return import_module(f"{entrypoints.__name__}.{module}").__name__


def _source(module: str) -> str:
    file = Path(*module.split(".")).with_suffix(".py")
    return next(path for folder in entrypoints.__path__ if (path := folder / file).exists()).read_text("utf-8")
