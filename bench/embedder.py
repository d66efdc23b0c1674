"""`python -m bench.embedder FOLDER BASE OUT`: an embedder before and after fine-tuning on a collection's own training
questions.

FOLDER is a BEIR folder with `qrels/train.tsv` and `qrels/test.tsv`, BASE a folder for sentence-transformers, or the
folder of the bundled
models, whose int8 weights are then turned back into torch weights. Documents are one text each. Test questions are
measured by meaning
alone and with words, as the product fuses them; OUT gets a JSON and a Markdown file. It needs torch,
sentence-transformers, numpy and
PyStemmer, and nothing else of the product's packages.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.models.finetune import FineTuner
from core.adapters.models.hub import HubEmbedder
from core.adapters.models.torch_weights import torch_folder
from core.adapters.models.weights import BUNDLED
from core.analysis import analyser
from core.evaluation.learning.triplets import FineTuning, Lesson, mined
from core.evaluation.measures.by_name import ndcg
from core.evaluation.statistics import compare
from core.retrieval import config as configs
from core.retrieval.candidates import fuse, stored
from core.types import LexicalOptions, SearchConfig

DEPTH = 30
WAYS = ("dense", "convex-0.5", "tm2c2-0.9")  # by meaning alone, and two ways with words


@dataclass(frozen=True, slots=True)
class Questions:
    """Texts by id, and grades of documents by their place in the corpus."""

    texts: Mapping[str, str]
    qrels: Mapping[str, Mapping[int, float]]


class DocumentBm25:
    """BM25 over whole documents with the product's analyser."""

    def __init__(self, texts: Sequence[str], options: LexicalOptions = LexicalOptions()) -> None:
        self.analyse = analyser(options)
        counts = [Counter(self.analyse(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], float)
        norms = options.k1 * (1 - options.b + options.b * lengths / lengths.mean())
        postings: dict[str, list[tuple[int, int]]] = {}
        for n, count in enumerate(counts):
            for term, times in count.items():
                postings.setdefault(term, []).append((n, times))
        self.size, self.postings = len(texts), {}
        for term, found in postings.items():
            at, times = np.array([n for n, _ in found]), np.array([t for _, t in found], float)
            rarity = log((self.size - len(found) + 0.5) / (len(found) + 0.5) + 1)
            self.postings[term] = (at, rarity * times * (options.k1 + 1) / (times + norms[at]))

    def scores(self, question: str) -> np.ndarray:
        total = np.zeros(self.size)
        for term in self.analyse(question):
            if term in self.postings:
                at, gains = self.postings[term]
                total[at] += gains
        return total


def main() -> None:
    """Read, mine, train, measure, write."""
    options = _options()
    ids, corpus = _corpus(options.folder)
    train, test = (_questions(options.folder, split, ids) for split in ("train", "test"))
    held = _documents(test)
    if options.apart:
        train = _kept(train, [q for q, grades in train.qrels.items() if not held & _relevant(grades)])
    train, test = _some(train, options.questions), _some(test, options.test)
    corpus = _shrunk(corpus, [train, test], options.documents)
    base = _base(options.base, options.out)
    print(
        f"{len(corpus)} documents, {len(train.texts)} training questions, {len(test.texts)} test questions", flush=True
    )
    words = DocumentBm25(corpus)
    embedder = HubEmbedder(base)
    before = embedder.documents(corpus)
    lessons = _lessons(train, words, embedder, before)
    settings = FineTuning(options.epochs, options.rate, tokens=options.tokens, batch=options.batch, seed=options.seed)
    tuner = FineTuner(base, settings)
    began = time.monotonic()
    losses = tuner.train(lessons, corpus.__getitem__, _told)
    seconds = time.monotonic() - began
    tuner.save(options.out / "model")
    scored = {"before": _measured(test, words, embedder, before)}
    tuned = HubEmbedder(str(options.out / "model"))
    scored["after"] = _measured(test, words, tuned, tuned.documents(corpus))
    shared = _documents(train)
    apart = [n for n, q in enumerate(test.texts) if not shared & _relevant(test.qrels[q])]
    report = {
        "collection": options.folder.name,
        "documents": len(corpus),
        "training_questions": len(lessons),
        "test_questions": len(test.texts),
        "apart_from_test": options.apart,
        "settings": {**asdict(settings), "batch": tuner.batch},
        "device": tuner.device,
        "seconds": round(seconds, 1),
        "steps": len(losses),
        "loss": [round(float(np.mean(part)), 4) for part in np.array_split(losses, min(len(losses), 8))],
        "ways": {way: _compared(scored, way, None) for way in WAYS},
        "ways_where_no_relevant_document_was_trained_on": (
            {way: _compared(scored, way, apart) for way in WAYS} if len(apart) > 1 else {}
        ),
    }
    _write(report, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--tokens", type=int, default=256, help="tokens that training reads of a text")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--apart", action="store_true", help="drop training questions that share an answer with a test one"
    )
    parser.add_argument("--questions", type=int, default=0, help="so many training questions (default: all)")
    parser.add_argument("--test", type=int, default=0, help="so many test questions (default: all)")
    parser.add_argument("--documents", type=int, default=0, help="judged documents and so many others (default: all)")
    return parser.parse_args()


# ---------------------------------------------------------------- the collection


def _corpus(folder: Path) -> tuple[dict[str, int], list[str]]:
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [f"{row.get('title', '')}\n\n{row['text']}".strip() for row in rows]
    return {str(row["_id"]): n for n, row in enumerate(rows)}, texts


def _questions(folder: Path, split: str, ids: Mapping[str, int]) -> Questions:
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {str(row["_id"]): " ".join(row["text"].split()) for row in rows}
    qrels: dict[str, dict[int, float]] = {}
    for line in (folder / "qrels" / f"{split}.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if document in ids:
            qrels.setdefault(question, {})[ids[document]] = float(grade)
    kept = sorted(question for question, grades in qrels.items() if question in texts and _relevant(grades))
    return _kept(Questions(texts, qrels), kept)


def _kept(questions: Questions, kept: Sequence[str]) -> Questions:
    return Questions({q: questions.texts[q] for q in kept}, {q: questions.qrels[q] for q in kept})


def _some(questions: Questions, most: int) -> Questions:
    names = sorted(questions.texts)
    return _kept(questions, sorted(random.Random(1).sample(names, most)) if 0 < most < len(names) else names)


def _relevant(grades: Mapping[int, float]) -> set[int]:
    return {document for document, grade in grades.items() if grade > 0}


def _documents(questions: Questions) -> set[int]:
    return {document for grades in questions.qrels.values() for document in _relevant(grades)}


def _shrunk(corpus: list[str], parts: Sequence[Questions], others: int) -> list[str]:
    """For a quick try: texts that are neither judged nor among the first others become empty."""
    if not others:
        return corpus
    needed = set[int]().union(*(_documents(part) for part in parts)) | set(range(others))
    return [text if n in needed else "" for n, text in enumerate(corpus)]


def _base(folder: Path, out: Path) -> str:
    if (folder / "modules.json").is_file():
        return str(folder)
    weights = next(weights for weights in BUNDLED if weights.kind == "embedder" and weights.default)
    return str(torch_folder(weights, folder, out / "base"))


# ---------------------------------------------------------------- training and measuring


def _lessons(train: Questions, words: DocumentBm25, embedder: HubEmbedder, vectors: np.ndarray) -> list[Lesson]:
    lessons = []
    for question, text in train.texts.items():
        grades = {document: grade for document, grade in train.qrels[question].items() if grade > 0}
        legs = [_best(words.scores(text)), _best(vectors @ embedder.query(text))]
        lessons.append(Lesson(question, text, grades, mined(legs, grades)))
    return lessons


def _best(scores: np.ndarray, most: int = DEPTH) -> list[int]:
    order = np.argsort(-scores, kind="stable")[:most]
    return [int(n) for n in order if scores[n] > 0]


def _measured(
    test: Questions, words: DocumentBm25, embedder: HubEmbedder, vectors: np.ndarray
) -> dict[str, list[float]]:
    """nDCG@10 of every test question for every way."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for question, text in test.texts.items():
        legs = {"bm25": words.scores(text), "dense": vectors @ embedder.query(text)}
        for way in WAYS:
            order = _ranked(legs, replace(configs.parse(way), depth=DEPTH))
            grades = {str(document): grade for document, grade in test.qrels[question].items()}
            found[way].append(ndcg([str(document) for document in order], grades, 10))
    return found


def _ranked(legs: Mapping[str, np.ndarray], config: SearchConfig) -> list[int]:
    retrieved = {leg: {n: float(legs[leg][n]) for n in _best(legs[leg], config.depth)} for leg in config.legs}
    scores = {leg: {n: float(legs[leg][n]) for ranking in retrieved.values() for n in ranking} for leg in config.legs}
    floors = {leg: 0.0 if leg == "bm25" else -1.0 for leg in config.legs}
    return list(fuse(stored(retrieved, scores, floors), config).ranking)


def _compared(
    scored: Mapping[str, Mapping[str, Sequence[float]]], way: str, only: Sequence[int] | None
) -> dict[str, Any]:
    before, after = (np.array(scored[when][way]) for when in ("before", "after"))
    rows = slice(None) if only is None else list(only)
    compared = compare(before[rows].tolist(), after[rows].tolist())
    gap = compared.difference
    return {
        "questions": compared.queries,
        "before": round(float(before[rows].mean()), 4),
        "after": round(float(after[rows].mean()), 4),
        "difference": round(gap.mean, 4),
        "low": round(gap.low, 4),
        "high": round(gap.high, 4),
        "wins": compared.wins,
        "losses": compared.losses,
        "verdict": compared.verdict,
        "p": round(compared.p, 4),
    }


def _told(done: int, total: int, what: str) -> None:
    if done % 10 == 0:
        print(f"{done}/{total} {what}", flush=True)


def _write(report: Mapping[str, Any], out: Path) -> None:
    head = (
        f"{report['collection']}: {report['training_questions']} training questions, {report['test_questions']} test"
        f" questions, {report['steps']} steps in {report['seconds']} s on {report['device']}"
    )
    lines = [head, "", "| nDCG@10 | questions | before | after | difference |", "|---|---|---|---|---|"]
    parts = {"": "ways", ", documents not trained on": "ways_where_no_relevant_document_was_trained_on"}
    for suffix, key in parts.items():
        for way, row in report[key].items():
            gap = f"{row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f}), {row['verdict']}"
            lines.append(f"| {way}{suffix} | {row['questions']} | {row['before']:.4f} | {row['after']:.4f} | {gap} |")
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (out / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
