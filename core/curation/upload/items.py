"""Uploads before they are documents: items, batches, and the path of each."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core import strict
from core.curation.checks import check_rules
from core.curation.checks.findings import Finding
from core.curation.document.frontmatter import MAX_BYTES, read_document
from core.curation.document.links import picture_paths, rewrite_links
from core.curation.document.names import collision_key, safe_path, visible
from core.curation.document.size_limits import check_limits
from core.curation.pictures import picture_files
from core.curation.upload import conversions
from core.curation.upload.archives import HIDDEN, unpack
from core.curation.upload.conversions import Picture, ToCheck
from core.curation.upload.foreign import MARKDOWN, relinked, stem_path
from core.curation.upload.shingles import CLOSE, Duplicate
from core.errors import BadInput, ConcordError, NotFound
from core.types import Document

LIMITS = "limits"  # the rule that a text breaks which takes too long to read
MAX_ITEMS = 500
MAX_UPLOAD = 50 * 1024 * 1024
MAX_UNPACKED = 128 * 1024 * 1024  # bytes of all files of one upload
MAX_HELD = 32 * 1024 * 1024  # bytes of text and pictures that become of them
TOO_MUCH = "The files before it fill what one upload may hold ({} MB). Bring it again when those are submitted."
UNUSED = "No document of this upload shows this picture."
STATES = ("ready", "needs attention", "refused")


@dataclass(frozen=True, slots=True)
class UploadItem:
    """One upload. `choice` is what to do about its duplicate at `target`; `notes` say what decoding changed.

    `to_check` names what a person should compare with the original, in a file that was converted.
    `looked` names who compared a converted file with its original, `original` is the digest of that file;
    `pinned`: its path was typed by hand, so that a folder chosen for all leaves it.
    """

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
    probed: int = 0  # passages that were compared by meaning, of so many
    passages: int = 0
    to_check: tuple[ToCheck, ...] = ()
    looked: str = ""
    original: str = ""
    pinned: bool = False

    @property
    def state(self) -> str:
        worst = check_rules.worst(self.findings)
        if worst == "error":
            return "refused"
        return "needs attention" if worst == "warning" or self.undecided or self.unseen else "ready"

    @property
    def unseen(self) -> bool:
        """Whether it was converted and nobody has compared it with the original."""
        return bool(self.converted) and not self.looked and self.choice != "drop"

    @property
    def undecided(self) -> bool:
        """Whether a duplicate still needs a decision."""
        return any(duplicate.kind != CLOSE for duplicate in self.duplicates) and not self.choice

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
    """The items of one upload, in order, the pictures that they show, and why other files are left out."""

    items: tuple[UploadItem, ...] = ()
    pictures: tuple[Picture, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

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
    [Raw(name='a�.md', raw=b'# A', refused=''), Raw(name='b.zip', raw=b'', refused='The zip is damaged and cannot be
    opened. Make it again.')]
    """
    count = size = 0
    for file in (file for name, raw in files for file in _opened(visible(name), raw)):
        count += file.refused != HIDDEN
        if count > MAX_ITEMS:
            yield Raw(
                file.name, refused=f"More than {MAX_ITEMS} documents at once cannot be reviewed. Bring the rest later."
            )
            return
        size += len(file.raw)
        if size > MAX_UNPACKED:
            yield Raw(file.name, refused=TOO_MUCH.format(MAX_UNPACKED // 1024**2))
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
    if all(member.refused == HIDDEN for member in members):
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
    path = stem_path(name) if suffix in MARKDOWN else f"{above}/" * bool(above) + conversions.slug(stem) + ".md"
    return f"{folder}/{path}" if folder else path


def followed(items: Iterable[UploadItem], folder: str) -> tuple[UploadItem, ...]:
    """Items whose links lead to the paths that the others got."""
    every = tuple(items)
    at = {item: f"{folder}/{item.name}" if folder else item.name for item in every}
    renamed = {at[item]: item.path for item in every if at[item] != item.path}
    texts = relinked({item.path: item.text for item in every if item.readable}, renamed) if renamed else {}
    return tuple(replace(item, text=texts.get(item.path, item.text)) for item in every)


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
        yield Finding(item.path, 1, "error", "path", str(error), "path")
        return
    key = collision_key(item.place)
    if item.choice == "drop":
        return
    if wanted[key] > 1:
        why = "Another document of this upload has this path, or one that differs only in case. Change one of them."
        yield Finding(item.path, 1, "error", "path", why, "path")
    elif there.get(key, item.place) != item.place:
        why = f"There is {there[key]} already, which differs only in case or in the form of letters. Use another name."
        yield Finding(item.path, 1, "error", "path", why, "path")


# ---------------------------------------------------------------- pictures of an upload


def shown(item: UploadItem) -> frozenset[str]:
    """The paths of the pictures that an item shows; none where it cannot be read."""
    return picture_paths(Document("", item.path, "", item.text)) if item.readable else frozenset()


def pictures_of(batch: Batch, n: int) -> tuple[Picture, ...]:
    """The pictures of an upload that one of its items shows."""
    wanted = shown(batch.at(n))
    return tuple(picture for picture in batch.pictures if picture.path in wanted)


def usable(conversion: conversions.Conversion) -> conversions.Conversion:
    """A conversion with the pictures that can be kept; the others are to be looked at."""
    kept, lost = [], []
    for picture in conversion.pictures:
        try:
            kept.append(replace(picture, raw=picture_files.checked(picture.path, picture.raw)))
        except BadInput as error:
            lost.append(ToCheck("left out", picture.path, note=str(error)))
    return replace(conversion, pictures=tuple(kept), to_check=(*conversion.to_check, *lost))


def placed(conversion: conversions.Conversion, path: str) -> conversions.Conversion:
    """A conversion whose pictures lie in the folder of their document, with the text that shows them there."""
    moves = {
        picture_files.resolved(path, picture.path): picture_files.place(path, picture.path)
        for picture in conversion.pictures
    }
    text = rewrite_links(Document("", path, "", conversion.text), moves) if moves else conversion.text
    moved = (
        replace(picture, path=moves[picture_files.resolved(path, picture.path)]) for picture in conversion.pictures
    )
    return replace(conversion, text=text, pictures=tuple(moved))


def brought_pictures(
    items: Iterable[UploadItem], beside: Iterable[Raw], folder: str
) -> tuple[tuple[Picture, ...], tuple[tuple[str, str], ...]]:
    """The uploaded pictures that items show, and why each other one is left out."""
    wanted = {path for item in items for path in shown(item)}
    kept: dict[str, Picture] = {}
    left_out: list[tuple[str, str]] = []
    for upload in beside:
        path = f"{folder}/{upload.name}" if folder else upload.name
        try:
            if upload.refused:
                raise BadInput(upload.refused)
            if path not in wanted:
                raise BadInput(UNUSED)
            path = safe_path(path, picture_files.SUFFIXES)
            kept[path] = Picture(path, picture_files.checked(path, upload.raw))
        except BadInput as error:
            left_out.append((upload.name, str(error)))
    return tuple(kept.values()), tuple(left_out)


def relocated(batch: Batch, moves: Mapping[str, str]) -> Batch:
    """Items and pictures at other paths (old to new), with the links between them adjusted; own pictures follow their
    document.

    >>> batch = Batch((UploadItem("a.md", "a.md", "![Map](a.assets/m.png)"),), (Picture("a.assets/m.png", b""),))
    >>> moved = relocated(batch, {"a.md": "it/b.md"})
    >>> moved.items[0].path, moved.items[0].text, moved.pictures[0].path
    ('it/b.md', '![Map](b.assets/m.png)', 'it/b.assets/m.png')
    """
    names = [picture.path for picture in batch.pictures]
    every = {old: new for start, end in moves.items() for old, new in picture_files.moves(start, end, names).items()}
    every |= moves
    items = tuple(
        replace(
            item,
            path=every.get(item.path, item.path),
            text=rewrite_links(Document("", item.path, "", item.text), every) if item.readable else item.text,
        )
        for item in batch.items
    )
    return replace(
        batch,
        items=items,
        pictures=tuple(replace(picture, path=every.get(picture.path, picture.path)) for picture in batch.pictures),
    )


# ---------------------------------------------------------------- kept as a text


MAX_KEPT = 3 * MAX_HELD // 2  # characters, with pictures in base64 and what the checks say; a larger upload is refused


def packed(batch: Batch) -> str:
    """The whole batch as JSON, its pictures in base64.

    >>> restored(packed(Batch(left_out=(("a.exe", "no"),)))).left_out
    (('a.exe', 'no'),)
    """
    return json.dumps(strict.plain(batch), default=lambda raw: b64encode(raw).decode())


def restored(text: str) -> Batch:
    """The batch that was packed."""
    values: dict[str, Any] = json.loads(text)
    for picture in values["pictures"]:
        picture["raw"] = b64decode(picture["raw"])
    return strict.parse(Batch, values, "upload")
