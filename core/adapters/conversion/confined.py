"""The inside of a worker: no network, little memory, no writing, so much computing for a question. It may die at any time."""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from core.adapters.conversion.barrier import raise_barrier

NICE = 10  # searches come first
Answer = Callable[[Mapping[str, Any], bytes], Mapping[str, Any]]


def serve(load: Callable[[], Answer], cpu: int, memory: int) -> int:
    """Answer lines of JSON until the input ends. What libraries print is discarded."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        answer = load()
        confine(memory)
        answers.write(b"{}\n")
        answers.flush()
        for line in iter(sys.stdin.buffer.readline, b""):
            question = json.loads(line)
            limit_cpu(cpu)
            said = answer(question, sys.stdin.buffer.read(question["bytes"]))
            answers.write(json.dumps(said).encode() + b"\n")
            answers.flush()
    return 0


def confine(memory: int) -> None:
    """Take away what reading a file does not need. Without the kernel's filter Python's own sockets are all that is closed."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")  # where the machine runs out of memory, this process ends, and not the server
    with suppress(OSError):
        os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not raise_barrier():
        socket.socket.connect = _refuse  # type: ignore[method-assign]
        socket.getaddrinfo = _refuse  # type: ignore[assignment]


def _refuse(*_: Any, **__: Any) -> Any:
    raise OSError("a worker has no network")


def limit_cpu(seconds: int) -> None:
    """Allow so many more seconds of computing; beyond them the kernel kills this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, resource.RLIM_INFINITY))
