"""The script of the sample: what its people did, as `kb/sample/past.yaml` says it, and the texts that it began with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import yaml

from core.errors import Corrupt
from core.ports import Clock

FOLDER, FILE = "sample", "past.yaml"
MORNING = time(9)  # everything happens from then on, a minute apart
_FIELDS = ("days", "who")


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that somebody did, so many days ago: a verb, what it is about, and the rest."""

    days: int
    who: str
    verb: str
    what: Any
    more: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """What happened before anything could be searched, the oldest first, and what happened in the search."""

    past: tuple[Deed, ...]
    later: tuple[Deed, ...]


class PastClock:
    """The `Clock` port, so many days before today; a minute passes between two looks at it."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.days, self._minutes = clock, 0, 0

    def set(self, days: int) -> None:
        """Another day begins; the same one goes on."""
        if days != self.days:
            self.days, self._minutes = days, 0

    def today(self) -> date:
        return self.clock.today() - timedelta(days=self.days)

    def stamp(self) -> str:
        zone = datetime.fromisoformat(self.clock.stamp()).tzinfo
        now = datetime.combine(self.today(), MORNING, zone) + timedelta(minutes=self._minutes)
        self._minutes += 1
        return now.isoformat(timespec="seconds")


def read(kb: Path, verbs: Iterable[str]) -> Script:
    """The script beside the documents of a starter knowledge base."""
    raw = yaml.safe_load((kb / FOLDER / FILE).read_text(encoding="utf-8"))
    past, later = ([_deed(entry, tuple(verbs)) for entry in raw[part]] for part in ("past", "later"))
    return Script(tuple(sorted(past, key=lambda deed: -deed.days)), tuple(later))


def _deed(entry: Mapping[str, Any], verbs: Sequence[str]) -> Deed:
    verb = next((name for name in entry if name in verbs), None)
    if verb is None:
        raise Corrupt(f"{FILE} does not say what was done in {dict(entry)!r}. Verbs: {', '.join(verbs)}.")
    more = {name: value for name, value in entry.items() if name not in (*_FIELDS, verb)}
    return Deed(entry["days"], entry.get("who", ""), verb, entry[verb], more)


def edited(text: str, edits: Sequence[Mapping[str, str]]) -> str:
    """A text after edits: `was` becomes `now`, or everything `from` one line `to` another does.

    >>> edited("a b c", [{"was": "b", "now": "x"}]), edited("a b c", [{"from": "a", "to": "c", "now": ""}])
    ('a x c', 'c')
    """
    for edit in edits:
        start = text.find(edit["was"] if "was" in edit else edit["from"])
        end = start + len(edit["was"]) if "was" in edit else text.find(edit["to"], start)
        if start < 0 or end < 0:
            raise Corrupt(f"{FILE} edits {edit!r}, which is not in the document.")
        text = text[:start] + edit["now"] + text[end:]
    return text


def first_texts(kb: Path, script: Script) -> dict[str, bytes]:
    """The documents as they were before everything that was merged since."""
    texts = {path.relative_to(kb).as_posix(): path.read_text(encoding="utf-8") for path in sorted(kb.rglob("*.md"))}
    for deed in reversed([deed for deed in script.past if deed.verb == "merged"]):
        undo = {"was": deed.more["now"], "now": deed.more["was"]}
        texts[deed.more["path"]] = edited(texts[deed.more["path"]], [undo])
    return {path: text.encode() for path, text in texts.items()}
