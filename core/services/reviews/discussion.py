"""Comments on lines, suggestions and verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from core.access import PERSON, READS, Actor, allowed, require, use_case
from core.curation.review import moves
from core.curation.review.diffs import lines
from core.curation.review.proposals import CO_AUTHOR, SUGGESTER, check_text, credit
from core.errors import BadInput, NotFound, Refused
from core.services.reviews.changes import Change, Changes
from core.services.reviews.facts import as_seen
from core.storage.state.records import ChangeRow, CommentRow, of_row
from core.types import Edit, Person

if TYPE_CHECKING:
    from core.storage.state.database import State

_SUGGESTION = re.compile(r"^```suggestion[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class CommentPlace(NamedTuple):
    """Lines of a document of the change; the change as a whole without a path."""

    path: str = ""
    line: int = 0
    last: int = 0  # of several
    removed: bool = False  # lines of the text before the change


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. `thread` is the comment it answers, 0 for the first; `line` is its place now, 0 if gone."""

    id: int
    thread: int
    path: str
    line: int
    last: int
    quote: str
    who: str
    name: str
    body: str
    at: str
    resolved: str
    applied: str
    edited: str = ""
    deleted: str = ""
    removed: bool = False

    @property
    def suggestion(self) -> str | None:
        """The lines it proposes instead of the quoted ones."""
        return suggested(self.body)


def suggested(body: str) -> str | None:
    """The text that a comment suggests.

    >>> suggested("Better:\\n```suggestion\\nKeep 7 years.\\n```")
    'Keep 7 years.'
    """
    match = _SUGGESTION.search(body)
    return match[1].removesuffix("\n") if match else None


def place(quote: str, line: int, text: str) -> int:
    """The line where quoted lines are now, nearest to where they were; 0 when they are gone.

    >>> place("b", 2, "new\\na\\nb\\nc"), place("x", 2, "a\\nb")
    (3, 0)
    """
    wanted, present = quote.split("\n"), lines(text)
    starts = [n + 1 for n in range(len(present) - len(wanted) + 1) if present[n : n + len(wanted)] == wanted]
    return min(starts, key=lambda n: abs(n - line), default=0)


class Discussion:
    """Comments and verdicts."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.database, self.repository, self.clock = changes.database, changes.repository, changes.clock

    @use_case("propose a change", READS)
    def comments(self, actor: Actor, number: int) -> tuple[Comment, ...]:
        """Oldest first, each at the line where its quote is now."""
        change, rows = self.changes.get(number), self.database.comments.of_change(number)
        sides = {(row.path, row.removed) for row in rows if row.path}
        before = partial(self._before, change.start, change.documents)
        texts = {(path, old): before(path) if old else self._text(change.head, path) for path, old in sides}
        return tuple(_comment(row, texts.get((row.path, row.removed), "")) for row in rows)

    def _before(self, start: str, edits: Sequence[Edit], path: str) -> str:
        """A document as it was before the change."""
        return self._text(start, next((edit.old_path for edit in edits if edit.path == path), "") or path)

    def _text(self, head: str, path: str) -> str:
        try:
            return self.repository.read(head, path).decode("utf-8", "replace")
        except NotFound:
            return ""

    # ------------------------------------------------------------ talking

    @use_case("propose a change")
    def comment(
        self,
        actor: Actor,
        number: int,
        body: str,
        place: CommentPlace = CommentPlace(),
        *,
        thread: int = 0,
        head: str = "",
    ) -> Comment:
        """Comment on the change, on lines of a document at `head`, or in answer to another comment."""
        text = check_text(body)
        if not text:
            raise BadInput("The comment is empty.")
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts, actor)
            as_seen(facts.head, head)
            anchor = self._anchor(row, facts, place)
            if thread:
                root = state.comments.get(number, thread)
                if root is None:
                    raise NotFound(f"Change {number} has no comment {thread}.")
                thread, anchor["path"] = root.thread or thread, root.path
            author = {"who": actor.id, "name": actor.name}
            added = state.comments.add(
                change=number, thread=thread, **anchor, **author, body=text, at=self.clock.stamp()
            )
            self.changes.touch(state, number)
            self.changes.audit.record(state, actor, "comment", row.title, change=number, detail=place.path)
            self.changes.news.commented(state, actor, row, added, thread, text)
        return next(comment for comment in self.comments(actor, number) if comment.id == added)

    def _anchor(self, row: ChangeRow, facts: moves.Facts, place: CommentPlace) -> dict[str, Any]:
        """A place in a document of the change, with the lines it quotes."""
        path, line, last = place.path, place.line, place.last or place.line
        if not path:
            return {"path": "", "line": 0, "last": 0, "quote": ""}
        if path not in facts.paths:
            raise BadInput(f"The change does not touch {path!r}. Its documents: {', '.join(facts.paths)}.")
        present = lines(self._commented(row, facts, place))
        if not 0 <= line <= last <= len(present):
            raise BadInput(f"{path} has lines 1 to {len(present)}, not {line} to {last}.")
        quote = "\n".join(present[line - 1 : last]) if line else ""
        return {"path": path, "line": line, "last": last, "quote": quote, "removed": place.removed}

    def _commented(self, row: ChangeRow, facts: moves.Facts, place: CommentPlace) -> str:
        """The text that a new comment is about."""
        if not place.removed:
            return self._text(facts.head, place.path)
        git = self.changes.facts.looked([row], whole=False)[row.id]
        return self._before(git.start, git.edits.documents, place.path)

    @use_case("propose a change")
    def edit_comment(self, actor: Actor, number: int, comment: int, body: str) -> Comment:
        """Other words in one's own comment; the old ones are kept in the audit."""
        text = check_text(body)
        if not text:
            raise BadInput("The comment is empty. Delete it instead.")
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts, actor)
            old = _there(state, number, comment)
            if old.who != actor.id:
                raise Refused(f"Only {old.name} may edit this comment.")
            if suggested(old.body) is not None or suggested(text) is not None:
                raise Refused(
                    "A suggestion keeps its text, so that others apply what they read. Delete it and suggest again."
                )
            state.comments.set(comment, body=text, edited=self.clock.stamp())
            audit = self.changes.audit
            audit.record(state, actor, "edit comment", row.title, change=number, detail=f"{comment}: {old.body}")
        return next(remark for remark in self.comments(actor, number) if remark.id == comment)

    @use_case("propose a change")
    def delete_comment(self, actor: Actor, number: int, comment: int) -> None:
        """Delete one's own comment, or any as an admin; its words are kept in the audit."""
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts, actor)
            old = _there(state, number, comment)
            if old.who != actor.id and not allowed(actor, "lift a request for changes"):
                raise Refused(f"Only {old.name} or an admin may delete this comment.")
            stamp, root = self.clock.stamp(), old.thread or comment
            state.comments.set(comment, body="", deleted=stamp)
            if not state.comments.alive(number, root):
                state.comments.set(root, resolved=stamp)
            detail = f"{comment}, by {old.name}: {old.body}"
            self.changes.audit.record(state, actor, "delete comment", row.title, change=number, detail=detail)

    @use_case("propose a change")
    def resolve(self, actor: Actor, number: int, comment: int, *, done: bool = True) -> None:
        """Close a conversation, or reopen it."""
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts, actor)
            stamp = self.clock.stamp() if done else ""
            root = state.comments.get(number, comment)
            if root is None or root.thread:
                raise NotFound(f"Change {number} has no conversation {comment}.")
            state.comments.set(comment, resolved=stamp)
            action = "resolve conversation" if done else "reopen conversation"
            self.changes.audit.record(state, actor, action, row.title, change=number, detail=str(comment))

    @use_case("propose a change")
    def apply(self, actor: Actor, number: int, comment: int) -> Change:
        """Write a suggestion into the document. The person who applies it answers for its words, so its suggester may
        approve.
        """
        remark = next((remark for remark in self.comments(actor, number) if remark.id == comment), None)
        if remark is None or remark.suggestion is None:
            raise NotFound(f"Comment {comment} of change {number} suggests no text.")
        if remark.applied:
            raise Refused("This suggestion was applied before.")
        if remark.removed:
            raise Refused("The change removes these lines. Suggest other words for a line that it keeps or adds.")
        if not remark.line:
            raise Refused("The lines that this suggestion is about have changed since. Edit the document instead.")
        change = self.changes.get(number)
        written = self._text(change.head, remark.path).split(
            "\n"
        )  # the last one empty, so that the text ends as it did
        written[remark.line - 1 : remark.last] = remark.suggestion.split("\n")
        files = {remark.path: "\n".join(written).encode()}
        writer = Person(remark.name, self.changes.accounts.address_of(remark.who))
        role = SUGGESTER if actor.kind == PERSON else CO_AUTHOR  # a program answers for no words
        note = f"Apply the suggestion of {remark.name}\n\n{credit(role, writer)}"
        self.changes.edit(actor, number, files, note, expected=change.head)
        with self.database.transaction() as state:
            stamp = self.clock.stamp()
            state.comments.set(remark.thread or comment, applied=stamp, resolved=stamp)
            state.comments.set(comment, applied=stamp)
        return self.changes.get(number)

    # ------------------------------------------------------------ judging

    @use_case("review a change")
    def approve(self, actor: Actor, number: int, note: str = "", *, head: str = "") -> Change:
        return self._judge(actor, number, "approve", "approved", note, head)

    @use_case("review a change")
    def request_changes(self, actor: Actor, number: int, note: str = "", *, head: str = "") -> Change:
        if not note.strip():
            raise BadInput("Say what should be changed, so that the author can do it.")
        return self._judge(actor, number, "request changes", "changes requested", note, head)

    def _judge(self, actor: Actor, number: int, move: str, verdict: str, note: str, head: str) -> Change:
        require(actor, "review a change")
        text = check_text(note)
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow(move, facts, actor)
            self._may_judge(actor, move, facts, head)
            judge = {"who": actor.id, "name": actor.name}
            state.verdicts.add(
                change=number, **judge, head=facts.head, verdict=verdict, note=text, at=self.clock.stamp()
            )
            self.changes.touch(state, number)
            self.changes.audit.record(state, actor, move, row.title, change=number, detail=facts.head)
            self.changes.news.judged(state, actor, row, verdict, text)
        return self.changes.get(number)

    @use_case("review a change")
    def take_back(self, actor: Actor, number: int) -> Change:
        """Withdraw one's own approval or request for changes, also after having edited the text oneself."""
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("take back", facts, actor)
            verdict = moves.current_verdicts(facts).get(actor.id)
            if verdict is None:
                raise Refused(f"{actor.name} has no verdict on this text that could be taken back.")
            self._undo(state, number, verdict, "taken back")
            self.changes.audit.record(state, actor, "take back", row.title, change=number, detail=verdict.verdict)
        return self.changes.get(number)

    @use_case("lift a request for changes")
    def lift(self, actor: Actor, number: int, reason: str, who: str = "") -> Change:
        """Lift the requests for changes, or that of one reviewer, with a reason that stays."""
        text = check_text(reason)
        if not text:
            raise BadInput("Say why the request for changes is lifted. The reason stays with the change.")
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("lift", facts, actor)
            lifted = [verdict for verdict in moves.blocking(facts) if who in ("", verdict.who)]
            if not lifted:
                raise NotFound(f"{who} did not request changes. Who did: {_accounts(moves.blocking(facts))}.")
            for verdict in lifted:
                self._undo(state, number, verdict, "lifted", text)
                detail = f"{verdict.name}: {text}"
                self.changes.audit.record(state, actor, "lift", row.title, change=number, detail=detail)
        return self.changes.get(number)

    def _undo(self, state: State, number: int, verdict: moves.Verdict, how: str, note: str = "") -> None:
        judge = {"who": verdict.who, "name": verdict.name, "head": verdict.head}
        state.verdicts.add(change=number, **judge, verdict=how, note=note, at=self.clock.stamp())
        self.changes.touch(state, number)

    def _may_judge(self, actor: Actor, move: str, facts: moves.Facts, head: str) -> None:
        """Who wrote words of it does not approve it, and may still ask for better ones; its author does neither."""
        own = moves.own_work(facts, actor.id, actor.name)
        if own and (move == "approve" or actor.id == facts.author):
            raise Refused(own)
        if not moves.may_judge(actor, facts.paths):
            raise Refused("Only admins may judge a change to the review rules.")
        as_seen(facts.head, head)


def _there(state: State, number: int, comment: int) -> CommentRow:
    """A comment that nobody deleted."""
    row = state.comments.get(number, comment)
    if row is None or row.deleted:
        raise NotFound(f"Change {number} has no comment {comment}.")
    return row


def _accounts(verdicts: Sequence[moves.Verdict]) -> str:
    return ", ".join(verdict.who for verdict in verdicts)


def _comment(row: CommentRow, text: str) -> Comment:
    line = place(row.quote, row.line, text) if row.line else 0
    return of_row(Comment, row, line=line, last=line + row.last - row.line if line else 0)
