"""Questions to a language model, several at once: the check that an answer must pass before anybody keeps it, and the
cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import BadInput, Unusable
from core.llm.usable import usable
from core.ports import Llm
from core.types import Answer, LlmRequest


@dataclass(slots=True)
class Bill:
    """Calls, seconds, tokens and dollars, summed; `worth` is what the calls cost without a cache.

    >>> bill = Bill()
    >>> bill.add(Answer("[1]", "haiku", input_tokens=900, output_tokens=5, seconds=1.2, dollars=0.0008))
    >>> str(bill)
    '1 call to haiku, 1.20 s, 905 tokens, $0.0008'
    """

    model: str = ""
    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    dollars: float = 0.0
    worth: float = 0.0

    def add(self, answer: Answer) -> None:
        self.model = answer.model
        self.calls += 1
        self.seconds += answer.seconds
        self.tokens += answer.input_tokens + answer.output_tokens
        self.dollars += answer.dollars
        self.worth += answer.worth

    def join(self, other: Bill) -> None:
        if other.calls:
            self.model = other.model
            self.calls += other.calls
            self.seconds += other.seconds
            self.tokens += other.tokens
            self.dollars += other.dollars
            self.worth += other.worth

    def __str__(self) -> str:
        noun = "call" if self.calls == 1 else "calls"
        return f"{self.calls} {noun} to {self.model}, {self.seconds:.2f} s, {self.tokens:,} tokens, ${self.dollars:.4f}"


def dollars_of(amount: float) -> str:
    """An amount for display; small ones keep two significant digits.

    >>> dollars_of(12.5), dollars_of(0.00042), dollars_of(0)
    ('$12.50', '$0.00042', '$0.00')
    """
    return f"${amount:.2f}" if amount == 0 or amount >= 0.01 else f"${amount:.2g}"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelTask(Generic[T]):
    """What a model is asked. `read` gives the usable form of its words, or BadInput that says what is wrong with
    them.
    """

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
