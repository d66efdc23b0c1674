"""Processes for untrusted input: a few of one kind, each with limits of its own; one that ends is replaced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Unavailable
from core.settings import PROJECT

START = 120.0  # seconds until a new worker has loaded its libraries, on a busy machine
IDLE = 120.0  # seconds after which unused workers end
PATIENCE = 120.0  # seconds that a question waits for a free worker
MAX_ANSWER = 64 * 1024 * 1024  # bytes
ENVIRONMENT = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may use: seconds on the clock, seconds of computing, bytes of memory."""

    wall: float
    cpu: int
    memory: int


class Overrun(Exception):
    """A worker ended before it answered; the text says by which limit, as the end of a sentence about the file.

    `again`: it may go better another time, since only the clock was against it.
    """

    def __init__(self, reason: str, again: bool) -> None:
        super().__init__(reason)
        self.again = again


class WorkerPool:
    """At most `size` workers that run one module; each answers one question at a time."""

    def __init__(self, module: str, size: int, limits: Limits, patience: float = PATIENCE) -> None:
        self.module = module
        self.size = size
        self.limits = limits
        self.patience = patience
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._timer: threading.Timer | None = None

    def ask(self, question: Mapping[str, Any], payload: bytes = b"") -> dict[str, Any]:
        """The answer of a free worker; Overrun if the question cost the worker its life."""
        if not self._places.acquire(timeout=self.patience):
            raise Unavailable(f"All {self.size} readers of files are busy with others. Try again in a minute.")
        try:
            worker = self._take()
            try:
                answer = worker.ask(question, payload)
            except BaseException:
                worker.end()
                raise
            self._put_back(worker)
            return answer
        finally:
            self._places.release()

    def close(self) -> None:
        """End the workers that have nothing to do."""
        with self._lock:
            idle = [*self._idle]
            self._idle.clear()
        for worker in idle:
            worker.end()

    def _take(self) -> _Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.process.poll() is None:
                    return worker
                worker.end()
        return _Worker(self.module, self.limits)

    def _put_back(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)
            if self._timer:
                self._timer.cancel()
            self._timer = threading.Timer(IDLE, self.close)
            self._timer.daemon = True
            self._timer.start()


class _Worker:
    """One process. Questions and answers are lines of JSON, a question's bytes follow its line."""

    def __init__(self, module: str, limits: Limits) -> None:
        self.limits, self.late, self.ready = limits, False, False
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, str(limits.cpu), str(limits.memory)],
                cwd=PROJECT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
                | {"OMP_NUM_THREADS": "1", "HOME": "/nonexistent"},
            )
        except OSError as error:
            raise Unavailable(f"No process for reading files can be started: {error}.") from None

    def ask(self, question: Mapping[str, Any], payload: bytes) -> dict[str, Any]:
        if not self.ready and not self._exchange(b"", START):
            raise Unavailable("The process that reads files did not start. Try again.")
        self.ready = True
        asked = json.dumps({**question, "bytes": len(payload)}).encode() + b"\n" + payload
        line = self._exchange(asked, self.limits.wall)
        if len(line) >= MAX_ANSWER:
            raise Overrun("holds more text and pictures than can be taken over", False)
        if not line.endswith(b"\n"):
            raise Overrun(self._reason(), self.late)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _exchange(self, asked: bytes, seconds: float) -> bytes:
        """One line from the worker; less when it ended, by itself or because the time was up."""
        timer = threading.Timer(seconds, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            if self.process.stdin is None or self.process.stdout is None:
                return b""
            self.process.stdin.write(asked)
            self.process.stdin.flush()
            return self.process.stdout.readline(MAX_ANSWER)
        except OSError:
            return b""
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self.late = True
        self.process.kill()

    def _reason(self) -> str:
        if self.late:
            return f"took longer than {self.limits.wall:g} seconds and was given up"
        self.end()
        if self.process.returncode == -signal.SIGXCPU:
            return f"needs more than {self.limits.cpu} seconds of computing and was given up"
        return f"made its reader end; it is damaged, or needs more than {self.limits.memory // 2**20:,} MB of memory"

    def end(self) -> None:
        """Kill it if it still runs, and leave no pipe open."""
        if self.process.poll() is None and self.process.stdin is not None and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
                self.process.wait(0.2)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except OSError:
                    continue
