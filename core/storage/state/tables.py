"""The tables of both databases, made from `records.py`. Yes and no are 1 and 0."""

from __future__ import annotations

from dataclasses import MISSING, Field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

from core.storage.state import records
from core.storage.state.records import FORMS, ColumnForm, columns

METADATA = sa.MetaData()


class Words(sa.Text):
    """Text that PostgreSQL compares by code point, as SQLite does."""


@compiles(Words, "postgresql")
def _by_code_point(*_: Any, **__: Any) -> str:
    return 'TEXT COLLATE "C"'


class YesOrNo(sa.TypeDecorator[int]):
    """1 and 0: sums count them, and PostgreSQL takes no yes for a number by itself."""

    impl, cache_ok = sa.BigInteger, True

    def process_bind_param(self, value: int | None, dialect: sa.Dialect) -> int | None:
        return None if value is None else int(value)


NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite's own has 64 bits too
TYPES: dict[str, Any] = {
    "str": Words(),
    "int": NUMBER,
    "bool": YesOrNo().with_variant(sa.Integer(), "sqlite"),
    "float": sa.Double().with_variant(sa.REAL(), "sqlite"),
    "bytes": sa.LargeBinary(),
}


def new_column(name: str, kind: str, default: Any = MISSING, more: ColumnForm = ColumnForm()) -> sa.Column[Any]:
    """A column in the words of SQLAlchemy."""
    given = None
    if default is not MISSING:
        given = default if kind == "str" else sa.text(f"{float(default):g}")
    bound: list[Any] = [sa.ForeignKey(more.references)] if more.references else []
    bound += [sa.CheckConstraint(more.check)] if more.check else []
    bound += [sa.Identity()] if more.numbered else []
    return sa.Column(
        name,
        TYPES[kind],
        *bound,
        primary_key=more.key or more.numbered,
        autoincrement=more.numbered,
        unique=more.unique or None,
        nullable=False,
        server_default=given,
    )


def _column(each: Field[Any], more: ColumnForm) -> sa.Column[Any]:
    return new_column(each.name, str(each.type), each.default, more)


def table(kind: type) -> sa.Table:
    """The table whose rows are of this class."""
    form = FORMS[kind]
    made = sa.Table(
        form.name,
        METADATA,
        *(_column(each, more) for each, more in columns(kind).items()),
        *([sa.UniqueConstraint(*form.unique)] if form.unique else []),
        sqlite_autoincrement=form.numbers_once,
    )
    for index in form.indexes:
        only: dict[str, Any] = {"sqlite_where": sa.text(index.where)} if index.where else {}  # postgres.py takes it
        sa.Index(index.name, *(made.c[name] for name in index.columns), unique=index.unique, **only)
    return made


accounts = table(records.AccountRow)
sessions = table(records.SessionRow)
tokens = table(records.TokenRow)
attempts = table(records.AttemptRow)
audit = table(records.AuditEntry)
drafts = table(records.DraftRow)
gaps = table(records.Gap)
settlements = table(records.Settlement)
feedback = table(records.Feedback)
changes = table(records.ChangeRow)
verdicts = table(records.VerdictRow)
comments = table(records.CommentRow)
looks = table(records.LookRow)
viewed = table(records.ViewedRow)
review_requests = table(records.ReviewRequestRow)
co_authors = table(records.CoAuthorRow)
impacts = table(records.ImpactRow)
messages = table(records.MessageRow)
watches = table(records.WatchRow)
reminders = table(records.ReminderRow)
queries = table(records.QueryRow)
opted_out = table(records.OptedOutRow)
answer_ranks = table(records.AnswerRankRow)
findability = table(records.FindabilityRow)
configurations = table(records.ConfigurationRow)
permalinks = table(records.PermalinkRow)
asked = table(records.AskedRow)
judged = table(records.JudgedRow)
pool_additions = table(records.PoolAdditionRow)
ratings = table(records.RatingRow)
querysets = table(records.QuerySetRow)
questions = table(records.QuerySetQuestionRow)
judgments = table(records.JudgmentRow)
runs = table(records.RunRow)
rankings = table(records.RankingRow)
revision = table(records.RevisionRow)
workspace = table(records.WorkspaceRow)
digests = table(records.DigestRow)
jobs = table(records.JobRow)
workers = table(records.WorkerRow)
claims = table(records.ClaimRow)
replies = table(records.ReplyRow)
remotes = table(records.RemoteRow)
calls = table(records.Call)
model_checks = table(records.ModelCheckRow)
deliveries = table(records.DeliveryRow)
delivery_attempts = table(records.DeliveryAttemptRow)
webhooks = table(records.WebhookRow)
mail_choices = table(records.MailChoiceRow)
mail_keys = table(records.MailKeyRow)
