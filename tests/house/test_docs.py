"""The documentation held against the code: links, pictures, commands, variables, tables and the length of sentences."""

from __future__ import annotations

import re
import shlex
import statistics
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.entrypoints.cli import parser
from core.retrieval import config as configs
from core.types import SearchConfig
from tests import reference
from tests.conftest import ROOT

FOR_USERS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
ALL = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:")


@cache
def anchors(path: Path) -> set[str]:
    """What the headings of a page are called in links."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Links of a page to places in the repository."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if not OUTSIDE.match(target):
            name, _, anchor = target.partition("#")
            yield target, (page.parent / name).resolve() if name else page, anchor


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = [
        target for target, path, anchor in links(page) if not path.exists() or (anchor and anchor not in anchors(path))
    ]
    assert lost == []


def test_every_page_that_the_code_names_is_there() -> None:
    code = (path for folder in ("core", "pages", "bench") for path in (ROOT / folder).rglob("*.py"))
    named = {name for path in code for name in re.findall(r"\bdocs/[a-z/-]+\.md", path.read_text(encoding="utf-8"))}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_page_and_picture_is_reached_from_the_readme() -> None:
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += (
                [path for _, path, _ in links(page) if path.suffix == ".md" and path.exists()]
                if page.suffix == ".md"
                else []
            )
    pictures = {path for page in seen for _, path, _ in links(page)}
    assert sorted(str(page.relative_to(ROOT)) for page in ALL if page not in seen) == []
    taken = (path for path in (ROOT / "docs" / "screens").rglob("*.*"))
    assert sorted(str(path.relative_to(ROOT)) for path in taken if path not in pictures) == []


def test_every_screenshot_is_taken_by_one_command() -> None:
    from tests import screens

    linked = {path.stem for page in ALL for _, path, _ in links(page) if path.suffix == ".png"}
    assert linked == {*screens.PICTURES, screens.SIGN_IN}


@pytest.mark.parametrize("name", ["commands.md", "settings.md", "rights.md", "methods.md", "operations.md"])
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    assert made()[name] == (reference.FOLDER / name).read_text(encoding="utf-8"), "run: make reference"


def test_the_client_has_a_method_for_every_operation() -> None:
    assert reference.client() == reference.CLIENT.read_text(encoding="utf-8"), "run: make reference"


@cache
def made() -> dict[str, str]:
    return reference.pages()


def test_every_key_of_a_configuration_is_described_with_its_default() -> None:
    import json
    from dataclasses import asdict

    text = (reference.FOLDER / "configuration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", text, re.MULTILINE))
    known: dict[str, Any] = asdict(SearchConfig())
    named = re.findall(r"[a-z0-9]+(?:-[a-z]+)*(?:-<\w+>)?", configs.help_text().partition(", each with")[0])
    assert [name for name in named if f"`{name}`" not in text] == []
    assert {key: json.loads(value) for key, value in rows.items()} == json.loads(json.dumps(known, default=dict))


def test_every_variable_that_a_page_names_is_a_setting() -> None:
    known = set(re.findall(r"`(CONCORD_\w+)`", made()["settings.md"]))
    others = {
        "CONCORD_TOKEN",
        "CONCORD_REAL_HOME",
        "CONCORD_ROUNDS",
        "CONCORD_SCREENS",
        "CONCORD_SHARED",
        "CONCORD_TEST_DATABASE",
    }  # of MCP and of tests
    named = {
        name
        for page in ALL
        for name in re.findall(r"\bCONCORD_[A-Z_]*[A-Z]\b(?!\*|_)", page.read_text(encoding="utf-8"))
    }
    assert sorted(name for name in named - known - others if not any(one.startswith(f"{name}_") for one in known)) == []


def test_every_command_that_a_page_names_exists() -> None:
    text = made()["commands.md"]
    known = {tuple(line.split()) for line in re.findall(r"^\*\*`([a-z][a-z -]*[a-z])", text, re.MULTILINE)}
    groups = {words[:n] for words in known for n in range(1, len(words) + 1)}
    wrong = []
    for page in ALL:
        for said in re.findall(
            r"python -m core(?: --(?:home \S+|quiet|json|as \S+))* ([a-z][a-z-]*(?: [a-z-]+)?)",
            page.read_text(encoding="utf-8"),
        ):
            first, *rest = said.split()
            below = {words[1] for words in groups if len(words) > 1 and words[0] == first}
            if (first,) not in groups or (below and rest and rest[0] not in below and not rest[0].startswith("-")):
                wrong.append(f"{page.name}: {said}")
    assert wrong == []


def examples(page: Path) -> Iterator[list[str]]:
    """The words of each command in the blocks of a page that are for a shell."""
    for block in re.findall(r"^```(?:bash|sh)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\$\([^)]*\)", "X", block.replace("\\\n", " ")).splitlines():
            for part in re.split(r"&&|;", line):
                if said := re.search(r"(?:^|\s)python -m core (.*)", part):
                    yield shlex.split(said[1], comments=True)


def test_every_command_of_an_example_parses() -> None:
    everything, said = parser(), [words for page in FOR_USERS for words in examples(page)]
    assert len(said) > 40
    for words in said:
        everything.parse_args(words)


def test_the_page_on_limits_says_what_the_code_does() -> None:
    from core.adapters.conversion import converter, ocr, texts
    from core.adapters.conversion.formats import sheets
    from core.adapters.conversion.formats.pdf import reader
    from core.curation.document import frontmatter, names, size_limits
    from core.curation.upload import archives, items
    from core.services.deliveries import webhooks
    from core.services.graph import view
    from core.services.inbox import messages, watches
    from core.services.jobs import jobs
    from core.services.knowledge import gaps
    from core.services.people import tokens
    from core.services.playground import compare
    from core.services.search import as_of, queries
    from core.settings import Settings

    mib, own = 1024**2, Settings()
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+?) \| (.+?) \|", page, re.MULTILINE))
    said = {
        "a file": f"{frontmatter.MAX_BYTES // mib} MiB, {frontmatter.MAX_LINES:,} lines; frontmatter "
        f"{frontmatter.MAX_FRONTMATTER // 1024} KiB",
        "a line": f"{size_limits.LINE:,} characters, {size_limits.COLUMNS} table cells",
        "a text": f"{size_limits.CELLS:,} table cells; {size_limits.PARAGRAPH:,} lines without",
        "parsing": f"texts over {texts.SHORT:,} characters",
        "a path": f"{names.MAX_PATH_BYTES} bytes, each name {names.MAX_NAME_BYTES}",
        "a picture": f"{size_limits.PICTURE_BYTES // mib} MB, {size_limits.PICTURE_PIXELS // 10**6} million pixels, "
        f"{size_limits.PICTURE_SIDE:,} on a side, {size_limits.PICTURE_FRAMES} frames",
        "pictures of a document; of all": f"{size_limits.PICTURES_OF_DOCUMENT} and "
        f"{size_limits.PICTURE_BYTES_OF_DOCUMENT // mib} MB; "
        f"{size_limits.PICTURE_BYTES_OF_ALL // 1024**3} GB",
        "an upload": f"{items.MAX_UPLOAD // mib} MB, {items.MAX_ITEMS} files, zips included; a zip unpacks to at "
        f"most {archives.MAX_TOTAL // mib} MiB and {archives.MAX_RATIO} times",
        "a PDF; a sheet": f"{reader.PAGES} pages; {sheets.MOST_CELLS:,} cells",
        "webhooks": f"{webhooks.MAX_WEBHOOKS}",
        "OCR of scanned pages": f"{ocr.PAGES} pages of a file",
        "exact vectors": f"up to {own.exact_limit:,} chunks",
        "as of an earlier day": f"{as_of.OPEN} states open, {as_of.KEPT} on disk",
        "comparisons": f"{compare.MOST} columns",
        "the graph's picture": f"{view.LIMIT} nodes",
        "open tabs of an account": f"{own.tabs} (`CONCORD_TABS`)",
        "files that wait in Upload": f"{own.upload_session} MB a tab, {own.upload_account} MB an account, "
        f"{own.upload_total} MB in all",
        "files read in and not submitted": f"{items.MAX_UNPACKED // mib} MiB of files and {items.MAX_HELD // mib} "
        "MiB of text an upload",
        "converters, texts, previews, Word files of long documents": f"{converter.SIZE}, {texts.SIZE}, "
        f"{converter.DRAWN_AT_ONCE} and 1 processes",
        "requests of a token": f"a minute ({own.api_rate}); {tokens.MOST_TOKENS} tokens an account",
        "questions that are kept": f"{queries.MOST_KEPT} of an account",
        "reported gaps": f"{gaps.MOST_OPEN} open ones",
        "inbox": f"{messages.LIMIT} messages, {watches.MAX_WATCHES} watches",
        "jobs of an account": f"{jobs.MOST_OPEN} that wait or run",
    }
    assert {name: rows.get(name) for name, words in said.items() if words not in rows.get(name, "")} == {}


# ---------------------------------------------------------------- how it reads


def prose(page: Path) -> Iterator[str]:
    """The sentences of a page, outside of tables, lists of keys and code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text):
        if paragraph.strip() and not paragraph.lstrip().startswith(("|", "#", "!", "<")):
            yield from (
                one for one in re.split(r"(?<=[.?!:;→]) +", " ".join(paragraph.split())) if len(one.split()) > 2
            )


def test_sentences_are_short() -> None:
    lengths = [len(sentence.split()) for page in FOR_USERS for sentence in prose(page)]
    assert statistics.median(lengths) <= 16
    long = [f"{page.name}: {one[:60]}" for page in FOR_USERS for one in prose(page) if len(one.split()) > 60]
    assert long == []


def test_no_cell_of_a_table_hides_a_paragraph() -> None:
    rows = [
        (page, line)
        for page in FOR_USERS
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    assert [f"{page.name}: {line[:60]}" for page, line in rows if len(line) >= 300] == []


def test_no_row_of_a_table_is_there_twice() -> None:
    for page in FOR_USERS:
        lines = page.read_text(encoding="utf-8").splitlines()
        heads = {line for line, below in pairwise(lines) if below.startswith("|--")}
        rows = [line for line in lines if line.startswith("| ") and line not in heads]
        assert sorted(row for row in set(rows) if rows.count(row) > 1) == [], page.name
