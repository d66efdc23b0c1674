"""Confidence: fitted on questions with and without their answers, and measured on collections that the fit
never saw.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlparse

import numpy as np

from bench.corpus import ROOT, SHARED
from core.access import SYSTEM
from core.bootstrap import App, build, evaluation_workspace
from core.evaluation.querysets import beir
from core.evaluation.statistics import Interval
from core.evaluation.tuning import answerable
from core.evaluation.tuning.answerable import without
from core.ports import Index
from core.retrieval import pipeline
from core.retrieval.confidence import THRESHOLD, FirstSigns, LogisticModel, Signs, first_signs, signs
from core.retrieval.config import PRODUCTION, parse
from core.retrieval.presets import presets
from core.retrieval.trace import Trace
from core.services.evaluation import collections
from core.settings import load
from core.types import Filters, SearchConfig

CONFIGS = {"documents-0.9": presets()["Documents 0.9"], "convex-0.5": PRODUCTION}
WORDS_ALONE = {"words alone": parse('{"base": "bm25", "depth": 30}')}
OF_FIRST = {  # signs of a first hit, and the configurations that a model of them is fitted on
    "both legs": (FirstSigns._fields[:-1], ("documents-0.9", "convex-0.5", "rrf-60", "tm2c2-0.9")),
    "vectors alone": (("near", "margin", "gap", "covered"), ("dense",)),
    "words alone": (("words_gap", "covered"), ("bm25",)),
}
SIGNS, OF_WORDS = tuple(Signs._fields), ("covered", "unknown", "title")
RELATED = ({"scifact", "nfcorpus"}, {"18f-handbook", "pagerduty-incident-response", "starter"})  # speak of like things
EACH, FOREIGN, SEED = 400, 200, 5  # drawn per collection for a fit; questions of other collections
THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True)
class QuestionedFiles:
    """Files with questions: the text and the paths that answer each, and paths that must not be found for it."""

    name: str
    files: Mapping[str, str]
    questions: Mapping[str, str]
    answers: Mapping[str, frozenset[str]]
    excluded: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class ArmSigns:
    """The signs of questions of one collection: answerable, with the answer taken away, and of another topic."""

    answerable: np.ndarray
    removed: np.ndarray
    foreign: np.ndarray


# ---------------------------------------------------------------- the collections


def sources() -> Iterator[QuestionedFiles]:
    """What there is of the public collections, and the starter knowledge base."""
    for place in ("beir/scifact", "beir/nfcorpus", "multihop/hotpotqa_200"):
        if (SHARED / place).is_dir():
            yield _beir(SHARED / place)
    for name in ("18f-handbook", "pagerduty-incident-response"):
        if (SHARED / "markdown_queries" / name).is_dir():
            yield _handbook(name)
    if (SHARED / "anthropic_contextual").is_dir():
        yield _documentation(SHARED / "anthropic_contextual")
        yield _code(SHARED / "anthropic_contextual")
    files = {str(path.relative_to(ROOT / "kb")): path.read_text() for path in sorted((ROOT / "kb").rglob("*.md"))}
    yield QuestionedFiles("starter", files, {}, {})  # its questions are those that its documents list


def _beir(folder: Path) -> QuestionedFiles:
    collection = beir.read(folder)
    paths = {collection.records[Path(path).stem]: path for path in collection.files}
    answers = {
        query: frozenset(paths[record] for record, grade in gains.items() if grade > 0 and record in paths)
        for query, gains in collection.qrels.items()
    }
    files = {path: raw.decode() if isinstance(raw, bytes) else raw for path, raw in collection.files.items()}
    return QuestionedFiles(folder.name, files, collection.queries, answers)


def _handbook(name: str) -> QuestionedFiles:
    root, asked = SHARED / "markdown" / name, SHARED / "markdown_queries" / name
    files = {str(path.relative_to(root)): path.read_text(errors="replace") for path in sorted(root.rglob("*.md"))}
    rows = [json.loads(line) for line in (asked / "queries.jsonl").read_text().splitlines()]
    with (asked / "qrels" / "test.tsv").open() as lines:
        answers = _grouped((row["query-id"], row["corpus-id"]) for row in csv.DictReader(lines, delimiter="\t"))
    own = (line.split("\t")[:2] for line in (asked / "exclude.tsv").read_text().splitlines())
    return QuestionedFiles(name, files, {row["_id"]: row["text"] for row in rows}, answers, _grouped(own))


def _grouped(pairs: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for key, value in pairs:
        groups.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in groups.items()}


def _documentation(folder: Path) -> QuestionedFiles:
    parts: dict[str, list[str]] = {}
    for chunk in json.loads((folder / "anthropic_docs.json").read_text()):
        text = str(chunk["text"]).removeprefix(chunk["chunk_heading"])
        parts.setdefault(_page(chunk["chunk_link"]), []).append(f"## {chunk['chunk_heading']}\n\n{text}")
    titles = {path: Path(path).stem.replace("-", " ").capitalize() for path in parts}
    files = {path: f"# {titles[path]}\n\n" + "\n\n".join(texts) + "\n" for path, texts in parts.items()}
    rows = json.loads((folder / "docs_evaluation_dataset.json").read_text())
    answers = {row["id"]: frozenset(map(_page, row["correct_chunks"])) & files.keys() for row in rows}
    return QuestionedFiles("documentation", files, {row["id"]: row["question"] for row in rows}, answers)


def _page(link: str) -> str:
    return urlparse(link).path.strip("/").removeprefix("en/docs/") + ".md"


def _code(folder: Path) -> QuestionedFiles:
    documents = json.loads((folder / "codebase_chunks.json").read_text())
    paths = {document["original_uuid"]: f"{document['doc_id']}.md" for document in documents}
    files = {paths[document["original_uuid"]]: document["content"] for document in documents}
    rows = [json.loads(line) for line in (folder / "evaluation_set.jsonl").read_text().splitlines()]
    answers = {str(n): frozenset(paths[each] for each in row["golden_doc_uuids"]) for n, row in enumerate(rows)}
    return QuestionedFiles("code", files, {str(n): row["query"] for n, row in enumerate(rows)}, answers)


# ---------------------------------------------------------------- asking


class AskedCollection:
    """A collection with its index and its questions."""

    def __init__(self, app: App, source: QuestionedFiles) -> None:
        self.app, self.name, self.excluded = app, source.name, source.excluded
        profile = app.platform.settings.profile()
        if not app.knowledge.repository.head():
            texts = {path: text.encode() for path, text in source.files.items()}
            app.knowledge.documents.save(collections.AUTHOR, texts, [], f"Records of {source.name}")
            app.index.builder.build(profile)
        self.index = app.index.generations.open(profile)
        self.numbers = {facts.path: n for n, facts in enumerate(self.index.documents)}
        self.questions, self.answers = (source.questions, source.answers) if source.questions else _listed(self.index)
        self.vector = cache(lambda text: app.search.searcher.query_vector(profile, text))

    def signs(self, index: Index, text: str, config: SearchConfig) -> Signs | None:
        """The signs of one search; None where nothing was found."""
        ask = pipeline.SearchContext(embed=self.vector, filters=Filters(history=True))
        candidates = pipeline.gather(text, config, index, ask, Trace())
        ranking = pipeline.rank(candidates, config, index, ask, Trace()).fused.ranking
        return signs(candidates, ranking, index) if ranking else None

    def first_hits(self, config: SearchConfig) -> tuple[np.ndarray, np.ndarray]:
        """The signs of the first hit of every question, and whether it is right."""
        rows, right = [], []
        ask = pipeline.SearchContext(embed=self.vector, filters=Filters(history=True))
        for query, text in self.questions.items():
            index = without(
                self.index, {self.numbers[path] for path in self.excluded.get(query, ()) if path in self.numbers}
            )
            candidates = pipeline.gather(text, config, index, ask, Trace())
            for first in list(pipeline.rank(candidates, config, index, ask, Trace()).fused.ranking)[:1]:
                rows += first_signs(candidates, [first], index)
                right.append(index.documents[index.document_of(first)].path in self.answers.get(query, ()))
        return np.array(rows), np.array(right, float)

    def arms(self, config: SearchConfig, others: Sequence[str]) -> ArmSigns:
        """Every question with and without its answer, and questions of other collections."""
        answerable, removed = [], []
        for query, text in self.questions.items():
            own = {self.numbers[path] for path in self.excluded.get(query, ()) if path in self.numbers}
            right = {self.numbers[path] for path in self.answers.get(query, ()) if path in self.numbers} - own
            if right:
                answerable.append(self.signs(without(self.index, own), text, config))
                removed.append(self.signs(without(self.index, own | right), text, config))
        foreign = [self.signs(self.index, text, config) for text in others]
        return ArmSigns(*(np.array([each for each in arm if each]) for arm in (answerable, removed, foreign)))


def _listed(index: Index) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """The questions that documents say they answer."""
    pairs = [(text, facts.path) for n, facts in enumerate(index.documents) for text in index.answers(n)]
    return {text: text for text, _ in pairs}, _grouped(pairs)


def asked(home: Path) -> dict[str, AskedCollection]:
    """Every collection, indexed once with the default profile."""
    main = build(load(home=home / "confidence"))
    return {
        source.name: AskedCollection(evaluation_workspace(main, SYSTEM, f"confidence-{source.name}"), source)
        for source in sources()
    }


def measure(known: Mapping[str, AskedCollection], config: SearchConfig) -> dict[str, ArmSigns]:
    """The signs of all questions of all collections under one configuration."""
    chance, measured = random.Random(SEED), {}
    for name, collection in known.items():
        others = [other for other in known if other != name and not any({other, name} <= like for like in RELATED)]
        texts = {other: list(known[other].questions.values()) for other in others}
        drawn = [
            text
            for other in others
            for text in chance.sample(texts[other], min(len(texts[other]), FOREIGN // len(others)))
        ]
        measured[name] = collection.arms(config, drawn)
    return measured


# ---------------------------------------------------------------- fitting


def fitted(arms: Sequence[ArmSigns], names: Sequence[str]) -> LogisticModel:
    """Coefficients from some collections, each weighing the same, half of the unanswerable questions of each kind."""
    chance, rows, labels = np.random.default_rng(1), [], []
    columns = [SIGNS.index(name) for name in names]
    for each in arms:
        for signs_of, count, label in (
            (each.answerable, EACH, 1),
            (each.removed, EACH // 2, 0),
            (each.foreign, EACH // 2, 0),
        ):
            rows.append(signs_of[chance.choice(len(signs_of), count)][:, columns])
            labels += [label] * count
    return _logistic(np.concatenate(rows), np.array(labels), names)


def _logistic(whole: np.ndarray, labels: np.ndarray, names: Sequence[str]) -> LogisticModel:
    middle, scale = whole.mean(axis=0), whole.std(axis=0)
    intercept, *weights = answerable.fit((whole - middle) / scale, labels)
    slopes = np.array(weights) / scale
    return LogisticModel(float(intercept - slopes @ middle), dict(zip(names, map(float, slopes), strict=True)))


def first_model(known: Mapping[str, AskedCollection], names: Sequence[str], configs: Sequence[str]) -> LogisticModel:
    """The chance of a first hit, from all collections, each weighing the same."""
    chance, columns = np.random.default_rng(1), [FirstSigns._fields.index(name) for name in names]
    hits = [
        each.first_hits(parse(json.dumps({"base": config, "depth": 30})))
        for each in known.values()
        for config in configs
    ]
    drawn = [(rows, right, chance.choice(len(rows), EACH)) for rows, right in hits]
    return _logistic(
        np.concatenate([rows[some][:, columns] for rows, _, some in drawn]),
        np.concatenate([right[some] for _, right, some in drawn]),
        names,
    )


def held_out(
    measured: Sequence[Mapping[str, ArmSigns]], shown: Mapping[str, ArmSigns], names: Sequence[str]
) -> dict[str, tuple[list[float], ...]]:
    """Confidences in every collection by a model that was fitted on the others, under all configurations."""
    confidences = {}
    for name, arms in shown.items():
        model = fitted([each[other] for each in measured for other in each if other != name], names)
        confidences[name] = tuple(
            [model(Signs(*row)) for row in arm] for arm in (arms.answerable, arms.removed, arms.foreign)
        )
    return confidences


def rows(confidences: Mapping[str, tuple[list[float], ...]]) -> Iterator[list[str]]:
    """One line per collection, then the means."""
    figures = []
    for name, (high, removed, foreign) in confidences.items():
        point = (
            answerable.point_at(THRESHOLD, high, removed).false_alarms,
            *(answerable.point_at(THRESHOLD, high, low).misses for low in (removed, foreign)),
        )
        areas = answerable.auc_interval(high, removed), answerable.auc_interval(high, foreign)
        figures.append([each.mean for each in (*areas, *point)])
        yield [name, str(len(high)), *map(_interval, areas), *(f"{each.mean:.1%}" for each in point)]
    means = np.mean(figures, axis=0)
    yield ["mean", "", *(f"{value:.3f}" for value in means[:2]), *(f"{value:.1%}" for value in means[2:])]


def curve_rows(confidences: Mapping[str, tuple[list[float], ...]]) -> Iterator[list[str]]:
    """The errors of thresholds, as means over the collections."""
    for threshold in THRESHOLDS:
        points = [
            (answerable.point_at(threshold, high, removed), answerable.point_at(threshold, high, foreign))
            for high, removed, foreign in confidences.values()
        ]
        rates = [(first.false_alarms.mean, first.misses.mean, second.misses.mean) for first, second in points]
        yield [f"{threshold:g}", *(f"{value:.1%}" for value in np.mean(rates, axis=0))]


def coefficient_rows(model: LogisticModel) -> Iterator[list[str]]:
    """The coefficients, as they are to stand in the code."""
    yield ["intercept", f"{model.intercept:.2f}"]
    yield from ([name, f"{weight:.2f}"] for name, weight in model.coefficients.items())


def _interval(interval: Interval) -> str:
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"
