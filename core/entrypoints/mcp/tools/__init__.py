"""The tools, one file each: what it returns, and what it does."""

from __future__ import annotations

from core.entrypoints.mcp.tools.outline import outline
from core.entrypoints.mcp.tools.read import read
from core.entrypoints.mcp.tools.search import search

TOOLS = (search, read, outline)  # in the order in which clients list them
