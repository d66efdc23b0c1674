"""Generated uploads: whatever comes in, the answer is a batch, and nothing is written."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from core.bootstrap import App
from core.curation.document.frontmatter import decode, read_document
from core.curation.document.names import safe_path
from core.curation.text.render import render
from core.curation.upload.edits import look_at
from core.curation.upload.items import STATES
from tests.conftest import demo, put, rounds
from tests.support import uploads
from tests.support.hostile import PAYLOADS
from tests.support.uploads import GOOD, ProposedChanges

Make = Callable[[random.Random], bytes]

ODD = [
    "..",
    ".",
    "",
    "/",
    "\\",
    "\0",
    "\x1b",
    "\u202e",
    "\u200b",
    "con",
    "NUL",
    "~",
    "a b",
    "É",
    "E\u0301",
    "ﬀ",
    "💥",
    "\ud800",
    "x" * 90,
    "-",
    "#",
    "%2e%2e",
    ":",
    "*",
    "Ω",
]
SUFFIXES = [".md", ".md", ".md", ".md", ".txt", ".MD", ".markdown", ".zip", "", ".exe", ".md.zip", ".pdf", ".docx"]
KEYS = [
    "id",
    "title",
    "doc_type",
    "status",
    "owner",
    "tags",
    "effective_date",
    "review_due",
    "supersedes",
    "answers",
    "x",
    "? y",
    "<<",
    "1",
]
VALUES = [
    "T",
    "''",
    '"',
    "[a, b]",
    "[[[[[[[[1]]]]]]]]",
    "{a: {b: {c: {d: {e: {f: {g: 1}}}}}}}",
    "&a [*a]",
    "*a",
    "!!python/object:os.system x",
    "2026-02-30",
    "2026-11-15",
    "approved",
    "wip",
    "~",
    "null",
    "| \n  text",
    ">-",
    "- a",
    "\t",
    "\x07",
    "💥",
    "0x41",
    "1e999",
    "yes",
    "@a",
    "`",
    "%",
    "a: b: c",
    "x" * 400,
]


def name(r: random.Random) -> str:
    parts = [r.choice(ODD) if r.random() < 0.25 else f"f{r.randrange(40)}" for _ in range(r.choice([1, 1, 1, 2, 3, 9]))]
    return "/".join(parts) + r.choice(SUFFIXES)


def frontmatter(r: random.Random) -> bytes:
    lines = [f"{r.choice(KEYS)}: {r.choice(VALUES)}" for _ in range(r.randrange(8))]
    close = r.choice(["---\n", "---\n", "---\n", "...\n", ""])
    return ("---\n" + "\n".join(lines) + "\n" + close).encode("utf-8", "surrogatepass") + prose(r)


def prose(r: random.Random) -> bytes:
    blocks = [
        "# Title",
        "## Part",
        "#### Deep",
        "",
        "Text with words " * r.randrange(1, 12),
        "[a](b.md#c)",
        "[x](../../../../etc/passwd)",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\ncode",
        "> " * r.choice([1, 5, 60, 3000]) + "q",
        "- a\n  - b",
        "[" * r.choice([1, 500]),
        "*" * r.choice([1, 500]),
        "password: q7Zx9KpL2mVt4Rw8",
        "\u202eback",
        "\x0b",
        "---",
        "===",
        "&#0;",
        "[l]: javascript:alert(1)\n[l]",
        r.choice(PAYLOADS),
    ]
    return "\n\n".join(r.choice(blocks) for _ in range(r.randrange(1, 12))).encode("utf-8", "surrogatepass")


def mutated(r: random.Random) -> bytes:
    raw = bytearray(GOOD.format(f"X-{r.randrange(20)}").encode())
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(raw))
        raw[at : at + r.randrange(4)] = r.choice(
            [b"", b"\0", b"\xff", b"\r", b"\r\n", b"---\n", b"\xe2\x80\xae", b"&", b"*", b"{", b"'"]
        )
    return bytes(raw)


def bag(r: random.Random) -> bytes:
    """A zip of anything, sometimes broken."""
    raw = bytearray(
        uploads.zipped(
            {
                name(r).replace("\ud800", "?").replace("\0", "\x01"): r.choice([prose, frontmatter, noise])(r)
                for _ in range(r.randrange(5))
            }
        )
    )
    for _ in range(r.choice([0, 0, 1, 4])):
        raw[r.randrange(len(raw))] = r.randrange(256)
    return bytes(raw)


def noise(r: random.Random) -> bytes:
    return r.randbytes(r.choice([0, 1, 3, 40, 900]))


def encoded(r: random.Random) -> bytes:
    return (
        prose(r)
        .decode("utf-8", "replace")
        .encode(r.choice(["utf-16", "utf-8-sig", "cp1252", "utf-32", "latin-1"]), "replace")
    )


OFFICE: Mapping[str, bytes] = {".pdf": uploads.pdf(), ".docx": uploads.docx(), ".html": uploads.HTML}

KINDS: Mapping[str, Make] = {
    "frontmatter": frontmatter,
    "prose": prose,
    "mutated": mutated,
    "zip": bag,
    "noise": noise,
    "encoded": encoded,
}


def upload(r: random.Random) -> tuple[str, bytes]:
    """A name and bytes; now and then a file of another program with some bytes exchanged."""
    if r.random() < 0.06:
        suffix = r.choice(list(OFFICE))
        raw = bytearray(OFFICE[suffix])
        for _ in range(r.randrange(4)):
            raw[r.randrange(len(raw))] = r.randrange(256)
        return f"o{r.randrange(1000)}{suffix}", bytes(raw)
    return name(r), KINDS[r.choices(list(KINDS), [4, 3, 4, 1, 1, 1])[0]](r)


def state_of(home: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the workspace but the vectors kept from looking for duplicates."""
    return {
        str(path.relative_to(home)): (path.stat().st_size, path.read_bytes())
        for path in sorted(home.rglob("*"))
        if path.is_file() and "cache" not in path.parts
    }


def bombard(app: App, count: int, seed: int) -> dict[str, int]:
    """Generated uploads, some at a time; returns how many ended in which state."""
    r, seen, app.upload.uploads.changes = random.Random(seed), dict.fromkeys(STATES, 0), ProposedChanges()
    put(app, {"it/f1.md": GOOD.format("X-1"), "it/f2.md": "# Two\n\nText with words Text with words.\n"})
    app.upload.uploads.read(demo("author"), [("f1.md", b"# warm\n\nup\n")])
    before = state_of(app.settings.home)
    for done in range(0, count, 20):
        files = [upload(r) for _ in range(min(20, count - done))]
        batch = app.upload.uploads.read(demo("author"), files, r.choice(["", "it"]))
        assert len(batch.items) >= len(files)
        for item in batch.items:
            seen[item.state] += 1
            assert item.state != "refused" or item.findings[0].message.strip()
        for path, raw in app.upload.uploads.files(batch).items():
            assert safe_path(path) == path
            render(read_document(path, decode(raw or b"")))
        for n, item in enumerate(batch.items):
            batch = look_at(batch, n, "Avery") if item.unseen else batch
        if batch.included:
            app.upload.uploads.submit(demo("author"), batch, "Fuzz")
    assert state_of(app.settings.home) == before
    assert app.knowledge.repository.damaged() == []
    for _, _, files_made, _ in app.upload.uploads.changes.made:
        for path in files_made:
            assert safe_path(path) == path
    return seen


def test_500_generated_uploads_end_in_a_state_and_leave_everything_as_it_was(app: App) -> None:
    seen = bombard(app, 500, seed=4)
    assert min(seen.values()) > 3, seen


@pytest.mark.slow
def test_thousands_of_generated_uploads_end_in_a_state_and_leave_everything_as_it_was(app: App) -> None:
    seen = bombard(app, rounds(4000), seed=2026)
    assert min(seen.values()) > rounds(24), seen
