"""The git repository that several nodes share, and the clone that a node keeps of it.

The shared repository is the authority: a branch counts once it is there. Every move of a branch is a compare-and-swap:
`git push
--force-with-lease` names the commit that the branch must still have. Where the answer is lost, a look at the branch
says whether the push arrived. A clone follows, and is made anew where it is damaged.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from core.cures import run, shell
from core.errors import Corrupt, Moved, Refused, Unavailable
from core.storage.git import damage, refs
from core.storage.git.plumbing import Plumbing
from core.storage.git.transport import LOST_RACE, RemoteAccess, Transport
from core.types import Damage

MAIN = "refs/heads/main"
WORKSPACE = "refs/concord/workspace"  # a blob: the id of the workspace to which the repository belongs
STAGED = "refs/concord/staged"  # files that no commit has yet, by blob id
KINDS = ("refs/heads/", "refs/remotes/")  # what every clone has too
_TRIES = 5  # times that a branch may be locked on the other side
_MANY = 500  # objects in one call
_BRANCHES = 200  # in one push
_LOG = logging.getLogger(__name__)


class SharedRepository:
    """The shared repository, seen from one clone in `path`."""

    def __init__(self, path: Path, url: str, access: RemoteAccess) -> None:
        self.url, self.transport = url, Transport(path, access, "shared repository")
        self.pushed: Callable[[], object] = lambda: None  # other nodes are told

    def refs(self) -> dict[str, str]:
        """Every branch, and the blob that names the workspace."""
        out = self._listed(*(f"{kind}*" for kind in KINDS), WORKSPACE)
        lines = (line.partition("\t") for line in out.splitlines())
        return {name: commit for commit, tab, name in lines if tab and name.startswith((*KINDS, WORKSPACE))}

    def head(self, name: str) -> str:
        """What one ref holds; "" if it is not there."""
        out = self._listed(name)
        return next((line[:40] for line in out.splitlines() if line[41:] == name), "")

    def _listed(self, *names: str) -> str:
        """In the older protocol a look takes one exchange instead of two."""
        return self.transport.ask(self.url, "-c", "protocol.version=0", "ls-remote", "--quiet", self.url, *names)

    def fetch(self, objects: Sequence[str]) -> None:
        """Bring objects here with all that they build on; no branch moves."""
        options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        for some in _parts(objects):
            self.transport.ask(self.url, "fetch", *options, "--progress", self.url, *some)

    def push(self, moves: Mapping[str, tuple[str, str]]) -> None:
        """Move refs from what they have to have to what they shall have, all or none; "" is no such ref."""
        for attempt in range(_TRIES):
            if self._arrived(moves, self._pushed(moves), last=attempt == _TRIES - 1):
                self.pushed()
                return
            time.sleep(0.05 * 2**attempt)

    def _pushed(self, moves: Mapping[str, tuple[str, str]]) -> Exception | None:
        """Try once; what went wrong."""
        leases = [f"--force-with-lease={name}:{old}" for name, (_, old) in moves.items()]
        wanted = [f"{new}:{name}" for name, (new, _) in moves.items()]
        options = ("--porcelain", "--atomic", "--no-verify", "--progress")
        try:
            code, out, errors = self.transport.run(self.url, "push", *options, *leases, self.url, *wanted)
        except Unavailable as error:
            return error
        if code == 0:
            return None
        refused = [line.rpartition("\t")[2] for line in out.splitlines() if line.startswith("!")]
        words = next((line for line in refused if "atomic push fail" not in line), "")
        if LOST_RACE.search(words):
            return Moved("Another change came first. Nothing was changed: reload and try again.")
        if words and "remote failed" not in words:
            return Refused(f"The shared repository refuses the push: {self.transport.shown(words)}.")
        return self.transport.failure(errors)

    def _arrived(self, moves: Mapping[str, tuple[str, str]], error: Exception | None, last: bool) -> bool:
        """Whether the push is there, whatever was answered; False to try again. A look says more than an answer that
        was lost.
        """
        if error is None:
            return True
        now = {name: self.head(name) for name in moves}
        if all(now[name] == new for name, (new, _) in moves.items()):
            return True
        if any(now[name] != old for name, (_, old) in moves.items()):
            raise Moved("Another change came first. Nothing was changed: reload and try again.") from error
        if not isinstance(error, Moved):
            raise error
        if last:
            raise Unavailable(
                f"The shared repository does not move {', '.join(moves)}: another process holds its lock there. "
                f"If none is running on that machine, delete the file that ends in .lock beside it."
            )
        return False


class Clone:
    """Keeps the repository of `git` equal to the shared one."""

    def __init__(self, git: Plumbing, shared: SharedRepository) -> None:
        self.git, self.shared, self.path = git, shared, git.path
        git.publish, git.catch_up = shared.push, self.follow
        self._ours = ""  # the blob that named this workspace when it was last looked at

    def prepare(self, init: Callable[[], None], other_format: Sequence[Damage]) -> None:
        """Have a whole clone with the newest branches. A damaged one is put aside: the shared repository has all of
        it.
        """
        if damages := " ".join(map(str, other_format)) or self._unusable():
            _LOG.warning("Cloning the shared repository again, because the clone is damaged: %s", damages)
            aside = self.path.with_name(f"{self.path.name}.damaged")
            shutil.rmtree(aside, ignore_errors=True)
            self.path.rename(aside)
        new = not (self.path / "objects").is_dir()
        if new:
            init()
        try:
            self.follow()
        except Unavailable as error:
            if new or not self._named():
                raise
            _LOG.warning("The node starts with what its clone has: %s", error)

    def _unusable(self) -> str:
        """What makes it useless; "" if it can be used, or is not there."""
        if not (self.path / "objects").is_dir():
            return ""
        if not (self.path / "config").exists():
            return "kb.git/config is missing"
        return " ".join(map(str, damage.blocking(self.path))) if refs.every(self.path) else ""

    # ------------------------------------------------------------ what others made

    def follow(self) -> bool:
        """Bring the branches of the shared repository here; whether one moved.

        What a writer of this clone moved meanwhile stays: it is newer than what was seen.
        """
        before = {name: commit for name, commit in refs.every(self.path).items() if name.startswith(KINDS)}
        theirs = self.shared.refs()
        self._refuse_other(theirs.pop(WORKSPACE, ""))
        moved = {
            name: theirs.get(name, "") for name in {*before, *theirs} if before.get(name, "") != theirs.get(name, "")
        }
        if not moved:
            return False
        self.fetch([commit for commit in moved.values() if commit])
        self._refuse_loss(before.get(MAIN) or "", theirs.get(MAIN, ""))
        with self.git.writing():
            for name, commit in sorted(moved.items()):
                if refs.value(self.path, name) == before.get(name, ""):
                    self._take(name, commit)
        return True

    def fetch(self, objects: Sequence[str]) -> None:
        """Bring objects here that are not."""
        asked = "".join(f"{name}\n" for name in dict.fromkeys(objects)).encode()
        lines = Plumbing(self.path).ask("cat-file", "--batch-check", stdin=asked).decode().splitlines()
        if lacking := [line[:40] for line in lines if line.endswith(" missing")]:
            self.shared.fetch(lacking)

    def _take(self, name: str, commit: str) -> None:
        """Have a ref as the shared repository has it."""
        top = next(kind for kind in KINDS if name.startswith(kind)).rstrip("/")
        branch = name.removeprefix(f"{top}/")
        if commit:
            self.git.swap(branch, commit, refs.value(self.path, name), top, publish=False)
        else:
            self.git.drop(branch, top, publish=False)

    def _refuse_loss(self, here: str, there: str) -> None:
        """The main line only moves forward; a clone that has more than the shared repository is what is left of a
        loss.
        """
        if not here or here == there or (there and self._contains(there, here)):
            return
        raise Corrupt(
            f"The shared repository {self.shared.url} lacks commits of the main line up to {here[:12]}, which are in "
            f"{self.path}. Nothing was changed.",
            run("If the shared repository is new, fill it", "init --share")
            .or_else(shell("Restore it from a backup"))
            .or_else(shell("Push the commits", f"git --git-dir={self.path} push {self.shared.url} {MAIN}")),
        )

    def _contains(self, commit: str, ancestor: str) -> bool:
        return Plumbing(self.path).run("merge-base", "--is-ancestor", ancestor, commit)[0] == 0

    # ------------------------------------------------------------ to which workspace it belongs

    def workspace(self) -> str:
        """The id that the shared repository names, "" if it names none; as long as it cannot be reached, that of the
        clone.
        """
        try:
            return self._read(self.shared.head(WORKSPACE))
        except Unavailable:
            if ours := self._named():
                return ours
            raise

    def _named(self) -> str:
        """The id that the clone carries."""
        return Plumbing(self.path).run("config", "--get", "concord.workspace")[1].decode().strip()

    def _read(self, blob: str) -> str:
        if not blob:
            return ""
        self.fetch([blob])
        return self.git.ask("cat-file", "blob", blob).decode()

    def claim(self, workspace: str) -> str:
        """Write the id of the workspace into the shared repository, unless it has one; returns the id that it has."""
        if theirs := self.workspace():
            return theirs
        blob = self.git.write_blobs([workspace.encode()])[0]
        with suppress(Moved):
            self.shared.push({WORKSPACE: (blob, "")})
        return self.workspace()

    def _refuse_other(self, blob: str) -> None:
        """A clone of another workspace stays as it is."""
        if not blob or blob == self._ours:
            return
        ours = self._named()
        if ours and ours != self._read(blob):
            raise Corrupt(
                f"The shared repository {self.shared.url} belongs to another workspace than the clone {self.path}. "
                "Check "
                f"CONCORD_REPOSITORY and CONCORD_HOME."
            )
        self._ours = blob if ours else ""

    # ------------------------------------------------------------ what goes out beside branches

    def share(self) -> int:
        """Fill an empty shared repository with every branch that is here; how many were pushed. The main line goes
        last.
        """
        theirs = self.shared.refs()
        theirs.pop(WORKSPACE, "")
        with self.git.writing():
            here = {name: commit or "" for name, commit in refs.every(self.path).items() if name.startswith(KINDS)}
            if other := sorted(name for name, commit in theirs.items() if here.get(name) != commit):
                raise Refused(
                    f"The shared repository {self.shared.url} is not empty: it has {other[0]}. Name an empty one in "
                    f"CONCORD_REPOSITORY."
                )
            wanted = sorted(here.keys() - theirs.keys(), key=lambda name: (name == MAIN, name))
            for start in range(0, len(wanted), _BRANCHES):
                self.shared.push({name: (here[name], "") for name in wanted[start : start + _BRANCHES]})
        return len(wanted)

    def stage(self, blob: str) -> None:
        """Let other nodes have a file that no commit has yet."""
        name = f"{STAGED}/{blob}"
        if not self.shared.head(name):
            self.shared.push({name: (blob, "")})

    def staged(self, blob: str) -> bool:
        """Bring such a file here; whether there is one."""
        if found := bool(self.shared.head(f"{STAGED}/{blob}")):
            self.shared.fetch([blob])
        return found


def _parts(objects: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(objects), _MANY):
        yield objects[start : start + _MANY]
