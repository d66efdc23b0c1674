"""Uploads on their way to being documents: items and batches, and where each would stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from core.curation import checks, conversions
from core.curation.archives import unpack
from core.curation.duplicates import Duplicate
from core.curation.findings import Finding
from core.curation.frontmatter import MAX_BYTES, read_document
from core.curation.markup import check_marks
from core.curation.names import collision_key, safe_path, visible
from core.errors import BadInput, ConcordError, NotFound
from core.types import Document

MAX_ITEMS = 500
MAX_UPLOAD = 50 * 1024 * 1024
STATES = ("ready", "needs attention", "refused")


@dataclass(frozen=True, slots=True)
class UploadItem:
    """One upload. `choice` is what to do about its duplicate at `target`; `notes` say what reading it changed."""

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
        """Ready, needs attention, or refused."""
        worst = checks.worst(self.findings)
        if worst == "error":
            return "refused"
        return "needs attention" if worst == "warning" or self.undecided else "ready"

    @property
    def undecided(self) -> bool:
        """Whether somebody must say what to do about a duplicate."""
        return bool(self.duplicates) and not self.choice

    @property
    def goes_on(self) -> bool:
        """Whether it becomes part of the change."""
        return self.state != "refused" and not self.undecided and self.choice != "drop"

    @property
    def place(self) -> str:
        """The path at which it will be written."""
        return self.target if self.choice == "replace" and self.target else self.path


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything a person brought in, in order."""

    items: tuple[UploadItem, ...] = ()

    @property
    def going(self) -> tuple[UploadItem, ...]:
        """The items that become part of the change."""
        return tuple(item for item in self.items if item.goes_on)

    def at(self, n: int) -> UploadItem:
        """One item by its number, from 0."""
        if not 0 <= n < len(self.items):
            raise NotFound(f"There is no document {n + 1} in this upload; it has {len(self.items)}.")
        return self.items[n]

    def having(self, n: int, item: UploadItem) -> Batch:
        """The batch with one item exchanged."""
        return replace(self, items=(*self.items[:n], item, *self.items[n + 1 :]))


@dataclass(frozen=True, slots=True)
class Raw:
    """One file as it came, or the sentence why it does not go on."""

    name: str
    raw: bytes = b""
    refused: str = ""


def flat(files: Iterable[tuple[str, bytes]]) -> Iterator[Raw]:
    """Uploads one by one, with zips taken apart.

    >>> list(flat([("a\\x00.md", b"# A"), ("b.zip", b"nonsense")]))
    [Raw(name='a�.md', raw=b'# A', refused=''), Raw(name='b.zip', raw=b'', refused='The zip is damaged and cannot be opened. Make it again.')]
    """
    for count, one in enumerate((one for name, raw in files for one in _opened(visible(name), raw)), 1):
        if count > MAX_ITEMS:
            yield Raw(
                one.name, refused=f"More than {MAX_ITEMS} documents at once cannot be reviewed. Bring the rest later."
            )
            return
        yield one


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


def proposed(name: str, folder: str) -> str:
    """Where an upload would stand. Markdown keeps its name, since links use it; others get one that is easy to type.

    >>> proposed("close/Month End.md", "finance"), proposed("Travel Policy (2026).docx", "")
    ('finance/close/Month End.md', 'travel-policy-2026.md')
    """
    suffix = conversions.suffix_of(name)
    above, _, last = name.rpartition("/")
    stem = last[: -len(suffix)] if suffix else last
    path = name if name.endswith(".md") else f"{above}/" * bool(above) + conversions.slug(stem) + ".md"
    return f"{folder}/{path}" if folder else path


def title_of(name: str) -> str:
    """A heading from a file name.

    >>> title_of("hr/Travel_Policy [final].docx")
    'Travel Policy final'
    """
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return (
        " ".join("".join(c if c.isprintable() and c not in "#`*_[]<>|\ufffd" else " " for c in stem).split())
        or "Document"
    )


def salvaged(raw: bytes, name: str) -> str:
    """What a person can start from when a text is not UTF-8: the same bytes as Windows wrote them for years.

    >>> salvaged("crème".encode("utf-16"), "a.txt"), salvaged("crème".encode("cp1252"), "a.txt")
    ('crème', 'crème')
    """
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    if conversions.suffix_of(name) not in conversions.TEXT or (b"\0" in raw and not wide) or len(raw) > MAX_BYTES:
        return ""
    return plain_lines(raw.decode("utf-16" if wide else "cp1252", "replace"))


def plain_lines(text: str) -> str:
    """A text that can be stored: plain newlines, no half characters."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def document_of(item: UploadItem) -> Document | None:
    """The item as a document, if it can be read as one."""
    try:
        check_marks(item.text)
        return read_document(item.place, item.text) if item.readable and item.text.strip() else None
    except ConcordError:
        return None


def places(items: Iterable[UploadItem]) -> Counter[str]:
    """How many items want each place, whatever the case."""
    return Counter(collision_key(item.place) for item in items if item.readable and item.choice != "drop")


def path_findings(item: UploadItem, wanted: Counter[str], there: Mapping[str, str]) -> Iterator[Finding]:
    """What is wrong with an item's path, by itself and beside all others."""
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
