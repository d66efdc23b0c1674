"""Every table of the database. Timestamps are ISO text, yes and no are 1 and 0; migrations bring a file to this form."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy import UniqueConstraint as Unique

METADATA = MetaData()
_BOUND = text("subject != ''")
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # SQLite's own has 64 bits too


def _text(name: str, default: str | None = None, *more: Any, **options: Any) -> Column[str]:
    return Column(name, Text, *more, nullable=False, server_default=default, **options)


def _number(name: str, default: int | None = None, *more: Any, **options: Any) -> Column[int]:
    given = None if default is None else str(default)
    return Column(name, _NUMBER, *more, nullable=False, server_default=given, **options)


def _real(name: str, default: int | None = None) -> Column[float]:
    return Column(name, Float, nullable=False, server_default=None if default is None else str(default))


def _id() -> Column[int]:
    return Column("id", _NUMBER, primary_key=True, autoincrement=True)


# ---------------------------------------------------------------- people

accounts = Table(
    "accounts",
    METADATA,
    _text("id", primary_key=True),
    _text("name"),
    _text("email", unique=True),
    _text("role"),
    _text("hash", ""),
    _number("active", 1),
    _text("created"),
    _number("place", 0),  # the order in which they came
    _text("address", ""),  # the email in comparable form
    Index("accounts_address", "address", unique=True),
    _text("issuer", ""),  # with the subject: who this is at the sign-in provider, once they came from there
    _text("subject", ""),
    Index("accounts_subject", "issuer", "subject", unique=True, sqlite_where=_BOUND),
    _text("kind", "person"),  # or service, agent
)
sessions = Table(
    "sessions",
    METADATA,
    _id(),
    _text("digest", unique=True),  # of the cookie; the token itself is not stored
    _text("account", None, ForeignKey("accounts.id")),
    _text("issuer", ""),
    _text("subject", ""),
    _text("device", ""),
    _text("created"),
    _text("seen"),
    _text("expires"),
    Index("sessions_account", "account"),
    sqlite_autoincrement=True,
)
tokens = Table(
    "tokens",
    METADATA,
    _id(),
    _text("account", None, ForeignKey("accounts.id")),
    _text("name"),
    _text("scope"),
    _text("digest", unique=True),  # the token itself is not stored
    _text("prefix"),  # its first letters, to find and recognise it
    _text("created"),
    _text("expires"),
    _text("used", ""),
    _text("revoked", ""),
    _text("made_by"),
    Index("tokens_account", "account"),
    Index("tokens_prefix", "prefix"),
    sqlite_autoincrement=True,
)
attempts = Table(
    "attempts",
    METADATA,
    _id(),
    _text("account"),
    _real("at"),
    _text("place", ""),  # where it came from: an address, a browser or a session
    _number("known", 0),  # whether the account signed in there before
    Index("attempts_account", "account"),
)
audit = Table(
    "audit",
    METADATA,
    _id(),
    _text("at"),
    _text("who"),
    _text("name"),
    _text("role"),
    _text("door"),
    _text("action"),
    _text("what"),
    _number("change", 0),
    _text("commit_id", ""),
    _text("detail", ""),
    _text("token", ""),  # the name of the access token they came with, and the id of the request
    _text("request", ""),
    Index("audit_commit", "commit_id"),
    Index("audit_change", "change"),
    sqlite_autoincrement=True,
)

# ---------------------------------------------------------------- knowledge

drafts = Table(
    "drafts",
    METADATA,
    _text("who", primary_key=True),
    _text("place", primary_key=True),
    _text("text"),
    _text("at"),
)
gaps = Table(
    "gaps",
    METADATA,
    _id(),
    _text("query"),
    _text("note", ""),
    _text("who"),
    _number("hits"),
    _text("commit_id", ""),
    _text("created"),
    _text("closed", ""),
    _text("account", ""),  # of who asked
    _text("source", "reported"),  # or how it was found among the questions people ask
    _text("owner", ""),  # the account that looks after it
    _text("folder", ""),
    _text("path", ""),  # of a document that lists it
    _number("rank", 0),  # at which that document is found
    _text("writer", ""),  # the account that merged it
)
settlements = Table(
    "settlements",
    METADATA,
    _text("key", primary_key=True),  # of the disagreement, made of what both documents say
    _text("reason"),
    _text("who"),
    _text("name"),
    _text("at"),
)
feedback = Table(
    "feedback",
    METADATA,
    _id(),
    _text("path"),
    _text("kind"),
    _text("note", ""),
    _text("quote", ""),  # the passage that it is about
    _number("start", 0),
    _number("stop", 0),
    _number("version"),
    _text("account"),
    _text("name"),
    _text("at"),
    _text("closed", ""),
    _text("closed_by", ""),
    _text("answer", ""),
    Index("feedback_path", "path"),
)

# ---------------------------------------------------------------- reviews

changes = Table(
    "changes",
    METADATA,
    _id(),
    _text("title"),
    _text("description", ""),
    _text("author"),
    _text("author_name"),
    _text("stage"),
    _text("start", ""),
    _text("head", ""),
    _text("merged", ""),
    _number("reverts", 0),
    _text("bypass", ""),
    _text("created"),
    _text("updated"),
    _text("ended", ""),
    _text("ended_by", ""),
    sqlite_autoincrement=True,
)
verdicts = Table(
    "verdicts",
    METADATA,
    _id(),
    _number("change", None, ForeignKey("changes.id")),
    _text("who"),
    _text("name"),
    _text("head"),
    _text("verdict"),
    _text("note", ""),
    _text("at"),
    Index("verdicts_change", "change"),
)
comments = Table(
    "comments",
    METADATA,
    _id(),
    _number("change", None, ForeignKey("changes.id")),
    _number("thread", 0),
    _text("path", ""),
    _number("line", 0),
    _number("last", 0),
    _text("quote", ""),
    _text("who"),
    _text("name"),
    _text("body"),
    _text("at"),
    _text("resolved", ""),
    _text("applied", ""),
    Index("comments_change", "change"),
    _text("edited", ""),
    _text("deleted", ""),
)
looks = Table(
    "looks",
    METADATA,
    _text("who", primary_key=True),
    _number("change", None, ForeignKey("changes.id"), primary_key=True, autoincrement=False),
    _text("head"),
    _text("at"),
    _number("comment", 0),  # the newest one there was
    _text("before", ""),  # the head that was looked at before this one, and when
    _text("before_at", ""),
)
viewed = Table(
    "viewed",
    METADATA,
    _text("who", primary_key=True),
    _number("change", None, ForeignKey("changes.id"), primary_key=True, autoincrement=False),
    _text("path", primary_key=True),
    _text("blob"),  # the text that was viewed
)

review_requests = Table(
    "review_requests",
    METADATA,
    _number("change", None, ForeignKey("changes.id"), primary_key=True, autoincrement=False),
    _text("account", primary_key=True),
    _text("name"),
    _text("asker"),  # the name of who asked
    _text("rule", ""),  # what the review rule matches, where a rule asked
    _text("at"),
)

co_authors = Table(
    "co_authors",
    METADATA,
    _number("change", None, ForeignKey("changes.id"), primary_key=True, autoincrement=False),
    _text("account", primary_key=True),
    _text("name"),
    _text("inviter"),  # the name of who invited them
    _text("at"),
)

impacts = Table(
    "impacts",
    METADATA,
    _number("change", None, ForeignKey("changes.id"), primary_key=True, autoincrement=False),
    _text("head"),  # the text that was measured
    _text("main"),  # and the main line that it was measured on
    _text("created"),
    Column("result", LargeBinary, nullable=False),
)

# ---------------------------------------------------------------- inbox

messages = Table(
    "messages",
    METADATA,
    _id(),
    _text("account"),
    _text("kind"),
    _text("about"),
    _text("ref"),
    _text("title"),
    _text("place", "{}"),  # where in it, as JSON
    _text("text", ""),
    _text("actor"),
    _text("actor_name"),
    _number("count", 1),
    _text("at"),
    _text("read", ""),
    Index("messages_account", "account", "read"),
)
watches = Table(
    "watches",
    METADATA,
    _id(),
    _text("account"),
    _text("kind"),
    _text("what"),
    _text("seen", "[]"),  # the answers to a question when it was last looked at, as JSON
    _text("created"),
    Unique("account", "kind", "what"),
)
reminders = Table(
    "reminders",
    METADATA,
    _text("account", primary_key=True),
    _text("path", primary_key=True),
    _text("review_due", primary_key=True),
    _text("state", primary_key=True),
)

# ---------------------------------------------------------------- questions

queries = Table(
    "queries",
    METADATA,
    _id(),
    _text("question"),
    _text("key"),  # the question in comparable form
    _text("at"),  # to the hour
    _number("hits"),
    _real("score"),  # of the best hit, fused
    _number("doubtful"),  # nothing that was found is likely to answer
    _text("commit_id"),
    _number("opened", 0),
    Index("queries_key", "key"),
    Index("queries_at", "at"),
)
opted_out = Table("opted_out", METADATA, _text("account", primary_key=True))
answer_ranks = Table(
    "answer_ranks",
    METADATA,
    _id(),
    _text("doc"),
    _text("key"),  # the question in comparable form
    _text("question"),
    _number("rank"),  # 0: not found
    _text("note", ""),
    _text("commit_id"),
    _text("at"),
    Index("answer_ranks_question", "doc", "key"),
)
findability = Table(
    "findability",
    METADATA,
    _text("commit_id", primary_key=True),
    _text("at"),  # when it was asked first, and last
    _text("checked"),
    _number("questions"),
    _number("found"),
    _number("within"),  # that many documents
    _text("folders"),  # to (questions, found), as JSON
)

# ---------------------------------------------------------------- playground

configurations = Table(
    "configurations",
    METADATA,
    _text("name", primary_key=True),
    _text("profile"),
    _text("config"),
    _text("who"),
    _text("created"),
)
permalinks = Table(
    "permalinks", METADATA, _text("id", primary_key=True), _text("state"), _text("who"), _text("created")
)
asked = Table(
    "asked",
    METADATA,
    _id(),
    _text("who"),
    _text("query"),
    _text("link"),
    _number("starred", 0),
    _text("created"),
    Unique("who", "query"),
)
judged = Table(
    "judged",
    METADATA,
    _id(),
    _text("query"),
    _text("path"),
    _text("heading"),
    _text("quote"),
    _number("grade", None, CheckConstraint("grade BETWEEN 0 AND 3")),
    _text("judge"),
    _number("blind", 0),
    _text("created"),
    _text("note", ""),
    Unique("query", "path", "heading", "quote", "judge"),
)

pool_additions = Table(
    "pool_additions",
    METADATA,
    _id(),
    _text("query"),
    _text("path"),
    _text("heading"),
    _text("quote"),
    _text("judge"),  # the account that added it
    _number("new_document"),  # 1: the pool had nothing else of its document
    _text("created"),
    Unique("query", "path", "heading", "quote"),
)
ratings = Table(
    "ratings",
    METADATA,
    _id(),
    _text("query"),
    _text("kind"),  # of answer: the first result, or a written one
    _text("answer"),  # the words that were shown
    _text("rating"),
    _text("judge"),
    _text("note", ""),
    _text("created"),
    Unique("query", "kind", "judge"),
)

# ---------------------------------------------------------------- evaluation

querysets = Table(
    "querysets",
    METADATA,
    _id(),
    _text("name", unique=True),
    _text("about", ""),
    _text("guidelines", ""),
    _text("who", ""),
    _text("created"),
    _text("problems", "[]"),  # lines that the last import left out
    _number("guard", 0),  # 1: every change is asked its questions
)
questions = Table(
    "queryset_questions",
    METADATA,
    _number("queryset", None, ForeignKey("querysets.id"), primary_key=True, autoincrement=False),
    _text("id", primary_key=True),
    _number("place"),
    _text("text"),
    _text("category", ""),
)
judgments = Table(
    "queryset_judgments",
    METADATA,
    _id(),
    _number("queryset", None, ForeignKey("querysets.id")),
    _text("question"),
    _text("path"),
    _text("heading", "[]"),
    _text("quote", ""),
    _real("grade"),
    _text("source"),
    _text("judge", ""),
    _text("created"),
    _text("note", ""),
    Unique("queryset", "question", "path", "heading", "quote", "source", "judge"),
)
runs = Table(
    "runs",
    METADATA,
    _text("id", primary_key=True),
    _text("queryset"),
    _text("queryset_digest"),
    _text("unit"),
    _text("search"),
    _text("profile"),
    _text("config"),
    _number("generation"),
    _text("commit_id"),
    _text("facts"),
    Column("results", LargeBinary, nullable=False),
    _text("created"),
    _number("place", 0),  # the order in which they were kept
    Index("runs_queryset", "queryset", "created"),
)
rankings = Table(
    "rankings",
    METADATA,
    _text("search", primary_key=True),
    _text("query", primary_key=True),
    Column("result", LargeBinary, nullable=False),
)

# ---------------------------------------------------------------- platform and models

workspace = Table("workspace", METADATA, _text("id", primary_key=True))
digests = Table("digests", METADATA, _text("name", primary_key=True), _number("rows"), _number("total"))

jobs = Table(
    "jobs",
    METADATA,
    _id(),
    _text("kind"),
    _text("arguments"),
    _text("state"),
    _number("done", 0),
    _number("total", 0),
    _text("message", ""),
    _text("error", ""),
    _text("result", ""),
    _number("attempts", 0),
    _number("cancel", 0),
    _text("created"),
    _text("started", ""),
    _text("ended", ""),
    _text("asked", ""),  # who asked for it, as JSON
    _number("again", 0),  # asked for once more while it ran
    _text("worker", ""),  # who has it, where workers claim jobs
    _real("leased", 0),  # until when it is theirs, in seconds
    _text("log", ""),  # the end of what it printed
    Index("jobs_state", "state"),
)
workers = Table("workers", METADATA, _text("name", primary_key=True), _text("started"), _real("seen"))
claims = Table("claims", METADATA, _text("name", primary_key=True), _text("holder"), _real("until"))
replies = Table(
    "replies",
    METADATA,
    _text("caller", primary_key=True),  # an account and the name of its token
    _text("key", primary_key=True),
    _text("request"),  # the digest of what was asked
    _number("status", 0),  # 0 while it is worked on
    _text("headers", "{}"),
    _text("body", ""),
    _real("at"),
    Index("replies_at", "at"),
)
remotes = Table(
    "remotes",
    METADATA,
    _text("name", primary_key=True),
    _text("url"),  # without a password
    _text("branch"),
    _text("folder"),
    _number("trust", 0),
    _number("change", 0),  # that holds the commits made elsewhere
    _text("pushed", ""),
    _text("fetched", ""),
    _text("tried", ""),
    _number("failures", 0),  # in a row
    _text("error", ""),
    _text("rewritten", ""),  # the commit that a rewritten branch has now
    _text("created"),
)
calls = Table(
    "calls",
    METADATA,
    _id(),
    _text("at"),
    _text("purpose"),
    _text("model"),
    _number("input_tokens", 0),
    _number("output_tokens", 0),
    _real("seconds", 0),
    _real("dollars", 0),
    _number("cached", 0),
    _text("failed", ""),
    Index("calls_at", "at"),
)
model_checks = Table(
    "model_checks",
    METADATA,
    _text("model", primary_key=True),
    _text("server", primary_key=True),
    _text("feature", primary_key=True),
    _number("version"),  # of the probes
    _number("passed"),
    _number("total"),
    _number("fit"),
    _text("why", ""),
    _real("seconds", 0),
    _text("at"),
    _text("forced_by", ""),  # who uses it all the same
    _text("reason", ""),
)

# ---------------------------------------------------------------- what goes out

deliveries = Table(
    "deliveries",
    METADATA,
    _id(),
    _text("key", unique=True),  # the same at every attempt: receivers know a repeat by it
    _text("channel"),  # mail or webhook
    _text("target"),  # an account, or the number of a webhook
    _text("kind"),
    _number("message", 0),
    _text("content"),  # as JSON
    _text("created"),
    _real("since"),  # when attempts began, in seconds
    _text("state"),  # held, waiting, sent, failed, cancelled
    _number("attempts", 0),
    _real("due", 0),
    _real("leased", 0),  # until when it belongs to a worker
    _text("worker", ""),
    _number("code", 0),
    _text("note", ""),
    _text("ended", ""),
    _number("digest", 0),  # the daily mail that it became a part of
    Index("deliveries_due", "state", "due"),
    sqlite_autoincrement=True,
)
delivery_attempts = Table(
    "delivery_attempts",
    METADATA,
    _id(),
    _number("delivery", None, ForeignKey("deliveries.id")),
    _text("at"),
    _real("seconds"),
    _number("code"),
    _text("note", ""),
    Index("delivery_attempts_delivery", "delivery"),
)
webhooks = Table(
    "webhooks",
    METADATA,
    _id(),
    _text("name"),
    _text("url"),
    _text("events", "[]"),  # as JSON; all if none is named
    _text("format"),
    _text("secret"),
    _number("active", 1),
    _real("failing", 0),  # since when nothing arrives, in seconds
    _text("created"),
    _text("who"),
    sqlite_autoincrement=True,
)
mail_choices = Table(
    "mail_choices", METADATA, _text("account", primary_key=True), _text("topic", primary_key=True), _text("choice")
)
mail_keys = Table("mail_keys", METADATA, _text("account", primary_key=True), _text("key"))
