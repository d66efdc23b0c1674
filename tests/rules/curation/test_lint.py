"""What a person sees at once is found, on its line, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.curation.checks import check_rules, lint
from core.curation.checks.findings import CheckContext, File, Finding
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.links import links, pictures_of
from core.curation.text.markup import parser
from core.errors import BadInput
from core.types import Document
from tests.conftest import ROOT, SHARED, examples

RULES = ("heading marks", "tables", "pictures", "unclosed", "unfinished")
HEAD = "---\ntitle: T\n---\n"  # three lines


def found(text: str, attachments: frozenset[str] = frozenset()) -> list[Finding]:
    document = read_document("it/a.md", HEAD + text)
    return list(check_rules.run(File(document), CheckContext(attachments=attachments), RULES))


def places(text: str, attachments: frozenset[str] = frozenset()) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line - 3) for finding in found(text, attachments)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#Visitors\n\nSign in.\n", [("heading marks", 1)]),
        ("Text.\n##Steps\n", [("heading marks", 2)]),
        ("Ask in #help-desk.\n\n#facilities knows more.\n\n#1 of the list\n\n#!/bin/sh\n", []),
        ("    #Indented code\n\n```\n#Comment\n##Comment\n```\n\n`#Word`\n", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 1 |  2 | 3 |\n| 1 |\n", [("tables", 4), ("tables", 5)]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nThen close the door.\n", [("tables", 4)]),
        ("| a | b |\n|---|---|\n| reefers \\| containers | 2 |\n", []),
        ("a | b\n---|---\n1 | 2\n\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n", []),
        ("| a | b |\n| 1 | 2 |\n| 3 | 4 |\n", [("tables", 1)]),
        ("Limits:\n| a | b | c |\n|---|---|\n| 1 | 2 | 3 |\n", [("tables", 2)]),
        ("a | b | c\n--- | ---\n1 | 2 | 3\n", [("tables", 1)]),
        ("Use ls | wc or a | b.\n\n|x| is positive.\n", []),
        ("One\n![The gate](gate.png)\n", [("pictures", 2)]),
        ("![The gate](it/img/gate.png)\n\n![Away](https://example.org/a.png)\n", [("pictures", 1), ("pictures", 3)]),
        ("Wear **a vest in the yard.\n", [("unclosed", 1)]),
        ("**Good** and\nbad** end.\n", [("unclosed", 2)]),
        ("One *word of many.\n", [("unclosed", 1)]),
        ("Run `make clean.\n", [("unclosed", 1)]),
        ("Not ~~this one.\n", [("unclosed", 1)]),
        ("Text.\n\n```shell\nls\n", [("unclosed", 3)]),
        ("> ~~~\n> ls\n\nText.\n", [("unclosed", 1)]),
        ("````\n```\n````\n\n~~~\nls\n~~~~\n\n> ```\n> ls\n> ```\n", []),
        ("2 ** 3, 5 * 4, snake_case, ****-****-1234, \\*\\*not bold, Price*\n\n*Without tax\n", []),
        ("`**` and `a * b` and\n`a\nb` **c**\n", []),
        ("1. Open.\n2. TODO: ask Ann\n", [("unfinished", 2)]),
        ("Limit: TBD\n\nFIXME\n\nLorem ipsum dolor.\n", [("unfinished", 1), ("unfinished", 3), ("unfinished", 5)]),
        ('Write TODO items, say "TODO" or `TODO`, and todos.\n', []),
    ],
)
def test_a_slip_is_found_on_its_line(text: str, expected: list[tuple[str, int]]) -> None:
    assert sorted(places(text), key=lambda place: place[1]) == expected


def test_a_picture_that_lies_beside_the_document_is_not_missing() -> None:
    text = "![The gate](img/gate.png)\n"
    assert places(text) == [("pictures", 1)]
    assert places(text, frozenset({"it/img/gate.png"})) == []


def test_a_link_stands_on_its_own_line_not_on_the_first_of_its_paragraph() -> None:
    body = (
        "<div>\nRead on\n[a](a.md) and ![p](p.png) `one\ntwo` [b](b.md)\n</div>\n\n| x | y |\n|---|---|\n| 1 | "
        "[c](c.md) |\n"
    )
    document = Document("d", "d.md", "D", body)
    assert [(link.path, link.line) for link in links(document)] == [("a.md", 3), ("b.md", 4), ("c.md", 9)]
    assert [picture.line for picture in pictures_of(document, parser().parse(body))] == [3]


def test_a_message_says_what_to_do_without_marks_of_a_markup_language() -> None:
    for text in ("#Visitors\n", "| a | b |\n| 1 | 2 |\n", "**x\n", "TODO\n", "![a](b.png)\n", "```\n"):
        assert all(finding.message.endswith(".") and "YAML" not in finding.message for finding in found(text))


def test_the_starter_documents_have_none_of_these() -> None:
    for path in sorted((ROOT / "kb").rglob("*.md")):
        document = read_document(path.name, decode(path.read_bytes()))
        assert list(check_rules.run(File(document), CheckContext(), RULES)) == [], path


@pytest.mark.slow
def test_in_real_handbooks_hardly_anything_is_found_that_is_none() -> None:
    folder = SHARED / "markdown"
    if not folder.is_dir():
        pytest.skip("no handbooks on this machine")
    counted = dict.fromkeys(RULES, 0)
    for path in sorted(folder.rglob("*.md")):
        for finding in _readable(path):
            counted[finding.rule] += finding.severity == "warning"
    assert counted["heading marks"] + counted["tables"] + counted["unclosed"] <= 5, counted
    assert counted["unfinished"] <= 70, counted


def _readable(path: Path) -> list[Finding]:
    try:
        document = read_document(path.name, decode(path.read_bytes()))
    except BadInput:
        return []
    return list(check_rules.run(File(document), CheckContext(), RULES))


# ---------------------------------------------------------------- laws

word = st.text("abcdefgh", min_size=1, max_size=6)
words = st.lists(word, min_size=1, max_size=6).map(" ".join)


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(["| x | y |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


good = st.one_of(
    words,
    words.map("## {}".format),
    words.map("Some **{}** and *more* `code` \\*.".format),
    words.map("- {}\n- two".format),
    words.map("```\n#{}\n**\n```".format),
    st.lists(st.tuples(words, words), min_size=1, max_size=3).map(_table),
)
SLIPS = {
    "heading marks": "##Steps",
    "tables": "| x | y |\n| a | b |",
    "pictures": "![gate](gate.png)",
    "unclosed": "Some **bold words.",
    "unfinished": "Call TBD.",
}


@given(st.lists(good, max_size=6))
@examples(60)
def test_well_formed_text_has_no_slips(parts: list[str]) -> None:
    assert places("\n\n".join(parts)) == []


@given(st.lists(good, max_size=4), st.lists(good, max_size=4), st.sampled_from(sorted(SLIPS)))
@examples(60)
def test_one_slip_is_one_finding_wherever_it_stands(before: list[str], after: list[str], rule: str) -> None:
    start = "\n\n".join([*before, ""])
    assert places("\n\n".join([*before, SLIPS[rule], *after])) == [(rule, start.count("\n") + 1)]


@given(st.lists(st.sampled_from([*"|*_`~#![]()>-:\\\n ", "ab", "```", "TODO"]), max_size=60).map("".join))
@examples(150)
def test_any_marks_get_findings_on_lines_of_the_text(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for _, line in places(text))


@given(st.lists(words, min_size=1, max_size=8))
def test_a_row_has_as_many_cells_as_were_written(row: list[str]) -> None:
    assert lint.cells("| " + " | ".join(row) + " |") == len(row)
    assert lint.cells("> " + " | ".join(row)) == len(row)
