"""Uploads: the list with its states, matching passages side by side."""

from __future__ import annotations

from typing import Any

from core.curation.review.diffs import diff
from core.curation.upload.items import Batch, UploadItem, document_of
from core.curation.upload.shingles import CLOSE, Duplicate
from pages.ui import style
from pages.ui.components.listing import listing

STATES = {
    "ready": ("Ready", "good"),
    "needs attention": ("Look at it", "warn"),
    "refused": ("Refused", "bad"),
    "waits": ("Choose", "warn"),
    "dropped": ("Dropped", ""),
}
_NOUNS = {"error": "error", "warning": "thing to fix", "note": "note"}


def upload_list(batch: Batch, opened: int, key: str) -> Any:
    """Draw the list. Returns what was clicked: `open` (the number of an item)."""
    return listing([_line(n, item, n == opened) for n, item in enumerate(batch.items)], "", key)


def _line(n: int, item: UploadItem, is_open: bool) -> dict[str, object]:
    document = document_of(item)
    state = "waits" if _waits(item) else item.state
    text, tone = STATES["dropped" if item.choice == "drop" else state]
    return {
        "id": n,
        "pressed": is_open,
        "title": document.title if document else item.name,
        "sub": item.place,
        "badges": [{"text": text, "tone": tone}],
        "note": why(item),
        "right": item.converted,
    }


def _waits(item: UploadItem) -> bool:
    return item.undecided and item.state != "refused"


def why(item: UploadItem) -> str:
    """The most important thing about an item."""
    if item.choice == "drop":
        same = any(copy.kind == "same content" and copy.path == item.path for copy in item.duplicates)
        return "Already there, word for word." if same else "Left out by your choice."
    if item.state == "refused":
        return item.findings[0].message
    if item.undecided:
        return f"{kind(item.duplicates[0])}: {item.duplicates[0].title}"
    if item.unseen:
        return f"Converted from {item.converted}: compare it with the original."
    if item.choice == "replace":
        return f"Becomes a new version of {item.target}."
    counts = [
        (name, sum(finding.severity == severity for finding in item.findings)) for severity, name in _NOUNS.items()
    ]
    return ", ".join(count(number, name) for name, number in counts if number) or "Nothing to fix."


def count(number: int, noun: str) -> str:
    """A number with its noun; only the first word of the noun takes the plural.

    >>> count(2, "thing to fix"), count(1, "note")
    ('2 things to fix', '1 note')
    """
    head, _, rest = noun.partition(" ")
    return f"{style.count(number, head)} {rest}".strip()


def kind(duplicate: Duplicate) -> str:
    """In which way a document is a duplicate."""
    if duplicate.batch:
        return "Twice in this upload"
    return {
        "same path": "A document with this path is there",
        "same content": "The same text is there",
        "same id": "A document with this id is there",
        "near copy": f"{duplicate.score:.0%} of the wording is there",
        "same meaning": f"{duplicate.score:.0%} of the passages say what is there",
        CLOSE: "a passage about the same thing",
    }[duplicate.kind]


def matching_passages(duplicate: Duplicate, key: str) -> None:
    """Draw the passages that match, with differing words marked."""
    items = []
    for pair in duplicate.pairs:
        lines = diff(pair.theirs, pair.mine, context=-1).rows
        theirs = [mark for row in lines if row.left for mark in (*row.before, (False, "\n"))]
        mine = [mark for row in lines if row.right for mark in (*row.after, (False, "\n"))]
        sides = [
            {"title": "This upload", "sub": f"Line {pair.my_line}", "marks": mine},
            {"title": duplicate.path, "sub": f"Line {pair.their_line}", "marks": theirs},
        ]
        items.append({"sides": sides})
    listing(items, "", key)
