"""Home on the command line: what the knowledge base holds, and what needs attention."""

from __future__ import annotations

from typing import Any

from core import strict
from core.entrypoints.contracts.document_json import freshness_json
from core.entrypoints.knowledge import freshness
from core.entrypoints.record import CommandCall, Shown, command


@command("loop", calls="answers.loop.figures")
def loop(call: CommandCall) -> Shown:
    figures, points = call.app.answers.loop.figures(call.actor), call.app.answers.loop.points()
    every, asked = figures.gaps[""], figures.questions
    days = "-" if every.days is None else f"{every.days:.1f}"
    lines = [
        f"asked in {figures.days} days: {asked.asked}, found something good: {asked.found}, opened: {asked.opened}",
        f"gaps: {every.open} open, {every.closed} closed, median {days} days",
        *(f"{point.found.at}  {point.found.share:6.1%}  {point.found.commit[:12]}  {point.title}" for point in points),
    ]
    return Shown({**strict.plain(figures), "findability": strict.plain(points)}, lines)


@command("overview", calls="knowledge.home.overview")
def overview(call: CommandCall) -> Shown:
    view = call.app.knowledge.home.overview()
    value: dict[str, Any] = {
        "documents": view.documents,
        "types": dict(view.types),
        "folders": dict(view.folders),
        **freshness_json(view.attention),
        "unreadable": [{"path": path, "why": why} for path, why in view.unreadable],
        "index": strict.plain(view.index),
    }
    lines = [f"{view.documents} documents: " + ", ".join(f"{n} {name}" for name, n in view.types.items())]
    lines += freshness.lines(view.attention, soon=False)
    lines += [f"unreadable  {file['path']}: {file['why']}" for file in value["unreadable"]]
    lines.append(f"index: {view.index.behind} changes behind" if view.index.serving else "index: not built")
    return Shown(value, lines)
