"""What is trained on judged questions: each thing says how it is checked, trained as a job and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from core.access import Actor
from core.curation.document.names import free_name
from core.errors import BadInput
from core.ports import Progress
from core.retrieval.trained import TrainedKind
from core.services.platform.settings import TeamSettings


class TrainingResult(Protocol):
    """What a training gave."""

    def plain(self) -> dict[str, Any]:
        """With its evidence, as plain values that a job stores and a page shows again."""
        ...


@dataclass(frozen=True, slots=True)
class Trainable:
    """One thing that is trained; arguments are those of its job."""

    job: str  # the kind of job
    check: Callable[[Mapping[str, Any]], object]  # refuses before a job is started
    train: Callable[[Actor, Mapping[str, Any], Progress], TrainingResult]


def writable_name(kind: TrainedKind[Any], team_settings: TeamSettings, name: str, default: str = "") -> str:
    """A name that may be written: what is or was in production must not change."""
    promoted = {getattr(promotion.production.config, kind.setting) for promotion in team_settings.promotions()}
    if name and name in promoted:
        raise BadInput(
            f"The {kind.word} {name!r} is or was in production, so it stays as it is. Choose another --name."
        )
    return name or free_name(default, promoted)
