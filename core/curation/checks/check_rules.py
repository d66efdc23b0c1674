"""The checks a file passes before it may become a document: one function per rule, registered in `RULES`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from core.curation.checks import lint, metadata, structure
from core.curation.checks.findings import SEVERITIES, CheckContext, File, Finding, Read, Reading, Rule
from core.curation.checks.structure import secrets
from core.curation.document.frontmatter import decode, read_document, split
from core.curation.document.size_limits import check_limits
from core.errors import BadInput
from core.types import Document

RULES: Mapping[str, Rule] = {
    "encoding": structure.encoding,
    "size": structure.size,
    "characters": structure.characters,
    "secrets": secrets,
    "id": metadata.identity,
    "doc_type": metadata.doc_type,
    "status": metadata.status,
    "keys": metadata.keys,
    "dates": metadata.dates,
    "supersedes": metadata.supersedes,
    "wanted": metadata.wanted,
    "title": structure.title,
    "headings": structure.levels,
    "empty sections": structure.empty_sections,
    "links": structure.broken_links,
    "heading marks": lint.heading_marks,
    "tables": lint.tables,
    "pictures": lint.pictures,
    "unclosed": lint.unclosed,
    "unfinished": lint.unfinished,
    "template": lint.template_hints,
    "markup": structure.markup,
}
HERE = (
    "encoding",
    "id",
    "dates",
    "supersedes",
    "links",
    "pictures",
)  # rules that need the bytes or what is around the document
MOST = 50  # findings of one rule that are shown; nobody reads more
_LINE = re.compile(r"Line (\d+)(: )?")
_ALMOST = re.compile(r"---[ \t]*\n[A-Za-z_]+[ \t]*:")


def read(document: Document) -> Reading:
    """Parse a document and look at it alone: what takes long, and may run in another process.

    >>> read(Document("a", "a.md", "A", "# A\\n\\nSee [B](b.md).\\n")).anchors
    ('a',)
    """
    file = File(document)
    findings = run(file, CheckContext(), [name for name in RULES if name not in HERE])
    return Reading(tuple(findings), file.anchors, file.links, file.pictures)


def check(path: str, raw: bytes, context: CheckContext = CheckContext(), read: Read = read) -> tuple[Finding, ...]:
    """All findings about a file, worst first, then by line. `read` says where it is parsed.

    >>> [
    ...     (finding.line, finding.severity, finding.rule)
    ...     for finding in check("a.md", b"# A\\n\\n### Far\\n\\nText.\\n")
    ...     if finding.severity != "note"
    ... ]
    [(3, 'warning', 'headings')]
    >>> check("a.md", b"---\\nstatus: beta\\n---\\n# A\\n\\nText.\\n")[0].message
    "The status 'beta' is not known here, so the document counts as approved. Statuses: draft, approved, superseded,
    retired."
    """
    file = parsed(path, raw, read)
    return in_context(file, context) if isinstance(file, File) else (file,)


def parsed(path: str, raw: bytes, read: Read = read) -> File | Finding:
    """A file as its checks need it, or why it is refused; this takes long, and what is around the file has no part in
    it.
    """
    try:
        text = decode(raw)
        check_limits(text)
    except BadInput as error:
        return refusal(path, "encoding", str(error))
    try:
        document = read_document(path, text)
    except BadInput as error:
        return refusal(path, "frontmatter", str(error))
    try:
        return File(document, raw, read(document))
    except BadInput as error:
        return refusal(path, "limits", str(error))


def in_context(file: File, context: CheckContext) -> tuple[Finding, ...]:
    """All findings about a file that was parsed, worst first, then by line."""
    alone = file.reading.findings if file.reading else ()
    return ordered([*_unclosed(file.path, file.document.text), *alone, *run(file, context, HERE)])


def run(file: File, context: CheckContext, rules: Iterable[str] = tuple(RULES)) -> Iterable[Finding]:
    for name in rules:
        for count, remark in enumerate(RULES[name](file, context), 1):
            if count > MOST:
                more = "There are more of these; fix the first ones and check again."
                yield Finding(file.path, remark.line, "note", name, more)
                break
            yield Finding(file.path, remark.line, remark.severity, name, remark.message, remark.field)


def worst(findings: Iterable[Finding]) -> str:
    """The worst severity; "" without findings.

    >>> worst([Finding("a.md", 1, "note", "title", ""), Finding("a.md", 2, "error", "secrets", "")])
    'error'
    """
    return min((finding.severity for finding in findings), key=SEVERITIES.index, default="")


def decoding_notes(path: str, raw: bytes) -> tuple[Finding, ...]:
    """What decoding changed without loss.

    >>> [note.message for note in decoding_notes("a.md", b"# A\\r\\n")]
    ['Line endings were changed to plain newlines.']
    """
    remarks = structure.encoding(File(Document("", path, "", ""), raw), CheckContext())
    return tuple(Finding(path, remark.line, remark.severity, "encoding", remark.message) for remark in remarks)


def refusal(path: str, rule: str, sentence: str) -> Finding:
    """An error message as a finding, on the line that it names."""
    match = _LINE.match(sentence)
    line = int(match[1]) if match else 1
    message = sentence[match.end() :] if match and match[2] else sentence
    return Finding(path, line, "error", rule, f"T{message[1:]}" if message.startswith("the ") else message)


def _unclosed(path: str, text: str) -> Iterable[Finding]:
    if _ALMOST.match(text) and split(text)[1] == 0:
        sentence = "The frontmatter starts here and never ends. Close it with a line of three dashes."
        yield Finding(path, 1, "error", "frontmatter", sentence)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.line, finding.rule)))
