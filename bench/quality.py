"""Retrieval quality on public collections, through the same command that everybody can run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIGS = (
    "bm25",
    "dense",
    "convex-0.3",
    "convex-0.5",
    "convex-0.7",
    "tm2c2-0.5",
    "rrf-60",
    "rsf",
    "dbsn",
    "combsum",
    "combmnz",
)
PUBLISHED = {"scifact": {"bm25": 0.679, "dense": 0.713}, "nfcorpus": {"bm25": 0.322, "dense": 0.343}}


def measure(home: Path, folder: Path) -> list[dict[str, Any]]:
    """One row per configuration."""
    results = []
    for config in CONFIGS:
        command = [
            sys.executable,
            "-m",
            "core",
            "--home",
            str(home / "quality"),
            "eval",
            "beir",
            str(folder),
            "--config",
            config,
            "--json",
            "--quiet",
        ]
        results.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return results


def rows(measured: list[dict[str, Any]]) -> list[list[str]]:
    """Lines of a table."""
    return [
        [
            result["dataset"],
            result["config"],
            f"{result['nDCG@10']:.4f}",
            f"{PUBLISHED.get(result['dataset'], {}).get(result['config'], '')}",
            f"{result['Recall@100']:.4f}",
            f"{result['MRR@10']:.4f}",
            result["queries"],
            f"{1000 * result['seconds'] / max(1, result['queries']):.1f}",
        ]
        for result in measured
    ]
