"""What is damaged in a repository, file by file, and the command that brings it back.

git itself ends at the first damaged file and often names none, so files are read here and objects are looked up
through an empty repository of their own.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from core.cures import INIT, RESTORE, Cure, recreate, run, shell
from core.storage.git import refs
from core.storage.git.plumbing import Plumbing
from core.types import Damage

MAIN = "refs/heads/main"
_FROM_ELSEWHERE = shell("Put back this file from a copy or a clone").or_else(RESTORE)
_LOOSE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}")
_LOGGED = re.compile(r"^error: (refs/\S+): invalid reflog entry", re.MULTILINE)
_MISSING = re.compile(r"^missing \w+ ([0-9a-f]{40})$", re.MULTILINE)


def blocking(path: Path, known: str = "") -> list[Damage]:
    """Why the main line cannot be used, if so; `known` is a commit that it once had."""
    damages = list(_head(path))
    commit = refs.value(path, MAIN)
    if commit and not is_lost(path, MAIN) and (commit == known or _has(path, commit)):
        return damages
    if commit == "" and not (damages or known or is_lost(path, MAIN) or _commits_of_main(path)):
        return []
    others = [name for name in refs.names(path) if name != MAIN and is_lost(path, name)]
    return [*damages, lost(path, MAIN, commit, known), *(lost(path, name, "") for name in others)]


_FORMATS = {"objectformat": "sha1", "refstorage": "files", "preciousobjects": "true"}


def _format_cure(key: str, git: str) -> Cure:
    if key == "objectformat":
        return RESTORE.or_else(run("Start a new workspace with your documents", "--home NEW init --from FOLDER"))
    if key == "refstorage":
        return shell("Convert it, with git 2.48 or newer,", f"{git} refs migrate --ref-format=files")
    return shell("If you turned it on, turn it off, and check", f"{git} fsck")


def other_format(path: Path, config: Mapping[str, str]) -> list[Damage]:
    """The extension of git's format that Concord cannot read, if the configuration names one; git's other settings
    then mislead.
    """
    known = {f"extensions.{name}": value for name, value in _FORMATS.items()}
    for key, value in config.items():
        if key.startswith("extensions.") and known.get(key) != value:
            cure = _format_cure(key.removeprefix("extensions."), f"git --git-dir={quote(str(path))}")
            what = f"is of another format: {key} is {value!r}. Concord works with SHA-1 objects and refs in files"
            return [Damage("kb.git", what, cure)]
    return []


def files(path: Path, known: str, workspace: str, expected: Mapping[str, str]) -> Iterator[Damage]:
    """Every damaged file, once; git's own complaints where they say more."""
    named = {}
    for damage in (
        *_head(path),
        *_config(path, {**expected, **({"concord.workspace": workspace} if workspace else {})}),
        *_refs(path, known),
        *_objects(path / "objects"),
        *_packs(path / "objects" / "pack"),
    ):
        if damage.file not in named:
            named[damage.file] = damage
            yield damage
    for damage in _complaints(path):
        if damage.file not in named and (damage.file != "kb.git" or not named):
            yield damage


# ---------------------------------------------------------------- HEAD, config and refs


def _head(path: Path) -> Iterator[Damage]:
    again = f"git init --quiet --bare --object-format=sha1 --initial-branch=main {quote(str(path))}"
    if not (path / "refs").is_dir() and MAIN not in refs.packed(path):  # a copy may lack folders that are empty
        yield Damage("kb.git/refs", "is missing", recreate(again))
    if refs.head_is_broken(path):
        yield Damage(
            "kb.git/HEAD",
            "is damaged or missing",
            recreate(f"rm -f {quote(str(path / 'HEAD'))} && {again}"),
        )


def read_config(file: Path) -> tuple[int, dict[str, str]]:
    """git's exit code, and every setting of a configuration, which need not belong to a repository that works."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("config", "--file", str(file), "--list", "-z")
        code, out = Plumbing(Path(folder)).run(*arguments, bare=False)
    return code, dict(line.partition("\n")[::2] for line in out.decode(errors="replace").split("\0"))


def _config(path: Path, expected: Mapping[str, str]) -> Iterator[Damage]:
    cure = recreate(f"rm -f {quote(str(path / 'config'))} && {INIT.command}")
    code, have = read_config(path / "config")
    wrong = [key for key, value in expected.items() if have.get(key.lower()) != value]
    wrong += [] if have.get("core.filemode") in ("true", "false") else ["core.filemode"]
    if code:
        yield Damage("kb.git/config", "is missing or cannot be read", cure)
    elif wrong:
        yield Damage("kb.git/config", f"has another value in {', '.join(wrong)}", cure)


def _refs(path: Path, known: str) -> Iterator[Damage]:
    packed = set(refs.packed(path).values())
    commits = {name: refs.value(path, name) for name in (MAIN, *refs.names(path))}
    there = _existing(path, sorted(packed.union(filter(None, commits.values()))))
    if refs.packed_is_broken(path) or packed - there:
        yield Damage("kb.git/packed-refs", "has lines that git did not write", _packed_cure(path))
    for name, commit in commits.items():
        wanted = known if name == MAIN else ""
        gone = is_lost(path, name) or (commit == "" and wanted)
        if gone or commit is None or (commit and commit not in there):
            yield lost(path, name, commit, wanted)
        elif refs.log_is_broken(path, name) or refs.is_lost(path, name):
            yield _damaged_log(path, name)


def _damaged_log(path: Path, name: str) -> Damage:
    cure = shell("Remove this log, which only helps to find a lost branch,", f"rm {quote(str(path / 'logs' / name))}")
    return Damage(f"kb.git/logs/{name}", "has lines that git did not write", cure)


def _packed_cure(path: Path) -> Cure:
    """Branches come back from their logs once the file is gone."""
    steps = [f"rm {quote(str(path / 'packed-refs'))}"]
    for name in refs.names(path):
        if not (path / name).exists() and (commit := _last(path, name, "")):
            steps.append(f"git --git-dir={quote(str(path))} update-ref {name} {commit}")
    return shell("Recreate the branches", " && ".join(steps))


def is_lost(path: Path, name: str) -> bool:
    """Whether a branch is not where its log says, and the log is to be believed: that commit is there, or no other is
    named.
    """
    return refs.is_lost(path, name) and (not refs.value(path, name) or _has(path, refs.log(path, name)[0]))


def lost(path: Path, name: str, commit: str | None, known: str = "") -> Damage:
    """A branch that is broken or gone, and how it comes back."""
    if commit and refs.log(path, name)[:1] == [commit]:  # the branch is right, its commit is not there
        file = f"kb.git/objects/{commit[:2]}/{commit[2:]}"
        return Damage(file, f"is missing or damaged; it is the newest commit of {name}", _FROM_ELSEWHERE)
    last = _last(path, name, known)
    command = f"git --git-dir={quote(str(path))} update-ref {name} {last}"
    if (path / name).exists():
        command = f"rm -f {quote(str(path / name))} && {command}"
    file = (
        f"kb.git/{name}" if (path / name).is_file() or not commit or refs.is_lost(path, name) else "kb.git/packed-refs"
    )
    return Damage(file, _loss(path, name, commit), shell("Bring it back", command) if last else RESTORE)


def _loss(path: Path, name: str, commit: str | None) -> str:
    if refs.is_lost(path, name) or commit == "":
        return "is lost, or was lost with kb.git/packed-refs"
    return f"names {commit[:12]} for {name}, which is no commit of the repository" if commit else "is damaged"


# ---------------------------------------------------------------- which commit a branch had


@contextmanager
def _reading(path: Path) -> Iterator[Plumbing]:
    """The objects of a repository through an empty one, so that a broken HEAD, config or ref does not matter."""
    with tempfile.TemporaryDirectory() as folder:
        yield _Reader(Path(folder) / "empty.git", path / "objects")


class _Reader(Plumbing):
    """git on the objects of another repository."""

    def __init__(self, path: Path, objects: Path) -> None:
        super().__init__(path)
        (path / "refs").mkdir(parents=True)  # all that git takes for a repository, without a process that makes one
        (path / "HEAD").write_text(f"ref: {MAIN}\n")
        self._objects = {"GIT_OBJECT_DIRECTORY": str(objects)}

    def run(self, *arguments: str, **options: object) -> tuple[int, bytes]:  # type: ignore[override]
        return super().run(*arguments, **{**options, "env": self._objects})  # type: ignore[arg-type]


def _has(path: Path, commit: str) -> bool:
    with _reading(path) as git:
        return _is_commit(git, commit)


def _existing(path: Path, commits: Sequence[str]) -> set[str]:
    with _reading(path) as git:
        asked = "".join(f"{commit}^{{commit}}\n" for commit in commits).encode()
        lines = git.run("cat-file", "--batch-check=%(objectname)", stdin=asked)[1].decode(errors="replace")
    return set(lines.split())


def _is_commit(git: Plumbing, commit: str) -> bool:
    return git.run("cat-file", "-e", f"{commit}^{{tree}}")[0] == 0


def _last(path: Path, name: str, known: str) -> str:
    """The newest commit of a branch that is still there: from its log, from who knew it, or from the objects."""
    with _reading(path) as git:
        logged = next((commit for commit in refs.log(path, name) if _is_commit(git, commit)), "")
        known = known if known and _is_commit(git, known) else ""
        if logged and known:
            newer = git.run("merge-base", "--is-ancestor", logged, known)[0] == 0
            return known if newer else logged
        return logged or known or (_newest(git, path) if name == MAIN else "")


def _newest(git: Plumbing, path: Path) -> str:
    """The newest commit with documents, of those that no other branch has if there are any."""
    others = [commit for name in refs.names(path) if name != MAIN and (commit := refs.value(path, name))]
    taken = set(git.run("rev-list", "--ignore-missing", *others)[1].decode().split()) if others else set()
    commits = [commit for commit in _commits(git) if _has_documents(git, commit)]
    return next((commit for commit in commits if commit not in taken), commits[0] if commits else "")


def _commits(git: Plumbing) -> list[str]:
    """Every commit object, newest first."""
    form = "--batch-check=%(objecttype) %(objectname)"
    lines = git.run("cat-file", "--batch-all-objects", form)[1].decode(errors="replace").splitlines()
    commits = "".join(f"{line[7:]}\n" for line in lines if line.startswith("commit "))
    return git.run("log", "--no-walk=sorted", "--format=%H", "--stdin", stdin=commits.encode())[1].decode().split()


def _has_documents(git: Plumbing, commit: str) -> bool:
    return b".md\0" in git.run("ls-tree", "-r", "-z", "--name-only", commit)[1]


def _commits_of_main(path: Path) -> bool:
    """Whether objects show that there was a main line: more than the one commit that a killed first import leaves."""
    with _reading(path) as git:
        commits = [commit for commit in _commits(git) if _has_documents(git, commit)]
    return len(commits) > 1


# ---------------------------------------------------------------- objects


def _objects(folder: Path) -> Iterator[Damage]:
    for file in sorted(folder.glob("??/*")):
        name = str(file.relative_to(folder))
        if _LOOSE.fullmatch(name) and not _is_whole(file, name.replace("/", "")):
            yield Damage(f"kb.git/objects/{name}", "is damaged", _FROM_ELSEWHERE)


def _is_whole(file: Path, name: str) -> bool:
    """Whether an object's content gives its name."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(file.read_bytes())
    except (OSError, zlib.error):
        return False
    return reader.eof and not reader.unused_data and hashlib.sha1(content, usedforsecurity=False).hexdigest() == name


def _packs(folder: Path) -> Iterator[Damage]:
    for file in sorted(folder.glob("pack-*.*")):
        other = file.with_suffix(".idx" if file.suffix == ".pack" else ".pack")
        if file.suffix not in (".pack", ".idx"):
            continue
        if not other.exists():
            yield _pack(other, "is missing")
        if not _ends_in_its_sum(file):
            yield _pack(file, "is damaged")


def _pack(file: Path, what: str) -> Damage:
    cure = recreate(f"rm -f {quote(str(file))} && git index-pack {quote(str(file.with_suffix('.pack')))}")
    return Damage(f"kb.git/objects/pack/{file.name}", what, cure if file.suffix == ".idx" else _FROM_ELSEWHERE)


def _ends_in_its_sum(file: Path) -> bool:
    digest, tail = hashlib.sha1(usedforsecurity=False), b""
    try:
        with file.open("rb") as content:
            while part := content.read(1 << 20):
                tail += part
                digest.update(tail[:-20])
                tail = tail[-20:]
    except OSError:
        return False
    return digest.digest() == tail


def _complaints(path: Path) -> Iterator[Damage]:
    """What git says: objects that something refers to and that are nowhere, else its first line."""
    arguments = ("fsck", "--full", "--strict", "--no-dangling", "--no-progress")
    code, out = Plumbing(path).run(*arguments, merge_errors=True)
    text = out.decode(errors="replace")
    missing = sorted(set(_MISSING.findall(text)))
    for name in sorted(set(_LOGGED.findall(text))):
        yield _damaged_log(path, name)
    for name in missing:
        yield Damage(f"kb.git/objects/{name[:2]}/{name[2:]}", "is missing", _FROM_ELSEWHERE)
    if code and not (missing or _LOGGED.search(text)):
        yield Damage("kb.git", f"does not pass git fsck: {(text.splitlines() or [str(code)])[0]}", RESTORE)
