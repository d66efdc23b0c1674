"""The page on scale follows from the figures of the benchmarks."""

from __future__ import annotations

import doctest

from bench import scale


def test_the_page_follows_from_the_benchmarks_and_inputs_say_whether_they_were_measured() -> None:
    given = scale.inputs()
    assert all(figure.basis.startswith(("measured", "assumed")) for figure in given.values())
    assert scale.PAGE.read_text(encoding="utf-8") == scale.page(), "python -m bench scale writes it again"
    assert doctest.testmod(scale).failed == 0
