"""Language models that write for chunkers: checked, retried, with fallback models and a cache."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import BadInput, Cancelled, ConcordError, OverBudget, Unavailable, Unusable
from core.llm.asking import THREADS, Bill, ModelTask, ask
from core.llm.prompt import RULE
from core.ports import Llm, Texts

TRIES = 3  # answers of one model that are looked at before the next model is asked
PATIENCE = 3  # questions in a row without any usable answer before no more are asked
TEMPERATURE = 0.2
SYSTEM = f"You prepare documents of a knowledge base for search. {RULE}"


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a model is asked. `key` and the model's name are the cache key."""

    key: str
    purpose: str
    prompt: str
    check: Callable[[str], str]  # the usable form of an answer, or BadInput that says what is wrong with it
    max_tokens: int = 300
    schema: Mapping[str, Any] | None = None

    def asked(self, wrong: str = "") -> ModelTask[str]:
        """The question, with what was wrong with the last answer."""
        return ModelTask(
            self.purpose, self.prompt + wrong, self.check, SYSTEM, self.max_tokens, TEMPERATURE, self.schema
        )


@dataclass(slots=True)
class Writer:
    """Asks models in turn, each loaded when needed; if one fails, the next is asked."""

    models: Sequence[Callable[[], Llm]]
    known: Texts
    threads: int = THREADS  # questions asked at once, whoever asks them
    bill: Bill = field(default_factory=Bill)
    again: Bill = field(default_factory=Bill)  # what was written before, at what it took then
    failures: int = 0
    why: str = ""  # the last question failed
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turns: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._turns = threading.Semaphore(self.threads)

    def write(self, question: WritingTask) -> tuple[str, str]:
        """A usable answer and the name of its model; else `Unavailable` with the last reason."""
        with self._turns:
            return self._write(question)

    def _write(self, question: WritingTask) -> tuple[str, str]:
        for load in self.models if self.failures < PATIENCE else ():
            try:
                llm = load()
                text = self._ask(llm, question)
            except (Cancelled, OverBudget):
                raise
            except ConcordError as error:
                self.why = str(error)
            else:
                self.failures = 0
                return text, llm.name
        self.failures += 1
        raise Unavailable(self.why)

    def _ask(self, llm: Llm, question: WritingTask) -> str:
        key, wrong, why = f"{question.key}|{llm.name}", "", ""
        known = self._known(key, question)
        if known is not None:
            self._count(self.again, _priced(self.known.get(f"{key}|bill")))
            return known
        spent = Bill()
        for _ in range(TRIES):
            bill = Bill()
            try:
                text, _answer = ask(llm, question.asked(wrong), bill)
            except Unusable as error:  # said to the model, and so no longer the question that a cache has answered
                why = str(error)
                wrong = f"\n\nYour last answer could not be used. {why} Answer again in the form that was asked for."
                continue
            finally:
                spent.join(bill)
                self._count(self.bill, bill)
            self.known.put(f"{key}|bill", json.dumps([spent.calls, spent.worth]))
            self.known.put(key, text)
            return text
        raise Unavailable(f"{llm.name} gave no usable answer in {TRIES} tries. {why}")

    def _count(self, total: Bill, bill: Bill) -> None:
        with self._lock:
            total.join(bill)

    def _known(self, key: str, question: WritingTask) -> str | None:
        """What was written before, if it passes today's check."""
        text = self.known.get(key)
        try:
            return None if text is None else question.check(text)
        except BadInput:
            return None


def _priced(packed: str | None) -> Bill:
    """The bill that is kept with a text; texts of old have none."""
    calls, worth = json.loads(packed) if packed else (0, 0.0)
    return Bill(calls=calls, worth=worth)
