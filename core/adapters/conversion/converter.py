"""Office files to Markdown with markitdown, in a separate process: a hostile file cannot hang or crash the app."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from core.errors import BadInput, Unavailable
from core.settings import PROJECT

LIMIT = 45.0  # seconds for one file
START = 60.0  # seconds for the first one, which waits for the libraries
IDLE = 120.0  # seconds after which an unused worker ends


class ConverterProcess:
    """The `Converter` port. One worker converts one file at a time and is replaced when it dies or is too slow."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._timer: threading.Timer | None = None

    def convert(self, suffix: str, raw: bytes) -> str:
        with self._lock, tempfile.TemporaryDirectory(prefix="concord-") as folder:
            path = Path(folder) / f"upload{suffix}"
            path.write_bytes(raw)
            answer = self._ask({"suffix": suffix, "path": str(path)})
        if "error" in answer:
            raise BadInput(
                f"The {suffix} file cannot be converted ({answer['error']}); it may be damaged or locked by a password. "
                "Save it again, or copy its text and paste it."
            )
        return answer["text"]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(self, question: dict[str, str]) -> dict[str, str]:
        fresh = self._worker is None or self._worker.poll() is not None
        if fresh:
            self._start()
        worker = self._worker
        if worker is None or worker.stdin is None:
            raise Unavailable("The converter did not start. Try again.")
        try:
            worker.stdin.write(json.dumps(question) + "\n")
            worker.stdin.flush()
            line = self._answer(worker, self.limit + (START if fresh else 0.0))
        except (BrokenPipeError, OSError):
            line = ""
        self._end_when_idle()
        return self._read(line, question["suffix"])

    def _read(self, line: str, suffix: str) -> dict[str, str]:
        if line.endswith("\n"):
            answer: dict[str, str] = json.loads(line)
            return answer
        self._end()
        if line == "slow":
            raise BadInput(
                f"The {suffix} file took longer than {self.limit:g} seconds to convert and was given up. "
                "Split it, or copy its text and paste it."
            )
        return {"error": "the converter ended"}

    def _answer(self, worker: subprocess.Popen[str], seconds: float) -> str:
        """One line from the worker; "slow" when it takes too long, "" when it died."""
        lines: list[str] = []
        reader = threading.Thread(target=lambda: lines.append(worker.stdout.readline()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        self._reader = reader
        reader.join(seconds)
        return lines[0] if lines else "slow"

    def _start(self) -> None:
        keep = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
        try:
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "core.adapters.conversion.worker"],
                cwd=PROJECT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                start_new_session=True,
                env={name: os.environ[name] for name in keep if name in os.environ}
                | {"OMP_NUM_THREADS": "1", "HOME": "/nonexistent"},
            )
        except OSError as error:
            raise Unavailable(f"The converter cannot be started: {error}.") from None

    def _end_when_idle(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = threading.Timer(IDLE, self.close)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.wait(10)
            if self._reader is not None:
                self._reader.join(5)
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    pipe.close()
