"""PowerPoint files to Markdown: a section per slide, with its lists, tables, charts, pictures and notes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.adapters.conversion.formats.html_markdown import TakenPictures, one_line
from core.adapters.conversion.formats.markdown_table import line, table

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_BODIES = ("BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT")
_FURNITURE = ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER")


def convert(raw: bytes) -> Mapping[str, Any]:
    """The text, and for each table, picture and lost part the slide it stands on."""
    from pptx import Presentation

    show = Presentation(io.BytesIO(raw))
    writer = _SlideWriter()
    for number, slide in enumerate(show.slides, 1):
        writer.slide(slide, number)
    title = show.core_properties.title or writer.first_title
    return {**writer.answer(), "title": title}


class _SlideWriter:
    """The text so far, with the slide of each table and picture, in the order of the text."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.tables: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self.facts: list[dict[str, Any]] = []
        self.pictures, self.first_title = TakenPictures(), ""

    def answer(self) -> Mapping[str, Any]:
        kept, lost = self.pictures.kept, self.pictures.left_out
        return {
            "text": "\n\n".join(self.parts),
            "tables": self.tables,
            "images": self.images,
            "facts": self.facts,
            "pictures": kept,
            "left_out": lost,
        }

    def slide(self, slide: Any, number: int) -> None:
        """One section. A slide that is not shown is left out, and named."""
        heading = slide.shapes.title
        name = " ".join(heading.text_frame.text.split()) if heading is not None and heading.has_text_frame else ""
        if slide._element.get("show") == "0":
            self._doubt("hidden", name, number)
            return
        self.first_title = self.first_title or name
        self.parts.append(f"## {line(name) if name else f'Slide {number}'}")
        for shape in _in_order(slide.shapes):
            if heading is None or shape.shape_id != heading.shape_id:
                self._shape(shape, number)
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            first, *rest = (line(part) for part in notes.text.splitlines() if part.strip())
            self.parts += (f"**Notes:** {first}", *rest)

    def _shape(self, shape: Any, number: int) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if getattr(shape, "shapes", None) is not None:
            for inner in _in_order(shape.shapes):
                self._shape(inner, number)
        elif getattr(shape, "has_table", False):
            self._table(shape.table, number)
        elif getattr(shape, "has_chart", False):
            self._chart(shape, number)
        elif getattr(shape, "media_type", None) is not None:
            self._doubt("drawing", shape.name, number)  # a film or a sound
        elif shape._element.tag.endswith("}pic"):
            self._picture(shape, number)
        elif shape.has_text_frame:
            self._text(shape.text_frame, kind in _BODIES)
        elif shape._element.tag.endswith("}graphicFrame"):
            self._doubt("drawing", shape.name, number)  # a diagram, or a file inside the file

    def _doubt(self, kind: str, words: str, number: int) -> None:
        self.facts.append({"kind": kind, "page": number, "words": words[:120]})

    def _text(self, frame: Any, body: bool) -> None:
        """Paragraphs with marks become items of a list, as do those of a slide's body."""
        lines: list[str] = []
        numbers: dict[int, int] = {}
        for paragraph in frame.paragraphs:
            text = line("".join(run.text for run in paragraph.runs) or paragraph.text)
            if not text:
                continue
            mark = _mark(paragraph, body)
            numbers = {level: count for level, count in numbers.items() if level <= paragraph.level}
            numbers[paragraph.level] = numbers.get(paragraph.level, 0) + 1 if mark == "number" else 0
            shown = {"number": f"{numbers[paragraph.level]}. ", "bullet": "- "}.get(mark, "")
            indent = "    " * paragraph.level if shown else ""
            loose = lines and (not shown or not lines[-1].lstrip().startswith(("-", *"0123456789")))
            lines.append("\n" * bool(loose) + indent + shown + text)
        if lines:
            self.parts.append("\n".join(lines))

    def _table(self, found: Any, number: int) -> None:
        merged = sum(cell.is_merge_origin for row in found.rows for cell in row.cells)
        rows = [["" if cell.is_spanned else cell.text for cell in row.cells] for row in found.rows]
        if any(any(row) for row in rows):
            self.parts.append(table(rows))
            self.tables.append({"page": number, "merged": merged})

    def _chart(self, shape: Any, number: int) -> None:
        """The numbers behind a chart, as a table."""
        rows = _numbers(shape.chart)
        self._doubt("chart", shape.name, number)
        if len(rows) > 1 and len(rows[0]) > 1:
            self.parts.append(table(rows))
            self.tables.append({"page": number})

    def _picture(self, shape: Any, number: int) -> None:
        try:
            image = shape.image
        except (KeyError, ValueError, AttributeError):
            self._doubt("drawing", shape.name, number)  # it is linked, not inside the file
            return
        name = self.pictures.add(image.blob, image.content_type)
        if name:
            alt = shape._element.xpath(".//p:cNvPr/@descr")
            self.parts.append(f"![{one_line(alt[0] if alt else '')}]({name})")
            self.images.append({"page": number})


def _in_order(shapes: Any) -> Sequence[Any]:
    """From top to bottom, then from left to right; what stands in about the same line counts as one line."""
    return sorted(shapes, key=lambda shape: (round((shape.top or 0) / 250_000), shape.left or 0))


def _placeholder(shape: Any) -> str:
    return shape.placeholder_format.type.name if shape.is_placeholder and shape.placeholder_format.type else ""


def _mark(paragraph: Any, body: bool) -> str:
    """How a paragraph is marked: "number", "bullet" or "" for none."""
    settings = paragraph._p.pPr
    names = {child.tag.removeprefix(_DRAWING) for child in settings} if settings is not None else set()
    if "buAutoNum" in names:
        return "number"
    return "bullet" if names & {"buChar", "buBlip"} or (body and "buNone" not in names) else ""


def _numbers(chart: Any) -> list[list[str]]:
    """Categories down, series across."""
    try:
        plot = chart.plots[0]
        series = list(plot.series)
        rows = [["", *(one.name or "" for one in series)]]
        for n, category in enumerate(plot.categories):
            rows.append([str(category), *(_number(one.values[n]) for one in series)])
    except (KeyError, ValueError, AttributeError, IndexError, NotImplementedError):
        return []
    return rows


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def slide_nodes(raw: bytes, number: int) -> tuple[list[Any], int]:
    """The texts and tables of one slide as nodes to draw, and how many slides there are."""
    from pptx import Presentation

    slides = Presentation(io.BytesIO(raw)).slides
    slide = slides[min(max(number, 1), len(slides)) - 1]
    return [node for shape in _in_order(slide.shapes) for node in _nodes(shape, slide)], len(slides)


def _nodes(shape: Any, slide: Any) -> Iterator[list[Any]]:
    if getattr(shape, "shapes", None) is not None:
        for inner in _in_order(shape.shapes):
            yield from _nodes(inner, slide)
    elif getattr(shape, "has_table", False):
        rows = [["tr", {}, [["td", {}, [cell.text]] for cell in row.cells]] for row in shape.table.rows]
        yield ["table", {}, [["tbody", {}, rows]]]
    elif shape.has_text_frame:
        title = slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id
        for paragraph in shape.text_frame.paragraphs:
            if paragraph.text.strip():
                yield ["h4" if title else "p", {}, ["\u2003" * paragraph.level + paragraph.text]]
    else:
        yield ["p", {}, [f"[{shape.name}]"]]
