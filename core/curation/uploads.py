"""Uploads before they are documents: items, batches, and the path of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from core.curation import checks, conversions
from core.curation.archives import unpack
from core.curation.duplicates import Duplicate
from core.curation.findings import Finding
from core.curation.frontmatter import MAX_BYTES, read_document
from core.curation.limits import check_limits
from core.curation.names import collision_key, safe_path, visible
from core.errors import BadInput, ConcordError, NotFound
from core.types import Document

LIMITS = "limits"  # the rule that a text breaks which takes too long to read
MAX_ITEMS = 500
MAX_UPLOAD = 50 * 1024 * 1024
STATES = ("ready", "needs attention", "refused")


@dataclass(frozen=True, slots=True)
class UploadItem:
    """One upload. `choice` is what to do about its duplicate at `target`; `notes` say what decoding changed."""

    name: str
    path: str
    text: str = ""
    converted: str = ""
    findings: tuple[Finding, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    choice: str = ""
    target: str = ""
    notes: tuple[Finding, ...] = ()
    readable: bool = True
    compared: bool = False

    @property
    def state(self) -> str:
        worst = checks.worst(self.findings)
        if worst == "error":
            return "refused"
        return "needs attention" if worst == "warning" or self.undecided else "ready"

    @property
    def undecided(self) -> bool:
        """Whether a duplicate still needs a decision."""
        return bool(self.duplicates) and not self.choice

    @property
    def included(self) -> bool:
        """Whether it becomes part of the change."""
        return self.state != "refused" and not self.undecided and self.choice != "drop"

    @property
    def place(self) -> str:
        """The path it will be written to."""
        return self.target if self.choice == "replace" and self.target else self.path


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of one upload, in order."""

    items: tuple[UploadItem, ...] = ()

    @property
    def included(self) -> tuple[UploadItem, ...]:
        return tuple(item for item in self.items if item.included)

    def at(self, n: int) -> UploadItem:
        if not 0 <= n < len(self.items):
            raise NotFound(f"There is no document {n + 1} in this upload; it has {len(self.items)}.")
        return self.items[n]

    def with_item(self, n: int, item: UploadItem) -> Batch:
        return replace(self, items=(*self.items[:n], item, *self.items[n + 1 :]))


@dataclass(frozen=True, slots=True)
class Raw:
    """One file as uploaded, or why it is refused."""

    name: str
    raw: bytes = b""
    refused: str = ""


def unzipped(files: Iterable[tuple[str, bytes]]) -> Iterator[Raw]:
    """Uploads one by one, with zips unpacked.

    >>> list(unzipped([("a\\x00.md", b"# A"), ("b.zip", b"nonsense")]))
    [Raw(name='a�.md', raw=b'# A', refused=''), Raw(name='b.zip', raw=b'', refused='The zip is damaged and cannot be opened. Make it again.')]
    """
    for count, file in enumerate((file for name, raw in files for file in _opened(visible(name), raw)), 1):
        if count > MAX_ITEMS:
            yield Raw(
                file.name, refused=f"More than {MAX_ITEMS} documents at once cannot be reviewed. Bring the rest later."
            )
            return
        yield file


def _opened(name: str, raw: bytes) -> Iterator[Raw]:
    if conversions.suffix_of(name) != ".zip":
        yield Raw(name, raw)
        return
    try:
        members = unpack(raw) if len(raw) <= MAX_UPLOAD else ()
    except BadInput as error:
        yield Raw(name, refused=str(error))
        return
    if not members:
        yield Raw(
            name, refused="The zip is empty." if len(raw) <= MAX_UPLOAD else "The zip is larger than 50 MB. Split it."
        )
    for member in members:
        nested = conversions.suffix_of(member.name) == ".zip"
        why = member.refused or ("A zip inside a zip is not opened. Bring it by itself." if nested else "")
        yield Raw(visible(member.name), b"" if why else member.raw, why)


def proposed_path(name: str, folder: str) -> str:
    """The path for an upload. Markdown keeps its name, since links use it; others get one that is easy to type.

    >>> proposed_path("close/Month End.md", "finance"), proposed_path("Travel Policy (2026).docx", "")
    ('finance/close/Month End.md', 'travel-policy-2026.md')
    """
    suffix = conversions.suffix_of(name)
    above, _, last = name.rpartition("/")
    stem = last[: -len(suffix)] if suffix else last
    path = name if name.endswith(".md") else f"{above}/" * bool(above) + conversions.slug(stem) + ".md"
    return f"{folder}/{path}" if folder else path


def title_of(name: str) -> str:
    """A title from a file name.

    >>> title_of("hr/Travel_Policy [final].docx")
    'Travel Policy final'
    """
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return (
        " ".join("".join(c if c.isprintable() and c not in "#`*_[]<>|\ufffd" else " " for c in stem).split())
        or "Document"
    )


def best_effort_text(raw: bytes, name: str) -> str:
    """A first draft when a text is not UTF-8: decoded as UTF-16 or Windows-1252.

    >>> best_effort_text("crème".encode("utf-16"), "a.txt"), best_effort_text("crème".encode("cp1252"), "a.txt")
    ('crème', 'crème')
    """
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    if conversions.suffix_of(name) not in conversions.TEXT or (b"\0" in raw and not wide) or len(raw) > MAX_BYTES:
        return ""
    return plain_lines(raw.decode("utf-16" if wide else "cp1252", "replace"))


def plain_lines(text: str) -> str:
    """Storable text: line feeds only, no lone surrogates."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def document_of(item: UploadItem) -> Document | None:
    """The item as a document, if it is readable and within the limits."""
    if any(finding.rule == LIMITS for finding in item.findings):
        return None
    try:
        check_limits(item.text)
        return read_document(item.place, item.text) if item.readable and item.text.strip() else None
    except ConcordError:
        return None


def places(items: Iterable[UploadItem]) -> Counter[str]:
    """How many items want each path, ignoring case."""
    return Counter(collision_key(item.place) for item in items if item.readable and item.choice != "drop")


def path_findings(item: UploadItem, wanted: Counter[str], there: Mapping[str, str]) -> Iterator[Finding]:
    """Problems with an item's path, alone or beside others."""
    try:
        safe_path(item.path)
    except BadInput as error:
        yield Finding(item.path, 1, "error", "path", str(error))
        return
    key = collision_key(item.place)
    if item.choice == "drop":
        return
    if wanted[key] > 1:
        why = "Another document of this upload has this path, or one that differs only in case. Change one of them."
        yield Finding(item.path, 1, "error", "path", why)
    elif there.get(key, item.place) != item.place:
        why = f"There is {there[key]} already, which differs only in case or in the form of letters. Use another name."
        yield Finding(item.path, 1, "error", "path", why)
