"""One record per method: laws over all of them, and a toy of each kind that is found everywhere by one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core import catalogue
from core.bootstrap import App
from core.chunking import CHUNKERS
from core.chunking.blocks import blocks
from core.chunking.chunker import Chunker, Tools, tokens
from core.chunking.packing import Piece, shatter
from core.chunking.ruler import Ruler
from core.entrypoints import cli
from core.errors import BadInput
from core.ports import Index, Leg
from core.retrieval import config as configs
from core.retrieval.alpha import ALPHAS
from core.retrieval.candidates import fuse, stored
from core.retrieval.fusions import FUSIONS
from core.retrieval.legs import LEGS
from core.retrieval.methods import Fusion, LegKind, LegQuery, ScaledLegs, Spelling
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.ordering import rank
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import PRESETS, fifteen, presets, spell
from core.retrieval.rerankers import RERANKERS
from core.types import ChunkerSpec, Document, SearchConfig
from pages.ui import style
from tests.conftest import ROOT, examples, put
from tests.support import small_kb
from tests.support.apptest import PATIENCE
from tests.support.chunker_laws import KB, check_laws

SCORES = st.dictionaries(st.integers(0, 40), st.floats(0.0, 30.0), min_size=1, max_size=12)
COSINES = st.dictionaries(st.integers(0, 40), st.floats(-1.0, 1.0), min_size=1, max_size=12)


# ---------------------------------------------------------------- toys: one record each


def inverse_squares(legs: ScaledLegs, weights: Sequence[float], config: SearchConfig) -> np.ndarray:
    return np.where(legs.places > 0, 1.0 / np.maximum(1, legs.places) ** 2.0, 0.0)


ISR = Fusion(
    name="isr",
    title="ISR",
    about="The sum of inverse squared ranks.",
    source="Mourao et al. 2013",
    parts=inverse_squares,
    ceiling=lambda weights, config: float(len(weights)),
    arithmetic=lambda leg, config: f"1 / {leg.rank}²" if leg.rank else "0",
    normalisation="none",
    spellings=(Spelling("isr", SearchConfig(fusion="isr", normalisation="none", missing="absent")),),
)


@dataclass
class TitleLeg:
    """Chunks of documents whose title holds a word of the query."""

    index: Index
    query: str
    floor: float = 0.0

    def search(self, depth: int, allowed: np.ndarray | None) -> dict[int, float]:
        chunks = [n for n in range(self.index.size) if allowed is None or allowed[n]]
        found = {chunk: score for chunk, score in zip(chunks, self.score(chunks), strict=True) if score}
        return dict(list(rank(found).items())[:depth])

    def score(self, chunks: Sequence[int]) -> list[float]:
        words = set(self.query.lower().split())
        titles = [self.index.documents[self.index.document_of(chunk)].title.lower().split() for chunk in chunks]
        return [float(len(words.intersection(title))) for title in titles]


def open_title(asked: LegQuery, index: Index) -> Leg:
    return TitleLeg(index, asked.query)


TITLE = LegKind("title", "Titles", "Words of the title alone.", "", "sparse", "#123456", open_title)


def paragraphs(document: Document, tools: Tools, *, max_tokens: int = 300) -> list[Piece]:
    ruler = Ruler(document.text, tools.tokens)
    return [piece for block in blocks(document) for piece in shatter(document.text, block, ruler, max_tokens)]


PARAGRAPHS = Chunker(
    "paragraphs", "Paragraphs", "One piece per block.", "", paragraphs, (tokens("max_tokens", 300, "The limit."),)
)


@contextmanager
def registered(registry: dict[str, Any], record: Any) -> Iterator[None]:
    """The one line that adding a method takes."""
    registry[record.name] = record
    configs.name.cache_clear()
    try:
        yield
    finally:
        del registry[record.name]
        configs.name.cache_clear()


# ---------------------------------------------------------------- laws


def check_fusion(record: Fusion, bm25: dict[int, float], dense: dict[int, float]) -> None:
    legs = ("bm25", "dense") if record.several else ("bm25",)
    found = stored(
        {"bm25": rank(bm25), "dense": rank(dense)}, {"bm25": bm25, "dense": dense}, {"bm25": 0.0, "dense": -1.0}
    )
    scales = [record.normalisation] if record.normalisation else list(NORMALISATIONS)
    for scale in scales:
        for missing in ("exact", "floor", "absent"):
            config = configs.check(SearchConfig(legs=legs, fusion=record.name, normalisation=scale, missing=missing))
            fused = fuse(found.only(legs), config)
            parts = dict(zip(fused.chunks.tolist(), fused.parts.sum(axis=0).tolist(), strict=True))
            assert parts == pytest.approx(fused.ranking), "the parts sum to the score"
            assert 0.0 <= fused.confidence <= 1.0


@pytest.mark.parametrize("name", list(FUSIONS))
@examples(40)  # each is fused with every normalisation and every rule for what is missing
@given(bm25=SCORES, dense=COSINES)
def test_parts_sum_to_the_score_and_confidence_stays_in_range(
    name: str, bm25: dict[int, float], dense: dict[int, float]
) -> None:
    check_fusion(FUSIONS[name], bm25, dense)


@pytest.mark.parametrize("name", [spelling.stem for record in FUSIONS.values() for spelling in record.spellings])
def test_the_arithmetic_that_people_read_gives_the_part(name: str, app: App) -> None:
    spelling = next(spelling for record in FUSIONS.values() for spelling in record.spellings if spelling.stem == name)
    config = configs.check(spelling.config)
    put(app, small_kb.FILES)
    app.index.builder.build(app.platform.settings.profile())
    hits = app.search.searcher.search("form 111 within 30 days", config=config).hits
    assert hits
    for hit in hits:
        for leg in hit.legs.values():
            words = FUSIONS[config.fusion].arithmetic(leg, config)
            assert eval(words.replace("×", "*").partition(" leg")[0]) == pytest.approx(
                leg.part, abs=0.006
            )  # two digits are shown of a share


@pytest.mark.parametrize("kind", list(catalogue.KINDS))
def test_every_record_says_what_it_is(kind: str) -> None:
    for name, record in catalogue.KINDS[kind].items():
        assert record.name == name
        assert record.title
        assert record.about.endswith(".")
        for knob in getattr(record, "parameters", ()):
            assert not isinstance(knob, str) or knob in PARAMETERS or knob in configs.CHOICES


def test_every_parameter_of_a_fusion_is_a_field_of_the_configuration() -> None:
    for fusion in FUSIONS.values():
        for knob in fusion.parameters:
            assert PARAMETERS[knob.name] is knob
            assert knob.admits(getattr(SearchConfig(), knob.name))


def test_every_name_of_a_configuration_parses_back() -> None:
    for spelling in configs.spellings():
        knob = PARAMETERS.get(spelling.number)
        text = f"{spelling.stem}-{knob.low + 3 * knob.step:g}" if knob else spelling.stem
        assert configs.name(configs.parse(text)) == text
        for method in RERANKERS.values():
            assert configs.name(configs.parse(f"{text}+{method.suffix}")) == f"{text}+{method.suffix}"


def test_engines_are_part_of_a_name() -> None:
    for text in ("bm25@duckdb", "bm25@rank-bm25", "dense+rerank@lancedb", "convex-0.6@duckdb@lancedb"):
        assert configs.name(configs.parse(text)) == text
        assert configs.check(configs.parse(text)).engines
    with pytest.raises(BadInput, match="No leg has an engine 'duckdb'"):
        configs.parse("dense@duckdb")


def test_the_figure_of_a_preset_is_that_of_the_table_that_measured_it() -> None:
    text = (
        (ROOT / "docs/research/benchmarks.md")
        .read_text(encoding="utf-8")
        .split("## Fields and documents")[1]
        .split("\n\n")[2]
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    means = {cells[0]: float(cells[-1]) for cells in rows[1:]}
    measured = [preset for preset in PRESETS if preset.figure]
    assert len(measured) == 8
    for preset in measured:
        assert preset.figure == pytest.approx(means[preset.row], abs=0.0006), preset.title
        assert "on seven public collections" in preset.about


GAIN = r"([+-]\.\d+) \(([+-]\.\d+) to ([+-]\.\d+)\)"


def test_the_gain_of_a_preset_is_that_of_the_row_that_it_names() -> None:
    claimed = [(preset, match) for preset in PRESETS if (match := re.search(GAIN, preset.use))]
    assert len(claimed) == 4
    for preset, match in claimed:
        said = [float(number) for number in match.groups()]
        lines = (ROOT / "docs/research" / preset.page).read_text(encoding="utf-8").splitlines()
        row = next(line for line in lines if line.startswith(f"| {preset.row} |") and re.search(GAIN, line))
        measured = [[float(number) for number in found.groups()] for found in re.finditer(GAIN, row)]
        assert any(said == pytest.approx(figures, abs=0.0006) for figures in measured), preset.title
        assert f"docs/research/{preset.page}" in preset.about


def test_every_preset_parses() -> None:
    for config in (*presets().values(), *fifteen().values()):
        assert configs.parse(spell(config)) == config


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fusion", "isr"),
        ("normalisation", "softmax"),
        ("legs", ["title"]),
        ("reranker", "oracle"),
        ("alpha_from", "luck"),
        ("missing", "guess"),
        ("rerank", "sometimes"),
        ("engines", {"bm25": "sqlite"}),
        ("engines", {"graph": "duckdb"}),
    ],
)
def test_an_unknown_name_is_refused_and_never_run_as_another(key: str, value: Any) -> None:
    with pytest.raises(BadInput, match="is unknown. Known"):
        configs.from_mapping({key: value})


# ---------------------------------------------------------------- toys are found everywhere


def help_of(*names: str) -> str:
    """The help text of a command, with what is registered now."""
    cli._parser.cache_clear()
    command: Any = cli.parser()
    cli._parser.cache_clear()
    for name in names:
        command = command._subparsers._group_actions[0].choices[name]
    return " ".join(command.format_help().split())


def adjust_form() -> None:
    from core.types import SearchConfig
    from pages.ui.playground import adjust_form

    adjust_form._legs(SearchConfig(), "toy")
    for field in ("fusion", "normalisation", "reranker", "alpha_from"):
        adjust_form._widget(field, SearchConfig(), "toy")


def options(label: str) -> list[str]:
    """What the Adjust form of the playground offers."""
    page = AppTest.from_function(adjust_form).run(timeout=PATIENCE)
    assert not page.exception
    return [*next(box for box in [*page.selectbox, *page.multiselect] if box.label == label).options]


@examples(40)
@given(bm25=SCORES, dense=COSINES)
def test_a_toy_fusion_keeps_the_laws(bm25: dict[int, float], dense: dict[int, float]) -> None:
    with registered(FUSIONS, ISR):
        check_fusion(ISR, bm25, dense)


def test_a_toy_fusion_is_found_everywhere(app: App) -> None:
    put(app, {"a.md": "# Cash\n\nFile the form.\n", "b.md": "# Leave\n\nAsk for the form.\n"})
    app.index.builder.build(app.platform.settings.profile())
    with registered(FUSIONS, ISR):
        assert configs.name(configs.parse("isr+rerank")) == "isr+rerank"
        hits = app.search.searcher.search("form", config=configs.parse("isr")).hits
        assert [round(hit.score, 4) for hit in hits] == [
            round(sum(leg.part for leg in hit.legs.values()), 4) for hit in hits
        ]
        assert "isr" in options("Fusion")
        assert "isr" in help_of("search")
        assert "| fusion | `isr` |" in catalogue.markdown()
        assert [knob.name for knob in configs.knobs(configs.parse("isr"))] == ["depth"]


def test_a_toy_leg_is_found_everywhere_and_runs_as_itself(app: App) -> None:
    put(app, {"a.md": "# Cash form\n\nPaper.\n", "b.md": "# Leave\n\nAsk for the cash form.\n"})
    app.index.builder.build(app.platform.settings.profile())
    with pytest.raises(BadInput, match="'title' is unknown"):
        configs.from_mapping({"legs": ["title", "bm25"]})
    with registered(LEGS, TITLE):
        result = app.search.searcher.search("cash form", config=configs.parse("title"))
        assert [hit.path for hit in result.hits] == ["a.md"]
        assert [stage.name for stage in result.stages] == ["title", "fuse", "cut"], "nothing was embedded"
        both = app.search.searcher.search("cash form", config=configs.from_mapping({"legs": ["title", "dense"]}))
        assert set(both.hits[0].legs) == {"title", "dense"}
        assert style.stage_title("title") in options("Legs")
        assert "title" in help_of("search")
        assert "| leg | `title` |" in catalogue.markdown()


def test_a_toy_chunker_is_found_everywhere_and_keeps_the_laws(visit: Callable[..., Any]) -> None:
    with registered(CHUNKERS, PARAGRAPHS):
        for document in KB[:12]:
            check_laws(document, ChunkerSpec("paragraphs", {"max_tokens": 60}))
        assert "paragraphs" in help_of("profiles", "add")
        assert "| chunker | `paragraphs` |" in catalogue.markdown()
        page = visit("index").selectbox(key="new_chunker").set_value("paragraphs").run()
        assert not page.exception
        assert page.number_input(key="new_paragraphs_max_tokens").value == 300


def test_every_alpha_source_and_reranker_is_on_the_form() -> None:
    assert options("Alpha from") == list(ALPHAS)
    assert options("Reranker") == list(RERANKERS)
    assert options("Normalisation") == list(NORMALISATIONS)
    assert options("Fusion") == [name for name, fusion in FUSIONS.items() if fusion.several]


def test_a_parameter_out_of_range_is_named() -> None:
    for name, knob in PARAMETERS.items():
        beyond = knob.high + (1 if knob.whole else 0.5)
        with pytest.raises(BadInput, match=f"configuration.{name}"):
            configs.check(replace(SearchConfig(), **{name: beyond}))


@pytest.mark.parametrize("change", [{}, {"alpha": 0.37}, {"collapse": False}, {"rerank": "conditional", "tau": 0.5}])
def test_no_configuration_is_called_by_a_hash_and_depth_makes_no_other_name(change: dict[str, Any]) -> None:
    for config in presets().values():
        moved = replace(config, **change)
        said = {configs.name(replace(moved, depth=depth, k=k)) for depth, k in ((30, 10), (50, 5))}
        assert len(said) == 1
        assert not re.search(r"\b[0-9a-f]{8}\b", said.pop())
        assert configs.parse(spell(moved)) == moved
