"""Questions to a language model, several at once: what it is asked, and the check that its answer must pass before anybody keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import BadInput, Unusable
from core.llm.bill import Bill
from core.llm.usable import usable
from core.ports import Llm
from core.types import Answer, LlmRequest

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelTask(Generic[T]):
    """What a model is asked. `read` gives the usable form of its words, or BadInput that says what is wrong with them."""

    purpose: str
    prompt: str
    read: Callable[[str], T]
    system: str = ""
    max_tokens: int = 300
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None

    @property
    def request(self) -> LlmRequest:
        return LlmRequest(
            self.prompt, self.purpose, self.system, self.max_tokens, self.temperature, self.schema, check=self.judge
        )

    def judge(self, answer: Answer) -> T:
        """The usable form of an answer; Unusable, with the reason, when there is none."""
        text = usable(answer, self.prompt, self.system, self.max_tokens)
        try:
            return self.read(text)
        except BadInput as error:
            raise Unusable(f"The answer of {answer.model} was not used: {str(error).rstrip('.')}.") from None


def ask(llm: Llm, task: ModelTask[T], bill: Bill | None = None) -> tuple[T, Answer]:
    """The usable form of a model's answer, and the answer; the bill also counts answers that are no use."""
    answer = llm.complete(task.request)
    if bill is not None:
        bill.add(answer)
    return task.judge(answer), answer


A = TypeVar("A")
B = TypeVar("B")
THREADS = 4  # at once: an endpoint counts the wait for its turn as time of the call


@contextmanager
def together(work: Callable[[A], B], things: Sequence[A], at_once: int = THREADS) -> Iterator[Iterable[B]]:
    """The work on each thing, in order, some at once; what was not begun when the block ends is dropped.

    >>> with together(str.upper, ["a", "b"]) as results:
    ...     list(results)
    ['A', 'B']
    """
    if at_once < 2:
        yield map(work, things)
        return
    pool = ThreadPoolExecutor(at_once)
    try:
        waiting = [pool.submit(copy_context().run, work, thing) for thing in things]
        yield (future.result() for future in waiting)
    finally:
        pool.shutdown(cancel_futures=True)
