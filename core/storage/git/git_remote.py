"""A repository elsewhere: one branch of it is looked at, fetched and pushed to.

A push is plain, never forced: git compares what the remote's branch holds with what the pusher saw, and only moves it
forward, so two pushers cannot overwrite each other.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.adapters.system.files import flock
from core.errors import BadInput, NotFound, Refused, storing
from core.storage.git import refs
from core.storage.git.plumbing import APP, Plumbing
from core.storage.git.quarantine import quarantine
from core.storage.git.repository import Repository
from core.storage.git.subfolders import Subfolder
from core.storage.git.transport import LOST_RACE, RemoteAccess, Transport

REMOTES = "refs/remotes"
_LOCK = "concord-remote.lock"  # one fetch or push of ours at a time
_LINE = re.compile(r"^([0-9a-f]+)\t", re.MULTILINE)
_LENGTH = 40  # characters of an id


class GitRemote:
    """The branch of another repository, and what was last seen of it."""

    def __init__(self, repository: Repository, access: RemoteAccess) -> None:
        self.repository, self.transport = repository, Transport(repository.path, access)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One fetch or push at a time, in all processes."""
        with storing(self.repository.path), flock(self.repository.path / _LOCK):
            yield

    # ------------------------------------------------------------ the other side

    def head(self, url: str, branch: str) -> str:
        """The newest commit of the remote's branch; "" if it has none."""
        out = self.transport.ask(url, "ls-remote", "--quiet", url, f"refs/heads/{branch}")
        found = _LINE.search(out)
        if found and len(found[1]) != _LENGTH:
            raise self.transport.failure(f"fatal: hash algorithm with ids of {len(found[1])} characters")
        return found[1] if found else ""

    def fetch(self, url: str, branch: str, head: str, folder: str = "") -> None:
        """Bring the commits of the remote's branch here, `head` among them; no branch of ours moves."""
        options = (
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--progress",
        )
        with quarantine(self.repository.path) as incoming:
            self.transport.ask(url, "fetch", *options, url, f"refs/heads/{branch}", env=incoming.environment)
            incoming.check(head, folder)
            incoming.adopt()

    def push(self, url: str, branch: str, commit: str) -> bool:
        """Move the remote's branch forward to a commit; False if somebody else moved it first."""
        what = f"{commit}:refs/heads/{branch}"
        code, out, errors = self.transport.run(url, "push", "--porcelain", "--no-verify", "--progress", url, what)
        if code == 0:
            return True
        refused = next((line for line in out.splitlines() if line.startswith("!")), "")
        if LOST_RACE.search(refused):
            return False
        if refused:
            raise Refused(f"The remote refuses the push: {self.transport.shown(refused.rpartition(chr(9))[2])}.")
        raise self.transport.failure(errors)

    @contextmanager
    def copy(self, repository: Path, revisions: Mapping[str, str], folder: str = "") -> Iterator[Path]:
        """A bare repository for a while, with a branch for each revision of somebody's own, or of a folder in it."""
        with tempfile.TemporaryDirectory(prefix="concord-copy-") as place:
            copied = Plumbing(Path(place) / "copy.git")
            copied.path.mkdir()
            copied.ask("init", "--quiet", "--bare", "--template=", str(copied.path), bare=False)
            commits = {branch: _revision(repository, name) for branch, name in revisions.items()}
            refs_wanted = [f"{commit}:refs/heads/{branch}" for branch, commit in commits.items()]
            done = _own_git(repository, "push", "--quiet", str(copied.path), *refs_wanted)
            if done.returncode:
                raise BadInput(
                    f"{str(repository)!r} cannot be read as a git repository: {self.transport.shown(done.stderr)}."
                )
            if folder:
                _narrow(copied, commits, folder)
            yield copied.path

    def narrow(self, commit: str, folder: str) -> str:
        """The commit here for a commit of the remote, of which only a folder is ours."""
        return Subfolder(self.repository.git, folder).narrow(commit) if folder else commit

    def widen(self, commit: str, folder: str, last: str) -> str:
        """The commit that the remote gets for a commit here; `last` is the one that it has."""
        if not folder:
            return commit
        inner = Subfolder(self.repository.git, folder)
        if last:
            inner.narrow(last)  # knows the pairs already, unless their file was lost
        return inner.widen(commit)

    # ------------------------------------------------------------ what was last seen

    def tracked(self, branch: str, name: str = "origin") -> str:
        """The commit that the remote's branch had when it was last fetched or pushed to."""
        return refs.value(self.repository.path, f"{REMOTES}/{name}/{branch}") or ""

    def track(self, branch: str, commit: str, name: str = "origin") -> None:
        git, label = self.repository.git, f"{name}/{branch}"
        with git.writing():
            old = self.tracked(branch, name)
            if commit and old != commit:
                git.swap(label, commit, old, top=REMOTES)
            elif old and not commit:
                git.drop(label, top=REMOTES)

    def count(self, newer: str, older: str, first_parent: bool = False) -> int:
        """How many commits one side has that the other has not."""
        if not newer or newer == older:
            return 0
        options = ["--first-parent"] if first_parent else []
        code, out = self.repository.git.run("rev-list", "--count", *options, newer, *([f"^{older}"] if older else []))
        return 0 if code else int(out)

    def by_concord(self, newer: str, older: str) -> bool:
        """Whether Concord committed everything on the first-parent line of `newer` that `older` lacks."""
        out = self.repository.git.ask(
            "log", "--first-parent", "--format=%cn <%ce>", newer, *([f"^{older}"] if older else [])
        )
        return {line for line in out.decode("utf-8", "replace").splitlines() if line} <= {"Concord <concord@localhost>"}


def _own_git(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The git of whoever runs this, on their own repository, with their own configuration and without its hooks."""
    command = ["git", "-C", str(repository), "-c", "core.hooksPath=/dev/null", *arguments]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def _revision(repository: Path, name: str) -> str:
    done = _own_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        raise NotFound(
            f"{str(repository)!r} has no commit {name!r}. A shallow clone may lack it: fetch its history first."
        )
    return done.stdout.strip()


def _narrow(git: Plumbing, commits: Mapping[str, str], folder: str) -> None:
    """Put in the place of each branch a commit with the files of one folder, on what the branches have in common."""
    names = list(commits.values())
    shared = git.run("merge-base", "--octopus", *names)[1].decode().strip()
    root = git.commit(_tree(git, shared, folder), (), APP, "What both have in common") if shared else ""
    for branch, commit in commits.items():
        made = git.commit(_tree(git, commit, folder), (root,) if root else (), APP, f"The folder {folder}")
        git.ask("update-ref", f"refs/heads/{branch}", made)


def _tree(git: Plumbing, commit: str, folder: str) -> str:
    """The tree of a folder; the empty one where a commit has no such folder."""
    code, out = git.run("rev-parse", "--verify", "--quiet", f"{commit}:{folder}")
    return out.decode().strip() if code == 0 and out else git.ask("mktree").decode().strip()
