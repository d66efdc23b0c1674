"""Prices of models in dollars per million tokens, from a file that the settings name. Nothing is guessed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core import strict
from core.errors import BadInput, Unavailable
from core.types import NOTHING

_PROVIDER = re.compile(r"[a-z]{2,}:")  # openai:, bedrock:; other names are models on this machine


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of a call.

        >>> Price(0.15, 0.60).of(2_000_000, 500_000)
        0.6
        """
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


FREE = Price()


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model. Names that start with one of `free` cost nothing unless the table says otherwise."""

    table: Mapping[str, Price] = field(default_factory=lambda: NOTHING)
    free: tuple[str, ...] = ()

    def of(self, model: str) -> Price:
        """The price of a model; an unknown one is refused, not guessed.

        >>> Prices(free=("openai:",)).of("openai:llama3").input
        0.0
        """
        bare = model.partition("?")[0]
        if bare in self.table:
            return self.table[bare]
        if not _PROVIDER.match(bare) or bare.startswith(self.free):
            return FREE
        raise Unavailable(
            f"No price is known for {bare!r}, so the budget could not hold. Add it to the file that CONCORD_PRICES "
            "names: "
            f'{{"{bare}": {{"input": DOLLARS, "output": DOLLARS}}}}, in dollars for a million tokens; 0 if it is free.'
        )


def read_prices(path: Path | None, free: tuple[str, ...] = ()) -> Prices:
    """Prices from a JSON file: `{"openai:gpt-4o-mini": {"input": 0.15, "output": 0.6}}`."""
    if path is None:
        return Prices(NOTHING, free)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"The prices in {path} cannot be read: {error}.") from None
    if not isinstance(raw, dict):
        raise BadInput(f"The prices in {path} must be a mapping of models to prices.")
    table = {model: strict.parse(Price, value, f"{path.name}: {model}") for model, value in raw.items()}
    for model, price in table.items():
        if not all(0 <= value < math.inf for value in (price.input, price.output)):
            raise BadInput(f"{path.name}: {model}: a price must be a number from 0 up.")
    return Prices(table, free)


@dataclass(frozen=True, slots=True)
class OfferedModels:
    """Names by what a model does; `others` says whether names outside the lists may work, at an endpoint or a hub, and
    `absent` has bundled ones that were not fetched."""

    embedders: tuple[str, ...] = ()
    rerankers: tuple[str, ...] = ()
    llms: tuple[str, ...] = ()
    others: bool = False
    absent: tuple[str, ...] = ()


def offered(
    embedders: Sequence[str], rerankers: Sequence[str], prices: Prices, llm: str, others: bool
) -> OfferedModels:
    """Local models first, then priced ones; a name with "embed" in it embeds.

    >>> from core.services.models.prices import Price
    >>> table = {"openai:text-embedding-3": Price(), "openai:gpt": Price()}
    >>> offered(["bge"], [], Prices(table), "openai:gpt", True).embedders
    ('bge', 'openai:text-embedding-3')
    """
    paid = [name for name in prices.table if ":" in name]
    writing = [name for name in paid if "embed" not in name]
    return OfferedModels(
        (*embedders, *(name for name in paid if "embed" in name)),
        tuple(rerankers),
        tuple(dict.fromkeys(name for name in (llm, *writing) if name)),
        others,
    )
