"""Vectors and scores of a cross-encoder that come along with the starter knowledge base, so that its first start
computes none.

Vectors: one line of JSON says by which model and weights they were made, how many there are of each kind, and the
checksum of the rest: the keys of all texts, then one row of float16 for each. Scores: JSON by question and passage. A
file that does not fit gives back nothing, as if it were not there. `make vectors` writes both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.adapters.system.files import read_json

if TYPE_CHECKING:
    import numpy as np

KEY = 20  # bytes that name a text
QUERY = "query "  # before the name of a model: its vectors of questions


class ShippedVectors:
    """The vectors of a file, by model and key; `weights` has the checksum of every model that may use them."""

    def __init__(self, path: Path, weights: Mapping[str, str]) -> None:
        self.path, self.weights = path, weights

    def get(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, np.ndarray]:
        """Those that the file has."""
        if model.removeprefix(QUERY) not in self.weights or not keys:
            return {}
        rows = self._rows.get(model, {})
        return {key: rows[key] for key in keys if key in rows}

    @cached_property
    def _rows(self) -> dict[str, dict[bytes, np.ndarray]]:
        try:
            head, _, body = self.path.read_bytes().partition(b"\n")
            facts = json.loads(head)
        except (OSError, ValueError):
            return {}
        same = facts["weights"] == self.weights.get(facts["model"])
        return _rows(facts, body) if same and facts["sum"] == _sum(body) else {}


def _rows(facts: Mapping[str, int], body: bytes) -> dict[str, dict[bytes, np.ndarray]]:
    import numpy as np

    count = facts["documents"] + facts["queries"]
    keys = [body[n : n + KEY] for n in range(0, count * KEY, KEY)]
    vectors = np.frombuffer(body[count * KEY :], np.float16).reshape(count, -1).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    known = list(zip(keys, vectors, strict=True))
    model = str(facts["model"])
    return {model: dict(known[: facts["documents"]]), QUERY + model: dict(known[facts["documents"] :])}


def ship(
    path: Path,
    model: str,
    weights: str,
    documents: Mapping[bytes, np.ndarray],
    queries: Mapping[bytes, np.ndarray],
) -> int:
    """Write such a file; its bytes."""
    import numpy as np

    both = [*sorted(documents.items()), *sorted(queries.items())]
    body = b"".join(key for key, _ in both) + np.stack([vector for _, vector in both]).astype(np.float16).tobytes()
    counts = {"documents": len(documents), "queries": len(queries)}
    head = json.dumps({"model": model, "weights": weights, **counts, "sum": _sum(body)}).encode()
    return path.write_bytes(head + b"\n" + body)


class ShippedScores:
    """How well passages answer the questions of the sample, by a cross-encoder; `weights` as above."""

    def __init__(self, path: Path, weights: Mapping[str, str]) -> None:
        self.path, self.weights = path, weights

    def get(self, model: str, query: str, texts: Sequence[str]) -> tuple[list[float], float] | None:
        """One score per text, and the milliseconds that they took where they were made; None if one is missing."""
        if model not in self.weights or self._facts.get("weights") != self.weights[model]:
            return None
        known = self._facts["scores"].get(query, {})
        scores = [known.get(_short_key(text)) for text in texts]
        return None if None in scores else (scores, self._facts["ms"] * len(texts))

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = read_json(self.path) or {}
        return facts


def ship_scores(path: Path, weights: str, ms: float, scores: Mapping[tuple[str, str], float]) -> int:
    """Write such a file, of scores by question and passage; its characters."""
    by_question: dict[str, dict[str, float]] = {}
    for (query, text), score in sorted(scores.items()):
        by_question.setdefault(query, {})[_short_key(text)] = round(score, 4)
    facts = {"weights": weights, "ms": round(ms), "scores": by_question}
    return path.write_text(json.dumps(facts, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _short_key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _sum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
