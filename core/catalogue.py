"""Every method, by kind: for help texts, `python -m core methods` and the table in docs/reference/methods.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.chunking import CHUNKERS
from core.parameter import Parameter
from core.retrieval.alpha import ALPHAS
from core.retrieval.fusions import FUSIONS
from core.retrieval.legs import LEGS
from core.retrieval.normalisations import NORMALISATIONS
from core.retrieval.parameters import PARAMETERS
from core.retrieval.presets import PRESETS
from core.retrieval.rerankers import RERANKERS

KINDS: Mapping[str, Mapping[str, Any]] = {
    "chunker": CHUNKERS,
    "leg": LEGS,
    "normalisation": NORMALISATIONS,
    "fusion": FUSIONS,
    "alpha": ALPHAS,
    "reranker": RERANKERS,
}
COLUMNS = ("kind", "name", "what it does", "parameters", "source")


def rows() -> Iterator[tuple[str, ...]]:
    """One row per method, in the order of the registries."""
    for kind, records in KINDS.items():
        for record in records.values():
            yield kind, record.name, record.about, ", ".join(parameters(record)), record.source
    for preset in PRESETS:
        yield "preset", preset.title, preset.about, preset.spelling, ""


def parameters(record: Any) -> list[str]:
    """The parameters of a method with their ranges; a chunker's also with their defaults.

    >>> parameters(FUSIONS["rrf"]), parameters(CHUNKERS["fixed"])[1]
    (['rrf_k 1 to 10000'], 'overlap 50 (0 to 20000)')
    """
    own = getattr(record, "parameters", ())
    known = [PARAMETERS.get(knob, knob) for knob in own]
    return [knob if isinstance(knob, str) else _range(knob) for knob in known]


def _range(knob: Parameter) -> str:
    span = f"{knob.low:g} to {knob.high:g}" if not knob.whole else f"{int(knob.low)} to {int(knob.high)}"
    return f"{knob.name} {span}" if knob.name in PARAMETERS else f"{knob.name} {int(knob.default)} ({span})"


def markdown() -> str:
    """The table of docs/reference/methods.md."""
    lines = ["| " + " | ".join(column.capitalize() for column in COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {kind} | `{name}` | {about} | {knobs} | {source} |" for kind, name, about, knobs, source in rows()]
    return "\n".join(lines) + "\n"
