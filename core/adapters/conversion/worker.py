"""The process that reads untrusted office files: no network, little memory, no writing. It may die at any time.

Reads lines of JSON `{"suffix", "path"}` on standard input and answers each with `{"text"}` or `{"error"}`.
"""

from __future__ import annotations

import io
import json
import os
import resource
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MEMORY = 3 * 1024**3
CPU = 120  # seconds for one file
MAX_TEXT = 8 * 1024 * 1024  # characters; more is refused by the size check anyway


def confine() -> None:
    """Take away what a converter does not need."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("a converter has no network")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse  # type: ignore[assignment]


def limit_cpu(seconds: int) -> None:
    """Allow so many more seconds of CPU; beyond them the kernel kills this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, resource.RLIM_INFINITY))


def main() -> int:
    """Answer until the input ends. What libraries print is discarded; answers go to the real standard output."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        known = converters()
        confine()
        for line in sys.stdin:
            asked = json.loads(line)
            limit_cpu(CPU)
            answers.write(json.dumps(_answer(known, asked["suffix"], asked["path"])) + "\n")
            answers.flush()
    return 0


def converters() -> Mapping[str, Any]:
    """One converter per suffix; markitdown's own detection would read a damaged file as plain text."""
    from markitdown import converters as known

    return {
        ".docx": known.DocxConverter(),
        ".pdf": known.PdfConverter(),
        ".html": known.HtmlConverter(),
        ".htm": known.HtmlConverter(),
        ".pptx": known.PptxConverter(),
        ".xlsx": known.XlsxConverter(),
    }


def _answer(known: Mapping[str, Any], suffix: str, path: str) -> dict[str, str]:
    from markitdown import StreamInfo

    try:
        info = StreamInfo(extension=suffix, charset="utf-8")
        result = known[suffix].convert(io.BytesIO(Path(path).read_bytes()), info)
        return {"text": str(result.markdown)[:MAX_TEXT]}
    except MemoryError:
        return {"error": "it needs too much memory"}
    except Exception as error:  # a broken file may make a library raise anything
        return {"error": type(error).__name__}


if __name__ == "__main__":
    sys.exit(main())
