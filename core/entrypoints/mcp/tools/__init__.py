"""The tools, one file each: what it returns, and what it does."""

from __future__ import annotations

from core.entrypoints.mcp.tools.outline import outline
from core.entrypoints.mcp.tools.propose_change import propose_change
from core.entrypoints.mcp.tools.read import read
from core.entrypoints.mcp.tools.related import related
from core.entrypoints.mcp.tools.report_gap import report_gap
from core.entrypoints.mcp.tools.search import search
from core.entrypoints.mcp.tools.what_changed import what_changed

READING = (search, read, outline, related, what_changed)
WRITING = (report_gap, propose_change)
TOOLS = (*READING, *WRITING)  # in the order in which clients list them
