"""The tools, one file each: what it returns, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from core.access import REACH, SCOPES, Actor, allowed
from core.entrypoints.mcp.tools.outline import outline
from core.entrypoints.mcp.tools.propose_change import propose_change
from core.entrypoints.mcp.tools.read import read
from core.entrypoints.mcp.tools.related import related
from core.entrypoints.mcp.tools.report_gap import report_gap
from core.entrypoints.mcp.tools.search import search
from core.entrypoints.mcp.tools.what_changed import what_changed
from core.entrypoints.mcp.visits import ToolReply


class Tool(NamedTuple):
    """A tool: few and written for models, each with the use case of the services that it calls and the action that
    needs.
    """

    function: Callable[..., ToolReply]
    calls: str
    needs: str

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def only_reads(self) -> bool:
        return REACH[self.needs] == SCOPES[0]


TOOLS = [  # in the order in which clients list them
    Tool(search, "search.searcher.search", "search"),
    Tool(read, "knowledge.documents.show_at", "read documents"),
    Tool(outline, "knowledge.documents.show", "read documents"),
    Tool(related, "knowledge.documents.show", "read documents"),
    Tool(what_changed, "knowledge.documents.touched", "read documents"),
    Tool(report_gap, "knowledge.gaps.report", "report a gap"),
    Tool(propose_change, "reviews.changes.propose", "propose a change"),
]


def offered(actor: Actor) -> tuple[Tool, ...]:
    """The tools that somebody may use."""
    return tuple(tool for tool in TOOLS if allowed(actor, tool.needs))
