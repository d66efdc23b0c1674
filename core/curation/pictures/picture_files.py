"""Pictures beside documents: where they live, which are allowed, and what their bytes must be.

A picture is checked by its content: the header says the format and the size. What follows the picture's own end is cut
off, and what it tells of places, dates and people is taken out, see `core.curation.pictures.privacy`. Drawings (SVG)
are rewritten from an allow-list, see `core.curation.pictures.svg`.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from core.curation.document import size_limits
from core.curation.document.names import collision_key, safe_path
from core.curation.pictures import svg
from core.curation.pictures.privacy import after_blocks, palette, stripped
from core.errors import BadInput

TYPES: Mapping[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
SUFFIXES = (*TYPES, *(suffix.upper() for suffix in TYPES))
KNOWN = "png, jpg, gif, webp and svg"


class Size(NamedTuple):
    """Pixels, and how many frames an animation has."""

    width: int
    height: int
    frames: int = 1


def is_picture(path: str) -> bool:
    """Whether a path names a picture.

    >>> is_picture("it/vpn.assets/Map.PNG"), is_picture("it/vpn.md")
    (True, False)
    """
    return path.endswith(SUFFIXES) and not path.startswith(".")


def blob_id(raw: bytes) -> str:
    """The id that git gives to a content.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


def content_type(path: str) -> str:
    return TYPES[posixpath.splitext(path)[1].lower()]


# ---------------------------------------------------------------- where a picture lives


def folder_of(document: str) -> str:
    """The folder of a document's own pictures.

    >>> folder_of("it/access/vpn.md")
    'it/access/vpn.assets'
    """
    return f"{document.removesuffix('.md')}.assets"


def place(document: str, name: str, taken: Collection[str] = ()) -> str:
    """The path of a new picture of a document: a name that is easy to type and not taken.

    >>> place("it/vpn.md", "../../Map (final).PNG", {"it/vpn.assets/map-final.png"})
    'it/vpn.assets/map-final-2.png'
    """
    stem, suffix = posixpath.splitext(name.replace("\\", "/").rsplit("/", 1)[-1])
    if suffix.lower() not in TYPES:
        raise BadInput(f"{name!r} is no picture that can be kept. Bring {KNOWN}.")
    plain = re.sub(r"[^\w]+", "-", stem.lower())[:60].strip("-_") or "picture"
    keys = {collision_key(path) for path in taken}
    number = 1
    while True:
        path = f"{folder_of(document)}/{plain}{f'-{number}' if number > 1 else ''}{suffix.lower()}"
        if collision_key(path) not in keys:
            return safe_path(path, SUFFIXES)
        number += 1


def as_document(path: str) -> str:
    """The document for which a picture counts: the one whose folder it lies in, else one of its own name.

    >>> as_document("it/vpn.assets/map.png"), as_document("it/img/a.png"), as_document("it/vpn.md")
    ('it/vpn.md', 'it/img/a.md', 'it/vpn.md')
    """
    if not is_picture(path):
        return path
    folder = posixpath.dirname(path)
    return f"{folder.removesuffix('.assets')}.md" if folder.endswith(".assets") else posixpath.splitext(path)[0] + ".md"


def resolved(document: str, name: str) -> str:
    """The path of a file that lies beside a document."""
    return posixpath.join(posixpath.dirname(document), name)


def moves(old: str, new: str, pictures: Iterable[str]) -> dict[str, str]:
    """Where a document's own pictures go when it moves.

    >>> moves("it/vpn.md", "net/tunnel.md", ["it/vpn.assets/map.png", "it/shared.png"])
    {'it/vpn.assets/map.png': 'net/tunnel.assets/map.png'}
    """
    here, there = f"{folder_of(old)}/", f"{folder_of(new)}/"
    return {path: there + path.removeprefix(here) for path in pictures if path.startswith(here)}


# ---------------------------------------------------------------- what a picture's bytes must be


def checked(path: str, raw: bytes) -> bytes:
    """The bytes to store: those of the picture alone, without metadata, and of a drawing only what cannot act."""
    suffix = posixpath.splitext(path)[1].lower()
    if suffix not in TYPES:
        raise BadInput(f"It is no picture that can be kept. Bring {KNOWN}.")
    if not raw:
        raise BadInput("The picture is empty.")
    if len(raw) > size_limits.PICTURE_BYTES:
        raise BadInput(
            f"The picture has {len(raw) / 1024**2:.1f} MB; the limit is {size_limits.PICTURE_BYTES // 1024**2} MB. "
            "Make it smaller."
        )
    found = format_of(raw)
    if not fits(path, raw):
        what = f"a {found} picture" if found else "no picture of a known kind"
        raise BadInput(f"The file is named {suffix} and is {what}. Save it again under its own kind.")
    if found == "svg":
        return svg.sanitised(raw)
    try:
        size, end = _READERS[found](raw)
        _check_size(size)
        return stripped(found, raw[:end])
    except (struct.error, IndexError, ValueError):
        raise BadInput("The picture is damaged. Save it again.") from None


def _check_size(size: Size) -> None:
    if not size.width or not size.height:
        raise BadInput("The picture is damaged: it has no size. Save it again.")
    if size.width * size.height > size_limits.PICTURE_PIXELS or max(size[:2]) > size_limits.PICTURE_SIDE:
        raise BadInput(
            f"The picture has {size.width:,} by {size.height:,} pixels; the limit is "
            f"{size_limits.PICTURE_PIXELS // 10**6} million in all and {size_limits.PICTURE_SIDE:,} on a side. Make "
            "it smaller."
        )
    if size.frames > size_limits.PICTURE_FRAMES:
        raise BadInput(f"The animation has more than {size_limits.PICTURE_FRAMES} frames. Make it shorter.")


def fits(name: str, raw: bytes) -> bool:
    """Whether a file is of the kind that its name says."""
    suffix = posixpath.splitext(name)[1].lower()
    return format_of(raw) == ("jpeg" if suffix == ".jpg" else suffix[1:])


def format_of(raw: bytes) -> str:
    """The format by the first bytes; "" for anything else.

    >>> format_of(b"GIF89a"), format_of(b"<html>")
    ('gif', '')
    """
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if raw.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if raw.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "webp"
    return "svg" if svg.looks_like(raw) else ""


def _png(raw: bytes) -> tuple[Size, int]:
    width, height = struct.unpack(">II", raw[16:24])
    at, frames = 8, 0
    while True:
        length, name = struct.unpack(">I4s", raw[at : at + 8])
        at += 12 + length
        frames += name == b"fcTL"
        if at > len(raw):
            raise ValueError("cut off")
        if name == b"IEND":
            return Size(width, height, max(1, frames)), at


def _jpeg(raw: bytes) -> tuple[Size, int]:
    """The first frame header that a segment names; where the picture ends is found when it is stripped."""
    at = 2
    while True:
        marker, length = struct.unpack(">HH", raw[at : at + 4])
        if marker >> 8 != 0xFF or length < 2:
            raise ValueError("no segment")
        if 0xFFC0 <= marker <= 0xFFCF and marker not in (0xFFC4, 0xFFC8, 0xFFCC):
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return Size(width, height), len(raw)
        at += 2 + length
        while raw[at] == 0xFF and raw[at + 1] == 0xFF:  # padding
            at += 1


def _gif(raw: bytes) -> tuple[Size, int]:
    width, height, flags = struct.unpack("<HHB", raw[6:11])
    at, frames = 13 + palette(flags), 0
    while raw[at] != 0x3B:
        if raw[at] == 0x21:
            at = after_blocks(raw, at + 2)
        elif raw[at] == 0x2C:
            left, top, wide, high, local = struct.unpack("<HHHHB", raw[at + 1 : at + 10])
            width, height, frames = max(width, left + wide), max(height, top + high), frames + 1
            if frames > size_limits.PICTURE_FRAMES:
                return Size(width, height, frames), len(raw)
            at = after_blocks(raw, at + 11 + palette(local))
        else:
            raise ValueError("no block")
    return Size(width, height, max(1, frames)), at + 1


def _webp(raw: bytes) -> tuple[Size, int]:
    end = 8 + struct.unpack("<I", raw[4:8])[0]
    end += end % 2
    kind = raw[12:16]
    if end > len(raw) + 1:
        raise ValueError("cut off")
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(raw[at : at + 3], "little") for at in (24, 27))
        return Size(width, height, max(1, raw.count(b"ANMF", 0, end))), end
    if kind == b"VP8L" and raw[20] == 0x2F:
        bits = int.from_bytes(raw[21:25], "little")
        return Size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1), end
    if kind == b"VP8 " and raw[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", raw[26:30])
        return Size(width & 0x3FFF, height & 0x3FFF), end
    raise ValueError("no frame")


_READERS = {"png": _png, "jpeg": _jpeg, "gif": _gif, "webp": _webp}
