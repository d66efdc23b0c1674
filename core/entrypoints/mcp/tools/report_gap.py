"""report_gap: a question that the knowledge base does not answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core import strict
from core.entrypoints.mcp.visits import ToolReply, ToolSession


class GapReply(ToolReply):
    """A question that is kept for the owners."""

    id: int
    query: str
    note: str
    who: str
    created: str

    def words(self) -> str:
        return (
            f"Kept as gap {self.id}. The owners of the nearest documents are told, and whoever asked hears of an "
            "answer."
        )


def report_gap(
    visit: ToolSession,
    question: Annotated[str, Field(description="The question, in the words of whoever asked it.")],
    note: Annotated[str, Field(description="What was expected, or what it is needed for.")] = "",
) -> GapReply:
    """Tell the owners that the knowledge base lacks the answer to a question.

    Use it when search found nothing that fits and the user agrees. Reporting the same question again adds nothing.
    """
    gap = strict.plain(visit.app.knowledge.gaps.report(visit.actor, question, note))
    return GapReply(**{name: gap[name] for name in GapReply.model_fields})
