"""Embedding pairs: one model, two by RRF, two side by side, other chunk sizes, and a made-up answer as the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from core import strict
from core.errors import ConcordError
from core.evaluation import anchoring
from core.evaluation.report import Report, Text
from core.evaluation.runs import Answered, Run, means
from core.evaluation.scoring import Gold, score
from core.ports import Progress
from core.profiles import check
from core.retrieval import config as configs
from core.retrieval.legs.embedders import votes
from core.retrieval.ranking import rank
from core.services.evaluation.candidates import CandidateCache
from core.services.evaluation.experiments.workbench import Workbench, figures, standings
from core.services.evaluation.runs import RunPlan
from core.types import ChunkerSpec, Frozen, Profile

TITLE = "Embedding pairs"
ABOUT = "Dense search with each model alone, with two together, over other chunk sizes, and with HyDE."
COLUMNS = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@1")
EMBEDDERS = ("bge-small-en-v1.5-int8", "all-minilm-l6-v2-int8", "all-minilm-l6-v2", "potion-base-8m")
SIZES = (512, 1024, 2048, 4096)

Scores = Mapping[int, float]


def run(bench: Workbench, progress: Progress) -> Report:
    """Singles, pairs, sizes, HyDE; what cannot be done here is named."""
    dense = replace(configs.parse("dense"), depth=100)
    base = bench.runs.team_settings.production().profile
    skipped: list[str] = []
    models = _profiles(bench, [replace(base, name=_name(name), embedder=name) for name in EMBEDDERS], skipped, progress)
    sizes = _profiles(bench, [_sized(base, size) for size in SIZES], skipped, progress)
    singles = bench.evaluate([RunPlan(profile, dense) for profile in models], progress)
    made = [*singles]
    for one, other in combinations(range(len(models)), 2):
        both = (models[one], models[other])
        made += [_paired(bench, both, singles[one], how, fuse) for how, fuse in PAIRINGS.items()]
    made += bench.evaluate([RunPlan(profile, dense) for profile in sizes], progress)
    if bench.llm() is None:
        skipped.append("HyDE was left out: no language model is configured.")
    else:
        made += bench.evaluate([RunPlan(profile, replace(dense, hyde=True)) for profile in models[:1]], progress)
    note = "Pairs are fused by document: a document's score is that of its best chunk, since models cut chunks by their own tokens."
    parts = [Text("What it says", (note, *skipped)), *standings(made, COLUMNS)]
    return bench.report("pairs", TITLE, ABOUT, made, parts, {**figures(made), "skipped": skipped})


def _profiles(bench: Workbench, wanted: Sequence[Profile], skipped: list[str], progress: Progress) -> list[Profile]:
    """Those that can be built here."""
    built = []
    for profile in wanted:
        try:
            bench.build(check(profile), progress)
            built.append(check(profile))
        except ConcordError as error:
            skipped.append(f"{profile.embedder} was left out: {error}")
    return built


def _name(model: str) -> str:
    return "model-" + "".join(c if c.isalnum() else "-" for c in model.lower())[:34]


def _sized(base: Profile, size: int) -> Profile:
    params = Frozen({"max_tokens": size, "overlap": size // 10})
    return replace(base, name=f"size-{size}", chunker=ChunkerSpec("fixed", params))


# ---------------------------------------------------------------- two models


def by_rrf(one: Scores, other: Scores) -> Scores:
    """Two rankings of documents by reciprocal rank.

    >>> list(by_rrf({1: 0.9, 2: 0.8}, {2: 0.7, 3: 0.1}))
    [2, 1, 3]
    """
    return rank(votes([rank(one), rank(other)]))


def by_concatenation(one: Scores, other: Scores) -> Scores:
    """Two unit vectors side by side have the mean of the two cosines; a document that one model missed gets its worst.

    >>> by_concatenation({1: 0.8, 2: 0.6}, {1: 0.4})
    {1: 0.6000000000000001, 2: 0.5}
    """
    low, high = min(one.values(), default=0.0), min(other.values(), default=0.0)
    return rank({doc: (one.get(doc, low) + other.get(doc, high)) / 2 for doc in {*one, *other}})


PAIRINGS: Mapping[str, Callable[[Scores, Scores], Scores]] = {"RRF": by_rrf, "concatenation": by_concatenation}


def _paired(
    bench: Workbench, both: tuple[Profile, Profile], single: Run, how: str, fuse: Callable[[Scores, Scores], Scores]
) -> Run:
    """Two profiles as one run; measured like every other, not kept."""
    found = [_documents(bench, profile) for profile in both]
    index = bench.runs.searcher.generations.open(both[0])
    gains = anchoring.gains(bench.queryset.judgments, index).gains
    results = {}
    for question, one in single.results.items():
        order = list(fuse(found[0](one.question.text), found[1](one.question.text)))
        values = score(order, [], 0.0, Gold(gains.get(question, {})))
        documents = tuple(index.documents[number].doc for number in order[:20])
        results[question] = Answered(one.question, values, documents, (), one.ms, 0.0, one.folder, one.tags)
    name = f"{both[0].name.removeprefix('model-')} + {both[1].name.removeprefix('model-')} ({how})"
    return replace(
        single,
        id=strict.digest([single.id, name]),
        profile=name,
        models=tuple(profile.embedder for profile in both),
        figures=means(results.values()),
        results=results,
    )


def _documents(bench: Workbench, profile: Profile) -> Callable[[str], Scores]:
    """Dense scores of documents under a profile, in the numbers of documents that all profiles share."""
    index = bench.runs.searcher.generations.open(profile)
    legs = CandidateCache(bench.runs.searcher, bench.runs.database, index, replace(configs.parse("dense"), depth=100))

    def scores(query: str) -> Scores:
        found: dict[int, float] = {}
        for chunk, value in legs.of(" ".join(query.split())).candidates.retrieved["dense"].items():
            found.setdefault(index.document_of(chunk), float(value))
        return found

    return scores
