"""The inside of a worker: no network, little memory, no writing, so much computing for a question. It may die at any
time.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

_LOAD = 0x20  # instructions of BPF: load a word
_EQUAL = 0x15  # jump if equal
_ANY_BIT = 0x45  # jump if any bit
_RETURN = 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they stand in the record of a system call
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NO_NEW_PRIVILEGES, _FILTER, _ALL_THREADS = 38, 1, 1

# name: number on x86-64 and on aarch64; None where there is no such call
_CALLS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kill": (62, 129),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "truncate": (76, 45),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "creat": (85, None),
    "openat2": (437, 437),
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "setxattr": (188, 5),
    "utimensat": (280, 88),
}
_OPENS = {"x86_64": ((2, 1), (257, 2)), "aarch64": ((56, 2),)}  # number of the call, and which argument holds its flags
_MACHINES = {
    "x86_64": (0, 0xC000003E, 317),
    "aarch64": (1, 0xC00000B7, 277),
}  # column above, its mark, number of seccomp


def raise_barrier() -> bool:
    """Put the filter on; False where this system has none. A kernel that refuses it raises OSError."""
    machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
    if platform.system() != "Linux" or machine not in _MACHINES:
        return False
    code = _program(machine)
    lines = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(lines)))
    libc = ctypes.CDLL(None, use_errno=True)
    zero, seccomp = ctypes.c_ulong(0), ctypes.c_long(_MACHINES[machine][2])
    _done(libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), zero, zero, zero))
    _done(libc.syscall(seccomp, ctypes.c_ulong(_FILTER), ctypes.c_ulong(_ALL_THREADS), header))
    return True


def _done(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"The kernel does not accept a filter for a reader of files: {os.strerror(number)}")


def _program(machine: str) -> bytes:
    """The filter: other machine code ends the process, the calls above and opening for writing are refused, the rest
    is allowed.
    """
    column, architecture, _ = _MACHINES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, yes=1),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        lines += (_line(_ANY_BIT, 0x40000000, no=1), _line(_RETURN, _KILL))  # the same calls under other numbers
    for numbers in _CALLS.values():
        if (number := numbers[column]) is not None:
            lines += (_line(_EQUAL, number, no=1), _line(_RETURN, _REFUSE))
    for number, argument in _OPENS[machine]:
        flags = _line(_LOAD, _ARGUMENTS + 8 * argument)
        lines += (
            _line(_EQUAL, number, no=4),
            flags,
            _line(_ANY_BIT, _WRITES, no=1),
            _line(_RETURN, _REFUSE),
            _line(_RETURN, _ALLOW),
        )
    return b"".join((*lines, _line(_RETURN, _ALLOW)))


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


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
    """Take away what reading a file does not need. Without the kernel's filter Python's own sockets are all that is
    closed.
    """
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
