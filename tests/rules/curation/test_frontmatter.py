"""Bytes to documents: what is read, and what is refused with a sentence."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.curation.document.frontmatter import decode, read_document, read_fields, split
from core.curation.document.names import collision_key, safe_id, safe_name, safe_path, safe_revision
from core.errors import BadInput, ConcordError
from tests.conftest import examples

GOOD = """---
id: FIN-POL-001
title: Delegation of authority
doc_type: Policy
status: approved
owner: Helen Okafor
tags: [limits, approval]
effective_date: 2025-01-31
review_due: 2027-01-31
supersedes: FIN-POL-000, FIN-POL-0A
answers:
  - Who may sign a contract?
menu:
  after: {weight: -100}
---
# Delegation of authority

Body.
"""


def test_every_known_key_is_read_and_unknown_ones_are_kept() -> None:
    document = read_document("finance/doa.md", GOOD)
    meta = document.meta
    assert (document.id, document.title, document.text[document.body :]) == (
        "FIN-POL-001",
        "Delegation of authority",
        "# Delegation of authority\n\nBody.\n",
    )
    assert (meta.doc_type, meta.owner, meta.tags) == ("policy", "Helen Okafor", ("limits", "approval"))
    assert (meta.effective_date, meta.review_due) == (date(2025, 1, 31), date(2027, 1, 31))
    assert (meta.supersedes, meta.answers) == (("FIN-POL-000", "FIN-POL-0A"), ("Who may sign a contract?",))
    assert meta.extra == {"menu": {"after": {"weight": "-100"}}}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# First\n", "First"),
        ("```\n# not this\n```\n\n# This\n", "This"),
        ("# Coding in C#\n", "Coding in C#"),
        ("# Closed ##  \n", "Closed"),
        ("no heading\n", "Month end close"),
        ("---\ntitle:\n---\n# Heading\n", "Heading"),
        ("---\nnot closed\n# Heading", "Heading"),
        ("---\n---\ntext", "Month end close"),
    ],
)
def test_a_title_is_found_somewhere(text: str, title: str) -> None:
    assert read_document("finance/month-end_close.md", text).title == title


WRAPPED = [
    "{}",
    "**{}**",
    "*{}*",
    "__{}__",
    "`{}`",
    "~~{}~~",
    "[{}](https://example.org/a_b(c))",
    "[{}][there]",
    "![{}](b.svg)",
    "[![{}](b.svg)](https://example.org)",
    "<em>{}</em>",
    "<a name='x'></a>{}",
    "<!-- hidden -->{}",
    "\\*{}\\*",
    ":rocket: {}",
    "***[{}](x.md)***",
]


@given(
    st.lists(
        st.tuples(st.sampled_from(WRAPPED), st.sampled_from(["Access", "R2", "a_b c", "C#", "step"])),
        min_size=1,
        max_size=6,
    )
)
def test_a_title_holds_the_words_and_none_of_the_markup(parts: list[tuple[str, str]]) -> None:
    written = " ".join(wrap.format(word) for wrap, word in parts)
    kept = {"\\*{}\\*": "*{}*", ":rocket: {}": ":rocket: {}"}
    words = " ".join(kept.get(wrap, "{}").format(word) for wrap, word in parts)
    document = read_document("a.md", f"---\ntitle: >-\n  {written}\n---\n# {written}\n")
    assert document.title == words
    assert read_document("a.md", f"# {written} {{#here}}\n").title == words


@pytest.mark.parametrize(
    "title", ["CU*BASE", "5 * 3 * 2", "for <user>", "snake_case_name", "AT&T", "a[i][j]", "[draft] Pay"]
)
def test_a_title_keeps_signs_that_are_no_markup(title: str) -> None:
    assert read_document("a.md", f"# {title}\n").title == title


def test_a_heading_of_markup_alone_is_no_title() -> None:
    assert read_document("a/month-end.md", "# ![](logo.png)\n\n# <br>\n").title == "Month end"


def test_without_frontmatter_the_path_is_the_id_and_the_status_is_approved() -> None:
    document = read_document("a/b.md", "text")
    assert (document.id, document.meta.status, document.body) == ("a/b", "approved", 0)


@pytest.mark.parametrize(
    ("yaml", "sentence"),
    [
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("a: *x", "anchors and aliases"),
        ("a: !!python/object:os.system x", "tags"),
        ("title: a\ntitle: b", "appears twice"),
        ("a:\n\t- b", "Line 3"),
        ("- just\n- a list", "a name, a colon and a value"),
        ("a: " + "[" * 50 + "]" * 50, "nested more than"),
        ("review_due: soon", "Line 2: review_due is 'soon'"),
        ("title: [a, b]", "must be one line of text"),
        ("effective_date: 31.1.2025", "YYYY-MM-DD"),
        ("effective_date: 2025-02-30", "YYYY-MM-DD"),
        ("id: ../../etc/passwd", "may hold only letters"),
        ("tags: {a: b}", "must be a list"),
        ("? [complex, key]\n: v", "key must be plain text"),
        ("a: 'open", "cannot be read"),
        ("a: 1\n--- \nb: 2", None),
    ],
)
def test_frontmatter_that_is_wrong_or_hostile_is_refused_with_a_line(yaml: str, sentence: str | None) -> None:
    text = f"---\n{yaml}\n---\nbody\n"
    if sentence is None:
        assert read_document("x.md", text).meta.extra == {"a": "1"}, "the first --- closes the frontmatter"
        return
    with pytest.raises(BadInput, match=sentence.replace("(", r"\(")):
        read_document("x.md", text)


def test_a_yaml_bomb_is_refused_before_it_grows() -> None:
    bomb = "a: &a [x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    with pytest.raises(BadInput, match="anchors and aliases"):
        read_fields(bomb)


def test_frontmatter_over_the_limit_is_refused() -> None:
    with pytest.raises(BadInput, match="longer than"):
        split("---\n" + "x: y\n" * 5000 + "---\n")


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"ok \xff\xfe", "Line 1 is not valid UTF-8"),
        (b"one\ntwo \xe9\n", "Line 2 is not valid UTF-8"),
        (b"a\0b", "NUL"),
        (b"x" * (1024 * 1024 + 1), "the limit is"),
        (b"\n" * 20_001, "lines"),
    ],
)
def test_bytes_that_are_no_document_are_refused(raw: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        decode(raw)


def test_marks_and_line_ends_are_normalised() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n") == "a\nb\nc\n"


@examples(400)
@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_document_or_a_sentence(raw: bytes) -> None:
    try:
        document = read_document("x.md", decode(b"---\n" + raw + b"\n---\nbody"))
    except ConcordError as error:
        assert len(str(error)) > 10
    else:
        assert document.title


YAML = st.recursive(
    st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@examples(300)
@given(
    st.dictionaries(
        st.sampled_from(["id", "title", "status", "tags", "owner", "answers", "effective_date", "x"]), YAML, max_size=6
    )
)
def test_any_frontmatter_ends_in_a_document_or_a_sentence(value: dict[str, object]) -> None:
    import yaml

    try:
        read_document("x.md", f"---\n{yaml.safe_dump(value, allow_unicode=True)}---\nbody")
    except ConcordError as error:
        assert str(error)


BAD_PATHS = [
    "../a.md",
    "a/../b.md",
    "/etc/passwd.md",
    "a//b.md",
    "a/./b.md",
    "a\0b.md",
    "a\nb.md",
    "a\u202eb.md",
    "con.md",
    "a/NUL.md",
    "COM1.x.md",
    "a.txt",
    "a",
    "",
    ".git/config.md",
    ".hidden.md",
    "a/.b/c.md",
    "-rf.md",
    "a/ b.md",
    "a /b.md",
    "a./b.md",
    "a:b.md",
    "a\\b.md",
    "a?.md",
    "a*.md",
    "a|b.md",
    "x" * 200 + ".md",
    "/".join("abcdefghij" * 26) + ".md",
    "~/a.md",
    "a\ud800.md",
    "é" * 100 + ".md",
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=repr)
def test_odd_paths_are_refused(path: str) -> None:
    with pytest.raises(BadInput, match="path"):
        safe_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "finance/close/month-end.md",
        "Ünï (v2) & co, 漢字.md",
        "_index.md",
        "FIN-POL-001.md",
        "it's @ 1+1=2.md",
        "FAQ – 2024.md",
        "what’s new.md",
        "C#.md",
        "नीति.md",
    ],
)
def test_plain_paths_pass(path: str) -> None:
    assert safe_path(path) == path


def test_paths_have_one_unicode_spelling_and_collide_by_case() -> None:
    assert safe_path("cafe\u0301.md") == "caf\u00e9.md"
    assert collision_key("A/Straße.md") == collision_key("a/STRASSE.md")


@given(st.text(max_size=40))
def test_any_path_is_safe_or_refused(path: str) -> None:
    try:
        name = safe_path(path + ".md")
    except BadInput:
        return
    assert not name.startswith(("/", "-", "."))
    assert ".." not in name.split("/")
    assert name.isprintable()


@pytest.mark.parametrize("value", ["", "-x", "a b", "a/b", "x" * 65, "é", "a\n"])
def test_odd_ids_and_names_are_refused(value: str) -> None:
    with pytest.raises(BadInput):
        safe_id(value)
    with pytest.raises(BadInput, match="of a query set may hold only"):
        safe_name(value, "a query set")


@pytest.mark.parametrize(
    "value", ["HEAD", "main~1", "--all", "refs/heads/x", "change/../x", "a..b", "@{-1}", "main\n", "zzzz"]
)
def test_only_commits_and_own_branches_are_revisions(value: str) -> None:
    with pytest.raises(BadInput):
        safe_revision(value)
