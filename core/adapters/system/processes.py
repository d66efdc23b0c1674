"""Worker processes. A worker holds a file lock while it lives, so the kernel tells the living from the dead."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.adapters.system.files import flock, try_flock
from core.errors import storing
from core.settings import PROJECT


class SystemProcesses:
    """Starts `python -m core work` with spawn, never fork: LanceDB may hang in a forked child."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "jobs"

    def spawn(self, job: int) -> None:
        """Start a worker that outlives this process."""
        self._make_folder()
        with storing(self.folder), open(self.folder / f"{job}.log", "ab") as log:
            subprocess.Popen(
                [sys.executable, "-m", "core", "--home", str(self.home), "work", str(job)],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    @contextmanager
    def holding(self, job: int) -> Iterator[None]:
        """Be the only worker of a job."""
        self._make_folder()
        with storing(self.folder), flock(self.folder / f"{job}.lock"):
            yield

    def alive(self, job: int) -> bool:
        """Whether a worker holds the job."""
        self._make_folder()
        with storing(self.folder):
            descriptor = try_flock(self.folder / f"{job}.lock")
        if descriptor is None:
            return True
        os.close(descriptor)
        return False

    def _make_folder(self) -> None:
        with storing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)

    def log(self, job: int) -> str:
        """The end of the worker's output."""
        path = self.folder / f"{job}.log"
        return path.read_text(encoding="utf-8", errors="replace")[-20_000:] if path.exists() else ""
