"""HTML to Markdown: tables whole, pictures taken out, nothing of a page's navigation."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from core.adapters.conversion.formats.markdown_table import TooLarge

DATA = re.compile(r"data:([\w.+/-]{0,60})(?:;[\w=-]{1,40}){0,3}?;base64,(.*)", re.DOTALL)
TYPES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "image/x-emf": "emf",
    "image/x-wmf": "wmf",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
}
_FILE = re.compile(r"[\w ().-]+\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|emf|wmf)", re.IGNORECASE)
MOST_BYTES = 40 * 1024 * 1024  # of all pictures of a file; what is more is left out
MOST_CELLS = 200_000  # of one table, merged ones counted out
_NOISE = (
    "script",
    "style",
    "nav",
    "template",
    "noscript",
    "iframe",
    "object",
    "embed",
    "svg",
    "button",
    "input",
    "select",
)
_BLOCKS = ("p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "dt", "dd", "tr")


@dataclass
class TakenPictures:
    """The pictures of a file, in the order in which they stand; equal ones are kept once."""

    kept: list[dict[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    _names: dict[bytes, str] = field(default_factory=dict)
    _size: int = 0

    def add(self, raw: bytes, content_type: str) -> str:
        """The name under which a picture is kept; "" where it is left out."""
        suffix = TYPES.get(content_type.lower(), "")
        if raw in self._names:
            return self._names[raw]
        if suffix not in ("png", "jpg", "gif", "webp", "svg") or self._size + len(raw) > MOST_BYTES:
            self.left_out.append(suffix or content_type[:40] or "unknown")
            return ""
        name = f"picture-{len(self.kept) + 1}.{suffix}"
        self._names[raw], self._size = name, self._size + len(raw)
        self.kept.append({"name": name, "data": base64.b64encode(raw).decode()})
        return name


def markdown(html: str, pictures: TakenPictures) -> tuple[str, str, list[int]]:
    """The Markdown, the title that the page gives itself, and the number of merged cells of each table."""
    soup = BeautifulSoup(html, "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for element in soup.find_all([*_NOISE, "title"]):
        element.decompose()
    body = soup.find("main") or soup.find("article") or soup.body or soup
    for link in body.find_all("a"):
        if re.match(r"\s*(?!https?:|mailto:)[a-z][a-z0-9+.-]*:", str(link.get("href") or ""), re.IGNORECASE):
            link.unwrap()  # a program is no address
    for image in body.find_all("img"):
        _picture(image, pictures)
    outer = [table for table in body.find_all("table") if table.find_parent("table") is None]
    merged = [_whole(table, soup) for table in outer]
    return str(_Writer().convert_soup(body)), title, merged


def _picture(image: Tag, pictures: TakenPictures) -> None:
    """Take the data out of a picture; one that is left out keeps its words."""
    source, alt = str(image.get("src") or ""), one_line(str(image.get("alt") or ""))
    if source.startswith("data:"):
        source = _taken(source, pictures)
    if not source:
        image.replace_with(f"({alt})" if alt else "")
        return
    image["src"], image["alt"] = source, alt
    heading = image.find_parent(re.compile("^h[1-6]$"))
    if heading is not None:
        heading.insert_after(image.extract())


def _taken(source: str, pictures: TakenPictures) -> str:
    match = DATA.fullmatch(source)
    try:
        return pictures.add(base64.b64decode(match[2]), match[1]) if match else ""
    except ValueError:
        return ""


def one_line(text: str) -> str:
    """Words that say what a picture shows; a file name does not.

    >>> one_line("Dock [14]\\n with chock"), one_line("IMG_0012.jpeg")
    ('Dock 14 with chock', '')
    """
    words = " ".join(re.sub(r"[\[\]\\]", " ", text).split())[:300]
    return "" if _FILE.fullmatch(words) else words


# ---------------------------------------------------------------- tables


def _whole(table: Tag, soup: BeautifulSoup) -> int:
    """Write a table anew with one cell per place, its first row as header; returns how many cells were merged."""
    for inner in reversed(table.find_all("table")):
        inner.replace_with(_flat(inner, soup))
    grid, merged = _grid(table)
    columns = max((column for _, column in grid), default=-1) + 1
    rows = max((row for row, _ in grid), default=-1) + 1
    caption = table.find("caption")
    fresh = soup.new_tag("table")
    for row in range(rows):
        line = soup.new_tag("tr")
        for column in range(columns):
            cell = soup.new_tag("td" if row else "th")
            for child in _lines(grid.get((row, column)), soup):
                cell.append(child)
            line.append(cell)
        fresh.append(line)
    table.replace_with(fresh)
    if caption is not None:
        fresh.insert_before(caption)
        caption.name = "p"
    if not columns:
        fresh.decompose()
    return merged


def _grid(table: Tag) -> tuple[dict[tuple[int, int], Tag | None], int]:
    """The cells by row and column; the places that a merged cell covers are empty."""
    grid: dict[tuple[int, int], Tag | None] = {}
    merged = 0
    for number, row in enumerate(table.find_all("tr")):
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (number, column) in grid:
                column += 1
            tall, wide = _span(cell, "rowspan"), _span(cell, "colspan")
            merged += tall * wide > 1
            if len(grid) + tall * wide > MOST_CELLS:
                raise TooLarge(f"a table has room for more than {MOST_CELLS:,} cells")
            for down in range(tall):
                for right in range(wide):
                    grid[number + down, column + right] = None
            grid[number, column] = cell
            column += wide
    last = len(table.find_all("tr"))
    return {place: cell for place, cell in grid.items() if place[0] < last}, merged


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return min(max(int(value), 1), 1000) if value.isascii() and value.isdigit() else 1


def _lines(cell: Tag | None, soup: BeautifulSoup) -> Iterator[Any]:
    """The content of a cell on one line: its paragraphs and list items with breaks between them."""
    if cell is None:
        return
    for item in cell.find_all("li"):
        ordered = item.parent is not None and item.parent.name == "ol"
        item.insert(0, f"{len(item.find_previous_siblings('li')) + 1}. " if ordered else "• ")
    for nested in cell.select("li ul, li ol"):
        nested.insert_before(soup.new_tag("br"))
    for block in cell.find_all(_BLOCKS):
        block.append(soup.new_tag("br"))
        block.unwrap()
    for wrapper in cell.find_all(["ul", "ol", "dl"]):
        wrapper.unwrap()
    parts = list(cell.contents)
    while parts and (_is_break(parts[-1]) or not str(parts[-1]).strip()):
        parts.pop()
    yield from parts


def _is_break(part: Any) -> bool:
    return isinstance(part, Tag) and part.name == "br"


def _flat(table: Tag, soup: BeautifulSoup) -> Tag:
    """A table inside a cell, as lines of text."""
    box = soup.new_tag("div")
    for row in table.find_all("tr"):
        line = soup.new_tag("p")
        line.string = ", ".join(" ".join(cell.get_text(" ").split()) for cell in row.find_all(["td", "th"]))
        box.append(line)
    return box


# ---------------------------------------------------------------- writing


_INLINE = ["td", "th", "p", "li", "a", "strong", "b", "em", "i", "span", "div", "figure", "u", "s", "sup", "sub"]


class _Writer(MarkdownConverter):
    """Markdown that reads like typed by hand: only what would be taken for markup is escaped."""

    def __init__(self) -> None:
        super().__init__(heading_style="ATX", bullets="-", table_infer_header=True, keep_inline_images_in=_INLINE)

    def escape(self, text: str, parent_tags: set[str]) -> str:
        text = re.sub(r"([\\`])", r"\\\1", text or "")
        text = re.sub(r"(?<!\s)\*|\*(?!\s)", r"\\*", text)
        text = re.sub(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)", r"\\_", text)
        text = re.sub(r"\[(?=[^\]\n]*\][\[(:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)", r"\\\g<0>", text)
        text = re.sub(r"^(\s*)([#>+=-]|~{3})(?=[\s=-]|#|$)", r"\1\\\2", text)
        text = re.sub(r"^(\s*\d{1,9})([.)])(?=\s|$)", r"\1\\\2", text)
        return text.replace("|", r"\|") if parent_tags & {"td", "th"} else text

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f" {re.sub('(<br>)+', '<br>', ' '.join(text.split()))} |"

    convert_th = convert_td

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if parent_tags & {"td", "th"}:
            return "<br>"
        return " " if "_inline" in parent_tags else "\\\n"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        source = re.sub(r"[\s()<>]", lambda odd: f"%{ord(odd[0]):02X}", str(el.get("src") or ""))
        return f"![{el.get('alt') or ''}]({source})"
