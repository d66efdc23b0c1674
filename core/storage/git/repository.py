"""Documents in a bare repository, never checked out: a working tree is global state that two reviewers would fight
over.

Names pass an allowlist before git sees them; what git would silently drop or mix is refused.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from core.adapters.system.files import scratch_folder, sweep
from core.curation.document.names import safe_path, safe_revision
from core.cures import INIT, RESTORE, remove
from core.errors import BadInput, Conflict, Corrupt, Refused, StorageFailed, Unavailable
from core.storage.git import damage, refs
from core.storage.git.plumbing import LOCK
from core.storage.git.repository_reader import MAIN, SUFFIXES, RepositoryReader
from core.types import Damage, Person

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


class Repository(RepositoryReader):
    """Documents under version control: made, looked after, and written by one compare-and-swap of a branch."""

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
        if (plain := _plain_config(self.path / "config")) is not None:
            return plain
        code, settings = damage.read_config(self.path / "config")
        if code:
            raise Corrupt(" ".join(map(str, self.damaged())))
        return settings

    def other_format(self) -> list[Damage]:
        """The format of git that Concord cannot read, if it has one. A damaged configuration is another matter."""
        plain = _plain_config(self.path / "config") if self.has_config() else {}
        have = damage.read_config(self.path / "config")[1] if plain is None else plain
        return damage.other_format(self.path, have)

    def sweep(self) -> None:
        """Remove temporary objects that killed processes left, as `git prune` would: after two weeks nobody writes
        them any more.
        """
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
            self.clone.prepare(self._init, self.other_format())

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Where the repository is a clone: its branches, which nobody else moves here during the block."""
        with self.git.writing() if self.clone else nullcontext():
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
        if other := self.other_format():
            return other
        if self.exists() and (known or self.has_history()):
            with suppress(StorageFailed), self.git.writing():
                pass  # sweeps what a killed writer left
            return damage.blocking(self.path, known)
        return []

    def damaged(self, known: str = "", workspace: str = "") -> list[Damage]:
        """Every damaged file; nothing is changed."""
        expected = {"core.bare": "true", "core.repositoryformatversion": "0", **_CONFIG}
        named = self.other_format() or list(damage.files(self.path, known, workspace, expected))
        if self.clone is None:
            return named
        again = remove(self.path, INIT.command, what="Clone the shared repository again")
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

    def copy(self, target: Path, heads: Mapping[str, str]) -> Repository:
        """A repository of its own with these branches and all that they reach, in one pack."""
        copied = Repository(target)
        copied.create(self.workspace())
        commits = "".join(f"{commit}\n" for commit in heads.values()).encode()
        if commits:
            objects, pack = target / "objects", str(target / "objects" / "pack" / "pack")
            # git writes beside its own objects first and renames, which fails on another disk
            there = {"GIT_OBJECT_DIRECTORY": str(objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": "objects"}
            self.git.ask("pack-objects", "--quiet", "--revs", "--delta-base-offset", pack, stdin=commits, env=there)
        lines = "".join(f"{commit} {name}\n" for name, commit in sorted(heads.items()))
        (target / "packed-refs").write_text(f"# pack-refs with: sorted \n{lines}", encoding="utf-8")
        (target / LOCK).unlink()
        return copied

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

        `expected` is the commit the author saw; None means whatever the branch holds now. A new branch begins at
        `start`.
        """
        paths = {safe_path(path, SUFFIXES): content for path, content in files.items()}
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
            commit = self.git.commit(self.git.tree("", {}), (), author, message)
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
            paths = {safe_path(path, SUFFIXES): content for path, content in files.items()}
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
        for group in self.new_collisions(names, before):
            together = " and ".join(map(repr, group))
            raise BadInput(f"{together} differ only in case or Unicode form. Rename one of them.")


def _plain_config(file: Path) -> dict[str, str] | None:
    """git's configuration in the form that git and we write it, without a process; None where only git can read it."""
    found, section = {}, ""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    for line in text.splitlines():
        if head := re.fullmatch(r"\[([a-zA-Z]+)\]", line):
            section = head[1].lower()
        elif section and (setting := re.fullmatch(r"\t([a-zA-Z]+) = ([\w./@+-]+)", line, re.ASCII)):
            found[f"{section}.{setting[1].lower()}"] = setting[2]
        else:
            return None
    return found


def _lacking(have: Mapping[str, str], workspace: str) -> dict[str, str]:
    """What git's configuration should say and does not."""
    wanted = {**_CONFIG, **({_WORKSPACE: workspace} if workspace and _WORKSPACE not in have else {})}
    return {key: value for key, value in wanted.items() if have.get(key.lower()) != value}
