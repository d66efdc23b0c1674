"""Where the words of a document come from: who wrote each line, and who approved each version."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.curation.review import names
from core.services.knowledge.documents import Documents
from core.types import Commit

_REVIEWED = re.compile(r"^(Reviewed-by|Verified-by|Bypass): (.+)$")


@dataclass(frozen=True, slots=True)
class BlameLine:
    """One line of a document, and the step that wrote it."""

    number: int
    text: str
    commit: Commit | None


def blame(documents: Documents, name: str) -> tuple[BlameLine, ...]:
    """Every line of a document with the step of the main line that brought it."""
    document, head = documents.show(name), documents.store.head()
    lines = documents.store.blame(head, document.path)
    wanted = {commit for commit, _ in lines}
    steps = {commit.id: commit for commit, _ in documents.store.log(head) if commit.id in wanted}
    for commit in wanted - set(steps):  # a step inside a merged change
        steps |= {step.id: step for step, _ in documents.store.log(commit, limit=1)}
    return tuple(BlameLine(n, text, steps.get(commit)) for n, (commit, text) in enumerate(lines, 1))


def approval(message: str) -> str:
    """Who approved a version, from the last paragraph of its commit; "" where nobody was asked.

    >>> approval("Keep 7 years\\n\\nChange: 3\\nReviewed-by: Petra Voss <p@x.org>\\nReviewed-at: now")
    'Approved by Petra Voss'
    >>> approval("Keep\\n\\nChange: 3\\nBypass: The auditor waits")
    'Merged without approval: The auditor waits'
    """
    found: dict[str, list[str]] = {"Reviewed-by": [], "Verified-by": [], "Bypass": []}
    for line in message.rstrip().split("\n\n")[-1].splitlines():
        if match := _REVIEWED.match(line):
            found[match[1]].append(match[2].split(" <")[0])
    if found["Bypass"]:
        return f"Merged without approval: {found['Bypass'][0]}"
    if found["Verified-by"]:
        return f"Confirmed by {names(found['Verified-by'])}"
    return f"Approved by {names(found['Reviewed-by'])}" if found["Reviewed-by"] else ""
