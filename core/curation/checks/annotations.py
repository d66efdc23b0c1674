"""Findings in the forms that git hosts show beside the lines of a pull request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from core.curation.checks.findings import Finding

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def github(findings: Iterable[Finding], folder: str = "") -> tuple[str, ...]:
    """Workflow commands of GitHub Actions.

    >>> github([Finding("a,b.md", 3, "error", "links", "100% gone:\\nno file")], "docs")
    ('::error file=docs/a%2Cb.md,line=3,title=links::100%25 gone:%0Ano file',)
    """
    return tuple(
        f"::{_LEVELS[each.severity]} file={_property(_at(folder, each.path))},line={each.line},title={_property(each.rule)}"
        f"::{_escaped(each.message)}"
        for each in findings
    )


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(findings: Iterable[Finding], folder: str = "") -> str:
    """A code quality report of GitLab CI.

    >>> json.loads(gitlab([Finding("a.md", 3, "error", "links", "No file.")]))[0]["location"]
    {'path': 'a.md', 'lines': {'begin': 3}}
    """
    rows = [
        {
            "description": each.message,
            "check_name": each.rule,
            "fingerprint": hashlib.sha256(
                f"{each.path}\0{each.line}\0{each.rule}\0{each.message}".encode()
            ).hexdigest(),
            "severity": _SEVERITIES[each.severity],
            "location": {"path": _at(folder, each.path), "lines": {"begin": each.line}},
        }
        for each in findings
    ]
    return json.dumps(rows, indent=2)


def _at(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def cell(text: str) -> str:
    """Words of a document or a person in a cell of a Markdown table, as plain text.

    >>> cell("a | b\\n<i> @all")
    'a \\\\| b &lt;i&gt; &#64;all'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in ("\\", "`", "*", "_", "[", "]", "|", "!"):
        plain = plain.replace(sign, f"\\{sign}")
    return plain.replace("@", "&#64;")
