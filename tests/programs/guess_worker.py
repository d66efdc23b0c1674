"""Guesses passwords in many threads at once; says what came of it, and how much memory it took.

Run by tests/services/team/test_guessing.py: python -m tests.programs.guess_worker HOME THREADS NAME [NAME ...]
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from core.adapters.system.passwords import Argon2
from core.bootstrap import App, build
from core.errors import Refused
from core.settings import load


class CountingArgon2(Argon2):
    """Remembers how many passwords it looked at."""

    def __init__(self, patience: float) -> None:
        super().__init__(patience)
        self.checked: list[str] = []

    def matches(self, hashed: str, password: str) -> bool:
        right = super().matches(hashed, password)
        self.checked.append(password)
        return right


def guess(app: App, names: list[str], threads: int) -> dict[str, int]:
    """What became of as many guesses, all at once; `checked` is how many passwords were looked at."""
    app.people.accounts.passwords = passwords = CountingArgon2(app.people.accounts.passwords.patience)
    start = Barrier(threads)

    def attempt(number: int) -> str:
        start.wait()
        try:
            return app.people.accounts.sign_in(names[number % len(names)], f"guess {number}").id
        except Refused as error:
            return str(error)

    with ThreadPoolExecutor(threads) as pool:
        outcomes = Counter(pool.map(attempt, range(threads)))
    return {**outcomes, "checked": len(passwords.checked)}


def memory(kind: str) -> int:
    """MiB of this process: VmRSS now, VmHWM at the peak."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{kind}:\s+(\d+) kB", status)[1]) // 1024  # type: ignore[index]


def main() -> None:
    home, threads, *names = sys.argv[1:]
    app = build(load({}, home=Path(home), sign_in="local"))
    names = [name.format(n) for name in names for n in range(int(threads) if "{}" in name else 1)]
    guess(app, ["warm-up"], 1)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = memory("VmRSS")
    print(json.dumps(guess(app, names, int(threads)) | {"before": before, "peak": memory("VmHWM")}))


if __name__ == "__main__":
    main()
