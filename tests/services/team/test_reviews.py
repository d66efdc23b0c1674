"""Changes through the services: edits, talk, suggestions, conflicts, merges, reverts, accounts, audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import event

from core.access import Actor
from core.bootstrap import App
from core.curation.review.diffs import diff
from core.errors import BadInput, Conflict, NotFound, Refused, Stale
from core.services.people.accounts import DEMO, NewAccount
from core.services.people.audit import as_csv
from core.services.reviews.diff import Look, News
from core.services.reviews.discussion import CommentPlace
from core.storage.state.transactions import Statements
from tests.conftest import NoProcesses, demo, put, small_app, sql

READER, AUTHOR, AUTHOR2, REVIEWER, REVIEWER2, ADMIN = DEMO
TEXT = (
    "---\ntitle: Keeping records\nowner: Finance\nreview_due: 2026-01-01\n---\n# Keeping records\n\nKeep them 5 "
    "years.\n\nThen shred.\n"
)


@pytest.fixture
def reviews_app(tmp_path: Path) -> App:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"finance/records.md": TEXT, "it/vpn.md": "# VPN\n\nUse it.\n"})
    app.reviews.merger.repair()
    return app


def changed(old: str, new: str) -> dict[str, bytes | None]:
    return {"finance/records.md": TEXT.replace(old, new).encode()}


def approved(app: App, files: dict[str, bytes | None], title: str = "Longer") -> int:
    number = app.reviews.changes.propose(AUTHOR, title, files, "The law changed.").id
    app.reviews.changes.submit(AUTHOR, number)
    app.reviews.discussion.approve(REVIEWER, number)
    return number


@pytest.mark.sqlite
def test_what_is_stored_about_a_change_is_read_once_until_somebody_commits(reviews_app: App) -> None:
    changes, number = reviews_app.reviews.changes, approved(reviews_app, changed("5 years", "7 years"))
    first, asked = changes.get(number), list[str]()
    event.listen(changes.database.engine, "before_cursor_execute", lambda *said: asked.append(said[2]))
    assert [changes.get(number), changes.show(REVIEWER, number), changes.own_work(AUTHOR2, number)] == [
        first,
        first,
        "",
    ]
    assert asked == []
    sql(reviews_app, f"UPDATE changes SET title = 'By another program' WHERE id = {number}")
    assert changes.get(number).title == "By another program"
    changes.describe(AUTHOR, number, "By this one", "")
    assert changes.get(number).title == "By this one"


def test_a_merge_is_one_commit_that_names_who_wrote_and_reviewed(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "Longer", changed("5 years", "7 years"), "The law changed.").id
    reviews_app.reviews.changes.invite(AUTHOR, number, ["author2"])
    reviews_app.reviews.changes.edit(AUTHOR2, number, changed("5 years", "7 full years"))
    reviews_app.reviews.changes.submit(AUTHOR, number)
    reviews_app.reviews.discussion.approve(REVIEWER, number)
    before = len(reviews_app.knowledge.repository.log(reviews_app.knowledge.repository.head()))
    merged = reviews_app.reviews.merger.merge(AUTHOR, number)
    steps = reviews_app.knowledge.repository.log(reviews_app.knowledge.repository.head())
    assert (len(steps), merged.state) == (before + 1, "merged")
    message = steps[0][0].message
    assert steps[0][0].author.name == AUTHOR.name
    assert "The law changed." in message
    assert f"Change: {number}" in message
    assert f"Reviewed-by: {REVIEWER.name} <{REVIEWER.email}>" in message
    assert f"Co-authored-by: {AUTHOR2.name} <{AUTHOR2.email}>" in message
    assert "7 full years" in reviews_app.knowledge.documents.show("finance/records.md").text
    assert reviews_app.platform.jobs.recent()[0].kind == "reindex"


def test_a_draft_touches_nothing_that_is_approved(reviews_app: App) -> None:
    head = reviews_app.knowledge.repository.head()
    reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "9"))
    assert reviews_app.knowledge.repository.head() == head
    assert "9 years" not in reviews_app.knowledge.documents.show("finance/records.md").text


@pytest.mark.parametrize("actor", [READER])
def test_readers_propose_nothing(reviews_app: App, actor: object) -> None:
    with pytest.raises(Refused, match="Only authors and above may propose a change; Robin Falk is a reader"):
        reviews_app.reviews.changes.propose(READER, "T", changed("5", "9"))


@pytest.mark.parametrize(
    ("path", "raw", "why"),
    [
        ("../x.md", b"# X", "not a plain file"),
        ("x.md", b"", "empty"),
        ("x.md", b"\xff\xfe", "UTF-8"),
        ("x.md", b"a\0b", "NUL"),
        ("FINANCE/records.md", b"# X", "differ only in case"),
        ("it/vpn.md/x.md", b"# X", "cannot stand beside"),
    ],
)
def test_bad_files_are_refused_and_nothing_is_left(reviews_app: App, path: str, raw: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        reviews_app.reviews.changes.propose(AUTHOR, "T", {path: raw})
    assert reviews_app.reviews.changes.all() == ()
    assert reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6")).state == "draft"


def test_broken_frontmatter_may_be_drafted_but_not_submitted(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", {"x.md": b"---\nreview_due: soon\n---\n# X\n"}).id
    with pytest.raises(Refused, match="x.md: Line 2: review_due is 'soon'"):
        reviews_app.reviews.changes.submit(AUTHOR, number)
    reviews_app.reviews.changes.edit(AUTHOR, number, {"x.md": b"---\nstatus: approved\n---\n# X\n"})
    assert reviews_app.reviews.changes.submit(AUTHOR, number).state == "in review"


def test_an_edit_on_top_of_somebody_elses_is_refused(reviews_app: App) -> None:
    one = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6"))
    reviews_app.reviews.changes.invite(AUTHOR, one.id, ["author2"])
    reviews_app.reviews.changes.edit(AUTHOR2, one.id, changed("5", "7"))
    with pytest.raises(Conflict, match="moved on"):
        reviews_app.reviews.changes.edit(AUTHOR, one.id, changed("5", "8"), expected=one.head)


def test_a_reviewer_who_saw_older_text_cannot_approve_the_new(reviews_app: App) -> None:
    one = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6"))
    reviews_app.reviews.changes.submit(AUTHOR, one.id)
    reviews_app.reviews.changes.edit(AUTHOR, one.id, changed("5", "7"))
    with pytest.raises(Refused, match="edited after you opened it"):
        reviews_app.reviews.discussion.approve(REVIEWER, one.id, head=one.head)


def test_whoever_read_older_text_cannot_merge_the_new(reviews_app: App) -> None:
    read = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6"))
    reviews_app.reviews.changes.submit(AUTHOR, read.id)
    now = reviews_app.reviews.changes.edit(AUTHOR, read.id, changed("5", "7"))
    reviews_app.reviews.discussion.approve(REVIEWER, read.id, head=now.head)
    with pytest.raises(Refused, match="edited after you opened it"):
        reviews_app.reviews.merger.merge(AUTHOR, read.id, head=read.head)
    assert reviews_app.reviews.merger.merge(AUTHOR, read.id, head=now.head).state == "merged"


def test_a_comment_on_lines_is_for_the_text_that_was_shown(reviews_app: App) -> None:
    one = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6"))
    moved = changed("# Keeping records\n", "# Keeping records\n\nFor all.\n")
    now = reviews_app.reviews.changes.edit(AUTHOR, one.id, moved)
    with pytest.raises(Refused, match="edited after you opened it"):
        reviews_app.reviews.discussion.comment(
            REVIEWER, one.id, "Why?", CommentPlace("finance/records.md", 8), head=one.head
        )
    made = reviews_app.reviews.discussion.comment(
        REVIEWER, one.id, "Why?", CommentPlace("finance/records.md", 8), head=now.head
    )
    assert (made.line, made.quote) == (8, "For all.")


def test_a_suggestion_is_applied_where_its_words_stand_now(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    reviews_app.reviews.changes.submit(AUTHOR, number)
    body = "Say which.\n```suggestion\nKeep them 7 years after closing.\n```"
    made = reviews_app.reviews.discussion.comment(REVIEWER, number, body, CommentPlace("finance/records.md", 8))
    moved = TEXT.replace("5 years", "7 years").replace("# Keeping records\n", "# Keeping records\n\nFor all.\n")
    reviews_app.reviews.changes.edit(AUTHOR, number, {"finance/records.md": moved.encode()})
    assert reviews_app.reviews.discussion.comments(demo("admin"), number)[0].line == 10
    reviews_app.reviews.discussion.apply(AUTHOR, number, made.id)
    text = reviews_app.knowledge.repository.read(
        reviews_app.reviews.changes.get(number).head, "finance/records.md"
    ).decode()
    assert "Keep them 7 years after closing.\n\nThen shred." in text
    assert reviews_app.reviews.discussion.comments(demo("admin"), number)[0].resolved
    with pytest.raises(Refused, match="applied before"):
        reviews_app.reviews.discussion.apply(AUTHOR, number, made.id)
    reviews_app.reviews.discussion.approve(REVIEWER, number)
    reviews_app.reviews.merger.merge(AUTHOR, number)
    message = reviews_app.knowledge.repository.log(reviews_app.knowledge.repository.head())[0][0].message
    assert f"Suggested-by: {REVIEWER.name} <{REVIEWER.email}>" in message


STRICT = b"rules:\n  - match: finance/\n    suggestions: count\n"


@pytest.mark.parametrize(
    ("by", "rules", "refusal"),
    [
        (AUTHOR, None, ""),
        (AUTHOR, STRICT, "the review rule of finance/ counts applied suggestions"),
        (replace(AUTHOR, kind="service"), None, "Petra Voss wrote some of its words"),
        (REVIEWER, None, "Petra Voss wrote some of its words"),
    ],
    ids=["another person", "under a rule that counts them", "a program", "the suggester"],
)
def test_a_suggestion_is_the_edit_of_the_person_who_applies_it(
    reviews_app: App, by: Actor, rules: bytes | None, refusal: str
) -> None:
    """A change may consist of suggestions alone: the person who applied them is its writer, and never approves it."""
    if rules:
        put(reviews_app, {"review-rules.yaml": rules.decode()})
    changes, talk = reviews_app.reviews.changes, reviews_app.reviews.discussion
    number = changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    changes.submit(AUTHOR, number, [REVIEWER.id])
    changes.invite(AUTHOR, number, [REVIEWER.id])
    made = talk.comment(
        REVIEWER, number, "```suggestion\nKeep them 9 years.\n```", CommentPlace("finance/records.md", 8)
    )
    talk.apply(by, number, made.id)
    assert refusal in changes.own_work(REVIEWER, number)
    assert [request.account for request in changes.get(number).asked] == ([] if refusal else [REVIEWER.id])
    with pytest.raises(Refused, match="Avery Lindqvist is its author"):
        talk.approve(replace(AUTHOR, role="reviewer"), number)
    if refusal:
        with pytest.raises(Refused, match=refusal):
            talk.approve(REVIEWER, number)
    else:
        assert talk.approve(REVIEWER, number).state == "approved"


def test_a_comment_on_a_removed_line_keeps_its_place_through_later_edits(reviews_app: App) -> None:
    path, moved = "finance/kept.md", TEXT.replace("Then shred.\n", "")
    files: dict[str, bytes | None] = {"finance/records.md": None, path: moved.encode()}
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", files).id
    talk, place = reviews_app.reviews.discussion, CommentPlace(path, 10, removed=True)
    made = talk.comment(REVIEWER, number, "Who shreds them now?", place)
    assert (made.line, made.quote, made.removed) == (10, "Then shred.", True)
    reviews_app.reviews.changes.edit(AUTHOR, number, {path: f"{moved}\nAsk Finance.\n".encode()})
    put(reviews_app, {"it/else.md": "# Else\n\nNew.\n"})
    assert talk.comments(REVIEWER, number)[0].line == 10
    with pytest.raises(BadInput, match="has lines 1 to 10, not 11"):
        talk.comment(REVIEWER, number, "Why?", CommentPlace(path, 11, removed=True))
    body = "```suggestion\nThen burn.\n```"
    suggestion = talk.comment(REVIEWER, number, body, place)
    with pytest.raises(Refused, match="The change removes these lines"):
        talk.apply(AUTHOR, number, suggestion.id)


def test_what_is_applied_is_what_was_read(reviews_app: App) -> None:
    """A reviewer who may approve an applied suggestion must not exchange its words under the author's eyes."""
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    talk, body = reviews_app.reviews.discussion, "```suggestion\nKeep them 9 years.\n```"
    suggestion, remark = (
        talk.comment(REVIEWER, number, text, CommentPlace("finance/records.md", 8)).id for text in (body, "Why?")
    )
    for comment, text in ((suggestion, "Why?"), (suggestion, body.replace("9", "1")), (remark, body)):
        with pytest.raises(Refused, match="A suggestion keeps its text"):
            talk.edit_comment(REVIEWER, number, comment, text)


# ---------------------------------------------------------------- whose it is


def test_only_its_authors_rewrite_retitle_submit_and_close_a_change(reviews_app: App) -> None:
    changes, talk = reviews_app.reviews.changes, reviews_app.reviews.discussion
    number = changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    made = talk.comment(AUTHOR2, number, "```suggestion\nShorter.\n```", CommentPlace("finance/records.md", 8))
    tries: list[Callable[[Actor], object]] = [
        lambda who: changes.edit(who, number, changed("5 years", "9 years")),
        lambda who: changes.describe(who, number, "Mine now", ""),
        lambda who: changes.submit(who, number),
        lambda who: talk.apply(who, number, made.id),
    ]
    before = changes.get(number)
    for attempt in tries:
        for who in (AUTHOR2, REVIEWER):
            with pytest.raises(Refused, match=f"Only {AUTHOR.name} may .*sk {AUTHOR.name} to invite you"):
                attempt(who)
        with pytest.raises(Refused, match="nvite yourself to take it over"):
            attempt(demo("admin"))
    for who in (AUTHOR2, REVIEWER):
        with pytest.raises(Refused, match=f"Only {AUTHOR.name} may close this change"):
            changes.close(who, number)
    assert changes.get(number) == before
    changes.submit(AUTHOR, number)
    with pytest.raises(Refused, match="may take back this change"):
        changes.withdraw(AUTHOR2, number)
    assert changes.withdraw(REVIEWER, number).state == "draft"
    assert changes.close(demo("admin"), number).state == "closed"
    with pytest.raises(Refused, match="may reopen this change"):
        changes.reopen(AUTHOR2, number)
    assert changes.reopen(AUTHOR, number).state == "draft"


def inbox(app: App, who: Actor) -> list[str]:
    return [message.sentence for message in app.inbox.messages.listed(who)]


def test_who_is_invited_is_told_and_works_on_it_until_they_are_removed(reviews_app: App) -> None:
    changes = reviews_app.reviews.changes
    number = changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    with pytest.raises(Refused, match=f"Only {AUTHOR.name} or an admin may invite"):
        changes.invite(AUTHOR2, number, ["author2"])
    with pytest.raises(BadInput, match="Robin Falk is a reader"):
        changes.invite(AUTHOR, number, ["reader"])
    invited = changes.invite(AUTHOR, number, [AUTHOR2.name])
    assert [(each.account, each.inviter) for each in invited.co_authors] == [("author2", AUTHOR.name)]
    assert inbox(reviews_app, AUTHOR2) == [f"{AUTHOR.name} invites you to work on T"]
    assert [change.id for change in changes.listed(AUTHOR2, author="author2")] == [number]
    with pytest.raises(BadInput, match="is an author of this change already"):
        changes.invite(AUTHOR, number, ["author2"])
    with pytest.raises(Refused, match="or an admin may invite"):
        changes.invite(AUTHOR2, number, ["reviewer"])
    changes.describe(AUTHOR2, number, "Ours", "")
    changes.submit(AUTHOR2, number)
    reviews_app.reviews.discussion.comment(REVIEWER, number, "Why?")
    assert f"{REVIEWER.name} commented on Ours" in inbox(reviews_app, AUTHOR2)
    assert changes.uninvite(AUTHOR2, number, ["author2"]).co_authors == ()
    assert f"{AUTHOR.name} invites you to work on T" not in inbox(reviews_app, AUTHOR2)
    with pytest.raises(Refused, match="Only .* may edit this change"):
        changes.edit(AUTHOR2, number, changed("5 years", "8 years"))


def test_an_admin_takes_a_change_over_and_its_author_is_told(reviews_app: App) -> None:
    changes, admin = reviews_app.reviews.changes, demo("admin")
    number = changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    reviews_app.people.accounts.set_role(admin, "author", "reader")
    assert changes.get(number).author_left
    with pytest.raises(Refused, match="ask an admin to take it over"):
        changes.edit(AUTHOR2, number, changed("5 years", "8 years"))
    with pytest.raises(Refused, match="or an admin may invite"):
        changes.invite(replace(admin, scope="review"), number, ["admin"])
    changes.invite(admin, number, ["admin", "author2"])
    assert changes.submit(AUTHOR2, number).state == "in review"
    assert inbox(reviews_app, AUTHOR) == [f"{admin.name} invited others to work on your change T"]
    terminal = Actor("root@localhost", "root", "root@localhost", "admin", "command line")
    changes.invite(terminal, number, ["root@localhost"])
    assert changes.edit(terminal, number, changed("5 years", "9 years")).editors[-1] == "root"
    changes.uninvite(terminal, number, ["root@localhost"])
    assert reviews_app.people.audit.entries(admin, action="invite co-author")[1].detail == "admin, author2"
    assert reviews_app.reviews.discussion.approve(admin, number).state == "approved", "nobody wrote it but the author"


def test_the_draft_of_an_agent_is_anybodys_to_submit(reviews_app: App) -> None:
    changes, accounts = reviews_app.reviews.changes, reviews_app.people.accounts
    accounts.add(demo("admin"), NewAccount("bot", "Bot", "bot@example.org", "author", kind="agent"))
    number = changes.propose(accounts.actor("bot"), "T", changed("5 years", "7 years")).id
    assert changes.get(number).common
    assert changes.submit(AUTHOR2, number).state == "in review"


def test_an_update_that_takes_main_in_makes_nobody_an_author(reviews_app: App) -> None:
    changes, store = reviews_app.reviews.changes, reviews_app.knowledge.repository
    one = changes.propose(AUTHOR, "T", changed("5 years", "7 years"))
    changes.submit(AUTHOR, one.id)
    put(reviews_app, {"it/new.md": "# New\n\nBy others.\n"})
    store.update_branch(f"change/{one.id}", store.head(), {}, REVIEWER.person, "Update", expected=one.head)
    now = changes.get(one.id)
    assert (now.head != one.head, now.editors) == (True, (AUTHOR.name,))
    assert reviews_app.reviews.discussion.approve(REVIEWER, one.id).state == "approved"


def test_words_behind_a_merge_made_elsewhere_have_their_writer(reviews_app: App) -> None:
    """A branch that somebody merged into the change by their own git hides nobody."""
    changes, store = reviews_app.reviews.changes, reviews_app.knowledge.repository
    one = changes.propose(AUTHOR, "T", changed("5 years", "7 years"))
    store.commit("change/9", {"it/side.md": b"# Side\n\nBy a reviewer.\n"}, REVIEWER.person, "Side", start=one.start)
    store.update_branch(f"change/{one.id}", store.head("change/9"), {}, AUTHOR.person, "Merge side", expected=one.head)
    changes.submit(AUTHOR, one.id)
    with pytest.raises(Refused, match="Petra Voss wrote some of its words"):
        reviews_app.reviews.discussion.approve(REVIEWER, one.id)


def test_the_line_beside_a_change_is_the_line_that_a_comment_quotes(reviews_app: App) -> None:
    text = TEXT.replace("Keep them", "Keep\u2028all of\x0cthem").replace("shred", "burn")
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", {"finance/records.md": text.encode()}).id
    shown = next(row for row in diff(TEXT, text).rows if "burn" in "".join(words for _, words in row.after))
    made = reviews_app.reviews.discussion.comment(
        REVIEWER, number, "Why?", CommentPlace("finance/records.md", shown.right)
    )
    assert (made.line, made.quote) == (10, "Then burn.")


def test_replies_belong_to_their_conversation(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6")).id
    first = reviews_app.reviews.discussion.comment(REVIEWER, number, "Why?")
    answer = reviews_app.reviews.discussion.comment(AUTHOR, number, "Because.", thread=first.id)
    again = reviews_app.reviews.discussion.comment(REVIEWER, number, "I see.", thread=answer.id)
    assert (answer.thread, again.thread) == (first.id, first.id)
    assert reviews_app.reviews.changes.get(number).conversations == 1
    reviews_app.reviews.discussion.resolve(AUTHOR, number, first.id)
    assert reviews_app.reviews.changes.get(number).conversations == 0


def test_comments_on_what_the_change_does_not_touch_are_refused(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5", "6")).id
    with pytest.raises(BadInput, match="does not touch 'it/vpn.md'"):
        reviews_app.reviews.discussion.comment(REVIEWER, number, "x", CommentPlace("it/vpn.md", 1))
    with pytest.raises(BadInput, match="lines 1 to"):
        reviews_app.reviews.discussion.comment(REVIEWER, number, "x", CommentPlace("finance/records.md", 999))
    with pytest.raises(NotFound):
        reviews_app.reviews.discussion.comment(REVIEWER, number, "x", thread=99)


def test_a_conflict_is_solved_hunk_by_hunk_and_voids_approval(reviews_app: App) -> None:
    number = approved(reviews_app, changed("5 years", "7 years"))
    other = approved(reviews_app, changed("5 years", "10 years"), "Other")
    reviews_app.reviews.merger.merge(AUTHOR, other)
    now = reviews_app.reviews.changes.get(number)
    assert now.conflicts == ("finance/records.md",)
    with pytest.raises(Refused, match="conflicts with what was merged meanwhile"):
        reviews_app.reviews.merger.merge(AUTHOR, number)
    conflict = reviews_app.reviews.merger.collisions(demo("admin"), number)[0]
    assert [part.mine for part in conflict.parts if part.conflict] == [("Keep them 7 years.",)]
    with pytest.raises(BadInput, match="Decide about each document"):
        reviews_app.reviews.merger.solve(AUTHOR, number, {})
    with pytest.raises(BadInput, match="has 1 conflicts"):
        reviews_app.reviews.merger.solve(AUTHOR, number, {"finance/records.md": ()})
    solved = reviews_app.reviews.merger.solve(AUTHOR, number, {"finance/records.md": ("=Keep them 12 years.",)})
    assert (solved.state, solved.conflicts, solved.approvals) == ("in review", (), ())
    reviews_app.reviews.discussion.approve(REVIEWER, number)
    reviews_app.reviews.merger.merge(AUTHOR, number)
    assert "Keep them 12 years." in reviews_app.knowledge.documents.show("finance/records.md").text
    assert tuple(reviews_app.people.audit.problems()) == ()


@pytest.mark.parametrize(("deletes", "keep"), [("theirs", "mine"), ("mine", "theirs")])
def test_a_document_that_one_side_deleted_is_kept_whole_or_not_at_all(
    reviews_app: App, deletes: str, keep: str
) -> None:
    edit, path = changed("5 years", "7 years"), "finance/records.md"
    mine, theirs = ({path: None}, edit) if deletes == "mine" else (edit, {path: None})
    one, two = (reviews_app.reviews.changes.propose(AUTHOR, "T", mine).id for _ in range(2))
    reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, theirs, "Other"))
    conflict = reviews_app.reviews.merger.collisions(demo("admin"), one)[0]
    assert (conflict.gone, [part.conflict for part in conflict.parts]) == (deletes, [True])
    kept = reviews_app.reviews.merger.solve(AUTHOR, one, {path: (keep,)})
    assert reviews_app.knowledge.repository.read(kept.head, path) == edit[path]
    gone = reviews_app.reviews.merger.solve(AUTHOR, two, {path: (deletes,)})
    with pytest.raises(NotFound):
        reviews_app.knowledge.repository.read(gone.head, path)


def test_a_document_that_both_sides_renamed_is_decided_name_by_name(reviews_app: App) -> None:
    def to(name: str, text: str) -> dict[str, bytes | None]:
        return {"finance/records.md": None, name: text.encode()}

    number = reviews_app.reviews.changes.propose(
        AUTHOR, "T", to("finance/keep.md", TEXT.replace("5 years", "7 years"))
    ).id
    reviews_app.reviews.merger.merge(
        AUTHOR, approved(reviews_app, to("finance/store.md", TEXT.replace("5 years", "9 years")), "Other")
    )
    found = {one.path: one.gone for one in reviews_app.reviews.merger.collisions(demo("admin"), number)}
    assert found == {"finance/keep.md": "theirs", "finance/store.md": "mine"}
    choices = {"finance/keep.md": ("mine",), "finance/store.md": ("mine",)}
    solved = reviews_app.reviews.merger.solve(AUTHOR, number, choices)
    assert [entry.path for entry in reviews_app.knowledge.repository.entries(solved.head)] == [
        "finance/keep.md",
        "it/vpn.md",
    ]
    assert reviews_app.knowledge.repository.read(solved.head, "finance/keep.md").decode() == TEXT.replace(
        "5 years", "7 years"
    )
    assert solved.conflicts == ()


def test_an_edit_of_what_the_change_renamed_is_decided_place_by_place(reviews_app: App) -> None:
    moved = {"finance/records.md": None, "finance/keep.md": TEXT.replace("5 years", "7 years").encode()}
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", moved).id
    theirs = TEXT.replace("5 years", "9 years").replace("Then shred", "Then burn")
    reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, {"finance/records.md": theirs.encode()}, "Other"))
    assert [one.gone for one in reviews_app.reviews.merger.collisions(demo("admin"), number)] == [""]
    solved = reviews_app.reviews.merger.solve(AUTHOR, number, {"finance/keep.md": ("mine",)})
    text = reviews_app.knowledge.repository.read(solved.head, "finance/keep.md").decode()
    assert text == TEXT.replace("5 years", "7 years").replace("Then shred", "Then burn")


@pytest.mark.parametrize("moves", ["change", "main line"])
def test_a_decision_about_conflicts_that_are_no_longer_these_is_refused(reviews_app: App, moves: str) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, changed("5 years", "9 years"), "Other"))
    seen = reviews_app.reviews.merger.collisions(demo("admin"), number)[0]
    if moves == "change":
        reviews_app.reviews.changes.edit(AUTHOR, number, changed("5 years", "8 years"))
    else:
        reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, changed("5 years", "10 years"), "Third"))
    head = reviews_app.reviews.changes.get(number).head
    with pytest.raises(Conflict, match="look at the conflicts again"):
        reviews_app.reviews.merger.solve(AUTHOR, number, {seen.path: ("theirs",)}, head=seen.head, main=seen.main)
    assert reviews_app.reviews.changes.get(number).head == head


# ---------------------------------------------------------------- requests for changes


def blocked(app: App) -> int:
    """A change that a reviewer asked to be changed."""
    number = app.reviews.changes.propose(AUTHOR, "T", changed("5 years", "7 years")).id
    app.reviews.changes.submit(AUTHOR, number)
    app.reviews.discussion.request_changes(REVIEWER, number, "Say from when.")
    return number


def test_a_request_for_changes_stays_until_its_reviewer_comes_back(reviews_app: App) -> None:
    number = blocked(reviews_app)
    assert reviews_app.reviews.changes.waiting_for(REVIEWER) == ()
    edited = reviews_app.reviews.changes.edit(AUTHOR, number, changed("5 years", "8 years"))
    assert (edited.state, [block.note for block in edited.blocks]) == ("changes requested", ["Say from when."])
    assert [change.id for change in reviews_app.reviews.changes.waiting_for(REVIEWER)] == [number]
    assert reviews_app.reviews.changes.waiting_for(REVIEWER2) == ()
    other = reviews_app.reviews.discussion.approve(REVIEWER2, number)
    assert (other.state, other.requirements) == ("changes requested", ("Petra Voss requested changes.",))
    with pytest.raises(Refused, match="this one is changes requested"):
        reviews_app.reviews.merger.merge(AUTHOR, number)
    assert reviews_app.reviews.discussion.take_back(REVIEWER, number).state == "approved"
    with pytest.raises(Refused, match="Petra Voss has no verdict"):
        reviews_app.reviews.discussion.take_back(REVIEWER, number)


def test_an_approval_is_taken_back_and_the_change_waits_again(reviews_app: App) -> None:
    number = approved(reviews_app, changed("5", "6"))
    assert reviews_app.reviews.discussion.take_back(REVIEWER, number).state == "in review"
    assert [change.id for change in reviews_app.reviews.changes.waiting_for(REVIEWER)] == [number]


def test_an_admin_lifts_a_request_with_a_reason_that_stays(reviews_app: App) -> None:
    number = blocked(reviews_app)
    reviews_app.reviews.discussion.request_changes(REVIEWER2, number, "Shorter.")
    with pytest.raises(BadInput, match="Say why"):
        reviews_app.reviews.discussion.lift(ADMIN, number, " ")
    with pytest.raises(Refused, match="Only admins may lift a request for changes"):
        reviews_app.reviews.discussion.lift(REVIEWER2, number, "On leave.")
    with pytest.raises(NotFound, match="Who did: reviewer, reviewer2"):
        reviews_app.reviews.discussion.lift(ADMIN, number, "On leave.", "author")
    one = reviews_app.reviews.discussion.lift(ADMIN, number, "On leave.", REVIEWER.id)
    assert [block.who for block in one.blocks] == [REVIEWER2.id]
    assert reviews_app.reviews.discussion.lift(ADMIN, number, "Agreed on the phone.").state == "in review"
    lines = [entry.detail for entry in reviews_app.people.audit.entries(ADMIN, action="lift")]
    assert lines == [f"{REVIEWER2.name}: Agreed on the phone.", f"{REVIEWER.name}: On leave."]


def test_a_request_of_somebody_who_may_no_longer_review_blocks_nobody(reviews_app: App) -> None:
    number = blocked(reviews_app)
    reviews_app.people.accounts.set_role(ADMIN, REVIEWER.id, "author")
    assert reviews_app.reviews.changes.get(number).state == "in review"


# ---------------------------------------------------------------- own comments


def test_own_comments_are_edited_and_deleted_and_the_audit_keeps_their_words(reviews_app: App) -> None:
    number, talk = blocked(reviews_app), reviews_app.reviews.discussion
    first, long = talk.comment(REVIEWER, number, "Whi?"), "x" * 20_000
    assert talk.edit_comment(REVIEWER, number, first.id, "Why?").body == "Why?"
    assert talk.comments(AUTHOR, number)[0].edited
    talk.edit_comment(REVIEWER, number, first.id, long)
    for actor in (AUTHOR, ADMIN):
        with pytest.raises(Refused, match="Only Petra Voss may edit"):
            talk.edit_comment(actor, number, first.id, "No.")
    with pytest.raises(Refused, match="Petra Voss or an admin may delete"):
        talk.delete_comment(AUTHOR, number, first.id)
    with pytest.raises(BadInput, match="Delete it instead"):
        talk.edit_comment(REVIEWER, number, first.id, " ")
    talk.delete_comment(ADMIN, number, first.id)
    with pytest.raises(NotFound, match="no comment"):
        talk.edit_comment(REVIEWER, number, first.id, "Why?")
    (gone,) = talk.comments(AUTHOR, number)
    assert (gone.body, bool(gone.deleted), reviews_app.reviews.changes.get(number).conversations) == ("", True, 0)
    kept = [entry.detail for entry in reviews_app.people.audit.entries(ADMIN, change=number)]
    assert f"{first.id}: Whi?" in kept
    assert f"{first.id}, by Petra Voss: {long}" in kept


def test_a_conversation_lives_on_without_its_first_comment(reviews_app: App) -> None:
    number, talk = blocked(reviews_app), reviews_app.reviews.discussion
    first = talk.comment(REVIEWER, number, "Why?")
    answer = talk.comment(AUTHOR, number, "Because.", thread=first.id)
    talk.delete_comment(REVIEWER, number, first.id)
    assert reviews_app.reviews.changes.get(number).conversations == 1
    talk.comment(AUTHOR, number, "More.", thread=first.id)
    talk.delete_comment(AUTHOR, number, answer.id)
    assert reviews_app.reviews.changes.get(number).conversations == 1


# ---------------------------------------------------------------- the last look


def test_the_second_look_shows_what_others_did_since_the_first(reviews_app: App) -> None:
    number, looks = blocked(reviews_app), reviews_app.reviews.looks
    assert looks.look(REVIEWER, number) == Look()
    first = reviews_app.reviews.changes.get(number).head
    reviews_app.reviews.changes.edit(AUTHOR, number, changed("5 years", "8 years"))
    reviews_app.reviews.changes.invite(AUTHOR, number, ["author2"])
    reviews_app.reviews.changes.edit(AUTHOR2, number, {"it/vpn.md": b"# VPN\n\nUse it daily.\n"})
    reviews_app.reviews.discussion.comment(AUTHOR, number, "Done.")
    everything = reviews_app.reviews.changes.all()
    assert looks.news(REVIEWER, everything)[number] == News(2, 1)
    for _ in range(2):  # what was seen before stays known while the text stays as it is
        look = looks.look(REVIEWER, number)
        assert (look.before, look.edits) == (first, 2)
        assert [edit.path for edit in look.documents] == ["finance/records.md", "it/vpn.md"]
    assert looks.news(REVIEWER, everything)[number] == News()
    assert looks.news(AUTHOR, everything)[number] == News(1, 0), "one's own edits and comments are no news"
    assert looks.news(REVIEWER2, everything)[number] == News(seen=False)


def test_what_came_in_from_the_main_line_is_not_new_in_the_change(reviews_app: App) -> None:
    number, looks = blocked(reviews_app), reviews_app.reviews.looks
    looks.look(REVIEWER, number)
    theirs = TEXT.replace("5 years", "10 years")
    put(reviews_app, {"finance/records.md": theirs, "it/other.md": "# Other\n"})
    reviews_app.reviews.merger.solve(AUTHOR, number, {"finance/records.md": ("mine",)})
    assert [edit.path for edit in looks.look(REVIEWER, number).documents] == []
    assert looks.look(REVIEWER, number).edits == 1


def test_a_viewed_mark_is_for_one_person_and_one_text(reviews_app: App) -> None:
    number, looks, path = blocked(reviews_app), reviews_app.reviews.looks, "finance/records.md"
    looks.mark(REVIEWER, number, path)
    assert (looks.viewed(REVIEWER, number), looks.viewed(REVIEWER2, number)) == ({path}, frozenset())
    reviews_app.reviews.changes.edit(AUTHOR, number, {"it/vpn.md": b"# VPN\n\nMore.\n"})
    assert looks.viewed(REVIEWER, number) == {path}
    reviews_app.reviews.changes.edit(AUTHOR, number, changed("5 years", "8 years"))
    assert looks.viewed(REVIEWER, number) == frozenset()
    looks.mark(REVIEWER, number, path)
    looks.mark(REVIEWER, number, path, viewed=False)
    assert looks.viewed(REVIEWER, number) == frozenset()
    with pytest.raises(BadInput, match="does not touch 'x.md'"):
        looks.mark(REVIEWER, number, "x.md")


def test_edits_that_do_not_touch_are_combined_by_the_word(reviews_app: App) -> None:
    mine = TEXT.replace("Keep them 5 years.", "Keep all of them 5 years.")
    number = reviews_app.reviews.changes.propose(AUTHOR, "T", {"finance/records.md": mine.encode()}).id
    put(reviews_app, changed_text("5 years", "6 years"))
    solved = reviews_app.reviews.merger.solve(AUTHOR, number, {"finance/records.md": ("both",)})
    text = reviews_app.knowledge.repository.read(solved.head, "finance/records.md").decode()
    assert "Keep all of them 6 years." in text


def changed_text(old: str, new: str) -> dict[str, str | None]:
    return {"finance/records.md": TEXT.replace(old, new)}


def test_two_spellings_of_a_path_never_meet_in_the_knowledge_base(reviews_app: App) -> None:
    one, two = (
        approved(reviews_app, {"guides/Policy.md": b"# P\n"}),
        approved(reviews_app, {"guides/policy.md": b"# p\n"}, "Same"),
    )
    assert reviews_app.reviews.changes.get(two).requirements == ()
    reviews_app.reviews.merger.merge(AUTHOR, one)
    why = (
        "guides/Policy.md and guides/policy.md differ only in case or Unicode form. Rename the document in this change."
    )
    assert reviews_app.reviews.changes.get(two).requirements == (why,)
    with pytest.raises(Refused, match="differ only in case"):
        reviews_app.reviews.merger.merge(ADMIN, two, bypass="hurry")
    reviews_app.reviews.changes.edit(AUTHOR, two, {"guides/policy.md": None, "guides/other.md": b"# p\n"})
    reviews_app.reviews.discussion.approve(REVIEWER, two)
    assert reviews_app.reviews.merger.merge(AUTHOR, two).state == "merged"


def test_edits_of_different_places_merge_by_themselves(reviews_app: App) -> None:
    one, two = (
        approved(reviews_app, changed("5 years", "7 years")),
        approved(reviews_app, changed("Then shred", "Then burn"), "B"),
    )
    reviews_app.reviews.merger.merge(AUTHOR, one)
    assert reviews_app.reviews.merger.merge(AUTHOR, two).state == "merged"
    text = reviews_app.knowledge.documents.show("finance/records.md").text
    assert "7 years" in text
    assert "Then burn" in text


def test_a_revert_is_a_change_that_keeps_what_came_later(reviews_app: App) -> None:
    number = approved(reviews_app, changed("5 years", "7 years"))
    reviews_app.reviews.merger.merge(AUTHOR, number)
    later = TEXT.replace("5 years", "7 years").replace("Then shred", "Then burn")
    reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, {"finance/records.md": later.encode()}, "Later"))
    undo = reviews_app.reviews.merger.revert(AUTHOR2, number)
    assert (undo.reverts, undo.state) == (number, "draft")
    reviews_app.reviews.changes.submit(AUTHOR2, undo.id)
    reviews_app.reviews.discussion.approve(REVIEWER, undo.id)
    reviews_app.reviews.merger.merge(AUTHOR2, undo.id)
    text = reviews_app.knowledge.documents.show("finance/records.md").text
    assert "5 years" in text
    assert "Then burn" in text
    with pytest.raises(Refused, match="Only a merged change can be reverted"):
        reviews_app.reviews.merger.revert(AUTHOR, reviews_app.reviews.changes.propose(AUTHOR, "T", {"n.md": b"# N"}).id)


def test_a_bypass_needs_an_admin_and_a_reason_and_stays_visible(reviews_app: App) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "Urgent", changed("5", "6")).id
    reviews_app.reviews.changes.submit(AUTHOR, number)
    with pytest.raises(Refused, match="Only admins may bypass"):
        reviews_app.reviews.merger.merge(AUTHOR, number, bypass="hurry")
    with pytest.raises(Refused, match="Only an approved change"):
        reviews_app.reviews.merger.merge(ADMIN, number)
    merged = reviews_app.reviews.merger.merge(ADMIN, number, bypass="The auditor is here.")
    assert merged.bypass == "The auditor is here."
    assert (
        "Bypass: The auditor is here."
        in reviews_app.knowledge.repository.log(reviews_app.knowledge.repository.head())[0][0].message
    )
    assert reviews_app.people.audit.entries(ADMIN, action="merge with bypass")[0].detail == "The auditor is here."


def test_a_bypass_stays_visible_after_a_kill_before_it_was_written_down(
    reviews_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = reviews_app.reviews.changes.propose(AUTHOR, "Urgent", changed("5", "6")).id
    reviews_app.reviews.changes.submit(AUTHOR, number)
    with monkeypatch.context() as kill:
        kill.setattr(reviews_app.reviews.merger, "_record", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reviews_app.reviews.merger.merge(ADMIN, number, bypass="The auditor\nis here.")
    assert reviews_app.reviews.merger.repair() == 1
    assert reviews_app.reviews.changes.get(number).bypass == "The auditor is here."
    assert reviews_app.people.audit.of_change(demo("admin"), number)[-1].action == "merge with bypass"


def test_the_history_names_only_approvals_that_stood_and_each_once(reviews_app: App) -> None:
    number = approved(reviews_app, changed("5", "6"))
    reviews_app.reviews.discussion.approve(REVIEWER, number)
    reviews_app.reviews.discussion.approve(REVIEWER2, number)
    reviews_app.reviews.discussion.approve(REVIEWER2, number)
    reviews_app.reviews.discussion.request_changes(REVIEWER, number, "On second thoughts.")
    reviews_app.reviews.merger.merge(ADMIN, number, bypass="hurry")
    said = reviews_app.knowledge.repository.log(reviews_app.knowledge.repository.head())[0][0].message.splitlines()
    assert [line for line in said if line.startswith("Reviewed-by")] == [
        f"Reviewed-by: {REVIEWER2.name} <{REVIEWER2.email}>"
    ]


@pytest.mark.parametrize("how", ["demoted", "switched off"])
def test_an_approval_counts_only_while_whoever_gave_it_may_review(reviews_app: App, how: str) -> None:
    number, merged = approved(reviews_app, changed("5", "6")), approved(reviews_app, {"n.md": b"# N\n"}, "New")
    reviews_app.reviews.merger.merge(AUTHOR, merged)
    if how == "demoted":
        reviews_app.people.accounts.set_role(ADMIN, "reviewer", "author")
    else:
        reviews_app.people.accounts.set_active(ADMIN, "reviewer", False)
    now = reviews_app.reviews.changes.get(number)
    assert (now.state, now.approvals) == ("in review", ())
    assert "the approval by Petra Voss does not count, since only those count who may review now" in now.requirements[0]
    with pytest.raises(Refused, match="Only an approved change"):
        reviews_app.reviews.merger.merge(AUTHOR, number)
    assert reviews_app.reviews.changes.get(merged).approvals == ("Petra Voss",), "what was merged stays as it was"
    assert reviews_app.reviews.discussion.approve(REVIEWER2, number).requirements == ()


def test_the_rules_file_is_reviewed_by_admins_and_then_holds(reviews_app: App) -> None:
    rules = b"rules:\n  - match: finance/\n    approvals: 2\n    owners: [reviewer2]\n    conversations: block\n"
    number = reviews_app.reviews.changes.propose(AUTHOR, "Rules", {"review-rules.yaml": rules}).id
    reviews_app.reviews.changes.submit(AUTHOR, number)
    with pytest.raises(Refused, match="Only admins may judge"):
        reviews_app.reviews.discussion.approve(REVIEWER, number)
    reviews_app.reviews.discussion.approve(ADMIN, number)
    reviews_app.reviews.merger.merge(AUTHOR, number)
    two = approved(reviews_app, changed("5", "6"))
    assert reviews_app.reviews.changes.get(two).state == "in review"
    reviews_app.reviews.discussion.approve(REVIEWER2, two)
    talk = reviews_app.reviews.discussion.comment(REVIEWER2, two, "One thing.")
    with pytest.raises(Refused, match="1 conversation is still open"):
        reviews_app.reviews.merger.merge(AUTHOR, two)
    reviews_app.reviews.discussion.resolve(AUTHOR, two, talk.id)
    assert reviews_app.reviews.merger.merge(AUTHOR, two).state == "merged"
    other = approved(reviews_app, {"it/vpn.md": b"# VPN\n\nAlways.\n"}, "VPN")
    assert reviews_app.reviews.merger.merge(AUTHOR, other).state == "merged"


def test_deleting_and_renaming_are_changes_too(reviews_app: App) -> None:
    number = approved(reviews_app, {"it/vpn.md": None, "it/remote.md": b"# VPN\n\nUse it.\n"})
    assert [edit.kind for edit in reviews_app.reviews.changes.get(number).documents] == ["renamed"]
    reviews_app.reviews.merger.merge(AUTHOR, number)
    assert [document.path for document in reviews_app.knowledge.documents.all()] == [
        "finance/records.md",
        "it/remote.md",
    ]


def test_a_state_that_is_none_is_refused_with_a_sentence(reviews_app: App) -> None:
    with pytest.raises(BadInput, match="There is no state 'bogus'. States: open, draft, in review"):
        reviews_app.reviews.changes.all(state="bogus")


def test_a_list_asks_the_database_as_often_for_many_changes_as_for_one(
    reviews_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, asked = reviews_app.reviews.changes, []
    ask = Statements._ask
    monkeypatch.setattr(Statements, "_ask", lambda self, read: (asked.append(read), ask(self, read))[1])

    def statements_of(listing: Callable[[], object]) -> int:
        asked.clear()
        changes._known = (None, {})
        listing()
        return len(asked)

    def of_every_list() -> list[int]:
        lists = [
            lambda: changes.listed(AUTHOR),
            lambda: changes.listed(AUTHOR, state="approved"),
            lambda: changes.waiting_for(REVIEWER),
        ]
        return [statements_of(one) for one in lists]

    approved(reviews_app, changed("5 years", "8 years"))
    one = of_every_list()
    for number in range(5):
        approved(reviews_app, changed("5 years", f"{number + 10} years"))
    assert of_every_list() == one
    assert {change.approvals for change in changes.listed(AUTHOR)} == {(REVIEWER.name,)}


def test_a_list_starts_as_many_git_processes_for_many_changes_as_for_one(
    reviews_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, git, started = reviews_app.reviews.changes, reviews_app.knowledge.repository.git, list[str]()
    execute = git._execute
    monkeypatch.setattr(git, "_execute", lambda command, *rest: started.append(command[0]) or execute(command, *rest))

    def processes(**asked: str) -> int:
        started.clear()
        assert list(changes.listed(AUTHOR, **asked))
        return len(started)

    def one_more(n: int) -> int:
        return approved(reviews_app, {f"it/{n}.md": f"# Text {n}\n\nSee [it](vpn.md).\n".encode()}, f"Text {n}")

    first = one_more(0)
    put(reviews_app, {"it/vpn.md": "# VPN\n\nUse it well.\n"})
    few = processes(state="open")
    numbers = [one_more(n) for n in range(1, 5)]
    edited = changes.propose(AUTHOR, "Other words", changed("Then shred.", "Then burn.")).id
    put(reviews_app, {"it/vpn.md": "# VPN\n\nUse it twice.\n", "finance/records.md": TEXT + "\nMore.\n"})
    many = processes(state="open")
    assert many <= few + 2 <= 12, "one merge-tree, one log, one ls-tree, not one for each change"
    alone = small_app(reviews_app.settings.home, NoProcesses()).reviews.changes
    assert {change.id: change for change in changes.listed(AUTHOR, state="open")} == {
        number: alone.get(number) for number in (first, *numbers, edited)
    }, "asked together they say what each says alone"
    assert processes(state="open") == processes(state="approved") == 0, "what is known is not asked again"
    for number in (first, *numbers):
        reviews_app.reviews.merger.merge(REVIEWER, number)
    changes.facts._edits.clear()
    assert processes(state="merged") <= 4
    assert {len(change.documents) for change in changes.listed(AUTHOR, state="merged")} == {1}
    assert {change.editors for change in changes.listed(AUTHOR, state="merged")} == {(AUTHOR.name,)}


def test_a_page_of_a_long_list_asks_git_about_that_page_alone(reviews_app: App) -> None:
    changes = reviews_app.reviews.changes
    numbers = [changes.propose(AUTHOR, f"Text {n}", {f"it/{n}.md": f"# {n}\n\nText.\n".encode()}).id for n in range(3)]
    asked: list[int] = []
    looked = changes.facts.looked
    changes.facts.looked = lambda rows, **more: asked.extend(row.id for row in rows) or looked(rows, **more)  # type: ignore[method-assign]
    listed = changes.listed(AUTHOR, state="open")
    assert (len(listed), asked) == (3, [])
    assert [change.id for change in listed[1:2]] == asked == [numbers[1]]


def test_drafts_are_kept_per_person(reviews_app: App) -> None:
    saved = reviews_app.knowledge.drafts.keep(AUTHOR, "it/vpn.md", "half a sen", "")
    draft = reviews_app.knowledge.drafts.find(AUTHOR, "it/vpn.md")
    assert draft
    assert (draft.text, draft.at) == ("half a sen", "2026-11-15T12:00:00+00:00")
    assert reviews_app.knowledge.drafts.find(AUTHOR2, "it/vpn.md") is None
    with pytest.raises(Stale, match="You also typed in another tab"):
        reviews_app.knowledge.drafts.keep(AUTHOR, "it/vpn.md", "from another tab", "")
    reviews_app.knowledge.drafts.forget(AUTHOR, "it/vpn.md", "")
    assert reviews_app.knowledge.drafts.find(AUTHOR, "it/vpn.md") == draft, "an older tab drops nothing"
    assert reviews_app.knowledge.drafts.keep(AUTHOR, "it/vpn.md", "half a sen", "") == saved, (
        "the same text is no other"
    )
    reviews_app.knowledge.drafts.forget(AUTHOR, "it/vpn.md", saved)
    assert reviews_app.knowledge.drafts.find(AUTHOR, "it/vpn.md") is None


def test_sign_in_is_by_password_and_rests_after_five_wrong_ones(reviews_app: App) -> None:
    reviews_app.people.accounts.add(
        ADMIN, NewAccount("zoe", "Zoe", "zoe@example.org", "author"), "correct horse battery"
    )
    assert reviews_app.people.accounts.sign_in("zoe", "correct horse battery").role == "author"
    for _ in range(5):
        with pytest.raises(Refused, match="name or the password is wrong"):
            reviews_app.people.accounts.sign_in("zoe", "guess")
    with pytest.raises(Refused, match="Too many wrong passwords"):
        reviews_app.people.accounts.sign_in("zoe", "correct horse battery")
    with pytest.raises(Refused, match="wrong"):
        reviews_app.people.accounts.sign_in("author", "")
    row = sql(reviews_app, "SELECT hash FROM accounts WHERE id = 'zoe'")[0][0]
    assert row.startswith("$argon2id$")


def test_the_last_admin_stays_one(reviews_app: App) -> None:
    with pytest.raises(Refused, match="last admin"):
        reviews_app.people.accounts.set_role(ADMIN, "admin", "reader")
    assert reviews_app.people.accounts.get("admin").role == "admin"
    with pytest.raises(Refused, match="Only admins"):
        reviews_app.people.accounts.set_role(AUTHOR, "author", "admin")
    reviews_app.people.accounts.set_active(ADMIN, "reader", False)
    with pytest.raises(Refused, match="switched off"):
        reviews_app.people.accounts.actor("reader")


def test_the_audit_only_grows_and_agrees_with_the_repository(reviews_app: App) -> None:
    reviews_app.reviews.merger.merge(AUTHOR, approved(reviews_app, changed("5", "6")))
    assert tuple(reviews_app.people.audit.problems()) == ()
    with pytest.raises(Exception, match="append-only"):
        sql(reviews_app, "DELETE FROM audit")
    with pytest.raises(Exception, match="append-only"):
        sql(reviews_app, "UPDATE audit SET who = 'nobody'")
    by_hand = f"by hand\n\nChange: {10**30}"
    reviews_app.knowledge.repository.commit("main", {"x.md": b"# pushed by hand\n"}, AUTHOR.person, by_hand)
    assert any("not in the audit" in line for line in reviews_app.people.audit.problems())
    assert reviews_app.reviews.merger.repair() == 1
    assert tuple(reviews_app.people.audit.problems()) == ()
    said = as_csv(reviews_app.people.audit.entries(ADMIN)).splitlines()
    assert said[0].startswith("id,at,who")
    with pytest.raises(Refused, match="Only admins may see the audit"):
        reviews_app.people.audit.entries(REVIEWER)


def test_an_empty_knowledge_base_takes_its_first_document_through_review(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    app.reviews.merger.merge(AUTHOR, approved(app, {"a.md": b"# First\n\nwords to find\n"}))
    app.index.builder.build(app.platform.settings.profile())
    assert [hit.path for hit in app.search.searcher.search("words to find").hits] == ["a.md"]
    assert app.index.verifier.problems() == ()
    assert app.knowledge.documents.show("a").version == 1


def test_a_commit_of_a_killed_process_is_in_the_audit_before_anything_is_built_upon_it(reviews_app: App) -> None:
    number = approved(reviews_app, changed("5 years", "7 years"))
    for name, move in (
        ("one.md", lambda: reviews_app.reviews.merger.merge(AUTHOR, number)),
        ("two.md", lambda: reviews_app.knowledge.freshness.confirm(REVIEWER, "it/vpn.md", date(2027, 1, 1))),
        ("three.md", lambda: _import(reviews_app, {"four.md": b"# Four\n"})),
    ):
        reviews_app.knowledge.repository.commit("main", {name: b"# Left\n"}, ADMIN.person, "Left by a kill")
        move()
        assert list(reviews_app.people.audit.problems()) == []


def _import(app: App, files: dict[str, bytes]) -> None:
    save = partial(app.knowledge.documents.save, ADMIN, files, [], "Import")
    app.reviews.merger.importing(ADMIN, "folder", save)
