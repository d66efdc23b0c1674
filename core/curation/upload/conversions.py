"""Which uploads are converted to Markdown, how a converter's output is tidied, and what a person should look at."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import BadInput

TEXT = (".md", ".markdown", ".mdx", ".txt")
CONVERTED: Mapping[str, str] = {
    ".docx": "Word",
    ".pdf": "PDF",
    ".html": "HTML",
    ".htm": "HTML",
    ".pptx": "PowerPoint",
    ".xlsx": "Excel",
}
SUFFIXES = (*TEXT, *CONVERTED, ".zip")
KINDS: Mapping[str, str] = {
    "table": "Table",
    "picture": "Picture",
    "scan": "Scanned page",
    "left out": "Picture left out",
    "rest": "Page not read",
    "unread": "Page not read",
    "garbled": "Page with unreadable letters",
    "hidden": "Hidden part left out",
    "title": "Title",
    "chart": "Chart",
    "drawing": "Drawing left out",
    "formula": "Formulas without result",
    "comment": "Comments left out",
    "tracked": "Tracked changes",
    "equation": "Equations left out",
    "contents": "Table of contents left out",
}
NOTES: Mapping[str, str] = {
    "rest": "The pages from here on were not read. Split the file.",
    "unread": "It is damaged. Type what it says.",
    "garbled": "Its letters have no names in the file, so that its words may be wrong. Compare all of them.",
    "hidden": "It is not shown in its own program either. Show it there if it belongs to the document.",
    "chart": "Only its numbers, where the file has them, became a table. Attach a picture of it if its form matters.",
    "drawing": "It cannot be taken out of the file. Attach a picture of it.",
    "equation": "Write them as text, or attach a picture of each.",
    "contents": "Its pages mean nothing here; headings lead to their places.",
    "comment": "They stand in the margin of the original. Write what matters into the text.",
    "tracked": "The text is what it would be if all of them were accepted.",
    "formula": "The file does not hold what these cells show. Open it in Excel, save it, and bring it again.",
}
GUESSED = "Its columns were guessed from the gaps between words. Compare every row."
WORDLESS = "It has no alternative text. Describe what it shows between the brackets."
SCAN = "It is a picture of text, so that nobody finds its words by searching. Type what it says."
OCR = "Its words were read from the picture by a program, and some are wrong. Compare every line, above all numbers."
OCR_TABLE = (
    "A table or columns on a scanned page. Its rows were read as lines of text: write it as a table, or delete it."
)
UNNAMED = "The file does not say its title, so this is its file name."
COVER = "Several bold lines stand at the top; this one was taken for the title."
_DATA_IMAGE = re.compile(r"!\[([^\]\n]{0,200})\]\(data:[^)\n]*\)")
_COMMENT = re.compile(r"<!--.{0,500}?-->", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HEADING = re.compile(r"^(#{1,5})(?= )", re.MULTILINE)
_RULE = re.compile(r"\|[ :|-]*-[ :|-]*\|")
_EMBEDDED = re.compile(
    r"!\[([^\]\n]{0,500})\]\(\s*<?data:image/(png|jpe?g|gif|webp|svg\+xml);base64,([A-Za-z0-9+/=]+)>?[^)\n]{0,200}\)",
    re.IGNORECASE,
)
_DEFINED = re.compile(  # `![Map][1]` with its picture at the end of the file, as Google Docs writes it
    r"^( {0,3}\[[^\]\n]{1,200}\]:[ \t]*)<?data:image/(png|jpe?g|gif|webp|svg\+xml);base64,([A-Za-z0-9+/=]+)>?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED = re.compile(
    r"(<img\b[^<>]{0,500}?\bsrc\s*=\s*[\"'])data:image/(png|jpe?g|gif|webp|svg\+xml);base64,([A-Za-z0-9+/=]+)(?=[\"'])",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(r"[#`*_\[\]<>|\\\x00-\x1f\x7f-\x9f]")
_JUNK = re.compile(
    r"\.(?:docx?|odt|pdf|pptx?|odp|xlsx?|ods|rtf|html?|txt|indd|tex|qxd)$|^(?:microsoft \w+ - "
    r"|untitled|unbenannt|document ?\d*$"
    r"|dokument ?\d*$|presentation ?\d*$|powerpoint[- ]\w+$|slide ?\d*$|book ?\d*$|title$|template)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d+)*[.)]? +[A-Z]")  # the first section, not the title
_BOLD = re.compile(r"\*\*([^*\n]{1,120})\*\*")
_CHAPTER = re.compile(r"(?:chapter|part|section|appendix|annex|volume) +[\dA-Z]{1,4}[.:]?", re.IGNORECASE)
_PUBLISHER = re.compile(
    r"^(?:the )?(?:u\. ?s\. |[\w.]+ "
    r"){0,3}?(?:department|ministry|office|agency|bureau|commission|university|county|city|state) (?:of|for) "
    r"|\b(?:inc|ltd|llc|gmbh|plc|corporation|department|ministry|agency|bureau|university)\.?$",
    re.IGNORECASE,
)
_TITLES = re.compile(r"^(?:#{1,6} +(\S.*)|\*\*([^*\n]+)\*\*)(?:\n+|$)", re.MULTILINE)
NEAR_TOP = 1500  # characters in which a heading that says the title is the title
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
class PartFacts:
    """What a reader knows of a table or a picture that the Markdown does not show."""

    page: int = 0
    merged: int = 0  # cells of a table
    guessed: bool = False  # whether its columns, or the words of a scan, were
    scan: bool = False  # whether the picture is a whole page


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file as Markdown, with its pictures and with what to compare with the original."""

    text: str
    pictures: tuple[Picture, ...] = ()
    to_check: tuple[ToCheck, ...] = ()
    title: str = ""  # what the file calls itself
    tables: tuple[PartFacts, ...] = ()  # of each table of the text, in order
    images: tuple[PartFacts, ...] = ()  # of each picture of the text, in order


def unpacked(text: str) -> Conversion:
    """A Markdown text whose embedded pictures are taken out and stand beside it.

    >>> unpacked("![Dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)").text
    '![Dot](picture-1.gif)'
    >>> unpacked("![][1]\\n\\n[1]: <data:image/gif;base64,R0lGODlhAQABAAAAACw=>\\n").text
    '![][1]\\n\\n[1]: picture-1.gif\\n'
    """
    found: dict[str, Picture] = {}

    def taken(match: re.Match[str]) -> str:
        """The name of a picture that can be read; "" for any other."""
        try:
            raw = base64.b64decode(match[3], validate=True)
        except ValueError:
            return ""
        suffix = {"jpeg": "jpg", "svg+xml": "svg"}.get(match[2].lower(), match[2].lower())
        return found.setdefault(match[3], Picture(f"picture-{len(found) + 1}.{suffix}", raw)).path

    if "data:" not in text.lower():
        return Conversion(text)
    text = _EMBEDDED.sub(lambda match: f"![{match[1]}]({name})" if (name := taken(match)) else match[0], text)
    for pattern in (_DEFINED, _TAGGED):
        text = pattern.sub(lambda match: match[1] + name if (name := taken(match)) else match[0], text)
    return Conversion(text, tuple(found.values()))


def tidied(conversion: Conversion, suffix: str, name: str) -> Conversion:
    """A conversion as a document: its text tidied, and everything to check at its line. `name` serves where there is
    no title.
    """
    body = cleaned(conversion.text)
    if not body:
        raise BadInput(f"The {suffix} file holds no text and no pictures. Type or paste what it says.")
    title = own_title(body, conversion.title)
    text = titled(body, title or name)
    standing = [*_tables(text, conversion.tables), *_pictures(text, conversion.images)]
    doubtful = COVER if title and len(cover(body)) > 1 and _letters(title) in _letters("".join(cover(body))) else ""
    note = doubtful if title else UNNAMED
    unnamed = (ToCheck("title", title or name, line=1, note=note),) if note else ()
    placed = [
        replace(part, line=_line_of(part, text)) if part.note == OCR_TABLE else part for part in conversion.to_check
    ]
    shown = sorted(standing, key=lambda part: part.line)
    return replace(conversion, text=text, title=title, to_check=(*unnamed, *shown, *placed))


def _line_of(part: ToCheck, text: str) -> int:
    """The line where the words of a part stand; 0 where they do not."""
    wanted = _letters(part.words)
    return next((n for n, line in enumerate(text.split("\n"), 1) if wanted and wanted in _letters(line)), 0)


def _tables(text: str, facts: Sequence[PartFacts]) -> Iterator[ToCheck]:
    """The tables of a Markdown text, in order.

    >>> list(_tables("# A\\n\\n| Site | Hours |\\n| --- | --- |\\n| CMH2 | 6 |\\n", [PartFacts(page=4, merged=2)]))
    [ToCheck(kind='table', words='Site, Hours', page=4, line=3, note='2 merged cells were written as separate ones.')]
    """
    lines, count = text.split("\n"), 0
    for n, line in enumerate(lines):
        if n and _RULE.fullmatch(line.strip()) and lines[n - 1].strip().startswith("|"):
            known = facts[count] if count < len(facts) else PartFacts()
            yield ToCheck("table", _heads(lines[n - 1]), known.page, n, _table_note(known))
            count += 1


def _table_note(known: PartFacts) -> str:
    cells = known.merged
    merged = f"{cells} merged cell{'s' * (cells > 1)} {'were' if cells > 1 else 'was'} written as separate ones."
    return " ".join(part for part in (GUESSED * known.guessed, merged * bool(cells)) if part)


def _heads(row: str) -> str:
    cells = (" ".join(_IMAGE.sub(r"\1", cell).split()) for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))
    return ", ".join(cell for cell in cells if cell)[:120]


def _pictures(text: str, facts: Sequence[PartFacts]) -> Iterator[ToCheck]:
    """The pictures of a Markdown text, in order."""
    shown = [(n, match) for n, line in enumerate(text.split("\n"), 1) for match in _IMAGE.finditer(line)]
    for count, (n, match) in enumerate(shown):
        known = facts[count] if count < len(facts) else PartFacts()
        words = match[1].strip()
        if known.scan:
            yield ToCheck("scan", "", known.page, n, OCR if known.guessed else SCAN)
        else:
            yield ToCheck("picture", words, known.page, n, "" if words else WORDLESS)


@dataclass(frozen=True, slots=True)
class Original:
    """An uploaded file as it is: one page as a picture (JPEG), or its blocks as nodes to draw; neither where neither
    is known.
    """

    picture: bytes = b""
    pages: int = 1
    nodes: tuple[Any, ...] = ()


def cleaned(markdown: str) -> str:
    """Converter output without embedded images, comments, control characters and excess white space.

    >>> cleaned("<!-- Slide number: 1 -->\\n# Dock\\n\\n\\n\\nWear a vest.  \\n![](data:image/png;base64,AAAA)")
    '# Dock\\n\\nWear a vest.'
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    text = _CONTROL.sub("", _COMMENT.sub("", _DATA_IMAGE.sub(r"\1", text)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def own_title(text: str, told: str) -> str:
    """The title that a file gives itself: its one main heading, its properties, a bold first line; "" for none.

    >>> (
    ...     own_title("# Dock\\n\\n## Doors", "Yard"),
    ...     own_title("# A\\n\\n# B", "Yard"),
    ...     own_title("**Dock safety**\\n\\nText.", "x.odt"),
    ... )
    ('Dock', 'Yard', 'Dock safety')
    >>> own_title("# A\\n\\n# B", "Microsoft Word - final_v2.doc"), own_title("# 1. Introduction", "")
    ('', '')

    On a cover the name of who publishes is not the title, and a chapter's number is not alone.

    >>> (
    ...     own_title("**Department of Labor**\\n\\n**Travel handbook**\\n\\nText.", ""),
    ...     own_title("**Chapter 2**\\n\\n**Claims**", ""),
    ... )
    ('Travel handbook', 'Chapter 2: Claims')
    """
    mains = re.findall(r"^# +(\S.*)", text, re.MULTILINE)
    told = " ".join(_INVISIBLE.sub(" ", told).split())
    if len(mains) == 1 and not _NUMBERED.match(mains[0]):
        return str(mains[0])
    lines = cover(text)
    if told and not _JUNK.search(told) and not _NUMBERED.match(told) and not (lines and _PUBLISHER.search(told)):
        return told[:200]
    named = [line for line in lines if not _PUBLISHER.search(line)] or lines
    if not named or named[0].endswith((".", ":", ",")):
        return ""
    return ": ".join(named[:2]) if _CHAPTER.fullmatch(named[0]) else named[0]


def cover(text: str) -> list[str]:
    """The bold lines that a text begins with.

    >>> cover("**A**\\n\\n**B**\\n\\nText.\\n\\n**C**")
    ['A', 'B']
    """
    lines = []
    for block in filter(None, (line.strip() for line in text[:NEAR_TOP].split("\n"))):
        if not (bold := _BOLD.fullmatch(block)):
            break
        lines.append(bold[1].strip())
    return lines


def titled(text: str, title: str) -> str:
    """The text under one main heading; a heading or a bold first line that says the same is not repeated.

    >>> titled("## Dock\\n\\nText.\\n\\n## Doors", "Dock")
    '# Dock\\n\\nText.\\n\\n## Doors\\n'
    >>> titled("# A\\n\\n## B\\n\\n# C", "Yard")
    '# Yard\\n\\n## A\\n\\n### B\\n\\n## C\\n'
    """
    mains = re.findall(r"^# +(\S.*)", text, re.MULTILINE)
    if mains == [title]:
        return text + "\n"
    said = next(
        (match for match in _TITLES.finditer(text[:NEAR_TOP]) if _letters(match[1] or match[2]) == _letters(title)),
        None,
    )
    if said:
        text = text[: said.start()] + text[said.end() :]
        mains = re.findall(r"^# +(\S.*)", text, re.MULTILINE)
    if mains:
        text = _HEADING.sub(r"\1#", text)
    return f"# {title}\n\n{text}".rstrip() + "\n"


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


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
