"""Starts the programs of a cluster in order, starts again what ends, and ends all of them together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from bench.cluster import running
from bench.cluster.plan import checkout
from bench.cluster.programs import Program
from core.errors import Unavailable

_LOOK = 0.2  # seconds between two looks
_LONGEST = 30.0  # seconds between two starts of a program that keeps ending


@dataclass
class SupervisedProgram:
    """A program that the supervisor looks after."""

    program: Program
    process: subprocess.Popen[bytes]
    starts: int = 1
    since: float = field(default_factory=time.monotonic)
    due: float = 0.0  # when it is started again; 0 while it runs


class Supervisor:
    """The parent of every process of a cluster."""

    def __init__(self, folder: Path, pause: float, say: Callable[[str], None]) -> None:
        self.folder, self.pause, self.say = folder, pause, say
        self.held: dict[str, SupervisedProgram] = {}
        self.ending, self.ready = False, False

    def listen(self) -> None:
        """End in order at Ctrl-C and at `down`."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._asked)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.ending = True

    def start(self, programs: Iterable[Program]) -> None:
        """Start some programs together and wait until all of them serve."""
        wanted = list(programs)
        for program in wanted:
            self.held[program.name] = SupervisedProgram(program, self._process(program))
            self._write()
        for program in wanted:
            self._wait(self.held[program.name])
            if not self.ending:
                self.say(f"  {program.name} serves.")

    def _process(self, program: Program) -> subprocess.Popen[bytes]:
        logs = self.folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with (logs / f"{program.name}.log").open("ab") as log:
            return subprocess.Popen(
                program.command,
                env=dict(program.environment),
                cwd=self._place(program),
                user=program.user or None,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _place(self, program: Program) -> str:
        """Where a program runs: in a checkout for what is Concord's, which streamlit reads its settings from."""
        return str(checkout(self.folder).resolve()) if "CONCORD_HOME" in program.environment else "/"

    def _wait(self, held: SupervisedProgram) -> None:
        until = time.monotonic() + held.program.patience
        while not held.program.ready():
            if self.ending:
                return
            if held.process.poll() is not None:
                raise Unavailable(f"{held.program.name} ended at once. {self._log(held)}")
            if time.monotonic() > until:
                raise Unavailable(f"{held.program.name} does not answer. {self._log(held)}")
            time.sleep(_LOOK)

    def _log(self, held: SupervisedProgram) -> str:
        path = self.folder / "logs" / f"{held.program.name}.log"
        last = path.read_text(errors="replace").strip().splitlines()[-3:]
        return f"Its log is {path}; it ends with: {' / '.join(last) or 'nothing'}"

    def serve(self) -> None:
        """Look after the programs until somebody ends the cluster."""
        self.ready = True
        self._write()
        while not self.ending:
            for held in self.held.values():
                self._look(held)
            time.sleep(_LOOK)

    def _look(self, held: SupervisedProgram) -> None:
        """Start a program that ended again after the pause; longer pauses for one that keeps ending."""
        now = time.monotonic()
        if held.due:
            if now >= held.due:
                held.process, held.since, held.due = self._process(held.program), now, 0.0
                held.starts += 1
                self._write()
                self.say(f"{held.program.name} is started again (start {held.starts}).")
        elif (code := held.process.poll()) is not None:
            running.end_group(held.process.pid, signal.SIGKILL)  # what it left behind
            quick = now - held.since < self.pause
            held.due = now + min(_LONGEST, self.pause * (held.starts if quick else 1))
            self.say(f"{held.program.name} ended with {code}; it is started again in {held.due - now:.0f} s.")

    def stop(self) -> None:
        """End everything: nodes and workers first, then what they depend on."""
        concord = [held for held in self.held.values() if "CONCORD_HOME" in held.program.environment]
        self._end(concord)
        for held in reversed(
            self.held.values()
        ):  # one after the other: SeaweedFS waits long for parts that went before
            if held not in concord:
                self._end([held])
        (self.folder / running.FILE).unlink(missing_ok=True)

    def _end(self, several: list[SupervisedProgram]) -> None:
        for held in several:
            if held.process.poll() is None:
                held.process.send_signal(held.program.ending)
        asked = time.monotonic()
        for held in several:
            with suppress(subprocess.TimeoutExpired):
                held.process.wait(max(0.1, asked + held.program.grace - time.monotonic()))
            running.end_group(held.process.pid, signal.SIGKILL)  # and what it started
            held.process.wait()

    def _write(self) -> None:
        programs = {name: running.this_process(one.process.pid, one.starts) for name, one in self.held.items()}
        running.write(self.folder, running.Census(running.this_process(os.getpid()), programs, self.ready))
