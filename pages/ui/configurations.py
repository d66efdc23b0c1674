"""What a form can choose from: named search configurations, and profiles that have an index."""

from __future__ import annotations

from core.retrieval.presets import learned_alpha, presets
from core.types import SearchConfig
from pages.ui.workspace import app


def choices() -> dict[str, SearchConfig]:
    """Configurations by name: production, presets, learned alphas, then what the team saved."""
    saved = {name: column.config for name, column in app().playground.notebook.saved().items()}
    learned = {f"Learned alpha: {name}": learned_alpha(name) for name in app().tuning.alphas.names()}
    return {"Production": app().platform.settings.production().config, **presets(), **learned, **saved}


def built_profiles() -> list[str]:
    """Names of the profiles that have an index."""
    current = app()
    return [
        profile.name
        for profile in current.platform.settings.profiles()
        if current.index.generations.current(profile) is not None
    ]
