"""A knob of a method: its range, the step of its slider, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob: a field of `SearchConfig`, or a parameter of a chunker with its default."""

    name: str
    title: str
    low: float
    high: float
    step: float
    about: str
    default: float = 0
    reach: float = 0.0  # where its slider ends, when the range goes further than a hand wants to

    @property
    def top(self) -> float:
        """Where its slider ends."""
        return self.reach or self.high

    @property
    def whole(self) -> bool:
        """Whether it takes whole numbers only."""
        return isinstance(self.step, int)

    def admits(self, value: float) -> bool:
        """Whether a value lies in the range.

        >>> Parameter("alpha", "Alpha", 0.0, 1.0, 0.01, "").admits(1.5)
        False
        """
        return self.low <= value <= self.high
