"""One record per method: its name, what it computes, its parameters, and how it is shown.

Pages, help texts, `docs/reference/methods.md` and the laws in `test_methods.py` read the records. To add a
method, write one file with its record and add one line to the dict of its package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import ConcordError, Unavailable
from core.parameter import Parameter
from core.ports import Index, Leg, Llm, Ranking, Reranker
from core.retrieval.prompts import RerankPrompt, built_in
from core.types import NOTHING, LegScore, SearchConfig, Stage

if TYPE_CHECKING:
    import numpy as np

    from core.retrieval.method_values import AlphaModel, CandidateFeatures, LegScores, RankerModel
    from core.retrieval.trained import TrainedModels

Mask = Any  # a boolean array over the scores, or True
Floor = Any  # an array that broadcasts over the scores, or a number


class ScaledLegs(NamedTuple):
    """What fusion gets: legs in the order of their names, candidates in the order of chunk numbers.

    Arrays are legs x candidates for one query, legs x questions x candidates for a whole query set.
    """

    names: tuple[str, ...]
    raw: np.ndarray  # each leg's own scores
    scores: np.ndarray  # normalised; 0 where the leg says nothing
    here: np.ndarray  # where it says something
    places: np.ndarray  # the rank in the leg's own ranking; 0 where it did not retrieve


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Scores of legs to one scale. `scale` gets scores, a mask of what counts, and the lowest possible score."""

    name: str
    title: str
    about: str
    source: str
    scale: Callable[[np.ndarray, Mask, Floor], np.ndarray]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a configuration is named: `stem`, or `stem-<number>` where the number sets a parameter."""

    stem: str
    config: SearchConfig
    number: str = ""

    @property
    def pattern(self) -> str:
        """What help texts show."""
        return f"{self.stem}-<{self.number.removeprefix('rrf_')}>" if self.number else self.stem


@dataclass(frozen=True, slots=True)
class Fusion:
    """Scaled legs to one score per candidate: the sum of what each leg gave, its `parts`.

    `ceiling` is the highest score that the weights allow, so that tau means the same for every fusion; None where
    there is no such thing. `normalisation` is the one it is defined with, "" where any will do. `arithmetic` writes one
    leg's part as people would compute it. `by_rank`: ranks count, scores do not. Each of its `parameters` is a field of
    `SearchConfig`.
    """

    name: str
    title: str
    about: str
    source: str
    parts: Callable[[ScaledLegs, Sequence[float], SearchConfig], np.ndarray]
    ceiling: Callable[[Sequence[float], SearchConfig], float] | None
    arithmetic: Callable[[LegScore, SearchConfig], str]
    weighs: bool = False
    normalisation: str = ""
    parameters: tuple[Parameter, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    several: bool = True  # whether it takes more than one leg
    by_rank: bool = False

    @property
    def knobs(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def decimals(self) -> int:
        """Digits that tell two of its scores apart: reciprocal ranks are small."""
        return 4 if self.by_rank else 3


class LegQuery(NamedTuple):
    """One query as the legs see it. The vector is made when the first leg asks for it."""

    query: str
    vector: Callable[[], np.ndarray]
    open_leg: Callable[[str, LegQuery, Index], Leg]  # how a leg opens another one for the same query
    engine: str = ""
    fields: Mapping[str, float] = NOTHING


@dataclass(frozen=True, slots=True)
class LegKind:
    """One way to retrieve. `side` is what weights per query speak of; `engines` can answer in place of the default."""

    name: str
    title: str
    about: str
    source: str
    side: str  # dense, sparse or graph
    colour: str
    open: Callable[[LegQuery, Index], Leg]
    embeds: bool = False
    engines: tuple[str, ...] = ()
    fields: bool = False  # whether words in fields count


def no_ranker(config: SearchConfig) -> RankerModel:
    """For callers that have none."""
    raise Unavailable(f"the ranker {config.rerank_model!r} is not at hand.")


def no_features(chunks: Sequence[int]) -> CandidateFeatures:
    """For callers that have none."""
    raise Unavailable("the features of candidates are not at hand.")


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a reranker. Models load on first use, and may be unavailable."""

    query: str
    ranking: Ranking
    config: SearchConfig
    text: Callable[[int], str]
    neighbours: Callable[[int], Sequence[int]]
    reranker: Callable[[], Reranker]
    llm: Callable[[], Llm]
    prompt: Callable[[str], RerankPrompt] = built_in
    ranker: Callable[[SearchConfig], RankerModel] = no_ranker
    features: Callable[[Sequence[int]], CandidateFeatures] = no_features

    def head(self) -> list[int]:
        """The chunks that are reranked."""
        return list(self.ranking)[: self.config.rerank_depth]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A new order with its scores, best first; empty when the given order stands. `scored` is the model's own view,
    `earlier` are the stages of a method that has several, but for its last."""

    scores: Mapping[int, float] = field(default_factory=dict)
    scored: Mapping[int, float] = field(default_factory=dict)
    note: str = ""
    warnings: tuple[str, ...] = ()
    cost: float = 0.0
    earlier: tuple[Stage, ...] = ()
    reasons: Mapping[int, Mapping[str, float]] = field(default_factory=dict)  # what adds to a score

    def order(self, ranking: Ranking) -> list[int]:
        """Everything in its final order: what was not reranked follows as it was."""
        return [*self.scores, *(chunk for chunk in ranking if chunk not in self.scores)]


UNCHANGED = Outcome()


@dataclass(frozen=True, slots=True)
class RerankMethod:
    """A way to rerank. `asks` names the kinds of models it needs; `suffix` is how a configuration's name says it.

    `purpose` is what a language model is asked for, as the ledger and `models check` call it; `reads` counts for one
    order of the passages.
    """

    name: str
    title: str
    about: str
    source: str
    run: Callable[[Task], Outcome]
    asks: tuple[str, ...]
    suffix: str
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    parameters: tuple[str, ...] = ("rerank_depth", "rerank_blend")
    purpose: str = ""
    reads: Callable[[int], tuple[int, int]] = lambda depth: (0, 0)  # calls of a language model, passages in each


@dataclass(frozen=True, slots=True)
class LegWeights:
    """The weight of every leg for one query, its source, and a warning where a fallback was used."""

    weights: Mapping[str, float]
    note: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class AlphaTools:
    """What an alpha source may use: trained models, a language model and an embedder."""

    models: TrainedModels[AlphaModel] | None
    llm: Callable[[], Llm]
    embed: Callable[[str], np.ndarray]
    profile: str


@dataclass(frozen=True, slots=True)
class AlphaSource:
    """Where alpha comes from. `weigh` is None for the fixed alpha of the configuration."""

    name: str
    title: str
    about: str
    source: str
    weigh: Callable[[LegScores, SearchConfig, AlphaTools], LegWeights] | None
    asks: tuple[str, ...] = ()
    two_sided: bool = False  # whether it needs convex fusion of dense and one other leg, and a trained model


def attempt(method: Callable[[Task], Outcome], task: Task) -> Outcome:
    """What the method makes of a task; a failure is a warning."""
    try:
        return method(task)
    except ConcordError as error:
        return Outcome(note="the given order was kept", warnings=(f"Not reranked: {error}",))
