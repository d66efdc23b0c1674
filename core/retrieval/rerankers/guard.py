"""A reranker that fails leaves the order as it was, and says so."""

from __future__ import annotations

from collections.abc import Callable

from core.errors import ConcordError
from core.retrieval.methods import Outcome, Task


def attempt(method: Callable[[Task], Outcome], task: Task) -> Outcome:
    """What the method makes of a task; a failure is a warning."""
    try:
        return method(task)
    except ConcordError as error:
        return Outcome(note="the given order was kept", warnings=(f"Not reranked: {error}",))
