"""Every check of a file before it may become a document: one function per rule, one dict that names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from core.curation import metadata, structure
from core.curation.findings import SEVERITIES, CheckContext, File, Finding, Rule
from core.curation.frontmatter import decode, read_document, split
from core.curation.markup import check_marks
from core.curation.secrets import secrets
from core.errors import BadInput
from core.types import Document

RULES: Mapping[str, Rule] = {
    "encoding": structure.encoding,
    "size": structure.size,
    "characters": structure.characters,
    "secrets": secrets,
    "id": metadata.identity,
    "doc_type": metadata.doc_type,
    "keys": metadata.keys,
    "dates": metadata.dates,
    "supersedes": metadata.supersedes,
    "wanted": metadata.wanted,
    "title": structure.title,
    "headings": structure.levels,
    "empty sections": structure.empty_sections,
    "links": structure.broken_links,
    "markup": structure.markup,
}
MOST = 50  # findings of one rule that are shown; nobody reads more
_LINE = re.compile(r"Line (\d+)(: )?")
_ALMOST = re.compile(r"---[ \t]*\n[A-Za-z_]+[ \t]*:")


def check(path: str, raw: bytes, around: CheckContext = CheckContext()) -> tuple[Finding, ...]:
    """Everything that can be said about a file, worst first, then by line.

    >>> [(one.line, one.severity, one.rule) for one in check("a.md", b"# A\\n\\n### Far\\n\\nText.\\n") if one.severity != "note"]
    [(3, 'warning', 'headings')]
    >>> check("a.md", b"---\\nstatus: wip\\n---\\n# A\\n")[0].message
    "status is 'wip'; it must be one of draft, approved, superseded, retired."
    """
    try:
        text = decode(raw)
        check_marks(text)
    except BadInput as error:
        return (refusal(path, "encoding", str(error)),)
    try:
        document = read_document(path, text)
    except BadInput as error:
        return (refusal(path, "frontmatter", str(error)),)
    return ordered([*_unclosed(path, text), *run(File(document, raw), around)])


def run(file: File, around: CheckContext) -> Iterable[Finding]:
    """All rules on one readable file."""
    for name, rule in RULES.items():
        for count, remark in enumerate(rule(file, around), 1):
            if count > MOST:
                more = "There are more of these; fix the first ones and check again."
                yield Finding(file.path, remark.line, "note", name, more)
                break
            yield Finding(file.path, remark.line, remark.severity, name, remark.message)


def worst(findings: Iterable[Finding]) -> str:
    """The gravest severity; "" when there is nothing to say.

    >>> worst([Finding("a.md", 1, "note", "title", ""), Finding("a.md", 2, "error", "secrets", "")])
    'error'
    """
    return min((one.severity for one in findings), key=SEVERITIES.index, default="")


def anchors(documents: Iterable[Document]) -> dict[str, frozenset[str]]:
    """Path to the anchors of its headings, for checking links."""
    return {document.path: frozenset(structure.slugs(File(document))) for document in documents}


def harmless(path: str, raw: bytes) -> tuple[Finding, ...]:
    """What reading a file took out of it without loss.

    >>> [one.message for one in harmless("a.md", b"# A\\r\\n")]
    ['Line endings were changed to plain newlines.']
    """
    remarks = structure.encoding(File(Document("", path, "", ""), raw), CheckContext())
    return tuple(Finding(path, one.line, one.severity, "encoding", one.message) for one in remarks)


def refusal(path: str, rule: str, sentence: str) -> Finding:
    """A sentence that names its line, as a finding on that line."""
    found = _LINE.match(sentence)
    line = int(found[1]) if found else 1
    return Finding(path, line, "error", rule, sentence[found.end() :] if found and found[2] else sentence)


def _unclosed(path: str, text: str) -> Iterable[Finding]:
    if _ALMOST.match(text) and split(text)[1] == 0:
        sentence = "The frontmatter starts here and never ends. Close it with a line of three dashes."
        yield Finding(path, 1, "error", "frontmatter", sentence)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by line."""
    return tuple(sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.line, one.rule)))
