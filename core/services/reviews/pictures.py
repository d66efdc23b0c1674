"""The pictures of a change: those that go with their document, those that nobody shows any more, and how many may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from core.curation.pictures import picture_files
from core.curation.review.proposals import check_pictures, shown_pictures

if TYPE_CHECKING:
    from core.storage.git.repository import Repository

Files = Mapping[str, bytes | None]


def complete(repository: Repository, commit: str, files: Files) -> dict[str, bytes | None]:
    """The files of an edit on a commit, with the pictures of deleted documents that no other one shows; too many are refused."""
    there = {entry.path: entry.size for entry in repository.pictures(commit)}
    gone = [path for path, raw in files.items() if raw is None and path.endswith(".md")]
    every = dict(files)
    if gone and there:
        every = {**dict.fromkeys(_orphans(repository, commit, files, gone, there)), **files}
    if there or any(map(picture_files.is_picture, files)):
        sizes = {**there, **{path: len(raw or b"") for path, raw in every.items() if picture_files.is_picture(path)}}
        check_pictures(every, {path: size for path, size in sizes.items() if every.get(path, b"") is not None})
    return every


def _orphans(repository: Repository, commit: str, files: Files, gone: Iterable[str], there: Iterable[str]) -> list[str]:
    """Pictures that only deleted documents show."""
    entries = {entry.path: entry.blob for entry in repository.entries(commit)}
    texts = dict(zip(entries, repository.read_blobs(list(entries.values())), strict=True))
    lost = {path for name in gone if name in texts for path in shown_pictures(name, texts[name])}
    kept = {**texts, **files}
    still = {
        path
        for name, raw in kept.items()
        if raw is not None and name.endswith(".md")
        for path in shown_pictures(name, raw)
    }
    return sorted((lost - still) & set(there))
