"""The database of a workspace: its repositories, transactions over several calls, and what each kind must know."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, insert, select

from core.cures import UPGRADE, run
from core.errors import Outdated, Refused, Unavailable
from core.storage.state import migrations, tables
from core.storage.state.rows.evaluation_rows import (
    GradeRows,
    NotebookRows,
    PoolRows,
    QuerySetRows,
    RankingRows,
    RunRows,
)
from core.storage.state.rows.knowledge_rows import (
    DraftRows,
    FeedbackRows,
    GapRows,
    MessageRows,
    ReminderRows,
    SettlementRows,
    WatchRows,
)
from core.storage.state.rows.people_rows import AccountRows, AuditRows, SessionRows, TokenRows
from core.storage.state.rows.platform_rows import (
    CallRows,
    DeliveryRows,
    JobRows,
    MailChoiceRows,
    ModelCheckRows,
    RemoteRows,
    ReplyRows,
    WebhookRows,
    WorkerRows,
)
from core.storage.state.rows.question_rows import AnswerRows, QueryRows
from core.storage.state.rows.review_rows import (
    ChangeRows,
    CoAuthorRows,
    CommentRows,
    ImpactRows,
    LookRows,
    RequestRows,
    VerdictRows,
)
from core.storage.state.transactions import Statements
from core.types import Damage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What a database says about itself before it is opened for work."""

    version: int = 0  # 0: there is none
    workspace: str = ""
    commit: str = ""  # named last in the audit


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What brings a database to this version, tried on a copy of it."""

    have: int  # the last revision it has seen
    newest: int  # that there is
    rows: int = 0  # of the copy that was migrated
    bytes: int = 0
    seconds: float = 0.0  # of CPU that the copy took

    @property
    def needed(self) -> bool:
        return self.have < self.newest


class State:
    """Every repository, over statements that run alone or inside one transaction."""

    hold: Callable[[str], None]  # inside a transaction: have one more lock until it ends

    def __init__(self, statements: Statements) -> None:
        self.accounts, self.audit = AccountRows(statements), AuditRows(statements)
        self.sessions, self.tokens = SessionRows(statements), TokenRows(statements)
        self.drafts, self.gaps = DraftRows(statements), GapRows(statements)
        self.changes, self.requests = ChangeRows(statements), RequestRows(statements)
        self.co_authors = CoAuthorRows(statements)
        self.looks, self.impacts = LookRows(statements), ImpactRows(statements)
        self.verdicts, self.comments = VerdictRows(statements), CommentRows(statements)
        self.messages, self.feedback = MessageRows(statements), FeedbackRows(statements)
        self.watches, self.reminders = WatchRows(statements), ReminderRows(statements)
        self.settlements = SettlementRows(statements)
        self.grades, self.notebook = GradeRows(statements), NotebookRows(statements)
        self.querysets, self.runs = QuerySetRows(statements), RunRows(statements)
        self.pools = PoolRows(statements)
        self.rankings = RankingRows(statements)
        self.queries, self.answers = QueryRows(statements), AnswerRows(statements)
        self.jobs, self.workers, self.calls = JobRows(statements), WorkerRows(statements), CallRows(statements)
        self.model_checks, self.remotes = ModelCheckRows(statements), RemoteRows(statements)
        self.deliveries, self.webhooks = DeliveryRows(statements), WebhookRows(statements)
        self.mail_choices, self.replies = MailChoiceRows(statements), ReplyRows(statements)


_LIMIT: ContextVar[float] = ContextVar("database_limit", default=inf)


def patience(usual: float) -> float:
    """Seconds that whoever asks now waits for the database at most, for each thing that can keep them waiting."""
    return min(usual, _LIMIT.get())


def impatient() -> bool:
    """Whether whoever asks now rather does without an answer than wait for one."""
    return _LIMIT.get() < inf


class Database(State):
    """The repositories of a workspace. Each call is a transaction of its own; `transaction()` joins several."""

    name: str  # what it is called where damage is told
    place: str  # where it is, without a password
    on_server = False  # where only the tools of that server save it in the form of an earlier version
    upgrade = UPGRADE

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.statements = Statements(self._reading, self._single, self._unlocked, self._spare)
        super().__init__(self.statements)

    @abstractmethod
    def create(self, workspace: str = "", *, migrate: bool = False) -> None:
        """Make the tables of a new one, which belongs to the given workspace.

        One of an earlier version is refused, or with `migrate` upgraded: each revision is applied once, all or none.
        """

    def earlier(self) -> int:
        """The revision of an earlier version; 0 where there is nothing to upgrade."""
        have = self.facts().version
        return have if have < migrations.newest() else 0

    def _revision(self, connection: Connection) -> int:
        """The last revision it has seen; Outdated where that is of a version before 1.0."""
        have = migrations.version(connection)
        if 0 < have < migrations.OLDEST:
            raise Outdated(
                f"{self.place} was written by a version of Concord before 1.0. Nothing was changed.",
                run("Install Concord 1.0 and let it upgrade the workspace", "upgrade DIR"),
            )
        return have

    def refuse_earlier(self, have: int) -> None:
        """Refuse to open a revision of an earlier version: whoever upgrades saves it first."""
        if 0 < have < (newest := migrations.newest()):
            raise Outdated(
                f"{self.place} is of an earlier version of Concord (revision {have}; this version has {newest}). "
                "Nothing was changed.",
                self.upgrade,
            )

    def version(self) -> object:
        """Another one after every commit, whoever made it; None where that is not cheap to know."""
        return None

    def notify(self, topic: str) -> None:
        """Let every process that waits for a topic look at once, where the database can tell them."""

    def wait(self, topic: str, ending: threading.Event, pause: float) -> bool:
        """Wait until a topic is told, or for a pause where nobody would tell; whether the end came meanwhile."""
        return ending.wait(pause)

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _writing(self, *locks: str) -> AbstractContextManager[Connection]:
        """One writer at a time: what a transaction read is still true when it writes.

        Transactions that name locks wait only for those that name the same lock, if the database can do that.
        """

    def _single(self) -> AbstractContextManager[Connection]:
        """For one statement, which happens as a whole or not at all."""
        return self._writing()

    @contextmanager
    def _spare(self) -> Iterator[Connection | None]:
        """For a note that may be left out: None where somebody else writes just now."""
        with self._single() as connection:
            yield connection

    def _hold(self, connection: Connection, lock: str) -> None:
        """Have one more lock until the transaction ends."""

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Whoever asks in the block waits so long at most, and is then told that the database cannot be reached."""
        token = _LIMIT.set(min(seconds, _LIMIT.get()))
        try:
            yield
        finally:
            _LIMIT.reset(token)

    def _unlocked(self) -> AbstractContextManager[Connection]:
        """For single rows that only their holder changes: does not wait for a writer, where that can be."""
        return self._writing()

    @abstractmethod
    def frozen(self, look: Callable[[], T]) -> AbstractContextManager[tuple[T, Callable[[Path], None]]]:
        """What `look` sees while nobody writes, and a function that copies the database as it was at that moment.

        The copy is an SQLite file, whatever the database is. Writers wait for `look` alone: the copy reads from a
        transaction that began then, and others go on.
        """

    def refuse_taken(self) -> None:
        """Refuse to be filled where something else is there; a file is looked at together with its folder."""

    @abstractmethod
    def load(self, file: Path) -> None:
        """Take over every row of such a copy, all or none, and remove it. A database with other rows is refused."""

    def retire(self) -> None:
        """Another database has taken over."""

    @abstractmethod
    def damaged(self) -> list[Damage]:
        """What is wrong with it, as far as it can be known; nothing is written."""

    @abstractmethod
    def accept(self) -> None:
        """Take every row as it is now."""

    def erase(self) -> None:
        """Drop every row but the id of the workspace. Only for a file: a server belongs to its admins."""
        raise Refused(f"The database {self.place} is no file of this workspace. Start with another one instead.")

    @abstractmethod
    def start_changes_after(self, number: int) -> None:
        """Give changes no number that a branch or a commit has already."""

    def rehearse(self) -> Rehearsal:
        """What brings it to this version. Where it is a file, a copy is migrated; Corrupt if that loses something."""
        with self._reading() as connection:
            self._lacks(connection)
            return Rehearsal(self._revision(connection), migrations.newest())

    @contextmanager
    def transaction(self, *locks: str) -> Iterator[State]:
        """Several calls that happen together or not at all: those of the repositories that the block gets.

        Without `locks`, no other transaction without locks runs at the same time; with them, none that names one.
        """
        with self._writing(*locks) as connection:

            def joined() -> AbstractContextManager[Connection]:
                return nullcontext(connection)

            state = State(Statements(joined, joined, alone=False))
            state.hold = partial(self._hold, connection)
            yield state

    def facts(self) -> DatabaseFacts:
        """What it says about itself, in whichever form it is; nothing is written."""
        with self._reading() as connection:
            version, names = self._revision(connection), migrations.names(connection)
        numbers = (
            self.statements.pairs(select(tables.workspace.c.id, tables.workspace.c.id)) if "workspace" in names else {}
        )
        commit = self.audit.last_commit() if "audit" in names else ""
        return DatabaseFacts(version, next(iter(numbers), ""), commit)

    def _lacks(self, connection: Connection) -> bool:
        """Whether there are revisions it has not seen; one of a newer version is refused."""
        have, newest = self._revision(connection), migrations.newest()
        if have > newest:
            raise Unavailable(f"{self.place} was written by a newer version of Concord. Update the code to open it.")
        return have < newest


def belong(connection: Connection, workspace: str) -> None:
    """Write down whose database it is, unless it says so already."""
    if workspace and not connection.execute(select(tables.workspace)).first():
        connection.execute(insert(tables.workspace), {"id": workspace})
