"""Workers to be killed: each does what people do, again and again, and writes down what was acknowledged.

Loading Python's libraries takes longer than the work, so one process loads them and forks a worker for each `start`
that it reads. LanceDB cannot be forked and is loaded by the workers that need it. Run by tests/support/kill_driver.py:

    python -m tests.programs.kill_server PLACE [OPERATION ...]      then lines of:  start SEED,  kill PID alone,  kill
    PID group
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401  loaded once, for all workers
import numba  # noqa: F401
import pyarrow  # noqa: F401

from core.bootstrap import App, build
from core.errors import ConcordError
from core.services.people.accounts import DEMO, NewAccount, local_admin
from core.settings import load
from tests.conftest import FixedClock, NoProcesses, SmallModels, demo, small_app, write
from tests.support.uploads import docx

ADMIN = local_admin("ann")
_, AUTHOR, _, REVIEWER, _, _ = DEMO


def parts(home: Path) -> App:
    """The parts of a workspace that may not be there yet."""
    return build(load({}, home=home), clock=FixedClock(), models=SmallModels(), processes=NoProcesses())


def import_folder(app: App, place: Path, name: str) -> dict[str, Any]:
    folder = write(place / "import" / name, {f"{name}.md": f"# {name}\n\nImported words of {name}.\n"})
    saving = partial(app.reviews.merger.importing, ADMIN, folder.name)
    imported = app.knowledge.documents.import_folder(ADMIN, folder, saving=saving)
    return {"commit": imported.commit, "path": f"{name}.md"}


def merge(app: App, place: Path, name: str) -> dict[str, Any]:
    change = app.reviews.changes.propose(AUTHOR, name, {f"{name}.md": f"# {name}\n\nMerged {name}.\n".encode()})
    app.reviews.changes.submit(AUTHOR, change.id)
    app.reviews.discussion.approve(REVIEWER, change.id)
    merged = app.reviews.merger.merge(AUTHOR, change.id)
    return {"change": merged.id, "commit": merged.merged, "path": f"{name}.md"}


def upload(app: App, place: Path, name: str) -> dict[str, Any]:
    office = name.endswith("7")  # a converter takes seconds to start
    files = [(f"{name}.docx", docx(name))] if office else [(f"{name}.md", f"# {name}\n\nUploaded.\n".encode())]
    batch = app.upload.uploads.decided(app.upload.uploads.read(AUTHOR, files))
    change, _ = app.upload.uploads.submit(AUTHOR, batch, name)
    return {"change": change.id, "title": name}


def accounts(app: App, place: Path, name: str) -> dict[str, Any]:
    app.people.accounts.add(demo("admin"), NewAccount(name, name, f"{name}@example.org", "reader"))
    app.people.accounts.set_role(demo("admin"), name, "author")
    return {"account": name, "role": "author"}


def promotion(app: App, place: Path, name: str) -> dict[str, Any]:
    k = 1 + sum(map(ord, name)) % 200 if name else 60
    app.tuning.production.promote(ADMIN, profile="local", config=f"rrf-{k}", reason=name)
    return {"settings": app.platform.settings.head()}


def reindex(app: App, place: Path, name: str) -> dict[str, Any]:
    built = app.index.builder.build(app.platform.settings.profile())
    return {"generation": built.generation.number, "commit": built.generation.commit}


def backup(app: App, place: Path, name: str) -> dict[str, Any]:
    main = app.knowledge.repository.head()
    app.platform.backups.take(ADMIN, place / "backups" / name)
    return {"backup": name, "contains": main}


def restore(app: App, place: Path, name: str) -> dict[str, Any]:
    saved = sorted((place / "backups").glob("w*"), key=lambda path: path.stat().st_mtime_ns)
    if not saved:
        return {"restored": "", "from": ""}
    parts(place / "restored" / name).platform.backups.restore(ADMIN, saved[-1])
    return {"restored": name, "from": saved[-1].name}


OPERATIONS: dict[str, Callable[[App, Path, str], dict[str, Any]]] = {
    "import": import_folder,
    "merge": merge,
    "upload": upload,
    "accounts": accounts,
    "promotion": promotion,
    "reindex": reindex,
    "backup": backup,
    "restore": restore,
}


def work(place: Path, seed: int, names: Sequence[str]) -> None:
    """Operations in random order, for ever. Each is written down when it begins, and when it was acknowledged."""
    journal = os.open(place / "journals" / f"{seed}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(**value):
        return os.write(journal, (json.dumps(value) + "\n").encode())

    dice = random.Random(seed)
    say(begin="start")
    app = small_app(place / "home", NoProcesses())
    first = names[seed % len(names)]  # each is killed about as often as any other
    for n in range(1_000_000):
        operation = first if n == 0 else dice.choice(names)
        say(begin=operation)
        try:
            say(done=operation, **OPERATIONS[operation](app, place, f"w{seed}-{n}"))
        except ConcordError as error:
            say(refused=operation, why=str(error))
        except Exception as error:
            say(failed=operation, why=f"{type(error).__name__}: {error}")


def start(place: Path, seed: int, names: Sequence[str]) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        try:
            work(place, seed, names)
        finally:
            os._exit(1)
    return pid


def main(place: Path, names: Sequence[str]) -> None:
    """Until the driver is gone, however it went: then nobody is left to end the workers."""
    crew = set[int]()
    for line in sys.stdin:
        command, *words = line.split()
        if command == "start":
            crew.add(started := start(place, int(words[0]), names))
            print(started, flush=True)
        else:
            pid = int(words[0])
            (os.killpg if words[1] == "group" else os.kill)(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            crew.discard(pid)
            print("dead", flush=True)
    for pid in crew:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(OPERATIONS))
