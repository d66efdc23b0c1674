"""Programs without the seconds of their imports: a process that has imported everything forks one for each start.

What runs is the same program, in a process, a folder and an environment of its own: `python -m streamlit run ...` as a
user would start it, less the five CPU seconds before its first line. What start-up itself does is tried in test_startup,
in interpreters of its own.
"""

from __future__ import annotations

import atexit
import gc
import json
import logging
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMPORTED = """
    streamlit.web.cli streamlit.web.bootstrap streamlit.web.server.starlette streamlit.testing.v1 pandas pyarrow
    tokenizers uvicorn starlette.middleware fastapi mcp authlib.jose core.bootstrap core.entrypoints.cli
    core.entrypoints.api.application core.entrypoints.mcp.server core.storage.serving.compiled
    uvicorn.lifespan.on uvicorn.protocols.http.httptools_impl uvicorn.protocols.websockets.websockets_impl uvloop
    anyio._backends._asyncio rich.console rich.traceback rapidfuzz.distance onnxruntime
"""  # nothing that starts a thread or reads the environment
SETTINGS = ("pages.ui.server.routes",)  # they read the environment
SIZE = 1 << 20
ADDRESS = f"\0concord-forks-{os.getpid()}"  # the same in forks of the process that collected the tests


class Spent:
    """CPU seconds of forked programs that ended. They are the zygote's children until it ends."""

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


class Zygote:
    """The process that forks programs, until nobody holds it any more."""

    def __init__(self) -> None:
        self.held, theirs = socket.socketpair()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, theirs:
            listener.bind(ADDRESS)
            listener.listen()
            passed = [listener.fileno(), theirs.fileno()]
            command = [sys.executable, "-m", "tests.forks", *map(str, passed)]
            self.process = subprocess.Popen(command, cwd=ROOT, pass_fds=passed, stdin=subprocess.DEVNULL)

    def end(self) -> None:
        self.held.close()
        self.process.terminate()  # it may still be importing
        self.process.wait(300)


class Forks:
    """What it does for this process."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self.turn = line, threading.Lock()

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
        Spent.seconds += seconds
        return int(code)


@cache
def forks() -> Forks:
    """One line for each process that runs tests, to one zygote: the one of the process that collected them, or its own."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        line.connect(ADDRESS)
    except ConnectionRefusedError:
        atexit.register(Zygote().end)
        line.connect(ADDRESS)
    return Forks(line)


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


def serve(listener: socket.socket, held: socket.socket) -> None:
    """Fork on request until nobody holds this process."""
    lines, running = [listener, held], set[int]()
    while True:
        for line in select.select(lines, [], [])[0]:
            if line is held:
                return end(running)
            if line is listener:
                lines.append(listener.accept()[0])
            elif not (asked := line.recv(SIZE)):
                lines.remove(line)
                line.close()
            elif not answer(line, what := json.loads(asked), running):
                for inherited in lines:
                    inherited.close()
                return run(**what)


def end(running: set[int]) -> None:
    """What a test that was cut off did not end."""
    for pid in running:
        os.kill(pid, signal.SIGKILL)


def answer(line: socket.socket, what: dict[str, Any], running: set[int]) -> bool:
    """Whether this is still the process that forks."""
    if "ended" in what:
        running.discard(what["ended"])
        _, status, used = os.wait4(what["ended"], 0)
        line.send(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]).encode())
        return True
    if pid := os.fork():
        running.add(pid)
        line.send(json.dumps(pid).encode())
    return bool(pid)


def main() -> None:
    logging.disable()
    with warnings.catch_warnings(record=True):  # nobody asked this process
        for name in (*IMPORTED.split(), *parts_of_pages()):
            import_module(name)
        prepare()
    logging.disable(logging.NOTSET)
    tasks = os.listdir("/proc/self/task")
    if len(tasks) > 1:
        raise SystemExit(f"A process with {len(tasks)} threads cannot be forked safely.")
    listener, held = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    gc.collect()
    gc.freeze()
    serve(listener, held)


def parts_of_pages() -> Iterator[str]:
    import pages.ui

    yield from (each.name for each in walk_packages(pages.ui.__path__, "pages.ui.") if each.name not in SETTINGS)


def prepare() -> None:
    """What every server would do for itself, a CPU second and a half: load the model, and make the forms of the API."""
    from streamlit.components.v2 import manifest_scanner

    from core.adapters.models import onnx, registry
    from core.entrypoints.api import operations
    from core.errors import ConcordError
    from core.services.search import page
    from core.storage.serving import kernels
    from core.types import Profile

    manifest_scanner.scan_component_manifests = lambda: []  # half a second to look into every package, as in conftest
    page.WARMED = 0  # half a second for snippets that hardly a test looks at; test_search_page looks at the law
    kernels.warm()
    operations.router(operations.of_module("pages.ui.server.operations"))
    onnx._session, onnx._tokenizer = cache(onnx._session), cache(onnx._tokenizer)  # type: ignore[assignment]
    with suppress(ConcordError):  # where no weights are, pages say so
        registry.ModelRegistry(ROOT / ".models", 1, True).embedder(Profile("").embedder)


if __name__ == "__main__":
    main()
