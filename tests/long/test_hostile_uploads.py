"""Hundreds of hostile files through the real upload: each ends in a state, none costs the app's own process much."""

from __future__ import annotations

import gc
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.adapters.conversion.converter import Converters
from core.adapters.conversion.texts import LIMITS, SHORT, TextReader
from core.adapters.conversion.worker_pool import Limits, WorkerPool
from core.bootstrap import App
from core.curation.checks import check_rules
from core.curation.document.frontmatter import read_document
from core.curation.document.size_limits import check_limits, effort
from core.curation.review.diffs import diff, rendered_diff
from core.curation.upload.items import STATES
from core.errors import BadInput
from core.types import Document
from pages.ui import keys
from tests.conftest import demo, put, write
from tests.long.test_fuzz import state_of
from tests.pages.test_upload_page import bring, home, opened  # noqa: F401 - a fixture
from tests.support import uploads
from tests.support.apptest import Open
from tests.support.hostile_files import REPEATED, Upload, hostile
from tests.support.uploads import GOOD


@dataclass
class Costs:
    """What uploads cost this process, by name."""

    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    states: Counter[str] = field(default_factory=Counter)
    memory: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        longest = [sorted(part.items(), key=lambda item: -item[1])[:5] for part in (self.cpu, self.wall)]
        return f"{len(self.cpu)} uploads {dict(self.states)}, CPU {longest[0]}, wall {longest[1]}, MB {self.memory}"


def resident() -> int:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def attacked(app: App, files: Iterable[Upload]) -> Costs:
    """Every file by itself; whatever is not a batch of items with a sentence for each refusal fails here."""
    put(app, {"it/vpn.md": GOOD.format("IT-1")})
    app.upload.uploads.read(demo("author"), [("warm.md", b"# Warm\n\nText.\n")])
    before, costs = state_of(app.settings.home), Costs(memory=(resident(), 0))
    for number, (name, raw) in enumerate(files):
        began, used = time.monotonic(), time.process_time()
        batch = app.upload.uploads.read(demo("author"), [(name, raw)], "it")
        key = f"{number} {name[:40]!r}"
        costs.cpu[key], costs.wall[key] = time.process_time() - used, time.monotonic() - began
        assert batch.items or batch.left_out
        for item in batch.items:
            costs.states[item.state] += 1
            assert item.state in STATES
            assert item.state != "refused" or item.findings[0].message.endswith("."), item.findings[0]
    gc.collect()  # these tests let the collector come more rarely than a server does
    costs.memory = (costs.memory[0], resident())
    assert state_of(app.settings.home) == before
    return costs


@pytest.fixture
def guarded(app: App) -> Iterator[App]:
    """Converters that give up sooner than in production, so that spinning files cost the tests less."""
    app.upload.uploads.converter = Converters(Limits(60.0, 5, 2 * 1024**3))
    yield app
    app.upload.uploads.converter.close()
    app.upload.reader.close()


@pytest.mark.slow(minutes=6)
def test_600_hostile_uploads_end_in_a_state_and_cost_this_process_little(
    guarded: App, record_property: pytest.RecordProperty
) -> None:
    costs = attacked(guarded, hostile(600, seed=2026))
    record_property("costs", str(costs))
    Path(os.environ.get("CONCORD_COSTS", os.devnull)).write_text(str(costs))
    assert len(costs.cpu) == 600
    assert max(costs.cpu.values()) < 2.5, costs
    assert max(costs.wall.values()) < 120, costs
    assert costs.memory[1] - costs.memory[0] < 400, costs


def test_a_sample_of_hostile_texts_and_names_costs_this_process_little(app: App) -> None:
    small = [(name, raw) for name, raw in hostile(160, seed=7) if name.endswith((".md", ".txt")) and len(raw) < 20_000]
    costs = attacked(app, small[::3])
    assert len(costs.cpu) > 20
    assert max(costs.cpu.values()) < 2.5, costs


@pytest.mark.slow
def test_a_sample_of_hostile_uploads_through_the_page(visit: Open, home: Path) -> None:  # noqa: F811
    sample = [upload for upload in hostile(160, seed=11) if upload[0].endswith(".md")][::12]
    app = bring(opened(visit, home), *sample)
    for number in range(len(sample)):
        app.session_state[keys.UPLOAD_ITEM] = number
        app.run()
        for side in ("duplicates", "text"):
            app.segmented_control[-1].set_value(side).run()
            assert not app.exception, app.exception


# ---------------------------------------------------------------- where texts are parsed


@pytest.fixture
def reader() -> Iterator[TextReader]:
    made = TextReader(Limits(120.0, 1, LIMITS.memory), 1)
    yield made
    made.close()


@pytest.fixture
def patient() -> Iterator[TextReader]:
    """With the limits of the product: a slow machine needs more than a second for what is fine."""
    made = TextReader(LIMITS, 1)
    yield made
    made.close()


def slow_text() -> str:
    """Within every limit, and yet many seconds of parsing."""
    return "\n".join([">" * 19 + " a\n" + "a|\n" * 4900] * 4)


def test_a_text_that_takes_too_long_is_refused_by_name_and_limit_and_not_read_again(reader: TextReader) -> None:
    document = read_document("it/slow.md", slow_text())
    check_limits(document.text)
    used = time.process_time()
    for _ in range(3):
        with pytest.raises(
            BadInput, match=r"it/slow\.md needs more than 1 seconds of computing and was given up\. Split"
        ):
            reader.read(document)
    assert time.process_time() - used < 0.5


def test_a_reading_is_the_same_here_and_in_a_worker(reader: TextReader) -> None:
    text = (
        GOOD.format("IT-9")
        + "\n## Steps\n\nSee [B](b.md#top) and [C](c.md).\n\n### Far\n\n"
        + "word " * 40
        + "\n\n" * 2
    )
    document = read_document("it/a.md", text + "More words for the worker.\n\n" * (SHORT // 20))
    assert len(document.text) > SHORT
    assert reader.read(document) == check_rules.read(document)
    from core.curation.text.render import render

    assert reader.render(document) == render(document)
    assert reader.pool._idle


COSTLY = ("# *a*\n", "<![CDATA[", "- a\n", "[", "![[", "![a")  # what takes longest to parse


@pytest.mark.parametrize(
    "piece",
    [
        piece if piece in COSTLY or n % 3 == 0 else pytest.param(piece, marks=pytest.mark.slow)
        for n, piece in enumerate(REPEATED)
    ],
)
def test_a_short_text_is_quick_whatever_it_repeats(piece: str) -> None:
    text = (piece * SHORT)[:SHORT]
    try:
        check_limits(text)
        document = read_document("a.md", text)
    except BadInput:
        return
    used = time.process_time()
    check_rules.read(document)
    assert time.process_time() - used < 1.5


def test_a_short_text_that_comes_to_many_cells_is_parsed_in_a_worker(patient: TextReader) -> None:
    wide = read_document("a.md", "|a" * 400 + "|\n" + "|-" * 400 + "|\n" + "|b\n" * 40)
    assert len(wide.text) < SHORT < effort(wide.text)
    check_limits(wide.text)
    used = time.process_time()
    patient.admit(wide)
    assert time.process_time() - used < 0.3
    with pytest.raises(BadInput, match=r"The tables have room for 337,642 cells; a document has at most 100,000\."):
        check_limits(wide.text + "|b\n" * 800)


def test_every_door_refuses_a_text_that_takes_too_long(app: App, tmp_path: Path) -> None:
    reader = app.upload.reader
    reader.pool = WorkerPool(reader.pool.module, 1, Limits(120.0, 1, LIMITS.memory))
    text, sentence = slow_text(), "seconds of computing"
    uploaded = app.upload.uploads.read(demo("author"), [("slow.md", text.encode())], "it").items[0]
    zipped = app.upload.uploads.read(demo("author"), [("a.zip", uploads.zipped({"it/slow.md": text}))]).items[0]
    for item in (uploaded, zipped):
        assert item.state == "refused"
        assert sentence in item.findings[0].message
        assert item.path in item.findings[0].message
    write(tmp_path / "folder", {"it/slow.md": text})
    imported = app.knowledge.documents.import_folder(demo("admin"), tmp_path / "folder")
    assert imported.added == ()
    assert sentence in imported.refused[0][1]
    typed = app.reviews.changes.checking.typed("it/slow.md", text, "")
    assert [(finding.severity, finding.rule) for finding in typed] == [("error", "limits")]
    with pytest.raises(BadInput, match=sentence):
        reader.render(read_document("it/slow.md", text))
    reader.close()


@pytest.mark.parametrize("letters", ["a", "ab", "abcdefghij", "".join(map(chr, range(0x4E00, 0x4E64)))])
def test_versions_that_repeat_themselves_are_compared_quickly(letters: str) -> None:
    r = random.Random(len(letters))
    old, new = ("\n\n".join(r.choices(letters, k=1200)) for _ in range(2))
    used = time.process_time()
    rows = diff(old, new).rows
    blocks = rendered_diff(*(Document("d", "d.md", "D", text) for text in (old, new)))
    words = diff("\n".join(r.choices(letters, k=900)).replace("\n", " "), " ".join(r.choices(letters, k=90))).rows
    assert rows
    assert blocks
    assert words
    assert time.process_time() - used < 20


def test_one_line_more_is_one_line_added_also_in_a_text_that_repeats_itself() -> None:
    text = "- a\n\n" * 1000
    assert (diff(text, text + "- b\n").added, diff(text, text + "- b\n").removed) == (1, 0)
    assert (diff(text, "- b\n" + text).added, diff(text, "- b\n" + text).removed) == (1, 0)
