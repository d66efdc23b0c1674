"""Laws of review: the table of moves, and that no sequence of moves gets around it."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.access import Actor
from core.bootstrap import App
from core.curation import policy, review
from core.curation.conflicts import Hunk, combined, hunks, solve
from core.curation.review import Facts, Verdict
from core.errors import BadInput, ConcordError, Refused
from core.services.people.accounts import DEMO
from tests.conftest import NoProcesses, put, small_app

PEOPLE = {actor.id: actor for actor in DEMO}
WRITERS, JUDGES = ("author", "author2", "reviewer", "admin"), ("reviewer", "reviewer2", "admin")


def facts(stage: str = "in review", verdicts: tuple[Verdict, ...] = (), **more: object) -> Facts:
    values = {
        "head": "c2",
        "author": "ann",
        "last_editors": ("bob",),
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
    assert review.state(facts(verdicts=given_)) == state


@pytest.mark.parametrize("now", review.STATES)
@pytest.mark.parametrize("move", list(review.MOVES))
def test_every_move_is_allowed_or_refused_with_a_sentence(move: str, now: str) -> None:
    sentence = review.refusal(move, now)
    assert bool(sentence) == (now not in review.MOVES[move][0])
    assert not sentence or (sentence[0].isupper() and sentence.endswith("."))


def test_rules_of_all_touched_folders_hold_together() -> None:
    rules = (
        policy.Rule("finance/", approvals=2, owners=("petra",)),
        policy.Rule("*/policies/*.md", conversations="block"),
    )
    now = facts(verdicts=(verdict("cyd"), verdict("dan")), rules=rules, paths=("finance/policies/a.md",))
    assert review.requirements(now) == ("It needs an approval by an owner of finance/: petra.",)
    now = facts(verdicts=(verdict("cyd"), verdict("petra")), rules=rules, paths=now.paths, open_conversations=2)
    assert "2 conversations are still open" in review.requirements(now)[0]
    assert review.requirements(facts(verdicts=(verdict("cyd"),), rules=rules, paths=("it/a.md",))) == ()


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
    put = lambda edits: gap.join(edits.get(n, word) for n, word in enumerate(words))
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
        grown = lambda text: Counter(re.findall(r"\w+", text)) - Counter(re.findall(r"\w+", base))
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
    """People at random. Whatever they try, only approved text reaches the main line, and a verdict dies with an edit."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.app = small_app(Path(self.folder.name) / "home", NoProcesses())
        self.words = 0
        self.approved: set[tuple[int, str]] = set()
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
        self.app.reviews.changes.propose(PEOPLE[who], "A change", {path: self.text()})

    @rule(who=st.sampled_from(WRITERS), pick=st.integers(0, 9), path=st.sampled_from(["a.md", "b.md"]))
    def edit(self, who: str, pick: int, path: str) -> None:
        try:
            made = self.app.reviews.changes.edit(PEOPLE[who], self.number(pick), {path: self.text()})
        except ConcordError:
            return
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
            getattr(self.app.reviews.changes, move)(PEOPLE[who], self.number(pick))
        except ConcordError:
            return

    @rule(who=st.sampled_from(sorted(PEOPLE)), pick=st.integers(0, 9), good=st.booleans())
    def judge(self, who: str, pick: int, good: bool) -> None:
        number = self.number(pick)
        act = self.app.reviews.discussion.approve if good else self.app.reviews.discussion.request_changes
        try:
            change = act(PEOPLE[who], number, "because")
        except ConcordError:
            return
        assert who in JUDGES
        assert PEOPLE[who].name not in (change.author_name, change.editors[-1])
        if good:
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
        assert len(self.app.knowledge.store.log(self.app.knowledge.store.head())) == merged + bool(
            self.app.knowledge.store.head()
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


def test_the_last_editor_does_not_approve(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    one = app.reviews.changes.propose(PEOPLE["author"], "T", {"a.md": b"# A\n\nmore\n"})
    app.reviews.changes.submit(PEOPLE["author"], one.id)
    app.reviews.changes.edit(PEOPLE["reviewer"], one.id, {"a.md": b"# A\n\nmore still\n"})
    with pytest.raises(Refused, match="Petra Voss made its last edit"):
        app.reviews.discussion.approve(PEOPLE["reviewer"], one.id)
    assert app.reviews.discussion.approve(PEOPLE["reviewer2"], one.id).state == "approved"


def edited_by(app: App, actor: Actor) -> int:
    """A change in review whose last edit somebody else made than its author."""
    one = app.reviews.changes.propose(PEOPLE["author"], "T", {"a.md": b"# A\n\nmore\n"})
    app.reviews.changes.submit(PEOPLE["author"], one.id)
    app.reviews.changes.edit(actor, one.id, {"a.md": b"# A\n\nmore still\n"})
    return one.id


@pytest.mark.parametrize("email", ["eve@example.org.", "'Eve@Example.org", "root@localhost"])
def test_the_last_editor_is_known_whatever_git_makes_of_the_address(tmp_path: Path, email: str) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    app.people.accounts.add(PEOPLE["admin"], "eve", "Eve", email, "reviewer")
    for actor in (
        app.people.accounts.actor("eve"),
        Actor("root@localhost", "root", "root@localhost", "admin", "command line"),
    ):
        number = edited_by(app, actor)
        with pytest.raises(Refused, match="made its last edit"):
            app.reviews.discussion.approve(actor, number)
        assert app.reviews.discussion.approve(PEOPLE["reviewer2"], number).state == "approved"


def test_a_commit_that_came_by_another_door_is_the_work_of_all_who_have_its_address(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {"a.md": "# A\n"})
    app.people.accounts.add(PEOPLE["admin"], "root", "Root", "root@localhost.", "reviewer")
    number = edited_by(app, PEOPLE["reviewer"])
    person = Actor("root@localhost", "root", "root@localhost", "admin")
    app.knowledge.store.commit(f"change/{number}", {"a.md": b"# A\n\nby hand\n"}, person.person, "pushed")
    for actor in (person, app.people.accounts.actor("root")):
        with pytest.raises(Refused, match="made its last edit"):
            app.reviews.discussion.approve(actor, number)
    assert app.reviews.discussion.approve(PEOPLE["reviewer"], number).state == "approved"


def test_an_actor_is_known_by_account_whatever_the_name() -> None:
    twin = Actor("other", PEOPLE["author"].name, "other@example.org", "reviewer")
    assert review.own_work(facts(author="author", last_editors=("author",)), twin.id, twin.name) == ""
