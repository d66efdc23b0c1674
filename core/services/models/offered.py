"""Which models there are to choose from: on this machine, and behind endpoints with a known price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.services.models.prices import Prices


@dataclass(frozen=True, slots=True)
class OfferedModels:
    """Names by what a model does; `others` says whether names outside the lists may work, at an endpoint or a hub."""

    embedders: tuple[str, ...] = ()
    rerankers: tuple[str, ...] = ()
    llms: tuple[str, ...] = ()
    others: bool = False


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
