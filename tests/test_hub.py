"""Models of sentence-transformers from a folder: batches, windows, devices. The model is made on the spot, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.models import hub
from core.adapters.models.hub import HubEmbedder, HubReranker, device
from core.adapters.models.registry import ModelRegistry
from core.adapters.web.endpoints import Endpoints
from core.errors import Unavailable
from core.settings import load

WORDS = ["cash", "is", "counted", "twice", "a", "day", "by", "two", "people", "query", "passage", ":"]


def tiny(folder: Path, *, prompts: dict[str, str] | None = None, reranker: bool = False) -> str:
    """A BERT of 2 layers and 32 dimensions that reads 16 tokens, saved as sentence-transformers saves one."""
    import torch
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    torch.manual_seed(7)
    base = folder / "base"
    base.mkdir(parents=True)
    vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    BertTokenizerFast(vocab=vocabulary, model_max_length=16).save_pretrained(base)
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=16,
        num_labels=1,
    )
    (BertForSequenceClassification if reranker else BertModel)(config).save_pretrained(base)
    if reranker:
        CrossEncoder(str(base), device="cpu", max_length=16).save_pretrained(str(folder / "model"))
    else:
        reader = Transformer(str(base), max_seq_length=16)
        modules = [reader, Pooling(reader.get_embedding_dimension())]
        SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save(str(folder / "model"))
    return str(folder / "model")


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> HubEmbedder:
    folder = tmp_path_factory.mktemp("hub")
    return HubEmbedder(tiny(folder, prompts={"query": "query: ", "document": "passage: "}), wanted="cpu")


@pytest.fixture
def calls(embedder: HubEmbedder, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The windows of each call of the model."""
    seen: list[list[str]] = []
    encode = embedder._model.encode

    def counted(windows: list[str], **options: Any) -> np.ndarray:
        seen.append(list(windows))
        rows: np.ndarray = encode(windows, **options)
        return rows

    monkeypatch.setattr(embedder._model, "encode", counted)
    return seen


def test_300_texts_are_encoded_in_three_calls_longest_first(embedder: HubEmbedder, calls: list[list[str]]) -> None:
    texts = [" ".join(["cash"] * (1 + n % 9)) for n in range(300)]
    told: list[int] = []
    rows = embedder.documents(texts, lambda done, total, _: told.append(done))
    assert [len(some) for some in calls] == [128, 128, 44]
    lengths = [len(window) for some in calls for window in some]
    assert lengths == sorted(lengths, reverse=True)
    assert told == [128, 256, 300]
    assert rows.shape == (300, 32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(embedder: HubEmbedder) -> None:
    texts = ["cash is counted", "two people", "", "cash is counted twice a day by two people " * 5]
    together = embedder.documents(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.allclose(embedder.documents([text])[0], row, atol=1e-5)
    assert embedder.documents([]).shape == (0, 32)


def test_a_text_over_the_limit_is_read_whole_beside_its_prompt(embedder: HubEmbedder, calls: list[list[str]]) -> None:
    text = " ".join(WORDS[:9] * 4)
    long, short = embedder.documents([text])[0], embedder.documents([" ".join(WORDS[:9])])[0]
    windows = calls[0]
    assert len("".join(windows)) == len(text)
    assert all(len(embedder.tokens(f"passage: {window}")) + 2 <= embedder.limit for window in windows)
    assert len(windows) == 3
    assert not np.allclose(long, short, atol=1e-4)


def test_questions_and_passages_have_prompts_of_their_own(embedder: HubEmbedder) -> None:
    assert not np.allclose(embedder.query("cash"), embedder.documents(["cash"])[0], atol=1e-4)


def test_a_cross_encoder_from_a_folder_scores_and_counts_what_it_cuts(tmp_path: Path) -> None:
    reranker = HubReranker(tiny(tmp_path, reranker=True), wanted="cpu")
    assert len(reranker.scores("cash", ["cash is counted", "two people"])) == 2
    assert reranker.cuts("cash", ["two people", "a day " * 20]) == 1


def test_the_best_device_is_taken_and_the_settings_may_name_another(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device() == "cpu"
    with pytest.raises(Unavailable, match=r"CONCORD_DEVICE is cuda:1, .* It finds: cpu\."):
        device("cuda:1")
    with pytest.raises(Unavailable, match="CONCORD_DEVICE is gpu"):
        device("gpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device() == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [device(), device("cpu"), device("cuda:1")] == ["cuda", "cpu", "cuda:1"]
    assert hub._BATCH["cpu"] < hub._MANY


def test_the_registry_hands_the_device_on(tmp_path: Path) -> None:
    settings = load({"CONCORD_DEVICE": "npu"})
    with pytest.raises(Unavailable, match="CONCORD_DEVICE is npu"):
        ModelRegistry(tmp_path, 1, True, Endpoints(settings)).embedder(str(tmp_path))


def test_offline_no_hub_is_asked_even_if_the_packages_were_loaded_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """HF_HUB_OFFLINE is read when the package is loaded; later it says nothing."""
    import socket

    import sentence_transformers  # noqa: F401

    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: asked.append(address) or [])  # type: ignore[func-returns-value]
    with pytest.raises(Unavailable, match="CONCORD_OFFLINE=no"):
        ModelRegistry(tmp_path, 1, offline=True).embedder("nobody/no-such-model")
    assert asked == []


def test_an_unknown_hub_model_offline_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="CONCORD_OFFLINE=no"):
        ModelRegistry(tmp_path, 1, offline=True).embedder("nobody/no-such-model")
