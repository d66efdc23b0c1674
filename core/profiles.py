"""Profiles: checked, completed with defaults, and identified by their content rather than their name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from core import strict
from core.analysis import STEMMERS, STOPWORDS, analyser
from core.chunking import CONTEXTS, check_spec, known
from core.chunking.passage_questions import MOST as MOST_QUESTIONS
from core.curation.document.names import safe_name
from core.errors import BadInput
from core.parameter import Parameter
from core.retrieval.legs.several_embedders import COMBINATIONS
from core.types import ChunkerSpec, Frozen, Profile

INDEX_FORMAT = 7  # raise it when the same profile gives another index

DEFAULT = Profile("local")
EARLIER_ENGINES = ("image", "lance")  # that profiles of earlier versions name
GRAPHS = ("rules", "spacy", "llm", "none")  # how entities are found

ABOUT: Mapping[str, str] = {
    "name": "What the profile is called; it never changes afterwards.",
    "chunker": "How a document is cut into passages.",
    "embedder": "What turns passages into vectors: a bundled model, a folder, a hub name, openai:MODEL or "
    "bedrock:MODEL.",
    "combine": "How several embedders work together: concatenation (one vector) or rrf (each ranks by itself).",
    "context": "What stands before a passage when it is indexed: structural (title and headings), contextual (also "
    "sentences by a language model) or none.",
    "questions": "How many questions a language model writes for each passage when it is indexed; 0 for none. Words "
    "are "
    "looked up there where a configuration weighs the field questions.",
    "writer": "The language model that writes contexts and questions and finds where a subject changes; further ones "
    "step in.",
    "graph": "How entities are found: rules, spacy, llm (a language model) or none.",
    "lexical": "How words are analysed and scored by BM25.",
}
"""What each part of a profile is, for the form and the command line."""

LEXICAL = (
    Parameter("k1", "k1", 0.0, 10.0, 0.1, "How much a word counts that is repeated; 0 counts it once.", 1.5, reach=3.0),
    Parameter("b", "b", 0.0, 1.0, 0.05, "How much long passages are held back; 0 not at all.", 0.75),
)
WORDING: Mapping[str, tuple[str, ...]] = {"stemmer": STEMMERS, "stopwords": tuple(STOPWORDS)}


def check(profile: Profile) -> Profile:
    """The profile with every parameter spelled out; BadInput says what is wrong."""
    safe_name(profile.name, "a profile")
    if profile.context not in CONTEXTS:
        raise BadInput(f"profile.context: {profile.context!r} is unknown. Known: {', '.join(CONTEXTS)}.")
    if not all(knob.admits(getattr(profile.lexical, knob.name)) for knob in LEXICAL):
        raise BadInput("profile.lexical: k1 must be between 0 and 10, b between 0 and 1.")
    if not 0 <= profile.questions <= MOST_QUESTIONS:
        raise BadInput(f"profile.questions: {profile.questions} is not between 0 and {MOST_QUESTIONS}.")
    if profile.graph not in GRAPHS:
        raise BadInput(f"profile.graph: {profile.graph!r} is unknown. Known: {', '.join(GRAPHS)}.")
    analyser(profile.lexical)
    _check_embedders(profile)
    full = Frozen(sorted(check_spec(profile.chunker).items()))
    return replace(profile, chunker=ChunkerSpec(profile.chunker.name, full))


def writes(chunker: str, context: str, questions: int = 0) -> bool:
    """Whether a profile has a language model write for it.

    >>> writes("agentic", "none"), writes("fixed", "structural"), writes("fixed", "none", 3)
    (True, False, True)
    """
    return context == "contextual" or questions > 0 or "llm" in known(chunker).asks


def model_uses(profile: Profile) -> tuple[tuple[str, str], ...]:
    """The language models that a profile asks, and for what; an empty name is the configured one.

    >>> model_uses(Profile("p", context="contextual", writers=("haiku",), graph="llm"))
    (('haiku', 'context'), ('', 'entities'))
    """
    features = ["context"] if profile.context == "contextual" else []
    features += ["segment"] if profile.chunker.name == "agentic" else []
    features += ["passage questions"] if profile.questions else []
    uses = [(name, feature) for name in profile.writers or ("",) for feature in features]
    return (*uses, *([("", "entities")] if profile.graph == "llm" else []))


def _check_embedders(profile: Profile) -> None:
    names = (profile.embedder, *profile.embedders)
    if not all(names):
        raise BadInput("profile.embedder: choose at least one embedder, so that meaning can be searched.")
    if not all(name == name.strip() and "+" not in name for name in names):
        raise BadInput("profile.embedder: the name of an embedder has no + and no spaces around it.")
    if len(set(names)) < len(names):
        raise BadInput(f"profile.embedders: each embedder may be named once, got {', '.join(names)}.")
    if profile.combine not in COMBINATIONS:
        raise BadInput(f"profile.combine: {profile.combine!r} is unknown. Known: {', '.join(COMBINATIONS)}.")


def from_mapping(raw: Mapping[str, Any], where: str = "profile") -> Profile:
    """A profile from plain values; unknown keys are refused. Profiles of earlier versions name an engine: there is one
    now.

    >>> from_mapping({"name": "windows", "chunker": {"name": "fixed"}}).chunker.params["overlap"]
    50
    >>> from_mapping({"name": "large", "engine": "lance", "graph": "none"}).graph
    'none'
    """
    left = {key: value for key, value in raw.items() if key != "engine" or value not in EARLIER_ENGINES}
    return check(strict.parse(Profile, left, where))


@lru_cache(maxsize=256)
def identity(profile: Profile) -> str:
    """The digest that names an index: everything that shapes it, but not the profile's name."""
    shape = strict.plain(check(profile))
    if not profile.writers:
        del shape["writers"]  # keeps the digests of indexes built before there were writers
    if not profile.embedders:  # likewise for embedders
        shape = {key: value for key, value in shape.items() if key not in ("embedders", "combine")}
    if not profile.questions:  # likewise for questions
        del shape["questions"]
    return strict.digest({**shape, "name": "", "format": INDEX_FORMAT}, 10)
