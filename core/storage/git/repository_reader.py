"""Reading a bare repository: branches, commits, files, and what a merge would give. Nothing here moves a branch."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

from core.curation.document.names import collision_key, name_collisions, safe_path, safe_revision
from core.curation.pictures import picture_files
from core.cures import VERIFY
from core.errors import Corrupt, NotFound
from core.storage.git import damage, refs
from core.storage.git.plumbing import (
    Plumbing,
    is_document,
    is_reviewed,
    parse_blame,
    parse_commit,
    parse_compared,
    parse_edits,
    parse_log_record,
    parse_tree_entry,
)
from core.storage.git.shared import Clone, SharedRepository
from core.types import Commit, Edit, TreeEntry

MAIN = "main"
FULL_ID = re.compile(r"[0-9a-f]{40}")
_STEPS = 20  # commits that are read one by one
SUFFIXES = (".md", ".yaml", *picture_files.SUFFIXES)  # documents, and the settings and pictures that live beside them


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a commit left the main line, and the commits since then that hold somebody's words, oldest first."""

    start: str
    steps: tuple[Commit, ...] = ()


class RepositoryReader:
    """Documents at any commit, in one bare repository; with `shared`, in a clone of one that several nodes share."""

    def __init__(self, path: Path, shared: SharedRepository | None = None) -> None:
        self.path = path.resolve()
        self.git = Plumbing(self.path)
        self.clone = Clone(self.git, shared) if shared else None
        self._line = lru_cache(maxsize=2)(self._read_line)
        self._by_key = lru_cache(maxsize=2)(self._names_by_key)

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
            raise damage.lost(self.path, name, refs.value(self.path, name)).refusal()
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
        for candidate in (name,) if FULL_ID.fullmatch(name) else (f"refs/heads/{name}", name):
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
        return tuple(entry for line in out.split(b"\0") if (entry := parse_tree_entry(line)))

    def blobs(self, commit: str) -> dict[str, str]:
        """Path to blob of every Markdown file of a commit; git looks at no file for it, as it does for sizes."""
        out = self.git.ask("ls-tree", "-r", "-z", safe_revision(commit)).decode("utf-8", "replace")
        lines = (line.partition("\t") for line in out.split("\0") if line.startswith("100"))
        return {path: facts.rpartition(" ")[2] for facts, _, path in lines if is_document(path)}

    def pictures(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every picture of a commit, by path."""
        if not commit:
            return ()
        out = self.git.ask("ls-tree", "-r", "-z", "--long", safe_revision(commit))
        lines = out.split(b"\0")
        return tuple(entry for line in lines if (entry := parse_tree_entry(line, picture_files.is_picture)))

    def paths(self, commit: str) -> tuple[str, ...]:
        """Every file of a commit, also what is no document."""
        return tuple(self.git.names(safe_revision(commit))) if commit else ()

    def read(self, commit: str, path: str) -> bytes:
        """A file by its path; one that somebody's own git put there may have a name that would be refused here."""
        name = path if path.endswith(SUFFIXES) and "\0" not in path else safe_path(path, SUFFIXES)
        for spelled in dict.fromkeys((name, unicodedata.normalize("NFC", name))):
            code, out = self.git.run("cat-file", "blob", f"{safe_revision(commit)}:{spelled}")
            if code == 0:
                return out
        safe_path(path, SUFFIXES)
        raise NotFound(f"There is no document {path!r} at {commit[:12]}.")

    def blob(self, name: str) -> bytes | None:
        """A file by blob id; None where there is none."""
        if not FULL_ID.fullmatch(name):
            return None
        code, out = self.git.run("cat-file", "blob", name)
        if code and self.clone and self.clone.staged(name):
            code, out = self.git.run("cat-file", "blob", name)
        return None if code else out

    def texts(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Files by blob id, for little ones that are asked for again; through one git process, or none."""
        known = {blob: self.git.known("cat-file", "blob", blob) for blob in blobs}
        asked = [blob for blob, text in known.items() if text is None]
        for blob, text in zip(asked, self.read_blobs(asked), strict=True):
            self.git.keep(text, "cat-file", "blob", blob)
            known[blob] = text
        return {blob: text for blob, text in known.items() if text is not None}

    def prefetch(self, places: Iterable[tuple[str, str]]) -> None:
        """Know files by commit and path before they are read one by one; what is not there stays unknown."""
        names = dict.fromkeys(f"{safe_revision(commit)}:{path}" for commit, path in places if "\n" not in path)
        commands = {name: ("cat-file", "blob", name) for name in names}
        unknown = [name for name in names if self.git.known(*commands[name]) is None]
        asked = [name for name in unknown if refs.loose_answer(self.path, commands[name]) is None]
        out = (
            self.git.ask("cat-file", "--batch", stdin="".join(f"{name}\n" for name in asked).encode()) if asked else b""
        )
        for name, text in zip(asked, _objects(out), strict=True):
            if text is not None:
                self.git.keep(text, "cat-file", "blob", name)

    def read_blobs(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """Files by blob id, in the given order, through one git process where not all are loose."""
        loose = refs.loose_blobs(self.path, blobs)
        if loose is not None:
            yield from loose
            return
        out = self.git.ask("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode())
        for blob, text in zip(blobs, _objects(out), strict=True):
            if text is None:
                raise Corrupt(f"The repository lacks blob {blob}.", VERIFY)
            yield text

    def changed(self, old: str, new: str) -> tuple[Edit, ...]:
        """The edits between two commits; a moved file is one rename."""
        if not old:
            return tuple(Edit("added", e.path, blob=e.blob) for e in (*self.entries(new), *self.pictures(new)))
        out = self.git.ask("diff-tree", *refs.COMPARED, safe_revision(old), safe_revision(new))
        return tuple(filter(_of_review, parse_edits(iter(out.split(b"\0")))))

    def compared(self, starts: Mapping[str, str]) -> dict[str, tuple[Edit, ...]]:
        """The edits of commits since others, all through one git process, or none where they are loose."""
        found = {head: self.changed("", head) for head, start in starts.items() if not start}
        for head, start in starts.items():
            with suppress(refs.NotLoose):
                found[head] = self._loose_edits(start, head) if start else found[head]
        pairs = {head: start for head, start in starts.items() if head not in found and start != head}
        asked = "".join(f"{safe_revision(head)} {safe_revision(start)}\n" for head, start in pairs.items()).encode()
        found |= parse_compared(self.git.ask("diff-tree", *refs.COMPARED, "--stdin", stdin=asked)) if pairs else {}
        return {head: tuple(filter(_of_review, found.get(head, ()))) for head in starts}

    def departures(self, main: str, heads: Collection[str]) -> dict[str, Departure]:
        """Where commits left main, with what was written since, all through one git process, or none where main stands
        still.
        """
        found = {head: near for head in heads if (near := self._on_top(main, head))}
        far = [head for head in heads if head not in found]
        asked = "".join(f"{safe_revision(head)}\n" for head in far) + (f"^{safe_revision(main)}\n" if main else "")
        options = ["--remerge-diff", "--topo-order", "--stdin"]
        steps = {step.id: (step, edits) for step, edits in self._log(options, [], (), asked.encode())} if far else {}
        found |= {head: self._departure(main, head, steps) for head in far}
        for head, start in ((head, departure.start) for head, departure in found.items() if departure.start):
            self.git.keep(f"{start}\n".encode(), "merge-base", main, head)
        return found

    def _on_top(self, main: str, head: str) -> Departure | None:
        """A few commits on top of main, none of them a merge, where they are loose."""
        with suppress(refs.NotLoose):
            steps = self._loose_line(head, main)
            return None if any(len(step.parents) > 1 for step in steps) else Departure(main, tuple(steps[::-1]))
        return None

    def _loose_line(self, head: str, until: str, limit: int = 0) -> list[Commit]:
        """The first-parent line down to a commit, "" is its beginning; NotLoose where that is far."""
        steps, at = list[Commit](), head
        while at != until and not (limit and len(steps) == limit):
            if len(steps) == _STEPS:
                raise refs.NotLoose(head)
            steps.append(parse_commit(at, refs.loose_commit(self.path, at)))
            at = (*steps[-1].parents, "")[0]
        return steps

    def _loose_edits(self, old: str, new: str) -> tuple[Edit, ...]:
        return tuple(parse_edits(iter(refs.loose_edits(self.path, old, new).split(b"\0"))))

    def _departure(self, main: str, head: str, steps: Mapping[str, tuple[Commit, tuple[Edit, ...]]]) -> Departure:
        own, ends, ahead = set[str](), set[str](), [head]
        while ahead:
            commit = ahead.pop()
            if commit not in steps:
                ends.add(commit)
            elif commit not in own:
                own.add(commit)
                ahead += steps[commit][0].parents
        line = self._line(main) if len(ends) > 1 else {}
        if not all(end in line for end in ends) and len(ends) > 1:  # it took in another line that main has too
            start = self.merge_base(main, head)
            return Departure(start, self.written(head, start))
        written = (step for step, edits in steps.values() if step.id in own and (len(step.parents) < 2 or edits))
        return Departure(min(ends, key=lambda end: line.get(end, 0), default=""), tuple(written)[::-1])

    def since(self, starts: Mapping[str, str]) -> dict[str, tuple[Commit, ...]]:
        """What was written on the way to commits since the states of main that they left, through two git processes."""
        line = self._line(self.head()) if starts else {}
        known = {head: start for head, start in starts.items() if start in line}
        oldest = max(known.values(), key=line.__getitem__, default="")
        asked = "".join(f"{safe_revision(head)}\n" for head in known) + f"^{oldest}\n"
        rows = self.git.ask("rev-list", "--parents", "--stdin", stdin=asked.encode()).decode() if known else ""
        parents = {commit: above for commit, *above in map(str.split, rows.splitlines())}
        own = {head: _until(head, parents, line) for head in known}
        every = "".join(f"{commit}\n" for commit in dict.fromkeys(one for commits in own.values() for one in commits))
        options = ["--remerge-diff", "--no-walk=unsorted", "--stdin"]
        steps = {step.id: (step, edits) for step, edits in self._log(options, [], (), every.encode())} if every else {}
        found = {
            head: tuple(steps[one][0] for one in commits if len(parents[one]) < 2 or steps[one][1])
            for head, commits in own.items()
        }
        return found | {head: self.written(head, start) for head, start in starts.items() if head not in known}

    def _read_line(self, commit: str) -> dict[str, int]:
        """The first-parent line up to a commit, newest first, with the place of each."""
        out = self.git.ask("rev-list", "--first-parent", safe_revision(commit)) if commit else b""
        return {name: place for place, name in enumerate(out.decode().split())}

    def merge_base(self, a: str, b: str) -> str:
        """The newest common ancestor; "" when there is none."""
        code, out = self.git.run("merge-base", safe_revision(a), safe_revision(b))
        return "" if code else out.decode().strip()

    def conflicts(self, main: str, heads: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The paths of each commit that would conflict in its merge."""
        return self.git.conflicts(main, heads)

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

        A renamed document is listed under its new path. Where both sides renamed it, git mixes their texts; here each
        keeps its own.
        """
        mine, theirs = self.git.names(head), self.git.names(onto)
        conflicts: dict[str, tuple[str, str, str]] = {}
        for path, blobs in self.git.merge_tree(onto, head)[1].items():
            own = [names.get(path, blobs[stage]) if stage in blobs else "" for stage, names in ((3, mine), (2, theirs))]
            conflicts[path] = (blobs.get(1, ""), own[0], own[1])
        return conflicts

    def name_collisions(self, main: str, edits: Sequence[Edit]) -> tuple[tuple[str, ...], ...]:
        """Paths that edits would put side by side on main although they differ only in case or Unicode form."""
        added = {edit.path for edit in edits if edit.kind in ("added", "renamed")}
        gone = {edit.old_path or edit.path for edit in edits if edit.kind in ("renamed", "deleted")}
        keys = dict.fromkeys(collision_key(path) for path in sorted(added))
        there = {key: self._by_key(main).get(key, frozenset()) for key in keys}
        groups = (
            (there[key], (there[key] - gone) | {path for path in added if collision_key(path) == key}) for key in keys
        )
        return tuple(tuple(sorted(group)) for before, group in groups if len(group) > 1 and not before >= group)

    def _names_by_key(self, commit: str) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for path in self.paths(commit):
            found.setdefault(collision_key(path), set()).add(path)
        return {key: frozenset(paths) for key, paths in found.items()}

    def blame(self, commit: str, path: str) -> tuple[tuple[str, str], ...]:
        """Each line with the commit that wrote it."""
        return parse_blame(self.git.ask("blame", "--line-porcelain", safe_revision(commit), "--", safe_path(path)))

    def log(self, commit: str, since: str = "", limit: int = 0) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        """First-parent commits, newest first, each with the files it changed."""
        if not commit:
            return ()
        with suppress(refs.NotLoose):
            steps = self._loose_line(commit, since, limit)
            return tuple((step, self._loose_edits((*step.parents, "")[0], step.id)) for step in steps)
        span = f"{safe_revision(since)}..{safe_revision(commit)}" if since else safe_revision(commit)
        return self._log([f"--max-count={limit}"] if limit else [], [span])

    def written(self, commit: str, since: str) -> tuple[Commit, ...]:
        """Commits on the way to one that hold somebody's words, oldest first: a merge only where git would have merged
        otherwise.
        """
        if near := self._on_top(since, commit):
            return near.steps
        span = f"{safe_revision(since)}..{safe_revision(commit)}"
        steps = self._log(
            ["--remerge-diff", "--topo-order"], [span], walk=()
        )  # with --reverse git merges other parents
        return tuple(step for step, edits in reversed(steps) if len(step.parents) < 2 or edits)

    def authored(self, commit: str) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        """Every commit behind one, newest first, merges left out: who wrote what, on whatever branch."""
        return self._log(["--no-merges"], [safe_revision(commit)], walk=()) if commit else ()

    def main_line(self, commit: str) -> tuple[tuple[str, date], ...]:
        """The states of main up to a commit, newest first, each with the day on which it was written: its first-parent
        line, and what main was before another line of the remote became the first."""
        line = self._days("log", "--first-parent", "--format=%H %ct", safe_revision(commit))
        known = {name for name, _ in line}
        if before := [name for name in refs.log(self.path, f"refs/heads/{MAIN}") if name not in known]:
            reached = self.ancestors(commit)
            kept = [name for name in dict.fromkeys(before) if name in reached]
            line += self._days("log", "--no-walk", "--format=%H %ct", *kept) if kept else []
            line.sort(key=lambda state: state[1], reverse=True)
        return tuple(line)

    def history(self, commit: str, path: str) -> tuple[Commit, ...]:
        """The commits of one document, newest first, through renames, back to where it was added."""
        steps, wanted = [], safe_path(path)
        for step, edits in self._log(["--follow"], [safe_revision(commit), "--", wanted]):
            for edit in edits:
                steps.append(Commit(step.id, step.author, step.when, step.message, edit.path, edit.blob, step.parents))
            if any(edit.kind == "added" for edit in edits):
                break  # git goes on with what it was copied from, or what was deleted before
        return tuple(steps)

    def heads(self) -> dict[str, str]:
        """Every branch with its commit, while no writer moves one."""
        self.follow()
        with self.git.writing():
            lines = self.git.ask("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads").decode().split()
        return dict(zip(lines[::2], lines[1::2], strict=True))

    def follow(self) -> bool:
        """Where the repository is a clone: bring what other nodes made; whether a branch moved."""
        return self.clone.follow() if self.clone else False

    def _days(self, *arguments: str) -> list[tuple[str, date]]:
        out = self.git.ask(*arguments).decode().split()
        pairs = zip(out[::2], out[1::2], strict=True)
        return [(name, datetime.fromtimestamp(int(seconds)).date()) for name, seconds in pairs]

    def _log(
        self, options: list[str], what: list[str], walk: Sequence[str] = ("--first-parent", "-m"), stdin: bytes = b""
    ) -> tuple[tuple[Commit, tuple[Edit, ...]], ...]:
        form = "--format=%x01%H%x00%P%x00%an%x00%ae%x00%aI%x00%B%x02"
        out = self.git.ask("log", "-z", *walk, "-M", "--raw", "--no-abbrev", form, *options, *what, stdin=stdin)
        return tuple(parse_log_record(record) for record in out.split(b"\x01") if record)

    def new_collisions(self, names: Iterable[str], before: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Collisions that were not there before; an old pair must not block unrelated work."""
        collisions = name_collisions(names)
        known = [set(group) for commit in before if collisions for group in name_collisions(self.git.names(commit))]
        return tuple(group for group in collisions if not any(old >= set(group) for old in known))


def _of_review(edit: Edit) -> bool:
    return is_reviewed(edit.path) or is_reviewed(edit.old_path)


def _until(head: str, parents: Mapping[str, Sequence[str]], line: Collection[str]) -> list[str]:
    """The commits on the way to one that are not on a line, oldest first."""
    own, ahead = list[str](), [head]
    while ahead:
        commit = ahead.pop()
        if commit in parents and commit not in line and commit not in own:
            own.append(commit)
            ahead += reversed(parents[commit])
    return own[::-1]


def _objects(printed: bytes) -> Iterator[bytes | None]:
    """What `cat-file --batch` printed, one by one; None where there is no such file."""
    out, at = memoryview(printed), 0
    while at < len(out):
        end = printed.index(b"\n", at)
        header, at = printed[at:end].split(), end + 1
        if header[-1] == b"missing" or header[-1] == b"ambiguous":
            yield None
            continue
        size = int(header[-1])
        yield bytes(out[at : at + size]) if header[-2] == b"blob" else None
        at += size + 1
