"""Models of sentence-transformers from a folder: batches, windows, devices, training. The model is made on the spot,
with random weights. Whatever needs torch stands here: importing it takes eight CPU seconds, in one process of
tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.models import hub
from core.adapters.models.finetune import FineTuner, LocalTrainer
from core.adapters.models.hub import HubEmbedder, HubReranker, device
from core.adapters.models.registry import ModelRegistry
from core.adapters.web.endpoints import Endpoints
from core.errors import Cancelled, Unavailable
from core.evaluation.learning.triplets import FineTuning, Lesson, Triplet
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

    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: asked.append(address) or [])  # type: ignore[func-returns-value]
    with pytest.raises(Unavailable, match="CONCORD_OFFLINE=no"):
        ModelRegistry(tmp_path, 1, offline=True).embedder("nobody/no-such-model")
    assert [
        address for address in asked if address[0] != "localhost"
    ] == []  # a thread of an earlier test may ask for that


def test_an_unknown_hub_model_offline_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="CONCORD_OFFLINE=no"):
        ModelRegistry(tmp_path, 1, offline=True).embedder("nobody/no-such-model")


# ---------------------------------------------------------------- a tiny model learns for real

PASSAGES = ["cash is counted twice a day", "two people", "a query is a passage", "day by day", "people is people"]


def test_training_moves_questions_to_their_passages_and_says_how_long_it_takes(tmp_path: Path) -> None:
    base = tiny(tmp_path / "base", prompts={"query": "query: ", "document": "passage: "})
    taught = [
        Lesson("a", "counted cash", {0: 1.0}, (1, 2, 3)),
        Lesson("b", "two", {1: 1.0}, (0, 2, 4)),
        Lesson("c", "passage", {2: 1.0}, (0, 1, 4)),
    ]
    tuner = FineTuner(base, FineTuning(epochs=12, rate=1e-3, tokens=16), wanted="cpu")
    told: list[tuple[int, int, str]] = []
    losses = tuner.train(taught, PASSAGES.__getitem__, lambda *step: told.append(step))
    assert losses[-1] < losses[0] / 2
    assert told[0][2].endswith("the first step is measured")
    assert told[-1] == (12, 12, "Training on cpu: less than a minute left")
    tuner.save(tmp_path / "tuned")
    assert (tmp_path / "tuned" / "model.safetensors").is_file()
    assert not list((tmp_path / "tuned").rglob("*.bin"))
    tuned = HubEmbedder(str(tmp_path / "tuned"), wanted="cpu")
    scores = tuned.documents(PASSAGES) @ tuned.query("two")
    assert int(scores.argmax()) == 1


def test_training_stops_at_the_step_at_which_it_is_told_to(tmp_path: Path) -> None:
    tuner = FineTuner(tiny(tmp_path / "base"), FineTuning(tokens=16), wanted="cpu")
    seen: list[int] = []

    def stop(done: int, total: int, what: str) -> None:
        seen.append(done)
        if done == 2:
            raise Cancelled("Stopped.")

    taught = [Lesson(str(n), "cash", {n: 1.0}, (3, 4)) for n in range(3)]
    with pytest.raises(Cancelled):
        tuner.train(taught, PASSAGES.__getitem__, stop)
    assert seen == [0, 1, 2]


def test_another_passage_that_answers_the_question_does_not_count_against_it(tmp_path: Path) -> None:
    tuner = FineTuner(tiny(tmp_path / "base"), FineTuning(tokens=16), wanted="cpu")
    tuner.model.eval()
    other = Triplet("day", 3, (), frozenset({3}))
    strict, lenient = (
        tuner._loss([Triplet("cash", 0, (), frozenset(right)), other], PASSAGES.__getitem__).item()
        for right in ({0}, {0, 3})
    )
    assert lenient < strict


def test_a_trained_embedder_is_found_by_its_name_and_only_there(tmp_path: Path) -> None:
    Path(tiny(tmp_path / "made")).rename(tmp_path / "mine")
    registry = ModelRegistry(tmp_path / "models", 1, True, tuned=tmp_path)
    assert registry.embedder("tuned:mine").name == "tuned:mine"
    for name in ("tuned:other", "tuned:../mine", "tuned:"):
        with pytest.raises(Unavailable, match="There is no trained embedder"):
            registry.embedder(name)


def test_a_training_that_is_stopped_leaves_nothing_behind(tmp_path: Path) -> None:
    trainer = LocalTrainer(tmp_path / "embedders", tmp_path / "models", tmp_path / "torch", wanted="cpu")

    def stop(done: int, total: int, what: str) -> None:
        if done == 1:
            raise Cancelled("Stopped.")

    lessons = [Lesson(str(n), "cash", {n: 1.0}, (3, 4)) for n in range(3)]
    with pytest.raises(Cancelled):
        trainer.train(tiny(tmp_path / "base"), "mine", lessons, lambda n: f"day {n}", FineTuning(tokens=16), stop)
    assert trainer.names() == ()
