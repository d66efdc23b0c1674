"""What every chunker must hold, and the documents to hold it on."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from core.chunking import chunker, known
from core.chunking.chunker import Tools
from core.chunking.ruler import Ruler, words
from core.curation.document.frontmatter import decode, read_document
from core.curation.text.markup import blanked
from core.types import ChunkerSpec, Document
from tests.conftest import ROOT, HashEmbedder

TOOLS = Tools(words, HashEmbedder().documents)
KB = [
    read_document(str(path.relative_to(ROOT / "kb")), decode(path.read_bytes()))
    for path in sorted((ROOT / "kb").rglob("*.md"))
]
ODD = {
    "empty": "",
    "only frontmatter": "---\ntitle: A\n---\n",
    "white space": " \n\t\n  ",
    "no newline": "word",
    "one endless word": "x" * 5000,
    "one endless line": "word " * 3000,
    "only headings": "# A\n## B\n### C\n#### D\n",
    "open fence": "# A\n\n```bash\nrm -rf /\n" + "line\n" * 100,
    "huge table": "| a | b |\n|---|---|\n" + "".join(f"| {n} | {'w ' * 5} |\n" for n in range(200)),
    "nested quotes": ">" * 500 + " deep\n",
    "nested lists": "".join("  " * n + f"- level {n}\n" for n in range(40)),
    "html": "<div>\n<script>alert(1)</script>\n</div>\n\ntext\n",
    "links only": "[a]: http://x\n[b]: http://y\n",
    "setext": "Title\n=====\n\nSub\n---\n\ntext\n",
    "unicode": "# Ünïcödé 漢字\n\nВторой абзац. 第三句。\u2028next\x0bline\n",
    "lone surrogate": "text \ud800 more\n",
    "heading longer than the limit": "# " + "long " * 200 + "\n\ntext\n",
    "thematic breaks": "a\n\n---\n\nb\n\n***\n",
}


def lost(document: Document, spans: Iterable[tuple[int, int]]) -> str:
    """The visible characters of a document that stand in none of these spans."""
    text, at, left = blanked(document.text), document.body, []
    for start, end in sorted(spans):
        left.append(text[at:start])
        at = max(at, end)
    return "".join([*left, text[at:]]).strip()


def check_laws(document: Document, spec: ChunkerSpec) -> None:
    where = f"{spec} on {document.path}"
    chunks = chunker(spec, TOOLS)(document)
    assert chunks == chunker(spec, TOOLS)(document), f"{where}: not the same twice"
    limit = spec.params.get("child", spec.params.get("max_tokens", known(spec.name).defaults.get("max_tokens", 500)))
    ruler = Ruler(blanked(document.text), words)
    for chunk in chunks:
        assert document.body <= chunk.start < chunk.end <= len(document.text), where
        assert chunk.text == document.text[chunk.start : chunk.end], where
        assert chunk.text == chunk.text.strip(), where
        assert chunk.tokens == ruler.count(chunk.start, chunk.end) <= limit, where
        if chunk.parent:
            assert chunk.parent[0] <= chunk.start < chunk.end <= chunk.parent[1], where
    assert not lost(document, ((chunk.start, chunk.end) for chunk in chunks)), f"{where}: a visible character is lost"
    assert len({chunk.id for chunk in chunks}) == len(chunks), f"{where}: two chunks have one id"
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks), where


LINES = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Three",
        "Some words here. And more of them! Really?",
        "- item",
        "  - inner item",
        "1. step",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "```",
        "code = 1",
        "> quote",
        "",
        "",
        "---",
        "<b>html</b>",
        "[x]: y",
        "a" * 90,
        "e.g. No. 5 is ok.",
        "\t tab",
    ]
)
# The empty first line keeps `---` from opening frontmatter, which may be refused.
MARKDOWN = st.lists(LINES, max_size=60).map(lambda lines: "\n".join(["", *lines]))
