"""A folder of files on its way into the knowledge base: its documents, the pictures that they show, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from core.curation import limits
from core.curation.conversions import CONVERTED
from core.curation.frontmatter import MAX_BYTES, decode, read_document
from core.curation.limits import check_limits
from core.curation.names import collision_key, safe_path
from core.curation.pictures import SUFFIXES, checked, is_picture
from core.curation.proposals import shown_pictures
from core.errors import BadInput, ConcordError
from core.ports import Progress
from core.types import Document

_UNUSED = "No document of this folder shows this picture."
_RENAME = "Only .md files are read. Rename it if it is plain Markdown."
_CONVERT = "Bring it in on Upload, which converts it."
_WHY_SKIPPED = {
    **dict.fromkeys((".mdx", ".markdown", ".mkd", ".txt", ".rst"), _RENAME),
    **dict.fromkeys(CONVERTED, _CONVERT),
}


def documents(
    folder: Path, into: str, stored: Iterable[str], admit: Callable[[Document], None], progress: Progress
) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Every Markdown file below a folder, and the reason for each that cannot be used."""
    taken = {collision_key(path): path for path in stored}
    paths = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() == ".md" and not _hidden(path.relative_to(folder))
    )
    files: dict[str, bytes] = {}
    refused: list[tuple[str, str]] = []
    for n, path in enumerate(paths, 1):
        spelled = "/".join(part for part in (into.strip("/"), *path.relative_to(folder).parts) if part)
        try:
            name = safe_path(spelled[:-3] + ".md")
            other = taken.setdefault(collision_key(name), name)
            if other != name or name in files:
                raise BadInput(f"It differs from {other!r} only in case or Unicode form. Rename one of them.")
            content = read_file(path, name)
            admit(read_document(name, content.decode()))
            files[name] = content
        except (ConcordError, OSError) as error:
            refused.append((spelled, str(error)))
        progress(n, len(paths), "Reading")
    return files, refused


def skipped(folder: Path) -> Iterator[tuple[str, str]]:
    """Files that are neither documents nor pictures, and why they are left out."""
    for path in sorted(folder.rglob("*")):
        suffix = path.suffix.lower()
        known = suffix == ".md" or is_picture(path.name)
        if path.is_file() and not known and not _hidden(path.relative_to(folder)):
            yield path.relative_to(folder).as_posix(), _WHY_SKIPPED.get(suffix, "It is no Markdown.")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read_file(path: Path, name: str) -> bytes:
    """The bytes to store, if they are a document."""
    if path.is_symlink() or not path.is_file():
        raise BadInput("It is not a plain file (links are not followed).")
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(
            f"The file has {path.stat().st_size:,} bytes; the limit is {MAX_BYTES:,}. Split it into several documents."
        )
    text = decode(path.read_bytes())
    if not text.strip():
        raise BadInput("The file is empty.")
    check_limits(text)
    read_document(name, text)
    return text.encode()


def pictures(
    folder: Path, into: str, files: Mapping[str, bytes]
) -> tuple[dict[str, bytes], tuple[tuple[str, str], ...]]:
    """The pictures below a folder that its documents show, and why each other one is left out."""
    wanted = {picture for path, raw in files.items() for picture in shown_pictures(path, raw)}
    kept: dict[str, bytes] = {}
    left_out: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*")):
        if not is_picture(path.name) or path.is_dir() or _hidden(path.relative_to(folder)):
            continue
        spelled = "/".join(part for part in (into.strip("/"), *path.relative_to(folder).parts) if part)
        try:
            if spelled not in wanted:
                raise BadInput(_UNUSED)
            kept[safe_path(spelled, SUFFIXES)] = checked(spelled, _read_picture(path))
        except (BadInput, OSError) as error:
            left_out.append((path.relative_to(folder).as_posix(), str(error)))
    return kept, tuple(left_out)


def _read_picture(path: Path) -> bytes:
    """The bytes of a plain file, one more than allowed at most."""
    if path.is_symlink() or not path.is_file():
        raise BadInput("It is not a plain file (links are not followed).")
    with path.open("rb") as file:
        return file.read(limits.PICTURE_BYTES + 1)
