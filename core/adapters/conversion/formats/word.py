"""Word files to Markdown: mammoth reads the styles, the HTML writer does the rest."""

from __future__ import annotations

import html as html_module
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import SubElement, tostring

import mammoth
from bs4 import BeautifulSoup, Tag
from defusedxml.ElementTree import fromstring

from core.adapters.conversion.formats.html_markdown import TakenPictures, markdown

_TITLE = "title-of-the-document"
_STYLES = "\n".join(
    (
        f"p[style-name='Title'] => h1.{_TITLE}:fresh",
        f"p[style-name='title'] => h1.{_TITLE}:fresh",
        "p[style-name='Quote'] => blockquote > p:fresh",
        "p[style-name='Intense Quote'] => blockquote > p:fresh",
        "r[style-name='Code'] => code",
        *(
            f"p[style-name='{name}'] => !"
            for name in (*(f"toc {n}" for n in range(1, 10)), "TOC Heading", "table of figures")
        ),
    )
)
_TEXTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_READ_AS = {
    "moveFrom": "del",
    **dict.fromkeys(("moveTo", "fldSimple", "customXml", "dir", "bdo"), "ins"),
    **dict.fromkeys(("oval", "line", "polyline", "arc", "curve"), "shape"),
}
_SPACES = ("wordprocessingml/2006/main", "wordprocessingml/main", "schemas-microsoft-com:vml")
_PASSED_OVER = re.compile(rf"<\w+:(?:{'|'.join(_READ_AS)}|txbxContent)[ />]".encode())
_PARTS = ("word/document.xml", "word/comments.xml", "docProps/core.xml")
_LOST = {
    "comment": rb"<w:comment ",
    "tracked": rb"<w:(?:ins|del|moveFrom|moveTo) ",
    "drawing": rb"<dgm:relIds |<w:object[ >]",
    "chart": rb"<c:chart ",
    "equation": rb"<m:oMath[ >]",
    "contents": rb'<w:pStyle w:val="(?:TOC[1-9]|TableofFigures)"',
}


def convert(raw: bytes) -> Mapping[str, Any]:
    """The text, its pictures, and how many cells of each table were merged."""
    pictures = TakenPictures()

    @mammoth.images.img_element
    def kept(image: Any) -> dict[str, str]:
        with image.open() as content:
            return {"src": pictures.add(content.read(), image.content_type or "")}

    html = mammoth.convert_to_html(io.BytesIO(_readable(raw)), style_map=_STYLES, convert_image=kept).value
    text, _, merged = markdown(_titled(html), pictures)
    title, facts = _about(raw)
    tables = [{"merged": count} for count in merged]
    return {
        "text": text,
        "title": title,
        "facts": facts,
        "tables": tables,
        "pictures": pictures.kept,
        "left_out": pictures.left_out,
    }


def _readable(raw: bytes) -> bytes:
    """The file with what mammoth passes over written as what it reads: moved text, fields, shapes, boxes of text."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        names = archive.namelist()
        parts = {name: archive.read(name) for name in _TEXTS if name in names}
        parts = {name: _rewritten(part) for name, part in parts.items() if _PASSED_OVER.search(part)}
        if not parts:
            return raw
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as copy:
            for name in names:
                copy.writestr(name, parts[name] if name in parts else archive.read(name))
    return out.getvalue()


def _rewritten(part: bytes) -> bytes:
    """One part with other names for some elements, and the text of every drawn box beside its drawing."""
    root = fromstring(part)
    for parent in list(root.iter()):
        space, _, name = parent.tag.rpartition("}")
        if name in _READ_AS and space.endswith(_SPACES):
            parent.tag = f"{space}}}{_READ_AS[name]}"
        for drawing in [child for child in parent if child.tag.endswith("}drawing")]:
            _spoken(drawing, parent)
        if name == "AlternateContent":
            _fallen_back(parent, space)
    written: bytes = tostring(root, "utf-8")
    return written


def _spoken(drawing: Any, parent: Any) -> None:
    """Put what the boxes of a drawing say after it."""
    if boxes := _boxes(drawing):
        said = SubElement(parent, drawing.tag.replace("}drawing", "}pict"))
        said.extend(boxes)


def _fallen_back(either: Any, space: str) -> None:
    """A fallback that shows a box as a picture, or none at all, gets what the box says."""
    fallback = either.find(f"{space}}}Fallback")
    if fallback is None:
        fallback = SubElement(either, f"{space}}}Fallback")
    for drawing in [] if _boxes(fallback) else [each for each in either.iter() if each.tag.endswith("}drawing")]:
        _spoken(drawing, fallback)


def _boxes(element: Any) -> list[Any]:
    return [each for each in element.iter() if each.tag.endswith("}txbxContent")]


def _about(raw: bytes) -> tuple[str, list[dict[str, Any]]]:
    """The title in the properties, and what Word shows that the text does not."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = {name: archive.read(name) for name in _PARTS if name in archive.namelist()}
    body, remarks, core = (parts.get(name, b"") for name in _PARTS)
    title = re.search(r"<dc:title>([^<]{1,300})</dc:title>", core.decode("utf-8", "replace"))
    counts = {kind: len(re.findall(pattern, remarks if kind == "comment" else body)) for kind, pattern in _LOST.items()}
    facts = [{"kind": kind, "page": 0, "words": str(count)} for kind, count in counts.items() if count]
    return html_module.unescape(title[1]) if title else "", facts


def _titled(html: str) -> str:
    """The HTML with the title as its one main heading; the others go one level down where they would compete with
    it.
    """
    soup = BeautifulSoup(html, "html.parser")
    titles = soup.find_all("h1", class_=_TITLE)
    if not titles:
        return html
    first = titles[0]
    for more in titles[1:]:
        if _follows(more, first):
            first.append(" ")
            first.extend(list(more.contents))
            more.decompose()
        else:
            more.name = "h2"
    if any(heading is not first for heading in soup.find_all("h1")):
        for heading in soup.find_all(["h1", "h2", "h3", "h4", "h5"]):
            if heading is not first and heading not in titles:
                heading.name = f"h{int(heading.name[1]) + 1}"
    return str(soup)


def _follows(heading: Tag, first: Tag) -> bool:
    return heading.find_previous_sibling() is first
