"""Synonyms and pins as a commit has them. A file that cannot be read counts for nothing, and `SynonymsAndPins` says
so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from core.curation.words import pins, synonyms
from core.curation.words.pins import Pin
from core.curation.words.synonyms import Synonym
from core.errors import BadInput, NotFound
from core.retrieval.query_rules import NO_RULES, QueryRules, compile_rules
from core.types import LexicalOptions

if TYPE_CHECKING:
    from core.storage.git.repository import Repository

T = TypeVar("T")


class QueryRuleFiles:
    """Reads the two files of a commit, once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.rules = lru_cache(maxsize=64)(self._rules)

    def raw(self, commit: str, file: str) -> bytes:
        """The bytes of a file, none where there is no such file."""
        try:
            return self.repository.read(commit, file) if commit else b""
        except NotFound:
            return b""

    def synonyms(self, commit: str) -> tuple[Synonym, ...]:
        return synonyms.read(self.raw(commit, synonyms.FILE))

    def pins(self, commit: str) -> tuple[Pin, ...]:
        return pins.read(self.raw(commit, pins.FILE))

    def problems(self, commit: str) -> tuple[str, ...]:
        """Why a file of a commit cannot be read: somebody wrote it past the review."""
        found = []
        for read in (self.synonyms, self.pins):
            try:
                read(commit)
            except BadInput as error:
                found.append(str(error))
        return tuple(found)

    def _rules(self, commit: str, options: LexicalOptions) -> QueryRules:
        listed, pinned = _or_none(self.synonyms, commit), _or_none(self.pins, commit)
        return compile_rules(listed, pinned, options) if listed or pinned else NO_RULES


def _or_none(read: Callable[[str], tuple[T, ...]], commit: str) -> tuple[T, ...]:
    try:
        return read(commit)
    except BadInput:
        return ()
