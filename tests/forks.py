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
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMPORTED = """
    streamlit.web.cli streamlit.web.bootstrap streamlit.web.server.starlette streamlit.testing.v1 pandas pyarrow
    tokenizers uvicorn starlette.middleware fastapi mcp authlib.jose core.bootstrap core.entrypoints.cli
    core.entrypoints.api.application core.entrypoints.mcp.server core.storage.index.arrays.compiled
    uvicorn.lifespan.on uvicorn.protocols.http.httptools_impl uvicorn.protocols.websockets.websockets_impl uvloop
    anyio._backends._asyncio rich.console rich.traceback rapidfuzz.distance onnxruntime
"""  # nothing that starts a thread or reads the environment
SETTINGS = ("pages.ui.server.routes",)  # they read the environment
SIZE = 1 << 20
PATIENCE = 300  # seconds for an answer of a process that has nothing else to do
ADDRESS = f"\0concord-forks-{os.getpid()}"  # the same in forks of the process that collected the tests


class Spent:
    """CPU seconds of forked programs that ended. They are the zygote's children until it ends."""

    seconds = 0.0


class Forked:
    """A program that runs, as `subprocess.Popen` shows one."""

    def __init__(self, pid: int, ended: Any) -> None:
        self.pid, self.returncode, self._ended, self._handle = pid, None, ended, os.pidfd_open(pid)

    def poll(self) -> int | None:
        if self.returncode is None and self._has_ended(0):
            self._end()
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        if self.returncode is None:
            if not self._has_ended(timeout):
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self._end()
        return self.returncode  # type: ignore[return-value]

    def _has_ended(self, seconds: float) -> bool:
        handle = select.poll()  # select.select() takes no number above 1,024
        handle.register(self._handle, select.POLLIN)
        return bool(handle.poll(seconds * 1000))

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
        self.process.wait(PATIENCE)


class Forks:
    """What it does for this process."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self.turn = line, threading.Lock()

    def ask(self, *handles: int, **what: Any) -> Any:
        with self.turn:
            socket.send_fds(self.line, [json.dumps(what).encode()], handles)
            return json.loads(self.line.recv(SIZE))

    def start(
        self, module: str, arguments: Sequence[str], log: Path, folder: Path = ROOT, env: Mapping[str, str] = os.environ
    ) -> Forked:
        """`python -m module arguments`, with its output in a file."""
        log.write_bytes(b"")
        pid = self.ask(module=module, arguments=list(arguments), log=str(log), folder=str(folder), env=dict(env))
        return Forked(pid, self._ended)

    def _ended(self, pid: int) -> int:
        code, seconds = self.ask(ended=pid)
        Spent.seconds += seconds
        return int(code)


@cache
def forks() -> Forks:
    """One line for each process that runs tests, to one zygote: the one of the process that collected them, or its own."""
    try:
        return connected(ADDRESS)
    except ConnectionRefusedError:
        atexit.register(Zygote().end)
        return connected(ADDRESS)


def connected(address: str) -> Forks:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(PATIENCE)
    line.connect(address)
    return Forks(line)


# ---------------------------------------------------------------- inside the process that forks


@dataclass(frozen=True)
class Program:
    """What is asked for: a module with its arguments, and one file that it shares with whoever asks."""

    module: str
    arguments: Sequence[str]
    log: str
    folder: str
    env: Mapping[str, str]
    shared: int = -1

    def run(self, address: str, *handles: int) -> None:
        """Become the program."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        target = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.close(target)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.env)
        random.seed()
        places = {str(self.shared): str(handle) for handle in handles}
        sys.path[0], sys.argv = self.folder, [self.module, *(places.get(each, each) for each in self.arguments)]
        fork_workers(address)
        runpy.run_module(self.module, run_name="__main__", alter_sys=True)


def fork_workers(address: str) -> None:
    """Let the workers of this program be forked too: their imports and the model are two thirds of their CPU seconds."""
    from core.adapters.system import processes

    def start(
        command: Sequence[str], *, cwd: Path, stdout: Any, env: Mapping[str, str], pass_fds: Any, **_: Any
    ) -> Any:
        asked = Program(command[2], command[3:], stdout.name, str(cwd), dict(env), *pass_fds)
        return SimpleNamespace(pid=connected(address).ask(*pass_fds, **vars(asked)))

    processes.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": start})  # type: ignore[assignment]


def serve(listener: socket.socket, held: socket.socket) -> None:
    """Fork on request until nobody holds this process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    lines, running = [listener, held], set[int]()
    while True:
        for line in select.select(lines, [], [])[0]:
            if line is held:
                return end(running)
            if line is listener:
                lines.append(listener.accept()[0])
                continue
            asked, handles, _, _ = socket.recv_fds(line, SIZE, 1)
            if not asked:
                lines.remove(line)
                line.close()
            elif not answer(line, what := json.loads(asked), running):
                address = listener.getsockname()
                for inherited in lines:
                    inherited.close()
                return Program(**what).run(address, *handles)
            for handle in handles:
                os.close(handle)


def end(running: set[int]) -> None:
    """What a test that was cut off did not end, and workers, which outlive their servers."""
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


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
    gc.disable()
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
    gc.enable()
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
    from core.storage.index.arrays import kernels
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
