"""Language models that write for chunkers: checked, retried, with fallback models and a cache."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.errors import BadInput, Cancelled, ConcordError, Unavailable
from core.llm.bill import Bill
from core.llm.prompt import RULE
from core.ports import Llm, Texts

TRIES = 3  # answers of one model that are looked at before the next model is asked
PATIENCE = 3  # questions in a row without any usable answer before no more are asked
TEMPERATURE = 0.2
MAX_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a model is asked. `key` and the model's name are the cache key."""

    key: str
    purpose: str
    prompt: str
    check: Callable[[str], str]  # the usable form of an answer, or BadInput that says what is wrong with it


@dataclass(slots=True)
class Writer:
    """Asks models in turn, each loaded when needed; if one fails, the next is asked."""

    models: Sequence[Callable[[], Llm]]
    known: Texts
    threads: int = 4  # questions asked at once; the models limit themselves further
    bill: Bill = field(default_factory=Bill)
    failures: int = 0
    why: str = ""  # the last question failed
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, question: WritingTask) -> tuple[str, str]:
        """A usable answer and the name of its model; else `Unavailable` with the last reason."""
        for load in self.models if self.failures < PATIENCE else ():
            try:
                llm = load()
                text = self._ask(llm, question)
            except Cancelled:
                raise
            except ConcordError as error:
                self.why = str(error)
            else:
                self.failures = 0
                return text, llm.name
        self.failures += 1
        raise Unavailable(self.why)

    def _ask(self, llm: Llm, question: WritingTask) -> str:
        key, wrong = f"{question.key}|{llm.name}", ""
        known = self.known.get(key)
        for _ in range(TRIES if known is None else 0):
            answer = llm.complete(
                question.prompt + wrong,
                purpose=question.purpose,
                system=f"You prepare documents of a knowledge base for search. {RULE}",
                max_tokens=MAX_TOKENS,
                temperature=TEMPERATURE,
            )
            with self._lock:
                self.bill.add(answer)
            try:
                known = question.check(answer.text)
            except BadInput as error:  # said to the model, and so no longer the question that a cache has answered
                wrong = f"\n\nYour last answer could not be used: {error} Answer again in the form that was asked for."
                continue
            self.known.put(key, known)
            break
        if known is None:
            raise Unavailable(f"{llm.name} gave no usable answer in {TRIES} tries.")
        return known
