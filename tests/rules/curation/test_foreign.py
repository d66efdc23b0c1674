"""What people have: MDX, deep folders, statuses of other tools, embedded pictures, escaped titles. Nothing goes
without its name.
"""

from __future__ import annotations

import base64
import json
import time
import zipfile
from pathlib import Path

import pytest

from core.bootstrap import App
from core.chunking import chunker, embedded_text
from core.chunking.chunker import Tools
from core.chunking.ruler import words
from core.curation.document.frontmatter import read_document
from core.curation.document.statuses import STATUSES, WORDS
from core.curation.text.excerpts import excerpt_text
from core.curation.text.markup import blanked
from core.curation.text.mdx import as_markdown
from core.curation.text.render import plain, render, with_pages
from core.curation.upload.foreign import TEMPLATES, brought
from core.entrypoints import cli
from core.errors import BadInput, Refused
from core.types import Chunk, ChunkerSpec, Document
from tests.conftest import ROOT, HashEmbedder, demo
from tests.support.uploads import zipped

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
TOOLS = Tools(words, HashEmbedder().documents)
PAGE = """---
title: "Install \\& run"
status: {status}
sidebar_position: 2
---
import Tabs from '@theme/Tabs';
export const versions = [
  '1.0',

  '2.0',
];

# Install

<Tabs groupId="os">
  <TabItem value="mac" label="macOS">

    Ask the desk for key {n}, see [the next](./page{next}.mdx#install).

    ```jsx
    <Kept a={{1}} />
    ```

  </TabItem>
</Tabs>
"""


def repository(folder: Path, pages: int = 24) -> Path:
    """A documentation site as people have it: MDX, twelve folders deep, foreign statuses, pictures inside texts, other
    files.
    """
    statuses = ("published", "Active", "wip", "archived", "Final", "beta", "in-review", "draft")
    for n in range(pages):
        at = folder.joinpath("docs", *(f"level{level}" for level in range(n % 12)))
        at.mkdir(parents=True, exist_ok=True)
        text = PAGE.format(status=statuses[n % len(statuses)], n=n, next=(n + 12) % pages)
        (at / f"page{n}.mdx").write_text(text)
    (folder / "docs" / "map.md").write_text(
        f"# Site \\& map\n\n![The yard]({DATA})\n\n![]({'data:video/mp4;base64,' + 'A' * 400})\n"
    )
    (folder / "docs" / "page0.md").write_text("# The page that is Markdown already\n\nText.\n")
    (folder / "docs" / "broken.mdx").write_text("---\ntitle: [a\n---\n# Broken\n")
    (folder / "docs" / "sidebar.js").write_text("module.exports = {};\n")
    (folder / ".github").mkdir()
    (folder / ".github" / "ci.yml").write_text("on: push\n")
    (folder / "linked").symlink_to(folder / "docs")
    return folder


def test_a_site_of_mdx_deep_folders_and_foreign_statuses_comes_in_and_everything_else_is_named(
    app: App, tmp_path: Path
) -> None:
    app.upload.statuses.decide(demo("admin"), {"Beta": "draft"})
    imported = app.knowledge.documents.import_folder(demo("admin"), repository(tmp_path / "site"))
    assert (len(imported.added), len(imported.refused), len(imported.skipped)) == (26, 1, 3)
    assert dict(imported.refused).keys() == {"docs/broken.mdx"}
    assert {name for name, _ in imported.skipped} == {"docs/sidebar.js", ".github/", "linked/"}
    assert all(why.endswith(".") for _, why in (*imported.refused, *imported.skipped, *imported.warnings))
    documents = {document.path: document for document in app.knowledge.documents.all()}
    deep = "docs/" + "".join(f"level{level}/" for level in range(11))
    assert f"{deep}page11.md" in documents
    assert "docs/page0-mdx.md" in documents  # beside page0.md, which keeps its name
    assert {documents[f"docs/{'level0/' * (n % 12 > 0)}page{n}.md"].meta.status for n in (1, 12)} == {"approved"}
    notes = {path: [why for other, why in imported.warnings if other == path] for path, _ in imported.warnings}
    beta = next(document for document in documents.values() if "page5.md" in document.path)
    assert (beta.meta.status, beta.meta.extra["source_status"], beta.title) == ("draft", "beta", "Install & run")
    assert notes[beta.path] == [
        "Left out of the MDX: 2 imports or exports, the components Tabs and TabItem. Their text stays.",
        "The status 'beta' was written as draft, as your team has it.",
    ]
    assert imported.pictures == ("docs/map.assets/picture-1.png",)


def test_a_second_import_of_the_same_site_changes_nothing(app: App, tmp_path: Path) -> None:
    site = repository(tmp_path / "site", 12)
    app.knowledge.documents.import_folder(demo("admin"), site)
    again = app.knowledge.documents.import_folder(demo("admin"), site)
    assert (again.added, again.edited, again.pictures) == ((), (), ())
    assert len(again.unchanged) == 14


def test_links_to_mdx_files_lead_to_the_documents_that_they_became(app: App, tmp_path: Path) -> None:
    (tmp_path / "a.mdx").write_text("# A\n\nSee [b](b.mdx#top) and [c](https://x.org/c.mdx).\n")
    (tmp_path / "b.mdx").write_text("# B\n\nText.\n")
    app.knowledge.documents.import_folder(demo("admin"), tmp_path, into="site")
    assert "[b](b.md#top) and [c](https://x.org/c.mdx)" in app.knowledge.documents.show("site/a.md").text


def test_a_zip_brings_the_same_as_its_folder_on_the_page_and_on_the_command_line(
    app: App, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        f"docs/{'x/' * 11}a.mdx": PAGE.format(status="beta", n=1, next=2),
        "docs/b.mdx": "# B\n\nSee [a](x/c.mdx).\n",
        "docs/x/c.mdx": "# C\n\nText.\n",
    }
    batch = app.upload.uploads.read(demo("author"), [("site.zip", zipped(files))])
    deep, second, _ = batch.items
    assert deep.path == f"docs/{'x/' * 11}a.md"
    assert [finding.message for finding in deep.findings if finding.severity == "warning"][:2] == [
        "Left out of the MDX: 2 imports or exports, the components Tabs and TabItem. Their text stays.",
        "The status 'beta' is not known here, so the document counts as approved. Statuses: draft, approved, "
        "superseded, retired.",
    ]
    assert deep.included
    assert "(x/c.md)" in second.text
    with zipfile.ZipFile(tmp_path / "site.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    assert cli.main(["--home", str(app.settings.home), "--json", "import", str(tmp_path / "site.zip")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["added"]) == 3
    assert any("components Tabs" in note["why"] for note in told["warnings"])


@pytest.mark.parametrize(
    ("mdx", "markdown", "named"),
    [
        ("a < b and 3<4 <https://x.org>\n", "a < b and 3<4 <https://x.org>\n", ""),
        ("import duties are high.\n", "import duties are high.\n", ""),
        ("`<A/>` and `{x}`\n\n```\n{y}\n```\n", "`<A/>` and `{x}`\n\n```\n{y}\n```\n", ""),
        ("## Name {#name}\n\n\\{kept\\}\n", "## Name {#name}\n\n\\{kept\\}\n", ""),
        ("{'a text'}{/* gone */}\n", "a text\n", "1 comment"),
        ('<Card title="Mind" on={() => a > b}>Text</Card>\n', "**Mind** Text\n", "the component Card"),
        ("<img src={url('x.png')} alt='The map' />\n", "The map\n\n", "the component img"),
        ("<div className='x'>Red</div>\n", "Red\n", "2 HTML tags"),
        ("    <A>\n        - one\n          - two\n    </A>\n", "- one\n  - two\n", "the component A"),
        ("{unclosed <A\n", "{unclosed <A\n", ""),
    ],
)
def test_mdx_keeps_its_text_and_its_code_and_names_what_goes(mdx: str, markdown: str, named: str) -> None:
    text, gone = as_markdown(mdx)
    assert text.rstrip() == markdown.rstrip()
    assert named in gone.sentence()
    assert bool(named) == bool(gone.sentence())


@pytest.mark.parametrize("hostile", ["{", "<a ", "<a{", "import {\n\n", "<!--", "<a b='", "` ``"])
def test_hostile_mdx_is_read_in_seconds(hostile: str) -> None:
    started = time.process_time()
    text, _ = as_markdown(hostile * (200_000 // len(hostile)))
    assert len(text) <= 200_000
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "hostile", ["data:" + "a" * 200_000, "data:" + "a;" * 100_000, "<b " * 60_000, "<!--" * 50_000]
)
def test_hostile_markup_is_blanked_in_seconds(hostile: str) -> None:
    started = time.process_time()
    assert len(blanked(hostile)) == len(hostile)
    assert time.process_time() - started < 3


def test_every_built_in_word_counts_as_one_of_our_statuses() -> None:
    assert set(WORDS.values()) == set(STATUSES)
    assert not set(WORDS) & set(STATUSES)
    for word, status in {
        "Published": "approved",
        "WIP": "draft",
        "archived": "retired",
        "deprecated": "superseded",
    }.items():
        assert read_document("a.md", f"---\nstatus: {word}\n---\n# A\n").meta.status == status


def test_only_admins_decide_on_status_words_and_only_our_statuses_are_taken(app: App) -> None:
    with pytest.raises(Refused):
        app.upload.statuses.decide(demo("author"), {"beta": "draft"})
    for wrong in ({"beta": "gold"}, {"draft": "approved"}, {"": "draft"}, {f"w{n}": "draft" for n in range(300)}):
        with pytest.raises(BadInput):
            app.upload.statuses.decide(demo("admin"), wrong)
    assert app.upload.statuses.decide(demo("admin"), {"Pre-Release": "draft"}) == {"pre release": "draft"}


@pytest.mark.parametrize(
    "text",
    [f"![Map]({DATA})", f"![Map][1]\n\n[1]: <{DATA}>", f"<img alt='Map' src='{DATA}'>"],
)
def test_embedded_pictures_become_attachments(app: App, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.md").write_text(f"# A\n\n{text}\n")
    imported = app.knowledge.documents.import_folder(demo("admin"), tmp_path)
    assert imported.pictures == ("a.assets/picture-1.png",)
    assert "a.assets/picture-1.png" in app.knowledge.documents.show("a").text


def test_a_text_that_is_too_long_only_with_its_pictures_comes_in() -> None:
    raw = f"# A\n\n![Map](data:image/png;base64,{base64.b64encode(PNG + bytes(2_000_000)).decode()})\n".encode()
    assert len(brought("a.md", raw).found.text) < 100
    with pytest.raises(BadInput):
        brought("a.md", b"# A\n\n" + b"word " * 400_000 + b";base64,")


@pytest.mark.parametrize("name", ["markdown", "fixed", "semantic", "hierarchical"])
def test_data_and_styles_are_in_no_chunk_of_their_own_and_not_in_what_is_indexed(name: str) -> None:
    body = "Keep the records for five years. " * 40
    noise = (
        f"![](data:video/mp4;base64,{'QUJD' * 20_000})\n\n<style>\n.zebra {{ color: red }}\n</style>\n\n<!-- "
        f"hidden -->\n{{: .zebra }}\n"
    )
    text = f'# Records\n\n{body}\n\n{noise}\n<div class="zebra">R&amp;D **decides** `<div>`.</div>\n'
    chunks = chunker(ChunkerSpec(name), TOOLS)(read_document("a.md", text))
    assert sum(chunk.tokens for chunk in chunks) < 700
    read = "\n".join(map(embedded_text, chunks))
    assert not any(word in read for word in ("QUJD", "zebra", "hidden"))
    assert "R&D **decides** `<div>`." in read
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)


def test_documents_without_markup_are_indexed_word_for_word_as_before() -> None:
    for path in sorted((ROOT / "kb").rglob("*.md"))[:10]:
        for chunk in chunker(ChunkerSpec("markdown"), TOOLS)(read_document("a.md", path.read_text())):
            assert embedded_text(chunk).endswith(chunk.text) or any(mark in chunk.text for mark in "<&!")


@pytest.mark.parametrize(
    "text",
    [
        "# R\\&D \\_rules\\_",
        "---\ntitle: R\\&D \\_rules\\_\n---\nx",
        '---\ntitle: "R\\&D \\\\_rules\\\\_"\n---\nx',
        "---\ntitle: R&amp;D _rules_\n---\nx",
        "---\ntitle: 'R&amp;amp;D \\_rules\\_'\n---\nx",
        "R\\&D \\_rules\\_\n=====\n\nx",
    ],
)
def test_escaped_titles_are_read_as_people_write_them(text: str) -> None:
    assert read_document("a.md", text).title.replace("_", "") == "R&D rules"


def test_folders_may_be_of_any_depth_and_a_path_too_long_is_named() -> None:
    from core.curation.document.names import safe_path

    assert safe_path(f"{'a/' * 60}x.md")
    with pytest.raises(BadInput, match="500 bytes"):
        safe_path(f"{'folder/' * 80}x.md")


SITE = """# Leave

<!-- ask legal -->
{% include "nav.html" %}

Take [sick leave]({% page "/leave/sick/#days" %}) and ask in {% slack "people" %}.<!-- soon -->
See [the card][card]. {% comment %}old{% endcomment %}Dear {{ name }},

- Write:

    ```liquid
    {% page "/x" %} <!-- kept -->
    ```

[card]: {% page "/leave/card" %}
"""


def test_tags_of_a_site_generator_and_comments_are_nowhere_shown_as_words(app: App, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "leave.md").write_text(SITE)
    imported = app.knowledge.documents.import_folder(demo("admin"), tmp_path / "site", "A site")
    assert imported.warnings == (("leave.md", TEMPLATES),)
    document = app.knowledge.documents.show("leave")
    assert document.text == SITE
    page = json.dumps(with_pages(render(document).nodes, ["pages/leave/sick.md", "pages/leave/card.md", "sick.md"]))
    assert '["a", {"doc": "pages/leave/sick.md", "anchor": "days"}, ["sick leave"]]' in page
    assert '["a", {"doc": "pages/leave/card.md", "anchor": ""}, ["the card"]]' in page
    for shown in (page, excerpt_text(SITE), plain(SITE), embedded_text(chunks_of(document)[0])):
        assert "Dear {{ name }}," in shown
        assert "ask in people" in " ".join(shown.split())
        assert not [word for word in ("legal", "soon", "old", "include", "nav", "slack") if word in shown]
        assert shown.count("{% page") == shown.count("<!--") == 1, "the example in code stays"


def chunks_of(document: Document) -> tuple[Chunk, ...]:
    return chunker(ChunkerSpec("markdown"), TOOLS)(document)
