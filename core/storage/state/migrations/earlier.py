"""SQLite files of versions before Alembic. `PRAGMA user_version` says how many of that time's migrations one has seen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from sqlalchemy import Connection

from core.access import plain_address
from core.errors import Unavailable

FIRST = 8  # migrations that version 0.1.0 left; there was none before
SCRIPTS: tuple[str, ...] = (
    """
    ALTER TABLE accounts ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
    UPDATE accounts SET place = rowid;
    ALTER TABLE runs ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET place = rowid;
    """,
    """
    UPDATE jobs SET arguments = json_set(
        arguments, '$.who', json_extract(arguments, '$.who[0]'),
        '$.door', CASE WHEN json_extract(arguments, '$.who[0]') LIKE '%@localhost' THEN 'command line' ELSE 'app' END
    ) WHERE json_type(arguments, '$.who') = 'array';
    """,
    """
    ALTER TABLE accounts ADD COLUMN address TEXT NOT NULL DEFAULT '';
    UPDATE accounts SET address = plain_address(email) || CASE WHEN EXISTS (
        SELECT 1 FROM accounts AS other WHERE plain_address(other.email) = plain_address(accounts.email)
        AND (other.active > accounts.active OR other.active = accounts.active AND other.place < accounts.place)
    ) THEN ' ' || id ELSE '' END;
    CREATE UNIQUE INDEX accounts_address ON accounts (address);
    """,
    """
    ALTER TABLE accounts ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
    ALTER TABLE accounts ADD COLUMN subject TEXT NOT NULL DEFAULT '';
    CREATE UNIQUE INDEX accounts_subject ON accounts (issuer, subject) WHERE subject != '';
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL UNIQUE, account TEXT NOT NULL REFERENCES accounts (id),
        issuer TEXT NOT NULL DEFAULT '', subject TEXT NOT NULL DEFAULT '', device TEXT NOT NULL DEFAULT '',
        created TEXT NOT NULL, seen TEXT NOT NULL, expires TEXT NOT NULL
    );
    CREATE INDEX sessions_account ON sessions (account);
    """,
    """
    CREATE TABLE workspace (id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE digests (name TEXT PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, total INTEGER NOT NULL);
    """,
    """
    ALTER TABLE jobs ADD COLUMN asked TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE review_requests (
        change INTEGER NOT NULL REFERENCES changes (id), account TEXT NOT NULL, name TEXT NOT NULL, asker TEXT NOT NULL,
        rule TEXT NOT NULL DEFAULT '', at TEXT NOT NULL, PRIMARY KEY (change, account)
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY, account TEXT NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL, ref TEXT NOT NULL, title TEXT NOT NULL,
        place TEXT NOT NULL DEFAULT '{}', text TEXT NOT NULL DEFAULT '', actor TEXT NOT NULL, actor_name TEXT NOT NULL,
        count INTEGER NOT NULL DEFAULT 1, at TEXT NOT NULL, read TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX messages_account ON messages (account, read);
    """,
    """
    ALTER TABLE judged ADD COLUMN note TEXT NOT NULL DEFAULT '';
    ALTER TABLE queryset_judgments ADD COLUMN note TEXT NOT NULL DEFAULT '';
    ALTER TABLE querysets ADD COLUMN problems TEXT NOT NULL DEFAULT '[]';
    """,
    """
    CREATE TABLE watches (
        id INTEGER PRIMARY KEY, account TEXT NOT NULL, kind TEXT NOT NULL, what TEXT NOT NULL, seen TEXT NOT NULL DEFAULT '[]',
        created TEXT NOT NULL, UNIQUE (account, kind, what)
    );
    CREATE TABLE reminders (
        account TEXT NOT NULL, path TEXT NOT NULL, review_due TEXT NOT NULL, state TEXT NOT NULL,
        PRIMARY KEY (account, path, review_due, state)
    );
    CREATE TABLE feedback (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', quote TEXT NOT NULL DEFAULT '',
        start INTEGER NOT NULL DEFAULT 0, stop INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL, account TEXT NOT NULL,
        name TEXT NOT NULL, at TEXT NOT NULL, closed TEXT NOT NULL DEFAULT '', closed_by TEXT NOT NULL DEFAULT '',
        answer TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX feedback_path ON feedback (path);
    ALTER TABLE gaps ADD COLUMN account TEXT NOT NULL DEFAULT '';
    UPDATE gaps SET account = (SELECT id FROM accounts WHERE name = who)
    WHERE (SELECT count(*) FROM accounts WHERE name = who) = 1;
    """,
    """
    INSERT INTO verdicts (change, who, name, head, verdict, note, at)
    SELECT change, who, name, head, 'lifted', 'An edit voided it.', at FROM verdicts AS asked
    WHERE verdict = 'changes requested' AND id = (
        SELECT max(id) FROM verdicts WHERE change = asked.change AND who = asked.who
    ) AND EXISTS (
        SELECT 1 FROM audit AS line JOIN audit AS edit ON edit.change = line.change AND edit.id > line.id
        WHERE line.change = asked.change AND line.who = asked.who AND line.at = asked.at
        AND line.action = 'request changes' AND edit.action IN ('edit', 'solve conflicts')
    );
    ALTER TABLE comments ADD COLUMN edited TEXT NOT NULL DEFAULT '';
    ALTER TABLE comments ADD COLUMN deleted TEXT NOT NULL DEFAULT '';
    CREATE TABLE looks (
        who TEXT NOT NULL, change INTEGER NOT NULL REFERENCES changes (id), head TEXT NOT NULL, at TEXT NOT NULL,
        comment INTEGER NOT NULL DEFAULT 0, before TEXT NOT NULL DEFAULT '', before_at TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (who, change)
    );
    CREATE TABLE viewed (
        who TEXT NOT NULL, change INTEGER NOT NULL REFERENCES changes (id), path TEXT NOT NULL, blob TEXT NOT NULL,
        PRIMARY KEY (who, change, path)
    );
    """,
    """
    CREATE TABLE queries (
        id INTEGER PRIMARY KEY, question TEXT NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL, hits INTEGER NOT NULL, score REAL NOT NULL,
        doubtful INTEGER NOT NULL, commit_id TEXT NOT NULL, opened INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX queries_key ON queries (key);
    CREATE INDEX queries_at ON queries (at);
    CREATE TABLE opted_out (account TEXT NOT NULL PRIMARY KEY);
    """,
    """
    CREATE TABLE settlements (
        key TEXT PRIMARY KEY, reason TEXT NOT NULL, who TEXT NOT NULL, name TEXT NOT NULL, at TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE answer_ranks (
        id INTEGER PRIMARY KEY, doc TEXT NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, rank INTEGER NOT NULL,
        note TEXT NOT NULL DEFAULT '', commit_id TEXT NOT NULL, at TEXT NOT NULL
    );
    CREATE INDEX answer_ranks_question ON answer_ranks (doc, key);
    CREATE TABLE findability (
        commit_id TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, checked TEXT NOT NULL, questions INTEGER NOT NULL, found INTEGER NOT NULL,
        within INTEGER NOT NULL, folders TEXT NOT NULL
    );
    """,
    """
    ALTER TABLE gaps ADD COLUMN source TEXT NOT NULL DEFAULT 'reported';
    ALTER TABLE gaps ADD COLUMN owner TEXT NOT NULL DEFAULT '';
    ALTER TABLE gaps ADD COLUMN folder TEXT NOT NULL DEFAULT '';
    ALTER TABLE gaps ADD COLUMN path TEXT NOT NULL DEFAULT '';
    ALTER TABLE gaps ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE gaps ADD COLUMN writer TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE model_checks (
        model TEXT NOT NULL, server TEXT NOT NULL, feature TEXT NOT NULL, version INTEGER NOT NULL,
        passed INTEGER NOT NULL, total INTEGER NOT NULL, fit INTEGER NOT NULL, why TEXT NOT NULL DEFAULT '',
        seconds REAL NOT NULL DEFAULT 0, at TEXT NOT NULL, forced_by TEXT NOT NULL DEFAULT '',
        reason TEXT NOT NULL DEFAULT '', PRIMARY KEY (model, server, feature)
    );
    """,
    """
    CREATE TABLE impacts (
        change INTEGER NOT NULL REFERENCES changes (id), head TEXT NOT NULL, main TEXT NOT NULL, created TEXT NOT NULL,
        result BLOB NOT NULL, PRIMARY KEY (change)
    );
    ALTER TABLE querysets ADD COLUMN guard INTEGER NOT NULL DEFAULT 0;
    """,
    """
    CREATE TABLE pool_additions (
        id INTEGER PRIMARY KEY, query TEXT NOT NULL, path TEXT NOT NULL, heading TEXT NOT NULL, quote TEXT NOT NULL,
        judge TEXT NOT NULL, new_document INTEGER NOT NULL, created TEXT NOT NULL,
        UNIQUE (query, path, heading, quote)
    );
    CREATE TABLE ratings (
        id INTEGER PRIMARY KEY, query TEXT NOT NULL, kind TEXT NOT NULL, answer TEXT NOT NULL, rating TEXT NOT NULL,
        judge TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, UNIQUE (query, kind, judge)
    );
    """,
    """
    ALTER TABLE accounts ADD COLUMN kind TEXT NOT NULL DEFAULT 'person';
    CREATE TABLE tokens (
        id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL REFERENCES accounts (id), name TEXT NOT NULL, scope TEXT NOT NULL,
        digest TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, created TEXT NOT NULL, expires TEXT NOT NULL, used TEXT NOT NULL DEFAULT '',
        revoked TEXT NOT NULL DEFAULT '', made_by TEXT NOT NULL
    );
    CREATE INDEX tokens_account ON tokens (account);
    CREATE INDEX tokens_prefix ON tokens (prefix);
    ALTER TABLE audit ADD COLUMN token TEXT NOT NULL DEFAULT '';
    ALTER TABLE audit ADD COLUMN request TEXT NOT NULL DEFAULT '';
    """,
    """
    CREATE TABLE remotes (
        name TEXT PRIMARY KEY, url TEXT NOT NULL, branch TEXT NOT NULL, folder TEXT NOT NULL,
        trust INTEGER NOT NULL DEFAULT 0, change INTEGER NOT NULL DEFAULT 0, pushed TEXT NOT NULL DEFAULT '',
        fetched TEXT NOT NULL DEFAULT '', tried TEXT NOT NULL DEFAULT '', failures INTEGER NOT NULL DEFAULT 0,
        error TEXT NOT NULL DEFAULT '', rewritten TEXT NOT NULL DEFAULT '', created TEXT NOT NULL
    );
    ALTER TABLE jobs ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
    """,
    """
    CREATE TABLE deliveries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL,
        message INTEGER NOT NULL DEFAULT 0, content TEXT NOT NULL, created TEXT NOT NULL, since REAL NOT NULL, state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, leased REAL NOT NULL DEFAULT 0,
        worker TEXT NOT NULL DEFAULT '', code INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '',
        ended TEXT NOT NULL DEFAULT '', digest INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX deliveries_due ON deliveries (state, due);
    CREATE TABLE delivery_attempts (
        id INTEGER PRIMARY KEY, delivery INTEGER NOT NULL REFERENCES deliveries (id), at TEXT NOT NULL, seconds REAL NOT NULL,
        code INTEGER NOT NULL, note TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX delivery_attempts_delivery ON delivery_attempts (delivery);
    CREATE TABLE webhooks (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, url TEXT NOT NULL, events TEXT NOT NULL DEFAULT '[]',
        format TEXT NOT NULL, secret TEXT NOT NULL, active INTEGER NOT NULL DEFAULT 1, failing REAL NOT NULL DEFAULT 0,
        created TEXT NOT NULL, who TEXT NOT NULL
    );
    CREATE TABLE mail_choices (
        account TEXT NOT NULL, topic TEXT NOT NULL, choice TEXT NOT NULL, PRIMARY KEY (account, topic)
    );
    CREATE TABLE mail_keys (account TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL);
    """,
    """
    ALTER TABLE jobs ADD COLUMN worker TEXT NOT NULL DEFAULT '';
    ALTER TABLE jobs ADD COLUMN leased REAL NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN log TEXT NOT NULL DEFAULT '';
    CREATE TABLE workers (name TEXT NOT NULL PRIMARY KEY, started TEXT NOT NULL, seen REAL NOT NULL);
    CREATE TABLE claims (name TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL);
    """,
    """
    CREATE TABLE co_authors (
        change INTEGER NOT NULL REFERENCES changes (id), account TEXT NOT NULL, name TEXT NOT NULL, inviter TEXT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (change, account)
    );
    INSERT INTO co_authors
    SELECT changes.id, audit.who, MAX(audit.name), changes.author_name, MIN(audit.at)
    FROM audit JOIN changes ON changes.id = audit.change
    WHERE audit.action IN ('edit', 'solve conflicts') AND audit.who NOT IN (changes.author, 'concord')
        AND changes.stage IN ('draft', 'in review', 'closed')
    GROUP BY changes.id, audit.who, changes.author_name;
    """,
    """
    CREATE TABLE replies (
        caller TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, status INTEGER NOT NULL DEFAULT 0,
        headers TEXT NOT NULL DEFAULT '{}', body TEXT NOT NULL DEFAULT '', at REAL NOT NULL, PRIMARY KEY (caller, key)
    );
    CREATE INDEX replies_at ON replies (at);
    """,
    """
    ALTER TABLE attempts ADD COLUMN place TEXT NOT NULL DEFAULT '';
    ALTER TABLE attempts ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX attempts_account ON attempts (account);
    """,
)


def upgrade(connection: Connection) -> None:
    """Bring a file to the form that the first revision names."""
    seen = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    if seen < FIRST:
        raise Unavailable("The database is older than version 0.1.0 and cannot be opened.")
    connection.connection.driver_connection.create_function("plain_address", 1, plain_address)  # type: ignore[union-attr]
    for script in SCRIPTS[seen - FIRST :]:
        for statement in statements(script):
            connection.exec_driver_sql(statement)


def statements(script: str) -> Iterator[str]:
    """The statements of a script; a text may hold a semicolon."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
