"""What people call a run, and the measures that several runs share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core import profiles
from core.evaluation.runs.run import Run, distinct
from core.retrieval import config as configs
from core.types import SearchConfig
from pages.ui import identity
from pages.ui.configurations import called, choices
from pages.ui.workspace import app

FIRST = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "MAP@10", "P@1", "P@5")


def shared_measures(runs: Sequence[Run]) -> list[str]:
    """Measures that every run has, the usual ones first."""
    shared = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    return [name for name in FIRST if name in shared] + [name for name in shared if name not in FIRST]


def names(runs: Sequence[Run]) -> dict[str, str]:
    """A name per run: the title of its preset, else its method; production is marked."""
    titles = {_digest(config): title for title, config in choices(identity.me()).items() if title != "Production"}
    methods = {run.id: f"{_profile(run)}{titles.get(_digest(run.config), called(run.config))}" for run in runs}
    unique, now = distinct(runs, methods), app().platform.settings.production()
    production = (profiles.identity(now.profile), configs.identity(now.config))
    return {
        run.id: unique[run.id] + (" · production" if (run.profile_digest, run.config_digest) == production else "")
        for run in runs
    }


def _profile(run: Run) -> str:
    return "" if run.profile == app().platform.settings.production().profile.name else f"{run.profile}: "


def _digest(config: SearchConfig) -> str:
    """A configuration whatever its depth and length."""
    return configs.identity(replace(config, depth=1, k=1, rerank_depth=1))
