"""Words can be searched before vectors are there: said in every answer, never measured, and equal in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.bootstrap import App
from core.errors import NotFound, Unavailable
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.services.search.pending import VectorProgress
from core.services.search.searcher import as_json
from core.types import Generation, Pending
from tests.conftest import HashEmbedder, NoProcesses, demo, put, small_app
from tests.services.knowledge.test_index import answers, contents, corpus, edits, text_of


def words_only(home: Path, **settings: object) -> App:
    """A workspace whose vectors are pending."""
    app = small_app(home, NoProcesses(), words_first=0.0, **settings)
    put(app, corpus(24))
    built = app.index.builder.build(app.platform.settings.profile(), words=True)
    assert built.generation.pending == built.generation.chunks
    return app


def at_once(home: Path, *steps: dict[str, str | None]) -> App:
    """The same documents, with their vectors from the start."""
    app = small_app(home)
    for files in steps:
        put(app, files)
    app.index.builder.build(app.platform.settings.profile())
    return app


def passages(app: App) -> list[str]:
    """The ids of all chunks, over all segments."""
    index = app.index.generations.open(app.platform.settings.profile())
    return [index.passage(n).id for n in range(index.size)]


def test_a_search_by_words_says_so_and_is_as_sure_as_one_that_was_asked_for(tmp_path: Path) -> None:
    app = words_only(tmp_path)
    result = app.search.searcher.search("cash report")
    by_words = app.search.searcher.search("cash report", config=configs.by_words(result.config))
    assert result.hits == by_words.hits
    assert result.hits
    assert result.confidence == by_words.confidence  # by the model without cosines
    assert (result.pending, by_words.pending) == (Pending(0, 32), None)
    assert as_json(result)["pending"]["message"] == "By words so far: meaning is added soon."
    assert app.search.page.find("cash report").result.pending
    assert app.search.searcher.search("cash report", config=configs.parse("dense")).hits[0].legs.keys() == {"bm25"}


def test_a_generation_that_gets_its_vectors_later_equals_one_that_had_them_and_links_its_words(tmp_path: Path) -> None:
    app = words_only(tmp_path / "first")
    profile = app.platform.settings.profile()
    folder, before = app.index.generations.folder(profile), app.index.generations.current(profile)
    assert app.index.verifier.problems() == ()
    built = app.index.builder.build(profile)
    assert built.generation.pending == 0
    assert built.chunked == 0
    words = [folder / name / "fts.duckdb" for name in (before.folder, built.generation.folder)]
    assert words[0].samefile(words[1])
    other = at_once(tmp_path / "other", corpus(24))
    assert contents(app) == contents(other)
    assert answers(app) == answers(other)
    assert app.search.searcher.search("cash report").pending is None
    assert app.index.verifier.problems() == ()


def test_texts_that_are_embedded_to_see_how_long_it_takes_are_counted(tmp_path: Path) -> None:
    app = small_app(tmp_path, words_first=600.0)
    put(app, corpus(24))
    built = app.index.builder.build(app.platform.settings.profile())
    assert (built.embedded, built.chunked) == (32, 32)


def test_edits_that_land_before_the_vectors_are_found_by_their_words(tmp_path: Path) -> None:
    app = words_only(tmp_path / "first")
    profile = app.platform.settings.profile()
    for step in range(2):
        put(app, {**edits(step), "zebra.md": f"# Zebra {step}\n\nA zebra crosses.\n"})
        built = app.index.builder.build(profile, words=True)
        assert built.generation.pending
        assert [hit.path for hit in app.search.searcher.search("zebra").hits] == ["zebra.md"]
    assert app.index.builder.build(profile).generation.pending == 0
    zebra = {"zebra.md": "# Zebra 1\n\nA zebra crosses.\n"}
    other = at_once(tmp_path / "other", corpus(24), edits(0), {**edits(1), **zebra})
    assert passages(app) == passages(other)
    vectors = [
        {hit.chunk: hit.score for hit in of.search.searcher.search("dock", config=configs.parse("dense")).hits}
        for of in (app, other)
    ]
    assert vectors[0] == pytest.approx(vectors[1])
    assert app.index.verifier.problems() == ()


class Meanwhile(HashEmbedder):
    """Lets something happen while vectors are computed: after the two calls that see how long that takes."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens, self.calls = happens, 0

    def documents(self, texts: Sequence[str], progress: Progress = no_progress) -> np.ndarray:
        self.calls += 1
        if self.calls == 3:
            self.happens()
        return super().documents(texts, progress)


def test_what_is_merged_while_vectors_are_computed_is_in_the_generation_that_has_them(tmp_path: Path) -> None:
    app = words_only(tmp_path)

    def merge():
        return put(app, {f"more/{n}.md": text_of(200 + n) for n in range(12)})

    app.index.builder.models.embedder_used = Meanwhile(merge)  # type: ignore[attr-defined]
    built = app.index.builder.build(app.platform.settings.profile())
    assert (built.generation.commit, built.generation.pending) == (app.knowledge.repository.head(), 0)
    assert built.generation.documents == 36
    assert app.index.verifier.problems() == ()


def test_a_rollback_while_vectors_are_computed_stays(tmp_path: Path) -> None:
    app = small_app(tmp_path, NoProcesses(), words_first=0.0)
    profile = app.platform.settings.profile()
    put(app, corpus(24))
    first = app.index.builder.build(profile).generation
    put(app, {f"more/{n}.md": text_of(200 + n) for n in range(12)})
    words = app.index.builder.build(profile, words=True).generation

    def back():
        return app.index.generations.rollback(profile, first.number)

    app.index.builder.models.embedder_used = Meanwhile(back)  # type: ignore[attr-defined]
    assert app.index.builder.build(profile).generation.number == words.number
    assert app.index.generations.current(profile).number == first.number


def test_a_restart_goes_on_with_what_was_embedded_and_publishes_no_second_generation_of_words(tmp_path: Path) -> None:
    app = words_only(tmp_path)
    profile = app.platform.settings.profile()
    again = small_app(tmp_path, NoProcesses(), words_first=0.0)
    job = again.platform.workspace.catch_up()
    assert job
    assert job.kind == "reindex"
    assert again.index.builder.build(profile, words=True).generation.number == 1
    done = again.platform.jobs.run(job.id, again.platform.workspace.works)
    assert done.state == "done"
    assert again.index.generations.current(profile).number == 2
    assert again.platform.workspace.catch_up() is None


def test_words_alone_are_no_base_of_a_measurement_a_rollback_or_an_earlier_day(tmp_path: Path) -> None:
    app = words_only(tmp_path, keep_generations=2)
    profile = app.platform.settings.profile()
    with pytest.raises(Unavailable, match="still being computed"):
        app.index.generations.open(profile)
    with pytest.raises(Unavailable, match="still being computed"):
        app.search.searcher.index()
    with pytest.raises(NotFound, match="Generations: none"):
        app.index.admin.rollback(demo("admin"), 1)
    assert app.index.generations.kept(profile, app.knowledge.repository.head()) is None
    for step in range(3):
        put(app, {f"more/{step}-{n}.md": text_of(1000 * step + n) for n in range(12)})
        app.index.builder.build(profile)
    whole = app.index.generations.all(profile)
    assert [generation.pending for generation in whole] == [0, 0]  # both that are kept can be rolled back to
    assert app.index.admin.rollback(demo("admin"), whole[1].number).current


def test_a_few_texts_get_their_vectors_at_once(tmp_path: Path) -> None:
    app = words_only(tmp_path)
    profile = app.platform.settings.profile()
    app.index.builder.build(profile)
    put(app, {"one.md": "# One\n\nOne more.\n"})
    before = app.index.generations.current(profile).number
    assert app.index.builder.build(profile, words=True).generation.number == before + 1
    assert app.index.generations.current(profile).pending == 0


def test_progress_is_that_of_the_job_that_embeds() -> None:
    class Queue:
        def __init__(self, **row: Any) -> None:
            from core.services.jobs.jobs import Job

            usual = {"id": 1, "kind": "reindex", "arguments": {"profile": "local"}, "state": "running", "done": 100}
            usual |= {"total": 400, "message": "Embedding", "error": "", "result": None, "attempts": 1, "created": ""}
            self.job = Job(**{**usual, "started": "2026-01-01T00:00:00+00:00", "ended": "", **row})

        def recent(self, limit: int) -> tuple[Any, ...]:
            return (self.job,)

    def now():
        return datetime.fromisoformat("2026-01-01T00:00:10+00:00")

    generation = Generation(1, "local", "d", "c", 59, 531, "", 1.0, 1, pending=500)

    def told(**row):
        return VectorProgress(Queue(**row), now).of(generation)  # type: ignore[arg-type]

    assert told() == Pending(200, 500, 30.0)  # a hundred were known before the job began
    assert told(message="Chunking") == Pending(0, 500)
    assert told(state="failed") == Pending(0, 500, stopped=True)
    assert told(arguments={"profile": "other"}) == Pending(0, 500)


def test_home_index_and_search_say_that_words_are_searched_so_far(visit: Any, tmp_path: Path) -> None:
    words_only(tmp_path)
    for page in ("home", "index"):
        shown = visit(page, home=tmp_path)
        assert shown.get("progress")[0].proto.text == "By words so far: meaning is added soon."
    visit("search", home=tmp_path, q="cash report")
