"""Zip files, unpacked without trusting anything they claim about themselves."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import BadInput

MAX_ENTRIES = 500
MAX_TOTAL = 50 * 1024 * 1024
MAX_RATIO = 200  # plain text packs at most some 20 to 1
MAX_DIRECTORY = 1024 * 1024  # bytes of a zip's own list of names
HIDDEN = "It is a hidden file that an operating system or a program adds."
SMALL = 64 * 1024  # bytes below which no ratio matters
_BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    struct.error,
    IndexError,
)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a zip: its bytes, or why it is refused."""

    name: str
    raw: bytes = b""
    refused: str = ""


def unpack(raw: bytes) -> tuple[Member, ...]:
    """The files of a zip in its own order, hidden ones last. A bomb is refused whole, a bad entry alone.

    >>> box = io.BytesIO()
    >>> with zipfile.ZipFile(box, "w") as archive: archive.writestr("it/vpn.md", "# VPN")
    >>> unpack(box.getvalue())
    (Member(name='it/vpn.md', raw=b'# VPN', refused=''),)
    """
    _check_directory(raw)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            entries = [info for info in files if not _clutter(info.filename)]
            hidden = [Member(info.filename, refused=HIDDEN) for info in files if _clutter(info.filename)]
            if len(entries) > MAX_ENTRIES:
                raise BadInput(f"The zip holds {len(entries):,} files; the limit is {MAX_ENTRIES}. Split it.")
            return (*_members(archive, entries), *hidden[:MAX_ENTRIES])
    except _BROKEN:
        raise BadInput("The zip is damaged and cannot be opened. Make it again.") from None


def _check_directory(raw: bytes) -> None:
    """Refuse a directory so long that listing it would fill the memory."""
    at = raw.rfind(b"PK\x05\x06", max(0, len(raw) - 66_000))
    if at < 0 or len(raw) < at + 22:
        raise BadInput("The zip is damaged and cannot be opened. Make it again.")
    if struct.unpack("<I", raw[at + 12 : at + 16])[0] > MAX_DIRECTORY:
        raise BadInput(f"The zip lists far more than {MAX_ENTRIES} files. Split it.")


def _members(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[Member]:
    left = MAX_TOTAL
    for info in entries:
        name = info.filename.replace("\\", "/")
        why = _refusal(info)
        raw = b"" if why else _read(archive, info, left)
        if raw is None:
            yield Member(name, refused="The file inside the zip is damaged. Make the zip again.")
            continue
        left -= len(raw)
        if left < 0:
            raise BadInput(f"The zip unpacks to more than {MAX_TOTAL // 1024**2} MB. Split it.")
        if not why and len(raw) > SMALL and len(raw) > MAX_RATIO * max(1, info.compress_size):
            why, raw = "It unpacks to far more than it should (a zip bomb), and was left out.", b""
        yield Member(name, raw, why)


def _refusal(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "It is a link to another place; links are not followed. Put the file itself into the zip."
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "It is not a plain file."
    if info.flag_bits & 0x1:
        return "It is locked with a password. Make the zip again without one."
    return ""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes | None:
    """At most one byte over the limit, whatever size the header claims."""
    try:
        with archive.open(info) as stream:
            return stream.read(left + 1)
    except _BROKEN:
        return None


def _clutter(name: str) -> bool:
    """Files that operating systems add.

    >>> _clutter("__MACOSX/it/._vpn.md"), _clutter("it/.DS_Store"), _clutter("it/vpn.md"), _clutter("../x.md")
    (True, True, False, False)
    """
    parts = name.replace("\\", "/").split("/")
    hidden = any(part.startswith(".") and part not in (".", "..") for part in parts)
    return hidden or "__MACOSX" in parts or parts[-1].lower() in ("thumbs.db", "desktop.ini")


def check_office(raw: bytes, suffix: str) -> None:
    """Office files are zips: refuse one that is damaged or would unpack to something huge."""
    what = f"The {suffix} file"
    try:
        _check_directory(raw)
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            total = sum(info.file_size for info in entries)
    except (*_BROKEN, BadInput):
        raise BadInput(f"{what} is damaged or locked by a password. Save it again, or paste its text.") from None
    if len(entries) > 5000 or total > 4 * MAX_TOTAL or total > MAX_RATIO * max(SMALL, len(raw)):
        raise BadInput(f"{what} unpacks to far more than it should, and was left out.")
