"""A report as Markdown, for the docs."""

from __future__ import annotations

from collections.abc import Sequence

from core.evaluation.reports.report import Chart, Report, ReportTable


def markdown(report: Report) -> str:
    """The same without charts, for the docs."""
    lines = [f"# {report.title}", "", report.about, ""]
    lines += [f"- {key}: {value}" for key, value in report.facts.items() if key not in ("runs", "query set digest")]
    for part in report.parts:
        if isinstance(part, Chart):
            continue
        lines += ["", f"## {part.title}", ""]
        lines += (
            _table_lines(part)
            if isinstance(part, ReportTable)
            else [line for text in part.lines for line in (text, "")][:-1]
        )
        lines += ["", part.note] if isinstance(part, ReportTable) and part.note else []
    return "\n".join(lines) + "\n"


def _table_lines(part: ReportTable) -> list[str]:
    rule = tuple("---" for _ in part.heads)
    return [_line(row) for row in (part.heads, rule, *part.rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
