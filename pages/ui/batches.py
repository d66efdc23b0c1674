"""Documents that were read in and not submitted yet, by tab: how many bytes one tab, one account and everybody may
hold.

The draft of its author has the same batch, so nothing is lost when a page is left or a tab is closed: it only leaves
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from sys import getsizeof
from threading import Lock

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.curation.upload.items import Batch
from core.errors import Busy, Unavailable

MB = 1_000_000
OF_ACCOUNT, OF_ALL = 100 * MB, 300 * MB
PATIENCE = 60.0  # seconds that one upload waits for another of the same account
OVER_ACCOUNT = (
    "{held} MB of documents wait for their submission in your tabs, and {most} MB is the limit. Submit or remove some"
    " of them first."
)
OVER_ALL = (
    "{held} MB of documents wait for their submission in the tabs of everybody, and {most} MB is the limit. Try again"
    " in a minute."
)
ONE_AT_A_TIME = "Another upload of yours is still being read. Try again when it is there."


@dataclass(frozen=True, slots=True)
class HeldBatch:
    """A batch of a tab. `name` is what the session knows it by."""

    name: str
    account: str
    batch: Batch
    size: int


class Batches:
    """The batches of all tabs."""

    def __init__(self, of_account: int = OF_ACCOUNT, of_all: int = OF_ALL) -> None:
        self.of_account, self.of_all = of_account, of_all
        self._lock, self._held, self._turns = Lock(), dict[str, HeldBatch](), dict[str, Lock]()

    @contextmanager
    def turn(self, account: str, patience: float = PATIENCE) -> Iterator[None]:
        """One reading of files at a time, so that nobody takes all converters."""
        turn = self._turns.setdefault(account, Lock())
        if not turn.acquire(timeout=patience):
            raise Busy(ONE_AT_A_TIME)
        try:
            yield
        finally:
            turn.release()

    def put(self, tab: str, held: HeldBatch) -> None:
        """Hold it in the place of what the tab had, or say why there is no room."""
        with self._lock:
            others = [other for name, other in self._held.items() if name != tab]
            own = held.size + sum(other.size for other in others if other.account == held.account)
            every = held.size + sum(other.size for other in others)
            if own > self.of_account:
                raise Busy(OVER_ACCOUNT.format(held=own // MB, most=self.of_account // MB))
            if every > self.of_all:
                raise Unavailable(OVER_ALL.format(held=every // MB, most=self.of_all // MB))
            self._held[tab] = held

    def get(self, tab: str, name: str) -> Batch | None:
        """The batch that the session of this tab put there."""
        held = self._held.get(tab)
        return held.batch if held and held.name == name else None

    def drop(self, tab: str) -> None:
        with self._lock:
            self._held.pop(tab, None)

    def sweep(self, is_open: Callable[[str], bool]) -> None:
        """Drop what closed tabs had."""
        for tab in list(self._held):
            if not is_open(tab):
                self.drop(tab)


BATCHES = Batches()


def size(batch: Batch, packed: str) -> int:
    """Bytes of a batch in memory: one wide letter makes every letter of its text wide."""
    texts = sum(getsizeof(item.text) for item in batch.items)
    return max(len(packed), texts + sum(len(picture.raw) for picture in batch.pictures))


def tab() -> str:
    context = get_script_run_ctx()
    return context.session_id if context else ""


def leave() -> None:
    """The page of this tab is left."""
    BATCHES.drop(tab())


def sweep() -> None:
    """Drop the batches of tabs that are closed."""
    if Runtime.exists():
        BATCHES.sweep(lambda tab: Runtime.instance().get_client(tab) is not None)
