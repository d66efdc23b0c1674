"""Talking about a change and judging it: comments on lines, suggestions, verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.access import Actor, require
from core.curation import review
from core.curation.diffs import lines
from core.curation.proposals import check_text
from core.errors import BadInput, NotFound, Refused
from core.services.reviews.changes import Change, Changes

_SUGGESTION = re.compile(r"^```suggestion[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Comment:
    """One remark. `thread` is the remark it answers, 0 for the first; `line` is where it stands now, 0 if nowhere."""

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

    @property
    def suggestion(self) -> str | None:
        """The lines that it proposes instead of the quoted ones."""
        return suggested(self.body)


def suggested(body: str) -> str | None:
    """What a remark proposes to write instead.

    >>> suggested("Better:\\n```suggestion\\nKeep 7 years.\\n```")
    'Keep 7 years.'
    """
    found = _SUGGESTION.search(body)
    return found[1].removesuffix("\n") if found else None


def place(quote: str, line: int, text: str) -> int:
    """Where quoted lines stand in a text now, nearest to where they stood; 0 when they are gone.

    >>> place("b", 2, "new\\na\\nb\\nc"), place("x", 2, "a\\nb")
    (3, 0)
    """
    wanted, given = quote.split("\n"), lines(text)
    found = [n + 1 for n in range(len(given) - len(wanted) + 1) if given[n : n + len(wanted)] == wanted]
    return min(found, key=lambda n: abs(n - line), default=0)


class Discussion:
    """Comments and verdicts."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.database, self.store, self.clock = changes.database, changes.store, changes.clock

    def comments(self, number: int) -> tuple[Comment, ...]:
        """The discussion, oldest first, each remark at the line where its words stand now."""
        head = self.changes.get(number).head
        rows = self.database.comments.of_change(number)
        texts = {path: self._text(head, path) for path in {row["path"] for row in rows if row["path"]}}
        return tuple(_comment(row, texts.get(row["path"], "")) for row in rows)

    def _text(self, head: str, path: str) -> str:
        try:
            return self.store.read(head, path).decode("utf-8", "replace")
        except NotFound:
            return ""

    # ------------------------------------------------------------ talking

    def comment(
        self,
        actor: Actor,
        number: int,
        body: str,
        *,
        path: str = "",
        line: int = 0,
        last: int = 0,
        thread: int = 0,
        head: str = "",
    ) -> Comment:
        """A remark on the whole, on lines of a document (of the text that `head` names), or in answer to another."""
        require(actor, "propose a change")
        text = check_text(body)
        if not text:
            raise BadInput("The comment is empty.")
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts)
            _as_seen(facts, head)
            anchor = self._anchor(facts.head, facts.paths, path, line, last or line)
            if thread:
                root = state.comments.get(number, thread)
                if root is None:
                    raise NotFound(f"Change {number} has no comment {thread}.")
                thread, anchor["path"] = root["thread"] or thread, root["path"]
            author = {"who": actor.id, "name": actor.name}
            made = state.comments.add(
                change=number, thread=thread, **anchor, **author, body=text, at=self.clock.stamp()
            )
            self.changes.touch(state, number)
            self.changes.audit.record(state, actor, "comment", row["title"], change=number, detail=path)
        return next(comment for comment in self.comments(number) if comment.id == made)

    def _anchor(self, head: str, paths: Sequence[str], path: str, line: int, last: int) -> dict[str, Any]:
        """A place in a document of the change, with the words that stand there."""
        if not path:
            return {"path": "", "line": 0, "last": 0, "quote": ""}
        if path not in paths:
            raise BadInput(f"The change does not touch {path!r}. Its documents: {', '.join(paths)}.")
        given = lines(self._text(head, path))
        if not 0 <= line <= last <= len(given):
            raise BadInput(f"{path} has lines 1 to {len(given)}, not {line} to {last}.")
        quote = "\n".join(given[line - 1 : last]) if line else ""
        return {"path": path, "line": line, "last": last, "quote": quote}

    def resolve(self, actor: Actor, number: int, comment: int, *, done: bool = True) -> None:
        """Close a conversation, or open it again."""
        require(actor, "propose a change")
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow("comment", facts)
            stamp = self.clock.stamp() if done else ""
            root = state.comments.get(number, comment)
            if root is None or root["thread"]:
                raise NotFound(f"Change {number} has no conversation {comment}.")
            state.comments.set(comment, resolved=stamp)
            action = "resolve conversation" if done else "reopen conversation"
            self.changes.audit.record(state, actor, action, row["title"], change=number, detail=str(comment))

    def apply(self, actor: Actor, number: int, comment: int) -> Change:
        """Write a suggestion into the document, as an edit of the person who accepts it."""
        require(actor, "propose a change")
        found = next((one for one in self.comments(number) if one.id == comment), None)
        if found is None or found.suggestion is None:
            raise NotFound(f"Comment {comment} of change {number} suggests no text.")
        if found.applied:
            raise Refused("This suggestion was applied before.")
        if not found.line:
            raise Refused("The lines that this suggestion is about have changed since. Edit the document instead.")
        change = self.changes.get(number)
        written = self._text(change.head, found.path).split("\n")  # the last one empty, so that the text ends as it did
        written[found.line - 1 : found.last] = found.suggestion.split("\n")
        files = {found.path: "\n".join(written).encode()}
        self.changes.edit(actor, number, files, f"Apply the suggestion of {found.name}", expected=change.head)
        with self.database.transaction() as state:
            stamp = self.clock.stamp()
            state.comments.set(found.thread or comment, applied=stamp, resolved=stamp)
            state.comments.set(comment, applied=stamp)
        return self.changes.get(number)

    # ------------------------------------------------------------ judging

    def approve(self, actor: Actor, number: int, note: str = "", *, head: str = "") -> Change:
        """Say that the present text may become part of the knowledge base."""
        return self._judge(actor, number, "approve", "approved", note, head)

    def request_changes(self, actor: Actor, number: int, note: str = "", *, head: str = "") -> Change:
        """Say what must be better first."""
        if not note.strip():
            raise BadInput("Say what should be changed, so that the author can do it.")
        return self._judge(actor, number, "request changes", "changes requested", note, head)

    def _judge(self, actor: Actor, number: int, move: str, verdict: str, note: str, head: str) -> Change:
        require(actor, "review a change")
        text = check_text(note)
        with self.changes.writing(number) as (state, row, facts):
            self.changes.allow(move, facts)
            self._may_judge(actor, facts, head)
            judge = {"who": actor.id, "name": actor.name}
            state.verdicts.add(
                change=number, **judge, head=facts.head, verdict=verdict, note=text, at=self.clock.stamp()
            )
            self.changes.touch(state, number)
            self.changes.audit.record(state, actor, move, row["title"], change=number, detail=facts.head)
        return self.changes.get(number)

    def _may_judge(self, actor: Actor, facts: review.Facts, head: str) -> None:
        own = review.own_work(facts, actor.id, actor.name)
        if own:
            raise Refused(own)
        if not review.may_judge(actor, facts.paths):
            raise Refused("Only admins may judge a change to the review rules.")
        _as_seen(facts, head)


def _as_seen(facts: review.Facts, head: str) -> None:
    if head and head != facts.head:
        raise Refused("The change was edited after you opened it. Look at the new text first.")


def _comment(row: dict[str, Any], text: str) -> Comment:
    line = place(row["quote"], row["line"], text) if row["line"] else 0
    kept = {name: row[name] for name in Comment.__dataclass_fields__ if name not in ("line", "last")}
    return Comment(**kept, line=line, last=line + row["last"] - row["line"] if line else 0)
