"""Notices of PostgreSQL: one connection of a process LISTENs and wakes those who wait for a topic.

A process without notices polls, as often as without this. Every few seconds a notice to itself tries the connection: a
server that hangs, a lost connection and a pooler that passes no notices all show as silence.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import psycopg
from psycopg import sql

from core.errors import ConcordError
from core.types import JOB_WAITS, REPOSITORY_MOVED, STORE_MOVED

TOLD = 10.0  # seconds between two looks of somebody who is told: for what came past Concord
BEAT = 5.0  # seconds between two notices of a process to itself
AGAIN = 2.0  # seconds until a connection that was lost is tried again
NOTIFY = "SELECT pg_notify('concord ' || current_schema(), %s)"
Connect: TypeAlias = Callable[[], AbstractContextManager[psycopg.Connection[Any]]]


class Notices:
    """The topics of one process, and the thread that listens for them once somebody waits."""

    def __init__(self, connect: Connect) -> None:
        """`connect` gives a connection of its own, which commits by itself."""
        self.told = {topic: threading.Event() for topic in (REPOSITORY_MOVED, STORE_MOVED, JOB_WAITS)}
        self.listening = False
        self._connect, self._me, self._ended = connect, secrets.token_hex(8), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._starting = threading.Lock()

    def wait(self, topic: str, ending: threading.Event, pause: float) -> bool:
        """Until a notice comes; else for a pause, and longer where one would come. Whether the end came meanwhile."""
        with self._starting:
            if self._thread.ident is None:
                self._thread.start()
        started = time.monotonic()
        while not ending.is_set() and not self.told[topic].wait(pause):
            if time.monotonic() - started >= (max(TOLD, pause) if self.listening else pause):
                break
        self.told[topic].clear()
        return ending.is_set()

    def close(self) -> None:
        """Listen no longer."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with self._connect() as connection:
                    self._listen(connection)
            except (psycopg.Error, ConcordError):
                pass  # everybody looks by themselves, and those who need the database say that it is away
            self._say(listening=False)
            self._ended.wait(AGAIN)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        """Hear notices until one to itself does not come back."""
        schema = connection.execute("SELECT current_schema()").fetchone()
        connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"concord {schema[0] if schema else ''}")))
        while not self._ended.is_set():
            connection.execute(NOTIFY, (self._me,))
            if not self._heard(connection):
                return
            if not self.listening:
                self._say(listening=True)

    def _heard(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether the notice to itself came within a beat; others are passed on."""
        back = False
        for notice in connection.notifies(timeout=BEAT):
            back = back or notice.payload == self._me
            if notice.payload in self.told:
                self.told[notice.payload].set()
            if back and not self.listening:
                break
        return back

    def _say(self, *, listening: bool) -> None:
        """What was told meanwhile is unknown, so everybody looks once."""
        self.listening = listening
        for topic in self.told.values():
            topic.set()
