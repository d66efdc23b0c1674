"""Fine-tuning: what an embedder learns from, torch weights from int8 ones, and a real training of a tiny model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.models.finetune import FineTuner
from core.adapters.models.hub import HubEmbedder
from core.adapters.models.onnx import OnnxEmbedder
from core.adapters.models.torch_weights import bert_parameters, torch_folder
from core.adapters.models.weights import bundled
from core.errors import Cancelled, Corrupt
from core.evaluation.learning.triplets import FineTuning, Lesson, Triplet, batches, epoch, mined, steps
from core.settings import load
from tests.test_hub import tiny

numbers = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(st.lists(numbers, max_size=3), st.sets(st.integers(0, 30)))
def test_hard_negatives_come_from_every_leg_in_turn_and_are_never_relevant(
    legs: list[list[int]], right: set[int]
) -> None:
    pool = mined(legs, right)
    assert not right & set(pool)
    assert len(set(pool)) == len(pool)
    assert set(pool) == {chunk for leg in legs for chunk in leg} - right or len(pool) == 20


def lessons(count: int = 9) -> list[Lesson]:
    return [Lesson(f"q{n}", f"cash day {n}", {2 * n: 1.0, 2 * n + 1: 2.0}, tuple(range(40, 46))) for n in range(count)]


def test_an_epoch_has_one_triplet_per_question_and_is_the_same_for_the_same_seed() -> None:
    settings = FineTuning()
    first = epoch(lessons(), settings, 0)
    assert first == epoch(lessons()[::-1], settings, 0), "the order in which questions come does not matter"
    assert first != epoch(lessons(), settings, 1)
    assert sorted(triplet.text for triplet in first) == sorted(lesson.text for lesson in lessons())
    for triplet in first:
        assert triplet.positive in triplet.relevant
        assert len(set(triplet.negatives)) == 3
        assert not triplet.relevant & set(triplet.negatives)


@given(st.integers(1, 70), st.integers(2, 32), st.integers(1, 4))
def test_a_training_has_as_many_steps_as_it_said(questions: int, size: int, epochs: int) -> None:
    made = [batch for n in range(epochs) for batch in batches(epoch(lessons(questions), FineTuning(), n), size)]
    assert len(made) == steps(questions, size, epochs)
    assert all(len(batch) > 1 for batch in made)


# ---------------------------------------------------------------- torch weights


def field(number: int, value: bytes | int) -> bytes:
    """One field of a protobuf message; values below 128 take one byte."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    size = len(value)
    return bytes([number << 3 | 2, *([size] if size < 128 else [size & 127 | 128, size >> 7])]) + value


def tensor(name: str, kind: int, shape: list[int], raw: bytes, number: int = 9) -> bytes:
    dims = b"".join(field(1, size) for size in shape)
    return field(5, dims + field(2, kind) + field(8, name.encode()) + field(number, raw))


def test_int8_matrices_are_multiplied_out_under_the_names_of_their_nodes() -> None:
    node = "".join(["/encoder/layer.0/attention/self/query/MatMul", "_quant"])
    inputs = [b"a_quantized", b"w_quantized", b"a_zero_point", b"w_zero_point"]
    graph = field(1, b"".join(field(1, name) for name in inputs) + field(3, node.encode()) + field(4, b"MatMulInteger"))
    graph += tensor("embeddings.LayerNorm.weight", 1, [2], np.array([1, 2], "<f4").tobytes())
    for stem in ("w", "embeddings.word_embeddings.weight"):
        graph += tensor(f"{stem}_quantized", 2, [2, 3], bytes([128, 129, 130, 127, 126, 128]))
        graph += tensor(f"{stem}_scale", 1, [], np.array(0.5, "<f4").tobytes(), number=4)
        graph += tensor(f"{stem}_zero_point", 2, [], bytes([0x80, 0x01]), number=5)  # 128, as int32_data holds it
    read = bert_parameters(field(7, graph))
    right = np.array([[0, 0.5, 1.0], [-0.5, -1.0, 0]], np.float32)
    np.testing.assert_array_equal(read["embeddings.word_embeddings.weight"], right)
    np.testing.assert_array_equal(read["encoder.layer.0.attention.self.query.weight"], right.T)
    with pytest.raises(Corrupt, match="no ONNX model"):
        bert_parameters(b"")


@pytest.mark.slow
def test_a_bundled_model_says_the_same_on_torch(tmp_path: Path) -> None:
    models, weights = load().models, bundled("bge-small-en-v1.5-int8")
    folder = torch_folder(weights, models, tmp_path / "base")
    ours, theirs = HubEmbedder(str(folder), wanted="cpu"), OnnxEmbedder(weights, models, 2)
    texts = [
        "Currency reports are filed within 15 days.",
        "Copies are kept for five years.",
        "Holidays need a manager.",
    ]
    assert ((ours.documents(texts) * theirs.documents(texts)).sum(axis=1) > 0.995).all()
    assert float(ours.query("how long are copies kept") @ theirs.query("how long are copies kept")) > 0.99


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
