"""A run: one configuration over one query set, with everything it takes to trace and to compare it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core import strict
from core.evaluation.querysets.queryset import Question
from core.evaluation.statistics import percentile
from core.retrieval import config as configs
from core.types import NOTHING, SearchConfig


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of a run: its measures, where it belongs, and what was found."""

    question: Question
    values: Mapping[str, float]
    documents: tuple[str, ...]
    passages: tuple[str, ...]
    ms: Mapping[str, float]
    confidence: float
    folder: str = ""
    tags: tuple[str, ...] = ()
    cost: float = 0.0  # dollars


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
    cost: float = 0.0  # dollars for a question, on average, as if none had been asked before
    results: Mapping[str, Answered] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Configuration, and profile where it is not the usual one."""
        config = label(self.config)
        return config if self.profile == "local" else f"{self.profile}: {config}"


def label(config: SearchConfig) -> str:
    """A configuration as people read it: its name, and weights where they are not equal.

    >>> label(configs.parse('{"base": "rrf-60", "weights": {"dense": 2, "bm25": 1}}'))
    'rrf-60 bm25 1 : dense 2'
    """
    plain = configs.name(replace(config, weights=NOTHING, alpha_from="fixed", alpha_model=""))
    if config.alpha_from != "fixed":
        return f"{plain}, weights {config.alpha_model or f'by {config.alpha_from}'}"
    weights = " : ".join(f"{leg} {config.weights.get(leg, 0.0):g}" for leg in sorted(config.legs))
    return f"{plain} {weights}" if config.weights else plain


def means(results: Iterable[Answered]) -> dict[str, float]:
    """The mean of every measure over the questions that have it."""
    table: dict[str, list[float]] = {}
    for one in results:
        for name, value in one.values.items():
            table.setdefault(name, []).append(value)
    return {name: round(sum(values) / len(values), 6) for name, values in table.items()}


def times_of(spent: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """p50 and p95 of every stage and of the whole, in milliseconds."""
    stages = dict.fromkeys(name for one in spent for name in one)
    table = {name: [one.get(name, 0.0) for one in spent] for name in stages}
    table["total"] = [sum(one.values()) for one in spent]
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


def unpack(row: Mapping[str, Any]) -> Run:
    """A run as it was kept; without its questions when they were not asked for."""
    raw = json.loads(row["facts"])
    listed = json.loads(zlib.decompress(row["results"])) if "results" in row else []
    results = [_answered(one) for one in listed]
    tuples = {name: tuple(raw[name]) for name in ("models", "unmapped", "warnings")}
    config = strict.parse(SearchConfig, raw["config"], "configuration")
    return Run(**{**raw, **tuples, "config": config, "results": {one.question.id: one for one in results}})


def _answered(raw: Mapping[str, Any]) -> Answered:
    tuples = {name: tuple(raw[name]) for name in ("documents", "passages", "tags")}
    return Answered(**{**raw, **tuples, "question": Question(**raw["question"])})
