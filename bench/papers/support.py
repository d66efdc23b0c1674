"""The support study: which embedder, two by RRF or side by side, then which reranker, prompt and language model at
which
price; always by Recall@50 and Recall@10, and the gap between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

from bench.papers import own_runs
from bench.papers.context import (
    PaperContext,
    PaperOptions,
    figures,
)
from core import strict
from core.errors import ConcordError
from core.evaluation.measures.by_name import mean
from core.evaluation.reports import charts
from core.evaluation.reports.report import Chart, Part, Report, ReportTable, Text
from core.evaluation.reports.run_report import leaderboard_parts
from core.evaluation.runs.comparisons import compare
from core.evaluation.runs.run import Run
from core.llm.asking import dollars_of
from core.ports import Progress
from core.profiles import check
from core.retrieval import config as configs
from core.services.evaluation.runs import RunPlan
from core.types import ChunkerSpec, Frozen, Profile, SearchConfig

TITLE = "The support study"
ABOUT = (
    "Embedders alone and in pairs, rerankers over the best fifty, prompts, language models and their price, chunk"
    " sizes."
)
COLUMNS = ("Recall@50", "Recall@10", "nDCG@50", "nDCG@10", "MRR@10")
FAR, NEAR = "Recall@50", "Recall@10"
EMBEDDERS = ("bge-small-en-v1.5-int8", "all-minilm-l6-v2-int8", "all-minilm-l6-v2", "potion-base-8m")
SIZES = (512, 1024, 2048, 4096)  # tokens of a chunk
DEPTH, READ = 100, 50  # candidates per leg, and those that a reranker reads

ZERO, SHOT, LESSONS = "zero-shot", "one-shot", "meta"


@dataclass(frozen=True, slots=True)
class BaseSystem:
    """What is reranked: a profile, a configuration, and what they are called."""

    title: str
    profile: Profile
    config: SearchConfig


def run(context: PaperContext, progress: Progress) -> Report:
    """Table after table of the study; the report names what was skipped."""
    study = _Study(context, progress)
    singles = study.singles()
    champion = max(singles, key=lambda title: _order(study.runs[title]))
    first = study.bases[champion]
    fused = study.pairs(first, "rrf")
    best = study.bases[max([champion, *fused], key=lambda title: _order(study.runs[title]))]
    joined = study.pairs(first, "concatenation")
    reranked = study.reranked(best)
    prompts, models = study.prompts(best), study.models(best)
    sizes, imagined = study.sizes(first), study.imagined(first)
    parts: list[Part] = [
        Text("What it says", (*study.says(champion, best), *study.skipped)),
        study.table("Embedders alone and BM25", [*singles, "BM25"]),
        study.table("The best embedder with each other by RRF", [champion, *fused]),
        study.table(
            "The best embedder with each other side by side",
            [champion, *joined],
            "One index of concatenated, normalised vectors.",
        ),
        study.table("Reranking of the best fifty", reranked, "± is the 95 % interval over repeats of the same calls."),
        study.table("Prompts", [best.title, *prompts]),
        study.prices(models),
        study.table("Chunk sizes", sizes),
        study.table("A made-up answer as the query", [champion, *imagined]),
        *leaderboard_parts(
            list(study.runs.values()), COLUMNS, NEAR, {run.id: title for title, run in study.runs.items()}
        ),
        Chart(
            "The gap that reranking could close",
            charts.bars(
                list(study.runs),
                {name: [run.figures[name] for run in study.runs.values()] for name in (NEAR, FAR)},
                "recall",
            ),
        ),
    ]
    values = {"champion": champion, "reranked": best.title, "skipped": study.skipped, "rows": study.values()}
    return context.report(
        "support", TITLE, ABOUT, list(study.runs.values()), parts, {**figures(list(study.runs.values())), **values}
    )


def asking(options: PaperOptions) -> Iterable[SearchConfig]:
    """What the study asks a language model, for an estimate: as if the production profile were the best embedder."""
    dense = replace(configs.parse("dense"), depth=DEPTH)
    first = options.models[0] if options.models else ""
    yield from [_listwise(dense, ZERO, first)] * options.repeats
    yield from (_listwise(dense, prompt, first) for prompt in (ZERO, SHOT, LESSONS))  # the first of them behind BM25
    yield from (_listwise(dense, ZERO, model) for model in options.models[1:])
    yield _windows(dense, first)
    yield replace(dense, hyde=True)


def _order(run: Run) -> tuple[float, float]:
    """By Recall@50, as the study chooses, then by Recall@10."""
    return run.figures[FAR], run.figures[NEAR]


def _listwise(config: SearchConfig, prompt: str, model: str = "") -> SearchConfig:
    """The fifty in one prompt, once; the model names ten."""
    asked = replace(config, reranker="listwise", rerank_prompt=prompt, rerank_model=model, rerank_orders=1)
    return _read(asked)


def _read(config: SearchConfig) -> SearchConfig:
    """The configuration with a reranker over the best fifty."""
    return replace(config, rerank="always", rerank_depth=READ)


def _windows(config: SearchConfig, model: str = "") -> SearchConfig:
    return replace(_listwise(config, ZERO, model), reranker="slidegar")


class _Study:
    """The rows that were run so far, by title."""

    def __init__(self, context: PaperContext, progress: Progress) -> None:
        self.context, self.progress, self.options = context, progress, context.options
        self.production = context.runs.team_settings.production().profile
        self.dense = replace(configs.parse("dense"), depth=DEPTH)
        self.words = replace(configs.parse("bm25"), depth=DEPTH)
        self.runs: dict[str, Run] = {}
        self.bases: dict[str, BaseSystem] = {}
        self.repeated: dict[str, list[Run]] = {}
        self.skipped: list[str] = []
        self.model = self.options.models[0] if self.options.models else ""
        self.asks = context.answerable({ZERO: _listwise(self.dense, ZERO, self.model)})
        self.skipped += [line.replace(ZERO, "What asks a language model", 1) for line in self.asks[1]]

    # ------------------------------------------------------------ rows

    def row(self, title: str, profile: Profile, config: SearchConfig) -> str:
        self.runs[title] = self.context.evaluate([RunPlan(profile, config)], self.progress)[0]
        self.bases[title] = BaseSystem(title, profile, config)
        if self.runs[title].warnings:
            self.skipped.append(f"{title}: {self.runs[title].warnings[0]}")
        return title

    def built(self, profile: Profile, what: str) -> Profile | None:
        """The profile with its index; None, with a sentence, where it cannot be built."""
        try:
            self.context.build(check(profile), self.progress)
            return check(profile)
        except ConcordError as error:
            self.skipped.append(f"{what} was left out: {error}")
            return None

    def singles(self) -> list[str]:
        """Each embedder alone, and BM25."""
        names = list(dict.fromkeys((self.production.embedder, *EMBEDDERS, *self.options.embedders)))
        profiles = [(name, self.built(_profile(self.production, (name,)), name)) for name in names]
        rows = [self.row(name, profile, self.dense) for name, profile in profiles if profile]
        self.row("BM25", self.production, self.words)
        return rows

    def pairs(self, first: BaseSystem, combine: str) -> list[str]:
        """The first with every other embedder in one index; by RRF also with BM25."""
        how = "RRF" if combine == "rrf" else "concatenated"
        rows = []
        for other in [base for base in self.bases.values() if _alone(base) and base.title != first.title]:
            title = f"{first.title} + {other.title} ({how})"
            both = _profile(self.production, (first.profile.embedder, other.profile.embedder), combine)
            if profile := self.built(both, title):
                rows.append(self.row(title, profile, self.dense))
        if combine == "rrf":
            rows.append(
                self.row(f"{first.title} + BM25 (RRF)", first.profile, replace(configs.parse("rrf-60"), depth=DEPTH))
            )
        return rows

    def reranked(self, best: BaseSystem) -> list[str]:
        """Cross-encoder, language model and SlideGAR over the best list, and two of them over BM25."""
        words = self.bases["BM25"]
        rows = [best.title, self.row(f"{best.title} + cross-encoder", best.profile, _read(best.config))]
        behind = [words.title, self.row("BM25 + cross-encoder", words.profile, _read(words.config))]
        if self.asks[0]:
            title = self.row(f"{best.title} + LLM", best.profile, _listwise(best.config, ZERO, self.model))
            self.repeat(title)
            rows += [title, self.row(f"{best.title} + SlideGAR", best.profile, _windows(best.config, self.model))]
            behind.append(self.row("BM25 + LLM", words.profile, _listwise(words.config, ZERO, self.model)))
        return [*rows, *behind]

    def repeat(self, title: str) -> None:
        """The same row again, with calls of its own."""
        base, context = self.bases[title], self.context
        plan = RunPlan(base.profile, base.config)
        again = [
            own_runs.again(context.runs, context.queryset, plan, repeat, self.progress)
            for repeat in range(1, self.options.repeats)
        ]
        self.repeated[base.title] = [self.runs[title], *again]

    def prompts(self, best: BaseSystem) -> list[str]:
        """Zero-shot, one-shot, with lessons, and the prompt that was tuned last."""
        if not self.asks[0]:
            return []
        tuned = self.context.runs.team_settings.prompts()[-1:]
        if not tuned:
            self.skipped.append("No prompt was tuned yet. Tune one with: python -m bench.papers prompt QUERYSET")
        names = (SHOT, LESSONS, *(prompt.title for prompt in tuned))
        rows = [
            self.row(f"{best.title} + LLM, {name}", best.profile, _listwise(best.config, name, self.model))
            for name in names
        ]
        return [f"{best.title} + LLM", *rows]

    def models(self, best: BaseSystem) -> list[str]:
        """The same reranking by several language models."""
        if not self.asks[0]:
            return []
        others = [(model, _listwise(best.config, ZERO, model)) for model in self.options.models[1:]]
        return [
            f"{best.title} + LLM",
            *(self.row(f"{best.title} + {model}", best.profile, config) for model, config in others),
        ]

    def sizes(self, first: BaseSystem) -> list[str]:
        """The first embedder and BM25 over chunks of other sizes."""
        rows = []
        for size in SIZES:
            if profile := self.built(_sized(first.profile, size), f"{size} tokens"):
                rows.append(self.row(f"{size} tokens: {first.title}", profile, self.dense))
                rows.append(self.row(f"{size} tokens: BM25", profile, self.words))
        return rows

    def imagined(self, first: BaseSystem) -> list[str]:
        if not self.asks[0]:
            return []
        return [self.row(f"{first.title} + HyDE", first.profile, replace(self.dense, hyde=True))]

    # ------------------------------------------------------------ parts of the report

    def table(self, title: str, rows: Sequence[str], note: str = "") -> ReportTable:
        """Recall at 50 and 10, the gap between them, and nDCG."""
        heads = ("Configuration", FAR, NEAR, "gap", "nDCG@50", "nDCG@10", "p50 ms")
        return ReportTable(title, heads, tuple(self._line(row) for row in rows if row in self.runs), note)

    def _line(self, title: str) -> tuple[str, ...]:
        run, gap = self.runs[title], _gap(self.runs[title])
        shown = [self._spread(title, name) for name in (FAR, NEAR)]
        rest = [f"{run.figures[name]:.4f}" for name in ("nDCG@50", "nDCG@10")]
        return (title, *shown, f"{gap:.4f}", *rest, f"{run.times['total']['p50']:.1f}")

    def _spread(self, title: str, measure: str) -> str:
        """The mean over repeats with its 95 % interval, where there were any."""
        values = [run.figures[measure] for run in self.repeated.get(title, ())]
        if len(values) < 2:
            return f"{self.runs[title].figures[measure]:.4f}"
        return f"{mean(values):.4f} ± {1.96 * stdev(values) / len(values) ** 0.5:.4f}"

    def prices(self, rows: Sequence[str]) -> ReportTable:
        """What each language model gives and costs."""
        heads = ("Model", NEAR, "nDCG@10", "tokens of a query", "1,000 queries", "p50 ms")
        return ReportTable(
            "Language models and their price",
            heads,
            tuple(self._price(row) for row in rows),
            "Tokens and dollars are those of the calls, cached ones included.",
        )

    def _price(self, title: str) -> tuple[str, ...]:
        run = self.runs[title]
        name = run.models[-1]
        tokens = mean([answer.tokens for answer in run.results.values()])
        quality = [f"{run.figures[measure]:.4f}" for measure in (NEAR, "nDCG@10")]
        return (name, *quality, f"{tokens:,.0f}", dollars_of(1000 * run.cost), f"{run.times['total']['p50']:.1f}")

    def says(self, champion: str, best: BaseSystem) -> list[str]:
        """What was chosen, and what each reranker does to it, where nothing else differs."""
        run = self.runs[best.title]
        lines = [
            f"Best embedder by {FAR}: {champion}. Reranked is {best.title}: {FAR} {run.figures[FAR]:.3f}, {NEAR}"
            f" {run.figures[NEAR]:.3f}, a gap of {_gap(run):.3f}."
        ]
        for added in ("cross-encoder", "LLM", "SlideGAR"):
            if (title := f"{best.title} + {added}") in self.runs:
                sentence = compare(run, self.runs[title], NEAR).overall.sentence
                lines.append(f"{added} by {NEAR}: {sentence} The gap is now {_gap(self.runs[title]):.3f}.")
        return lines

    def values(self) -> list[dict[str, Any]]:
        return [
            {
                "title": title,
                FAR: run.figures[FAR],
                NEAR: run.figures[NEAR],
                "gap": _gap(run),
                "tokens": mean([answer.tokens for answer in run.results.values()]),
                "dollars_per_1000": 1000 * run.cost,
                "repeats": [again.figures[NEAR] for again in self.repeated.get(title, ())],
            }
            for title, run in self.runs.items()
        ]


def _gap(run: Run) -> float:
    return round(run.figures[FAR] - run.figures[NEAR], 6)


def _alone(base: BaseSystem) -> bool:
    """Whether a row is one embedder and nothing else."""
    return base.config.legs == ("dense",) and not base.profile.embedders


def _profile(base: Profile, embedders: Sequence[str], combine: str = "concatenation") -> Profile:
    """The production profile with other embedders."""
    first, *more = embedders
    if not more and first == base.embedder and not base.embedders:
        return base
    name = f"study-{strict.digest([list(embedders), combine], 8)}"
    return replace(base, name=name, embedder=first, embedders=tuple(more), combine=combine)


def _sized(base: Profile, size: int) -> Profile:
    params = Frozen({"max_tokens": size, "overlap": size // 10})
    return replace(base, name=f"size-{size}", chunker=ChunkerSpec("fixed", params))
