"""Pictures without what they tell of people: places, dates, devices, names, previews, and what phones append.

Only the parts that say how a picture looks stay: its pixels, colours, frames, and which side is up. Pixels are not
touched.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_PNG = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD pHYs cICP mDCV cLLI acTL fcTL fdAT".split()
)  # what draws
_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
_WEBP = (b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP")
_ORIENTATION = 0x0112


def stripped(kind: str, raw: bytes) -> bytes:
    """A checked picture of a kind (png, jpeg, gif, webp) without its metadata."""
    return b"".join(_PARTS[kind](raw))


def _png(raw: bytes) -> Iterator[bytes]:
    yield raw[:8]
    at = 8
    while at < len(raw):
        length, name = struct.unpack(">I4s", raw[at : at + 8])
        if name in _PNG:
            yield raw[at : at + 12 + length]
        at += 12 + length


def _jpeg(raw: bytes) -> Iterator[bytes]:
    """Segments that decoders need; of the camera's own record only which side is up."""
    yield raw[:2]
    at = 2
    while at + 4 <= len(raw):
        if raw[at + 1] == 0xFF:  # padding
            at += 1
            continue
        marker, length = raw[at + 1], struct.unpack(">H", raw[at + 2 : at + 4])[0]
        segment = raw[at : at + 2 + length]
        at += 2 + length
        if marker == 0xE1 and (side := _orientation(segment[4:])):
            yield _upright(side)
        if (
            marker not in (*range(0xE1, 0xF0), 0xFE)
            or (marker, segment[4:15]) == (0xE2, b"ICC_PROFILE")
            or marker == 0xEE
        ):
            yield segment
        if marker == 0xDA:  # what follows are pixels, up to the next mark
            mark = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]").search(raw, at)
            end = mark.start() if mark else len(raw)
            yield raw[at:end]
            at = end
            if not mark or raw[at : at + 2] == b"\xff\xd9":
                yield b"\xff\xd9"
                return


def _orientation(exif: bytes) -> int:
    """Which side is up, as the camera wrote it; 0 for nothing to turn.

    >>> _orientation(_upright(6)[4:]), _orientation(b"http://ns.adobe.com/xap")
    (6, 0)
    """
    order = {b"II": "<", b"MM": ">"}.get(exif[6:8], "")
    try:
        if not exif.startswith(b"Exif\0\0") or not order:
            return 0
        start = 6 + struct.unpack(f"{order}I", exif[10:14])[0]
        for n in range(min(struct.unpack(f"{order}H", exif[start : start + 2])[0], 100)):
            tag, _, _, value = struct.unpack(f"{order}HHIH", exif[start + 2 + 12 * n : start + 12 + 12 * n])
            if tag == _ORIENTATION:
                return int(value) if 2 <= value <= 8 else 0
    except struct.error:
        return 0
    return 0


def _upright(side: int) -> bytes:
    """A camera's record that says nothing else."""
    exif = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, _ORIENTATION, 3, 1, side, 0, 0)
    return b"\xff\xe1" + struct.pack(">H", 2 + len(exif)) + exif


def _gif(raw: bytes) -> Iterator[bytes]:
    """Frames and their timing; comments and the records of programs go, except the one that repeats an animation."""
    at = 13 + palette(raw[10])
    yield raw[:at]
    while raw[at] != 0x3B:
        frame = raw[at] == 0x2C
        start, at = at, after_blocks(raw, at + 11 + palette(raw[at + 9]) if frame else at + 2)
        if frame or raw[start + 1] == 0xF9 or (raw[start + 1] == 0xFF and raw[start + 3 : start + 14] in _LOOPS):
            yield raw[start:at]
    yield b";"


def palette(flags: int) -> int:
    """How many bytes the colours of a GIF take that these flags announce."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def after_blocks(raw: bytes, at: int) -> int:
    """Where the blocks of a GIF that begin here end."""
    while raw[at]:
        at += raw[at] + 1
    return at + 1


def _webp(raw: bytes) -> Iterator[bytes]:
    kept, at = bytearray(b"WEBP"), 12
    while at + 8 <= len(raw):
        name, length = struct.unpack("<4sI", raw[at : at + 8])
        chunk = bytearray(raw[at : at + 8 + length + length % 2])
        if name == b"VP8X":
            chunk[8] &= ~0x0C  # it no longer announces a camera's record
        if name in _WEBP:
            kept += chunk
        at += 8 + length + length % 2
    yield b"RIFF" + struct.pack("<I", len(kept)) + bytes(kept)


_PARTS = {"png": _png, "jpeg": _jpeg, "gif": _gif, "webp": _webp}
