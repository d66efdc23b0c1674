"""Search configurations by name or as JSON. A name round-trips: `name(parse(x)) == x`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from core import strict
from core.errors import BadInput
from core.parameter import Parameter
from core.retrieval.alpha import ALPHAS
from core.retrieval.fusions import FUSIONS
from core.retrieval.legs import LEGS
from core.retrieval.methods import Spelling
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.parameters import PARAMETERS
from core.retrieval.prompts import PROMPTS, TUNED
from core.retrieval.rerankers import RERANKERS
from core.retrieval.rerankers.rerank import BY_TAU, RERANK
from core.retrieval.scaling import MISSING, two_sided
from core.types import FIELDS, Frozen, SearchConfig

DEFAULT = SearchConfig(fusion="convex", normalisation="minmax", alpha=0.5)
PRODUCTION = replace(DEFAULT, depth=30)  # of workspaces that were made before there was a recommendation
RECOMMENDED = SearchConfig(  # what new workspaces start with (docs/research/benchmarks.md)
    normalisation="tm2c2",
    alpha=0.9,
    depth=30,
    fields=Frozen({"title": 1.5, "path": 0.5}),
    documents=True,
    collapse=True,
)
TRIMODAL = SearchConfig(  # the cascade study's legs and static weights
    legs=("sparse", "dense", "pagerank"), weights=Frozen({"sparse": 0.35, "dense": 0.5, "pagerank": 0.15})
)
TRIMODAL_GRAPH = SearchConfig(  # the same weights for BM25 and the thesis's local search in the graph
    legs=("bm25", "dense", "graph"), weights=Frozen({"bm25": 0.35, "dense": 0.5, "graph": 0.15})
)

TWO_HOPS = replace(  # the recommended one, then a second look that can lift what the first hit leads to
    RECOMMENDED, legs=("bm25", "dense", "hop"), weights=Frozen({"bm25": 0.1, "dense": 0.9, "hop": 0.15})
)

CHOICES: Mapping[str, Mapping[str, Any]] = {
    "fusion": FUSIONS,
    "normalisation": NORMALISATIONS,
    "missing": MISSING,
    "rerank": RERANK,
    "reranker": RERANKERS,
    "rerank_prompt": PROMPTS,
    "alpha_from": ALPHAS,
}
"""Fields of a configuration that name a method or an option, and what they may name."""

LATER = {
    "engines",
    "rerank_orders",
    "fields",
    "documents",
    "synonyms",
    "pins",
    "collapse",
}  # fields that older workspaces do not know
MOST = 10  # times the passage: the largest weight of a field
_NUMBERED = re.compile(r"(.+)-(\d+(?:\.\d+)?)")


def spellings() -> Iterator[Spelling]:
    """Every name of a configuration: single legs, fusions, documents with their titles, and the tri-modal ones."""
    for leg in LEGS:
        yield Spelling(leg, SearchConfig(legs=(leg,), fusion="single", normalisation="none"))
    for fusion in FUSIONS.values():
        yield from fusion.spellings
    yield Spelling("documents", RECOMMENDED, "alpha")
    yield Spelling("trimodal", TRIMODAL)
    yield Spelling("trimodal-graph", TRIMODAL_GRAPH)
    yield Spelling("two-hops", TWO_HOPS)


def names() -> str:
    """The names of configurations, as help texts list them."""
    return ", ".join(spelling.pattern for spelling in spellings())


def suffixes() -> str:
    """What may follow a name, as help texts list it."""
    return ", ".join((*(f"+{method.suffix}" for method in RERANKERS.values()), "+hyde"))


def help_text() -> str:
    """What a configuration may be, for the help of a command."""
    return f'{names()}, each with an optional {suffixes()}, then @engine; or JSON with an optional "base"'


def parse(text: str) -> SearchConfig:
    """A configuration from its name, or from JSON that may start from a name with the key `base`.

    >>> parse("convex-0.3").alpha, parse("rrf-60").rrf_k, parse("dense+rerank").rerank
    (0.3, 60, 'always')
    >>> parse('{"base": "tm2c2-0.5", "depth": 50}').depth, parse("bm25@duckdb").engines
    (50, {'bm25': 'duckdb'})
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


@lru_cache(maxsize=1024)
def _named(text: str) -> SearchConfig:
    text, *engines = text.split("@")
    config = _suffixed(text)
    return replace(config, engines=Frozen(_engine(engine, config) for engine in engines)) if engines else config


def _engine(engine: str, config: SearchConfig) -> tuple[str, str]:
    """The leg that an engine answers for."""
    for leg in config.legs:
        if engine in LEGS[leg].engines:
            return leg, engine
    known = [name for leg in config.legs for name in LEGS[leg].engines]
    raise BadInput(f"No leg has an engine {engine!r}. Engines here: {', '.join(known) or 'none'}.")


def _suffixed(text: str) -> SearchConfig:
    plain, *added = text.split("+")
    config = _spelled(plain)
    for suffix in added:
        config = replace(config, **_settings(suffix, text))
    if "".join(f"+{suffix}" for suffix in added) != _suffix(config):
        raise BadInput(f"There is no configuration {text!r}. Name +hyde first, then at most one reranker.")
    return config


def _settings(suffix: str, text: str) -> dict[str, Any]:
    """What a suffix sets."""
    if suffix == "hyde":
        return {"hyde": True}
    method = next((method for method in RERANKERS.values() if method.suffix == suffix), None)
    if method is None:
        raise BadInput(f"There is no configuration {text!r}. After the name only {suffixes()} may follow.")
    return {"rerank": "always", "reranker": method.name, **method.settings}


def _suffix(config: SearchConfig) -> str:
    """How a name says what comes on top of the fusion."""
    reranked = f"+{RERANKERS[config.reranker].suffix}" if config.rerank == "always" else ""
    return ("+hyde" if config.hyde else "") + reranked


def _spelled(text: str) -> SearchConfig:
    numbered = _NUMBERED.fullmatch(text)
    for spelling in spellings():
        if not spelling.number and spelling.stem == text:
            return spelling.config
        if spelling.number and numbered and spelling.stem == numbered[1]:
            return check(replace(spelling.config, **{spelling.number: _number(spelling.number, numbered[2])}))
    raise BadInput(f"There is no configuration {text!r}. Names: {help_text()}.")


def _number(parameter: str, text: str) -> Any:
    if not PARAMETERS[parameter].whole:
        return float(text)
    if not text.isdigit():
        raise BadInput(f"configuration.{parameter}: {text} is not a whole number.")
    return int(text)


def check(config: SearchConfig) -> SearchConfig:
    """The configuration, if its values make sense together."""
    for key, known in CHOICES.items():
        if key != "rerank_prompt" or not TUNED.fullmatch(
            config.rerank_prompt
        ):  # whether it is there, a search finds out
            _one_of(key, getattr(config, key), known)
    for leg in (*config.legs, *config.weights, *config.engines):
        _one_of("legs", leg, LEGS)
    if not config.legs or len(set(config.legs)) != len(config.legs):
        raise BadInput("configuration.legs: name at least one leg, and each only once.")
    if not FUSIONS[config.fusion].several and len(config.legs) != 1:
        raise BadInput(f"configuration.fusion: {config.fusion!r} takes exactly one leg.")
    for parameter in PARAMETERS.values():
        value = getattr(config, parameter.name)
        if not parameter.admits(value):
            raise BadInput(
                f"configuration.{parameter.name}: {value} is not between {parameter.low} and {parameter.high}."
            )
    for leg, engine in config.engines.items():
        _one_of(f"engines.{leg}", engine, LEGS[leg].engines)
    _check_weights(config)
    _check_fields(config)
    _check_alpha(config)
    return config


def _check_weights(config: SearchConfig) -> None:
    if not all(0 <= weight < math.inf for weight in config.weights.values()):
        raise BadInput("configuration.weights: weights are finite numbers and not negative.")
    if config.weights and not any(config.weights.get(leg) for leg in config.legs):
        raise BadInput(f"configuration.weights: one of {', '.join(config.legs)} must weigh more than zero.")


def _check_fields(config: SearchConfig) -> None:
    for name, weight in config.fields.items():
        _one_of("fields", name, FIELDS)
        if not 0 <= weight <= MOST:
            raise BadInput(f"configuration.fields.{name}: {weight:g} is not between 0 and {MOST}.")


def _check_alpha(config: SearchConfig) -> None:
    """A weight per query needs a fusion that weighs and, when learned, no weights by hand, a model and two legs.
    Weights by hand stand where a query gets none of its own."""
    source = ALPHAS[config.alpha_from]
    if source.weigh is None:
        return
    if not FUSIONS[config.fusion].weighs:
        raise BadInput(
            f"configuration.alpha_from: {config.alpha_from!r} needs a fusion that weighs its legs "
            f"({', '.join(fusion.name for fusion in FUSIONS.values() if fusion.weighs)})."
        )
    if not source.two_sided:
        return
    if config.weights:
        raise BadInput(f"configuration.alpha_from: {config.alpha_from!r} takes no weights by hand.")
    if not config.alpha_model:
        raise BadInput("configuration.alpha_model: name the model that predicts alpha.")
    if "alpha" not in FUSIONS[config.fusion].knobs or not two_sided(config):
        raise BadInput(
            f"configuration.alpha_from: {config.alpha_from!r} needs convex fusion of dense and one other leg."
        )


def _one_of(key: str, value: str, known: Any) -> None:
    if value not in known:
        listed = ", ".join(known) if known else "none"
        raise BadInput(f"configuration.{key}: {value!r} is unknown. Known: {listed}.")


def knobs(config: SearchConfig) -> tuple[Parameter, ...]:
    """The parameters that change anything for a configuration, in the order of `PARAMETERS`.

    >>> [knob.name for knob in knobs(parse("rrf-60"))]
    ['rrf_k', 'depth']
    """
    moving = {"depth", *FUSIONS[config.fusion].knobs}
    if config.weights or not two_sided(config):
        moving -= {"alpha"}
    if config.rerank in BY_TAU:
        moving |= {"tau"}
    return tuple(parameter for name, parameter in PARAMETERS.items() if name in moving)


def relevant(config: SearchConfig) -> frozenset[str]:
    """The fields that change anything for the legs and methods of a configuration.

    >>> sorted(relevant(parse("bm25")))
    ['collapse', 'depth', 'documents', 'engines', 'fields', 'k', 'legs', 'parents', 'pins', 'rerank', 'synonyms']
    >>> sorted(relevant(parse("rrf-60")) - relevant(parse("bm25")))
    ['alpha_from', 'fusion', 'hyde', 'rrf_k', 'weights']
    """
    names = {"legs", "depth", "k", "rerank", "parents", "documents", "pins", "collapse"}
    names |= {"synonyms"} if any(LEGS[leg].side == "sparse" for leg in config.legs) else set()
    names |= {"fields"} if "bm25" in config.legs else set()
    names |= {"engines"} if any(LEGS[leg].engines for leg in config.legs) else set()
    names |= {"hyde"} if "dense" in config.legs else set()
    if config.rerank != "off":
        names |= {"reranker", "rerank_model", *RERANKERS[config.reranker].parameters}
        names |= {"tau"} if config.rerank in BY_TAU else set()
    return frozenset(names | (_fusing(config) if len(config.legs) > 1 else set()))


def _fusing(config: SearchConfig) -> set[str]:
    """What matters where several legs are fused."""
    fusion, source = FUSIONS[config.fusion], ALPHAS[config.alpha_from]
    names = {"fusion", "weights", *fusion.knobs}
    if not fusion.by_rank:
        names |= {"missing"} | ({"normalisation"} if not fusion.normalisation else set())
    if fusion.weighs:
        names |= {"alpha_from"} | ({"alpha_model"} if source.two_sided else set())
    fixed = two_sided(config) and not config.weights and source.weigh is None
    return names if fixed else names - {"alpha"}


def fitting(config: SearchConfig) -> SearchConfig:
    """The configuration with a fusion and a normalisation that fit its legs.

    >>> fitting(replace(DEFAULT, legs=("bm25",))).fusion, fitting(replace(parse("bm25"), legs=("bm25", "dense"))).fusion
    ('single', 'convex')
    """
    if len(config.legs) < 2:
        return replace(config, fusion="single", normalisation="none", weights=Frozen({}), alpha_from="fixed")
    fusion = FUSIONS[config.fusion] if FUSIONS[config.fusion].several else FUSIONS[DEFAULT.fusion]
    usual = DEFAULT.normalisation if config.normalisation == "none" else config.normalisation
    learned = config.weights and ALPHAS[config.alpha_from].two_sided
    source = config.alpha_from if fusion.weighs and not learned else "fixed"
    return replace(config, fusion=fusion.name, normalisation=fusion.normalisation or usual, alpha_from=source)


def embeds(config: SearchConfig) -> bool:
    """Whether such a search needs the vector of the query."""
    return any(LEGS[leg].embeds for leg in config.legs)


def without_answers(config: SearchConfig) -> SearchConfig:
    """The configuration for questions that stand under `answers:`, which would find themselves in that field.

    >>> dict(without_answers(replace(DEFAULT, fields=Frozen(title=1.5, answers=1))).fields)
    {'title': 1.5}
    """
    return replace(config, fields=Frozen({name: each for name, each in config.fields.items() if name != "answers"}))


def by_words(config: SearchConfig) -> SearchConfig:
    """The same search without legs that need vectors, as long as there are none.

    >>> (
    ...     by_words(RECOMMENDED).legs,
    ...     by_words(parse("dense+hyde")).legs,
    ...     by_words(RECOMMENDED).fields == RECOMMENDED.fields,
    ... )
    (('bm25',), ('bm25',), True)
    """
    legs = tuple(leg for leg in config.legs if not LEGS[leg].embeds) or ("bm25",)
    weights = {leg: weight for leg, weight in config.weights.items() if leg in legs}
    fixed = replace(config, legs=legs, hyde=False, alpha_from="fixed", weights=Frozen(weights))
    return fitting(fixed) if any(weights.values()) else fitting(replace(fixed, weights=Frozen({})))


def imagines(config: SearchConfig) -> bool:
    """Whether HyDE has a leg to work for."""
    return config.hyde and "dense" in config.legs


@lru_cache(maxsize=1024)
def name(config: SearchConfig) -> str:
    """The name of a method; how deep it looks and how many hits it shows are not part of it.

    One that has no name is described, from the nearest that has one.

    >>> name(parse("tm2c2-0.5+rerank")), name(parse("dense+hyde+cascade")), name(replace(DEFAULT, k=3))
    ('tm2c2-0.5+rerank', 'dense+hyde+cascade', 'convex-0.5')
    >>> name(replace(RECOMMENDED, rerank="unsure", tau=0.8, collapse=False))
    'documents-0.9, rerank unsure, tau 0.8, collapse off'
    >>> name(replace(parse("convex-0.5+learned"), rerank_model="ours"))
    'convex-0.5+learned, rerank model ours'
    """
    suffix = _suffix(config) + "".join(f"@{config.engines[leg]}" for leg in config.legs if leg in config.engines)
    for spelling in spellings():
        number = f"-{getattr(config, spelling.number):g}" if spelling.number else ""
        try:
            known = _named(f"{spelling.stem}{number}{suffix}")
        except BadInput:
            continue  # a name that has no leg for such an engine
        same = replace(known, depth=config.depth, k=config.k, rerank_depth=config.rerank_depth, tau=config.tau)
        if same == config:
            return f"{spelling.stem}{number}{suffix}"
    return _described(config)


def named(config: SearchConfig) -> bool:
    """Whether `parse` reads its name.

    >>> named(RECOMMENDED), named(replace(RECOMMENDED, documents=False))
    (True, False)
    """
    return " " not in name(config)


def nearest(config: SearchConfig) -> str:
    """The name of the configuration that differs least."""
    return min(_around(config), key=lambda near: len(_differing(config, near)))


def _around(config: SearchConfig) -> Iterator[str]:
    """Every name, with the numbers and suffixes of a configuration; a name that cannot be read is left out."""
    for spelling in spellings():
        number = f"-{getattr(config, spelling.number):g}" if spelling.number else ""
        near = f"{spelling.stem}{number}{_suffix(config)}"
        with suppress(BadInput):
            _named(near)
            yield near


def _differing(config: SearchConfig, near: str) -> dict[str, Any]:
    """The fields of a method that are not those of a name."""
    aside: dict[str, Any] = {"depth": DEFAULT.depth, "k": DEFAULT.k, "rerank_depth": DEFAULT.rerank_depth}
    aside |= {} if config.rerank in BY_TAU else {"tau": DEFAULT.tau}
    ours, theirs = (replace(known, **aside) for known in (config, _named(near)))
    differ = [field.name for field in fields(ours) if getattr(ours, field.name) != getattr(theirs, field.name)]
    return {name: strict.plain(getattr(ours, name)) for name in differ}


def _described(config: SearchConfig) -> str:
    """The nearest name, and how this one differs from it."""
    near = nearest(config)
    return ", ".join(
        [near, *(f"{key.replace('_', ' ')} {_said(value)}" for key, value in _differing(config, near).items())]
    )


def _said(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return " : ".join(f"{key} {_said(part)}" for key, part in sorted(value.items())) or "none"
    if isinstance(value, list | tuple):
        return " and ".join(map(_said, value))
    return f"{value:g}" if isinstance(value, float) else str(value) or "none"


def identity(config: SearchConfig) -> str:
    """What names a configuration in runs. Fields that came later and are not used leave older names as they are."""
    return strict.digest(shape(config))


def shape(config: SearchConfig) -> dict[str, Any]:
    """A configuration as plain values, without fields that came later and are as they were before."""
    plain, before = strict.plain(config), strict.plain(SearchConfig())
    return {key: value for key, value in plain.items() if key not in LATER or value != before[key]}
