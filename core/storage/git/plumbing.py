"""git's small tools on one bare repository: blobs, trees, commits, branches that move by compare-and-swap, and reading
what git prints.

Small commits are written as files, in git's own form. Any other call is a process in a clean environment; GitPython
only runs it, its own index is not thread-safe. One flock serialises the writers of all processes. git children inherit
the lock, so a killed app cannot leave half a commit behind an open one.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from git.cmd import Git

from core.adapters.system.files import PATIENCE, flock, fsync_folder
from core.curation.document.names import safe_revision
from core.curation.pictures.picture_files import is_picture
from core.curation.review.proposals import SETTINGS
from core.cures import VERIFY
from core.errors import Corrupt, Moved, storage_failure, storing
from core.lru import LruCache
from core.storage.git import refs
from core.storage.git.refs import locked, replace, sweep
from core.types import Commit, Edit, Person, TreeEntry

Publish = Callable[[Mapping[str, tuple[str, str]]], object]
"""Called with what refs shall have and what they must have, by name; "" is no such ref. It raises where one has
another.
"""

APP = Person("Concord", "concord@localhost")

ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_DEFAULT_HASH": "sha1",  # the formats that `refs` reads and writes, whatever git's own defaults are
    "GIT_DEFAULT_REF_FORMAT": "files",
    "LC_ALL": "C.UTF-8",
}
_ELSEWHERE = (
    "DIR COMMON_DIR WORK_TREE INDEX_FILE OBJECT_DIRECTORY ALTERNATE_OBJECT_DIRECTORIES QUARANTINE_PATH NAMESPACE PREFIX"
)
_ZERO_ID = "0" * 40
LOCK = "concord.lock"  # one writer of ours at a time
_OBJECT = re.compile(r"\b[0-9a-f]{40}\b")
# commands whose answer follows from the objects they name
_READS = {"cat-file", "ls-tree", "diff-tree", "merge-base", "rev-parse"}
_BY_ID = re.compile(r"[0-9a-f]{40}(:.*|\^\{\w+\})?\Z", re.DOTALL)
_KEPT, _ENTRY = (
    16 << 20,
    4 << 10,
)  # bytes of answers that are kept, as a page asks the same at every click; what each costs beside its own
_INDEX = "index-"  # private indexes, each in a folder
_LOOSE = 20  # blobs; more of them are a pack
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")
_PLAIN_COMMIT = re.compile(
    rb"tree [0-9a-f]{40}((?:\nparent [0-9a-f]{40})*)\nauthor ([^\s<>](?:[^<>\n]*[^\s<>])?) <([^\s<>]+)> (\d{9,10}) "
    rb"([+-]\d{4})"
    rb"\ncommitter [^\n]*"
)
_CRUD = bytes(range(33)) + b".,:;<>\"\\'"  # what git takes from the ends of names
_LOG = logging.getLogger(__name__)


def forget_other_repositories() -> None:
    """Remove from the environment what leads git elsewhere: a hook that runs Concord names its own repository there."""
    for name in _ELSEWHERE.split():
        os.environ.pop(f"GIT_{name}", None)


def lasts(arguments: Sequence[str]) -> bool:
    """Whether a command reads, and names every object by its full id: an id is the hash of what it names, so the
    answer never changes.

    >>> lasts(("ls-tree", "-r", "0" * 40)), lasts(("ls-tree", "-r", "main"))
    (True, False)
    """
    named = [word for word in arguments[2 if arguments[0] == "cat-file" else 1 :] if not word.startswith("-")]
    return arguments[0] in _READS and bool(named) and all(_BY_ID.match(word) for word in named)


class Plumbing:
    """git's plumbing commands on one bare repository. It enforces nothing; `Repository` decides what is allowed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.publish: Publish | None = None  # moves a ref where others see it, before it moves here
        self.catch_up: Callable[[], object] | None = None  # brings what others made
        self.stamp: Callable[[], str] | None = None  # the time of a commit; git's own without one
        self._own = threading.local()
        self._known: LruCache[tuple[str, ...], bytes] = LruCache(_KEPT, lambda answer: len(answer) + _ENTRY)

    def ask(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, bare: bool = True
    ) -> bytes:
        """The output of a command that must not fail."""
        code, out = self.run(*arguments, stdin=stdin, env=env, bare=bare)
        if code:
            raise Corrupt(f"git {arguments[0]} failed in the knowledge base.", VERIFY)
        return out

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        bare: bool = True,
        merge_errors: bool = False,
    ) -> tuple[int, bytes]:
        """The exit code and output of a command that may fail; one that lacks a commit of another node is tried again
        with it.
        """
        stays = bare and not (stdin or env) and lasts(arguments)
        if stays and (known := self._known.get(arguments)) is not None:
            return 0, known
        if stays and (answer := refs.loose_answer(self.path, arguments)) is not None:
            if not answer[0]:
                self.keep(answer[1], *arguments)
            return answer
        code, out, errors = self._execute(arguments, stdin, env or {}, bare)
        if code and self.catch_up and self._lacks(arguments, stdin):
            self.catch_up()
            code, out, errors = self._execute(arguments, stdin, env or {}, bare)
        if code and (failure := storage_failure(errors, self.path)):
            raise failure
        if stays and not code:
            self.keep(out, *arguments)
        return code, out + (errors.encode(errors="surrogateescape") if merge_errors else b"")

    def known(self, *arguments: str) -> bytes | None:
        """What a command would say, where that is known."""
        return self._known.get(arguments)

    def keep(self, answer: bytes, *arguments: str) -> None:
        """Know what a command would say; a large answer is not kept."""
        if len(answer) <= _KEPT // 16:
            self._known[arguments] = answer

    def _lacks(self, arguments: Sequence[str], stdin: bytes) -> bool:
        """Whether a command names an object that is not here."""
        names = _OBJECT.findall(" ".join(arguments[1:]) + (stdin.decode() if "--stdin" in arguments else ""))
        asked = "".join(f"{name}\n" for name in names).encode()
        checked = self._execute(("cat-file", "--batch-check"), asked, {}, True)[1] if names else b""
        return b" missing\n" in checked

    def _execute(
        self, arguments: Sequence[str], stdin: bytes, env: Mapping[str, str], bare: bool
    ) -> tuple[int, bytes, str]:
        git = Git(str(self.path))
        git.update_environment(**ENVIRONMENT, **env)
        where = [f"--git-dir={self.path}"] if bare else []
        with storing(tempfile.gettempdir()), tempfile.TemporaryFile() as pipe:
            pipe.write(stdin)
            pipe.seek(0)
            code, out, errors = git.execute(
                ["git", *where, *arguments],
                istream=pipe,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                close_fds=False,
            )
        return code, out, errors

    def merge_tree(self, base: str, head: str) -> tuple[str, dict[str, dict[int, str]]]:
        """The merged tree, and per conflicting path its blobs by stage."""
        if self._follows(base, head):
            return self.tree_of(head), {}
        code, out = self.run("merge-tree", "--write-tree", "-z", "--no-messages", base, safe_revision(head))
        if code not in (0, 1):
            raise Corrupt(f"git could not merge {head[:12]}.", VERIFY)
        return parse_merge_tree(out)

    def conflicts(self, base: str, heads: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Head to the paths that would conflict in a merge into `base`: one process for all, whose trees nobody
        keeps.
        """
        clean: dict[str, tuple[str, ...]] = {head: () for head in heads if self._follows(base, head)}
        heads = [head for head in heads if head not in clean]
        asked = "".join(f"{base} {safe_revision(head)}\n" for head in heads)
        command = ("-c", "core.fsync=none", "merge-tree", "--write-tree", "--stdin", "-z", "--no-messages")
        with storing(tempfile.gettempdir()), tempfile.TemporaryDirectory() as folder:
            aside = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": "objects"}
            code, out = self.run(*command, stdin=asked.encode(), env=aside) if heads else (0, b"")
        if code:
            return clean | {head: tuple(self.merge_tree(base, head)[1]) for head in heads}  # it names the one at fault
        return clean | dict(zip(heads, parse_merges(out), strict=True))

    def _follows(self, base: str, head: str) -> bool:
        """Whether a commit is known to hold another, so that their merge is itself."""
        return self.known("merge-base", base, head) == f"{base}\n".encode()

    def tree(self, parent: str, blobs: Mapping[str, str]) -> str:
        """The tree of `parent` with these blobs written (or deleted, where ""); by git in a private index where it
        must.
        """
        with suppress(refs.NotLoose):
            known = refs.tree_of(self.path, parent) if parent else ""
            return refs.edited_tree(self.path, known, blobs) or refs.write_object(self.path, b"tree", b"")
        lines = [f"100644 {blob} 0\t{path}" if blob else f"0 {_ZERO_ID} 0\t{path}" for path, blob in blobs.items()]
        with tempfile.TemporaryDirectory(prefix=_INDEX, dir=self.path) as folder:
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            self.ask("read-tree", *([parent] if parent else ["--empty"]), env=index)
            index_lines = "".join(f"{line}\0" for line in lines).encode()
            self.ask("update-index", "-z", "--index-info", stdin=index_lines, env=index)
            return self.ask("write-tree", env=index).decode().strip()

    def names(self, tree: str) -> dict[str, str]:
        """The blob of every path."""
        out = self.ask("ls-tree", "-r", "-z", tree) if tree else b""
        lines = (line.split(b"\t", 1) for line in out.split(b"\0") if line)
        return {path.decode("utf-8", "replace"): facts.split()[2].decode() for facts, path in lines}

    def write_blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Loose objects for few, through one process one pack for many, both synced."""
        if len(contents) <= _LOOSE and sum(map(len, contents)) <= _KEPT // 16:
            return [refs.write_object(self.path, b"blob", content) for content in contents]
        parts: list[bytes] = []
        for mark, content in enumerate(contents, 1):
            parts += [b"blob\nmark :%d\ndata %d\n" % (mark, len(content)), content, b"\n"]
        parts += [b"get-mark :%d\n" % mark for mark in range(1, len(contents) + 1)]
        out = self.ask("fast-import", "--quiet", "--done", stdin=b"".join(parts) + b"done\n")
        return out.decode().split()

    def commit(self, tree: str, parents: Sequence[str], author: Person, message: str) -> str:
        """A commit that no branch points to yet."""
        content = _commit(tree, parents, author, message, self.stamp() if self.stamp else "")
        if content:
            return refs.write_object(self.path, b"commit", content)
        who = {
            "GIT_AUTHOR_NAME": _one_line(author.name) or "unknown",
            "GIT_AUTHOR_EMAIL": _one_line(author.email) or "unknown@localhost",
            "GIT_COMMITTER_NAME": APP.name,
            "GIT_COMMITTER_EMAIL": APP.email,
        }
        if self.stamp:
            who["GIT_AUTHOR_DATE"] = who["GIT_COMMITTER_DATE"] = self.stamp()
        options = [option for parent in parents for option in ("-p", parent)]
        out = self.ask("commit-tree", tree, *options, stdin=_printable(message).encode(), env=who)
        return out.decode().strip()

    def tree_of(self, commit: str) -> str:
        with suppress(refs.NotLoose):
            return refs.tree_of(self.path, commit)
        return self.ask("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()

    def swap(self, branch: str, new: str, old: str | None, top: str = "refs/heads", *, publish: bool = True) -> None:
        """Compare and swap: move a branch from `old` to `new`, or leave it alone. The caller holds the writers' lock.

        Where others share the repository, it moves there first; without `publish` it did already. An error means that
        it did not move: what a disk refuses after that is only late.
        """
        name = f"{top}/{branch}"
        with locked(self.path, name) as lock:
            if refs.value(self.path, name) != old:
                raise Moved(f"{branch!r} changed in the meantime. Nothing was changed: reload and try again.")
            share = self.publish if publish else None
            if share:
                share({name: (new, old or "")})
            try:
                self._log(name, old or "", new)
                replace(lock, f"{new}\n")
                self.sync(branch, top)
            except OSError as error:
                if not share and refs.value(self.path, name) != new:
                    raise
                _LOG.error("%s is at %s, but this disk refused a part of it: %s", name, new, error)
                with suppress(OSError):
                    refs.forget_unmade(self.path, lock)
        if publish:
            self._own.moves = self.moves + 1

    @property
    def moves(self) -> int:
        """How many branches this thread has moved."""
        return getattr(self._own, "moves", 0)

    def _log(self, name: str, old: str, new: str) -> None:
        """A line of the reflog, in git's form."""
        path = self.path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"{old or _ZERO_ID} {new} {APP.name} <{APP.email}> {int(time.time())} +0000\n")

    def drop(self, branch: str, top: str = "refs/heads", *, publish: bool = True) -> None:
        """Remove a branch; one that is not there is no failure. The caller holds the writers' lock."""
        name = f"{top}/{branch}"
        with locked(self.path, name):
            if self.publish and publish:
                self.publish({name: ("", refs.value(self.path, name) or "")})
            (self.path / "logs" / name).unlink(missing_ok=True)  # first: a log without its branch means a loss
            if name in refs.packed(self.path):
                with locked(self.path, "packed-refs") as lock:
                    lines = (self.path / "packed-refs").read_text().splitlines(keepends=True)
                    replace(lock, "".join(line for line in lines if line[41:].strip() != name))
            (self.path / name).unlink(missing_ok=True)
        self.sync(branch, top)

    def configure(self, values: Mapping[str, str]) -> None:
        """Add values to the repository's configuration. The caller holds the writers' lock."""
        with locked(self.path, "config") as lock:
            parts = ((*key.split(".", 1), value) for key, value in values.items())
            added = "".join(f"[{section}]\n\t{key} = {value}\n" for section, key, value in parts)
            replace(lock, (self.path / "config").read_text(encoding="utf-8") + added)

    def sync(self, branch: str, top: str = "refs/heads") -> None:
        """git syncs objects and the ref file, but not the folders that name them."""
        for place in (top, f"logs/{top}"):
            folder = (self.path / place / branch).parent
            while folder != self.path:
                if folder.is_dir():
                    fsync_folder(folder)
                folder = folder.parent

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writers' lock, after removing what a killed writer left: nobody else of ours writes now."""
        if getattr(self._own, "writing", False):
            yield  # this thread holds it already
            return
        with storing(self.path), flock(self.path / LOCK, inherit=True, patience=PATIENCE):
            sweep(self.path)
            for stale in self.path.glob(f"{_INDEX}*"):
                shutil.rmtree(stale, ignore_errors=True)
            for report in self.path.glob("fast_import_crash_*"):
                report.unlink()
            self._own.writing = True
            try:
                yield
            finally:
                self._own.writing = False


def _commit(tree: str, parents: Sequence[str], author: Person, message: str, stamp: str) -> bytes:
    """A commit as `git commit-tree` writes it; b"" where a name or a time is only git's to read."""
    if stamp and not _STAMP.fullmatch(stamp):
        return b""
    now = datetime.fromisoformat(stamp) if stamp else datetime.now().astimezone()
    names = [_one_line(author.name) or "unknown", _one_line(author.email) or "unknown@localhost", APP.name, APP.email]
    name, email, app, address = (text.encode().strip(_CRUD) for text in names)
    seconds = int(now.timestamp())
    if not name or not email or seconds < 10**9:
        return b""
    at = f"{seconds} {now:%z}".encode()
    heads = [b"tree " + tree.encode(), *(b"parent " + parent.encode() for parent in dict.fromkeys(parents))]
    heads += [b"author %s <%s> %s" % (name, email, at), b"committer %s <%s> %s" % (app, address, at)]
    return b"\n".join(heads) + b"\n\n" + _printable(message).encode()


def _printable(message: str) -> str:
    return "".join(c for c in message if c.isprintable() or c == "\n")


def _one_line(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip()


_KINDS = {"A": "added", "C": "added", "M": "edited", "T": "edited", "D": "deleted", "R": "renamed"}


def is_document(path: str) -> bool:
    return path.endswith(".md") and not path.startswith(".")


def parse_tree_entry(line: bytes, wanted: Callable[[str], bool] = is_document) -> TreeEntry | None:
    """A line of `ls-tree --long`: mode, type, blob, size, path."""
    if not line:
        return None
    facts, path = line.split(b"\t", 1)
    mode, _, blob, size = facts.split()
    name = path.decode("utf-8", "replace")
    return TreeEntry(name, blob.decode(), int(size)) if mode.startswith(b"100") and wanted(name) else None


def is_reviewed(path: str) -> bool:
    """Documents, their pictures, and the settings beside them."""
    return is_document(path) or is_picture(path) or path in SETTINGS


def parse_edits(fields: Iterator[bytes]) -> Iterator[Edit]:
    """The NUL-separated raw format: `:mode mode old new K`, then one path, or two for a rename or copy.

    Only files count, as in `parse_tree_entry`: one that becomes a link or a submodule is deleted.
    """
    for field in fields:
        if not field.strip().startswith(b":"):
            continue
        before, after, _, new, letter = field.decode().lstrip("\n:").split()
        kind = _KINDS[letter[0]]
        first = next(fields).decode("utf-8", "replace")
        path = next(fields).decode("utf-8", "replace") if letter[0] in "RC" else first
        if after.startswith("100"):
            kind = kind if before.startswith("100") else "added"
            yield Edit(kind, path, old_path=first if kind == "renamed" else "", blob=new)
        elif before.startswith("100"):
            yield Edit("deleted", first)


def parse_log_record(record: bytes) -> tuple[Commit, tuple[Edit, ...]]:
    """One record of `Repository._log`: the commit and the files it changed."""
    head, _, rest = record.partition(b"\x02")
    commit, parents, name, email, when, message = head.decode("utf-8", "replace").split("\0", 5)
    step = Commit(commit, Person(name, email), when, message.strip(), parents=tuple(parents.split()))
    return step, tuple(parse_edits(iter(rest.split(b"\0"))))


def parse_commit(name: str, content: bytes) -> Commit:
    """The same of a commit's own text; NotLoose where there is more in it than Concord writes."""
    head, _, message = content.partition(b"\n\n")
    if not (plain := _PLAIN_COMMIT.fullmatch(head)) or b"\0" in message:
        raise refs.NotLoose(name)
    parents, author, email, seconds, zone = (part.decode("utf-8", "replace") for part in plain.groups())
    when = datetime.fromtimestamp(int(seconds), datetime.strptime(zone, "%z").tzinfo).isoformat()
    return Commit(
        name,
        Person(author, email),
        when,
        message.decode("utf-8", "replace").strip(),
        parents=tuple(_OBJECT.findall(parents)),
    )


def parse_blame(out: bytes) -> tuple[tuple[str, str], ...]:
    """`blame --line-porcelain`: each line with the commit that wrote it."""
    lines: list[tuple[str, str]] = []
    commit = ""
    for line in out.decode("utf-8", "replace").split("\n"):
        if line.startswith("\t"):
            lines.append((commit, line[1:]))
            commit = ""
        elif not commit:
            commit = line.split(" ", 1)[0]
    return tuple(lines)


def parse_merge_tree(out: bytes) -> tuple[str, dict[str, dict[int, str]]]:
    """`merge-tree --write-tree -z`: the tree, and per conflicting path its blobs by stage."""
    tree, *lines = [part.decode("utf-8", "replace") for part in out.split(b"\0") if part]
    conflicts: dict[str, dict[int, str]] = {}
    for facts, path in sorted((line.split("\t", 1) for line in lines), key=lambda pair: pair[1]):
        _, blob, stage = facts.split()
        conflicts.setdefault(path, {})[int(stage)] = blob
    return tree, conflicts


def parse_merges(out: bytes) -> Iterator[tuple[str, ...]]:
    """`merge-tree --stdin -z`: of each merge the paths in conflict.

    >>> list(parse_merges(b"1\\0tree\\0\\0" b"0\\0tree\\0mode blob 2\\ta.md\\0mode blob 3\\ta.md\\0\\0"))
    [(), ('a.md',)]
    """
    fields = iter(out.split(b"\0")[:-1])
    for _ in fields:  # whether it is clean
        _, *lines = iter(lambda: next(fields).decode("utf-8", "replace"), "")
        yield tuple(sorted({line.partition("\t")[2] for line in lines}))


def parse_compared(out: bytes) -> dict[str, tuple[Edit, ...]]:
    """`diff-tree --stdin -z` of commits: the edits of each; one that differs in nothing is missing."""
    fields, commit = iter(out.split(b"\0")), ""
    found: dict[str, tuple[Edit, ...]] = {}
    for field in fields:
        if field.startswith(b":"):
            paths = [next(fields) for _ in range(2 if field.split()[4][:1] in b"RC" else 1)]
            found[commit] += tuple(parse_edits(iter((field, *paths))))
        elif field:
            commit = field.decode()
            found[commit] = ()
    return found
