"""The rules of review: which move a change allows in which state, and what is still missing before it can be merged.

A verdict belongs to the exact commit it was given for, so an edit voids it by construction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.access import Actor, allowed
from core.curation.policy import FILE, Rule, asking

OPEN = ("draft", "in review", "changes requested", "approved")
STATES = (*OPEN, "merged", "closed")

# move: (states in which it is allowed, what the change is asked to be, in words)
MOVES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "edit": (OPEN, "An edit needs an open change"),
    "submit": (("draft",), "Only a draft can be submitted"),
    "withdraw": (("in review", "changes requested", "approved"), "Only a change in review can be taken back to draft"),
    "comment": (OPEN, "Only an open change can be discussed"),
    "approve": (("in review", "changes requested", "approved"), "Only a change in review can be approved"),
    "request changes": (
        ("in review", "changes requested", "approved"),
        "Changes can only be requested while a change is in review",
    ),
    "merge": (("approved",), "Only an approved change can be merged"),
    "bypass": (("in review", "changes requested", "approved"), "A bypass needs a change in review"),
    "close": (OPEN, "Only an open change can be closed"),
    "reopen": (("closed",), "Only a closed change can be reopened"),
    "revert": (("merged",), "Only a merged change can be reverted"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reviewer said about one exact commit. `verdict`: approved or changes requested."""

    who: str
    name: str
    head: str
    verdict: str
    note: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at: the change as it is now."""

    stage: str  # draft, in review, merged or closed: what people decided
    head: str
    author: str
    last_editors: tuple[str, ...]  # one; more when a commit by another door has the address of several
    paths: tuple[str, ...]
    verdicts: tuple[Verdict, ...]  # oldest first
    open_conversations: int
    broken: tuple[str, ...]  # sentences about documents that cannot be read
    conflicts: tuple[str, ...]  # paths that both sides changed
    rules: tuple[Rule, ...]
    name_collisions: tuple[tuple[str, ...], ...] = ()  # paths that differ only in case or Unicode form
    barred: tuple[str, ...] = ()  # accounts that may not judge it now, whatever they said before


def standing(facts: Facts) -> dict[str, Verdict]:
    """The last verdict on the present text of each who may review now; the author and the last editor have none.

    >>> one, two = Verdict("bob", "Bob", "c1", "approved"), Verdict("bob", "Bob", "c2", "approved")
    >>> list(standing(Facts("in review", "c2", "ann", ("ann",), (), (one,), 0, (), (), ()))), \\
    ... list(standing(Facts("in review", "c2", "ann", ("ann",), (), (one, two), 0, (), (), ())))
    ([], ['bob'])
    """
    silent = (facts.author, *facts.last_editors, *facts.barred)
    return {v.who: v for v in facts.verdicts if v.head == facts.head and v.who not in silent}


def approvals(facts: Facts) -> tuple[Verdict, ...]:
    """Who approves the present text."""
    return tuple(v for v in standing(facts).values() if v.verdict == "approved")


def state(facts: Facts) -> str:
    """Where a change stands."""
    if facts.stage != "in review":
        return facts.stage
    if any(v.verdict == "changes requested" for v in standing(facts).values()):
        return "changes requested"
    return "in review" if missing_approvals(facts) else "approved"


def refusal(move: str, now: str) -> str:
    """Why a move is not allowed in a state; "" when it is.

    >>> refusal("merge", "draft")
    'Only an approved change can be merged; this one is a draft. Submit it for review first.'
    >>> refusal("submit", "draft")
    ''
    """
    states, sentence = MOVES[move]
    if now in states:
        return ""
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


def own_work(facts: Facts, who: str, name: str) -> str:
    """Why somebody may not judge a change; "" when they may.

    >>> own_work(Facts("in review", "c", "ann", ("bob",), (), (), 0, (), (), ()), "bob", "Bob")
    'Nobody approves their own change: Bob made its last edit.'
    """
    if who == facts.author:
        return f"Nobody approves their own change: {name} is its author."
    return f"Nobody approves their own change: {name} made its last edit." if who in facts.last_editors else ""


def may_judge(actor: Actor, paths: Sequence[str]) -> bool:
    """Whether a role reaches as far as judging a change of these paths: the review rules are for admins."""
    return allowed(actor, "review a change") and (FILE not in paths or actor.role == "admin")


def missing_approvals(facts: Facts) -> tuple[str, ...]:
    """Which approvals the rules still want, as sentences."""
    given = {verdict.who for verdict in approvals(facts)}
    applied = asking(facts.rules, facts.paths)
    lack = max((rule.approvals for rule in applied), default=1) - len(given)
    found = []
    if lack > 0:
        noun = "approval" if lack == 1 else "approvals"
        found.append(
            f"It needs {lack} more {noun} from somebody who is neither its author nor its last editor{_lost(facts)}."
        )
    for rule in applied:
        if rule.owners and not given & set(rule.owners):
            found.append(f"It needs an approval by an owner of {rule.match}: {', '.join(rule.owners)}.")
    return tuple(found)


def _lost(facts: Facts) -> str:
    """Whose approval counted once: their role was taken away, or their account switched off."""
    last = {v.who: v for v in facts.verdicts if v.head == facts.head and v.who in facts.barred}
    lost = [v.name for v in last.values() if v.verdict == "approved"]
    return f"; the approval by {names(lost)} does not count, since only those count who may review now" if lost else ""


def requirements(facts: Facts) -> tuple[str, ...]:
    """Everything that stands between a change and the knowledge base; nothing when it can be merged."""
    return (*obstacles(facts), *judgments(facts))


def obstacles(facts: Facts) -> tuple[str, ...]:
    """What nobody can bypass: broken documents, conflicts, and names that cannot stand side by side."""
    found = list(facts.broken)
    if not facts.paths:
        found.append("It changes nothing: its documents are the same as in the knowledge base.")
    if facts.conflicts:
        found.append(f"It conflicts with what was merged meanwhile in {', '.join(facts.conflicts)}. Solve that first.")
    for group in facts.name_collisions:
        found.append(f"{names(group)} differ only in case or Unicode form. Rename the document in this change.")
    return tuple(found)


def judgments(facts: Facts) -> tuple[str, ...]:
    """What people still have to say; an admin may bypass it with a reason."""
    against = [v.name for v in standing(facts).values() if v.verdict == "changes requested"]
    found = [f"{name} requested changes." for name in against] + list(missing_approvals(facts))
    strict = [rule for rule in asking(facts.rules, facts.paths) if rule.conversations == "block"]
    if strict and facts.open_conversations:
        count = facts.open_conversations
        noun = "conversation is" if count == 1 else "conversations are"
        found.append(f"{count} {noun} still open, and the rules of {strict[0].match} want them resolved.")
    return tuple(found)


def names(people: Sequence[str]) -> str:
    """People in one phrase.

    >>> names(["Ann", "Bob", "Cyd"])
    'Ann, Bob and Cyd'
    """
    return " and ".join([", ".join(people[:-1]), people[-1]] if len(people) > 1 else people)
