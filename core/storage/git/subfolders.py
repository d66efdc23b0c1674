"""One folder of another repository as a repository of its own, and back, commit by commit.

Every commit there has one here with the files of the folder, the same author, dates and message, so that both sides
can be made again from each other: narrowing what was widened gives the very same commit. A file remembers the pairs;
it is made again if it is lost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.errors import Corrupt
from core.storage.git.plumbing import Plumbing

_PAIRS = "concord-folder"  # lines of: commit there, commit here
_KEPT = (b"author ", b"committer ", b"encoding ")


class Subfolder:
    """A folder of the remote; `narrow` brings its commits here, `widen` takes ours there."""

    def __init__(self, git: Plumbing, folder: str) -> None:
        self.git, self.folder = git, folder
        self.file = git.path / f"{_PAIRS}-{folder.replace('/', '-')}"
        self._empty = ""

    def narrow(self, head: str) -> str:
        """The commit here for a commit there."""
        pairs = self._pairs()
        for commit, parents, text in self._commits(head, list(pairs)):
            tree = self._tree(commit)
            pairs[commit] = self._write(text, tree, [pairs[parent] for parent in parents])
            self._remember(commit, pairs[commit])
        return pairs[head]

    def widen(self, head: str) -> str:
        """The commit there for a commit here: the folder is ours, the rest as it was there last."""
        there = {ours: theirs for theirs, ours in self._pairs().items()}
        for commit, parents, text in self._commits(head, list(there)):
            wide = [there[parent] for parent in parents]
            there[commit] = self._write(text, self._with_folder(self._rest(wide), commit), wide)
            self._remember(there[commit], commit)
        return there[head]

    # ------------------------------------------------------------ pairs

    def _pairs(self) -> dict[str, str]:
        """What is known, as far as its commits are still there."""
        lines = self.file.read_text(encoding="ascii").splitlines() if self.file.exists() else []
        pairs = dict(line.split() for line in lines if len(line) == 81)
        asked = "".join(f"{name}\n" for pair in pairs.items() for name in pair).encode()
        missing = {
            line.split()[0]
            for line in self.git.ask("cat-file", "--batch-check", stdin=asked).decode().splitlines()
            if line.endswith("missing")
        }
        return {theirs: ours for theirs, ours in pairs.items() if not {theirs, ours} & missing}

    def _remember(self, theirs: str, ours: str) -> None:
        with self.file.open("a", encoding="ascii") as file:
            file.write(f"{theirs} {ours}\n")

    # ------------------------------------------------------------ commits and trees

    def _commits(self, head: str, known: Sequence[str]) -> Iterator[tuple[str, list[str], bytes]]:
        """Commits that are not known yet, parents first, with their text."""
        stdin = "".join([f"{head}\n", *(f"^{commit}\n" for commit in known)]).encode()
        for commit in self.git.ask("rev-list", "--topo-order", "--reverse", "--stdin", stdin=stdin).decode().split():
            text = self.git.ask("cat-file", "commit", commit)
            headers = text.partition(b"\n\n")[0].split(b"\n")
            yield commit, [line[7:].decode() for line in headers if line.startswith(b"parent ")], text

    def _write(self, text: bytes, tree: str, parents: Sequence[str]) -> str:
        headers, _, message = text.partition(b"\n\n")
        kept = [line for line in headers.split(b"\n") if line.startswith(_KEPT)]
        lines = [b"tree " + tree.encode(), *(b"parent " + parent.encode() for parent in parents), *kept]
        content = b"\n".join(lines) + b"\n\n" + message
        return self.git.ask("hash-object", "-t", "commit", "-w", "--stdin", stdin=content).decode().strip()

    def _tree(self, commit: str) -> str:
        """The tree of the folder at a commit there; the empty one where there is no such folder."""
        line = self.git.ask("ls-tree", "-d", "-z", commit, self.folder).split(b"\t")[0].split()
        return line[2].decode() if len(line) == 3 and line[1] == b"tree" else self._none()

    def _none(self) -> str:
        self._empty = self._empty or self.git.ask("mktree").decode().strip()
        return self._empty

    def _rest(self, wide: Sequence[str]) -> str:
        """Where everything outside of the folder comes from: the newest of the parents, or what their merge gives."""
        if len(wide) < 2:
            return wide[0] if wide else ""
        first, second = wide[:2]
        if self.git.run("merge-base", "--is-ancestor", first, second)[0] == 0:
            return second
        if self.git.run("merge-base", "--is-ancestor", second, first)[0] == 0:
            return first
        return self.git.merge_tree(first, second)[0]

    def _with_folder(self, rest: str, commit: str) -> str:
        tree = self.git.tree_of(commit)
        with tempfile.TemporaryDirectory(prefix="index-folder-", dir=self.git.path) as place:
            index: Mapping[str, str] = {"GIT_INDEX_FILE": f"{place}/index", "GIT_WORK_TREE": str(Path(place))}
            self.git.ask("read-tree", *([rest] if rest else ["--empty"]), env=index)
            old = self.git.ask("ls-files", "-z", "--", f":(literal){self.folder}", env=index).split(b"\0")
            gone = b"".join(b"0 " + b"0" * 40 + b"\t" + path + b"\0" for path in old if path)
            self.git.ask("update-index", "-z", "--index-info", stdin=gone, env=index)
            if tree != self._none():
                code, _ = self.git.run("read-tree", f"--prefix={self.folder}/", tree, env=index)
                if code:
                    raise Corrupt(
                        f"A file of the remote stands where the folder {self.folder!r} should be. Rename it there."
                    )
            return self.git.ask("write-tree", env=index).decode().strip()
