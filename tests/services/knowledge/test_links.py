"""A document that moves takes nobody's links with it: all of them lead where they led before."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.curation.document.links import links, rewrite_links
from core.services.reviews.authoring import moved
from core.types import Document
from tests.conftest import demo, put

PATHS = ("a.md", "it/b.md", "it/deep/c d.md", "hr/é(1).md")
LONG = "\nSix weeks for everybody, and the same again for those who care for a child at home.\n"
paths = st.sampled_from(PATHS)


def written(path: str, to: str, style: int, anchor: str) -> str:
    """A link from one document to another, in one of the ways people write them."""
    up = "../" * path.count("/")
    target = (f"{up}{to}", f"/{to}", f"./{up}{to}")[style % 3].replace("%", "%25")
    if style < 3:
        return f"See [x]({target.replace(' ', '%20').replace('(', '%28').replace(')', '%29')}{anchor})."
    return f"See [y](<{target}{anchor}> 'title')."


@given(
    paths,
    st.lists(st.tuples(paths, st.integers(0, 5), st.sampled_from(["", "#top"])), max_size=5),
    paths,
    st.sampled_from(["z.md", "it/z z.md", "new/place/z(2).md"]),
)
def test_every_link_leads_where_it_led_or_to_where_that_moved(
    path: str, wanted: list[tuple[str, int, str]], old: str, new: str
) -> None:
    text = "# T\n\n" + "\n\n".join(written(path, to, style, anchor) for to, style, anchor in wanted) + "\n"
    before = Document("d", path, "T", text)
    after = Document("d", new if path == old else path, "T", rewrite_links(before, {old: new}))
    expected = [(new if link.path == old else link.path, link.anchor) for link in links(before)]
    assert [(link.path, link.anchor) for link in links(after)] == expected
    if old not in [to for to, _, _ in wanted] and path != old:
        assert after.text == text


@pytest.mark.parametrize(
    "text",
    [
        "```\n[x](a.md)\n```\n",
        "Write `[x](a.md)` to link.\n",
        "    [x](a.md)\n",
        "[x](https://example.org/a.md) and [y](mailto:a.md) and [z](#a.md)\n",
        "---\ntitle: '[x](a.md)'\n---\nBody.\n",
        "[x](b.md) and a.md as a word\n",
    ],
)
def test_code_frontmatter_and_other_links_are_left_alone(text: str) -> None:
    body = text.index("Body.") if text.startswith("---") else 0
    assert rewrite_links(Document("d", "d.md", "D", text, body=body), {"a.md": "z.md"}) == text


def test_definitions_are_links_too() -> None:
    text = "See [it][1].\n\n[1]: a.md#top 'A'\n"
    assert rewrite_links(Document("d", "d.md", "D", text), {"a.md": "x/z.md"}) == text.replace("a.md", "x/z.md")


def test_a_line_of_many_links_is_rewritten_in_one_pass() -> None:
    line = "`[c](a.md)` [a](a.md) [b](b.md) "
    few, many = (min(_cpu(line * count) for _ in range(3)) for count in (2_000, 16_000))
    assert many < 24 * few, "eight times the links take about eight times as long, not sixty-four"


def _cpu(text: str) -> float:
    began = time.process_time()
    moved = rewrite_links(Document("d", "d.md", "D", text), {"q.md": "z.md"})
    assert moved == text
    return time.process_time() - began


def test_a_move_fixes_links_in_the_same_change(app: App) -> None:
    files = {
        "hr/leave.md": f"# Leave\n\nAsk [payroll](../finance/pay.md).\n{LONG}",
        "finance/pay.md": "# Pay\n\n[Leave](../hr/leave.md#days).\n",
        "it/vpn.md": "# VPN\n\nNothing.\n",
    }
    put(app, dict(files))
    made = moved(app.knowledge.documents, "hr/leave.md", "people/time/leave.md")
    assert made == {
        "hr/leave.md": None,
        "people/time/leave.md": f"# Leave\n\nAsk [payroll](../../finance/pay.md).\n{LONG}".encode(),
        "finance/pay.md": b"# Pay\n\n[Leave](../people/time/leave.md#days).\n",
    }
    assert set(moved(app.knowledge.documents, "hr/leave.md", "people/leave.md", fix_links=False)) == {
        "hr/leave.md",
        "people/leave.md",
    }
    change = app.reviews.changes.propose(demo("author"), "Move", made)
    assert [(edit.kind, edit.path) for edit in change.documents] == [
        ("edited", "finance/pay.md"),
        ("renamed", "people/time/leave.md"),
    ]
    assert not [one for one in change.findings if one.rule == "links" and "no such document" in one.message]
