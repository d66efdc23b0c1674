"""A run: one configuration over one query set, with everything it takes to reproduce and compare it; many runs by
setup, and runs as CSV, JSON and TREC files."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from core import strict
from core.evaluation.querysets.queryset import Question
from core.evaluation.statistics import percentile
from core.retrieval import config as configs
from core.spreadsheet import csv_text
from core.types import NOTHING, SearchConfig


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of a run: its measures and what was retrieved."""

    question: Question
    values: Mapping[str, float]
    documents: tuple[str, ...]
    passages: tuple[str, ...]
    ms: Mapping[str, float]
    confidence: float  # the best fused score, as a share of the highest possible
    folder: str = ""
    tags: tuple[str, ...] = ()
    cost: float = 0.0  # dollars
    tokens: int = 0  # of language models
    chance: float | None = (
        None  # that the first hit of the fusion answers; unknown in runs that were made before it was
    )
    scores: tuple[float, ...] = ()  # of the documents; empty in runs that were made before they were kept


@dataclass(frozen=True, slots=True)
class Run:
    """One configuration over one query set, at one commit."""

    id: str
    queryset: str
    queryset_digest: str
    unit: str
    profile: str
    profile_digest: str
    config: SearchConfig
    config_digest: str
    generation: int
    commit: str
    models: tuple[str, ...]
    created: str
    seconds: float
    questions: int
    unmapped: tuple[Mapping[str, str], ...]
    figures: Mapping[str, float]
    times: Mapping[str, Mapping[str, float]]
    warnings: tuple[str, ...] = ()
    cost: float = 0.0  # mean dollars of a question with an empty cache
    machine: str = ""  # that every time was taken on; "" where some came from elsewhere
    results: Mapping[str, Answered] = field(default_factory=dict, repr=False)

    @property
    def timed(self) -> tuple[str, str]:
        """The machine and the day that its times were taken on; they are compared with times of the same two."""
        return self.machine, self.created[:10]

    @property
    def name(self) -> str:
        """The configuration, after the profile unless that is `local`."""
        config = label(self.config)
        return config if self.profile == "local" else f"{self.profile}: {config}"


def label(config: SearchConfig) -> str:
    """A configuration as people read it: its name, and weights where they are not equal.

    >>> label(configs.parse('{"base": "rrf-60", "weights": {"dense": 2, "bm25": 1}}'))
    'rrf-60 bm25 1 : dense 2'
    >>> label(configs.parse('{"base": "trimodal", "alpha_from": "llm"}'))
    'trimodal, weights by llm'
    """
    still = replace(config, alpha_from="fixed", alpha_model="")
    named = configs.name(still)
    plain = named if configs.named(still) else configs.name(replace(still, weights=NOTHING))
    if config.alpha_from != "fixed":
        return f"{plain}, weights {config.alpha_model or f'by {config.alpha_from}'}"
    weights = " : ".join(f"{leg} {config.weights.get(leg, 0.0):g}" for leg in sorted(config.legs))
    return f"{plain} {weights}" if config.weights and plain != named else plain


FEWEST_PLACES = 10  # that every run is measured at


def reaches(config: SearchConfig, measure: str) -> bool:
    """Whether a configuration brings enough candidates to fill the places that a measure looks at.

    >>> reaches(configs.parse("bm25"), "Recall@100"), reaches(configs.parse("bm25"), "Recall@10")
    (False, True)
    """
    depth = measure.partition("@")[2]
    return not depth or int(depth) <= max(FEWEST_PLACES, config.depth * len(config.legs))


def means(results: Iterable[Answered]) -> dict[str, float]:
    """The mean of every measure over the questions that have it."""
    table: dict[str, list[float]] = {}
    for result in results:
        for name, value in result.values.items():
            table.setdefault(name, []).append(value)
    return {name: round(sum(values) / len(values), 6) for name, values in table.items()}


def times_of(timings: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """p50 and p95 of every stage and of the whole, in milliseconds."""
    stages = dict.fromkeys(name for timing in timings for name in timing)
    table = {name: [timing.get(name, 0.0) for timing in timings] for name in stages}
    table["total"] = [sum(timing.values()) for timing in timings]
    return {
        name: {"p50": round(percentile(values, 0.5), 3), "p95": round(percentile(values, 0.95), 3)}
        for name, values in table.items()
    }


# ---------------------------------------------------------------- on disk


def pack(run: Run) -> tuple[str, bytes]:
    """The facts of a run as JSON, and its questions as compressed JSON."""
    facts = json.dumps({**strict.plain(run), "results": None})
    listed = json.dumps(strict.plain(list(run.results.values())), separators=(",", ":"))
    return facts, zlib.compress(listed.encode(), 6)


def unpack(facts: str, packed: bytes) -> Run:
    """A run from what is kept of it; without results where those were not asked for."""
    raw = json.loads(facts)
    listed = json.loads(zlib.decompress(packed)) if packed else []
    config = strict.parse(SearchConfig, raw["config"], "configuration")
    kept = {name for name in raw["figures"] if reaches(config, name)}
    results = [_answered(raw_result, kept) for raw_result in listed]
    tuples = {name: tuple(raw[name]) for name in ("models", "unmapped", "warnings")}
    figures = {name: value for name, value in raw["figures"].items() if name in kept}
    by_id = {result.question.id: result for result in results}
    return Run(**{**raw, **tuples, "config": config, "figures": figures, "results": by_id})


def _answered(raw: Mapping[str, Any], kept: Collection[str]) -> Answered:
    tuples = {name: tuple(raw.get(name, ())) for name in ("documents", "passages", "tags", "scores")}
    values = {name: value for name, value in raw["values"].items() if name in kept}
    return Answered(**{**raw, **tuples, "values": values, "question": Question(**raw["question"])})


RunSetup = tuple[str, str, str]


def setup_of(run: Run) -> RunSetup:
    """Profile, configuration and unit: what two runs share that differ in their commit only."""
    return run.profile_digest, run.config_digest, run.unit


def latest(runs: Sequence[Run], unit: str = "document") -> tuple[Run, ...]:
    """The newest run of every setup; `runs` come newest first."""
    newest: dict[RunSetup, Run] = {}
    for run in runs:
        if run.unit == unit:
            newest.setdefault(setup_of(run), run)
    return tuple(newest.values())


def over_commits(runs: Sequence[Run], like: Run) -> tuple[Run, ...]:
    """The newest run of one setup at every commit, oldest commit first; `runs` come newest first."""
    by_commit: dict[str, Run] = {}
    for run in runs:
        if setup_of(run) == setup_of(like):
            by_commit.setdefault(run.commit, run)
    return tuple(by_commit.values())[::-1]


def distinct(runs: Sequence[Run], names: Mapping[str, str]) -> dict[str, str]:
    """A unique name for every run: with its depth where names collide, with its id where they still do."""
    counts = Counter(names[run.id] for run in runs)
    deep = {
        run.id: f"{names[run.id]}, depth {run.config.depth}" if counts[names[run.id]] > 1 else names[run.id]
        for run in runs
    }
    repeated = Counter(deep.values())
    return {run.id: f"{deep[run.id]} ({run.id[:6]})" if repeated[deep[run.id]] > 1 else deep[run.id] for run in runs}


def write_run(rankings: Mapping[str, Mapping[str, float]], tag: str) -> str:
    """Documents with their scores in the form that trec_eval reads: `question Q0 document rank score tag`.

    >>> write_run({"1": {"a": 2.5, "b": 1.0}}, "bm25")
    '1 Q0 a 1 2.5 bm25\\n1 Q0 b 2 1 bm25\\n'
    """
    return "".join(
        f"{question} Q0 {document} {rank} {score:.9g} {tag}\n"
        for question, scores in rankings.items()
        for rank, (document, score) in enumerate(scores.items(), 1)
    )


def scored(answer: Answered) -> dict[str, float]:
    """The documents of a question with their scores. trec_eval sorts by score, so where scores do not give the order,
    as after a reranker that read only the first of them, the reversed ranks stand for them."""
    count = len(answer.documents)
    ordered = len(answer.scores) == count and all(a >= b for a, b in pairwise(answer.scores))
    return dict(zip(answer.documents, answer.scores if ordered else range(count, 0, -1), strict=True))


def _as_csv(run: Run) -> str:
    names = list(run.figures)
    rows: list[tuple[object, ...]] = [("id", "question", "category", *names, "first document", "ms", "dollars")]
    for result in run.results.values():
        values = [result.values.get(name, "") for name in names]
        question, first = result.question, next(iter(result.documents), "")
        ms = round(sum(result.ms.values()), 3)
        rows.append((question.id, question.text, question.category, *values, first, ms, result.cost))
    return csv_text(rows)


RUN_FORMATS: Mapping[str, Callable[[Run], str]] = {
    "trec-run": lambda run: write_run({number: scored(result) for number, result in run.results.items()}, run.id),
    "json": lambda run: strict.canonical(run) + "\n",
    "csv": _as_csv,
}
