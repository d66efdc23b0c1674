"""Who wrote each line of a document, and who approved each version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.access import SYSTEM
from core.curation.review.moves import names
from core.services.knowledge.documents import Documents
from core.types import Commit

_REVIEWED = re.compile(r"^(Reviewed-by|Verified-by|Bypass): (.+)$")


@dataclass(frozen=True, slots=True)
class BlameLine:
    """One line and the commit that wrote it."""

    number: int
    text: str
    commit: Commit | None


def blame(documents: Documents, name: str) -> tuple[BlameLine, ...]:
    """Each line with the commit of the main line that brought it."""
    document, head = documents.show(name), documents.repository.head()
    lines = documents.repository.blame(head, document.path)
    wanted = {commit for commit, _ in lines}
    steps = {commit.id: commit for commit, _ in documents.repository.log(head) if commit.id in wanted}
    for commit in wanted - set(steps):  # a step inside a merged change
        steps |= {step.id: step for step, _ in documents.repository.log(commit, limit=1)}
    return tuple(BlameLine(n, text, steps.get(commit)) for n, (commit, text) in enumerate(lines, 1))


def approval(message: str) -> str:
    """Who approved a version, from the trailers of its commit; "" when nobody did.

    >>> approval("Keep 7 years\\n\\nChange: 3\\nReviewed-by: Petra Voss <p@x.org>\\nReviewed-at: now")
    'Approved by Petra Voss'
    >>> approval("Keep\\n\\nChange: 3\\nBypass: The auditor waits")
    'Merged without approval: The auditor waits'
    """
    trailers: dict[str, list[str]] = {"Reviewed-by": [], "Verified-by": [], "Bypass": []}
    for line in message.rstrip().split("\n\n")[-1].splitlines():
        if match := _REVIEWED.match(line):
            trailers[match[1]].append(match[2].split(" <")[0])
    if trailers["Bypass"]:
        return f"Merged without approval: {trailers['Bypass'][0]}"
    if trailers["Verified-by"]:
        return f"Confirmed by {names(trailers['Verified-by'])}"
    return f"Approved by {names(trailers['Reviewed-by'])}" if trailers["Reviewed-by"] else ""


def editors(lines: Iterable[BlameLine], limit: int = 3) -> tuple[Commit, ...]:
    """The newest commit of each person who wrote a line that still stands, newest first; what Concord brought in is
    nobody's.
    """
    newest: dict[str, Commit] = {}
    written = (line.commit for line in lines if line.commit and line.commit.author != SYSTEM.person)
    for commit in sorted(written, key=lambda commit: commit.when):
        newest[commit.author.name] = commit
    return tuple(sorted(newest.values(), key=lambda commit: commit.when, reverse=True))[:limit]
