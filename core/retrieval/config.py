"""Search configurations by name or as JSON. A name round-trips: `name(parse(x)) == x`."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from core import strict
from core.errors import BadInput
from core.retrieval.fusion import FUSIONS, NORMALISATIONS
from core.retrieval.rerank import CASCADE, METHODS, PROMPTS
from core.types import Frozen, SearchConfig

LEGS = ("bm25", "dense", "tfidf", "sparse", "graph", "pagerank")
MISSING = ("exact", "floor", "absent")
RERANK = ("off", "always", "conditional")
ALPHA_FROM = ("fixed", "learned", "llm", "rules")
WEIGHTED = ("convex", "rrf", "rsf", "dbsn")  # fusions that weigh their legs
NAMES = (
    "bm25",
    "dense",
    "tfidf",
    "sparse",
    "convex-<alpha>",
    "tm2c2-<alpha>",
    "rrf-<k>",
    "rsf",
    "dbsn",
    "combsum",
    "combmnz",
    "graph",
    "pagerank",
    "trimodal",
)
DEFAULT = SearchConfig(fusion="convex", normalisation="minmax", alpha=0.5)
PRODUCTION = replace(DEFAULT, depth=30)  # until an admin promotes another one

_PLAIN = {
    "bm25": SearchConfig(legs=("bm25",), fusion="single", normalisation="none"),
    "dense": SearchConfig(legs=("dense",), fusion="single", normalisation="none"),
    "tfidf": SearchConfig(legs=("tfidf",), fusion="single", normalisation="none"),
    "sparse": SearchConfig(legs=("sparse",), fusion="single", normalisation="none"),
    "rsf": SearchConfig(fusion="rsf", normalisation="minmax", missing="absent"),
    "dbsn": SearchConfig(fusion="dbsn", normalisation="zscore", missing="absent"),
    "combsum": SearchConfig(fusion="combsum", normalisation="minmax", missing="absent"),
    "combmnz": SearchConfig(fusion="combmnz", normalisation="minmax", missing="absent"),
    "graph": SearchConfig(legs=("graph",), fusion="single", normalisation="none"),
    "pagerank": SearchConfig(legs=("pagerank",), fusion="single", normalisation="none"),
    "trimodal": SearchConfig(  # the cascade study's static weights
        legs=("bm25", "dense", "graph"), weights=Frozen({"bm25": 0.35, "dense": 0.5, "graph": 0.15})
    ),
}
_SUFFIXES: dict[str, dict[str, Any]] = {
    "hyde": {"hyde": True},
    "rerank": {"rerank": "always"},
    "listwise": {"rerank": "always", "reranker": "listwise"},
    "slidegar": {"rerank": "always", "reranker": "slidegar", "depth": 50, "rerank_depth": 50},  # the chatbot study
    "cascade": {"rerank": "always", "reranker": "cascade", "depth": CASCADE[0], "rerank_depth": CASCADE[0]},
}
SUFFIXES = ", ".join(f"+{suffix}" for suffix in ("rerank", "listwise", "slidegar", "cascade", "hyde"))

_NUMBERED = re.compile(r"(convex|tm2c2|rrf)-(\d+(?:\.\d+)?)")


def parse(text: str) -> SearchConfig:
    """A configuration from its name, or from JSON that may start from a name with the key `base`.

    >>> parse("convex-0.3").alpha, parse("rrf-60").rrf_k, parse("dense+rerank").rerank
    (0.3, 60, 'always')
    >>> parse('{"base": "tm2c2-0.5", "depth": 50}').depth
    50
    """
    if not text.lstrip().startswith("{"):
        return _named(text.strip())
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise BadInput(f"The configuration is not valid JSON: {error}.") from None
    return from_mapping(raw)


def from_mapping(raw: dict[str, Any]) -> SearchConfig:
    """A configuration from plain values; unknown keys are refused."""
    base = _named(str(raw["base"])) if isinstance(raw, dict) and "base" in raw else DEFAULT
    rest = {key: value for key, value in raw.items() if key != "base"} if isinstance(raw, dict) else raw
    return check(strict.parse(SearchConfig, {**strict.plain(base), **rest}, "configuration"))


def _named(text: str) -> SearchConfig:
    plain, *suffixes = text.split("+")
    config = _PLAIN.get(plain) or _numbered(plain)
    for suffix in suffixes:
        if suffix not in _SUFFIXES:
            raise BadInput(f"There is no configuration {text!r}. After the name only {SUFFIXES} may follow.")
        config = replace(config, **_SUFFIXES[suffix])
    if "".join(f"+{suffix}" for suffix in suffixes) != _suffix(config):
        raise BadInput(f"There is no configuration {text!r}. Name +hyde first, then at most one reranker.")
    return config


def _suffix(config: SearchConfig) -> str:
    """How a name says what comes on top of the fusion."""
    spoken = {"cross-encoder": "+rerank"}.get(config.reranker, f"+{config.reranker}")
    return ("+hyde" if config.hyde else "") + (spoken if config.rerank == "always" else "")


def _numbered(text: str) -> SearchConfig:
    match = _NUMBERED.fullmatch(text)
    if not match:
        raise BadInput(
            f"There is no configuration {text!r}. Names: {', '.join(NAMES)}, each with an optional {SUFFIXES}; or JSON."
        )
    kind, number = match[1], float(match[2])
    if kind == "rrf":
        return check(SearchConfig(fusion="rrf", normalisation="none", rrf_k=int(number), missing="absent"))
    return check(SearchConfig(fusion="convex", normalisation="minmax" if kind == "convex" else "tm2c2", alpha=number))


def check(config: SearchConfig) -> SearchConfig:
    """The configuration, if its values make sense together."""
    _one_of("fusion", config.fusion, FUSIONS)
    _one_of("normalisation", config.normalisation, NORMALISATIONS)
    _one_of("missing", config.missing, MISSING)
    _one_of("rerank", config.rerank, RERANK)
    _one_of("reranker", config.reranker, METHODS)
    _one_of("rerank_prompt", config.rerank_prompt, PROMPTS)
    _one_of("alpha_from", config.alpha_from, ALPHA_FROM)
    for leg in (*config.legs, *config.weights):
        _one_of("legs", leg, LEGS)
    if not config.legs or len(set(config.legs)) != len(config.legs):
        raise BadInput("configuration.legs: name at least one leg, and each only once.")
    if config.fusion == "single" and len(config.legs) != 1:
        raise BadInput("configuration.fusion: 'single' takes exactly one leg.")
    for key, low, high in (
        ("alpha", 0.0, 1.0),
        ("tau", 0.0, 1.0),
        ("rerank_blend", 0.0, 1.0),
        ("rrf_k", 1, 10_000),
        ("depth", 1, 1000),
        ("k", 1, 1000),
        ("rerank_depth", 1, 1000),
    ):
        if not low <= getattr(config, key) <= high:
            raise BadInput(f"configuration.{key}: {getattr(config, key)} is not between {low} and {high}.")
    _check_weights(config)
    if config.alpha_from != "fixed":
        _check_alpha(config)
    return config


def _check_weights(config: SearchConfig) -> None:
    if not all(0 <= weight < math.inf for weight in config.weights.values()):
        raise BadInput("configuration.weights: weights are finite numbers and not negative.")
    if config.weights and not any(config.weights.get(leg) for leg in config.legs):
        raise BadInput(f"configuration.weights: one of {', '.join(config.legs)} must weigh more than zero.")


def _check_alpha(config: SearchConfig) -> None:
    """A weight per query needs a fusion that weighs, no weights by hand, and, when learned, a model and two legs."""
    if config.fusion not in WEIGHTED or config.weights:
        raise BadInput(
            f"configuration.alpha_from: {config.alpha_from!r} needs a fusion that weighs its legs "
            f"({', '.join(WEIGHTED)}) and no weights by hand."
        )
    if config.alpha_from != "learned":
        return
    if not config.alpha_model:
        raise BadInput("configuration.alpha_model: name the model that predicts alpha.")
    if config.fusion != "convex" or not _two_sided(config):
        raise BadInput("configuration.alpha_from: 'learned' needs convex fusion of dense and one other leg.")


def _two_sided(config: SearchConfig) -> bool:
    return len(config.legs) == 2 and "dense" in config.legs


def _one_of(key: str, value: str, known: Any) -> None:
    if value not in known:
        raise BadInput(f"configuration.{key}: {value!r} is unknown. Known: {', '.join(known)}.")


def weights(config: SearchConfig) -> dict[str, float]:
    """The weight of each leg: as given, else from alpha for convex fusion, else equal.

    >>> weights(parse("convex-0.3"))
    {'bm25': 0.7, 'dense': 0.3}
    """
    if config.weights:
        return {leg: float(config.weights.get(leg, 0.0)) for leg in config.legs}
    if config.fusion == "convex" and _two_sided(config):
        return {leg: config.alpha if leg == "dense" else round(1.0 - config.alpha, 12) for leg in config.legs}
    return dict.fromkeys(config.legs, 1.0)


@lru_cache(maxsize=1024)
def name(config: SearchConfig) -> str:
    """The name of a method; how deep it looks and how many hits it shows are not part of it.

    >>> name(parse("tm2c2-0.5+rerank")), name(parse("dense+hyde+cascade")), name(replace(DEFAULT, k=3))
    ('tm2c2-0.5+rerank', 'dense+hyde+cascade', 'convex-0.5')
    """
    suffix, number = _suffix(config), f"{config.alpha:g}"
    for candidate in (*_PLAIN, f"rrf-{config.rrf_k}", f"convex-{number}", f"tm2c2-{number}"):
        known = _named(candidate + suffix)
        same = replace(known, depth=config.depth, k=config.k, rerank_depth=config.rerank_depth, tau=config.tau)
        if same == config:
            return candidate + suffix
    return f"custom-{strict.digest(config, 8)}"
