"""Named configurations to compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from core import strict
from core.retrieval.config import RECOMMENDED, name, named, nearest, parse  # noqa: F401 (in a doctest)
from core.retrieval.parameters import FUSING, PARAMETERS
from core.retrieval.rerankers.rerank import BLEND
from core.types import SearchConfig

_RERANKED = f'{{"base": "documents-0.9", "rerank": "%s", "tau": 0.7, "rerank_blend": {BLEND}}}'


class Preset(NamedTuple):
    """A configuration that is offered, with when it is a good choice, and what measured it: its figure in
    docs/research/benchmarks.md (nDCG@10 of documents, the mean of seven public collections) and the row there, or the
    page and row that the gain in `use` comes from."""

    title: str
    spelling: str
    use: str
    figure: float = 0.0
    row: str = ""
    page: str = ""

    @property
    def about(self) -> str:
        """When it is a good choice, and how it does on public collections, beside the recommended one.

        >>> PRESETS[5].about[-74:]
        'nDCG@10 .712 on seven public collections, .093 below the recommended .805.'
        """
        if not self.figure:
            return f"{self.use} Measured in docs/research/{self.page}." if self.page else self.use
        best = PRESETS[0].figure
        below = f", {best - self.figure:.3f} below the recommended {best:.3f}" if self.figure < best else ""
        return f"{self.use} nDCG@10 {self.figure:.3f} on seven public collections{below}.".replace(" 0.", " .")


PRESETS = (
    Preset(
        "Documents 0.9",
        "documents-0.9",
        "Recommended: documents by their best passages, and words in titles count.",
        0.805,
        "the same, title 1.5, path 0.5",
    ),
    Preset(
        "TM2C2 0.9",
        "tm2c2-0.9",
        "The best plain fusion of passages, mostly by meaning.",
        0.781,
        "`tm2c2-0.9`, passages",
    ),
    Preset(
        "Convex 0.5",
        "convex-0.5",
        "Words and meaning in equal parts. New workspaces started with it before.",
        0.777,
        "`convex-0.5`, passages",
    ),
    Preset(
        "RRF 60", "rrf-60", "Ranks alone, whatever the scores: safe where a leg's scores are odd.", 0.765, "`rrf-60`"
    ),
    Preset("Vectors", "dense", "Meaning alone. Weak on names, codes and numbers.", 0.744, "vectors alone"),
    Preset(
        "BM25",
        "bm25",
        "Words alone. Quick, exact, and blind to other words for the same thing.",
        0.712,
        "BM25 alone",
    ),
    Preset(
        "Conditional rerank",
        _RERANKED % "unsure",
        "Reads again where the first hit answers with a chance below .7, three questions in ten: nDCG@10 +.005 "
        "(+.001 to +.010) on public collections. Seconds, not milliseconds.",
        row="**.7**",
        page="confidence.md",
    ),
    Preset(
        "Rerank always",
        _RERANKED % "always",
        "Reads every first page again: nDCG@10 +.003 (-.004 to +.009) on public collections, so no better than the "
        "recommended. Seconds for every question.",
        row="1",
        page="confidence.md",
    ),
    Preset(
        "Documents and answers",
        '{"base": "documents-0.9", "fields": {"title": 1.5, "path": 0.5, "answers": 0.5}}',
        "The recommended, and words count in the questions under answers, too: nDCG@10 +.004 (+.001 to +.006) for "
        "other questions than those. Good where documents list many.",
        row="**other judged questions of the same document, as if it listed them under `answers:`; no near-copies of "
        "the "
        "question**",
        page="benchmarks.md",
    ),
    Preset(
        "Tri-modal",
        "trimodal",
        "The cascade study's: words, meaning and PageRank over shared entities.",
        0.759,
        "`trimodal`",
    ),
    Preset(
        "Tri-modal with graph",
        "trimodal-graph",
        "Words, meaning and the entities around those of the question.",
        0.769,
        "`trimodal-graph`",
    ),
    Preset(
        "Two hops",
        "two-hops",
        "For questions that name a thing by another one: a second look from the first hit. +.018 (+.010 to +.027) on "
        "two-hop questions, nothing gained elsewhere.",
        row="HotpotQA, 200",
        page="benchmarks.md",
    ),
    Preset("BM25 by DuckDB FTS", "bm25@duckdb", "The same ranking by DuckDB itself: to see that they agree."),
    Preset("BM25 by rank-bm25", "bm25@rank-bm25", "The same ranking by a reference of BM25: to see that they agree."),
    Preset("Vectors by LanceDB", "dense@lancedb", "The same ranking by LanceDB itself: to see that they agree."),
)

# Fifteen for the compliance benchmark, which names its fusions and lists no configurations.
_FIFTEEN = (
    ("BM25", "bm25"),
    ("Vectors", "dense"),
    ("RRF 20", "rrf-20"),
    ("RRF 60", "rrf-60"),
    ("RRF 100", "rrf-100"),
    ("RRF 60, vectors 2:1", '{"base": "rrf-60", "weights": {"bm25": 1, "dense": 2}}'),
    ("RRF 60, BM25 2:1", '{"base": "rrf-60", "weights": {"bm25": 2, "dense": 1}}'),
    ("Convex 0.3", "convex-0.3"),
    ("Convex 0.5", "convex-0.5"),
    ("Convex 0.7", "convex-0.7"),
    ("RSF", "rsf"),
    ("DBSN", "dbsn"),
    ("CombMNZ", "combmnz"),
    ("TM2C2 0.3", "tm2c2-0.3"),
    ("CombSUM", "combsum"),
)


def presets() -> dict[str, SearchConfig]:
    """What the playground offers, then the rest of the fifteen.

    >>> list(presets())[:2], presets()["Conditional rerank"].tau
    (['Documents 0.9', 'TM2C2 0.9'], 0.7)
    """
    offered = {preset.title: preset.spelling for preset in PRESETS}
    return {title: parse(text) for title, text in {**offered, **dict(_FIFTEEN)}.items()}


def advice(title: str) -> str:
    """What is said of a preset; "" of any other configuration.

    >>> advice("Vectors")[:48], advice("Ours")
    ('Meaning alone. Weak on names, codes and numbers.', '')
    """
    return next((preset.about for preset in PRESETS if preset.title == title), "")


def titled(config: SearchConfig) -> str:
    """The title of a configuration that has a name, as presets are titled; "" for any other.

    >>> titled(parse("convex-0.65")), titled(parse("rrf-40+rerank")), titled(parse('{"alpha_from": "rules"}'))
    ('Convex 0.65', 'RRF 40, rerank', '')
    >>> titled(RECOMMENDED), titled(replace(RECOMMENDED, alpha=0.85))
    ('Documents 0.9', 'Documents 0.85')
    """
    called, short = _titles(), name(config)
    if short in called or not named(config):
        return called.get(short, "")
    plain, *added = short.split("+")
    stem, _, number = plain.partition("-")
    first = next(
        (title.split()[0].rstrip(",") for known, title in called.items() if known.startswith(f"{stem}-")), stem
    )
    return ", ".join([" ".join(filter(None, (called.get(plain, first), "" if plain in called else number))), *added])


@cache
def _titles() -> dict[str, str]:
    """The titles of the presets by their names."""
    return {name(known): title for title, known in presets().items()}


def follow(title: str, config: SearchConfig, known: Mapping[str, SearchConfig]) -> str:
    """A title that says what a configuration is now, after somebody moved its values.

    >>> follow("Convex 0.3", parse("convex-0.65"), presets()), follow("Convex 0.65", parse("convex-0.3"), presets())
    ('Convex 0.65', 'Convex 0.3')
    >>> follow("Conditional rerank", replace(presets()["Conditional rerank"], tau=0.8), presets())
    'Conditional rerank, tau 0.8'
    """
    base = max((other for other in known if title == other or title.startswith(f"{other}, ")), key=len, default=title)
    if not title or known.get(base) == config:
        return base if title else ""
    if (base in presets() or base not in known) and (fresh := titled(config)):
        return fresh
    if base not in known:
        return title
    moved = [knob for knob in (*FUSING, "tau", "rerank_blend") if getattr(config, knob) != getattr(known[base], knob)]
    same = replace(config, depth=known[base].depth, k=known[base].k) == known[base]
    said = [f"{PARAMETERS[knob].title.lower()} {getattr(config, knob):g}" for knob in moved]
    return ", ".join([base, *(said or ([] if same else ["changed"]))])


def learned_alpha(model: str) -> SearchConfig:
    """Convex fusion with the alpha that a trained model predicts for each query.

    >>> learned_alpha("ridge").alpha_model
    'ridge'
    """
    return parse(json.dumps({"base": "convex-0.5", "alpha_from": "learned", "alpha_model": model}))


def fifteen() -> dict[str, SearchConfig]:
    """Our fifteen configurations for the compliance benchmark.

    >>> len(fifteen())
    15
    """
    return {title: parse(text) for title, text in _FIFTEEN}


def spell(config: SearchConfig) -> str:
    """The shortest text that `parse` turns back into the same configuration.

    >>> spell(parse("convex-0.3")), spell(parse('{"base": "rrf-60", "k": 5}'))
    ('convex-0.3', '{"base": "rrf-60", "k": 5}')
    """
    short = name(config) if named(config) else nearest(config)
    fields, base_fields = strict.plain(config), strict.plain(parse(short))
    changed = {key: value for key, value in fields.items() if value != base_fields[key]}
    return json.dumps({"base": short, **changed}) if changed else short
