"""Install pinned packages into the virtual environment that runs this: with uv, or with pip where uv cannot do it.

    .venv/bin/python .ci/install.py STAMP LIST [LIST ...]

Of several lists, the first that can be installed is. STAMP is taken away before and touched when everything is there:
where
there is none, an installation was interrupted, and every package is put in its place again. STAMP.log exists meanwhile,
STAMP.failed after a failure. Two of these take turns, and the second finds the work done.
"""

from __future__ import annotations

import ast
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

UV = Path(__file__).with_name("uv.txt")
LOCKED = ("--quiet", "--require-hashes", "--no-deps")  # exactly the listed files: the lists hold whatever packages need
PLACES = ("index-url", "extra-index-url", "find-links")  # settings of pip that uv does not read, but takes as options
PIP = (sys.executable, "-m", "pip")
Ways = Callable[[Path, bool], Iterable[list[str]]]
"""Commands that install a list, quickest first; with True, also what seems to be there."""


def install(stamp: Path, lists: list[Path], ways: Ways) -> int:
    """Returns the exit code."""
    with open(stamp.with_name(".install.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and all(stamp.stat().st_mtime > file.stat().st_mtime for file in lists):
            return 0
        again = not stamp.exists()
        stamp.unlink(missing_ok=True)
        log, failed = (stamp.with_name(f"{stamp.name}.{end}") for end in ("log", "failed"))
        with log.open("w") as out:
            done = any(subprocess.call(way, stdout=out, stderr=out) == 0 for file in lists for way in ways(file, again))
        log.replace(failed)
        if done:
            failed.unlink()
            stamp.touch()
            return 0
        why = next(filter(None, map(str.strip, reversed(failed.read_text().splitlines()))), "No reason was given.")
        print(f"{lists[-1]} was not installed. {why} All of it: {failed}. Try again with: make setup", file=sys.stderr)
        return 1


def uv_or_pip(file: Path, again: bool) -> Iterator[list[str]]:
    if has_uv():
        options = [*LOCKED, *(["--reinstall"] if again else []), *places()]
        yield [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, *options, "-r", str(file)]
    options = [*LOCKED, "--no-compile", *(["--force-reinstall"] if again else [])]  # compiled when they are imported
    yield [*PIP, "install", *options, "-r", str(file)]


def has_uv() -> bool:
    """Whether uv is here in the pinned version; it is fetched where it is not."""
    try:
        if f"uv=={metadata.version('uv')} " in UV.read_text():
            return True
    except metadata.PackageNotFoundError:
        pass
    fetch = [*PIP, "install", *LOCKED, "--no-compile", "--only-binary", ":all:", "-r", str(UV)]
    return subprocess.run(fetch, capture_output=True, check=False).returncode == 0


def places() -> list[str]:
    """Where pip is told to look, as options of uv; hashes are pinned, so any place will do."""
    told = pip_settings()
    options = [(f"--{name}", place) for name in PLACES for place in told.get(name, "").split()]
    if "cert" in told:
        os.environ.setdefault("SSL_CERT_FILE", told["cert"])
    return ["--index-strategy", "unsafe-best-match", *(part for option in options for part in option)]


def pip_settings() -> Mapping[str, str]:
    """From the environment and pip's files; what the environment says counts."""
    lines = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout.splitlines()
    pairs = [
        line.partition("=")[::2]
        for section in ("global.", "install.", ":env:.")
        for line in lines
        if line.startswith(section)
    ]
    return {name.rpartition(".")[2]: ast.literal_eval(value) for name, value in pairs}


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]], uv_or_pip))
