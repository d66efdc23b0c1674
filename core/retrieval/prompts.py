"""How a language model is asked to order passages. One record per prompt; a workspace may add prompts that it tuned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import NotFound
from core.llm.prompt import RULE

TUNED = re.compile(r"tuned-[a-z0-9][a-z0-9-]{0,50}-v\d{1,4}")  # what tuned prompts are called

_TASK = "You rank passages of a knowledge base by how well each of them answers a query. "

_LESSONS = """

Rankings like yours failed in these ways before; avoid them:
- A passage that covers the topic broadly was put above the one that states the fact. The passage that answers the
  query directly comes first, however short it is.
- Identifiers, numbers, dates, form names and negations were read loosely. They must match the query exactly.
- Passages from the second half of the list were hardly read. Read all of them before you order any.
- A passage was ranked by what it says about itself. Only what it says about the query counts."""


@dataclass(frozen=True, slots=True)
class RerankPrompt:
    """What a model is told before it sees the passages; `example` shows it one, `reasons` lets it think first."""

    name: str
    about: str
    task: str = _TASK
    example: bool = False
    reasons: bool = False

    @property
    def system(self) -> str:
        """The task with the rule that passages are data, which no tuned task can leave out."""
        return f"{self.task.strip()}\n\n{RULE}"


PROMPTS: Mapping[str, RerankPrompt] = {
    prompt.name: prompt
    for prompt in (
        RerankPrompt("one-shot", "The task with one example.", example=True),
        RerankPrompt(
            "meta",
            "The task with one example and what went wrong in earlier rankings.",
            _TASK + _LESSONS,
            example=True,
        ),
        RerankPrompt("zero-shot", "The task alone."),
        RerankPrompt("reasoned", "The task alone; the model says briefly why before it orders.", reasons=True),
    )
}


def built_in(name: str) -> RerankPrompt:
    """A prompt by name, where no workspace is at hand."""
    if name not in PROMPTS:
        raise NotFound(f"There is no prompt {name!r} here. Prompts: {', '.join(PROMPTS)}.")
    return PROMPTS[name]
