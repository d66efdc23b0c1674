"""Sixty small faults, and which of them the quick tests find: how strong the suite is, in one number.

    make faults                            every fault, in a scratch copy of the code
    python tests/faults.py retrieval 40    those of a room, or one by its number
    python tests/faults.py --files 40      with all quick tests of the files that its tests stand in

A fault is a line written wrongly on purpose. It counts as found when the doctests of its file or the quick tests that are
named with it fail. Whoever makes the suite quicker runs this before and after; test_faults.py keeps the list true.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
IMPORTED = """
    pytest hypothesis hypothesis.stateful numpy pandas pyarrow duckdb sqlalchemy sqlalchemy.dialects.sqlite
    sqlalchemy.dialects.postgresql alembic.migration argon2 git yaml markdown_it tokenizers fastapi.testclient uvicorn
    streamlit.testing.v1 streamlit.web.bootstrap mcp networkx scipy.sparse rapidfuzz threadpoolctl
"""  # what tests import that holds no fault, and starts no thread


class Fault(NamedTuple):
    """`old`, which stands once in the file, becomes `new`."""

    room: str
    file: str
    old: str
    new: str
    tests: str  # names of test files, without test_ and .py, or of one test in them: file::test

    def wrong(self, text: str) -> str:
        return text.replace(self.old, self.new)


R, V, A, S, T, P = "retrieval", "review rules", "access", "storage", "statistics", "pages"
FAULTS = (
    Fault(R, "core/retrieval/fusions/rrf.py", "(config.rrf_k + legs.places)", "(config.rrf_k - 1 + legs.places)", "fusion methods"),
    Fault(R, "core/retrieval/fusions/rrf.py", "sum(weights) / (config.rrf_k + 1)", "sum(weights) / config.rrf_k", "fusion methods"),
    Fault(R, "core/retrieval/fusions/combsum.py", "(legs.places > 0)", "(legs.places > 1)", "fusion methods"),
    Fault(R, "core/retrieval/fusions/shares.py", "sum(weights) or 1.0", "1.0", "fusion methods"),
    Fault(R, "core/retrieval/normalisations/ranges.py", "lowest(scores, here), floor", "floor, floor", "fusion methods"),
    Fault(R, "core/retrieval/filters.py", 'if facts.status == "draft" or (', "if (", "pipeline index search_page"),
    Fault(R, "core/retrieval/filters.py", "facts.effective_date > today", "facts.effective_date >= today", "pipeline index"),
    Fault(R, "core/retrieval/filters.py", "facts.path.startswith(f\"{folder.strip('/')}/\")", "facts.path.startswith(folder)", "pipeline index"),
    Fault(R, "core/retrieval/pipeline.py", "if len(text) > MAX_QUERY", "if len(text) >= MAX_QUERY", "pipeline"),
    Fault(R, "core/retrieval/pipeline.py", "if allowed is None or allowed[chunk]]", "]", "words pipeline"),
    Fault(R, "core/retrieval/pipeline.py", "(chunk for chunk in order if chunk != self.pinned.chunk)", "order", "words pipeline"),
    Fault(R, "core/retrieval/pipeline.py", 'trace.warnings.append(f"The {name} leg failed: {error}")', "pass", "pipeline"),
    Fault(R, "core/retrieval/near_copies.py", "if self.telling != other.telling:", "if False:", "copies"),
    Fault(R, "core/retrieval/near_copies.py", "len(other.shingles) - shared)", "len(other.shingles))", "copies"),
    Fault(R, "core/retrieval/listing.py", "if other.doc != hit.doc:", "if True:", "copies"),
    Fault(R, "core/retrieval/confidence.py", "index(chunk) + 1) if chunk", "index(chunk) + 2) if chunk", "best_score"),
    Fault(V, "core/curation/review/moves.py", "verdict.head == facts.head and not own_work", "not own_work", "review_rules"),
    Fault(V, "core/curation/review/moves.py", "if who == facts.author:", "if False:", "review_rules reviews"),
    Fault(V, "core/curation/review/moves.py", 'wrote some of its words." if who in facts.writers', 'wrote some of its words." if False', "review_rules"),
    Fault(V, "core/curation/review/moves.py", "default=1) - len(approvers)", "default=0) - len(approvers)", "review_rules"),
    Fault(V, "core/curation/review/moves.py", "if rule.owners and not approvers", "if rule.owners and approvers", "review_rules"),
    Fault(V, "core/curation/review/moves.py", "if who not in facts.barred and _counts", "if _counts", "review_rules"),
    Fault(V, "core/curation/review/moves.py", "(FILE not in paths or ", "(FILE or ", "review_rules reviews"),
    Fault(V, "core/curation/review/moves.py", '"reopen": (("closed",),', '"reopen": (("closed", "merged"),', "transitions review_rules"),
    Fault(V, "core/curation/review/moves.py", "if strict and facts.open_conversations:", "if not strict and facts.open_conversations:", "review_rules"),
    Fault(V, "core/services/reviews/merge.py", "moves.obstacles(facts) + (() if reason else moves.judgments(facts))", "() if reason else moves.requirements(facts)", "reviews transitions"),
    Fault(V, "core/services/reviews/merge.py", "        as_seen(facts.head, head)\n        lacking", "        lacking", "reviews transitions"),
    Fault(A, "core/access.py", '"review a change": ("reviewer"', '"review a change": ("author"', "doors review_rules"),
    Fault(A, "core/access.py", '"see the audit": ("admin"', '"see the audit": ("reviewer"', "doors audit"),
    Fault(A, "core/access.py", '"merge a change": ("author", "review")', '"merge a change": ("author", "propose")', "tokens"),
    Fault(A, "core/access.py", '_AGENTS_REACH = "propose"', '_AGENTS_REACH = "review"', "tokens"),
    Fault(A, "core/access.py", "if not _in_scope(actor.scope, action):", "if False:", "tokens api_doors"),
    Fault(A, "core/access.py", 'return folded(email).strip(" .,:;<>\\"\\\\\'")', "return folded(email)", "review_rules"),
    Fault(A, "core/services/people/tokens.py", '"expired" if row.expires <= self._stamp() else "active"', '"active"', "tokens"),
    Fault(A, "core/services/people/sessions.py", "idle * 3600", "idle * 36000", "sessions sign_in"),
    Fault(A, "pages/ui/server/security.py", "if changes and (foreign or", "if changes and (False or", "security"),
    Fault(A, "pages/ui/server/security.py", "parts[0] in LOOPBACK and ", "", "security"),
    Fault(S, "core/storage/git/repository_reader.py", "at += size + 1", "at += size", "git"),
    Fault(S, "core/storage/git/repository_reader.py", '"diff-tree", "-r", "-z", "-M",', '"diff-tree", "-r", "-z",', "git reviews"),
    Fault(S, "core/storage/git/repository_reader.py", 'if any(edit.kind == "added" for edit in edits):', "if False:", "git"),
    Fault(S, "core/storage/index/catalogue.py", "return complete[0]", "return complete[-1]", "index damage"),
    Fault(S, "core/storage/index/catalogue.py", "key=lambda generation: -generation.number", "key=lambda generation: generation.number", "index"),
    Fault(S, "core/storage/state/table_sums.py", '("DELETE", "- 1"', '("DELETE", "+ 1"', "damage database"),
    Fault(S, "core/adapters/system/files.py", "        os.replace(name, path)", "        shutil.copyfile(name, path)", "disk"),
    Fault(S, "core/services/platform/workspace.py", "if not facts.version and history:", "if False:", "damage"),
    Fault(S, "core/curation/document/names.py", 'part.endswith((".", " "))', "False", "frontmatter"),
    Fault(S, "core/storage/state/rows/people.py", "audit.c.id.desc()).limit(limit)", "audit.c.id).limit(limit)", "audit"),
    Fault(T, "core/evaluation/statistics.py", "[2.5, 97.5]", "[5, 95]", "statistics"),
    Fault(T, "core/evaluation/statistics.py", "std(ddof=1)", "std(ddof=0)", "statistics"),
    Fault(T, "core/evaluation/statistics.py", "highest = max(highest, min(1.0, comparisons[n].p * (total - place)))", "highest = min(1.0, comparisons[n].p * (total - place))", "statistics"),
    Fault(T, "core/evaluation/statistics.py", "settled = enough and measured.p <= ERROR and", "settled = enough and", "statistics"),
    Fault(T, "core/evaluation/statistics.py", "z * z / (4 * n * n)", "z * z / (4 * n)", "statistics"),
    Fault(T, "core/evaluation/measures/by_name.py", "log2(place + 1)", "log2(place + 2)", "measures"),
    Fault(T, "core/evaluation/measures/by_name.py", "for doc in ranking[:k]) / k", "for doc in ranking[:k]) / len(ranking[:k] or [0])", "measures"),
    Fault(T, "core/evaluation/measures/passages.py", "length(words(text), needed) / len(needed)", "length(words(text), needed) / len(words(text))", "lcs measures"),
    Fault(P, "pages/ui/identity.py", "if not allowed(actor, action):", "if False:", "doors pages"),
    Fault(P, "pages/ui/server/routes.py", "                require(actor, action)\n", "", "security search_page doors"),
    Fault(P, "pages/home.py", "if not view.documents:", "if view.documents is None:", "pages"),
    Fault(P, "pages/ui/flash.py", 'f"\\\\{c}" if c in', 'c if c in', "hostile reviews_page"),
    Fault(P, "pages/inbox.py", 'return shown != "All", kind or ""', 'return False, kind or ""', "inbox_page"),
    Fault(P, "pages/audit.py", '{"who": who or "", "action"', '{"who": "", "action"', "reviews_page"),
)  # fmt: skip


# ---------------------------------------------------------------- trying them


def scratch(folder: Path) -> Path:
    """The code as it stands here, to write in."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for compiled in (
        *ROOT.glob("core/**/__pycache__"),
        *ROOT.glob("pages/**/__pycache__"),
        ROOT / "tests" / "__pycache__",
    ):
        if (place := folder / compiled.relative_to(ROOT)).parent.is_dir():
            shutil.copytree(compiled, place)
    for name in (".models", ".cache"):
        (ROOT / name).mkdir(exist_ok=True)
        (folder / name).symlink_to((ROOT / name).resolve())
    return folder


def chosen(fault: Fault, folder: Path, whole: bool = False) -> list[str]:
    """What pytest is asked to run: the examples in the faulty file, and the tests."""
    own = (
        [fault.file]
        if fault.file.startswith(("core/", "pages/ui/")) and ">>> " in (folder / fault.file).read_text()
        else []
    )
    named = [name.partition("::") for name in fault.tests.split()]
    return own + [f"tests/test_{file}.py{'' if whole else mark + test}" for file, mark, test in named]


def finder(folder: Path, asked: list[str], log: Path) -> str:
    """The first test that fails in this folder, in a process forked from this one; "" if none does."""
    if not (pid := os.fork()):
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.chdir(folder)
        sys.path[0] = str(folder)
        import pytest

        quiet = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:randomly"]
        os._exit(int(pytest.main([*quiet, "-m", "not slow and not browser", *asked])))
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0:
        return ""
    said = re.findall(r"^(?:FAILED|ERROR) (\S+)", log.read_text(), re.MULTILINE)
    return said[0] if said else f"an error: {log.read_text()[-500:]}"


def spent() -> float:
    return sum(os.times()[:4])


def main(asked: list[str]) -> None:
    os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    for name in IMPORTED.split():
        import_module(name)
    gc.freeze()
    whole, asked = "--files" in asked, [name for name in asked if name != "--files"]
    wanted = [(n, f) for n, f in enumerate(FAULTS, 1) if not asked or str(n) in asked or f.room in asked]
    missed = []
    with tempfile.TemporaryDirectory(prefix="concord-faults-") as name:
        folder, log = scratch(Path(name)), Path(name) / "fault.log"
        for number, fault in wanted:
            path, began = folder / fault.file, spent()
            right = path.read_text(encoding="utf-8")
            path.write_text(fault.wrong(right), encoding="utf-8")
            found = finder(folder, chosen(fault, folder, whole), log)
            path.write_text(right, encoding="utf-8")
            missed += [] if found else [number]
            print(f"{number:3} {spent() - began:5.1f} s {fault.file}: {fault.new.strip()[:50]!r} {found or 'MISSED'}", flush=True)  # fmt: skip
    said = f"; missed: {missed}" if missed else ""
    print(f"{len(wanted) - len(missed)} of {len(wanted)} found in {spent():.0f} CPU seconds{said}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main(sys.argv[1:])
