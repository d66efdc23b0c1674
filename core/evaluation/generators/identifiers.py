"""Names and identifiers that a generated question may ask for.

Narrower than `core.graph.entities`, which also takes amounts, dates and single names: a known item must be worth
searching for. Changing a rule here changes every generated query set of a seed.
"""

from __future__ import annotations

import re

_ENTITY = re.compile(
    r"""(?<![\w/.-])(?:
        \d{1,3}\ (?:CFR|U\.S\.C\.|USC)\ [\d.]+(?:\([a-z0-9]+\))*      # laws
      | [A-Z][A-Za-z]*[*\#/-][A-Z0-9][\w*\#/-]*                        # FIN-POL-001, CU*BASE, TMS-Lane#7
      | (?:Form|Section|Schedule|Rule|Article)\ [A-Z0-9][\w.-]*
      | [A-Z]{2,}\d+\b | [A-Z]{3,6}\b                                  # RNO1, SWIFT
      | (?:[A-Z][a-z]+\ ){1,2}[A-Z][a-z]+                              # names
    )(?![\w])""",
    re.VERBOSE,
)
_OPENERS = frozenset(
    [
        "A",
        "All",
        "Always",
        "An",
        "Any",
        "Ask",
        "At",
        "Both",
        "By",
        "Call",
        "Check",
        "Contact",
        "Do",
        "Each",
        "Every",
        "File",
        "For",
        "From",
        "If",
        "In",
        "It",
        "Keep",
        "Never",
        "New",
        "Next",
        "No",
        "Of",
        "On",
        "Only",
        "Open",
        "Our",
        "Read",
        "Report",
        "See",
        "Send",
        "Take",
        "The",
        "These",
        "They",
        "This",
        "To",
        "Use",
        "We",
        "When",
        "With",
        "Write",
        "You",
        "Your",
    ]
)  # capitalised because they open a sentence


def entities(text: str) -> list[str]:
    """Names and identifiers of a text, in order of appearance.

    >>> entities("Complete RC-114 for Dana Whitfield under 49 CFR 370.5. The Inbound Manager signs.")
    ['RC-114', 'Dana Whitfield', '49 CFR 370.5', 'Inbound Manager']
    """
    names = []
    for match in _ENTITY.finditer(text):
        words = match[0].rstrip(".-/").split()
        while words and words[0] in _OPENERS:
            words = words[1:]
        if words and (len(words) > 1 or not words[0].istitle()):
            names.append(" ".join(words))
    return list(dict.fromkeys(names))
