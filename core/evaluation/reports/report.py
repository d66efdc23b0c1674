"""Reports: tables, charts and sentences, as one HTML file that needs nothing else."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Figures in rows; numbers stand to the right."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in plotly's form."""

    title: str
    figure: Mapping[str, Any] = field(hash=False)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    title: str
    lines: tuple[str, ...]


Part = ReportTable | Chart | Text


@dataclass(frozen=True, slots=True)
class Report:
    """What was found. `facts` say what it was made from; `values` is the same for programs."""

    name: str
    title: str
    about: str
    facts: Mapping[str, str]
    parts: tuple[Part, ...]
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)


def html(report: Report) -> str:
    """One file with everything in it: plotly (about 4.7 MB) is written into the page, so that it opens anywhere."""
    body = "\n".join(_PARTS[type(part)](part, n) for n, part in enumerate(report.parts))
    facts = "".join(f"<dt>{_safe(key)}</dt><dd>{_safe(value)}</dd>" for key, value in report.facts.items())
    script = f"<script>{_plotly()}</script>" if any(isinstance(part, Chart) for part in report.parts) else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_safe(report.title)}</title>'
        f"<style>{_STYLE}</style>{script}</head><body><main><h1>{_safe(report.title)}</h1><p>{_safe(report.about)}</p>"
        f"<dl>{facts}</dl>\n{body}\n</main></body></html>\n"
    )


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _safe(text: object) -> str:
    return escaping.escape(str(text))


def _table_html(part: Any, n: int) -> str:
    heads = "".join(f"<th>{_safe(head)}</th>" for head in part.heads)
    rows = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in part.rows)
    return (
        f"<h2>{_safe(part.title)}</h2><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{_note(part)}"
    )


def _cell(text: str) -> str:
    right = ' class="n"' if text[:1] in "+-.0123456789" and any(c.isdigit() for c in text[:3]) else ""
    return f"<td{right}>{_safe(text)}</td>"


def _chart_html(part: Any, n: int) -> str:
    figure = json.dumps(part.figure).replace("</", "<\\/")
    return (
        f'<h2>{_safe(part.title)}</h2><div id="chart-{n}"></div><script>(f=>Plotly.newPlot("chart-{n}",f.data,f.layout,'
        f"{{displaylogo:false,responsive:true}}))({figure})</script>{_note(part)}"
    )


def _text_html(part: Any, n: int) -> str:
    return f"<h2>{_safe(part.title)}</h2>" + "".join(f"<p>{_safe(line)}</p>" for line in part.lines)


def _note(part: Any) -> str:
    return f"<p class=note>{_safe(part.note)}</p>" if part.note else ""


_PARTS = {ReportTable: _table_html, Chart: _chart_html, Text: _text_html}

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1b2733;margin:0;background:#fff}
main{max-width:1100px;margin:2rem auto;padding:0 1.5rem}
h1{font-size:1.7rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;border-bottom:2px solid #c7d0da;padding:.35rem .6rem;font-weight:600}
td{border-bottom:1px solid #e3e8ee;padding:.3rem .6rem}td.n{text-align:right}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;color:#4a5866;font-size:.9rem}dd{margin:0}
.note{color:#4a5866;font-size:.9rem}
"""
