"""The main line by day: which state the knowledge base was in when somebody read or cited it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from core.errors import BadInput, NotFound, Refused

if TYPE_CHECKING:
    from core.storage.git.repository import Repository

SHORTEST = 7  # characters of a commit id


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of the main line, and the day from which it is looked at."""

    commit: str
    day: date


class MainLine:
    """Finds the states that were approved; what is not merged was never one of them."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._read: tuple[str, tuple[tuple[str, date], ...]] = ("", ())

    def moment(self, when: str) -> Moment:
        """The state at the end of a day (2026-03-31), or of a commit by its id."""
        line, asked = self.states(), when.strip().lower()
        if not line:
            raise NotFound("There are no documents yet, so there is nothing as of an earlier day.")
        if (day := _day(asked)) is not None:
            found = next((commit for commit, written in line if written <= day), "")
            if not found:
                raise NotFound(f"The knowledge base begins on {line[-1][1]}; there is nothing as of {day}.")
            return Moment(found, day)
        if len(asked) < SHORTEST or not set(asked) <= set("0123456789abcdef"):
            raise BadInput(
                f"{when!r} is neither a day such as 2026-03-31 nor a commit of at least {SHORTEST} characters."
            )
        found_states = [Moment(*state) for state in line if state[0].startswith(asked)]
        if len(found_states) != 1:
            known = "several states" if found_states else "no state"
            raise Refused(f"{when!r} names {known} of the main line. Take a day, or the id of a commit on it.")
        return found_states[0]

    def states(self) -> tuple[tuple[str, date], ...]:
        """Every commit of the main line with its day, newest first."""
        head = self.repository.head()
        if self._read[0] != head:
            self._read = (head, self.repository.main_line(head) if head else ())
        return self._read[1]


def _day(text: str) -> date | None:
    """A day, if the text has the form of one.

    >>> _day("2026-03-31"), _day("1a2b3c4")
    (datetime.date(2026, 3, 31), None)
    """
    if text.count("-") != 2:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is no day. Write it like 2026-03-31.") from None
