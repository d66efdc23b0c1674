"""What the checks say, on which line, and how grave it is."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.curation.checks import check_rules
from core.curation.checks.check_rules import RULES, check
from core.curation.checks.findings import SEVERITIES, CheckContext
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.names import MAX_PATH_BYTES, safe_path
from core.curation.document.templates import TEMPLATES, fill
from core.curation.upload.archives import MAX_RATIO
from core.curation.upload.shingles import ShingleIndex, body, pairs, shingles
from core.errors import BadInput
from core.types import Document

ROOT = Path(__file__).resolve().parents[3]
WHOLE = "---\nid: IT-1\ntitle: T\ndoc_type: sop\nowner: Ann\nreview_due: 2030-01-01\nanswers: [Why?]\n---\n"  # 8 lines


def said(text: str, rule: str, around: CheckContext = CheckContext()) -> list[tuple[int, str]]:
    return [(one.line, one.severity) for one in check("it/a.md", text.encode(), around) if one.rule == rule]


def kb() -> list[Document]:
    paths = sorted((ROOT / "kb").rglob("*.md"))
    return [read_document(str(path.relative_to(ROOT / "kb")), decode(path.read_bytes())) for path in paths]


def test_a_complete_document_has_nothing_to_fix() -> None:
    assert check("it/a.md", (WHOLE + "# T\n\nText.\n").encode()) == ()


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        (WHOLE + "# T\n\n### Deep\n\nText.\n", "headings", [(11, "warning")]),
        (WHOLE + "# T\n\n## A\n\n## B\n\nText.\n", "empty sections", [(11, "warning")]),
        (WHOLE + "# T\n\n## A\n\n### B\n\nText.\n", "empty sections", []),
        (WHOLE + "\n\n", "empty sections", [(9, "error")]),
        (WHOLE + "See [x](b.md).\n", "links", [(9, "warning")]),
        (WHOLE + "See [x](../../b.md).\n", "links", [(9, "warning")]),
        (WHOLE + "See [x](https://example.org) and [m](mailto:a@example.org).\n", "links", []),
        (WHOLE + "## Part one\n\nSee [x](#part-one) and [y](#part-two).\n", "links", [(11, "warning")]),
        (WHOLE + "[x](javascript:alert(1))\n", "markup", [(9, "note")]),
        (WHOLE + "[x](file:///etc/passwd)\n", "markup", [(9, "note")]),
        (WHOLE + "[x](ftp://example.org/x)\n", "links", [(9, "warning")]),
        (WHOLE + "Text.\n\n<script>alert(1)</script>\n", "markup", [(11, "note")]),
        (WHOLE + ">" * 10_000 + " x\n", "markup", [(9, "warning")]),
        (WHOLE + "over\u202eturned\n", "characters", [(9, "warning")]),
        (WHOLE + "bell\x07\n", "characters", [(9, "error")]),
        (WHOLE + ("word " * 50 + "\n") * 1000, "size", [(1, "warning")]),
        ("Text without a heading.\n", "title", [(1, "warning")]),
        ("---\ntitle: T\nstatus: beta\n---\nText.\n", "status", [(3, "warning")]),
        ("---\ntitle: T\nreview_due: soon\n---\nText.\n", "frontmatter", [(3, "error")]),
        ("---\ntitle: [a, b]\n---\nText.\n", "frontmatter", [(2, "error")]),
        ("---\na: &x [1]\nb: *x\n---\nText.\n", "frontmatter", [(2, "error")]),
        ("---\ntitle: T\nText without an end.\n", "frontmatter", [(1, "error")]),
        ("---\ntitle: T\nownr: Ann\n---\nText.\n", "keys", [(3, "warning")]),
        ("---\ntitle: T\ndoc_type: sopp\n---\nText.\n", "doc_type", [(3, "warning")]),
        ("---\ntitle: T\n---\nText.\n", "wanted", [(1, "note")] * 3),
        ("---\ntitle: T\nsupersedes: [IT-0]\n---\nText.\n", "supersedes", [(3, "warning")]),
    ],
)
def test_a_rule_speaks_on_its_line(text: str, rule: str, expected: list[tuple[int, str]]) -> None:
    assert said(text, rule) == expected


def test_an_id_of_another_document_is_refused_and_that_document_is_named() -> None:
    found = check("it/a.md", (WHOLE + "Text.\n").encode(), CheckContext(ids={"IT-1": "it/b.md"}))
    assert (found[0].rule, found[0].line, found[0].severity) == ("id", 2, "error")
    assert "it/b.md" in found[0].message
    assert said(WHOLE + "Text.\n", "id", CheckContext(ids={"IT-1": "it/a.md"})) == []


def test_a_link_to_a_document_beside_it_is_fine_and_one_to_a_missing_heading_is_not() -> None:
    around = CheckContext(anchors={"it/b.md": frozenset({"steps"})})
    assert said(WHOLE + "[b](b.md) [c](b.md#steps)\n", "links", around) == []
    assert said(WHOLE + "[b](b.md#stepz)\n", "links", around) == [(9, "warning")]


def test_a_review_date_that_is_over_is_said() -> None:
    assert said(WHOLE + "Text.\n", "dates", CheckContext(today=date(2031, 1, 1))) == [(6, "warning")]


SECRETS = [
    "-----BEGIN RSA PRIVATE " + "KEY-----",
    "-----BEGIN OPENSSH PRIVATE " + "KEY-----",
    "key AKIA" + "QYLPMN5HFIQR7XYZ here",
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "concord_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z-",
    "xoxb-" + "123456789012-abcdefGHIJKL0123",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_is_refused_and_never_repeated(secret: str) -> None:
    found = [one for one in check("a.md", (WHOLE + f"Use {secret} for it.\n").encode()) if one.rule == "secrets"]
    assert [(one.line, one.severity) for one in found] == [(9, "error")]
    assert secret not in found[0].message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("password: q7Zx9KpL2mVt4Rw8", ["warning"]),
        ('API_KEY="f3a9c1e7b5d2084a6e9f"', ["warning"]),
        ("password: at least 14 characters", []),
        ("The token: replace-every-ninety-days", []),
        ("api_key = YOUR_API_KEY_GOES_HERE_123", []),
        ("secret: see-the-vault-entry-payroll-2026", []),
    ],
)
def test_a_password_is_told_from_a_sentence_about_passwords(line: str, expected: list[str]) -> None:
    assert [severity for _, severity in said(WHOLE + line + "\n", "secrets")] == expected


def test_the_starter_documents_have_no_error_and_no_warning() -> None:
    documents = kb()
    readings = {d: check_rules.read(d) for d in documents}
    around = CheckContext(
        {d.path: frozenset(reading.anchors) for d, reading in readings.items()},
        {d.meta.id: d.path for d in documents if d.meta.id},
    )
    found = [one for d in documents for one in check(d.path, d.text.encode(), around, readings.__getitem__)]
    found = [one for one in found if one.severity != "note"]
    assert found == []


def test_templates_pass_every_check_but_what_they_suggest_must_be_overwritten() -> None:
    for template in TEMPLATES.values():
        made = fill(template, 'Title: "quoted" # and [odd]', "Ann", date(2026, 11, 15))
        found = check("a.md", made.encode())
        assert {(one.rule, one.field) for one in found} == {("template", ""), ("template", "answers")}, template.name
    written = "---\ntitle: A\nowner: Ann\nanswers: [Who counts bins?]\n---\n# A\n\n## Scope\n\nAll sites.\n"
    assert not [one for one in check("a.md", written.encode()) if one.rule == "template"]
    hint = written + "\n## Records\n\nWhat is kept, where, for how long, and under which rule.\n"
    assert [(one.line, one.severity) for one in check("a.md", hint.encode()) if one.rule == "template"] == [
        (14, "warning")
    ]


def test_encodings_are_refused_with_a_line_or_made_harmless() -> None:
    assert check("a.md", b"one\ntwo \xff\n")[0].line == 2
    assert "NUL" in check("a.md", b"a\0b")[0].message
    assert "1,048,576" in check("a.md", b"x" * 1_048_577)[0].message
    notes = [one.message for one in check("a.md", b"\xef\xbb\xbf# A\r\n\r\nText\r\n") if one.rule == "encoding"]
    assert len(notes) == 2


@pytest.mark.parametrize("mark", ["[", "![", "*a ", "_a ", "~~a ", "]", "\\"])
def test_a_megabyte_of_marks_is_refused_at_once_and_never_parsed(mark: str) -> None:
    found = check("a.md", (mark * 1_000_000)[:1_000_000].encode())
    assert [one.severity for one in found] == ["error"]
    assert "a document has at most" in found[0].message


@given(st.text(max_size=400), st.sampled_from(["", "---\n", "# ", "> ", "[", "```\n"]))
def test_any_text_gets_findings_that_name_a_line_of_it(text: str, start: str) -> None:
    whole = start + text
    for one in check("a.md", whole.encode("utf-8", "replace")):
        assert one.severity in SEVERITIES
        assert one.rule in RULES or one.rule in ("frontmatter", "encoding")
        assert 1 <= one.line <= whole.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 2


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "path",
    [
        "../a.md",
        "a/../b.md",
        "/etc/a.md",
        "a\0.md",
        "a\x07.md",
        "a\u202e.md",
        "a\u200b.md",
        "a" * 201 + ".md",
        "con.md",
        "x/NUL.md",
        "com1.txt.md",
        "a\\b.md",
        "C:/a.md",
        ".git/a.md",
        "a/.md",
        "a//b.md",
        "a./b.md",
        "a /b.md",
        "-a.md",
        "a.MD",
        "a\nb.md",
        "~/a.md",
        "$HOME/a.md",
        "a*.md",
        "a?.md",
        "a<b>.md",
        "/".join("1234567890" * 26) + ".md",
        "\ud800.md",
        "",
    ],
)
def test_odd_paths_are_refused_with_a_sentence(path: str) -> None:
    with pytest.raises(BadInput) as error:
        safe_path(path)
    assert str(error.value).endswith(".")
    assert str(error.value).isprintable()


@given(st.text(max_size=220))
def test_a_path_that_is_let_in_stays_inside_and_is_short(name: str) -> None:
    try:
        path = safe_path(name + ".md")
    except BadInput:
        return
    assert not path.startswith("/")
    assert not {"..", ".", ""} & set(path.split("/"))
    assert len(path.encode()) <= MAX_PATH_BYTES
    assert path.isprintable()


# ---------------------------------------------------------------- shingles


def test_only_the_two_dock_documents_share_their_wording() -> None:
    documents = kb()
    marks = ShingleIndex(documents)
    found = {(d.path, other.path) for d in documents for other, _ in marks.near(body(d), frozenset({d.path}))}
    one, two = "supply-chain/safety/dock-safety-cmh2.md", "supply-chain/safety/dock-safety-rno1.md"
    assert found == {(one, two), (two, one)}


def test_passages_that_match_are_shown_with_their_lines() -> None:
    by_path = {d.path: d for d in kb()}
    mine, theirs = (by_path[f"supply-chain/safety/dock-safety-{site}.md"] for site in ("cmh2", "rno1"))
    found = pairs(mine, theirs)
    assert len(found) == 3
    for pair in found:
        assert mine.text.split("\n")[pair.my_line - 1] == pair.mine.split("\n")[0]
        assert theirs.text.split("\n")[pair.their_line - 1] == pair.theirs.split("\n")[0]


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "eps"]), max_size=40))
def test_shingles_ignore_case_and_white_space(words: list[str]) -> None:
    assert shingles(" ".join(words)) == shingles("\n\n  ".join(words).upper())
    assert len(shingles(" ".join(words))) <= max(0, len(words) - 4)


def test_the_ratio_of_bombs_is_far_above_that_of_text() -> None:
    import zlib

    text = "".join(d.text for d in kb()).encode()
    assert len(text) / len(zlib.compress(text)) * 10 < MAX_RATIO
