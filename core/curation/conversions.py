"""Which uploads are converted to Markdown, how a converter's output is tidied, and what a person should look at."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadInput

TEXT = (".md", ".markdown", ".txt")
CONVERTED: Mapping[str, str] = {
    ".docx": "Word", ".pdf": "PDF", ".html": "HTML", ".htm": "HTML", ".pptx": "PowerPoint", ".xlsx": "Excel",
}  # fmt: skip
SUFFIXES = (*TEXT, *CONVERTED, ".zip")
KINDS: Mapping[str, str] = {
    "table": "Table", "picture": "Picture", "scan": "Scanned page", "left out": "Picture left out", "rest": "Pages not looked at",
}  # fmt: skip
GUESSED = "Its columns were guessed from the gaps between words. Compare every row."
_DATA_IMAGE = re.compile(r"!\[([^\]\n]{0,200})\]\(data:[^)\n]*\)")
_COMMENT = re.compile(r"<!--.{0,500}?-->", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HEADING = re.compile(r"^(#{1,5})(?= )", re.MULTILINE)
_RULE = re.compile(r"\|[ :|-]*-[ :|-]*\|")
_EMBEDDED = re.compile(
    r"!\[([^\]\n]{0,500})\]\(\s*<?data:image/(png|jpe?g|gif|webp|svg\+xml);base64,([A-Za-z0-9+/=]+)>?[^)\n]{0,200}\)",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(([^)\s]*)\)")


@dataclass(frozen=True, slots=True)
class ToCheck:
    """A part of a converted file that a person should compare with the original.

    `page` is 0 where the format has no pages, `line` is 0 where the part does not stand in the text.
    """

    kind: str  # one of KINDS
    words: str = ""  # how it begins, or what it shows
    page: int = 0
    line: int = 0
    note: str = ""  # what makes it doubtful


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture on its way into the knowledge base: its path, or its name while it has none."""

    path: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file as Markdown, with its pictures and with what to compare with the original."""

    text: str
    pictures: tuple[Picture, ...] = ()
    to_check: tuple[ToCheck, ...] = ()
    title: str = ""  # what the file calls itself
    merged: tuple[int, ...] = ()  # merged cells of each table


def unpacked(text: str) -> Conversion:
    """A Markdown text whose embedded pictures are taken out and stand beside it.

    >>> unpacked("![Dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)").text
    '![Dot](picture-1.gif)'
    """
    found: dict[str, Picture] = {}

    def taken(match: re.Match[str]) -> str:
        try:
            raw = base64.b64decode("".join(match[3].split()), validate=True)
        except ValueError:
            return match[0]
        suffix = {"jpeg": "jpg", "svg+xml": "svg"}.get(match[2].lower(), match[2].lower())
        picture = found.setdefault(match[3], Picture(f"picture-{len(found) + 1}.{suffix}", raw))
        return f"![{match[1]}]({picture.path})"

    return Conversion(_EMBEDDED.sub(taken, text), tuple(found.values()))


def tidied(conversion: Conversion, suffix: str, title: str) -> Conversion:
    """A conversion as a document: its text tidied, and everything to check at its line."""
    text = tidy(conversion.text, suffix, conversion.title or title)
    if suffix == ".pdf":
        found = list(_found(text, conversion.to_check))
        known = {part.line for part in found if part.kind == "table"}
        guessed = (replace(part, note=GUESSED) for part in _tables(text, ()) if part.line not in known)
        return replace(conversion, text=text, to_check=(*found, *guessed))
    standing = [*_tables(text, conversion.merged), *_pictures(text)]
    shown = sorted(standing, key=lambda part: part.line)
    return replace(conversion, text=text, to_check=(*shown, *conversion.to_check))


def _tables(text: str, merged: Sequence[int]) -> Iterator[ToCheck]:
    """The tables of a Markdown text, in order.

    >>> list(_tables("# A\\n\\n| Site | Hours |\\n| --- | --- |\\n| CMH2 | 6 |\\n", [2]))
    [ToCheck(kind='table', words='Site, Hours', page=0, line=3, note='2 merged cells were written as separate ones.')]
    """
    lines, count = text.split("\n"), 0
    for n, line in enumerate(lines):
        if n and _RULE.fullmatch(line.strip()) and lines[n - 1].strip().startswith("|"):
            cells = merged[count] if count < len(merged) else 0
            note = f"{cells} merged cell{'s' * (cells > 1)} {'were' if cells > 1 else 'was'} written as separate ones."
            yield ToCheck("table", _heads(lines[n - 1]), line=n, note=note if cells else "")
            count += 1


def _heads(row: str) -> str:
    cells = (" ".join(_IMAGE.sub(r"\1", cell).split()) for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))
    return ", ".join(cell for cell in cells if cell)[:120]


def _pictures(text: str) -> Iterator[ToCheck]:
    for n, line in enumerate(text.split("\n"), 1):
        for match in _IMAGE.finditer(line):
            note = (
                "" if match[1].strip() else "It has no words that say what it shows; write some between the brackets."
            )
            yield ToCheck("picture", match[1].strip(), line=n, note=note)


def _found(text: str, parts: Sequence[ToCheck]) -> Iterator[ToCheck]:
    """Parts with the line where their words stand, as far as the text has them."""
    lines, last = [_plain(line) for line in text.split("\n")], 0
    for part in parts:
        starts = [_plain(words)[:24] for words in (part.words, part.words.split(", ")[0])]
        hits = next((found for start in starts if (found := _lines_with(start, lines))), [])
        line = next((n for n in hits if n >= last), hits[0] if hits else 0)
        last = max(last, line)
        yield replace(part, line=line)


def _lines_with(start: str, lines: Sequence[str]) -> list[int]:
    return [n for n, line in enumerate(lines, 1) if start and start in line]


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


@dataclass(frozen=True, slots=True)
class Original:
    """An uploaded file as it is: one page as a picture (JPEG), or its blocks as nodes to draw; neither where neither is known."""

    picture: bytes = b""
    pages: int = 1
    nodes: tuple[Any, ...] = ()


def tidy(markdown: str, suffix: str, title: str) -> str:
    """Converter output as a document: no embedded images, one main heading, no excess white space.

    >>> tidy("<!-- Slide number: 1 -->\\n# Dock\\n\\n\\n\\nWear a vest.  \\n![](data:image/png;base64,AAAA)", ".pptx", "Safety")
    '# Safety\\n\\n## Dock\\n\\nWear a vest.\\n'
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    text = _CONTROL.sub("", _COMMENT.sub("", _DATA_IMAGE.sub(r"\1", text)))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
    if not text:
        raise BadInput(
            f"The {suffix} file holds no text; it may be a scan or only pictures. Type or paste what it says."
        )
    mains = len(re.findall(r"^# \S", text, re.MULTILINE))
    if mains > 1 or suffix == ".pptx":  # every slide brings a main heading
        text = _HEADING.sub(r"\1#", text)
    if mains != 1 or suffix == ".pptx":
        text = f"# {title}\n\n{text}"
    return text + "\n"


def slug(name: str) -> str:
    """A file name that is easy to type.

    >>> slug("Vendor Onboarding (v2) – final"), slug("§§")
    ('vendor-onboarding-v2-final', 'document')
    """
    return re.sub(r"[^\w]+", "-", name.lower().replace("'", ""))[:80].strip("-_") or "document"


def suffix_of(name: str) -> str:
    """The known suffix of a file name in lower case, else "".

    >>> suffix_of("A.DOCX"), suffix_of("archive.tar.gz"), suffix_of("README")
    ('.docx', '', '')
    """
    ending = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return ending if ending in SUFFIXES else ""
