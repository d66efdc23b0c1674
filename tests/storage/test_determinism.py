"""The same commit and the same configuration give the same result, whatever the process and the number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from core.bootstrap import App, build
from core.profiles import DEFAULT
from core.retrieval.config import parse
from core.settings import load

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ("who approves a refund", "cold chain 8 °C excursion")
CONFIGS = ("convex-0.5", "rrf-60", "trimodal", '{"base": "convex-0.5+rerank", "rerank_depth": 2}')
SEARCH = """
import json, sys
from pathlib import Path
from core.bootstrap import build
from core.settings import load
from tests.storage.test_determinism import found
print(json.dumps(found(build(load(home=Path(sys.argv[1]))))))
"""


def found(app: App) -> list[list[object]]:
    rows: list[list[object]] = []
    for config in CONFIGS:
        for query in QUERIES:
            result = app.search.searcher.search(query, config=parse(config))
            rows.append([config, query, [[hit.chunk, repr(hit.score)] for hit in result.hits], list(result.warnings)])
    return rows


def answers(home: Path, threads: int, omp: int, seed: int) -> list[list[object]]:
    """What a fresh process finds."""
    environment = {
        **os.environ,
        "CONCORD_THREADS": str(threads),
        "OMP_NUM_THREADS": str(omp),
        "OPENBLAS_NUM_THREADS": str(omp),
        "NUMBA_NUM_THREADS": str(omp),
        "PYTHONHASHSEED": str(seed),
    }
    command = [sys.executable, "-c", SEARCH, str(home)]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    rows: list[list[object]] = json.loads(made.stdout)
    return rows


def test_processes_and_thread_counts_find_the_same_chunks_with_the_same_scores(kb_app: App) -> None:
    one = found(build(load({}, home=kb_app.settings.home, threads=1)))
    assert len(one) == len(QUERIES) * len(CONFIGS)
    assert all(hits for _, _, hits, _ in one)
    assert answers(kb_app.settings.home, threads=2, omp=2, seed=2) == one


def test_one_thread_embeds_documents_as_two_do(tmp_path: Path) -> None:
    texts = [path.read_text()[:600] for path in sorted((ROOT / "kb").rglob("*.md"))[:6]]
    rows = [
        build(load({}, home=tmp_path, threads=threads)).models.registry.embedder(DEFAULT.embedder).documents(texts)
        for threads in (1, 2)
    ]
    assert np.array_equal(*rows)
