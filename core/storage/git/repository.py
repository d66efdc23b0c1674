"""Documents in a bare repository, never checked out: a working tree is global state that two reviewers would fight over.

Names pass an allowlist before git sees them; what git would silently drop or mix is refused.
"""

from __future__ import annotations

import re
import shutil
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from shlex import quote

from core.adapters.system.files import scratch_folder, sweep
from core.curation.document.names import name_collisions, safe_path, safe_revision
from core.curation.pictures import picture_files
from core.errors import BadInput, Conflict, Corrupt, NotFound, Refused, StorageFailed, Unavailable
from core.storage.git import damage, output, refs
from core.storage.git.plumbing import LOCK, Plumbing
from core.storage.git.shared import Clone, SharedRepository
from core.types import RESTORE, Commit, Damage, Edit, Person, TreeEntry

MAIN = "main"

_CONFIG = {
    "core.fsync": "committed",
    "gc.auto": "0",
    "core.logAllRefUpdates": "true",
    "core.protectNTFS": "true",
    "core.protectHFS": "true",
    "core.quotePath": "false",
}
_PLAIN = (
    "core.bare",
    "core.repositoryformatversion",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
)
_UNFINISHED = ".concord-new-"
_WORKSPACE = "concord.workspace"  # lies in the file that git cannot work without
_CHANGE = re.compile(r"^refs/heads/change/(\d{1,9})$|^Change: (\d{1,9})$", re.MULTILINE)
_SUFFIXES = (".md", ".yaml", *picture_files.SUFFIXES)  # documents, and the settings and pictures that live beside them


class Repository:
    """Documents under version control, in one bare repository; with `shared`, in a clone of one that several nodes share."""

    def __init__(self, path: Path, shared: SharedRepository | None = None) -> None:
        self.path = path.resolve()
        self.git = Plumbing(self.path)
        self.clone = Clone(self.git, shared) if shared else None

    def create(self, workspace: str = "") -> str:
        """Create the repository if it is missing, with the id of its workspace; returns the id that it has.

        Waits for a killed writer's last git process.
        """
        if not (self.path / "HEAD").exists() or not (self.path / "config").exists():
            self._init()
        for name in ("objects", "refs/heads"):  # a copy may lack folders that are empty
            (self.path / name).mkdir(parents=True, exist_ok=True)
        workspace = self.clone.claim(workspace) if self.clone and workspace else workspace
        have = self._config()
        if not _lacking(have, workspace):
            with suppress(StorageFailed), self.git.writing():
                pass  # a killed writer's last git process may still be running
            return have.get(_WORKSPACE, "")
        with self.git.writing():
            self.git.configure(_lacking(self._config(), workspace))
        return self.workspace()

    def _config(self) -> dict[str, str]:
        code, out = self.git.run("config", "--file", str(self.path / "config"), "--list", "-z", bare=False)
        if code:
            raise Corrupt(" ".join(map(str, self.damaged())))
        return dict(line.partition("\n")[::2] for line in out.decode(errors="replace").split("\0"))

    def sweep(self) -> None:
        """Remove temporary objects that killed processes left, as `git prune` would: after two weeks nobody writes them any more."""
        old = time.time() - 14 * 24 * 3600
        with self.git.writing():
            for path in self.path.glob("objects/*/tmp_*"):
                if path.stat().st_mtime < old:
                    path.unlink()

    def _init(self) -> None:
        """An empty repository, which nobody sees before it is whole; one that lost its HEAD gets it back."""
        init = ("init", "--quiet", "--bare", "--template=", "--initial-branch", MAIN)
        sweep(self.path.parent, _UNFINISHED)
        with scratch_folder(self.path.parent, _UNFINISHED) as folder:
            self.git.ask(*init, str(folder / "kb.git"), bare=False)
            try:
                (folder / "kb.git").rename(self.path)
            except OSError:
                self.git.ask(*init, str(self.path), bare=False)

    def erase(self) -> None:
        """Remove every branch with its history and every file; what is left is a new repository with the same id."""
        with self.git.writing():
            for name in ("refs", "logs", "objects"):
                shutil.rmtree(self.path / name, ignore_errors=True)
            (self.path / "packed-refs").unlink(missing_ok=True)
            for name in ("objects", "refs/heads"):
                (self.path / name).mkdir(parents=True)

    # ------------------------------------------------------------ the repository that nodes share

    def prepare(self) -> None:
        """Where the repository is a clone: have it whole, with the newest branches."""
        if self.clone:
            self.clone.prepare(self._init)

    def follow(self) -> bool:
        """Where the repository is a clone: bring what other nodes made; whether a branch moved."""
        return self.clone.follow() if self.clone else False

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Where the repository is a clone: the newest branches of all nodes, which nobody else moves here during the block."""
        if self.clone is None:
            yield
            return
        self.clone.follow()
        with self.git.writing():
            yield

    def share(self) -> int:
        """Fill an empty shared repository with what is here; how many branches it got."""
        if self.clone is None:
            raise Refused("There is no shared repository. Name it in CONCORD_REPOSITORY.")
        return self.clone.share()

    # ------------------------------------------------------------ what was lost

    def exists(self) -> bool:
        """Whether there is something that can be a repository."""
        return (self.path / "objects").is_dir()

    def has_config(self) -> bool:
        """False where git's settings were lost as a whole; `create` writes them anew."""
        return (self.path / "config").exists()

    def workspace(self) -> str:
        """The id of the workspace to which it belongs, "" if it does not say."""
        if self.clone:
            return self.clone.workspace()
        return self._config().get(_WORKSPACE, "") if self.has_config() else ""

    def last_change(self) -> int:
        """The highest number of a change that a branch or a merge names."""
        branches = "\n".join(refs.names(self.path))
        merges = "\n".join(step.message for step, _ in self.log(self.head()))
        return max((int(a or b) for a, b in _CHANGE.findall(f"{branches}\n{merges}")), default=0)

    def has_history(self) -> bool:
        """Whether branches, their logs or objects show that somebody worked here."""
        if self.clone:
            return bool(refs.every(self.path))
        objects = self.path / "objects"
        return bool(refs.names(self.path)) or any(objects.glob("??/*")) or any(objects.glob("pack/*.pack"))

    def refuse_foreign_config(self) -> None:
        """Refuse git's settings that Concord did not write: some of them name programs that git then runs."""
        own = {*_PLAIN, *map(str.lower, _CONFIG), _WORKSPACE, ""}
        if foreign := sorted(self._config().keys() - own):
            raise Corrupt(
                f"kb.git/config sets {', '.join(foreign)[:200]}, which Concord never does. Take another backup."
            )

    def lost(self, known: str = "") -> list[Damage]:
        """Why the main line cannot be used although there was one; `known` is a commit that it once had."""
        if self.clone:
            with suppress(Unavailable):  # who knows; the node reads on with what it has, and writes nothing
                return self._behind(known)
            return []
        if self.exists() and (known or self.has_history()):
            with suppress(StorageFailed), self.git.writing():
                pass  # sweeps what a killed writer left
            return damage.blocking(self.path, known)
        return []

    def damaged(self, known: str = "", workspace: str = "") -> list[Damage]:
        """Every damaged file; nothing is changed."""
        expected = {"core.bare": "true", "core.repositoryformatversion": "0", **_CONFIG}
        named = list(damage.files(self.path, known, workspace, expected))
        if self.clone is None:
            return named
        again = f"Make the clone anew from the shared repository with: rm -rf {quote(str(self.path))} && python -m core init"
        return [replace(one, cure=again) for one in named] or self._behind(known)

    def _on_main(self, commit: str) -> bool:
        main = self.head()
        return bool(main) and self.contains(main, commit)

    def _behind(self, known: str) -> list[Damage]:
        """Whether the shared repository lacks a commit that the database knows."""
        if not known or self._on_main(known):
            return []
        self.follow()
        if self._on_main(known):  # it was merged a moment ago
            return []
        why = f"lacks the commit {known[:12]} of the main line, which the database knows"
        return [Damage("the shared repository", why, RESTORE)]

    # ------------------------------------------------------------ reading

    def head(self, branch: str = MAIN) -> str:
        """The newest commit of a branch, "" if there never was one; a broken or lost branch raises Corrupt.

        Every search asks, so it reads the ref file and starts no process.
        """
        name = f"refs/heads/{safe_revision(branch)}"
        commit = refs.loose(self.path, name)
        if commit == "":
            commit = refs.value(self.path, name)
            commit = None if damage.is_lost(self.path, name) else commit
        if commit is None:
            raise Corrupt(str(damage.lost(self.path, name, refs.value(self.path, name))))
        return commit

    def newest(self, branch: str) -> str:
        """The newest commit of a branch that must be somewhere: where it is not here, another node has just made it."""
        return self.head(branch) or (self.head(branch) if self.follow() else "")

    def branches(self, prefix: str) -> list[str]:
        """The names of branches that begin with a prefix, without it."""
        top = f"refs/heads/{prefix}"
        return sorted(name.removeprefix(top) for name in refs.every(self.path) if name.startswith(top))

    def resolve(self, revision: str) -> str:
        """The full commit id behind a branch name or a short id."""
        name = safe_revision(revision)
        for candidate in (f"refs/heads/{name}", name):
            code, out = self.git.run("rev-parse", "--verify", "--quiet", f"{candidate}^{{commit}}")
            if code == 0:
                return out.decode().strip()
        raise NotFound(f"There is no commit or branch {revision!r} in the knowledge base.")

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether `ancestor` is `commit` or an ancestor of it."""
        return self.git.run("merge-base", "--is-ancestor", safe_revision(ancestor), safe_revision(commit))[0] == 0

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every Markdown file of a commit, by path."""
        if not commit:
            return ()
        out = self.git.ask("ls-tree", "-r", "-z", "--long", safe_revision(commit))
        return tuple(entry for line in out.split(b"\0") if (entry := output.parse_tree_entry(line)))

    def blobs(self, commit: str) -> dict[str, str]:
        """Path to blob of every Markdown file of a commit; git looks at no file for it, as it does for sizes."""
        out = self.git.ask("ls-tree", "-r", "-z", safe_revision(commit)).decode("utf-8", "replace")
        lines = (line.partition("\t") for line in out.split("\0") if line.startswith("100"))
        return {path: facts.rpartition(" ")[2] for facts, _, path in lines if output.is_document(path)}

    def pictures(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every picture of a commit, by path."""
        if not commit:
            return ()
        out = self.git.ask("ls-tree", "-r", "-z", "--long", safe_revision(commit))
        lines = out.split(b"\0")
        return tuple(entry for line in lines if (entry := output.parse_tree_entry(line, picture_files.is_picture)))

    def paths(self, commit: str) -> tuple[str, ...]:
        """Every file of a commit, also what is no document."""
        return tuple(self.git.names(safe_revision(commit))) if commit else ()

    def read(self, commit: str, path: str) -> bytes:
        """A file by its path; one that somebody's own git put there may have a name that would be refused here."""
        name = path if path.endswith(_SUFFIXES) and "\0" not in path else safe_path(path, _SUFFIXES)
        for spelled in dict.fromkeys((name, unicodedata.normalize("NFC", name))):
            code, out = self.git.run("cat-file", "blob", f"{safe_revision(commit)}:{spelled}")
            if code == 0:
                return out
        safe_path(path, _SUFFIXES)
        raise NotFound(f"There is no document {path!r} at {commit[:12]}.")

    def blob(self, name: str) -> bytes | None:
        """A file by blob id; None where there is none."""
        if not re.fullmatch(r"[0-9a-f]{40}", name):
            return None
        code, out = self.git.run("cat-file", "blob", name)
        if code and self.clone and self.clone.staged(name):
            code, out = self.git.run("cat-file", "blob", name)
        return None if code else out

    def read_blobs(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """Files by blob id, in the given order, through one git process."""
        if not blobs:
            return
        out = memoryview(self.git.ask("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode()))
        at = 0
        for blob in blobs:
            line_end = bytes(out[at : at + 200]).index(b"\n") + at
            header = bytes(out[at:line_end]).split()
            if len(header) != 3 or header[1] != b"blob":
                raise Corrupt(f"The repository lacks blob {blob}. Run: python -m core verify")
            at = line_end + 1
            yield bytes(out[at : at + int(header[2])])
            at += int(header[2]) + 1

    def changed(self, old: str, new: str) -> tuple[Edit, ...]:
        """The edits between two commits; a moved file is one rename."""
        if not old:
            return tuple(Edit("added", e.path, blob=e.blob) for e in (*self.entries(new), *self.pictures(new)))
        out = self.git.ask(
            "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", safe_revision(old), safe_revision(new)
        )
        return tuple(
            edit
            for edit in output.parse_edits(iter(out.split(b"\0")))
            if output.is_reviewed(edit.path) or output.is_reviewed(edit.old_path)
        )

    def merge_base(self, a: str, b: str) -> str:
        """The newest common ancestor; "" when there is none."""
        code, out = self.git.run("merge-base", safe_revision(a), safe_revision(b))
        return "" if code else out.decode().strip()

    def conflicts(self, head: str, into: str = MAIN) -> tuple[str, ...]:
        """Paths that would conflict in a merge."""
        return tuple(self.git.merge_tree(self.head(into), head)[1])

    def changes_nothing(self, head: str, into: str = MAIN) -> bool:
        """Whether a merge would leave every document, picture and setting as it is."""
        tree, conflicts = self.git.merge_tree(self.head(into), head)
        return not conflicts and not self.changed(self.head(into), tree)

    def ancestors(self, commit: str) -> set[str]:
        """Every commit that a commit builds on, and itself."""
        return set(self.git.ask("rev-list", safe_revision(commit)).decode().split()) if commit else set()

    def merged_blobs(self, head: str, into: str = MAIN) -> dict[str, str]:
        """The blob of every path after a merge that has no conflicts."""
        return self.git.names(self.git.merge_tree(self.head(into), head)[0])

    def conflicting_blobs(self, head: str, onto: str) -> dict[str, tuple[str, str, str]]:
        """Per conflicting path the blobs of base, `head` and `onto`; "" where a side has none.

        A renamed document is listed under its new path. Where both sides renamed it, git mixes their texts; here each keeps its own.
        """
        mine, theirs = self.git.names(head), self.git.names(onto)
        conflicts: dict[str, tuple[str, str, str]] = {}
        for path, blobs in self.git.merge_tree(onto, head)[1].items():
            own = [names.get(path, blobs[stage]) if stage in blobs else "" for stage, names in ((3, mine), (2, theirs))]
            conflicts[path] = (blobs.get(1, ""), own[0], own[1])
        return conflicts

    def name_collisions(self, head: str, into: str = MAIN) -> tuple[tuple[str, ...], ...]:
        """Paths that a merge would put side by side although they differ only in case or Unicode form."""
        base = self.head(into)
        return self._new_collisions(self.git.names(self.git.merge_tree(base, head)[0]), (base,))

    def blame(self, commit: str, path: str) -> tuple[tuple[str, str], ...]:
        """Each line with the commit that wrote it."""
        return output.parse_blame(
            self.git.ask("blame", "--line-porcelain", safe_revision(commit), "--", safe_path(path))
        )

    def log(self, commit: str, since: str = "", limit: int = 0) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        """First-parent commits, newest first, each with the files it changed."""
        if not commit:
            return ()
        span = f"{safe_revision(since)}..{safe_revision(commit)}" if since else safe_revision(commit)
        return self._log([f"--max-count={limit}"] if limit else [], [span])

    def written(self, commit: str, since: str) -> tuple[Commit, ...]:
        """Commits on the way to one that hold somebody's words, oldest first: a merge only where git would have merged otherwise."""
        span = f"{safe_revision(since)}..{safe_revision(commit)}"
        steps = self._log(
            ["--remerge-diff", "--topo-order"], [span], walk=()
        )  # with --reverse git merges other parents
        return tuple(step for step, edits in reversed(steps) if len(step.parents) < 2 or edits)

    def main_line(self, commit: str) -> tuple[tuple[str, date], ...]:
        """The states of main up to a commit, newest first, each with the day on which it was written: its first-parent line, and
        what main was before another line of the remote became the first."""
        line = self._days("log", "--first-parent", "--format=%H %ct", safe_revision(commit))
        known = {name for name, _ in line}
        if before := [name for name in refs.log(self.path, f"refs/heads/{MAIN}") if name not in known]:
            reached = self.ancestors(commit)
            kept = [name for name in dict.fromkeys(before) if name in reached]
            line += self._days("log", "--no-walk", "--format=%H %ct", *kept) if kept else []
            line.sort(key=lambda state: state[1], reverse=True)
        return tuple(line)

    def position(self, commit: str) -> int:
        """How many commits a commit holds, itself counted: more than any that it follows."""
        return int(self.git.ask("rev-list", "--count", safe_revision(commit)))

    def _days(self, *arguments: str) -> list[tuple[str, date]]:
        out = self.git.ask(*arguments).decode().split()
        pairs = zip(out[::2], out[1::2], strict=True)
        return [(name, datetime.fromtimestamp(int(seconds)).date()) for name, seconds in pairs]

    def history(self, commit: str, path: str) -> tuple[Commit, ...]:
        """The commits of one document, newest first, through renames, back to where it was added."""
        steps, wanted = [], safe_path(path)
        for step, edits in self._log(["--follow"], [safe_revision(commit), "--", wanted]):
            for edit in edits:
                steps.append(Commit(step.id, step.author, step.when, step.message, edit.path, edit.blob, step.parents))
            if any(edit.kind == "added" for edit in edits):
                break  # git goes on with what it was copied from, or what was deleted before
        return tuple(steps)

    def _log(
        self, options: list[str], what: list[str], walk: Sequence[str] = ("--first-parent", "-m")
    ) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        form = "--format=%x01%H%x00%P%x00%an%x00%ae%x00%aI%x00%B%x02"
        out = self.git.ask("log", "-z", *walk, "-M", "--raw", "--no-abbrev", form, *options, *what)
        return tuple(output.parse_log_record(record) for record in out.split(b"\x01") if record)

    def heads(self) -> dict[str, str]:
        """Every branch with its commit, while no writer moves one."""
        self.follow()
        with self.git.writing():
            lines = self.git.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads").decode().split()
        return dict(zip(lines[::2], lines[1::2], strict=True))

    def copy(self, target: Path, heads: Mapping[str, str]) -> None:
        """A repository of its own with these branches and all that they reach, in one pack."""
        Repository(target).create(self.workspace())
        commits = "".join(f"{commit}\n" for commit in heads.values()).encode()
        if commits:
            pack = str(target / "objects" / "pack" / "pack")
            self.git.ask("pack-objects", "--quiet", "--revs", "--delta-base-offset", pack, stdin=commits)
        lines = "".join(f"{commit} {name}\n" for name, commit in sorted(heads.items()))
        (target / "packed-refs").write_text(f"# pack-refs with: sorted \n{lines}", encoding="utf-8")
        (target / LOCK).unlink()

    # ------------------------------------------------------------ writing

    def commit(
        self,
        branch: str,
        files: Mapping[str, bytes | None],
        author: Person,
        message: str,
        *,
        expected: str | None = None,
        start: str = "",
    ) -> str:
        """Write and delete (None) files as one commit on a branch; nothing is written if the branch moved.

        `expected` is the commit the author saw; None means whatever the branch holds now. A new branch begins at `start`.
        """
        paths = {safe_path(path, _SUFFIXES): content for path, content in files.items()}
        with self.git.writing():
            before = self.head(branch)
            parent = before or start
            if expected is not None and parent != expected:
                raise Conflict(
                    "The knowledge base moved on while you were writing. Nothing was saved; look again and retry."
                )
            tree = self._tree(parent, paths, (parent,))
            if parent and tree == self.git.tree_of(parent):
                raise BadInput("Nothing to save: the documents are the same as before.")
            commit = self.git.commit(tree, (parent,) if parent else (), author, message)
            self.git.swap(branch, commit, before)
            return commit

    def stage(self, content: bytes) -> str:
        """Write a file that no commit has yet; returns its blob id."""
        with self.git.writing():
            blob = self.git.write_blobs([content])[0]
        if self.clone:
            self.clone.stage(blob)
        return blob

    def begin(self, author: Person, message: str) -> str:
        """The head of main, after an empty first commit if main has none: a change needs a base."""
        with self.git.writing():
            if head := self.head(MAIN):
                return head
            commit = self.git.commit(self.git.ask("mktree").decode().strip(), (), author, message)
            self.git.swap(MAIN, commit, "")
            return commit

    def create_branch(self, name: str, at: str) -> None:
        """Start a branch at a commit; it must not exist yet."""
        with self.git.writing():
            self.git.swap(safe_revision(name), self.resolve(at), "")

    def delete_branch(self, name: str) -> None:
        """Delete a branch; merged commits stay reachable from main."""
        with self.git.writing():
            self.git.drop(safe_revision(name))

    def merge(self, head: str, author: Person, message: str, *, into: str = MAIN) -> str:
        """Merge exactly this commit into a branch, without a working tree; conflicts raise."""
        with self.git.writing():
            base = self.head(into)
            commit = self._merged(base, head, author, message)
            self.git.swap(into, commit, base)
            return commit

    def fast_forward(self, head: str, author: Person, message: str) -> str:
        """Bring commits of another repository onto main: main moves forward to them if it can, else they are merged."""
        with self.git.writing():
            base = self.head(MAIN)
            forward = not base or self.contains(head, base)
            if forward:
                self._refuse_collisions(self.git.names(head), (base,) if base else ())
            commit = head if forward else self._merged(base, head, author, message)
            self.git.swap(MAIN, commit, base)
            return commit

    def move_branch(self, name: str, commit: str, expected: str) -> None:
        """Move a branch forward to a commit that contains it."""
        with self.git.writing():
            self.git.swap(safe_revision(name), self.resolve(commit), expected)

    def try_merge(self, base: str, head: str, author: Person) -> str:
        """The commit that a merge of `head` onto `base` would make; no branch names it. Conflicts raise."""
        with self.git.writing():
            return self._merged(base, head, author, "What a merge would give")

    def _merged(self, base: str, head: str, author: Person, message: str) -> str:
        tree, paths = self.git.merge_tree(base, head)
        if paths:
            raise Conflict(
                f"Both sides changed {', '.join(paths)}. Solve it in the change, then merge again.", tuple(paths)
            )
        self._refuse_collisions(self.git.names(tree), (base,))
        return self.git.commit(tree, (base, head), author, message)

    def update_branch(
        self,
        branch: str,
        onto: str,
        files: Mapping[str, bytes | None],
        author: Person,
        message: str,
        *,
        expected: str,
    ) -> str:
        """Merge `onto` into a branch, with `files` as the resolution of conflicts."""
        with self.git.writing():
            if self.head(branch) != expected:
                raise Conflict("The change moved on while you were solving. Nothing was saved; look again and retry.")
            paths = {safe_path(path, _SUFFIXES): content for path, content in files.items()}
            tree = self._tree(self.git.merge_tree(onto, expected)[0], paths, (onto, expected))
            commit = self.git.commit(tree, (expected, onto), author, message)
            self.git.swap(branch, commit, expected)
            return commit

    # ------------------------------------------------------------ what git would accept silently

    def _tree(self, parent: str, files: Mapping[str, bytes | None], before: Sequence[str]) -> str:
        """The tree of `parent` with `files` applied, without new name collisions compared to `before`."""
        written = [(path, content) for path, content in files.items() if content is not None]
        blob_ids = self.git.write_blobs([content for _, content in written])
        blobs = dict.fromkeys(files, "") | dict(zip((path for path, _ in written), blob_ids, strict=True))
        tree = self.git.tree(parent, blobs)
        names = self.git.names(tree)
        self._refuse_dropped_paths(names, {**self.git.names(parent), **blobs})
        self._refuse_collisions(names, before)
        return tree

    def _refuse_dropped_paths(self, names: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """git drops paths it dislikes with exit code 0."""
        for path, blob in wanted.items():
            if names.get(path, "") != blob:
                raise BadInput(f"The path {path!r} cannot stand beside the other documents. Rename the document.")

    def _refuse_collisions(self, names: Iterable[str], before: Sequence[str]) -> None:
        for group in self._new_collisions(names, before):
            together = " and ".join(map(repr, group))
            raise BadInput(f"{together} differ only in case or Unicode form. Rename one of them.")

    def _new_collisions(self, names: Iterable[str], before: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Collisions that were not there before; an old pair must not block unrelated work."""
        collisions = name_collisions(names)
        known = [set(group) for commit in before if collisions for group in name_collisions(self.git.names(commit))]
        return tuple(group for group in collisions if not any(old >= set(group) for old in known))


def _lacking(have: Mapping[str, str], workspace: str) -> dict[str, str]:
    """What git's configuration should say and does not."""
    wanted = {**_CONFIG, **({_WORKSPACE: workspace} if workspace and _WORKSPACE not in have else {})}
    return {key: value for key, value in wanted.items() if have.get(key.lower()) != value}
