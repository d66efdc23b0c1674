"""Entities by a language model and by spaCy, checked against the passage before they count.

The prompt asks for JSON with text, type and relations, as the thesis does (section 4.3; temperature 0.2). An entity
that does not stand in the passage is dropped, and so is a relation between others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from core.chunking.sentences import sentences
from core.curation.document.links import Link
from core.errors import BadInput, Unavailable
from core.graph.entities import extract, key
from core.llm.asking import Bill, ModelTask, ask
from core.llm.prompt import RULE, quoted
from core.llm.usable import listed, schema_of
from core.ports import Llm
from core.types import Extract, Mention

MAX_ENTITIES = 30

MAX_TOKENS = 800
_SYSTEM = (
    "You read one passage of a knowledge base and list what it names: people, organisations, places, systems, forms, "
    "rules, roles, amounts, dates and concepts, each word for word as it stands in the passage, with its type and its "
    "relations to other entities of your list. At most 30 entities. Answer with JSON alone. For the passage "
    '"Ana Ruiz files Form 8300 with the IRS." the answer is {"entities": [{"text": "Ana Ruiz", "type": "person", '
    '"relations": [{"to": "Form 8300", "name": "files"}]}, {"text": "Form 8300", "type": "form", "relations": '
    '[{"to": "IRS", "name": "goes to"}]}, {"text": "IRS", "type": "organisation", "relations": []}]}. ' + RULE
)
_TEXT = {"type": "string"}
_RELATION = {"type": "array", "items": schema_of(to=_TEXT, name=_TEXT)}
_SCHEMA = schema_of(entities={"type": "array", "items": schema_of(text=_TEXT, type=_TEXT, relations=_RELATION)})


def task(text: str, by_rules: Extract) -> ModelTask[Extract]:
    """What a model is asked about a passage."""
    prompt = quoted("passage", text) + "\nList the entities of the passage and how they relate. JSON only."
    read = partial(checked, text=text, by_rules=by_rules)
    return ModelTask("entities", prompt, read, _SYSTEM, MAX_TOKENS, temperature=0.2, schema=_SCHEMA)


def ask_entities(llm: Llm, text: str, links: Sequence[Link] = (), bill: Bill | None = None) -> tuple[Extract, str]:
    """The model's extract of a passage; the one by rules, and why, when its answer cannot be used."""
    by_rules = extract(text, links)
    try:
        return ask(llm, task(text, by_rules), bill)[0], ""
    except Unavailable as error:
        return by_rules, str(error)


def checked(answer: str, text: str, by_rules: Extract) -> Extract:
    """A model's answer as an extract; links and explained acronyms are still found by rules.

    >>> extracted = checked(
    ...     '{"entities": [{"text": "BSA", "type": "Rule", "relations": [{"to": "FinCEN", "name": "run by"}]}'
    ...     ', {"text": "FinCEN", "type": "organisation"}, {"text": "Mars", "type": "place"}]}',
    ...     "FinCEN and BSA",
    ...     Extract(),
    ... )
    >>> [(mention.key, mention.kind) for mention in extracted.mentions], extracted.relations
    ([('bsa', 'rule'), ('fincen', 'organisation')], (('bsa', 'run by', 'fincen'),))
    """
    kept = [row for row in _rows(answer) if _stands(row["text"], text)]
    documents = [mention for mention in by_rules.mentions if mention.kind == "document"]
    if not kept and len(by_rules.mentions) > len(documents):
        raise BadInput("none of its entities stands in the passage, and rules find some")
    mentions = [Mention(key(row["text"]), " ".join(row["text"].split()), row["type"]) for row in kept]
    known = {mention.key for mention in mentions}
    relations = [(key(row["text"]), name, key(to)) for row in kept for to, name in row["relations"] if key(to) in known]
    unique = tuple(dict.fromkeys(mention for mention in (*mentions, *documents) if mention.key))
    return Extract(unique, by_rules.aliases, tuple(dict.fromkeys(r for r in relations if r[0] != r[2])))


def _stands(entity: str, text: str) -> bool:
    """Whether an entity stands in a text as words of its own.

    >>> _stands("a", "A file."), _stands("file", "A profile."), _stands("Form  8300", "File Form 8300.")
    (False, False, True)
    """
    name = " ".join(entity.split())
    if len(name) < 2 or not re.search(r"\w", name):
        return False
    pattern = r"\s+".join(re.escape(word) for word in name.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None


def _rows(answer: str) -> list[dict[str, Any]]:
    try:
        return [_row(row) for row in listed(answer, "entities")[:MAX_ENTITIES]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput("it is not the JSON that was asked for") from None


def _row(row: Any) -> dict[str, Any]:
    text, kind = row["text"], row.get("type", "concept")
    if not (isinstance(text, str) and isinstance(kind, str) and text.strip()):
        raise TypeError
    pairs = [(relation["to"], relation.get("name", "")) for relation in row.get("relations") or []]
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise TypeError
    return {
        "text": text[:120],
        "type": _short(kind) or "concept",
        "relations": [(to, _short(name)) for to, name in pairs],
    }


def _short(text: str) -> str:
    return " ".join(re.findall(r"[\w-]+", text.lower())[:4])[:40]


def labelled(text: str, spans: Iterable[tuple[str, str, int]], by_rules: Extract) -> Extract:
    """What rules find, with spaCy's (text, kind, place) for names: its kinds, and the names that rules miss."""
    starts = [start for start, _ in sentences(text)]
    named = [
        Mention(key(surface), " ".join(surface.split()), kind, max(0, bisect_right(starts, at) - 1))
        for surface, kind, at in spans
    ]
    known, taken = {mention.key for mention in named}, {m.key for m in by_rules.mentions if m.kind != "name"}
    kept = [mention for mention in by_rules.mentions if mention.kind != "name" or mention.key not in known]
    added = [mention for mention in named if mention.key and mention.key not in taken]
    return Extract(tuple(dict.fromkeys((*kept, *added))), by_rules.aliases)
