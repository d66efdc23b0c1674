"""Programs without the seconds of their imports: a process that has imported everything forks one for each start.

What runs is the same program, in a process, a folder and an environment of its own: `python -m streamlit run ...` as a
user would start it, less the five CPU seconds before its first line. What start-up itself does is tried in test_startup,
in interpreters of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMPORTED = """
    streamlit.web.cli streamlit.web.bootstrap streamlit.web.server.starlette streamlit.testing.v1 pandas pyarrow
    tokenizers uvicorn starlette.middleware fastapi mcp authlib.jose core.bootstrap core.entrypoints.cli
    core.entrypoints.api.application core.entrypoints.mcp.server core.storage.serving.compiled pages.ui.frame
"""  # nothing that starts a thread or reads the environment
SIZE = 1 << 20


class Spent:
    """CPU seconds of forked programs that ended. They are the forking process's children until it ends, then ours."""

    seconds = 0.0


class Forked:
    """A program that runs, as `subprocess.Popen` shows one."""

    def __init__(self, pid: int, ended: Any) -> None:
        self.pid, self.returncode, self._ended, self._handle = pid, None, ended, os.pidfd_open(pid)

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._handle], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._end()
        return self.returncode  # type: ignore[return-value]

    def _end(self) -> None:
        os.close(self._handle)
        self.returncode = self._ended(self.pid)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that forks, seen from here."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.forks", str(theirs.fileno())]
        self.process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.line, self.counted, self.turn = ours, 0.0, threading.Lock()
        theirs.close()
        atexit.register(self.close)

    def ask(self, **what: Any) -> Any:
        with self.turn:
            self.line.send(json.dumps(what).encode())
            return json.loads(self.line.recv(SIZE))

    def start(
        self, module: str, arguments: Sequence[str], log: Path, folder: Path = ROOT, env: Mapping[str, str] = os.environ
    ) -> Forked:
        """`python -m module arguments`, with its output in a file."""
        pid = self.ask(module=module, arguments=list(arguments), log=str(log), folder=str(folder), env=dict(env))
        return Forked(pid, self._ended)

    def _ended(self, pid: int) -> int:
        code, seconds = self.ask(ended=pid)
        self.counted += seconds
        Spent.seconds += seconds
        return int(code)

    def close(self) -> None:
        """End it; what it waited for counts as ours from now on."""
        self.line.close()
        self.process.wait(300)
        Spent.seconds -= self.counted
        self.counted = 0.0


@cache
def forks() -> Forks:
    """One for each process that runs tests."""
    return Forks()


# ---------------------------------------------------------------- inside the process that forks


def run(module: str, arguments: Sequence[str], log: str, folder: str, env: Mapping[str, str]) -> None:
    """Become the program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.close(target)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    random.seed()
    sys.path[0], sys.argv = folder, [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def serve(line: socket.socket) -> None:
    """Fork on request until nobody asks any more."""
    while asked := line.recv(SIZE):
        what = json.loads(asked)
        if "ended" in what:
            _, status, used = os.wait4(what["ended"], 0)
            line.send(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]).encode())
        elif pid := os.fork():
            line.send(json.dumps(pid).encode())
        else:
            line.close()
            run(**what)
            return


def main() -> None:
    from streamlit.components.v2 import manifest_scanner

    from core.storage.serving import kernels

    for name in IMPORTED.split():
        import_module(name)
    manifest_scanner.scan_component_manifests = lambda: []  # half a second to look into every package, as in conftest
    kernels.warm()
    tasks = os.listdir("/proc/self/task")
    if len(tasks) > 1:
        raise SystemExit(f"A process with {len(tasks)} threads cannot be forked safely.")
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
