"""Writing frontmatter, comparing chunks, and what an author does to one document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import App
from core.chunking.changed import compare
from core.curation.document.frontmatter import read_document, split
from core.curation.document.frontmatter_edit import with_body, with_fields
from core.errors import BadInput, ConcordError, Conflict
from core.services.knowledge.blame import approval, blame
from core.services.reviews.authoring import (
    Target,
    check_new_path,
    deleted,
    moved,
    restored,
    save,
    touching,
    with_status,
)
from core.types import Chunk
from tests.conftest import demo, put

TEXT = (
    "---\nid: A-1   # never changes\ntitle: 'Old'\ncustom: {a: 1}\ntags:\n  - x\n  - y\nreview_due: "
    "2026-01-01\n---\n\n# Old\n\ntext\n"
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
lines = st.builds(lambda text: " ".join("".join(c if c.isprintable() else " " for c in text).split()), words)
kept = lines.filter(lambda text: text not in ("~", "null"))


@given(
    title=kept,
    owner=kept,
    tags=st.lists(kept.filter(bool), max_size=4),
    answers=st.lists(kept.filter(bool), max_size=4),
)
def test_what_is_written_is_what_is_read_whatever_the_words(
    title: str, owner: str, tags: list[str], answers: list[str]
) -> None:
    values = {"title": title, "owner": owner, "tags": tuple(tags), "answers": tuple(answers)}
    try:
        made = with_fields(TEXT, values)
    except BadInput as error:
        assert "longer than" in str(error), error
        return
    meta = read_document("a.md", made).meta
    assert (meta.title, meta.owner, meta.tags, meta.answers) == tuple(values.values())
    assert made[split(made)[1] :] == TEXT[split(TEXT)[1] :], "the body is untouched"
    assert "id: A-1   # never changes\n" in made
    assert "custom: {a: 1}\n" in made


def test_equal_values_leave_every_character_as_it_was() -> None:
    meta = read_document("a.md", TEXT).meta
    assert with_fields(TEXT, {"title": "Old", "tags": meta.tags, "review_due": meta.review_due}) == TEXT


def test_a_field_in_several_lines_is_replaced_as_a_whole_and_an_empty_one_removed() -> None:
    made = with_fields(TEXT, {"tags": ("z",), "review_due": None})
    assert made.split("---")[1] == "\nid: A-1   # never changes\ntitle: 'Old'\ncustom: {a: 1}\ntags: [z]\n"


def test_an_unusual_frontmatter_is_left_to_a_person() -> None:
    with pytest.raises(BadInput, match="Edit the whole file"):
        with_fields("---\n{title: Old, owner: Ann}\n---\ntext\n", {"title": "New"})


def test_a_document_without_frontmatter_gets_one_only_when_something_is_set() -> None:
    assert with_fields("# A\n", {"title": "", "tags": ()}) == "# A\n"
    assert with_fields("# A\n", {"owner": "Ann"}) == "---\nowner: Ann\n---\n# A\n"
    assert with_body("# A\n", "# B\n") == "# B\n"


@given(st.lists(st.sampled_from("abcdef"), max_size=8), st.lists(st.sampled_from("abcdef"), max_size=8))
def test_every_chunk_is_accounted_for_once_and_in_order(old: list[str], new: list[str]) -> None:
    before, after = ([Chunk(text, "d", 0, 0, f"{text} one two") for text in texts] for texts in (old, new))
    pairs = compare(before, after)
    assert [pair.before for pair in pairs if pair.before] == before
    assert [pair.after for pair in pairs if pair.after] == after
    assert all(pair.kind == "same" for pair in compare(before, before))


# ---------------------------------------------------------------- authoring


def test_an_author_moves_retires_and_restores(app: App) -> None:
    first = put(app, {"a.md": "# A\n\none\n", "b.md": "# B\n"})
    put(app, {"a.md": "# A\n\ntwo\n"})
    documents = app.knowledge.documents
    assert moved(documents, "a.md", "x/a.md") == {"a.md": None, "x/a.md": b"# A\n\ntwo\n"}
    assert with_status(documents, "a.md", "retired") == {"a.md": b"---\nstatus: retired\n---\n# A\n\ntwo\n"}
    assert restored(documents, "a.md", first, "a.md") == {"a.md": b"# A\n\none\n"}
    assert deleted(documents, "a.md") == {"a.md": None}
    for path, sentence in (
        ("B.md", "already is a document at b.md"),
        ("../b.md", "not a plain file"),
        ("a.txt", "must end"),
    ):
        with pytest.raises(BadInput, match=sentence):
            check_new_path(documents, path)
    with pytest.raises(BadInput, match="already is at this path"):
        moved(documents, "a.md", "a.md")
    with pytest.raises(BadInput, match="same as what is approved"):
        restored(documents, "b.md", first, "b.md")


def test_saving_from_an_old_text_never_undoes_what_was_merged_meanwhile(app: App) -> None:
    seen = put(app, {"a.md": "# A\n\none\n\n\n\n\nlast\n"})
    put(app, {"a.md": "# A\n\ntwo\n\n\n\n\nlast\n"})
    author = app.people.accounts.actor("author")
    change = save(app.reviews.changes, author, Target(title="End", base=seen), {"a.md": b"# A\n\none\n\n\n\n\nend\n"})
    assert change.conflicts == ()
    assert [one.id for one in touching(app.reviews.changes, demo("author"), "a.md")] == [change.id]
    clash = save(
        app.reviews.changes, author, Target(title="Same", base=seen), {"a.md": b"# A\n\nthree\n\n\n\n\nlast\n"}
    )
    assert clash.conflicts == ("a.md",)
    with pytest.raises(BadInput, match=f"Change {change.id} already edits a.md"):
        save(app.reviews.changes, author, Target(change=change.id), {"a.md": b"# over\n"})
    with pytest.raises(ConcordError):
        save(app.reviews.changes, author, Target(change=change.id, base=seen), {"a.md": b"# late\n"})


def test_conflicts_of_one_document_are_solved_while_others_are_brought_together(app: App) -> None:
    seen = put(app, {"a.md": "one\n", "b.md": "1\n2\n3\n4\n5\n"})
    author = app.people.accounts.actor("author")
    files = {"a.md": b"mine\n", "b.md": b"1!\n2\n3\n4\n5\n"}
    change = save(app.reviews.changes, author, Target(title="Both", base=seen), files)
    put(app, {"a.md": "theirs\n", "b.md": "1\n2\n3\n4\n5!\n"})
    assert app.reviews.changes.get(change.id).conflicts == ("a.md",)
    solved = app.reviews.merger.solve(author, change.id, {"a.md": ("=both",)})
    assert solved.conflicts == ()
    assert app.knowledge.repository.read(solved.head, "a.md") == b"both\n"
    assert app.knowledge.repository.read(solved.head, "b.md") == b"1!\n2\n3\n4\n5!\n"


def test_every_line_knows_who_wrote_it(app: App) -> None:
    put(app, {"a.md": "# A\n\none\n"}, "first")
    author, reviewer = app.people.accounts.actor("author"), app.people.accounts.actor("reviewer")
    number = app.reviews.changes.propose(author, "Two", {"a.md": b"# A\n\none\ntwo\n"}).id
    app.reviews.changes.submit(author, number)
    app.reviews.discussion.approve(reviewer, number)
    merged = app.reviews.merger.merge(author, number)
    found = blame(app.knowledge.documents, "a.md")
    assert [(line.text, line.commit.author.name) for line in found if line.commit and line.text] == [
        ("# A", "Ann Author"),
        ("one", "Ann Author"),
        ("two", "Avery Lindqvist"),
    ]
    assert approval(app.knowledge.repository.log(merged.merged, limit=1)[0][0].message) == "Approved by Petra Voss"


def test_the_page_knows_since_when_a_merge_can_be_found(app: App) -> None:
    put(app, {"a.md": "# A\n\none\n"})
    assert app.knowledge.home.found_since(app.knowledge.repository.head()) == ""
    app.index.builder.build(app.platform.settings.profile())
    assert app.knowledge.home.found_since(app.knowledge.repository.head()) == "2026-11-15T12:00:00+00:00"
    assert app.knowledge.home.found_since(put(app, {"a.md": "# A\n\ntwo\n"})) == ""


def test_an_edit_in_a_change_keeps_what_others_wrote_there_meanwhile(app: App) -> None:
    put(app, {"a.md": "# A\n\none\n\ntwo\n\nthree\n", "b.md": "# B\n\ntext\n"})
    author, other = demo("author"), demo("reviewer")
    change = app.reviews.changes.propose(author, "Edit", {"a.md": b"# A\n\nONE\n\ntwo\n\nthree\n"})
    app.reviews.changes.invite(author, change.id, [other.id])
    app.reviews.changes.edit(other, change.id, {"a.md": b"# A\n\nONE\n\ntwo\n\nTHREE\n"})
    mine = {"a.md": b"# A\n\none again\n\ntwo\n\nthree\n"}
    saved = save(app.reviews.changes, author, Target(change.id, base=change.head), mine)
    assert app.knowledge.repository.read(saved.head, "a.md") == b"# A\n\none again\n\ntwo\n\nTHREE\n"
    with pytest.raises(Conflict, match="Petra Voss edited the same lines of a.md in change #1"):
        save(app.reviews.changes, author, Target(change.id, base=change.head), {"a.md": b"# A\n\nONE\n\ntwo\n\n3\n"})
    more = {
        "b.md": b"# B\n\nmine\n\n![x](b.assets/x.svg)\n",
        "b.assets/x.svg": b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    }
    saved = save(app.reviews.changes, author, Target(change.id, base=change.head), more)
    assert app.knowledge.repository.read(saved.head, "b.md") == more["b.md"], "only the edited document matters"


def test_others_learn_who_types_at_a_document_and_not_what(app: App) -> None:
    author, other = demo("author"), demo("reviewer")
    for place in ("0:it/vpn.md", "4:it/vpn.md", "0:x:it/vpn.md", "new", "pictures of 4:it/vpn.md"):
        app.knowledge.drafts.keep(other, place, "secret words", "")
    others = app.knowledge.drafts.others(author, "it/vpn.md")
    assert {(typing.name, typing.change) for typing in others} == {("Petra Voss", 0), ("Petra Voss", 4)}
    assert app.knowledge.drafts.others(other, "it/vpn.md") == ()
    app.knowledge.drafts.clock.day = "2026-11-17"
    assert app.knowledge.drafts.others(author, "it/vpn.md") == (), "not those who left yesterday"
