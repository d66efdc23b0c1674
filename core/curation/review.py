"""Review rules: which move is allowed in which state, and what is missing before a merge.

An approval belongs to the exact commit it was given for, so an edit voids it by construction. A request for changes
stands until its reviewer comes back to it or an admin lifts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.access import Actor, allowed
from core.curation.gate import Demand
from core.curation.policy import FILE, Rule, applicable

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
}


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
    last_editors: tuple[str, ...]  # one; more when a commit by another door has the address of several
    paths: tuple[str, ...]
    verdicts: tuple[Verdict, ...]  # oldest first
    open_conversations: int
    broken: tuple[str, ...]  # sentences about documents that cannot be read
    conflicts: tuple[str, ...]  # paths that both sides changed
    rules: tuple[Rule, ...]
    name_collisions: tuple[tuple[str, ...], ...] = ()  # paths that differ only in case or Unicode form
    barred: tuple[str, ...] = ()  # accounts that may not judge it now, whatever they said before
    demands: tuple[Demand, ...] = ()  # what the rules want of search and it lacks


def current_verdicts(facts: Facts) -> dict[str, Verdict]:
    """Each reviewer's last verdict, if it still counts: an approval for this commit alone, a request until it is taken back.

    >>> old, new = Verdict("bob", "Bob", "c1", "approved"), Verdict("bob", "Bob", "c2", "approved")
    >>> list(current_verdicts(Facts("in review", "c2", "ann", ("ann",), (), (old,), 0, (), (), ()))), \\
    ... list(current_verdicts(Facts("in review", "c2", "ann", ("ann",), (), (old, new), 0, (), (), ())))
    ([], ['bob'])
    """
    last = {verdict.who: verdict for verdict in facts.verdicts}
    return {who: verdict for who, verdict in last.items() if who not in facts.barred and _counts(facts, verdict)}


def _counts(facts: Facts, verdict: Verdict) -> bool:
    """Authors and last editors approve nothing; a request for changes outlives every edit."""
    if verdict.verdict == "approved":
        return verdict.head == facts.head and verdict.who not in (facts.author, *facts.last_editors)
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
    """Whether this role may review these paths: changes of the review rules are for admins."""
    return allowed(actor, "review a change") and (FILE not in paths or allowed(actor, "bypass the review rules"))


def missing_approvals(facts: Facts) -> tuple[str, ...]:
    approvers = {verdict.who for verdict in approvals(facts)}
    applied = applicable(facts.rules, facts.paths)
    lack = max((rule.approvals for rule in applied), default=1) - len(approvers)
    missing = []
    if lack > 0:
        noun = "approval" if lack == 1 else "approvals"
        missing.append(
            f"It needs {lack} more {noun} from somebody who is neither its author nor its last editor{_lost(facts)}."
        )
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
