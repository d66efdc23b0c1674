"""Review rules: which move is allowed in which state and to whom, and what is missing before a merge.

A change is its author's and its co-authors'; others suggest. Its writers do not approve it, however many edited after
them. The writer of an applied suggestion is the person who applied it, unless a rule counts its suggester too. An
approval belongs to the exact commit it was given for, so an edit voids it by construction. A request for changes
stands until its reviewer comes back to it or an admin lifts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.access import PERSON, Actor, allowed, plain_address
from core.curation.review.gate import SearchRequirement
from core.curation.review.policy import FILE, Rule, applicable

OPEN = ("draft", "in review", "changes requested", "approved")
STATES = (*OPEN, "merged", "closed")

# move: (states in which it is allowed, what the change is asked to be, in words)
MOVES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "edit": (OPEN, "An edit needs an open change"),
    "submit": (("draft",), "Only a draft can be submitted"),
    "ask": (("in review", "changes requested", "approved"), "Reviewers can be asked while a change is in review"),
    "withdraw": (("in review", "changes requested", "approved"), "Only a change in review can be taken back to draft"),
    "comment": (OPEN, "Only an open change can be discussed"),
    "approve": (("in review", "changes requested", "approved"), "Only a change in review can be approved"),
    "request changes": (
        ("in review", "changes requested", "approved"),
        "Changes can only be requested while a change is in review",
    ),
    "take back": (("in review", "changes requested", "approved"), "A verdict belongs to a change in review"),
    "lift": (("changes requested",), "There is no request for changes to lift"),
    "merge": (("approved",), "Only an approved change can be merged"),
    "bypass": (("in review", "changes requested", "approved"), "A bypass needs a change in review"),
    "close": (OPEN, "Only an open change can be closed"),
    "reopen": (("closed",), "Only a closed change can be reopened"),
    "revert": (("merged",), "Only a merged change can be reverted"),
    "invite": (OPEN, "Only an open change can have other co-authors"),
}

# the state that a move leads to, in which somebody was faster
REACHED: Mapping[str, str] = {"merge": "merged", "bypass": "merged", "close": "closed"}

# moves of the author and the co-authors: (its verb, what others must be allowed to make it too; "" where nobody is)
OWN_MOVES: Mapping[str, tuple[str, str]] = {
    "edit": ("edit", ""),
    "submit": ("submit", ""),
    "withdraw": ("take back", "review a change"),
    "close": ("close", "take over a change"),
    "reopen": ("reopen", "take over a change"),
}


@dataclass(frozen=True, slots=True)
class CoAuthor:
    """Somebody who was invited to work on a change."""

    account: str
    name: str
    inviter: str  # the name of who invited them
    at: str


class Owned(Protocol):
    """Whose a change is."""

    @property
    def author(self) -> str: ...
    @property
    def author_name(self) -> str: ...
    @property
    def co_authors(self) -> tuple[CoAuthor, ...]: ...
    @property
    def common(self) -> bool: ...
    @property
    def author_left(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """A reviewer's verdict on one commit: approved, changes requested, or that the last one is taken back or lifted."""

    who: str
    name: str
    head: str
    verdict: str
    note: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The change as it is now, as far as the rules care."""

    stage: str  # draft, in review, merged or closed: what people decided
    head: str
    author: str
    writers: tuple[str, ...]  # accounts that wrote in it, or applied a suggestion
    paths: tuple[str, ...]
    verdicts: tuple[Verdict, ...]  # oldest first
    open_conversations: int
    broken: tuple[str, ...]  # sentences about documents that cannot be read
    conflicts: tuple[str, ...]  # paths that both sides changed
    rules: tuple[Rule, ...]
    name_collisions: tuple[tuple[str, ...], ...] = ()  # paths that differ only in case or Unicode form
    barred: tuple[str, ...] = ()  # accounts that may not judge it now, whatever they said before
    demands: tuple[SearchRequirement, ...] = ()  # what the rules want of search and it lacks
    author_name: str = ""
    co_authors: tuple[CoAuthor, ...] = ()
    common: bool = False  # Concord itself, a service or an agent opened it: any person may go on with it
    author_left: bool = False  # whoever wrote it may propose nothing any more
    suggesters: tuple[str, ...] = ()  # accounts whose suggestions another person applied


def current_verdicts(facts: Facts) -> dict[str, Verdict]:
    """Each reviewer's last verdict, if it still counts: an approval for this commit alone, a request until it is taken
    back.

    >>> old, new = Verdict("bob", "Bob", "c1", "approved"), Verdict("bob", "Bob", "c2", "approved")
    >>> list(current_verdicts(Facts("in review", "c2", "ann", ("ann",), (), (old,), 0, (), (), ()))), \\
    ... list(current_verdicts(Facts("in review", "c2", "ann", ("ann",), (), (old, new), 0, (), (), ())))
    ([], ['bob'])
    >>> list(current_verdicts(Facts("in review", "c2", "ann", ("ann",), (), (new,), 0, (), (), (), barred=("bob",))))
    []
    """
    last = {verdict.who: verdict for verdict in facts.verdicts}
    return {who: verdict for who, verdict in last.items() if who not in facts.barred and _counts(facts, verdict)}


def _counts(facts: Facts, verdict: Verdict) -> bool:
    """Who wrote it does not approve it; a request for changes outlives every edit."""
    if verdict.verdict == "approved":
        return verdict.head == facts.head and not own_work(facts, verdict.who, verdict.name)
    return verdict.verdict == "changes requested"


def blocking(facts: Facts) -> tuple[Verdict, ...]:
    """The requests for changes that stand."""
    return tuple(v for v in current_verdicts(facts).values() if v.verdict == "changes requested")


def approvals(facts: Facts) -> tuple[Verdict, ...]:
    return tuple(v for v in current_verdicts(facts).values() if v.verdict == "approved")


def state(facts: Facts) -> str:
    if facts.stage != "in review":
        return facts.stage
    if blocking(facts):
        return "changes requested"
    return "in review" if missing_approvals(facts) else "approved"


def stages(wanted: str) -> tuple[str, ...]:
    """The stored stages of changes in a state; none where any will do.

    >>> stages("approved"), stages("open"), stages("merged"), stages("")
    (('in review',), ('draft', 'in review'), ('merged',), ())
    """
    if wanted in ("", "open"):
        return ("draft", "in review") if wanted else ()
    return (wanted,) if wanted in ("draft", "merged", "closed") else ("in review",)


def refusal(move: str, now: str) -> str:
    """Why a move is not allowed in a state; "" when it is.

    >>> refusal("merge", "draft")
    'Only an approved change can be merged; this one is a draft. Submit it for review first.'
    >>> refusal("submit", "draft")
    ''
    >>> refusal("reopen", "merged")
    'Only a closed change can be reopened; this one is merged. Start a new change.'
    >>> refusal("merge", "merged")
    'This change is already merged.'
    """
    states, sentence = MOVES[move]
    if now in states:
        return ""
    if REACHED.get(move) == now:
        return f"This change is already {now}."
    article = {"draft": "a draft", "approved": "approved", "merged": "merged", "closed": "closed"}.get(now, now)
    return f"{sentence}; this one is {article}.{_next(now, move)}"


def _next(now: str, move: str) -> str:
    if now == "draft":
        return " Submit it for review first."
    if now == "closed":
        return " Reopen it first."
    if now == "merged":
        return " Start a new change."
    return " It needs approval first." if move == "merge" else ""


def not_theirs(move: str, change: Owned, actor: Actor) -> str:
    """Why a move is for others to make; "" when this person may make it.

    >>> now = Facts("draft", "c", "ann", (), (), (), 0, (), (), (), author_name="Ann")
    >>> not_theirs("submit", now, Actor("bob", "Bob", "bob@example.org", "author"))
    'Only Ann may submit this change, and co-authors whom they invite. Ask Ann to invite you.'
    >>> not_theirs("withdraw", now, Actor("bob", "Bob", "bob@example.org", "reviewer"))
    ''
    """
    if move not in OWN_MOVES or _owns(change, actor):
        return ""
    verb, action = OWN_MOVES[move]
    if action and allowed(actor, action):
        return ""
    others = [co_author.name for co_author in change.co_authors]
    who = f"{change.author_name} and {names(others)}" if others else change.author_name
    way = _way_in(change, actor)
    step = f"Suggest your words in a comment on its lines, or {way}" if move == "edit" else way[0].upper() + way[1:]
    return f"Only {who} may {verb} this change, and co-authors whom they invite. {step}."


def _way_in(change: Owned, actor: Actor) -> str:
    if may_invite(change, actor):
        return "invite yourself to take it over"
    return "ask an admin to take it over" if change.author_left else f"ask {change.author_name} to invite you"


def _owns(change: Owned, actor: Actor) -> bool:
    return actor.id in authors(change) or (change.common and actor.kind == PERSON)


def authors(change: Owned) -> tuple[str, ...]:
    """The accounts of the author and the co-authors."""
    return (change.author, *(co_author.account for co_author in change.co_authors))


def may_invite(change: Owned, actor: Actor) -> bool:
    """The author, and admins, who take a change over by inviting themselves or somebody else."""
    return actor.id == change.author or allowed(actor, "take over a change")


def writers(recorded: Iterable[str], written: Iterable[str], addresses: Mapping[str, str]) -> tuple[str, ...]:
    """The accounts whose words a change holds: those on record, and those with the address of one of its commits.

    `addresses` gives the address of each account. One that nobody on record has may be that of several, or of nobody.

    >>> writers(["ann"], ["ann@example.org", "bob@example.org."], {"ann": "ann@example.org", "bob": "bob@example.org"})
    ('ann', 'bob', 'bob@example.org.')
    """
    known = dict.fromkeys(recorded)
    plain = {addresses.get(who, plain_address(who)) for who in known}
    for email in written:
        if plain_address(email) not in plain:
            known |= dict.fromkeys(who for who, address in addresses.items() if address == plain_address(email))
            known[email] = None
    return tuple(known)


def own_work(facts: Facts, who: str, name: str) -> str:
    """Why somebody may not approve a change; "" when they may.

    >>> own_work(Facts("in review", "c", "ann", ("ann", "bob"), (), (), 0, (), (), ()), "bob", "Bob")
    'Nobody approves their own change: Bob wrote some of its words.'
    >>> own_work(Facts("in review", "c", "ann", (), (), (), 0, (), (), ()), "ann", "Ann")
    'Nobody approves their own change: Ann is its author.'
    """
    if who == facts.author:
        return f"Nobody approves their own change: {name} is its author."
    if who in facts.writers:
        return f"Nobody approves their own change: {name} wrote some of its words."
    strict = counting_suggestions(facts.rules, facts.paths) if who in facts.suggesters else ""
    return f"{name} can't approve this change: {strict} counts applied suggestions as their words." if strict else ""


def counting_suggestions(rules: Sequence[Rule], paths: Iterable[str]) -> str:
    """The rule that makes suggesters writers, in words; "" without one.

    >>> counting_suggestions([Rule("hr/", suggestions="count")], ["hr/leave.md"])
    'the review rule of hr/'
    """
    strict = [rule.match for rule in applicable(rules, paths) if rule.suggestions == "count"]
    return f"the review rule of {strict[0]}" if strict else ""


def may_judge(actor: Actor, paths: Sequence[str]) -> bool:
    """Whether this role may review these paths: changes of the review rules are for admins."""
    return allowed(actor, "review a change") and (FILE not in paths or allowed(actor, "bypass the review rules"))


def missing_approvals(facts: Facts) -> tuple[str, ...]:
    """What reviewers still have to say; where no rule speaks about the paths, one approval.

    >>> missing_approvals(Facts("in review", "c", "ann", (), ("it/a.md",), (), 0, (), (), (Rule("finance/"),)))
    ('It needs 1 more approval by a reviewer who did not edit it.',)
    """
    approvers = {verdict.who for verdict in approvals(facts)}
    applied = applicable(facts.rules, facts.paths)
    lack = max((rule.approvals for rule in applied), default=1) - len(approvers)
    missing = []
    if lack > 0:
        noun = "approval" if lack == 1 else "approvals"
        missing.append(f"It needs {lack} more {noun} by a reviewer who did not edit it{_lost(facts)}.")
    for rule in applied:
        if rule.owners and not approvers & set(rule.owners):
            missing.append(f"It needs an approval by an owner of {rule.match}: {', '.join(rule.owners)}.")
    return tuple(missing)


def _lost(facts: Facts) -> str:
    """Names whose approval no longer counts: role revoked or account switched off."""
    last = {v.who: v for v in facts.verdicts if v.head == facts.head and v.who in facts.barred}
    lost = [v.name for v in last.values() if v.verdict == "approved"]
    return f"; the approval by {names(lost)} does not count, since only those count who may review now" if lost else ""


def requirements(facts: Facts) -> tuple[str, ...]:
    """Everything that still blocks a merge."""
    return (*obstacles(facts), *judgments(facts))


def obstacles(facts: Facts) -> tuple[str, ...]:
    """What nobody can bypass: broken documents, conflicts and name collisions."""
    sentences = list(facts.broken)
    if not facts.paths:
        sentences.append("It changes nothing: its documents are the same as in the knowledge base.")
    if facts.conflicts:
        sentences.append(
            f"It conflicts with what was merged meanwhile in {', '.join(facts.conflicts)}. Solve that first."
        )
    for group in facts.name_collisions:
        sentences.append(f"{names(group)} differ only in case or Unicode form. Rename the document in this change.")
    return tuple(sentences)


def judgments(facts: Facts) -> tuple[str, ...]:
    """What reviewers still have to do; an admin may bypass it with a reason."""
    sentences = [f"{verdict.name} requested changes." for verdict in blocking(facts)]
    sentences += missing_approvals(facts)
    strict = [rule for rule in applicable(facts.rules, facts.paths) if rule.conversations == "block"]
    if strict and facts.open_conversations:
        count = facts.open_conversations
        noun = "conversation is" if count == 1 else "conversations are"
        sentences.append(f"{count} {noun} still open, and the rules of {strict[0].match} want them resolved.")
    return (*sentences, *wanted(facts, "block"))


def wanted(facts: Facts, severity: str) -> tuple[str, ...]:
    """What the rules want of search, by how much they insist: block or warn."""
    return tuple(demand.sentence for demand in facts.demands if demand.severity == severity)


def names(people: Sequence[str]) -> str:
    """People in one phrase.

    >>> names(["Ann", "Bob", "Cyd"])
    'Ann, Bob and Cyd'
    """
    return " and ".join([", ".join(people[:-1]), people[-1]] if len(people) > 1 else people)
