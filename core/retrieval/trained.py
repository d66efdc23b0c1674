"""Models that are trained here: kept as JSON under a name, and served only where they were trained for.

A kind of them is one record: `ALPHA` in `alpha/learned.py`, `RANKER` in `rerankers/learned.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from core import strict
from core.cures import train_model
from core.errors import ConcordError, Corrupt, Refused
from core.types import SearchConfig


class TrainedModel(Protocol):
    """What every trained model says of itself."""

    @property
    def name(self) -> str: ...
    @property
    def trained_for(self) -> str: ...
    @property
    def format(self) -> int: ...


M = TypeVar("M", bound=TrainedModel)
M_co = TypeVar("M_co", bound=TrainedModel, covariant=True)


class TrainedModels(Protocol[M_co]):
    """Trained models of a kind, by name."""

    def model(self, name: str) -> M_co:
        """A model with its evidence."""
        ...

    def serving(self, name: str) -> Any:
        """What a search uses of it: the predictor of alpha, the ranker itself."""
        ...


@dataclass(frozen=True, slots=True)
class TrainedKind(Generic[M]):
    """How models of a kind are called, stored, read and refused."""

    model: type[M]
    title: str
    word: str  # for it, where it is clear which kind is meant
    folder: str  # of the workspace's models
    setting: str  # of a configuration, which names it
    purpose: Callable[
        [SearchConfig, str], str
    ]  # a digest of configuration and profile as far as they shape what it sees
    readable: Callable[[M], bool]
    serving: Callable[[M], Any] = lambda model: model  # what a search uses of it; refuses what cannot be used

    def to_json(self, model: M) -> str:
        """Plain JSON, never pickle."""
        return strict.canonical(model)

    def from_json(self, text: str, where: str) -> M:
        """A model from JSON; Corrupt says what is wrong with it."""
        titled = f"{'an' if self.title[0] in 'aeiou' else 'a'} {self.title}"
        try:
            model = strict.parse(self.model, json.loads(text), where)
        except (ValueError, ConcordError) as error:
            raise Corrupt(f"{where} is not {titled}: {error}") from None
        if not self.readable(model):
            raise Corrupt(
                f"{where} is {titled} of format {model.format}, which this version cannot read. Train it again."
            )
        return model

    def check_purpose(self, model: M, config: SearchConfig, profile: str) -> None:
        """Refuse to serve what the model was not trained for."""
        if model.trained_for != self.purpose(config, profile):
            raise Refused(
                f"The {self.title} {model.name!r} was trained for another way of searching or another profile.",
                train_model(self.title),
            )
