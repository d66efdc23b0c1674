"""A document as a Word file: headings, lists, tables, code, links and pictures, with a running head and page
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any

from markdown_it.token import Token

from core.curation.document.links import is_external, resolve
from core.curation.text.markup import parser, plain_heading
from core.types import Document

PICTURE_WIDTH = 6.0  # inches, between the margins
LIST_LEVELS = 3  # that Word's own styles have
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ReadPicture = Callable[[str], bytes | None]


def word_file(document: Document, facts: Sequence[str], changed: datetime, picture: ReadPicture) -> bytes:
    """The bytes of a .docx; `facts` stand below the title, and `picture` reads one by its path."""
    import docx

    word = docx.Document()
    _properties(word, document, changed)
    _running_head(word.sections[0], document.title, facts)
    word.add_heading(_text(document.title), 0)
    word.add_paragraph(_text(" · ".join(facts)), style="Subtitle")
    tokens = parser().parse(document.text[document.body :])
    _WordWriter(word, document, picture).write(_without_title(tokens, document.title))
    out = BytesIO()
    word.save(out)
    return out.getvalue()


def _text(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _UNPRINTABLE.sub("", text)


def _properties(word: Any, document: Document, changed: datetime) -> None:
    facts = word.core_properties
    facts.title, facts.author = _text(document.title)[:255], _text(document.meta.owner)[:255]
    facts.subject, facts.keywords = document.id[:255], _text(", ".join(document.meta.tags))[:255]
    facts.created = facts.modified = changed.replace(tzinfo=None)
    facts.comments = ""


def _running_head(section: Any, title: str, facts: Sequence[str]) -> None:
    section.header.paragraphs[0].text = _text(f"{title}\t\t{facts[0] if facts else ''}")
    foot = section.footer.paragraphs[0]
    foot.alignment = 1
    for word, field in (("Page ", "PAGE"), (" of ", "NUMPAGES")):
        foot.add_run(word)
        _field(foot, field)


def _field(paragraph: Any, instruction: str) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), instruction)
    paragraph._p.append(field)


def _without_title(tokens: Sequence[Token], title: str) -> Sequence[Token]:
    """The body without a first heading that repeats the title."""
    first = [token.type for token in tokens[:2]] == ["heading_open", "inline"]
    return tokens[3:] if first and plain_heading(tokens[1].content).casefold() == title.casefold() else tokens


class _WordWriter:
    """Markdown tokens, written one after the other."""

    def __init__(self, word: Any, document: Document, picture: ReadPicture) -> None:
        self.word, self.document, self.picture = word, document, picture
        self.style_ids = {style.name: style.style_id for style in word.styles}  # looking one up takes 10 ms
        self.lists: list[
            tuple[str, int]
        ] = []  # the lists that are open: the style, and Word's number of an ordered one
        self.quotes = 0
        self.begun = False  # whether the open list item has its first paragraph

    def write(self, tokens: Sequence[Token]) -> None:
        n = 0
        while n < len(tokens):
            token = tokens[n]
            if token.type == "table_open":
                last = next(m for m in range(n, len(tokens)) if tokens[m].type == "table_close")
                self._table(tokens[n:last])
                n = last
            else:
                self._block(token, tokens[n + 1] if n + 1 < len(tokens) else token)
            n += 1

    def _styled(self, style: str) -> Any:
        """A new paragraph; a style that the template lacks is left out."""
        paragraph = self.word.add_paragraph()
        paragraph._p.style = self.style_ids.get(style)
        return paragraph

    def _block(self, token: Token, following: Token) -> None:
        if token.type == "heading_open":
            self._inline(self._styled(f"Heading {token.tag[1]}"), following)
        elif token.type == "paragraph_open":
            self._inline(self._paragraph(), following)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            self.lists.append(self._list(token))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif token.type == "list_item_open":
            self.begun = False
        elif token.type in ("blockquote_open", "blockquote_close"):
            self.quotes += token.nesting
        elif token.type in ("fence", "code_block"):
            self._code(token.content.rstrip("\n"))
        elif token.type == "hr":
            self.word.add_paragraph("―" * 12).alignment = 1

    def _list(self, token: Token) -> tuple[str, int]:
        kind = "List Number" if token.type == "ordered_list_open" else "List Bullet"
        level = min(LIST_LEVELS, len(self.lists) + 1)
        style = kind if level == 1 else f"{kind} {level}"
        return style, self._numbering(style, int(token.attrGet("start") or 1)) if kind == "List Number" else 0

    def _numbering(self, style: str, start: int) -> int:
        """A numbering of its own for each list: Word would go on counting from the one before."""
        numbering = self.word.part.numbering_part.numbering_definitions._numbering
        used = self.word.styles[style].element.pPr.numPr.numId.val
        abstract = next(num.abstractNumId.val for num in numbering.num_lst if num.numId == used)
        added = numbering.add_num(abstract)
        added.add_lvlOverride(ilvl=0).add_startOverride(start)
        return int(added.numId)

    def _paragraph(self) -> Any:
        if not self.lists:
            return self._styled("Quote" if self.quotes else "")
        style, number = self.lists[-1]
        if self.begun:  # a further paragraph of the same item carries no mark
            return self._styled(style.replace("Number", "Continue").replace("Bullet", "Continue"))
        self.begun = True
        paragraph = self._styled(style)
        if number:
            properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
            properties.get_or_add_ilvl().val = 0
            properties.get_or_add_numId().val = number
        return paragraph

    def _code(self, code: str) -> None:
        from docx.shared import Pt

        run = self.word.add_paragraph().add_run(_text(code))
        run.font.name, run.font.size = "Consolas", Pt(9)

    def _table(self, tokens: Sequence[Token]) -> None:
        rows: list[list[Token]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(token)
        table = self.word.add_table(len(rows), max(map(len, rows)), style="Table Grid")
        for n, (row, cells) in enumerate(zip(table._tbl.tr_lst, rows, strict=True)):
            for place, cell in zip(row.tc_lst, cells, strict=False):
                self._inline(_first_paragraph(place, table), cell, bold=n == 0)
        _repeat_head(table._tbl.tr_lst[0])
        self.word.add_paragraph()

    def _inline(self, paragraph: Any, token: Token, bold: bool = False) -> None:
        style = {"bold": bold, "italic": False, "strike": False}
        marks = {"strong": "bold", "em": "italic", "s": "strike"}
        href = ""
        for child in token.children or []:
            kind = child.type.removesuffix("_open").removesuffix("_close")
            if kind in marks:
                style[marks[kind]] = child.nesting > 0 or (bold and kind == "strong")
            elif kind == "link":
                href = str(child.attrGet("href") or "") if child.nesting > 0 else ""
            elif kind == "image":
                self._picture(paragraph, str(child.attrGet("src") or ""), child.content)
            elif kind in ("softbreak", "hardbreak"):
                paragraph.add_run(" ") if kind == "softbreak" else paragraph.add_run().add_break()
            elif child.content:
                run = _run(paragraph, _text(child.content), href if is_external(href) else "")
                run.bold, run.italic = style["bold"] or None, style["italic"] or None
                if style["strike"]:
                    run.font.strike = True
                if kind == "code_inline":
                    run.font.name = "Consolas"

    def _picture(self, paragraph: Any, source: str, words: str) -> None:
        """The picture, or its words where it is missing or of a kind that Word does not show."""
        from docx.shared import Inches

        raw = self.picture(resolve(self.document.path, source)) if not is_external(source) else None
        try:
            shape = paragraph.add_run().add_picture(BytesIO(raw)) if raw else None
        except Exception:  # python-docx raises its own, struct's and others for bytes that it cannot read
            shape = None
        if shape is None:
            paragraph.add_run(_text(f"[{words or 'Picture'}]")).italic = True
        elif shape.width > Inches(PICTURE_WIDTH):
            shape.height = int(shape.height * Inches(PICTURE_WIDTH) / shape.width)
            shape.width = Inches(PICTURE_WIDTH)


def _first_paragraph(cell: Any, table: Any) -> Any:
    from docx.table import _Cell

    return _Cell(cell, table).paragraphs[0]


def _repeat_head(row: Any) -> None:
    """The first row again on every page of a long table."""
    from docx.oxml import OxmlElement

    row.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def _run(paragraph: Any, text: str, href: str) -> Any:
    """A run of text; inside a hyperlink where it leads to the web."""
    run = paragraph.add_run(text)
    if href:
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import RGBColor

        link = OxmlElement("w:hyperlink")
        link.set(qn("r:id"), paragraph.part.relate_to(_text(href), RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        link.append(run._r)
        paragraph._p.append(link)
        run.font.underline, run.font.color.rgb = True, RGBColor(0x05, 0x63, 0xC1)
    return run
