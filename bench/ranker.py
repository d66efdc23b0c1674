"""`python -m bench.ranker HOME NAME=FOLDER ...`: a learned ranker on BEIR folders, before and after, with times.

HOME is a workspace for collections (its indexes are built when they are missing). Where a folder has training questions
the ranker learns
from them and is judged on the test questions; elsewhere it learns from half of the test questions and is judged on all,
each by trees
that have not seen it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.measure import cpu
from core.access import SYSTEM
from core.bootstrap import build, evaluation_workspace
from core.evaluation.learning.lambdamart import FittedRanker, RankingExample, fit, measured
from core.evaluation.querysets import beir
from core.evaluation.querysets.queryset import for_choosing
from core.evaluation.statistics import compare
from core.ports import no_progress
from core.retrieval import config as configs
from core.services.evaluation import collections
from core.services.evaluation.runs import RunPlan
from core.services.tuning.rankers import RankingExamples
from core.settings import load

CONFIGS = ("convex-0.5", '{"base": "tm2c2-0.9", "documents": true, "fields": {"title": 1.0}}')
Pair = tuple[RankingExample, float]


def main() -> None:
    """One row per collection and configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("collections", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--most", type=int, default=800, help="training questions at most")
    parser.add_argument("--config", action="append", default=[], help="the search before the ranker; may repeat")
    options = parser.parse_args()
    print("| Collection | way | learned from | judged on | before | after | difference | trees | train | strongest |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for entry in options.collections:
        name, _, folder = entry.partition("=")
        for text in options.config or CONFIGS:
            print(_row(options.home, name, Path(folder), text, options.most), flush=True)


def _row(home: Path, name: str, folder: Path, text: str, most: int) -> str:
    app = evaluation_workspace(build(load(home=home)), SYSTEM, name)
    test = beir.read(folder)
    if not app.knowledge.repository.head():
        app.knowledge.documents.save(collections.AUTHOR, dict(test.files), [], "records")
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    config = replace(configs.parse(text), depth=30)
    index = app.search.searcher.generations.open(profile)
    reader = RankingExamples(
        app.evaluation.runs, index, config, RunPlan(profile, config), app.search.searcher.clock.today(), no_progress
    )
    judged = _examples(reader, test)
    if (folder / "qrels" / "train.tsv").is_file():
        learn = _examples(reader, beir.read(folder, "train", sample=most))
        fitted, seconds = _fitted(learn)
        after = [measured(example, fitted.scores(example)) for example, _ in judged]
    else:
        learn = [pair for pair in judged if for_choosing(pair[0].question)]
        fitted, seconds = _fitted(learn)
        known = fitted.crossfit
        after = [measured(e, known[e.question] if e.question in known else fitted.scores(e)) for e, _ in judged]
    before = [value for _, value in judged]
    compared, strongest = compare(before, after), ", ".join(list(fitted.importances)[:3])
    gap = compared.difference
    return (
        f"| {name} | {text.replace('|', '')} | {len(learn)} | {len(judged)} | {np.mean(before):.3f} |"
        f" {np.mean(after):.3f} | {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), {compared.verdict} |"
        f" {fitted.rounds} | {seconds:.0f} s | {strongest} |"
    )


def _fitted(learn: list[Pair]) -> tuple[FittedRanker, float]:
    began = cpu()
    return fit([example for example, _ in learn]), cpu() - began


def _examples(reader: RankingExamples, collection: beir.Collection) -> list[Pair]:
    documents = {facts.doc: n for n, facts in enumerate(reader.index.documents)}
    places = {record: documents[doc] for doc, record in collection.records.items() if doc in documents}
    pairs = []
    for question, text in collection.queries.items():
        gains = {places[record]: grade for record, grade in collection.qrels[question].items() if record in places}
        if any(gains.values()):
            plain = " ".join(text.split())
            pairs.append((reader.example(plain, gains), reader.production_value(plain, gains)))
    reader.cache.save()
    return pairs


if __name__ == "__main__":
    main()
