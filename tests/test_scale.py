"""The page on scale follows from the figures of the benchmarks."""

from __future__ import annotations

import doctest

from bench import scale


def test_every_line_of_the_page_follows_from_inputs_that_say_whether_they_were_measured() -> None:
    given = scale.inputs()
    assert all(figure.basis.startswith(("measured", "assumed")) for figure in given.values())
    written = scale.PAGE.read_text(encoding="utf-8")
    assert [what for what, _, _ in scale.lines(given) if f"| {what} |" not in written] == []
    assert doctest.testmod(scale).failed == 0
