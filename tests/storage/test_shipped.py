"""Vectors that come along with the starter knowledge base: read by content, model and weights, and worth reading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.bootstrap import App
from core.chunking import with_context
from core.profiles import DEFAULT
from core.services.evaluation.cached_candidates import ReadOnce
from core.services.platform.base import shipped_vectors
from core.storage.cache.shipped import QUERY, ShippedScores, ShippedVectors, ship, ship_scores
from core.storage.cache.vectors import EmbeddingCache, text_key
from tests.conftest import WordReranker

MODEL, WEIGHTS = "a-model", {"a-model": "its weights"}
ROWS = {text_key(text): np.array(row, np.float32) for text, row in (("one", [0.6, 0.8]), ("two", [1, 0]))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ship(tmp_path / "vectors.bin", MODEL, "its weights", ROWS, {text_key("one"): np.array([0, 1], np.float32)})
    return tmp_path / "vectors.bin"


def test_the_cache_gives_back_what_came_along_and_keeps_what_is_new(file: Path, tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings.db", ShippedVectors(file, WEIGHTS))
    found = cache.get(MODEL, ["one", "two", "three"])
    assert np.allclose(found["one"], [0.6, 0.8], atol=1e-3)
    assert set(found) == {"one", "two"}
    assert np.isclose(np.linalg.norm(found["one"]), 1, atol=1e-7)
    assert cache.get(QUERY + MODEL, ["one"])["one"].tolist() == [0, 1]
    cache.put(MODEL, {"one": np.array([1, 0], np.float32)})
    assert cache.get(MODEL, ["one"])["one"].tolist() == [1, 0], "what was computed here comes first"


@pytest.mark.parametrize("other", [{"a-model": "other weights"}, {"b-model": "its weights"}, {}])
def test_other_weights_get_nothing(file: Path, other: dict[str, str]) -> None:
    assert not ShippedVectors(file, other).get(MODEL, list(ROWS))


def test_a_file_that_is_cut_or_damaged_gives_nothing(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    for n in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:n])
        assert not ShippedVectors(file, WEIGHTS).get(MODEL, list(ROWS))
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert not ShippedVectors(file, WEIGHTS).get(MODEL, list(ROWS))
    assert not ShippedVectors(tmp_path / "none", WEIGHTS).get(MODEL, list(ROWS))


def test_nine_of_ten_passages_of_the_starter_base_come_along(kb_app: App) -> None:
    """More than a tenth edited since: write the file anew with `make vectors`."""
    index = kb_app.search.searcher.index()
    keys = [text_key(with_context(index.context(n), index.excerpt(n))) for n in range(index.size)]
    assert len(shipped_vectors().get(DEFAULT.embedder, keys)) >= 0.9 * len(keys)


def test_scores_come_along_by_question_passage_and_weights(tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    ship_scores(file, "its weights", 81.4, {("who?", "one"): 1.23456, ("who?", "two"): -2.0})
    known = ShippedScores(file, WEIGHTS)
    assert known.get(MODEL, "who?", ["two", "one"]) == ([-2.0, 1.2346], 162)
    assert known.get(MODEL, "who?", ["one", "three"]) is None
    assert known.get(MODEL, "what?", ["one"]) is None
    assert ShippedScores(file, {MODEL: "others"}).get(MODEL, "who?", ["one"]) is None
    assert ShippedScores(tmp_path / "none", WEIGHTS).get(MODEL, "who?", ["one"]) is None


def test_a_run_takes_known_scores_with_their_time_and_asks_for_the_others() -> None:
    spent: list[float] = []

    def known(model, query, texts):
        return ([9.0] * len(texts), 5.0) if query == "known" else None

    reader = ReadOnce(known).of(WordReranker(), spent)
    assert (reader.scores("known", ["a", "b"]), spent) == ([9.0, 9.0], [5.0])
    assert reader.scores("a new one", ["a", "b"]) == [1.0, 0.0]
