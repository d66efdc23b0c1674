"""Sixty small faults, and which of them the quick tests find: how strong the suite is, in one number.

    make faults                            every fault, in a scratch copy of the code
    python tests/faults.py retrieval 40    those of a room, or one by its number
    python tests/faults.py --files 40      with all quick tests of the files that its tests stand in

A fault is a line written wrongly on purpose. It counts as found when the doctests of its file or the quick tests that
are named with it fail. Whoever makes the suite quicker runs this before and after; test_faults.py keeps the list true.
"""

from __future__ import annotations

import atexit
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
    Fault(
        R,
        "core/retrieval/fusions/rrf.py",
        "(config.rrf_k + legs.places)",
        "(config.rrf_k - 1 + legs.places)",
        "fusion::test_what_every_leg_has_first_reaches_the_ceiling_and_no_more",
    ),
    Fault(
        R,
        "core/retrieval/fusions/rrf.py",
        "sum(weights) / (config.rrf_k + 1)",
        "sum(weights) / config.rrf_k",
        "fusion::test_what_every_leg_has_first_reaches_the_ceiling_and_no_more",
    ),
    Fault(
        R,
        "core/retrieval/fusions/combsum.py",
        "(legs.places > 0)",
        "(legs.places > 1)",
        "fusion::test_what_every_leg_has_first_reaches_the_ceiling_and_no_more",
    ),
    Fault(
        R,
        "core/retrieval/fusions/shares.py",
        "sum(weights) or 1.0",
        "1.0",
        "fusion::test_what_every_leg_has_first_reaches_the_ceiling_and_no_more",
    ),
    Fault(
        R, "core/retrieval/normalisations/ranges.py", "lowest(scores, here), floor", "floor, floor", "fusion methods"
    ),
    Fault(
        R,
        "core/retrieval/filters.py",
        'if facts.status == "draft" or (',
        "if (",
        "pipeline::test_drafts_are_never_found_and_history_only_when_asked_for",
    ),
    Fault(
        R,
        "core/retrieval/filters.py",
        "facts.effective_date > today",
        "facts.effective_date >= today",
        "pipeline::test_a_filter_ends_where_it_says",
    ),
    Fault(
        R,
        "core/retrieval/filters.py",
        "facts.path.startswith(f\"{folder.strip('/')}/\")",
        "facts.path.startswith(folder)",
        "pipeline::test_a_filter_ends_where_it_says",
    ),
    Fault(
        R,
        "core/retrieval/pipeline.py",
        "if len(text) > MAX_QUERY",
        "if len(text) >= MAX_QUERY",
        "pipeline::test_a_query_may_be_as_long_as_its_limit",
    ),
    Fault(
        R,
        "core/retrieval/pipeline.py",
        "if allowed is None or allowed[chunk]]",
        "]",
        "words::test_a_pin_respects_filters",
    ),
    Fault(
        R,
        "core/retrieval/pipeline.py",
        "(chunk for chunk in order if chunk != self.pinned.chunk)",
        "order",
        "words::test_a_pinned_document_stands_first_and_says_so",
    ),
    Fault(
        R,
        "core/retrieval/pipeline.py",
        'trace.warnings.append(f"The {name} leg failed: {error}")',
        "pass",
        "pipeline::test_a_failed_leg_is_named_and_the_others_answer",
    ),
    Fault(
        R,
        "core/retrieval/near_copies.py",
        "if self.telling != other.telling:",
        "if False:",
        "copies::test_one_number_tells_two_long_texts_apart",
    ),
    Fault(
        R,
        "core/retrieval/near_copies.py",
        "len(other.shingles) - shared)",
        "len(other.shingles))",
        "copies::test_a_copy_is_known_whatever_it_looks_like",
    ),
    Fault(R, "core/retrieval/listing.py", "if other.doc != hit.doc:", "if True:", "copies"),
    Fault(R, "core/retrieval/confidence.py", "index(chunk) + 1) if chunk", "index(chunk) + 2) if chunk", "best_score"),
    Fault(
        V,
        "core/curation/review/moves.py",
        "verdict.head == facts.head and not own_work",
        "not own_work",
        "review_rules",
    ),
    Fault(V, "core/curation/review/moves.py", "if who == facts.author:", "if False:", "review_rules"),
    Fault(V, "core/curation/review/moves.py", "if who in facts.writers:", "if False:", "review_rules"),
    Fault(
        V,
        "core/services/reviews/discussion.py",
        "SUGGESTER if actor.kind == PERSON else CO_AUTHOR",
        "SUGGESTER",
        "reviews::test_a_suggestion_is_the_edit_of_the_person_who_applies_it",
    ),
    Fault(
        V, "core/curation/review/moves.py", "default=1) - len(approvers)", "default=0) - len(approvers)", "review_rules"
    ),
    Fault(
        V,
        "core/curation/review/moves.py",
        "if rule.owners and not approvers",
        "if rule.owners and approvers",
        "review_rules::test_rules_of_all_touched_folders_hold_together",
    ),
    Fault(V, "core/curation/review/moves.py", "if who not in facts.barred and _counts", "if _counts", "review_rules"),
    Fault(
        V,
        "core/curation/review/moves.py",
        "(FILE not in paths or ",
        "(FILE or ",
        "reviews::test_the_rules_file_is_reviewed_by_admins_and_then_holds",
    ),
    Fault(
        V,
        "core/curation/review/moves.py",
        '"reopen": (("closed",),',
        '"reopen": (("closed", "merged"),',
        "review_rules transitions",
    ),
    Fault(
        V,
        "core/curation/review/moves.py",
        "if strict and facts.open_conversations:",
        "if not strict and facts.open_conversations:",
        "review_rules::test_rules_of_all_touched_folders_hold_together",
    ),
    Fault(
        V,
        "core/services/reviews/merge.py",
        "moves.obstacles(facts) + (() if reason else moves.judgments(facts))",
        "() if reason else moves.requirements(facts)",
        "reviews::test_two_spellings_of_a_path_never_meet_in_the_knowledge_base",
    ),
    Fault(
        V,
        "core/services/reviews/merge.py",
        "        as_seen(facts.head, head)\n        lacking",
        "        lacking",
        "reviews::test_whoever_read_older_text_cannot_merge_the_new",
    ),
    Fault(
        A,
        "core/access.py",
        '"review a change": ("reviewer"',
        '"review a change": ("author"',
        "reviews_page::test_authors_cannot_approve_even_with_a_button_from_before",
    ),
    Fault(
        A,
        "core/access.py",
        '"see the audit": ("admin"',
        '"see the audit": ("reviewer"',
        "doors::test_every_use_case_asks_before_anything_else",
    ),
    Fault(
        A,
        "core/access.py",
        '"merge a change": ("author", "review")',
        '"merge a change": ("author", "propose")',
        "tokens",
    ),
    Fault(A, "core/access.py", '_AGENTS_REACH = "propose"', '_AGENTS_REACH = "review"', "tokens"),
    Fault(
        A,
        "core/access.py",
        "if not _in_scope(actor.scope, action):",
        "if False:",
        "tokens::test_a_refusal_says_which_rule_it_was",
    ),
    Fault(
        A, "core/access.py", 'return folded(email).strip(" .,:;<>\\"\\\\\'")', "return folded(email)", "review_rules"
    ),
    Fault(
        A,
        "core/services/people/tokens.py",
        '"expired" if row.expires <= self._stamp() else "active"',
        '"active"',
        "tokens::test_a_token_ends_on_its_last_day",
    ),
    Fault(
        A,
        "core/services/people/sessions.py",
        "idle * 3600",
        "idle * 36000",
        "sessions::test_a_session_ends_after_hours_of_rest_and_after_days_in_any_case",
    ),
    Fault(
        A,
        "pages/ui/server/security.py",
        "if changes and (foreign or",
        "if changes and (False or",
        "security::test_only_a_page_of_the_same_host_opens_a_websocket_or_writes",
    ),
    Fault(A, "pages/ui/server/security.py", "parts[0] in LOOPBACK and ", "", "security"),
    Fault(
        S,
        "core/storage/git/repository_reader.py",
        "at += size + 1",
        "at += size",
        "git::test_reading_many_blobs_keeps_the_order",
    ),
    Fault(
        S,
        "core/storage/git/refs.py",
        '["-r", "-z", "-M",',
        '["-r", "-z",',
        "git::test_what_changed_names_added_edited_renamed_and_deleted",
    ),
    Fault(
        S,
        "core/storage/git/repository_reader.py",
        'if any(edit.kind == "added" for edit in edits):',
        "if False:",
        "git::test_the_history_of_a_document_begins_where_it_was_added",
    ),
    Fault(
        S,
        "core/storage/index/generation_list.py",
        "return complete[0]",
        "return complete[-1]",
        "damage::test_the_newest_whole_generation_serves_when_current_is_damaged",
    ),
    Fault(
        S,
        "core/storage/index/generation_list.py",
        "key=lambda generation: -generation.number",
        "key=lambda generation: generation.number",
        "damage::test_the_newest_whole_generation_serves_when_current_is_damaged",
    ),
    Fault(
        S,
        "core/storage/state/table_sums.py",
        '("DELETE", "- 1"',
        '("DELETE", "+ 1"',
        "damage::test_every_write_keeps_the_digests_and_a_rolled_back_one_leaves_none",
    ),
    Fault(
        S,
        "core/adapters/system/files.py",
        "        os.replace(name, path)",
        "        shutil.copyfile(name, path)",
        "disk::test_a_small_file_is_replaced_in_one_step_and_leaves_nothing_beside_it",
    ),
    Fault(
        S,
        "core/services/platform/workspace.py",
        "if not facts.version and history:",
        "if False:",
        "damage::test_a_lost_database_is_named_and_never_started_anew_by_itself",
    ),
    Fault(
        S,
        "core/curation/document/names.py",
        'part.endswith((".", " "))',
        "False",
        "frontmatter::test_odd_paths_are_refused",
    ),
    Fault(
        S,
        "core/storage/state/rows/people_rows.py",
        "audit.c.id.desc()).limit(limit)",
        "audit.c.id).limit(limit)",
        "audit::test_a_short_list_holds_the_newest_lines",
    ),
    Fault(
        T,
        "core/evaluation/statistics.py",
        "[2.5, 97.5]",
        "[5, 95]",
        "statistics::test_the_interval_covers_the_true_mean_about_95_times_of_100",
    ),
    Fault(
        T,
        "core/evaluation/statistics.py",
        "std(ddof=1)",
        "std(ddof=0)",
        "statistics::test_the_judgments_still_needed_would_in_fact_be_enough_after_the_correction_too",
    ),
    Fault(
        T,
        "core/evaluation/statistics.py",
        "if comparisons[n].p * (total - place) > highest:",
        "if True:",
        "statistics::test_correcting_for_many_comparisons_never_makes_one_surer_and_keeps_their_order",
    ),
    Fault(T, "core/evaluation/statistics.py", "if p <= ERROR else (min(low, 0.0), max(high, 0.0))", "", "statistics"),
    Fault(T, "core/evaluation/statistics.py", "z * z / (4 * n * n)", "z * z / (4 * n)", "statistics"),
    Fault(T, "core/evaluation/measures/by_name.py", "log2(place + 1)", "log2(place + 2)", "measures"),
    Fault(
        T,
        "core/evaluation/measures/by_name.py",
        "for doc in ranking[:k]) / k",
        "for doc in ranking[:k]) / len(ranking[:k] or [0])",
        "measures",
    ),
    Fault(
        T,
        "core/evaluation/measures/passages.py",
        "length(words(text), needed) / len(needed)",
        "length(words(text), needed) / len(words(text))",
        "lcs measures",
    ),
    Fault(
        P,
        "pages/ui/identity.py",
        "if not allowed(actor, action):",
        "if False:",
        "pages::test_only_admins_reach_the_index",
    ),
    Fault(
        P,
        "core/entrypoints/api/calls.py",
        "        if self.own_page and secret:\n            raise Unauthenticated(OLD_PAGE)\n",
        "",
        "doors::test_what_components_ask_is_asked_of_every_role_and_closed_to_programs",
    ),
    Fault(
        P,
        "pages/home.py",
        "if not view.documents:",
        "if view.documents is None:",
        "pages::test_home_of_an_empty_workspace_says_how_to_begin",
    ),
    Fault(
        P,
        "pages/ui/flash.py",
        'f"\\\\{c}" if c in',
        "c if c in",
        "reviews_page::test_hostile_words_stay_words_in_titles_comments_and_diffs",
    ),
    Fault(
        P,
        "pages/inbox.py",
        'return shown != "All", kind or ""',
        'return False, kind or ""',
        "inbox_page::test_the_inbox_lists_what_is_new_and_reads_all_at_once",
    ),
    Fault(
        P, "pages/audit.py", '"who": who or "",', '"who": "",', "reviews_page::test_the_audit_is_filtered_and_exported"
    ),
)


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
    for top in ("core", "pages", "tests"):
        for compiled in ROOT.glob(f"{top}/**/__pycache__"):
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
    return own + [f"{test_file(file)}{'' if whole else mark + test}" for file, mark, test in named]


def test_file(name: str) -> str:
    """Where test_name.py is under tests/; no two files have one name."""
    return next(path.relative_to(ROOT).as_posix() for path in ROOT.glob(f"tests/**/test_{name}.py"))


def finder(folder: Path, asked: list[str], log: Path) -> str:
    """The first test that fails in this folder, in a process forked from this one; "" if none does."""
    if not (pid := os.fork()):
        atexit._clear()  # the copy of the code stays
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.chdir(folder)
        sys.path[0] = str(folder)
        import pytest

        quiet = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:randomly"]
        code = int(pytest.main([*quiet, "-m", "not slow and not browser", *asked]))
        atexit._run_exitfuncs()  # templates of workspaces go
        os._exit(code)
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
            print(
                f"{number:3} {spent() - began:5.1f} s {fault.file}: {fault.new.strip()[:50]!r} {found or 'MISSED'}",
                flush=True,
            )
    said = f"; missed: {missed}" if missed else ""
    print(f"{len(wanted) - len(missed)} of {len(wanted)} found in {spent():.0f} CPU seconds{said}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main(sys.argv[1:])
