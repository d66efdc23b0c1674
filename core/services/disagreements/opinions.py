"""A second opinion of a language model on what the rules found. It may only take findings away, never add one."""

from __future__ import annotations

import re
from collections.abc import Callable

from core import strict
from core.errors import ConcordError
from core.llm.prompt import RULE, cut, quoted
from core.ports import Llm, Texts
from core.types import LlmRequest

MOST = 600  # characters of a statement that are shown
_SYSTEM = f"You compare statements of a knowledge base. {RULE}"
_TASK = (
    "Two documents of one organisation contain these statements. Can both be right as they stand, because they speak of "
    "different things, places, cases or times, or say the same in other words? Answer with one word: both, if both can "
    "be right; or conflict, if a reader who follows one breaks the other."
)
_WORD = re.compile(r"\b(both|conflict)\b", re.IGNORECASE)


class SecondOpinion:
    """Asks once per pair; without a model, or without an answer, the finding stays."""

    def __init__(self, llm: Callable[[], Llm], known: Texts, model: str) -> None:
        self.llm, self.known, self.model = llm, known, model

    def dismissed(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether the model says that both can be right. Each side is (title and headings, statement)."""
        if not self.model:
            return False
        sides = sorted((one, other))  # the same question from either side
        key = f"disagreement|{self.model}|{strict.digest(sides, 24)}"
        answer = self.known.get(key)
        if answer is None and (answer := self._ask(sides)):
            self.known.put(key, answer)
        return answer == "both"

    def _ask(self, sides: list[tuple[str, str]]) -> str:
        """The model's word, "" where it has none."""
        shown = [quoted("passage", cut(f"{where}\n{text}", MOST), n) for n, (where, text) in enumerate(sides, 1)]
        try:
            request = LlmRequest("\n\n".join((_TASK, *shown)), "second opinion", _SYSTEM, max_tokens=10)
            answer = self.llm().complete(request)
        except ConcordError:
            return ""
        word = _WORD.search(answer.text)
        return word[1].lower() if word else ""
