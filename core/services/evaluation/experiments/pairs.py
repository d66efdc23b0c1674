"""Embedding pairs: one model, two by RRF, two side by side, other chunk sizes, and a made-up answer as the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from core import strict
from core.errors import ConcordError
from core.evaluation.measures.scoring import Gold, score
from core.evaluation.querysets import anchoring
from core.evaluation.reports.report import Report, Text
from core.evaluation.runs.run import Answered, Run, means
from core.ports import Progress
from core.profiles import check
from core.retrieval import config as configs
from core.retrieval.legs.embedders import votes
from core.retrieval.ranking import rank
from core.services.evaluation.candidates import CandidateCache
from core.services.evaluation.experiments.context import ExperimentContext, figures, leaderboard_parts
from core.services.evaluation.runs import RunPlan
from core.types import ChunkerSpec, Frozen, Profile

TITLE = "Embedding pairs"
ABOUT = "Dense search with each model alone, with two together, over other chunk sizes, and with HyDE."
COLUMNS = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "P@1")
EMBEDDERS = ("bge-small-en-v1.5-int8", "all-minilm-l6-v2-int8", "all-minilm-l6-v2", "potion-base-8m")
SIZES = (512, 1024, 2048, 4096)

Scores = Mapping[int, float]


def run(context: ExperimentContext, progress: Progress) -> Report:
    """Singles, pairs, sizes, HyDE; the report names what was skipped."""
    dense = replace(configs.parse("dense"), depth=100)
    base = context.runs.team_settings.production().profile
    skipped: list[str] = []
    models = _profiles(
        context, [replace(base, name=_name(name), embedder=name) for name in EMBEDDERS], skipped, progress
    )
    sizes = _profiles(context, [_sized(base, size) for size in SIZES], skipped, progress)
    singles = context.evaluate([RunPlan(profile, dense) for profile in models], progress)
    runs = [*singles]
    for first, second in combinations(range(len(models)), 2):
        both = (models[first], models[second])
        runs += [_paired(context, both, singles[first], how, fuse) for how, fuse in PAIRINGS.items()]
    runs += context.evaluate([RunPlan(profile, dense) for profile in sizes], progress)
    if context.llm() is None:
        skipped.append("HyDE was left out: no language model is configured.")
    else:
        runs += context.evaluate([RunPlan(profile, replace(dense, hyde=True)) for profile in models[:1]], progress)
    note = "Pairs are fused by document: a document's score is that of its best chunk, since models cut chunks by their own tokens."
    parts = [Text("What it says", (note, *skipped)), *leaderboard_parts(runs, COLUMNS)]
    return context.report("pairs", TITLE, ABOUT, runs, parts, {**figures(runs), "skipped": skipped})


def _profiles(
    context: ExperimentContext, candidates: Sequence[Profile], skipped: list[str], progress: Progress
) -> list[Profile]:
    """The profiles that can be built here."""
    built = []
    for profile in candidates:
        try:
            context.build(check(profile), progress)
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


def by_rrf(first: Scores, second: Scores) -> Scores:
    """Two rankings of documents by reciprocal rank.

    >>> list(by_rrf({1: 0.9, 2: 0.8}, {2: 0.7, 3: 0.1}))
    [2, 1, 3]
    """
    return rank(votes([rank(first), rank(second)]))


def by_concatenation(first: Scores, second: Scores) -> Scores:
    """Two unit vectors side by side have the mean of the two cosines; a document that one model missed gets its worst.

    >>> by_concatenation({1: 0.8, 2: 0.6}, {1: 0.4})
    {1: 0.6000000000000001, 2: 0.5}
    """
    first_worst, second_worst = min(first.values(), default=0.0), min(second.values(), default=0.0)
    return rank({doc: (first.get(doc, first_worst) + second.get(doc, second_worst)) / 2 for doc in {*first, *second}})


PAIRINGS: Mapping[str, Callable[[Scores, Scores], Scores]] = {"RRF": by_rrf, "concatenation": by_concatenation}


def _paired(
    context: ExperimentContext,
    both: tuple[Profile, Profile],
    single: Run,
    how: str,
    fuse: Callable[[Scores, Scores], Scores],
) -> Run:
    """Two profiles as one run, measured like every other but not stored."""
    searches = [_documents(context, profile) for profile in both]
    index = context.runs.searcher.generations.open(both[0])
    gains = anchoring.gains(context.queryset.judgments, index).gains
    results = {}
    for question, answer in single.results.items():
        order = list(fuse(searches[0](answer.question.text), searches[1](answer.question.text)))
        values = score(order, [], 0.0, Gold(gains.get(question, {})))
        documents = tuple(index.documents[number].doc for number in order[:20])
        results[question] = Answered(answer.question, values, documents, (), answer.ms, 0.0, answer.folder, answer.tags)
    name = f"{both[0].name.removeprefix('model-')} + {both[1].name.removeprefix('model-')} ({how})"
    return replace(
        single,
        id=strict.digest([single.id, name]),
        profile=name,
        models=tuple(profile.embedder for profile in both),
        figures=means(results.values()),
        results=results,
    )


def _documents(context: ExperimentContext, profile: Profile) -> Callable[[str], Scores]:
    """Dense scores of documents under a profile, in the numbers of documents that all profiles share."""
    index = context.runs.searcher.generations.open(profile)
    legs = CandidateCache(
        context.runs.searcher, context.runs.database, index, replace(configs.parse("dense"), depth=100)
    )

    def scores(query: str) -> Scores:
        best: dict[int, float] = {}
        for chunk, value in legs.of(" ".join(query.split())).candidates.retrieved["dense"].items():
            best.setdefault(index.document_of(chunk), float(value))
        return best

    return scores
