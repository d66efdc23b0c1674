"""The cost of calls to language models."""

from __future__ import annotations

from dataclasses import dataclass

from core.types import Answer


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
