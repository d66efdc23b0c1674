"""How well files become Markdown: public files with known content, scored per format by the collection's own scorer."""

from __future__ import annotations

import importlib.util
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.adapters.conversion import ocr
from core.adapters.conversion.converter import Converters
from core.curation.upload import conversions
from core.errors import ConcordError

NAME = "No title of its own"  # given instead of the file name, so that a heading made from it can be told apart
READ_BY_OCR = " (OCR)"
TRAPS = ("micro.docx", "m.pptx", "m.xlsx", "m.html")
HEADS = (
    "format",
    "files",
    "headings found",
    "right",
    "with level",
    "list items found",
    "table neighbours found",
    "right",
    "words in order",
    "words lost",
    "pictures",
    "print headers left",
    "guessed tables named",
    "seconds",
)
BEFORE = (
    ["PDF, before", "13", "0.00", "0.00", "0.00", "0.45", "0.40", "0.43", "0.97", "0.00", "0.00", "12", "62", "73.2"],
    ["PDF, scanned, before", "1", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00", "1.00", "", "0", "0", "0.1"],
    ["Word, before", "13", "0.99", "1.00", "0.90", "1.00", "0.98", "0.98", "1.00", "0.00", "1.00", "0", "0", "5.3"],
)  # with markitdown 0.1.8 for PDF; Word files were read by mammoth already
FAULTS_BEFORE = {
    "m.pptx": "a row with other cells than its header, a picture that is not there",
    "m.xlsx": "a row with other cells than its header, names of nothing (NaN, Unnamed), a time after a date",
}
ABOUT = """27 public PDF and Word files with known content (test files of document tools, government reports, prints \
of office documents), each
converted as an upload is, in one process, and scored by the collection's own scorer; means over the files that have \
the thing at all. A heading
that was made from a file name does not count. A table neighbour is a pair of cells beside or below each other. \
"Before" is the former
converter (markitdown 0.1.8 for PDF) on the same machine; it named every table of a PDF as guessed that it could not \
find again.

"""
WORST_HEADS = ("file", "headings found", "right", "list items", "tables found", "right", "in order", "to look at")


@dataclass(frozen=True)
class Scored:
    """One file: its format, its scores, what it names to be looked at, and the seconds it took."""

    name: str
    kind: str
    scores: Mapping[str, float]
    named: Sequence[conversions.ToCheck]
    seconds: float


def measure(folder: Path) -> list[Scored]:
    """Every file with known content, converted as an upload is."""
    scorer, converters = _scorer(folder), Converters(size=1)
    converters.convert(".html", b"<p>warm</p>")
    try:
        scored = [one for kind in ("pdf", "docx") for one in _of_kind(folder, kind, scorer, converters)]
    finally:
        converters.close()
    if importlib.util.find_spec("rapidocr") is None:
        return scored
    reading = Converters(size=1, ocr=ocr.installed())
    try:
        return [*scored, *_of_kind(folder, "pdf", scorer, reading, "scan")]
    finally:
        reading.close()


def _of_kind(folder: Path, kind: str, scorer: Any, converters: Converters, only: str = "") -> Iterator[Scored]:
    """Files of a kind; with `only`, those whose names begin so, read by OCR."""
    for name, truth in json.loads((folder / f"truth-{kind}.json").read_text()).items():
        if not name.startswith(only):
            continue
        raw, began = (folder / f"{name}.{kind}").read_bytes(), time.perf_counter()
        text, named = _converted(converters, f".{kind}", raw)
        seconds = time.perf_counter() - began
        yield Scored(
            f"{name}{READ_BY_OCR if only else ''}", kind, scorer.score(truth, scorer.parse(text)), named, seconds
        )


def _converted(converters: Converters, suffix: str, raw: bytes) -> tuple[str, Sequence[conversions.ToCheck]]:
    """The text that would be stored, less a heading that was made from the file name."""
    try:
        found = conversions.tidied(converters.convert(suffix, raw), suffix, NAME)
    except ConcordError:
        return "", ()
    return found.text.removeprefix(f"# {NAME}\n"), found.to_check


def _scorer(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(folder / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(scored: Sequence[Scored]) -> list[list[str]]:
    """One line per format; a scan, which has no text, has its own."""
    parts: dict[str, Callable[[Scored], bool]] = {
        "PDF": lambda one: one.kind == "pdf" and not one.name.startswith("scan"),
        "PDF, scanned": lambda one: one.name.startswith("scan") and not one.name.endswith(READ_BY_OCR),
        "PDF, scanned, read by OCR": lambda one: one.name.endswith(READ_BY_OCR),
        "Word": lambda one: one.kind == "docx",
    }
    chosen = {name: [one for one in scored if holds(one)] for name, holds in parts.items()}
    return [_row(name, files) for name, files in chosen.items() if files]


def _row(name: str, files: Sequence[Scored]) -> list[str]:
    means = [_mean(files, key) for key in ("hR", "hP", "hL", "li", "tR", "tP", "ord", "lost", "img")]
    noise = sum(int(one.scores.get("noise", 0)) for one in files)
    guessed = sum(conversions.GUESSED in part.note for one in files for part in one.named)
    return [name, str(len(files)), *means, str(noise), str(guessed), f"{sum(one.seconds for one in files):.1f}"]


def _mean(files: Sequence[Scored], key: str) -> str:
    """The mean over the files that have the thing at all."""
    values = [one.scores[key] for one in files if key in one.scores]
    return f"{sum(values) / len(values):.2f}" if values else ""


def worst(scored: Sequence[Scored], most: int = 8) -> list[list[str]]:
    """The files with the lowest scores, and what each of them names to be looked at."""

    def quality(one: Scored) -> float:
        values = [one.scores[key] for key in ("hR", "hP", "li", "tR", "tP", "ord") if key in one.scores]
        return sum(values) / len(values) if values else 1.0

    lines = []
    for one in sorted(scored, key=quality)[:most]:
        figures = [
            f"{one.scores[key]:.2f}" if key in one.scores else "" for key in ("hR", "hP", "li", "tR", "tP", "ord")
        ]
        kinds = [conversions.KINDS[part.kind].lower() for part in one.named]
        named = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        lines.append([f"{one.name}.{one.kind}", *figures, named])
    return lines


def traps(folder: Path) -> list[list[str]]:
    """Four small files made of traps, and which of the known faults their text has."""
    converters = Converters(size=1)
    lines = []
    for name in TRAPS:
        suffix = Path(name).suffix
        found = conversions.tidied(converters.convert(suffix, (folder / name).read_bytes()), suffix, NAME)
        lines.append([name, FAULTS_BEFORE.get(name, "none"), ", ".join(_faults(found)) or "none"])
    converters.close()
    return lines


def _faults(found: conversions.Conversion) -> Iterator[str]:
    text = found.text
    if any(count for count in _uneven(text)):
        yield "a row with other cells than its header"
    if re.search(r"\bNaN\b|Unnamed: \d", text):
        yield "names of nothing (NaN, Unnamed)"
    if re.search(r"\d{4}-\d\d-\d\d 00:00", text):
        yield "a time after a date"
    kept = {picture.path for picture in found.pictures}
    if any(
        path not in kept and path.startswith(("picture", "Picture"))
        for path in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    ):
        yield "a picture that is not there"
    if re.search(r"^\|[ |]*\|$\n\|[ -|]*-", text, re.MULTILINE):
        yield "an empty header"


def _uneven(text: str) -> Iterator[bool]:
    """Per row of a table, whether it has another number of cells than the first."""
    wide = 0
    for line in text.split("\n"):
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        yield bool(cells and wide and cells != wide)
        wide = (wide or cells) if cells else 0
