"""What is tuned: a query set over the serving index, and the position of the sliders."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import streamlit as st

from core.errors import ConcordError
from core.evaluation.measures.by_name import KEY
from core.evaluation.tuning.sweep import SWEPT
from core.parameter import Parameter
from core.retrieval import config as configs
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import presets, spell
from core.retrieval.rerankers.rerank import BY_TAU
from core.services.tuning.sweeps import AlphaCurves, SweepData, below_tau, with_fusion
from core.types import SearchConfig
from pages.ui import flash, identity
from pages.ui.home import empty
from pages.ui.workspace import SweepKey, alpha_curves, app, generation, sweep_data

PASSAGES = (*KEY, "T5EM")  # measures of the passages themselves, that sliders offer
DEEP = 50  # candidates per leg that sliders can reach
TAB = "tuning_tab"  # which tab is open, also in the URL
FUSION = "tune_fusion"
NORMALISATION = "tune_normalisation"
K = "tune_k"
NAME = "tune_measure"
RERANK = "tune_rerank"


def knob(parameter: str) -> str:
    """The key of a parameter's slider.

    >>> knob("alpha")
    'tune_alpha'
    """
    return f"tune_{parameter}"


ALPHA, TAU, DEPTH = knob("alpha"), knob("tau"), knob("depth")


@dataclass(frozen=True, slots=True)
class TuningSet(SweepKey):
    """A query set with its cached arrays; small enough for a fragment."""

    @property
    def data(self) -> SweepData:
        return sweep_data(self, identity.me())

    def alpha_curves(self, config: SearchConfig, measure: str) -> AlphaCurves:
        return alpha_curves(self, spell(config), measure, identity.me())


def open_set(queryset: str) -> TuningSet:
    """The chosen set over the serving index; the page stops with the reason if it cannot be loaded."""
    current = app()
    production = current.platform.settings.production().config
    tuning_set = TuningSet(
        queryset,
        current.evaluation.querysets.show(identity.me(), queryset).digest,
        generation(),
        str(current.search.page.clock.today()),
        production.depth if production.documents else max(DEEP, production.depth),
        spell(production),
    )
    try:
        _ = tuning_set.data
    except ConcordError as error:
        empty.state("rule", "Nothing to tune with", flash.refused(error), "not_loaded")
        st.stop()
    return tuning_set


def start() -> None:
    """Set the sliders to the production configuration."""
    now = app().platform.settings.production().config
    first = {
        FUSION: now.fusion if now.fusion != "single" else "convex",
        NORMALISATION: now.normalisation if now.normalisation != "none" else "minmax",
        **{knob(name): _within(parameter, getattr(now, name)) for name, parameter in PARAMETERS.items()},
        DEPTH: min(DEEP, now.depth),
        RERANK: now.rerank in BY_TAU,
        TAU: now.tau if now.rerank in BY_TAU else presets()["Conditional rerank"].tau,
        K: 10,
        NAME: SWEPT[0],
    }
    for key, value in first.items():
        st.session_state.setdefault(key, value)


def position() -> SearchConfig:
    """The position of the sliders, without reranking."""
    get, production = st.session_state.get, app().platform.settings.production().config
    base = production if production.documents else replace(production, depth=int(get(DEPTH, production.depth)))
    knobs = {name: get(knob(name), getattr(base, name)) for name in PARAMETERS}
    return with_fusion(base, str(get(FUSION)), str(get(NORMALISATION)), **knobs)


def _within(parameter: Parameter, value: float) -> float:
    """A value that its slider can show."""
    return min(parameter.top, max(parameter.low, value))


def with_rerank() -> SearchConfig:
    """The position of the sliders, with reranking below tau where that is on."""
    if not st.session_state.get(RERANK):
        return position()
    return configs.check(replace(with_tau(), tau=float(st.session_state.get(TAU, 1.0))))


def with_tau() -> SearchConfig:
    """The position of the sliders as it reranks below tau, whatever tau is: as production does where it reranks. A tau
    on
    the best score, that was promoted before, stays one."""
    now = app().platform.settings.production().config
    reranking = (each.name for each in fields(SearchConfig) if each.name.startswith("rerank"))
    return below_tau(replace(position(), **{name: getattr(now, name) for name in reranking}))


def as_convex() -> SearchConfig:
    """The position of the sliders if it is convex fusion, else the usual convex configuration."""
    now = position()
    return now if now.fusion == "convex" else with_fusion(now, "convex", alpha=0.5)


def measure() -> str:
    """The chosen measure, with its k if it has one."""
    name = str(st.session_state.get(NAME, SWEPT[0]))
    return name if name in PASSAGES else f"{name}@{int(st.session_state.get(K, 10))}"


def measures(tuning_set: TuningSet) -> tuple[str, ...]:
    """The measures that the questions of a set allow; those over passages need quoted answers."""
    offered = (*SWEPT, *PASSAGES) if tuning_set.data.quoted else SWEPT
    if st.session_state.get(NAME) not in offered:
        st.session_state[NAME] = SWEPT[0]
    return offered


def put(key: str, value: object) -> None:
    """Move a slider from another tab."""
    st.session_state[key] = value
