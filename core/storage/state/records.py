"""Every table of the database: a class is its columns with their types, and its objects are the rows.

Timestamps are ISO text. `tables.py` makes the tables of both databases from these; a new column also needs a migration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """What a column is besides its name, its type and its default."""

    key: bool = False
    numbered: bool = False  # the key, a number that the database gives
    unique: bool = False
    references: str = ""
    check: str = ""


class IndexForm:
    """An index over some columns."""

    def __init__(self, name: str, *columns: str, unique: bool = False, where: str = "") -> None:
        self.name = name
        self.columns = columns
        self.unique = unique
        self.where = where


@dataclass(frozen=True, slots=True)
class TableForm:
    """What a table is besides its columns."""

    name: str
    indexes: tuple[IndexForm, ...] = ()
    unique: tuple[str, ...] = ()  # columns that are unique together
    numbers_once: bool = False  # the number of a row that is gone is not given again


FORMS: dict[type, TableForm] = {}


def column(
    default: Any = MISSING,
    *,
    key: bool = False,
    numbered: bool = False,
    unique: bool = False,
    references: str = "",
    check: str = "",
) -> Any:
    """A column that is more than a value with a type."""
    return field(default=default, metadata={"column": ColumnForm(key, numbered, unique, references, check)})


class Record:
    """A frozen row. Classes of sixty tables with methods of their own would take 70 ms more to import."""

    def __init__(self, **values: Any) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            self.__dict__[each.name] = (
                values.pop(each.name) if each.default is MISSING else values.pop(each.name, each.default)
            )
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column,))
def row(kind: type[T]) -> type[T]:
    """What a statement gives: a class of `Record`."""
    kind.__doc__ = kind.__doc__ or kind.__name__  # a dataclass would read its own signature
    return dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(kind)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column,))
def record(
    name: str, *indexes: IndexForm, unique: tuple[str, ...] = (), numbers_once: bool = False
) -> Callable[[type[T]], type[T]]:
    """The table `name`: its rows are objects of the class."""

    def make(kind: type[T]) -> type[T]:
        made = row(kind)
        FORMS[made] = TableForm(name, indexes, unique, numbers_once)
        return made

    return make


def columns(kind: type) -> dict[Field[Any], ColumnForm]:
    """The columns of a table, in their order."""
    return {each: each.metadata.get("column", ColumnForm()) for each in fields(kind)}


def of_row(kind: type[T], row: object, **other: Any) -> T:
    """What a row means to people: its values by name, and those that are given.

    >>> of_row(TableForm, IndexForm("gaps_who", "who"), indexes=(), numbers_once=True)
    TableForm(name='gaps_who', indexes=(), unique=False, numbers_once=True)
    """
    names = (each.name for each in fields(kind) if each.name not in other)  # type: ignore[arg-type]
    return kind(**{name: getattr(row, name) for name in names}, **other)


# ---------------------------------------------------------------- people


@record(
    "accounts",
    IndexForm("accounts_address", "address", unique=True),
    IndexForm("accounts_subject", "issuer", "subject", unique=True, where="subject != ''"),
)
class AccountRow(Record):
    id: str = column(key=True)
    name: str
    email: str = column(unique=True)
    role: str
    hash: str = ""
    active: bool = True
    created: str
    place: int = 0  # the order in which they came
    address: str = ""  # the email in comparable form
    issuer: str = ""  # with the subject: who this is at the sign-in provider, once they came from there
    subject: str = ""
    kind: str = "person"  # or service, agent
    analysis: bool = True  # whether the menu shows what analysts use
    renew: bool = False  # somebody else set the password: it is chosen anew when it is first used
    member_of: str = ""  # groups, one a line
    provider_groups: str = ""  # those that the provider named at the last sign-in


@record("sessions", IndexForm("sessions_account", "account"), numbers_once=True)
class SessionRow(Record):
    id: int = column(numbered=True)
    digest: str = column(unique=True)  # of the cookie; the token itself is not stored
    account: str = column(references="accounts.id")
    issuer: str = ""
    subject: str = ""
    device: str = ""
    created: str
    seen: str
    expires: str
    provider_tokens: str = ""  # of the sign-in provider, sealed with the secret of the cookie
    provider_asked: str = ""  # when it was last asked who this is


@record("tokens", IndexForm("tokens_account", "account"), IndexForm("tokens_prefix", "prefix"), numbers_once=True)
class TokenRow(Record):
    id: int = column(numbered=True)
    account: str = column(references="accounts.id")
    name: str
    scope: str
    digest: str = column(unique=True)  # the token itself is not stored
    prefix: str  # its first letters, to find and recognise it
    created: str
    expires: str
    used: str = ""
    revoked: str = ""
    made_by: str
    folders: str = ""  # that it is narrowed to, one a line; "" for none


@record("attempts", IndexForm("attempts_account", "account"))
class AttemptRow(Record):
    id: int = column(numbered=True)
    account: str
    at: float
    place: str = ""  # where it came from: an address, a browser or a session
    known: bool = False  # whether the account signed in there before


@record("audit", IndexForm("audit_commit", "commit_id"), IndexForm("audit_change", "change"), numbers_once=True)
class AuditEntry(Record):
    """One line of the audit."""

    id: int = column(numbered=True)
    at: str
    who: str
    name: str
    role: str
    door: str
    action: str
    what: str
    change: int = 0
    commit_id: str = ""
    detail: str = ""
    token: str = ""  # the name of the access token they came with, and the id of the request
    request: str = ""


# ---------------------------------------------------------------- knowledge


@record("drafts")
class DraftRow(Record):
    who: str = column(key=True)
    place: str = column(key=True)
    text: str
    at: str


@record("gaps")
class Gap(Record):
    """A question without an answer. `path` is a document that lists it and is not found for it yet, at `rank`."""

    id: int = column(numbered=True)
    query: str
    note: str = ""
    who: str
    hits: int
    commit_id: str = ""
    created: str
    closed: str = ""
    account: str = ""  # of who asked
    source: str = "reported"  # or how it was found among the questions people ask
    owner: str = ""  # the account that looks after it
    folder: str = ""
    path: str = ""
    rank: int = 0
    writer: str = ""  # the account that merged it
    near: str = "/"  # the nearest document, or a folder with a slash at its end: its readers see the gap


@record("settlements")
class Settlement(Record):
    key: str = column(key=True)  # of the disagreement, made of what both documents say
    reason: str
    who: str
    name: str
    at: str


@record("feedback", IndexForm("feedback_path", "path"))
class Feedback(Record):
    """What a reader said about a document, or about the passage `quote` at `start` to `stop` of a version of it."""

    id: int = column(numbered=True)
    path: str
    kind: str
    note: str = ""
    quote: str = ""
    start: int = 0
    stop: int = 0
    version: int
    account: str
    name: str
    at: str
    closed: str = ""
    closed_by: str = ""
    answer: str = ""


# ---------------------------------------------------------------- reviews


@record("changes", numbers_once=True)
class ChangeRow(Record):
    id: int = column(numbered=True)
    title: str
    description: str = ""
    author: str
    author_name: str
    stage: str
    start: str = ""
    head: str = ""
    merged: str = ""
    reverts: int = 0
    bypass: str = ""
    created: str
    updated: str
    ended: str = ""
    ended_by: str = ""


@record("verdicts", IndexForm("verdicts_change", "change"))
class VerdictRow(Record):
    id: int = column(numbered=True)
    change: int = column(references="changes.id")
    who: str
    name: str
    head: str
    verdict: str
    note: str = ""
    at: str


@record("comments", IndexForm("comments_change", "change"))
class CommentRow(Record):
    id: int = column(numbered=True)
    change: int = column(references="changes.id")
    thread: int = 0
    path: str = ""
    line: int = 0
    last: int = 0
    quote: str = ""
    who: str
    name: str
    body: str
    at: str
    resolved: str = ""
    applied: str = ""
    edited: str = ""
    deleted: str = ""
    removed: bool = False  # its lines are those of the text before the change


@record("looks")
class LookRow(Record):
    who: str = column(key=True)
    change: int = column(key=True, references="changes.id")
    head: str
    at: str
    comment: int = 0  # the newest one there was
    before: str = ""  # the head that was looked at before this one, and when
    before_at: str = ""


@record("viewed")
class ViewedRow(Record):
    who: str = column(key=True)
    change: int = column(key=True, references="changes.id")
    path: str = column(key=True)
    blob: str  # the text that was viewed


@record("review_requests")
class ReviewRequestRow(Record):
    change: int = column(key=True, references="changes.id")
    account: str = column(key=True)
    name: str
    asker: str  # the name of who asked
    rule: str = ""  # what the review rule matches, where a rule asked
    at: str


@record("co_authors")
class CoAuthorRow(Record):
    change: int = column(key=True, references="changes.id")
    account: str = column(key=True)
    name: str
    inviter: str  # the name of who invited them
    at: str


@record("impacts")
class ImpactRow(Record):
    change: int = column(key=True, references="changes.id")
    head: str  # the text that was measured
    main: str  # and the main line that it was measured on
    created: str
    result: bytes


# ---------------------------------------------------------------- inbox


@record("messages", IndexForm("messages_account", "account", "read"))
class MessageRow(Record):
    id: int = column(numbered=True)
    account: str
    kind: str
    about: str
    ref: str
    title: str
    place: str = "{}"  # where in it, as JSON
    text: str = ""
    actor: str
    actor_name: str
    count: int = 1
    at: str
    read: str = ""
    names: str = "[]"  # paths that its receiver must be able to read, as JSON


@record("watches", unique=("account", "kind", "what"))
class WatchRow(Record):
    id: int = column(numbered=True)
    account: str
    kind: str
    what: str
    seen: str = "[]"  # the answers to a question when it was last looked at, as JSON
    created: str


@record("reminders")
class ReminderRow(Record):
    account: str = column(key=True)
    path: str = column(key=True)
    review_due: str = column(key=True)
    state: str = column(key=True)


# ---------------------------------------------------------------- questions


@record("queries", IndexForm("queries_key", "key"), IndexForm("queries_at", "at"))
class QueryRow(Record):
    id: int = column(numbered=True)
    question: str
    key: str  # the question in comparable form
    at: str  # to the hour
    hits: int
    score: float  # of the best hit, fused
    doubtful: bool  # nothing that was found is likely to answer
    commit_id: str
    opened: bool = False
    document: str = ""  # the id of the one that was opened last, where everybody may read it


@record("opted_out")
class OptedOutRow(Record):
    account: str = column(key=True)


@record("answer_ranks", IndexForm("answer_ranks_question", "doc", "key"))
class AnswerRankRow(Record):
    id: int = column(numbered=True)
    doc: str
    key: str  # the question in comparable form
    question: str
    rank: int  # 0: not found
    note: str = ""
    commit_id: str
    at: str


@record("findability")
class FindabilityRow(Record):
    commit_id: str = column(key=True)
    at: str  # when it was asked first, and last
    checked: str
    questions: int
    found: int
    within: int  # that many documents
    folders: str  # to (questions, found), as JSON


# ---------------------------------------------------------------- playground


@record("configurations")
class ConfigurationRow(Record):
    name: str = column(key=True)
    profile: str
    config: str
    who: str
    created: str


@record("permalinks")
class PermalinkRow(Record):
    id: str = column(key=True)
    state: str
    who: str
    created: str


@record("asked", unique=("who", "query"))
class AskedRow(Record):
    id: int = column(numbered=True)
    who: str
    query: str
    link: str
    starred: bool = False
    created: str


@record("judged", unique=("query", "path", "heading", "quote", "judge"))
class JudgedRow(Record):
    id: int = column(numbered=True)
    query: str
    path: str
    heading: str
    quote: str
    grade: int = column(check="grade BETWEEN 0 AND 3")
    judge: str
    blind: bool = False
    created: str
    note: str = ""


@record("pool_additions", unique=("query", "path", "heading", "quote"))
class PoolAdditionRow(Record):
    id: int = column(numbered=True)
    query: str
    path: str
    heading: str
    quote: str
    judge: str  # the account that added it
    new_document: bool  # 1: the pool had nothing else of its document
    created: str


@record("ratings", unique=("query", "kind", "judge"))
class RatingRow(Record):
    id: int = column(numbered=True)
    query: str
    kind: str  # of answer: the first result, or a written one
    answer: str  # the words that were shown
    rating: str
    judge: str
    note: str = ""
    created: str


# ---------------------------------------------------------------- evaluation


@record("querysets")
class QuerySetRow(Record):
    id: int = column(numbered=True)
    name: str = column(unique=True)
    about: str = ""
    guidelines: str = ""
    who: str = ""
    created: str
    problems: str = "[]"  # lines that the last import left out
    guard: bool = False  # 1: every change is asked its questions


@record("queryset_questions")
class QuerySetQuestionRow(Record):
    queryset: int = column(key=True, references="querysets.id")
    id: str = column(key=True)
    place: int
    text: str
    category: str = ""


@record("queryset_judgments", unique=("queryset", "question", "path", "heading", "quote", "source", "judge"))
class JudgmentRow(Record):
    id: int = column(numbered=True)
    queryset: int = column(references="querysets.id")
    question: str
    path: str
    heading: str = "[]"
    quote: str = ""
    grade: float
    source: str
    judge: str = ""
    created: str
    note: str = ""


@record("runs", IndexForm("runs_queryset", "queryset", "created"))
class RunRow(Record):
    id: str = column(key=True)
    queryset: str
    queryset_digest: str
    unit: str
    search: str
    profile: str
    config: str
    generation: int
    commit_id: str
    facts: str
    results: bytes
    created: str
    place: int = 0  # the order in which they were kept


@record("rankings")
class RankingRow(Record):
    search: str = column(key=True)
    query: str = column(key=True)
    result: bytes


# ---------------------------------------------------------------- platform and models


@record("alembic_version")
class RevisionRow(Record):
    version_num: str = column(key=True)


@record("workspace")
class WorkspaceRow(Record):
    id: str = column(key=True)


@record("digests")
class DigestRow(Record):
    name: str = column(key=True)
    rows: int
    total: int


@record("jobs", IndexForm("jobs_state", "state"))
class JobRow(Record):
    id: int = column(numbered=True)
    kind: str
    arguments: str
    state: str
    done: int = 0
    total: int = 0
    message: str = ""
    error: str = ""
    result: str = ""
    attempts: int = 0
    cancel: bool = False
    created: str
    started: str = ""
    ended: str = ""
    asked: str = ""  # who asked for it, as JSON
    again: bool = False  # asked for once more while it ran
    worker: str = ""  # who has it, where workers claim jobs
    leased: float = 0.0  # until when it is theirs, in seconds
    log: str = ""  # the end of what it printed


@record("workers")
class WorkerRow(Record):
    name: str = column(key=True)
    started: str
    seen: float


@record("claims")
class ClaimRow(Record):
    name: str = column(key=True)
    holder: str
    until: float


@record("replies", IndexForm("replies_at", "at"))
class ReplyRow(Record):
    caller: str = column(key=True)  # an account and the name of its token
    key: str = column(key=True)
    request: str  # the digest of what was asked
    status: int = 0  # 0 while it is worked on
    headers: str = "{}"
    body: str = ""
    at: float


@record("remotes")
class RemoteRow(Record):
    name: str = column(key=True)
    url: str  # without a password
    branch: str
    folder: str
    trust: bool = False
    change: int = 0  # that holds the commits made elsewhere
    pushed: str = ""
    fetched: str = ""
    tried: str = ""
    failures: int = 0  # in a row
    error: str = ""
    rewritten: str = ""  # the commit that a rewritten branch has now
    created: str


@record("calls", IndexForm("calls_at", "at"))
class Call(Record):
    """One line of the ledger. `failed` is empty, or the reason."""

    id: int = column(numbered=True)
    at: str
    purpose: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0
    cached: bool = False
    failed: str = ""


@record("model_checks")
class ModelCheckRow(Record):
    model: str = column(key=True)
    server: str = column(key=True)
    feature: str = column(key=True)
    version: int  # of the probes
    passed: int
    total: int
    fit: bool
    why: str = ""
    seconds: float = 0.0
    at: str
    forced_by: str = ""  # who uses it all the same
    reason: str = ""


# ---------------------------------------------------------------- what goes out


@record("deliveries", IndexForm("deliveries_due", "state", "due"), numbers_once=True)
class DeliveryRow(Record):
    id: int = column(numbered=True)
    key: str = column(unique=True)  # the same at every attempt: receivers know a repeat by it
    channel: str  # mail or webhook
    target: str  # an account, or the number of a webhook
    kind: str
    message: int = 0
    content: str  # as JSON
    created: str
    since: float  # when attempts began, in seconds
    state: str  # held, waiting, sent, failed, cancelled
    attempts: int = 0
    due: float = 0.0
    leased: float = 0.0  # until when it belongs to a worker
    worker: str = ""
    code: int = 0
    note: str = ""
    ended: str = ""
    digest: int = 0  # the daily mail that it became a part of


@record("delivery_attempts", IndexForm("delivery_attempts_delivery", "delivery"))
class DeliveryAttemptRow(Record):
    id: int = column(numbered=True)
    delivery: int = column(references="deliveries.id")
    at: str
    seconds: float
    code: int
    note: str = ""


@record("webhooks", numbers_once=True)
class WebhookRow(Record):
    id: int = column(numbered=True)
    name: str
    url: str
    events: str = "[]"  # as JSON; all if none is named
    format: str
    secret: str
    active: bool = True
    failing: float = 0.0  # since when nothing arrives, in seconds
    created: str
    who: str
    reads_as: str = ""  # readers, one a line; what everybody may read if there is none


@record("mail_choices")
class MailChoiceRow(Record):
    account: str = column(key=True)
    topic: str = column(key=True)
    choice: str


@record("mail_keys")
class MailKeyRow(Record):
    account: str = column(key=True)
    key: str


# ---------------------------------------------------------------- what statements join and count


@row
class SessionOfAccount(SessionRow):
    name: str
    email: str
    role: str
    kind: str
    member_of: str
    provider_groups: str


@row
class TokenOfAccount(TokenRow):
    full_name: str
    email: str
    role: str
    kind: str
    member_of: str
    provider_groups: str
    active: bool


@row
class DraftPlace(Record):
    who: str
    name: str
    place: str
    at: str


@row
class WriterOfChange(Record):
    change: int
    who: str
    first: int = 0  # the line of the audit in which they began


@row
class Asked(Record):
    """A question with how often it was asked, found something good, and led to a document."""

    question: str
    times: int
    last: str
    found: int
    opened: int


@row
class EndedAt(Record):
    """A question and a document that askings of it ended at."""

    question: str
    document: str
    times: int


@row
class AskedInVain(Record):
    key: str
    question: str
    times: int
    found: int
    opened: int


@row
class QueryTotals(Record):
    """Askings that are kept: how many there were, found something good, and led somewhere."""

    asked: int
    found: int
    opened: int


@row
class QuerySetSummary(Record):
    """A query set without its questions."""

    name: str
    about: str
    questions: int
    judgments: int
    judges: int
    who: str
    created: str
    guard: bool = False  # every change is asked its questions


@row
class PackedRun(Record):
    facts: str
    results: bytes = b""


@row
class OpenJob(JobRow):
    lost: bool  # the worker that has it was not heard of in time


@row
class SpendingOnPurpose(Record):
    """What calls of one model for one purpose took. Tokens are those of calls that were made."""

    purpose: str
    model: str
    calls: int
    cached: int
    failed: int
    input_tokens: int
    output_tokens: int
    seconds: float
    dollars: float


@row
class PastCalls(Record):
    """What calls of a model for a purpose took on average."""

    output_tokens: float
    seconds: float


@row
class HeldDelivery(DeliveryRow):
    read: str | None  # when its message was read
