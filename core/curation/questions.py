"""Questions as people type them: when two are the same."""

from __future__ import annotations

from core.access import folded

MAX_QUESTION = 500  # characters
_ENDS = " ?!.,;:…"


def one_line(question: str) -> str:
    """A question without line breaks, double spaces and half characters, cut at the limit.

    >>> one_line(" what  is\\n\\ud83d this ")
    'what is ? this'
    """
    return " ".join(question.encode("utf-8", "replace").decode().split())[:MAX_QUESTION].strip()


def same_form(question: str) -> str:
    """A question in comparable form: case, spaces and the sign at its end aside.

    >>> same_form("  How do I file a CTR? ") == same_form("how do I  file a ctr")
    True
    """
    return folded(one_line(question)).rstrip(_ENDS)
