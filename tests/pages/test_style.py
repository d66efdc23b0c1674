"""Colours mean one thing."""

from __future__ import annotations

from core.retrieval.legs import LEGS
from pages.ui import style


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_column_has_the_colour_of_a_leg_or_a_stage() -> None:
    taken = {leg.colour.upper() for leg in LEGS.values()} | {colour.upper() for _, colour in style.STAGES.values()}
    assert not taken & {colour.upper() for colour in style.CONFIGURATIONS}
    assert len(set(style.CONFIGURATIONS)) == len(style.CONFIGURATIONS)


def test_white_letters_can_be_read_on_every_column_and_the_colour_on_a_dark_page() -> None:
    for colour in style.CONFIGURATIONS:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour
        assert (luminance(colour) + 0.05) / (luminance("#0d1217") + 0.05) >= 3, colour
