"""A worker that does what it is asked to: answer, spin, sleep, grow, write, call out, die."""

from __future__ import annotations

import ctypes
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.adapters.conversion.confined import Answer, serve


def load() -> Answer:
    asked: queue.Queue[threading.Event] = queue.Queue()
    early: list[str] = []

    def waiting() -> None:
        """A thread that was there before the worker was confined."""
        while done := asked.get():
            early.append(_tried(lambda: socket.create_connection(("127.0.0.1", 9), 1))["error"])
            done.set()

    threading.Thread(target=waiting, daemon=True).start()

    def answer(question: Mapping[str, Any], payload: bytes) -> Mapping[str, Any]:
        match question["do"]:
            case "spin":
                while True:
                    pass
            case "sleep":
                time.sleep(60)
            case "grow":
                try:
                    return {"size": len(bytearray(4 * 1024**3))}
                except MemoryError:
                    return {"error": "MemoryError"}
            case "write":
                return _tried(lambda: Path(question["path"]).write_text("x" * 10_000))
            case "call":
                return _tried(lambda: socket.create_connection(("127.0.0.1", question["port"]), 1))
            case "call natively":
                return {"socket": ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)}
            case "call from before":
                done = threading.Event()
                asked.put(done)
                done.wait(300)
                return {"error": early[-1]}
            case "run":
                return _tried(lambda: subprocess.run(["true"], check=True))
            case "remove":
                return _tried(lambda: os.unlink(question["path"]))
            case "die":
                os._exit(1)
        return {"pid": os.getpid(), "read": len(payload)}

    return answer


def _tried(act: Any) -> Mapping[str, Any]:
    try:
        act()
    except OSError as error:
        return {"error": str(error)}
    return {"error": ""}


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
