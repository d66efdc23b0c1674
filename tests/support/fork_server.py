"""Servers without the seconds of their imports: Python's own fork server imports the product once and forks each of
them.
"""

from __future__ import annotations

import os
import random
import runpy
import sys
import threading
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver, get_context, parent_process
from multiprocessing.context import ForkServerProcess as Program
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.preloaded"])


def start(module: str, arguments: Sequence[str], log: Path, folder: Path, env: Mapping[str, str]) -> Program:
    """`python -m module arguments` in a folder, with its output in a file."""
    log.write_bytes(b"")
    program = FORKS.Process(target=become, args=(module, arguments, log, folder, dict(env)))
    program.start()
    return program


def end() -> None:
    """Wait for the fork server, so that its CPU seconds and those of its servers count."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


def become(module: str, arguments: Sequence[str], log: Path, folder: Path, env: Mapping[str, str]) -> None:
    """In the new process, which ends with the one that asked for it."""
    threading.Thread(target=follow, daemon=True).start()
    os.setsid()
    with log.open("ab") as target:
        os.dup2(target.fileno(), sys.stdout.fileno())
        os.dup2(target.fileno(), sys.stderr.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    random.seed()
    sys.path.insert(0, str(folder))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def follow() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
