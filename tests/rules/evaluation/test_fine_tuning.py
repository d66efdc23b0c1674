"""Fine-tuning: what an embedder learns from, and torch weights from int8 ones. What trains for real is in test_hub."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.models.hub import HubEmbedder
from core.adapters.models.onnx import OnnxEmbedder
from core.adapters.models.torch_weights import bert_parameters, torch_folder
from core.adapters.models.weights import bundled
from core.errors import Corrupt
from core.evaluation.learning.triplets import FineTuning, Lesson, batches, epoch, mined, steps
from core.settings import load

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
