"""A folder of files on its way into the knowledge base: its documents, the pictures that they show, and what is left
out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.curation.checks import metadata
from core.curation.checks.findings import CheckContext, File
from core.curation.document import size_limits
from core.curation.document.frontmatter import MAX_BYTES, read_document
from core.curation.document.names import collision_key, safe_path
from core.curation.document.size_limits import check_limits
from core.curation.pictures.picture_files import SUFFIXES, checked, is_picture
from core.curation.review.proposals import shown_pictures
from core.curation.upload import foreign
from core.curation.upload.conversions import CONVERTED
from core.curation.upload.foreign import MARKDOWN, MAX_EMBEDDED, brought
from core.curation.upload.items import placed, usable
from core.errors import BadInput, ConcordError
from core.ports import Progress
from core.types import NOTHING, Document

_UNUSED = "No document of this folder shows this picture."
_RENAME = "Only Markdown (.md, .markdown, .mdx) is read from a folder. Rename it if it is plain Markdown."
_CONVERT = "Bring it in on Upload, which converts it."
_LINK = "It is a link to another place; links are not followed."
_HIDDEN = "It is hidden, as what belongs to a program is: its name begins with a dot."
_WHY_SKIPPED = {
    **dict.fromkeys((".mkd", ".mdown", ".txt", ".rst", ".adoc", ".org"), _RENAME),
    **dict.fromkeys(CONVERTED, _CONVERT),
    ".zip": "Bring it in by itself.",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """The plain files below a folder, in order, and why everything else is left out."""

    root: Path
    files: tuple[Path, ...]
    left_out: tuple[tuple[str, str], ...]

    def named(self, into: str) -> dict[str, Path]:
        """The files by the path that they would have."""
        return {
            "/".join(part for part in (into.strip("/"), *path.relative_to(self.root).parts) if part): path
            for path in self.files
        }


def of_paths(paths: Iterable[str]) -> Listing:
    """The files of a commit as a listing; what is hidden is named."""
    shown, hidden = list[Path](), list[tuple[str, str]]()
    for path in paths:
        if any(part.startswith(".") for part in path.split("/")):
            hidden.append((path, _HIDDEN))
        else:
            shown.append(Path(path))
    return Listing(Path(), tuple(sorted(shown)), tuple(hidden))


def listing(folder: Path) -> Listing:
    """Everything below a folder, however deep; hidden folders and links are named and not entered."""
    files, left_out = list[Path](), list[tuple[str, str]]()

    def name(path: Path) -> str:
        return path.relative_to(folder).as_posix()

    def unreadable(error: OSError) -> None:
        left_out.append((f"{name(Path(error.filename))}/", f"The folder cannot be opened: {error.strerror}."))

    for place, below, names in os.walk(folder, onerror=unreadable):
        at = Path(place)
        for inner in sorted(below):
            if inner.startswith("."):
                left_out.append((f"{name(at / inner)}/", _HIDDEN))
            elif (at / inner).is_symlink():
                left_out.append((f"{name(at / inner)}/", _LINK))
        below[:] = sorted(inner for inner in below if not inner.startswith(".") and not (at / inner).is_symlink())
        left_out += [(name(at / inner), _HIDDEN) for inner in sorted(names) if inner.startswith(".")]
        files += [at / inner for inner in names if not inner.startswith(".")]
    return Listing(folder, tuple(sorted(files)), tuple(left_out))


@dataclass
class ReadFolder:
    """The documents of a folder, the pictures that were inside them, why others are refused, and what was changed in
    them.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)


def documents(
    listed: Listing,
    into: str,
    stored: Iterable[str],
    admit: Callable[[Document], None],
    progress: Progress,
    words: Mapping[str, str] = NOTHING,
) -> ReadFolder:
    """Every Markdown file below a folder, and the reason for each that cannot be used."""
    taken, read = {collision_key(path): path for path in stored}, ReadFolder()
    every = {spelled: path for spelled, path in listed.named(into).items() if path.suffix.lower() in MARKDOWN}
    paths = foreign.names(every)
    for n, (spelled, path) in enumerate(every.items(), 1):
        try:
            name = safe_path(paths[spelled])
            other = taken.setdefault(collision_key(name), name)
            if other != name or name in read.files:
                raise BadInput(f"It differs from {other!r} only in case or Unicode form. Rename one of them.")
            _take(read, path, name, words, admit)
        except (ConcordError, OSError) as error:
            read.refused.append((spelled, str(error)))
        progress(n, len(every), "Reading")
    renamed = {spelled: paths[spelled] for spelled in every if spelled != paths[spelled]}
    texts = foreign.relinked({path: raw.decode() for path, raw in read.files.items()}, renamed) if renamed else {}
    read.files |= {path: text.encode() for path, text in texts.items()}
    return read


def _take(read: ReadFolder, path: Path, name: str, words: Mapping[str, str], admit: Callable[[Document], None]) -> None:
    """Read one file, with the pictures inside it and with what a person should know."""
    made = brought(path.name, _bytes(path), words)
    found = placed(usable(made.found), name)
    if not found.text.strip():
        raise BadInput("The file is empty.")
    check_limits(found.text)
    document = read_document(name, found.text)
    admit(document)
    read.files[name] = found.text.encode()
    read.pictures |= {picture.path: picture.raw for picture in found.pictures}
    said = [f"The embedded picture {part.words} was left out. {part.note}" for part in found.to_check]
    said += [remark.message for remark in metadata.status(File(document), CheckContext())]
    read.warnings += [(name, sentence) for sentence in (*made.changed, *said)]


def _bytes(path: Path) -> bytes:
    """The bytes of a plain file, if they are not too many."""
    if path.is_symlink() or not path.is_file():
        raise BadInput("It is not a plain file (links are not followed).")
    if path.stat().st_size > MAX_EMBEDDED:
        raise BadInput(
            f"The file has {path.stat().st_size:,} bytes; the limit is {MAX_BYTES:,}. Split it into several documents."
        )
    return path.read_bytes()


def skipped(listed: Listing) -> Iterator[tuple[str, str]]:
    """Files that are neither documents nor pictures, and why they are left out; and what was not entered."""
    for name, path in listed.named("").items():
        suffix = path.suffix.lower()
        if suffix not in MARKDOWN and not is_picture(path.name):
            yield name, _WHY_SKIPPED.get(suffix, "It is no Markdown.")
    yield from listed.left_out


def pictures(
    listed: Listing, into: str, files: Mapping[str, bytes]
) -> tuple[dict[str, bytes], tuple[tuple[str, str], ...]]:
    """The pictures below a folder that its documents show, and why each other one is left out."""
    wanted = {picture for path, raw in files.items() for picture in shown_pictures(path, raw)}
    kept: dict[str, bytes] = {}
    left_out: list[tuple[str, str]] = []
    for spelled, path in listed.named(into).items():
        if not is_picture(path.name):
            continue
        try:
            if spelled not in wanted:
                raise BadInput(_UNUSED)
            kept[safe_path(spelled, SUFFIXES)] = checked(spelled, _read_picture(path))
        except (BadInput, OSError) as error:
            left_out.append((path.relative_to(listed.root).as_posix(), str(error)))
    return kept, tuple(left_out)


def _read_picture(path: Path) -> bytes:
    """The bytes of a plain file, one more than allowed at most."""
    if path.is_symlink() or not path.is_file():
        raise BadInput("It is not a plain file (links are not followed).")
    with path.open("rb") as file:
        return file.read(size_limits.PICTURE_BYTES + 1)
