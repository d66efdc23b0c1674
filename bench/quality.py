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
    made = []
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
        made.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return made


def rows(measured: list[dict[str, Any]]) -> list[list[str]]:
    """Lines of a table."""
    return [
        [
            one["dataset"],
            one["config"],
            f"{one['nDCG@10']:.4f}",
            f"{PUBLISHED.get(one['dataset'], {}).get(one['config'], '')}",
            f"{one['Recall@100']:.4f}",
            f"{one['MRR@10']:.4f}",
            one["queries"],
            f"{1000 * one['seconds'] / max(1, one['queries']):.1f}",
        ]
        for one in measured
    ]
