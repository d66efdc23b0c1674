"""Regular expressions that take long: a text for which one has two ways to go at every letter stops the whole
server.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.curation.pictures.picture_files import checked, format_of
from core.curation.review.proposals import CO_AUTHOR, credited
from core.curation.upload.foreign import brought
from core.disagreements.values import values
from core.errors import BadInput
from core.evaluation.querysets import import_querysets
from tests.support.patterns import patterns, seconds, slow_texts

TEXTS: dict[str, Callable[[], object]] = {
    "an unclosed string of an MDX file": lambda: brought("a.mdx", b'export const a = "' + b"\\a" * 400 + b"\n\n# T\n"),
    "escaped quotes of an MDX file": lambda: brought("a.mdx", b"export const a = " + b'\\"' * 20_000 + b"\n\n# T\n"),
    "a picture of remarks": lambda: format_of(b"<!-- -->" * 400 + b"<x>"),
    "a word of addresses": lambda: values("1@a" * 3_000),
    "a number before a gap": lambda: values("5" + " " * 20_000 + "x"),
    "a co-author of blanks": lambda: credited(CO_AUTHOR, "Write\n\nCo-authored-by: " + "a" + " " * 40_000 + "b"),
    "many numbers": lambda: values("5 days " * 7_000),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_with_many_ways_through_it_takes_little_time(name: str) -> None:
    assert seconds(TEXTS[name]) < 2.0


def test_a_file_of_unclosed_topics_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("<top><num> 1 <title> A question\n</top>\n" + "<top>\n" * 40_000)
    assert seconds(lambda: import_querysets.read(file)) < 2.0


def test_a_drawing_of_very_many_parts_is_refused_before_it_is_parsed() -> None:
    raw = b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<g/>" * 900_000 + b"</svg>"

    def refused() -> None:
        with pytest.raises(BadInput, match="more than 20,000 of them"):
            checked("a.svg", raw)

    assert seconds(refused) < 1.0


@pytest.mark.slow
def test_no_pattern_of_the_program_is_slow_for_texts_made_against_it() -> None:
    """Twice the length may cost four times as much, which the limits on texts and workers bound; more is a defect."""
    slow, count = {}, 0
    for name, pattern in patterns():
        for text in slow_texts(pattern, 1_000):
            given = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
            took = seconds(lambda pattern=pattern, given=given: [*pattern.finditer(given)], 1.0)
            count += 1
            if took >= 1.0:
                slow[name] = text[:60]
                break
    print(f"{count} texts")
    assert count > 5_000
    assert slow == {}
