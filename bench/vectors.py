"""Chunks embedded a CPU second beside the bare session of the same model on the same texts, and what threads, batches
and padding cost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import ROOT
from bench.measure import cpu
from core.adapters.models.onnx import OnnxEmbedder, unit
from core.adapters.models.weights import bundled, model_folder
from core.chunking import embedded_text, profile_chunker
from core.curation.document.frontmatter import read_document
from core.profiles import DEFAULT
from core.settings import load

CORES = os.cpu_count() or 1
AT_ONCE, ROUNDS = 32, 2  # texts that every way embeds in its turn
HEADS = ("way", "chunks per CPU s", "CPU ms per chunk", "CPU against the bare session", "least cosine to ours")

Way = Callable[[Sequence[str]], np.ndarray]


def passages(embedder: OnnxEmbedder) -> list[str]:
    """The passages of the starter knowledge base as they are embedded, every n-th of them."""
    split = profile_chunker(DEFAULT, embedder)
    files = sorted((ROOT / "kb").rglob("*.md"))
    documents = [read_document(str(file.relative_to(ROOT / "kb")), file.read_text(encoding="utf-8")) for file in files]
    texts = [embedded_text(chunk) for document in documents for chunk in split(document)]
    return texts[:: len(texts) // (AT_ONCE * ROUNDS)][: AT_ONCE * ROUNDS]


class BareSession:
    """ONNX Runtime and the tokenizer, and nothing else."""

    def __init__(self, root: Path, threads: int = 1) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        folder, options = model_folder(root, bundled(DEFAULT.embedder)), onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(512)
        self.session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def batched(self, texts: Sequence[str], size: int = 1, by_length: bool = False) -> np.ndarray:
        """Vectors by batches that are padded to their longest text."""
        ids = [self.tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(ids)), key=lambda n: len(ids[n])) if by_length else range(len(ids))
        rows = np.zeros((len(ids), 384), np.float32)
        for n in range(0, len(ids), size):
            some = list(order)[n : n + size]
            shape = (len(some), max(len(ids[one]) for one in some))
            tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            for at, one in enumerate(some):
                tokens[at, : len(ids[one])], mask[at, : len(ids[one])] = ids[one], 1
            feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
            for one, vector in zip(some, self.session.run(None, feed)[0][:, 0], strict=True):
                rows[one] = unit(vector)
        return rows


def ways(root: Path) -> dict[str, Way]:
    """What is measured in one run, the bare session first."""
    weights = bundled(DEFAULT.embedder)
    bare, spread = BareSession(root), BareSession(root, CORES)
    return {
        "the bare session, one text at a time": bare.batched,
        "ours, one thread": OnnxEmbedder(weights, root, 1).documents,
        f"ours, {CORES} threads on texts of their own": OnnxEmbedder(weights, root, CORES).documents,
        f"the bare session with {CORES} threads inside": spread.batched,
        "batches of 8, by length": partial(bare.batched, size=8, by_length=True),
        "batches of 8, as they come": partial(bare.batched, size=8),
        "batches of 32, by length": partial(bare.batched, size=32, by_length=True),
    }


def measure() -> list[list[str]]:
    """One row per way. They take turns: what slows the machine for a while slows all of them."""
    root = load().models
    texts, known = passages(OnnxEmbedder(bundled(DEFAULT.embedder), root, 1)), ways(root)
    spent = {name: [0.0, 1.0] for name in known}
    for way in known.values():
        way(texts[:2])
    for n in range(0, len(texts), AT_ONCE):
        some, rows = texts[n : n + AT_ONCE], {}
        for name, way in known.items():
            before = cpu()
            rows[name] = way(some)
            spent[name][0] += cpu() - before
        ours = rows["ours, one thread"]
        for name, vectors in rows.items():
            spent[name][1] = min(spent[name][1], float((vectors * ours).sum(axis=1).min()))
    bare = next(iter(spent.values()))[0]
    return [
        [name, f"{len(texts) / used:.1f}", f"{1000 * used / len(texts):.0f}", f"{used / bare:.2f}x", f"{cosine:.4f}"]
        for name, (used, cosine) in spent.items()
    ]
