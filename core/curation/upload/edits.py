"""What a person sets on uploads: the fields of one or of all, their folder, and that a conversion was looked at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.curation.document.frontmatter_edit import Value, started_fresh, with_fields
from core.curation.pictures.picture_files import folder_of
from core.curation.upload.conversions import KINDS, ToCheck
from core.curation.upload.items import Batch, UploadItem, document_of, proposed_path
from core.types import Document


def fill(batch: Batch, n: int, values: Mapping[str, Value]) -> Batch:
    """The batch with these fields set in one item; its main heading follows its title.

    >>> fill(Batch((UploadItem("a.md", "a.md", "# A\\n\\nText.\\n"),)), 0, {"title": "B", "owner": "Ann"}).items[0].text
    '---\\ntitle: B\\nowner: Ann\\n---\\n# B\\n\\nText.\\n'
    """
    return batch.with_item(n, _filled(batch.at(n), values))


def fill_all(batch: Batch, values: Mapping[str, Value]) -> Batch:
    """The batch with these fields set in every item that can be read."""
    return replace(batch, items=tuple(_filled(item, values) if document_of(item) else item for item in batch.items))


def _filled(item: UploadItem, values: Mapping[str, Value]) -> UploadItem:
    document = document_of(item)
    text = with_fields(item.text, values)
    if document and values.get("title"):
        text = _with_heading(text, document, str(values["title"]))
    return replace(item, text=text)


def _with_heading(text: str, before: Document, title: str) -> str:
    """The text with its main heading replaced, where that was the title so far."""
    heading = re.compile(rf"^# +{re.escape(before.title)}[ \t]*$", re.MULTILINE)
    start = len(text) - len(before.text) + before.body  # the body is the same, the fields above it are not
    return text[:start] + heading.sub(lambda _: f"# {title}", text[start:], count=1)


def moves_into(batch: Batch, folder: str) -> dict[str, str]:
    """Old path to new one, for all items whose path nobody typed and the pictures that came beside them.

    >>> moves_into(Batch((UploadItem("x/a.md", "x/a.md"), UploadItem("b.md", "here.md", pinned=True))), "it")
    {'x/a.md': 'it/x/a.md'}
    """
    loose = [item for item in batch.items if not item.pinned]
    moves = {item.path: proposed_path(item.name, folder) for item in loose}
    own = {folder_of(item.path) for item in batch.items}
    before = loose[0].path.removesuffix(proposed_path(loose[0].name, "")) if loose else ""
    for picture in batch.pictures:
        if loose and picture.path.rpartition("/")[0] not in own and picture.path.startswith(before):
            moves[picture.path] = "/".join(part for part in (folder, picture.path.removeprefix(before)) if part)
    return {old: new for old, new in moves.items() if old != new}


def span(document: Document, line: int) -> tuple[int, int]:
    """Where the block that begins on a line of the body starts and ends in the text.

    >>> text = "---\\ntitle: A\\n---\\n# A\\n\\n| x |\\n|---|\\n| 1 |\\n\\nEnd.\\n"
    >>> text[slice(*span(Document("a", "a.md", "A", text, 17), 3))]
    '| x |\\n|---|\\n| 1 |'
    """
    start = document.body
    for _ in range(line - 1):
        start = document.text.find("\n", start) + 1 or len(document.text)
    end = document.text.find("\n\n", start)
    return start, end if end >= 0 else len(document.text)


def summary_of(parts: Sequence[ToCheck]) -> str:
    """What to compare with the original, in words.

    >>> summary_of([ToCheck("table"), ToCheck("picture"), ToCheck("table")])
    '2 tables, 1 picture'
    """
    counts = Counter(KINDS[part.kind].lower() for part in parts)
    return ", ".join(_counted(name, count) for name, count in counts.items())


def _counted(name: str, count: int) -> str:
    """So many of a kind; kinds that are many by themselves are only named.

    >>> _counted("scanned page", 2), _counted("tracked changes", 1), _counted("comments left out", 1)
    ('2 scanned pages', 'tracked changes', 'comments left out')
    """
    if re.search(r"\b(?:comments|changes|formulas|equations)\b", name):
        return name
    several = re.sub(r"\b(table|picture|page|chart|drawing|part)\b", r"\1s", name, count=1)
    return f"{count} {name if count == 1 else several}"


def look_at(batch: Batch, n: int, who: str) -> Batch:
    """The batch with one conversion compared with its original by somebody; "" takes it back."""
    return batch.with_item(n, replace(batch.at(n), looked=who))


def start_fresh(batch: Batch, n: int) -> Batch:
    """The batch with the fields of one item that can be read, and without the others."""
    item = batch.at(n)
    return batch.with_item(n, replace(item, text=started_fresh(item.text), findings=(), compared=False))


def origins(items: tuple[UploadItem, ...]) -> str:
    """What a change says about where its documents come from.

    >>> origins((UploadItem("a.docx", "it/a.md", converted="Word", looked="Ann"), UploadItem("b.md", "b.md")))
    'it/a.md was converted from Word (a.docx); Ann compared it with the original.'
    """
    return "\n\n".join(
        f"{item.place} was converted from {item.converted} ({item.name}); {item.looked} compared it with the original."
        for item in items
        if item.converted and item.looked
    )
