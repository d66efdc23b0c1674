"""How the Reviews page words states, checks, ages, events and people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.curation.checks.findings import Finding
from core.curation.pictures.picture_files import is_picture
from core.curation.review.moves import names
from core.curation.text.render import Node
from core.errors import BadInput
from core.services.reviews.diff import News
from core.storage.state.records import AuditEntry
from core.types import Document
from pages.ui import people, style
from pages.ui.workspace import app

STATES = {
    "draft": ("Draft", ""),
    "in review": ("In review", "note"),
    "changes requested": ("Changes requested", "warn"),
    "approved": ("Approved", "good"),
    "merged": ("Merged", "good"),
    "closed": ("Closed", "bad"),
}
KINDS = {
    "added": ("New", "good", "+"),
    "edited": ("Edited", "note", "~"),
    "renamed": ("Renamed", "note", "→"),
    "deleted": ("Deleted", "bad", "−"),
}
# action in the audit: (what follows the name, tone of the dot)
EVENTS = {
    "propose": ("started this change", ""),
    "edit": ("edited it", ""),
    "describe": ("changed title or description", ""),
    "submit": ("asked for review", "note"),
    "ask for review": ("asked for review by name", "note"),
    "invite co-author": ("invited a co-author", ""),
    "remove co-author": ("removed a co-author", ""),
    "withdraw": ("took it back to draft", ""),
    "approve": ("approved it", "good"),
    "request changes": ("requested changes", "bad"),
    "take back": ("took the verdict back", ""),
    "lift": ("lifted a request for changes", "note"),
    "delete comment": ("deleted a comment", ""),
    "solve conflicts": ("resolved conflicts with what was merged in between", ""),
    "merge": ("merged it", "good"),
    "merge with bypass": ("merged it without approval", "bad"),
    "close": ("closed it", "bad"),
    "reopen": ("reopened it", ""),
    "resolve conversation": ("resolved a conversation", ""),
    "reopen conversation": ("reopened a conversation", ""),
}
_AVATARS = ("#1f5f99", "#8a5a00", "#00704f", "#8c4a73", "#3f6f8f", "#a04400", "#5b5b9a")


def state_badge(state: str) -> dict[str, str]:
    text, tone = STATES[state]
    return {"text": text, "tone": tone}


def check_badges(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """What the checks found in a change or one of its documents, counted: what it brings, and what was there
    before it.
    """
    errors = sum(finding.severity == "error" for finding in findings)
    known = sum(finding.severity == "warning" and finding.known for finding in findings)
    fixes = to_fix(findings)
    counts = (
        (style.count(errors, "error"), errors, "bad"),
        (f"{fixes} to fix", fixes, "warn"),
        (f"{known} already there", known, ""),
    )
    return [{"text": text, "tone": tone} for text, number, tone in counts if number]


def to_fix(findings: Sequence[Finding]) -> int:
    """How many warnings a change brings."""
    return sum(finding.severity == "warning" and not finding.known for finding in findings)


def news_badges(news: News) -> list[dict[str, str]]:
    """What others did since somebody looked, counted.

    >>> news_badges(News(2, 1)), news_badges(News(seen=False))
    ([{'text': '2 new edits', 'tone': 'note'}, {'text': '1 new comment', 'tone': 'note'}], [{'text': 'New to you',
    'tone': 'note'}])
    """
    if not news.seen:
        return [{"text": "New to you", "tone": "note"}]
    counts = ((news.edits, "new edit"), (news.comments, "new comment"))
    return [{"text": style.count(number, noun), "tone": "note"} for number, noun in counts if number]


def age(stamp: str, now: datetime) -> str:
    """How long ago something happened.

    >>> now = datetime.fromisoformat("2026-11-15T12:00:00+00:00")
    >>> age("2026-11-15T11:58:00+00:00", now), age("2026-11-12T12:00:00+00:00", now)
    ('2 minutes ago', '3 days ago')
    """
    seconds = (now - datetime.fromisoformat(stamp)).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{style.count(int(seconds // length), unit)} ago"
    return "just now"


def event(entry: AuditEntry) -> dict[str, object]:
    """An event of a change, for its timeline."""
    text, tone = EVENTS.get(entry.action, (entry.action, ""))
    return {
        "name": entry.name,
        "text": text,
        "tone": tone,
        "when": style.moment(entry.at),
        "note": (
            nodes(entry.detail)
            if entry.action in ("propose", "merge with bypass", "close", "lift") and entry.detail
            else None
        ),
    }


def nodes(text: str, path: str = "") -> list[Node]:
    """Markdown that people wrote, as safe nodes; as it was typed where that takes too long."""
    try:
        return people.with_chips(app().upload.reader.render(Document("", path, "", text)).nodes)
    except BadInput:
        return [text]


def initials(name: str) -> str:
    """Two letters for an avatar.

    >>> initials("Avery Lindqvist")
    'AL'
    """
    parts = [part for part in name.split() if part[:1].isalnum()]
    return "".join(part[0] for part in parts[:1] + parts[1:][-1:]).upper() or "?"


def colour(who: str) -> str:
    """The colour of a person's avatar, always the same."""
    return _AVATARS[sum(who.encode()) % len(_AVATARS)]


def files(paths: Sequence[str]) -> str:
    """How many of each kind.

    >>> files(["it/vpn.md"]), files(["it/vpn.md", "it/vpn.assets/map.png"]), files(["review-rules.yaml"])
    ('1 document', '1 document and 1 picture', '1 file')
    """
    documents, pictures = sum(path.endswith(".md") for path in paths), sum(map(is_picture, paths))
    kinds = (("document", documents), ("picture", pictures), ("file", len(paths) - documents - pictures))
    return names([style.count(number, noun) for noun, number in kinds if number] or ["0 documents"])
