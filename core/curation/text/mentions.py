"""`@name` in what people write: whom it means, and the name as a node of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.access import folded
from core.curation.text.render import Node

_CODE = re.compile(r"^(```|~~~).*?(^\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def mentions(text: str, names: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Where somebody is named, and who that is; `names` maps what people are called to account ids.

    >>> names = {"petra": "reviewer", "petra voss": "reviewer"}
    >>> list(mentions("Ask @Petra Voss, not @Dana or me@petra.org or `@petra`.", names))
    [(4, 15, 'reviewer')]
    """
    if "@" not in text or not names:
        return
    code = [match.span() for match in _CODE.finditer(text)]
    for match in _pattern(names).finditer(text):
        if not any(start <= match.start() < end for start, end in code):
            yield *match.span(), names[folded(" ".join(match[1].split()))]


def _pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    """The longest name first; nothing that looks like an address."""
    spelled = (r"\s".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w@.])@({'|'.join(spelled)})(?![\w@]|[.-]\w)", re.IGNORECASE)


def mentioned(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """The accounts that a text names, each once."""
    return tuple(dict.fromkeys(account for _, _, account in mentions(text, names)))


def with_mentions(nodes: Sequence[Node], names: Mapping[str, str], shown: Mapping[str, str]) -> list[Node]:
    """Nodes in which a name of somebody is a node of its own; `shown` maps account ids to names.

    >>> with_mentions([["p", {}, ["Ask @petra."]]], {"petra": "reviewer"}, {"reviewer": "Petra Voss"})
    [['p', {}, ['Ask ', ['span', {'mention': 'Petra Voss'}, ['@Petra Voss']], '.']]]
    """
    return [part for node in nodes for part in _parts(node, names, shown)]


def _parts(node: Node, names: Mapping[str, str], shown: Mapping[str, str]) -> Iterator[Node]:
    if not isinstance(node, str):
        tag, attributes, children = node
        yield node if tag in ("code", "pre", "a") else [tag, attributes, with_mentions(children, names, shown)]
        return
    done = 0
    for start, end, account in mentions(node, names):
        name = shown.get(account, account)
        yield from (part for part in (node[done:start], ["span", {"mention": name}, [f"@{name}"]]) if part)
        done = end
    if done < len(node):
        yield node[done:]
