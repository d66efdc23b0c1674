"""The room of words, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.platform.base import Base
from core.services.reviews.changes import Changes
from core.services.words.words import SynonymsAndPins


@dataclass(frozen=True, slots=True)
class WordRoom:
    """Synonyms and pinned answers."""

    rules: SynonymsAndPins


def wire(base: Base, changes: Changes) -> WordRoom:
    return WordRoom(SynonymsAndPins(base.rule_files, base.documents, changes))
