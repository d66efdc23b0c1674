"""What a form can choose from: named search configurations, and profiles that have an index."""

from __future__ import annotations

from core.access import Actor
from core.evaluation.runs.run import label
from core.retrieval.presets import learned_alpha, presets, titled
from core.types import SearchConfig
from pages.ui.workspace import app


def choices(actor: Actor) -> dict[str, SearchConfig]:
    """Configurations by name: production, presets, learned alphas, then what the team saved."""
    saved = {name: column.config for name, column in app().playground.notebook.saved(actor).items()}
    learned = {f"Learned alpha: {name}": learned_alpha(name) for name in app().tuning.alphas.names()}
    return {"Production": app().platform.settings.production().config, **presets(), **learned, **saved}


def called(config: SearchConfig) -> str:
    """What people call a configuration, the same on every page: the title of its preset, else its method."""
    return titled(config) or label(config)


def built_profiles(actor: Actor) -> list[str]:
    """Names of the profiles that have an index."""
    return [profile.name for profile, serving in app().index.admin.profiles(actor) if serving is not None]
