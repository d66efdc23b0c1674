"""What a chunker may use besides the document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.chunking.ruler import words
from core.ports import Tokens


def _no_embedder(texts: Sequence[str]) -> Any:
    from core.errors import Unavailable

    raise Unavailable("This chunker compares sentences by meaning and needs an embedder. Name one in the profile.")


@dataclass(frozen=True, slots=True)
class Tools:
    """The profile's tokenizer, and its embedder for chunkers that compare meaning."""

    tokens: Tokens = words
    embed: Callable[[Sequence[str]], Any] = _no_embedder
