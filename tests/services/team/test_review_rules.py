"""Laws of review: the table of moves, and that no sequence of moves gets around it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.access import Actor, plain_address
from core.bootstrap import App
from core.curation.review import moves, policy
from core.curation.review.conflicts import Hunk, combined, hunks, solve
from core.curation.review.moves import Facts, Verdict
from core.errors import BadInput, ConcordError, Refused
from core.services.people.accounts import DEMO, NewAccount
from core.services.reviews.changes import Change
from core.services.reviews.discussion import CommentPlace
from core.storage.state.records import CoAuthorRow
from tests.conftest import NoProcesses, put, small_app

PEOPLE = {actor.id: actor for actor in DEMO}
WRITERS, JUDGES = ("author", "author2", "reviewer", "admin"), ("reviewer", "reviewer2", "admin")


def facts(stage: str = "in review", verdicts: tuple[Verdict, ...] = (), **more: object) -> Facts:
    values = {
        "head": "c2",
        "author": "ann",
        "writers": ("ann", "bob"),
        "paths": ("a.md",),
        "open_conversations": 0,
        "broken": (),
        "conflicts": (),
        "rules": policy.DEFAULT,
    }
    return Facts(stage=stage, verdicts=verdicts, **(values | more))  # type: ignore[arg-type]


def verdict(who: str, head: str = "c2", said: str = "approved") -> Verdict:
    return Verdict(who, who.capitalize(), head, said)


@pytest.mark.parametrize(
    ("given_", "state"),
    [
        ((), "in review"),
        ((verdict("cyd"),), "approved"),
        ((verdict("cyd", "c1"),), "in review"),
        ((verdict("ann"),), "in review"),
        ((verdict("bob"),), "in review"),
        ((verdict("cyd", said="changes requested"),), "changes requested"),
        ((verdict("cyd"), verdict("dan", said="changes requested")), "changes requested"),
        ((verdict("cyd", said="changes requested"), verdict("cyd")), "approved"),
        ((verdict("cyd", "c1", "changes requested"),), "changes requested"),
        ((verdict("cyd", "c1", "changes requested"), verdict("dan")), "changes requested"),
        ((verdict("cyd", "c0", "changes requested"), verdict("cyd", "c1")), "in review"),
        ((verdict("cyd", "c1", "changes requested"), verdict("cyd", "c1", "taken back")), "in review"),
        ((verdict("cyd", "c1", "changes requested"), verdict("cyd", "c1", "lifted"), verdict("dan")), "approved"),
        ((verdict("bob", "c1", "changes requested"),), "changes requested"),
        ((verdict("cyd"), verdict("cyd", said="taken back")), "in review"),
    ],
)
def test_the_state_follows_from_approvals_of_the_present_text_and_requests_that_stand(
    given_: tuple[Verdict, ...], state: str
) -> None:
    assert moves.state(facts(verdicts=given_)) == state


@pytest.mark.parametrize("now", moves.STATES)
@pytest.mark.parametrize("move", list(moves.MOVES))
def test_every_move_is_allowed_or_refused_with_a_sentence(move: str, now: str) -> None:
    sentence = moves.refusal(move, now)
    assert bool(sentence) == (now not in moves.MOVES[move][0])
    assert not sentence or (sentence[0].isupper() and sentence.endswith("."))


def test_rules_of_all_touched_folders_hold_together() -> None:
    rules = (
        policy.Rule("finance/", approvals=2, owners=("petra",)),
        policy.Rule("*/policies/*.md", conversations="block"),
    )
    now = facts(verdicts=(verdict("cyd"), verdict("dan")), rules=rules, paths=("finance/policies/a.md",))
    assert moves.requirements(now) == ("It needs an approval by an owner of finance/: petra.",)
    now = facts(verdicts=(verdict("cyd"), verdict("petra")), rules=rules, paths=now.paths, open_conversations=2)
    assert "2 conversations are still open" in moves.requirements(now)[0]
    assert moves.requirements(facts(verdicts=(verdict("cyd"),), rules=rules, paths=("it/a.md",))) == ()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"rules: 3", "a list of rules"),
        (b"rules:\n  - approvals: 0", "between 1 and 20"),
        (b"rules:\n  - matches: x", "unknown key"),
        (b"rules:\n  - conversations: maybe", "block or allow"),
        (b"a: [", "cannot be read as YAML"),
        (b"\xff", "cannot be read as YAML"),
    ],
)
def test_broken_rules_are_refused_with_a_sentence(raw: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        policy.read(raw)


lines = st.lists(st.sampled_from("abcdef"), max_size=8).map("\n".join)


@given(lines, lines, lines)
def test_three_way_comparison_loses_nothing(base: str, mine: str, theirs: str) -> None:
    parts = hunks(base, mine, theirs)
    count = sum(part.conflict for part in parts)
    if theirs == base:
        assert (count, solve(parts, ())) == (0, mine)
    if mine == base:
        assert (count, solve(parts, ())) == (0, theirs)
    if mine == theirs:
        assert (count, solve(parts, ())) == (0, mine)
    for part in parts:
        assert not part.conflict or "\n".join(part.mine) in mine or not part.mine


def touched(base: str, mine: str, theirs: str) -> Hunk:
    return Hunk(True, *(tuple(text.split("\n")) for text in (mine, theirs, base)))


EDITS = ("word", "", "two words", "line\nand line", "!")
places = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(EDITS)), max_size=4, unique_by=lambda edit: edit[0])


@given(places, places, st.sampled_from([" ", "\n", ", "]))
def test_edits_of_different_words_are_all_in_the_combined_text(
    mine: list[tuple[int, str]], theirs: list[tuple[int, str]], gap: str
) -> None:
    """Words are told apart by their number, so that no edit can be taken for another."""
    words = [f"w{n}" for n in range(10)]
    left = {2 * n: text for n, text in mine if 2 * n < 10}
    right = {2 * n + 1: text for n, text in theirs if 2 * n + 1 < 10}

    def put(edits):
        return gap.join(edits.get(n, word) for n, word in enumerate(words))

    base, here, there, both = put({}), put(left), put(right), put(left | right)
    for one, other in ((here, there), (there, here)):
        text = combined(touched(base, one, other))
        if all(edits.values() for edits in (left, right) if edits) and "" not in {*left.values(), *right.values()}:
            assert text == both
        assert text is None or all(edit in text for edit in {*left.values(), *right.values()})


sentences = st.lists(st.sampled_from(["a", "b", "c", " ", "\n", "d."]), min_size=1, max_size=12).map("".join)


@given(sentences, sentences, sentences)
def test_combining_knows_no_sides_and_keeps_what_one_side_alone_did(base: str, mine: str, theirs: str) -> None:
    both = combined(touched(base, mine, theirs))
    assert both == combined(touched(base, theirs, mine))
    assert combined(touched(base, mine, base)) == mine
    assert combined(touched(base, mine, mine)) == mine
    if both is not None:

        def grown(text):
            return Counter(re.findall(r"\w+", text)) - Counter(re.findall(r"\w+", base))

        assert not (grown(mine) | grown(theirs)) - Counter(re.findall(r"\w+", both)), (
            "a word that somebody added is lost"
        )


def test_a_line_that_only_the_knowledge_base_changed_keeps_its_new_words() -> None:
    """Side by side with an edit of the change, six hours do not become four again."""
    base = "Tell the duty manager.\nThe report is due in 4 hours.\nFile it."
    mine = base.replace("duty manager", "duty manager and the owner")
    theirs = base.replace("4 hours", "6 hours")
    (conflict,) = (part for part in hunks(base, mine, theirs) if part.conflict)
    assert combined(conflict) == "Tell the duty manager and the owner.\nThe report is due in 6 hours."
    assert solve(hunks(base, mine, theirs), ("both",)).endswith("due in 6 hours.\nFile it.")


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "both"),
    [
        ("Keep it 5 years here.", "Keep it 7 years here.", "Keep it 5 years there.", "Keep it 7 years there."),
        ("Keep it 5 years.", "Keep it 7 years.", "Keep it 9 years.", None),
        ("Ask Ann.", "Ask Ann.\n\nThen Bob.", "Please ask Ann.", "Please ask Ann.\n\nThen Bob."),
        ("Ask Ann first.", "Ask Ann first.\nThen Bob.", "Ask Cyd first.", "Ask Cyd first.\nThen Bob."),
        ("One, two, three.", "One, three.", "One, two, three!", "One, three!"),
        ("One", "", "One two", None),
        ("", "Mine", "Theirs", None),
    ],
)
def test_both_edits_are_offered_only_where_they_do_not_touch(
    base: str, mine: str, theirs: str, both: str | None
) -> None:
    assert combined(touched(base, mine, theirs)) == both
    if both is None:
        with pytest.raises(BadInput, match="same words"):
            solve((touched(base, mine, theirs),), ("both",))


class Journey(RuleBasedStateMachine):
    """People at random. Whatever they try, only approved text reaches the main line, and a verdict dies with an
    edit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.app = small_app(Path(self.folder.name) / "home", NoProcesses())
        self.words = 0
        self.approved: set[tuple[int, str]] = set()
        self.wrote: dict[int, set[str]] = {}
        self.blocked: dict[int, set[str]] = {}  # who requested changes and has not come back

    @initialize()
    def start(self) -> None:
        put(self.app, {"a.md": "# A\n\nfirst words\n", "b.md": "# B\n\nother words\n"})
        self.app.reviews.merger.repair()

    def text(self) -> bytes:
        self.words += 1
        return f"# A\n\nunique{self.words} words\n".encode()

    def number(self, pick: int) -> int:
        return pick % max(1, len(self.app.reviews.changes.all())) + 1

    @rule(who=st.sampled_from(WRITERS), path=st.sampled_from(["a.md", "b.md", "c.md"]))
    def propose(self, who: str, path: str) -> None:
        self.wrote[self.app.reviews.changes.propose(PEOPLE[who], "A change", {path: self.text()}).id] = {who}

    @rule(who=st.sampled_from(WRITERS), pick=st.integers(0, 9), path=st.sampled_from(["a.md", "b.md"]))
    def edit(self, who: str, pick: int, path: str) -> None:
        number, text = self.number(pick), self.text()
        try:
            made = self.app.reviews.changes.edit(PEOPLE[who], number, {path: text})
        except ConcordError:
            return
        assert who in self.owners(made), "somebody edited what is not theirs"
        self.wrote.setdefault(number, set()).add(who)
        assert not made.approvals, "an approval survived an edit"
        assert made.state in ("draft", "changes requested" if made.blocks else "in review")
        assert {block.who for block in made.blocks} == self.blocked.get(made.id, set()), "an edit lifted a request"

    @rule(
        who=st.sampled_from(sorted(PEOPLE)),
        pick=st.integers(0, 9),
        move=st.sampled_from(["submit", "withdraw", "close", "reopen"]),
    )
    def move(self, who: str, pick: int, move: str) -> None:
        try:
            change = getattr(self.app.reviews.changes, move)(PEOPLE[who], self.number(pick))
        except ConcordError:
            return
        others = {"withdraw": JUDGES, "close": ("admin",), "reopen": ("admin",)}.get(move, ())
        assert who in (*self.owners(change), *others)

    def owners(self, change: Change) -> set[str]:
        return {change.author, *(co_author.account for co_author in change.co_authors)}

    @rule(who=st.sampled_from(sorted(PEOPLE)), other=st.sampled_from(sorted(PEOPLE)), pick=st.integers(0, 9))
    def invite(self, who: str, other: str, pick: int) -> None:
        try:
            change = self.app.reviews.changes.invite(PEOPLE[who], self.number(pick), [other])
        except ConcordError:
            return
        assert who in (change.author, "admin")
        assert other != "reader"

    @rule(who=st.sampled_from(WRITERS), by=st.sampled_from(WRITERS), pick=st.integers(0, 9))
    def suggest(self, who: str, by: str, pick: int) -> None:
        """A person suggests words, and the one who applies them answers for them."""
        number, talk = self.number(pick), self.app.reviews.discussion
        try:
            path = self.app.reviews.changes.get(number).documents[0].path
            body = f"```suggestion\n{self.text().decode().splitlines()[-1]}\n```"
            talk.apply(PEOPLE[by], number, talk.comment(PEOPLE[who], number, body, CommentPlace(path, 3)).id)
        except (ConcordError, IndexError):
            return
        self.wrote.setdefault(number, set()).add(by)

    @rule(who=st.sampled_from(sorted(PEOPLE)), pick=st.integers(0, 9), good=st.booleans())
    def judge(self, who: str, pick: int, good: bool) -> None:
        number = self.number(pick)
        act = self.app.reviews.discussion.approve if good else self.app.reviews.discussion.request_changes
        try:
            change = act(PEOPLE[who], number, "because")
        except ConcordError:
            return
        assert who in JUDGES
        assert who != change.author
        if good:
            assert who not in self.wrote[number], "somebody approved words of their own"
            self.approved.add((number, change.head))
        blockers = self.blocked.setdefault(number, set())
        blockers.discard(who) if good else blockers.add(who)

    @rule(who=st.sampled_from(sorted(PEOPLE)), pick=st.integers(0, 9), lift=st.booleans())
    def undo(self, who: str, pick: int, lift: bool) -> None:
        number, discussion = self.number(pick), self.app.reviews.discussion
        try:
            change = (
                discussion.lift(PEOPLE[who], number, "because") if lift else discussion.take_back(PEOPLE[who], number)
            )
        except ConcordError:
            return
        assert who == "admin" or not lift
        self.blocked[number] = set() if lift else self.blocked.get(number, set()) - {who}
        assert {block.who for block in change.blocks} == self.blocked[number]

    @precondition(lambda self: self.app.reviews.changes.all())
    @rule(who=st.sampled_from(sorted(PEOPLE)), pick=st.integers(0, 9))
    def merge(self, who: str, pick: int) -> None:
        number = self.number(pick)
        before = self.app.reviews.changes.get(number)
        try:
            merged = self.app.reviews.merger.merge(PEOPLE[who], number)
        except ConcordError:
            return
        assert before.state == "approved"
        assert (number, merged.head) in self.approved
        assert not self.blocked.get(number)

    @invariant()
    def only_merged_text_is_on_the_main_line(self) -> None:
        merged = sum(change.state == "merged" for change in self.app.reviews.changes.all())
        assert len(self.app.knowledge.repository.log(self.app.knowledge.repository.head())) == merged + bool(
            self.app.knowledge.repository.head()
        )

    def teardown(self) -> None:
        self.app.index.builder.build(self.app.platform.settings.profile())
        main = "".join(document.text for document in self.app.knowledge.documents.all())
        for n in range(1, self.words + 1):
            found = self.app.search.searcher.search(f"unique{n}").hits
            shown = any(f"unique{n} " in hit.text for hit in found)
            assert shown == (f"unique{n} " in main)
        assert self.app.index.verifier.problems() == ()
        self.folder.cleanup()


TestJourney = Journey.TestCase
TestJourney.settings = settings(
    max_examples=3, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@pytest.mark.slow
def test_no_long_journey_gets_around_the_rules() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Journey,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_whoever_wrote_words_of_it_does_not_approve_it_whoever_edits_after_them(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    number = edited_by(app, PEOPLE["reviewer"])
    app.reviews.changes.edit(PEOPLE["author"], number, {"a.md": b"# A\n\nmore still, and more\n"})
    with pytest.raises(Refused, match="Petra Voss wrote some of its words"):
        app.reviews.discussion.approve(PEOPLE["reviewer"], number)
    assert app.reviews.discussion.request_changes(PEOPLE["reviewer"], number, "Shorter.").state == "changes requested"
    app.reviews.discussion.take_back(PEOPLE["reviewer"], number)
    assert app.reviews.discussion.approve(PEOPLE["reviewer2"], number).state == "approved"


def edited_by(app: App, actor: Actor) -> int:
    """A change in review whose last edit a co-author made."""
    one = app.reviews.changes.propose(PEOPLE["author"], "T", {"a.md": b"# A\n\nmore\n"})
    app.reviews.changes.submit(PEOPLE["author"], one.id)
    with app.reviews.changes.database.transaction() as state:  # also those whom no account stands for
        invited = CoAuthorRow(change=one.id, account=actor.id, name=actor.name, inviter="A", at="2026-11-15")
        state.co_authors.add(invited)
    app.reviews.changes.edit(actor, one.id, {"a.md": b"# A\n\nmore still\n"})
    return one.id


@pytest.mark.parametrize("email", ["eve@example.org.", "'Eve@Example.org", "root@localhost"])
def test_a_writer_is_known_whatever_git_makes_of_the_address(tmp_path: Path, email: str) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    app.people.accounts.add(PEOPLE["admin"], NewAccount("eve", "Eve", email, "reviewer"))
    for actor in (
        app.people.accounts.actor("eve"),
        Actor("root@localhost", "root", "root@localhost", "admin", "command line"),
    ):
        number = edited_by(app, actor)
        with pytest.raises(Refused, match="wrote some of its words"):
            app.reviews.discussion.approve(actor, number)
        assert app.reviews.discussion.approve(PEOPLE["reviewer2"], number).state == "approved"


def test_a_commit_that_came_by_another_door_is_the_work_of_all_who_have_its_address(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    app.people.accounts.add(PEOPLE["admin"], NewAccount("root", "Root", "root@localhost.", "reviewer"))
    number = edited_by(app, PEOPLE["reviewer"])
    person = Actor("root@localhost", "root", "root@localhost", "admin")
    app.knowledge.repository.commit(f"change/{number}", {"a.md": b"# A\n\nby hand\n"}, person.person, "pushed")
    for actor in (person, app.people.accounts.actor("root"), PEOPLE["reviewer"]):
        with pytest.raises(Refused, match="wrote some of its words"):
            app.reviews.discussion.approve(actor, number)
    assert app.reviews.discussion.approve(PEOPLE["reviewer2"], number).state == "approved"


def test_an_actor_is_known_by_account_whatever_the_name() -> None:
    twin = Actor("other", PEOPLE["author"].name, "other@example.org", "reviewer")
    assert moves.own_work(facts(author="author", writers=("author",)), twin.id, twin.name) == ""


# ---------------------------------------------------------------- whose it is

ACCOUNTS = {name: f"{name}@example.org" for name in ("ann", "bob", "cyd")}


@given(
    st.lists(st.sampled_from([*ACCOUNTS, "eve@example.org"])),
    st.lists(st.sampled_from([*ACCOUNTS.values(), "Bob@Example.org.", "eve@example.org"])),
)
def test_everybody_on_record_and_everybody_in_the_commits_has_written(recorded: list[str], written: list[str]) -> None:
    found = moves.writers(recorded, written, ACCOUNTS)
    assert set(recorded) <= set(found)
    for email in written:
        assert any(plain_address(ACCOUNTS.get(who, who)) == plain_address(email) for who in found)
    known = {*recorded, *(who for who, address in ACCOUNTS.items() if address in map(plain_address, written))}
    assert set(found) & set(ACCOUNTS) == known & set(ACCOUNTS), "somebody counts who wrote nothing"


def owned(**more: object) -> Facts:
    return facts(author_name="Ann", **more)


@pytest.mark.parametrize("move", list(moves.MOVES))
@pytest.mark.parametrize("role", ["author", "reviewer", "admin"])
def test_a_change_is_moved_by_its_authors_and_by_others_only_where_it_is_said(move: str, role: str) -> None:
    bob, now = Actor("bob", "Bob", "bob@example.org", role), owned()
    others = {"withdraw": ("reviewer", "admin"), "close": ("admin",), "reopen": ("admin",)}
    refused = moves.not_theirs(move, now, bob)
    assert bool(refused) == (move in moves.OWN_MOVES and role not in others.get(move, ()))
    way = "nvite yourself to take it over." if role == "admin" else "sk Ann to invite you."
    assert not refused or (refused.startswith("Only Ann may ") and refused.endswith(way))
    invited = owned(co_authors=(moves.CoAuthor("bob", "Bob", "Ann", ""),))
    assert not moves.not_theirs(move, invited, bob)
    assert not moves.not_theirs(move, now, replace(bob, id="ann"))


def test_no_token_and_no_agent_takes_a_change_over() -> None:
    admin = Actor("root", "Root", "root@example.org", "admin")
    assert moves.may_invite(owned(), admin)
    for other in (replace(admin, scope="review"), replace(admin, kind="agent"), replace(admin, role="reviewer")):
        assert not moves.may_invite(owned(), other)
        assert moves.not_theirs("close", owned(), other)


def test_what_no_person_opened_any_person_goes_on_with() -> None:
    """The commits of a remote, and the drafts of agents, wait for somebody; other agents leave them alone."""
    bob = Actor("bob", "Bob", "bob@example.org", "author")
    assert not moves.not_theirs("submit", owned(common=True), bob)
    assert moves.not_theirs("submit", owned(common=True), replace(bob, kind="agent"))


def test_of_an_author_who_left_people_ask_an_admin() -> None:
    bob = Actor("bob", "Bob", "bob@example.org", "author")
    assert moves.not_theirs("edit", owned(author_left=True), bob).endswith("ask an admin to take it over.")


STEP = st.tuples(
    st.sampled_from(["edit", "suggest", "update", "solve"]),
    st.sampled_from(("author", "reviewer", "reviewer2", "admin")),
    st.sampled_from(("author", "reviewer", "reviewer2", "admin")),
)


@given(st.lists(STEP, min_size=1, max_size=4))
@example([("edit", "reviewer", "author"), ("suggest", "reviewer2", "author"), ("update", "admin", "author")])
@example([("solve", "reviewer", "author"), ("update", "admin", "admin"), ("edit", "author", "author")])
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_sequence_of_edits_suggestions_and_updates_lets_anybody_approve_their_own_words(
    steps: list[tuple[str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = small_app(Path(folder) / "home", NoProcesses())
        put(app, {"a.md": "# A\n\nfirst\n\nlast\n"})
        one = app.reviews.changes.propose(PEOPLE["author"], "T", {"a.md": b"# A\n\nmine\n\nlast\n"})
        app.reviews.changes.submit(PEOPLE["author"], one.id)
        app.reviews.changes.invite(PEOPLE["author"], one.id, ["reviewer", "reviewer2", "admin"])
        wrote = {"author"}
        for number, (step, who, by) in enumerate(steps):
            wrote |= written(app, one.id, step, PEOPLE[who], PEOPLE[by], number)
        for who in JUDGES:
            allowed = who not in wrote
            assert (not app.reviews.changes.own_work(PEOPLE[who], one.id)) == allowed
            try:
                assert app.reviews.discussion.approve(PEOPLE[who], one.id).approvals
            except Refused as error:
                assert not allowed, error
            else:
                assert allowed, f"{who} approved words of their own after {steps}"


def written(app: App, number: int, step: str, who: Actor, by: Actor, n: int) -> set[str]:
    """One step, and whose words it adds."""
    change = app.reviews.changes.get(number)
    if step == "edit":
        app.reviews.changes.edit(who, number, {f"{n}.md": f"# {n}\n\nby {who.id}\n".encode()})
        return {who.id}
    if step == "suggest":
        body = f"```suggestion\nsuggested {n}\n```"
        remark = app.reviews.discussion.comment(who, number, body, CommentPlace("a.md", 3))
        app.reviews.discussion.apply(by, number, remark.id)
        return {by.id}
    if step == "update":
        put(app, {f"elsewhere/{n}.md": f"# {n}\n\nof others\n"})
        main = app.knowledge.repository.head()
        app.knowledge.repository.update_branch(f"change/{number}", main, {}, who.person, "Update", expected=change.head)
        return set()
    put(app, {"a.md": f"# A\n\ntheirs {n}\n\nlast\n"})
    app.reviews.merger.solve(who, number, {"a.md": (f"=solved {n}",)})
    return {who.id}
