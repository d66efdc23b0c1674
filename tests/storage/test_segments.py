"""Segments: an index written edit by edit answers to the last bit as one that was built at once."""

from __future__ import annotations

import os
import random
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.adapters.system import sums
from core.bootstrap import App
from core.ports import Index, Leg
from core.storage.index.generations import Generations, IndexLimits
from core.storage.index.image_engine import ImageEngine
from core.storage.index.record import segments
from core.types import FIELDS, Filters
from tests.conftest import HashEmbedder, demo, indexed, put, rounds, small_app

WORDS = [
    "cash",
    "report",
    "form",
    "file",
    "member",
    "account",
    "limit",
    "review",
    "approve",
    "invoice",
    "vendor",
    "tax",
    "close",
    "month",
    "audit",
    "claim",
    "dock",
]
NAMES = ["Bank Secrecy Act (BSA)", "FinCEN Form 112", "purchase order (PO)", "31 CFR 1020.320(d)", "Vienna"]
QUERIES = (
    "cash report",
    "invoice tax audit claim",
    "Document 3",
    "who we are",
    "not to be",
    "zzzz",
    "Form 112 of FinCEN",
)
FILTERS = (Filters(history=True), Filters(tags=("blue",)), Filters(folders=("f1",)), Filters(tags=("none",)))
DAY = date(2026, 1, 1)


def text_of(chance: random.Random, n: int) -> str:
    parts = [
        f"## {chance.choice(WORDS).title()} {part}\n\nWho we are. {chance.choice(NAMES)}. "
        + " ".join(chance.choices(WORDS, k=chance.randint(5, 40)))
        for part in range(chance.randint(1, 3))
    ]
    tags = chance.choice(["", "tags: [blue]\n", "tags: [blue, green]\n"])
    head = (
        f"---\nid: D-{n}\ntitle: Document {n} {chance.choice(WORDS)}\n{tags}answers:\n- Who files "
        f"{chance.choice(WORDS)}?\n---\n"
    )
    return head + "\n\n".join(parts) + "\n"


def edit(chance: random.Random, now: dict[str, str]) -> dict[str, str | None]:
    """Change, add, delete or rename some documents."""
    files: dict[str, str | None] = {}
    for _ in range(chance.randint(1, 4)):
        path, n = chance.choice(sorted(now)), chance.randrange(1000)
        kind = chance.choice(["edit", "edit", "add", "delete", "rename", "touch"])
        if kind == "add":
            files[f"f{n % 3}/{n}.md"] = text_of(chance, n)
        elif kind == "rename":
            files |= {path: None, f"moved/{n}.md": now[path]}
        elif kind == "delete" and len(now) > 4:
            files[path] = None
        else:
            files[path] = now[path] + f"\nMore {chance.choice(WORDS)}.\n" if kind == "touch" else text_of(chance, n)
    for path, text in files.items():
        now.pop(path, None) if text is None else now.update({path: text})
    return files


def full_build(app: App, place: Path) -> Index:
    """The same commit, built at once in another place."""
    profile, mine = app.platform.settings.profile(), app.index.generations
    other = Generations(place, IndexLimits(mine.keep, mine.exact_limit), mine._analyser, arrays=[place / "arrays"])
    app.index.builder.build_offline(profile, app.knowledge.repository.head(), None, other)
    return other.open(profile)


def ranked(leg: Leg, allowed: np.ndarray | None = None) -> list[tuple[int, float]]:
    found = leg.search(50, allowed)
    assert leg.score(list(found)) == pytest.approx(list(found.values()))
    return list(found.items())


def answers(index: Index, query: str) -> list[object]:
    """What every leg answers, with and without filters."""
    vector = HashEmbedder().query(query)
    weights = {name: 0.5 + n for n, name in enumerate(FIELDS)}
    legs = [
        index.bm25(query),
        index.bm25(query, fields=weights),
        index.tfidf(query),
        index.sparse(query),
        index.dense(vector),
    ]
    masks = [index.allowed(filters, DAY) for filters in FILTERS]
    given = [ranked(leg, allowed) for leg in legs for allowed in (None, *masks)]
    terms = query.lower().split()
    held = [(index.rarity(term), index.holding(term, range(index.size))) for term in terms]
    return [given, held, [index.fields(query)(chunk) for chunk in range(min(5, index.size))]]


def contents(index: Index) -> list[object]:
    chunks, documents = range(index.size), range(len(index.documents))
    of_chunks = [(index.passage(n), index.excerpt(n), index.context(n), index.document_of(n)) for n in chunks]
    of_documents = [(index.documents[n], index.text(n), index.answers(n), index.chunks_of(n)) for n in documents]
    vectors = [index.vector(n).tolist() for n in chunks]
    return [of_chunks, of_documents, vectors, index.spread, dict(index.vocabulary)]


def same_graph(one: Index, other: Index) -> bool:
    names = one.graph().__dataclass_fields__
    return all(np.array_equal(getattr(one.graph(), name), getattr(other.graph(), name)) for name in names)


def engines_agree(index: Index) -> None:
    for query in QUERIES:
        expected = index.bm25(query).search(30, None)
        for engine in ("duckdb", "rank-bm25"):
            found = index.bm25(query, engine).search(30, None)
            assert list(found) == list(expected), (engine, query)
            assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-6)
        vector = HashEmbedder().query(query)
        exact, lance = index.dense(vector).search(30, None), index.dense(vector, "lancedb").search(30, None)
        assert list(lance.values()) == pytest.approx(list(exact.values()), abs=1e-6)


def edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, steps: int, every: int, folded: int, count: int = 25
) -> None:
    """Edit and build again and again; every few builds everything is compared with a full build."""
    monkeypatch.setattr(segments, "FOLDED", folded)
    app, chance = small_app(tmp_path / "home"), random.Random(seed)
    profile, now = app.platform.settings.profile(), {f"f{n % 3}/{n}.md": text_of(chance, n) for n in range(count)}
    put(app, dict(now))
    app.index.builder.build(profile)
    most = 0
    for step in range(steps):
        put(app, edit(chance, now), f"step {step}")
        app.index.builder.build(profile)
        index = app.index.generations.open(profile)
        most = max(most, len(index.segments))
        if step % every:
            continue
        full = full_build(app, tmp_path / f"full{step}")
        assert contents(index) == contents(full)
        for query in QUERIES:
            assert answers(index, query) == answers(full, query), (step, query)
        assert same_graph(index, full)
    engines_agree(index)
    assert app.index.verifier.problems() == ()
    assert most > 1


def test_edits_renames_and_deletions_answer_as_a_full_build_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(tmp_path, monkeypatch, seed=1, steps=4, every=3, folded=6, count=14)


@pytest.fixture
def many_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """A generation of five segments, four of them small."""
    monkeypatch.setattr(segments, "FOLDED", 0)
    monkeypatch.setattr(segments, "MANY", 4)
    chance = random.Random(7)
    return indexed(tmp_path / "home", {f"{n}.md": text_of(chance, n) for n in range(30)}, edited_four_times)


def edited_four_times(app: App) -> None:
    chance = random.Random(8)
    for n in range(4):
        put(app, {f"{n}.md": text_of(chance, n)}, f"edit {n}")
        app.index.builder.build(app.platform.settings.profile())


def test_small_segments_become_one_and_nothing_else_changes(many_segments: App) -> None:
    app, profile = many_segments, many_segments.platform.settings.profile()
    before = app.index.generations.open(profile)
    told, found = contents(before), [answers(before, query) for query in QUERIES]
    assert (len(before.segments), app.index.generations.merge_due(profile)) == (5, True)
    merged = app.index.generations.merge(profile)
    after = app.index.generations.open(profile)
    assert (after.generation.number, after.generation.commit) == (merged.number, before.generation.commit)
    assert [one.place for one in after.segments] == ["", "segments/000001"]
    assert contents(after) == told
    assert [answers(after, query) for query in QUERIES] == found
    assert app.index.generations.merge(profile) is None, "nothing is due any more"
    assert app.index.verifier.problems() == ()
    assert not app.index.builder.build(profile).fresh


def test_an_edit_during_a_merge_is_kept(many_segments: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app, profile, wait = many_segments, many_segments.platform.settings.profile(), ImageEngine._write_segment

    def edited_meanwhile(*arguments: Any, **options: Any) -> Any:
        made = wait(*arguments, **options)
        monkeypatch.setattr(ImageEngine, "_write_segment", wait)
        put(app, {"1.md": None, "2.md": "# New\n\nwalrus cash\n"}, "meanwhile")
        app.index.builder.build(profile)
        return made

    monkeypatch.setattr(ImageEngine, "_write_segment", edited_meanwhile)
    assert app.index.generations.merge(profile) is not None
    index, full = app.index.generations.open(profile), full_build(app, tmp_path / "full")
    assert contents(index) == contents(full)
    assert answers(index, "walrus cash") == answers(full, "walrus cash")
    assert app.index.verifier.problems() == ()


def test_a_merge_gives_up_where_everything_was_rebuilt_meanwhile(
    many_segments: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, profile, wait = many_segments, many_segments.platform.settings.profile(), ImageEngine._write_segment

    def rebuilt_meanwhile(*arguments: Any, **options: Any) -> Any:
        made = wait(*arguments, **options)
        monkeypatch.setattr(ImageEngine, "_write_segment", wait)
        app.index.builder.build(profile, full=True)
        return made

    monkeypatch.setattr(ImageEngine, "_write_segment", rebuilt_meanwhile)
    assert app.index.generations.merge(profile) is None
    assert app.index.generations.current(profile).number == 6
    assert not list(app.index.generations.folder(profile).glob("merging-*"))


def test_a_rollback_is_not_undone_by_a_merge(many_segments: App) -> None:
    app, profile = many_segments, many_segments.platform.settings.profile()
    app.index.generations.rollback(profile, 4)
    assert app.index.generations.merge(profile) is None
    assert app.index.generations.current(profile).number == 4


def test_a_build_that_leaves_many_segments_starts_a_job_that_merges_them(many_segments: App) -> None:
    app, profile = many_segments, many_segments.platform.settings.profile()
    put(app, {"9.md": "# New\n\nwalrus\n"})
    app.index.jobs.build(demo("admin"))
    (job,) = [job for job in app.platform.jobs.recent() if job.kind == "merge"]
    assert app.platform.jobs.run(job.id, app.index.jobs.works()).state == "done"
    assert len(app.index.generations.open(profile).segments) == 2
    assert app.search.searcher.search("walrus").hits[0].path == "9.md"


def test_an_edit_links_what_it_did_not_change(many_segments: App) -> None:
    app, profile = many_segments, many_segments.platform.settings.profile()
    put(app, {"5.md": "# New\n\nwalrus\n"}, "one more")  # a copy has no links
    app.index.builder.build(profile)
    folder = app.index.generations.folder(profile)
    newest, before = (folder / one.folder for one in app.index.generations.all(profile)[:2])
    shared = ("fts.duckdb", "vec/PLACE.json", "segments/000003/fts.duckdb")
    assert all(os.path.samefile(newest / name, before / name) for name in shared)
    assert not list(sums.differences(newest)), "checksums that were taken over are those of the files"
    assert not (before / "segments" / "000005").exists()
    assert (newest / "segments" / "000005" / "fts.duckdb").stat().st_size < 500_000, "it is in small blocks"


@pytest.mark.slow(minutes=2)
@pytest.mark.parametrize(("seed", "folded"), [(2, 0), (3, 6), (4, 20)])
def test_hundreds_of_edits_answer_as_full_builds_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, folded: int
) -> None:
    edited(tmp_path, monkeypatch, seed, steps=rounds(50), every=1, folded=folded)
