"""git's calls to a repository elsewhere.

Every call is a process without the machine's git configuration, hooks, tags and submodules, with five protocols and no
others. It is ended when it shows no sign of life, and when there is no end of what the other side sends.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from core.curation.review.remote_addresses import PROTOCOLS, origin
from core.errors import Unavailable, storage_failure
from core.storage.git.plumbing import ENVIRONMENT
from core.types import NOTHING

LOST_RACE = re.compile(
    r"\[rejected\]|fetch first|non-fast-forward|cannot lock ref|incorrect old value|failed to update ref"
)
_OUTPUT, _ERRORS = 1 << 24, 1 << 18  # bytes that are kept of what a call says
_BOUNDED = 'ulimit -f 8388608; ulimit -d 2097152 2>/dev/null; exec "$@"'  # files of 4 GiB, memory of 2 GiB
_KEPT = ("PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "TMPDIR", "LD_LIBRARY_PATH")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$CONCORD_GIT_USER" "$CONCORD_GIT_TOKEN"; }; f'
)
_SIGNS = (
    (
        r"authentication failed|could not read (user|pass)|permission denied|access denied|returned error: 40[13]"
        r"|host key",
        "The {place} refuses access: {words}. Check CONCORD_REMOTE_TOKEN or CONCORD_REMOTE_KEY, and that the server "
        "knows the host's key.",
    ),
    (
        r"not found|does not exist|does not appear to be a git repository|not a git repository|not exported|no such "
        r"file|service not enabled",
        "The {place} has no such repository, or does not show it: {words}. Check the address and the access.",
    ),
    (
        r"fsck|bad object|malformed|error: object|corruption on the remote side",
        "The {place} has objects that git does not accept: {words}. Repair them there.",
    ),
    (
        r"died of signal|out of memory|file too large|file size limit",
        "The {place} sends more than a fetch may take, files of 4 GiB and memory of 2 GiB: {words}. Make it smaller "
        "there.",
    ),
    (
        r"mismatched algorithms|hash algorithm",
        "The {place} keeps its objects in another format than SHA-1: {words}. Name one made with: git init "
        "--object-format=sha1",
    ),
    (r"dubious ownership|unsafe repository", "The {place}'s folder belongs to another user of this machine: {words}."),
)


_SPOKEN = ("fatal:", "error:", "remote:", "ssh:", "Host", "Perm")
_COUNTED = re.compile(r"\d+% \(|, done\.|Total \d+ \(delta")


def _plain(line: str) -> str:
    """A line of git without the words that begin each of them.

    >>> _plain("remote: fatal: no such branch")
    'no such branch'
    """
    return re.sub(r"^((fatal|error|remote): *)+", "", line)


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """How the remote is reached; from the environment, and nowhere stored."""

    user: str = ""
    token: str = field(default="", repr=False)
    key: Path | None = None
    ssh: str = "ssh"
    patience: float = 60.0  # seconds without a sign of life
    longest: float = 3600.0  # seconds of one call, however lively


class Transport:
    """Calls of one local repository to others; `place` is what sentences call the other side."""

    def __init__(self, path: Path, access: RemoteAccess, place: str = "remote") -> None:
        self.path, self.access, self.place = path, access, place

    def ask(self, url: str, *arguments: str, env: Mapping[str, str] = NOTHING) -> str:
        """The output of a call that must not fail."""
        code, out, errors = self.run(url, *arguments, env=env)
        if code:
            raise self.failure(errors)
        return out

    def failure(self, errors: str) -> Exception:
        """Why a call failed, as a sentence with git's own words in it."""
        here = "\n".join(line for line in errors.splitlines() if not line.startswith("remote:"))
        if failure := storage_failure(here, self.path):
            return failure
        said = [_plain(line) for line in errors.splitlines() if line.startswith(_SPOKEN) and not _COUNTED.search(line)]
        words = self.shown(" ".join(dict.fromkeys(said)) or errors or "git ended without a word")
        for pattern, sentence in _SIGNS:
            if re.search(pattern, errors, re.IGNORECASE):
                return Unavailable(sentence.format(place=self.place, words=words))
        return Unavailable(f"The {self.place} cannot be reached: {words}. It is tried again.")

    def shown(self, text: str) -> str:
        """git's words in one line, without a secret and without control characters."""
        secret = self.access.token
        plain = text.replace(secret, "***") if secret else text
        return "".join(c for c in " ".join(plain.split()) if c.isprintable())[:300].rstrip(".")

    def run(self, url: str, *arguments: str, env: Mapping[str, str] = NOTHING) -> tuple[int, str, str]:
        """The exit code, the output and the errors of a call that may fail."""
        command = ["/bin/sh", "-c", _BOUNDED, "sh", "git", f"--git-dir={self.path}", *arguments]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            env={**self._environment(url), **env},
            start_new_session=True,
        ) as process:
            try:
                out, errors = self._read(process)
                return process.wait(self.access.patience), out, errors
            except (subprocess.TimeoutExpired, TimeoutError):
                seconds = self.access.patience
                raise Unavailable(
                    f"The {self.place} did not answer for {seconds:.0f} seconds. It is tried again."
                ) from None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _read(self, process: subprocess.Popen[bytes]) -> tuple[str, str]:
        """What a process says, until it ends, falls silent for too long or does not come to an end."""
        said = {process.stdout: b"", process.stderr: b""}
        end = time.monotonic() + self.access.longest
        with selectors.DefaultSelector() as waiting:
            for pipe in said:
                waiting.register(pipe, selectors.EVENT_READ)  # type: ignore[arg-type]
            while waiting.get_map():
                ready = waiting.select(max(0.0, min(self.access.patience, end - time.monotonic())))
                if not ready and time.monotonic() < end:
                    raise TimeoutError
                if time.monotonic() >= end:
                    raise Unavailable(
                        f"The {self.place} did not come to an end in {self.access.longest / 60:g} minutes. Nothing "
                        "was taken over."
                    )
                for key, _ in ready:
                    part = os.read(key.fd, 65_536)
                    kept = _OUTPUT if key.fileobj is process.stdout else _ERRORS
                    said[key.fileobj] = (said[key.fileobj] + part)[-kept:]  # type: ignore[index]
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
