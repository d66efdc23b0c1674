"""Histories of a git remote that nobody's own git would write, made object by object."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

DOC = b"# Hostile\n\nText of it.\n"
_WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Olga Outside"), ("EMAIL", "olga@example.net"))
}
Entry = tuple[str, bytes, str]  # mode, name, object


@dataclass(frozen=True)
class Remote:
    """A bare repository in which anything can be written."""

    path: Path

    def git(self, *arguments: str, raw: bytes = b"") -> bytes:
        clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **_WHO}
        command = ["git", f"--git-dir={self.path}", *arguments]
        return subprocess.run(command, input=raw, capture_output=True, env=clean, check=True).stdout

    def write(self, kind: str, raw: bytes) -> str:
        return self.git("hash-object", "-w", "-t", kind, "--literally", "--stdin", raw=raw).decode().strip()

    def tree(self, *entries: Entry) -> str:
        parts = (mode.encode() + b" " + name + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries)
        return self.write("tree", b"".join(parts))

    def beside(self, base: str, *entries: Entry) -> str:
        """The tree of a commit with more entries, in git's order."""
        lines = (line.split(b"\t") for line in self.git("ls-tree", "-z", base).split(b"\0") if line)
        have = [(facts.split()[0].decode(), name, facts.split()[2].decode()) for facts, name in lines]
        return self.tree(*sorted([*have, *entries], key=lambda entry: entry[1] + b"/" * (entry[0] == "40000")))

    def commit(self, tree: str, *parents: str, message: bytes = b"hostile") -> str:
        options = [option for parent in parents for option in ("-p", parent)]
        return self.git("commit-tree", tree, *options, raw=message).decode().strip()

    def point(self, commit: str, branch: str = "main") -> None:
        """Move a branch, also to what is no commit."""
        (self.path / "refs" / "heads" / branch).write_text(f"{commit}\n")


Make = Callable[[Remote, str], str]


def _file(name: bytes, raw: bytes = DOC, mode: str = "100644") -> Make:
    return lambda r, base: r.commit(r.beside(base, (mode, name, r.write("blob", raw))), base)


def _folder(name: bytes) -> Make:
    def inside(r):
        return r.tree(("100644", b"x.md", r.write("blob", DOC)))

    return lambda r, base: r.commit(r.beside(base, ("40000", name, inside(r))), base)


def _bomb(wide: int, deep: int, name: bytes = b"x.md") -> Make:
    """`wide` folders in each folder, `deep` levels: wide ** deep files in `deep` objects."""

    def make(r: Remote, base: str) -> str:
        tree = r.tree(("100644", name, r.write("blob", DOC)))
        for _ in range(deep):
            tree = r.tree(*(("40000", b"d%03d" % n, tree) for n in range(wide)))
        return r.commit(r.beside(base, ("40000", b"bomb", tree)), base)

    return make


def _defused(r: Remote, base: str) -> str:
    """A bomb that the newest commit has no longer."""
    return r.commit(r.beside(base, ("100644", b"new.md", r.write("blob", DOC))), _bomb(10, 9)(r, base))


def _twice(r: Remote, base: str) -> str:
    entry = ("100644", b"twice.md", r.write("blob", DOC))
    return r.commit(r.beside(base, entry, entry), base)


def _raw_commit(head: bytes) -> Make:
    def make(r: Remote, base: str) -> str:
        tree = r.beside(base, ("100644", b"new.md", r.write("blob", DOC)))
        return r.write("commit", b"tree %s\nparent %s\n" % (tree.encode(), base.encode()) + head)

    return make


def _tag(r: Remote, base: str) -> str:
    return r.write("tag", b"object %s\ntype commit\ntag x\ntagger O <o@e> 1 +0000\n\nx\n" % base.encode())


REFUSED: Mapping[str, tuple[Make, str]] = {
    ".git": (_folder(b".git"), "does not accept: .*hasDotgit"),
    ".GIT": (_folder(b".GIT"), "does not accept: .*hasDotgit"),
    "git~1": (_folder(b"GIT~1"), "does not accept: .*hasDotgit"),
    "..": (_folder(b".."), "does not accept: .*hasDotdot"),
    "a slash in a name": (_file(b"a/b.md"), "does not accept: .*fullPathname"),
    "no name": (_file(b""), "does not accept: .*empty filename"),
    "one name twice": (_twice, "does not accept: .*duplicateEntries"),
    "a lost file": (
        lambda r, base: r.commit(r.beside(base, ("100644", b"gone.md", "2" * 40)), base),
        "does not accept: .*unable to read",
    ),
    "a submodule with an option": (
        _file(b".gitmodules", b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=id\n'),
        "gitmodulesUrl",
    ),
    "a name that is not UTF-8": (_file(b"bad\xff\xfe.md"), "whose name is not UTF-8"),
    "a thousand million files": (_bomb(10, 9), "more than 300,000 files"),
    "200 folders inside each other": (_bomb(1, 200), "more than 100 deep"),
    "a bomb that was taken out again": (_defused, "write more than 3,000,000 files"),
    "an author that is none": (
        _raw_commit(b"author <>  99999999999999999999 +9999\ncommitter \xff\n\nx"),
        "does not accept",
    ),
    "a tag": (_tag, "did not send it"),
    "a file as a branch": (lambda r, base: r.write("blob", DOC), "did not send it"),
}

LARGE: Mapping[str, tuple[Make, str]] = {
    "a document of 60 MB": (_file(b"big.md", b"word " * 12_000_000), "with 60,000,000 bytes"),
}

TAKEN: Mapping[str, Make] = {  # what is no document, and needs no review
    "a link like a document": _file(b"link.md", b"/etc/passwd", "120000"),
    "a submodule like a document": lambda r, base: r.commit(r.beside(base, ("160000", b"sub.md", "1" * 40)), base),
    "a mode that git does not know": lambda r, base: r.commit(r.beside(base, ("777", b"odd.md", "1" * 40)), base),
    "a large file of another kind": _file(b"film.bin", bytes(2_000_000)),
}
