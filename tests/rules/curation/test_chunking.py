"""Laws for every chunker, on every document of the starter knowledge base and on generated Markdown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chunking import CHUNKERS, chunker
from core.chunking.blocks import blocks
from core.curation.document.frontmatter import read_document
from core.errors import BadInput
from core.types import ChunkerSpec, Document
from tests.conftest import examples
from tests.support.chunker_laws import KB, MARKDOWN, ODD, TOOLS, check_laws, lost

SPECS = [
    ChunkerSpec("markdown", {}),
    ChunkerSpec("markdown", {"max_tokens": 40, "min_tokens": 8}),
    ChunkerSpec("fixed", {"max_tokens": 30, "overlap": 6}),
    ChunkerSpec("semantic", {"percentile": 80, "buffer": 1, "max_tokens": 60}),
    ChunkerSpec("semantic", {"percentile": 90, "buffer": 0, "max_tokens": 25}),
    ChunkerSpec("hierarchical", {"parent": 120, "child": 30, "overlap": 5}),
]


@pytest.mark.parametrize("every", [pytest.param(3, id="third"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_laws_hold_on_the_starter_knowledge_base(spec: ChunkerSpec, every: int) -> None:
    for document in KB[SPECS.index(spec) % every :: every]:  # each document by some of them
        check_laws(document, spec)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_laws_hold_on_odd_documents(spec: ChunkerSpec) -> None:
    for name, text in ODD.items():
        check_laws(read_document(f"{name}.md", text), spec)


@examples(150)
@given(text=MARKDOWN, pick=st.integers(0, len(SPECS) - 1))
def test_laws_hold_on_generated_markdown(text: str, pick: int) -> None:
    check_laws(read_document("generated.md", text), SPECS[pick])


@examples(150)
@given(text=st.text(max_size=400), pick=st.integers(0, len(SPECS) - 1))
def test_laws_hold_on_any_text(text: str, pick: int) -> None:
    check_laws(Document("d", "d.md", "D", text.replace("\r", "\n")), SPECS[pick])


def test_a_table_that_must_be_cut_repeats_its_header_as_context() -> None:
    document = read_document("t.md", "# T\n\n" + ODD["huge table"])
    first, *rest = chunker(ChunkerSpec("markdown", {"max_tokens": 60, "min_tokens": 8}), TOOLS)(document)
    assert "| a | b |" in first.text
    assert rest
    assert all("| a | b |" not in chunk.text and "| a | b |\n|---|---|" in chunk.context for chunk in rest)


def test_a_table_or_code_block_that_fits_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    code = "```\none\n\ntwo\n```"
    text = f"# T\n\n{'word ' * 30}\n\n{table}\n\n{'word ' * 30}\n\n{code}\n"
    chunks = chunker(ChunkerSpec("markdown", {"max_tokens": 45, "min_tokens": 8}), TOOLS)(read_document("t.md", text))
    assert sum(table in chunk.text for chunk in chunks) == 1
    assert sum(code in chunk.text for chunk in chunks) == 1


def test_the_heading_path_is_the_one_that_holds_for_the_whole_chunk() -> None:
    text = (
        "# Guide\n\nintro\n\n## Steps\n\n### Prepare\n\n"
        + "do this now. " * 20
        + "\n\n### Check\n\n"
        + "look here twice. " * 20
    )
    found = {
        chunk.heading
        for chunk in chunker(ChunkerSpec("markdown", {"max_tokens": 70}), TOOLS)(read_document("g.md", text))
    }
    assert ("Steps", "Prepare") in found
    assert ("Steps", "Check") in found


def test_editing_one_section_keeps_the_ids_of_the_others() -> None:
    text = "# G\n\n## A\n\n" + "alpha " * 60 + "\n\n## B\n\n" + "beta " * 60
    split = chunker(ChunkerSpec("markdown", {"max_tokens": 80}), TOOLS)
    before, after = (
        split(read_document("g.md", text)),
        split(read_document("g.md", text.replace("alpha alpha", "alpha gamma", 1))),
    )
    assert len({chunk.id for chunk in before} - {chunk.id for chunk in after}) == 1


def test_hierarchical_children_have_exactly_one_parent_and_parents_cover_the_document() -> None:
    document = KB[0]
    chunks = chunker(ChunkerSpec("hierarchical", {"parent": 200, "child": 50, "overlap": 10}), TOOLS)(document)
    parents = sorted({chunk.parent for chunk in chunks})
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(parents)), "parents do not overlap"
    assert not lost(document, parents)


def test_fixed_windows_share_the_overlap() -> None:
    text = " ".join(f"w{n}" for n in range(100))
    first, second, *_ = chunker(ChunkerSpec("fixed", {"max_tokens": 10, "overlap": 3}), TOOLS)(
        Document("d", "d.md", "D", text)
    )
    assert first.text.split()[-3:] == second.text.split()[:3]


def test_semantic_cuts_where_the_subject_changes() -> None:
    lines = ["apple pear plum", "apple pear fig", "apple pear kiwi", "bolt nut screw", "bolt nut nail", "bolt nut cog"]
    document = Document("d", "d.md", "D", "\n\n".join(lines))
    chunks = chunker(ChunkerSpec("semantic", {"percentile": 90, "buffer": 0, "max_tokens": 50}), TOOLS)(document)
    assert [("apple" in chunk.text, "bolt" in chunk.text) for chunk in chunks] == [(True, False), (False, True)]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (ChunkerSpec("magic", {}), "There is no chunker 'magic'"),
        (ChunkerSpec("fixed-200-20", {}), "Settings with a name: fixed-"),
        (ChunkerSpec("fixed", {"size": 3}), "has no parameter 'size'"),
        (ChunkerSpec("fixed", {"max_tokens": 10, "overlap": 10}), "contradict"),
        (ChunkerSpec("fixed", {"max_tokens": 2}), "too small"),
        (ChunkerSpec("hierarchical", {"parent": 100, "child": 200}), "contradict"),
        (ChunkerSpec("fixed", {"overlap": -1}), "negative"),
    ],
)
def test_impossible_parameters_are_refused_with_a_sentence(spec: ChunkerSpec, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        chunker(spec, TOOLS)


def test_the_settings_of_the_literature_are_all_valid() -> None:
    assert [len(CHUNKERS[name].settings) for name in ("fixed", "semantic", "hierarchical")] == [7, 6, 6]
    for record in CHUNKERS.values():
        for params in record.settings:
            assert chunker(ChunkerSpec(record.name, params), TOOLS)(KB[0])


def test_blocks_cover_every_visible_character_of_every_document() -> None:
    for document in KB:
        assert not lost(document, ((block.start, block.end) for block in blocks(document))), document.path


@pytest.mark.parametrize(
    "spec",
    [
        ChunkerSpec("fixed", {"max_tokens": 30, "overlap": 8}),
        ChunkerSpec("hierarchical", {"parent": 300, "child": 30, "overlap": 8}),
    ],
)
def test_windows_do_not_creep_up_to_a_long_unbroken_run(spec: ChunkerSpec) -> None:
    text = "# Gateway key\n\nPaste this key.\n\n" + "QUJD" * 1500 + "\n"
    chunks = chunker(spec, TOOLS)(read_document("a.md", text))
    assert [chunk.text[:9] for chunk in chunks[:2]] == ["# Gateway", "QUJDQUJDQ"]
