"""The tools, one file each: what it returns, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.access import REACH, SCOPES, Actor, allowed
from core.entrypoints.mcp.replies import ToolReply
from core.entrypoints.mcp.tools.outline import outline
from core.entrypoints.mcp.tools.propose_change import propose_change
from core.entrypoints.mcp.tools.read import read
from core.entrypoints.mcp.tools.related import related
from core.entrypoints.mcp.tools.report_gap import report_gap
from core.entrypoints.mcp.tools.search import search
from core.entrypoints.mcp.tools.what_changed import what_changed

Tool = Callable[..., ToolReply]
NEEDS: Mapping[Tool, str] = {  # a tool to the action that it takes, in the order in which clients list them
    search: "search",
    read: "read documents",
    outline: "read documents",
    related: "read documents",
    what_changed: "read documents",
    report_gap: "report a gap",
    propose_change: "propose a change",
}
TOOLS = tuple(NEEDS)


def offered(actor: Actor) -> tuple[Tool, ...]:
    """The tools that somebody may use."""
    return tuple(tool for tool, action in NEEDS.items() if allowed(actor, action))


def only_reads(tool: Tool) -> bool:
    return REACH[NEEDS[tool]] == SCOPES[0]
