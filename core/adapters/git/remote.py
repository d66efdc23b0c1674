"""A repository elsewhere: one branch of it is looked at, fetched and pushed to.

Every call is a process without the machine's git configuration, hooks, tags and submodules, with five protocols and no others.
It is ended when it shows no sign of life. A push is plain, never forced: git compares what the remote's branch holds with what
the pusher saw, and only moves it forward, so two pushers cannot overwrite each other.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from core.adapters.git import refs
from core.adapters.git.plumbing import APP, ENVIRONMENT, Plumbing
from core.adapters.git.store import GitStore
from core.adapters.git.subfolders import Subfolder
from core.adapters.system.files import flock
from core.curation.remotes import PROTOCOLS, origin
from core.errors import BadInput, NotFound, Refused, Unavailable, storage_failure, storing

REMOTES = "refs/remotes"
_LOCK = "concord-remote.lock"  # one fetch or push of ours at a time
_KEPT = ("PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LD_LIBRARY_PATH")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$CONCORD_GIT_USER" "$CONCORD_GIT_TOKEN"; }; f'
)
_LINE = re.compile(r"^([0-9a-f]{40})\t", re.MULTILINE)
_LOST_RACE = re.compile(
    r"\[rejected\]|fetch first|non-fast-forward|cannot lock ref|incorrect old value|failed to update ref"
)
_SIGNS = (
    (
        r"authentication failed|could not read (user|pass)|permission denied|access denied|returned error: 40[13]|host key",
        "The remote refuses access: {}. Check CONCORD_REMOTE_TOKEN or CONCORD_REMOTE_KEY, and that the server knows the host's key.",
    ),
    (
        r"not found|does not exist|does not appear to be a git repository|not a git repository|not exported|no such file|service not enabled",
        "The remote has no such repository, or does not show it: {}. Check the address and the access.",
    ),
    (
        r"fsck|bad object|malformed|error: object",
        "The remote has objects that git does not accept: {}. Repair them there.",
    ),
    (r"dubious ownership|unsafe repository", "The remote's folder belongs to another user of this machine: {}."),
)


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """How the remote is reached; from the environment, and nowhere stored."""

    user: str = ""
    token: str = field(default="", repr=False)
    key: Path | None = None
    ssh: str = "ssh"
    patience: float = 60.0  # seconds without a sign of life


class GitRemote:
    """The branch of another repository, and what was last seen of it."""

    def __init__(self, store: GitStore, access: RemoteAccess) -> None:
        self.store, self.access = store, access

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One fetch or push at a time, in all processes."""
        with storing(self.store.path), flock(self.store.path / _LOCK):
            yield

    # ------------------------------------------------------------ the other side

    def head(self, url: str, branch: str) -> str:
        """The newest commit of the remote's branch; "" if it has none."""
        out = self._ask(url, "ls-remote", "--quiet", url, f"refs/heads/{branch}")
        found = _LINE.search(out)
        return found[1] if found else ""

    def fetch(self, url: str, branch: str) -> None:
        """Bring the commits of the remote's branch here; no branch of ours moves."""
        options = (
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--progress",
        )
        self._ask(url, "fetch", *options, url, f"refs/heads/{branch}")

    def push(self, url: str, branch: str, commit: str) -> bool:
        """Move the remote's branch forward to a commit; False if somebody else moved it first."""
        what = f"{commit}:refs/heads/{branch}"
        code, out, errors = self._run(url, "push", "--porcelain", "--no-verify", "--progress", url, what)
        if code == 0:
            return True
        refused = next((line for line in out.splitlines() if line.startswith("!")), "")
        if _LOST_RACE.search(refused):
            return False
        if refused:
            raise Refused(f"The remote refuses the push: {self._shown(refused.rpartition(chr(9))[2])}.")
        raise self._failure(errors)

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
                raise BadInput(f"{str(repository)!r} cannot be read as a git repository: {self._shown(done.stderr)}.")
            if folder:
                _narrow(copied, commits, folder)
            yield copied.path

    def narrow(self, commit: str, folder: str) -> str:
        """The commit here for a commit of the remote, of which only a folder is ours."""
        return Subfolder(self.store.git, folder).narrow(commit) if folder else commit

    def widen(self, commit: str, folder: str, last: str) -> str:
        """The commit that the remote gets for a commit here; `last` is the one that it has."""
        if not folder:
            return commit
        inner = Subfolder(self.store.git, folder)
        if last:
            inner.narrow(last)  # knows the pairs already, unless their file was lost
        return inner.widen(commit)

    # ------------------------------------------------------------ what was last seen

    def tracked(self, branch: str, name: str = "origin") -> str:
        """The commit that the remote's branch had when it was last fetched or pushed to."""
        return refs.value(self.store.path, f"{REMOTES}/{name}/{branch}") or ""

    def track(self, branch: str, commit: str, name: str = "origin") -> None:
        """Keep what was seen."""
        git, label = self.store.git, f"{name}/{branch}"
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
        code, out = self.store.git.run("rev-list", "--count", *options, newer, *([f"^{older}"] if older else []))
        return 0 if code else int(out)

    def by_concord(self, newer: str, older: str) -> bool:
        """Whether Concord committed everything on the first-parent line of `newer` that `older` lacks."""
        out = self.store.git.ask(
            "log", "--first-parent", "--format=%cn <%ce>", newer, *([f"^{older}"] if older else [])
        )
        return {line for line in out.decode("utf-8", "replace").splitlines() if line} <= {"Concord <concord@localhost>"}

    # ------------------------------------------------------------ one call

    def _ask(self, url: str, *arguments: str) -> str:
        code, out, errors = self._run(url, *arguments)
        if code:
            raise self._failure(errors)
        return out

    def _failure(self, errors: str) -> Exception:
        if failure := storage_failure(errors, self.store.path):
            return failure
        said = [
            line
            for line in errors.splitlines()
            if line.startswith(("fatal:", "error:", "remote:", "ssh:", "Host", "Perm"))
        ]
        words = self._shown(" ".join(said) or errors or "git ended without a word")
        for pattern, sentence in _SIGNS:
            if re.search(pattern, errors, re.IGNORECASE):
                return Unavailable(sentence.format(words))
        return Unavailable(f"The remote cannot be reached: {words}. It is tried again.")

    def _shown(self, text: str) -> str:
        """git's words in one line, without a secret and without control characters."""
        secret = self.access.token
        plain = text.replace(secret, "***") if secret else text
        return "".join(c for c in " ".join(plain.split()) if c.isprintable())[:300].rstrip(".")

    def _run(self, url: str, *arguments: str) -> tuple[int, str, str]:
        command = ["git", f"--git-dir={self.store.path}", *arguments]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            env=self._environment(url),
            start_new_session=True,
        ) as process:
            try:
                out, errors = self._read(process)
                return process.wait(self.access.patience), out, errors
            except (subprocess.TimeoutExpired, TimeoutError):
                seconds = self.access.patience
                raise Unavailable(f"The remote did not answer for {seconds:.0f} seconds. It is tried again.") from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _read(self, process: subprocess.Popen[bytes]) -> tuple[str, str]:
        """What a process says, until it ends or falls silent for too long."""
        said = {process.stdout: b"", process.stderr: b""}
        with selectors.DefaultSelector() as waiting:
            for pipe in said:
                waiting.register(pipe, selectors.EVENT_READ)  # type: ignore[arg-type]
            while waiting.get_map():
                ready = waiting.select(self.access.patience)
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    part = os.read(key.fd, 65_536)
                    said[key.fileobj] = (said[key.fileobj] + part)[-262_144:]  # type: ignore[index]
                    if not part:
                        waiting.unregister(key.fileobj)
        out, errors = (text.decode("utf-8", "replace").replace("\r", "\n") for text in said.values())
        return out, errors

    def _environment(self, url: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in (*_KEPT, *_PROXIES, *map(str.upper, _PROXIES)) if name in os.environ}
        own = {
            "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
            "GIT_SSH_COMMAND": self._ssh(),
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_PROTOCOL_FROM_USER": "0",
        }
        if self.access.token:
            own |= {"CONCORD_GIT_USER": self.access.user or "git", "CONCORD_GIT_TOKEN": self.access.token}
        settings = self._settings(url)
        own["GIT_CONFIG_COUNT"] = str(len(settings))
        for n, (name, value) in enumerate(settings.items()):
            own |= {f"GIT_CONFIG_KEY_{n}": name, f"GIT_CONFIG_VALUE_{n}": value}
        return {**kept, **ENVIRONMENT, **own}

    def _settings(self, url: str) -> Mapping[str, str]:
        settings = {
            "core.hooksPath": "/dev/null",
            "credential.helper": "",
            "fetch.fsckObjects": "true",
            "fetch.recurseSubmodules": "false",
            "push.recurseSubmodules": "no",
            "http.lowSpeedLimit": "1",
            "http.lowSpeedTime": str(max(1, round(self.access.patience))),
            "transfer.credentialsInUrl": "die",
        }
        if self.access.token and url.startswith(("https://", "http://")):
            settings[f"credential.{origin(url)}.helper"] = _HELPER
        return settings

    def _ssh(self) -> str:
        """ssh never asks, notices a dead host, and uses one key where one is named."""
        wait = max(1, round(min(self.access.patience, 30)))
        options = ["BatchMode=yes", f"ConnectTimeout={wait}", f"ServerAliveInterval={wait}", "ServerAliveCountMax=2"]
        options += ["IdentitiesOnly=yes"] if self.access.key else []
        command = [*shlex.split(self.access.ssh), *(part for option in options for part in ("-o", option))]
        return shlex.join([*command, *(["-i", str(self.access.key)] if self.access.key else [])])


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
