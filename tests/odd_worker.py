"""A worker that does what it is asked to: answer, spin, sleep, grow, write, call out, die."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.adapters.conversion.confined import Answer, serve


def load() -> Answer:
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
                return _tried(lambda: socket.create_connection(("127.0.0.1", 9), 1))
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
