"""Torch weights from a bundled int8 ONNX file, so that a bundled embedder can be trained without a hub.

Each int8 matrix is multiplied out with its scale and zero point; names of nodes give the names of parameters. The
result is a folder that sentence-transformers reads. Only what is needed of ONNX's protobuf is read, so no package is
needed for it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.adapters.models.weights import Weights, model_folder
from core.cures import fetch_model
from core.errors import Corrupt

_GRAPH, _NODE, _TENSOR = 7, 1, 5  # fields of ModelProto and GraphProto
_KINDS: Mapping[int, str] = {1: "<f4", 2: "<u1", 3: "<i1", 7: "<i8"}  # TensorProto.DataType
_INT8 = "_quantized"
HEAD = 32  # dimensions of an attention head in models of 384


def torch_folder(weights: Weights, models: Path, out: Path) -> Path:
    """A folder for sentence-transformers with the weights of a bundled transformer; written once."""
    if not (out / "modules.json").is_file():
        source = model_folder(models, weights)
        parameters = bert_parameters((source / weights.files[0][0]).read_bytes())
        fresh = out.with_name(f"{out.name}.part")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        _write(fresh, parameters, source / "tokenizer.json", weights)
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)
    return out


def bert_parameters(onnx: bytes) -> dict[str, np.ndarray]:
    """The parameters of a BERT in float32 by their names in transformers."""
    graph = next((part for number, part in _fields(memoryview(onnx)) if number == _GRAPH), None)
    if graph is None:
        raise Corrupt("The file is no ONNX model: it has no graph.", fetch_model())
    parts = list(_fields(graph))
    tensors = dict(_tensor(part) for number, part in parts if number == _TENSOR)
    parameters = {name: value for name, value in tensors.items() if _is_parameter(name) and value.dtype == "f4"}
    tables = [name.removesuffix(_INT8) for name in tensors if name.startswith("embeddings.") and name.endswith(_INT8)]
    parameters |= {table: _multiplied_out(table, tensors) for table in tables}
    for number, part in parts:
        inputs, name, kind = _node(part) if number == _NODE else ([], "", "")
        if kind == "MatMulInteger" and inputs[1] in tensors:
            parameter = f"{name.strip('/').rsplit('/', 1)[0].replace('/', '.')}.weight"
            parameters[parameter] = _multiplied_out(inputs[1].removesuffix(_INT8), tensors).T.copy()
    width = len(parameters["embeddings.LayerNorm.weight"])
    blank = {
        "pooler.dense.weight": np.zeros((width, width), np.float32),
        "pooler.dense.bias": np.zeros(width, np.float32),
    }
    return parameters | blank  # a layer that BERT has and sentence-transformers does not read


def _is_parameter(name: str) -> bool:
    return name.startswith(("embeddings.", "encoder.")) and name.endswith((".weight", ".bias"))


def _multiplied_out(stem: str, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """The float matrix behind an int8 one."""
    zero = tensors[f"{stem}_zero_point"].astype(np.int32)
    whole = (tensors[f"{stem}{_INT8}"].astype(np.int32) - zero).astype(np.float32)
    return whole * tensors[f"{stem}_scale"].astype(np.float32)


# ---------------------------------------------------------------- protobuf


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The numbered fields of a protobuf message: numbers, or the bytes of what is nested."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number in seven bits a byte, and where it ends.

    >>> _varint(memoryview(bytes([0x96, 0x01])), 0)
    (150, 2)
    """
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _tensor(data: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(data))
    shape = [value for number, value in fields if number == 1]
    kind = next((value for number, value in fields if number == 2), 0)
    name = next((bytes(value).decode() for number, value in fields if number == 8), "")
    raw = b"".join(bytes(value) for number, value in fields if number in {4, 9})  # float_data and raw_data
    listed = [integer for number, value in fields if number == 5 for integer in _numbers(value)]
    if kind not in _KINDS or not (raw or listed):
        return name, np.zeros(0, np.uint8)
    values = np.frombuffer(raw, _KINDS[kind]) if raw else np.array(listed).astype(_KINDS[kind])
    return name, values.reshape(shape)


def _numbers(value: Any) -> Iterator[int]:
    """One number, or several packed into bytes: int32_data, as zero points have it."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _node(data: memoryview) -> tuple[list[str], str, str]:
    """Inputs, name and operation."""
    texts: dict[int, list[str]] = {1: [], 3: [""], 4: [""]}
    for number, value in _fields(data):
        if number in texts:
            texts[number].append(bytes(value).decode())
    return texts[1], texts[3][-1], texts[4][-1]


# ---------------------------------------------------------------- the folder


def _write(folder: Path, parameters: Mapping[str, np.ndarray], tokenizer: Path, weights: Weights) -> None:
    from safetensors.numpy import save_file

    save_file(dict(parameters), folder / "model.safetensors", {"format": "pt"})
    shutil.copy(tokenizer, folder / "tokenizer.json")
    tokens = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "sep", "pad", "cls", "mask")}
    files: dict[str, Any] = {
        "config.json": _config(parameters),
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "model_max_length": weights.limit, **tokens},
        "sentence_bert_config.json": {"max_seq_length": weights.limit},
        "config_sentence_transformers.json": {"prompts": {"query": weights.prefix, "document": ""}},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": weights.dimension, "pooling_mode": weights.pooling},
    }
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")


def _config(parameters: Mapping[str, np.ndarray]) -> dict[str, Any]:
    words, places = (parameters[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position"))
    layers = sum(name.endswith("intermediate.dense.weight") for name in parameters)
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": words.shape[0],
        "hidden_size": words.shape[1],
        "num_hidden_layers": layers,
        "num_attention_heads": words.shape[1] // HEAD,
        "intermediate_size": parameters["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "max_position_embeddings": places.shape[0],
        "type_vocab_size": parameters["embeddings.token_type_embeddings.weight"].shape[0],
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
