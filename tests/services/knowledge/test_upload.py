"""Uploads: what is read, refused, converted, compared and handed on. Nothing is written before that."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.adapters.conversion.converter import Converters
from core.bootstrap import App
from core.curation.upload import archives
from core.curation.upload.edits import look_at
from core.curation.upload.items import Batch, UploadItem
from core.entrypoints import session
from core.errors import BadInput, Refused, Unavailable
from tests.conftest import ROOT, demo, put
from tests.support import uploads
from tests.support.uploads import GOOD, ProposedChanges


@pytest.fixture(scope="module")
def conversion() -> Converters:
    """Its readers end with the session, after whoever needs them next."""
    return Converters()


def one(batch: Batch) -> UploadItem:
    assert len(batch.items) == 1
    return batch.items[0]


def refusal(item: UploadItem) -> str:
    assert item.state == "refused"
    assert not item.included
    return item.findings[0].message


# ---------------------------------------------------------------- one file


def test_a_good_file_is_ready_and_keeps_its_bytes(app: App) -> None:
    batch = app.upload.uploads.read(demo("author"), [("vpn.md", GOOD.format("IT-1").encode())], "it/access")
    assert (one(batch).state, one(batch).path) == ("ready", "it/access/vpn.md")
    assert app.upload.uploads.files(batch) == {"it/access/vpn.md": GOOD.format("IT-1").encode()}


def test_a_bad_file_becomes_ready_when_its_text_is_fixed(app: App) -> None:
    batch = app.upload.uploads.read(demo("author"), [("a.md", b"---\nreview_due: soon\n---\n# A\n\nText.\n")])
    assert one(batch).findings[0].line == 2
    assert refusal(one(batch)).startswith("review_due is 'soon'")
    fixed = app.upload.uploads.edit(batch, 0, text=one(batch).text.replace("soon", "2030-01-01"))
    assert one(fixed).included


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("a.md", b"", "The file is empty."),
        ("a.md", b" \n ", "The file is empty."),
        ("a.md", b"\x89PNG\r\n\0\0", "not text"),
        ("a.md", b"caf\xe9", "not valid UTF-8"),
        ("a.md", "# A".encode("utf-16"), "NUL bytes"),
        ("a.md", b"x" * (50 * 1024 * 1024), "52,428,800 bytes"),
        ("a.exe", b"MZ", "Files of this kind"),
        ("README", b"text", "Files of this kind"),
        ("a.pdf", b"hello", "named .pdf and is none"),
        ("a.docx", b"hello", "damaged or locked"),
        ("a.zip", b"hello", "damaged"),
        ("a.zip", uploads.zipped({}), "The zip is empty."),
        ("../../etc/cron.md", b"# A\n\nText.\n", "'..'"),
        ("/etc/a.md", b"# A\n\nText.\n", "not a plain file"),
        ("a\0.md", b"# A\n\nText.\n", "not a plain file"),
        ("a\u202edm.md", b"# A\n\nText.\n", "not a plain file"),
        ("con.md", b"# A\n\nText.\n", "reserved"),
        ("x" * 250 + ".md", b"# A\n\nText.\n", "180 bytes"),
        ("a.md", b"---\na: [[[[[[[[1]]]]]]]]\n---\n", "nested"),
        ("a.md", b"---\ntitle: T\n---\n-----BEGIN PRIVATE " + b"KEY-----\n", "private key"),
    ],
)
def test_bad_input_gets_a_sentence(app: App, name: str, raw: bytes, sentence: str) -> None:
    batch = app.upload.uploads.read(demo("author"), [(name, raw)])
    assert sentence in refusal(one(batch))
    assert app.upload.uploads.files(batch) == {}


def test_a_text_in_an_older_encoding_can_be_taken_as_shown(app: App) -> None:
    batch = app.upload.uploads.read(demo("author"), [("cafe.txt", "# Café\n\nTwo crèmes.\n".encode("cp1252"))])
    assert "not valid UTF-8" in refusal(one(batch))
    taken = app.upload.uploads.edit(batch, 0, text=one(batch).text)
    assert one(taken).included
    assert app.upload.uploads.files(taken) == {"cafe.md": "# Café\n\nTwo crèmes.\n".encode()}


def test_marks_and_line_ends_are_made_harmless_and_said(app: App) -> None:
    batch = app.upload.uploads.read(demo("author"), [("a.md", b"\xef\xbb\xbf# A\r\n\r\nText.\r\n")])
    assert one(batch).text == "# A\n\nText.\n"
    assert {"encoding"} <= {finding.rule for finding in one(batch).findings}


def test_nested_quotes_and_scripts_do_not_stop_a_document(app: App) -> None:
    raw = b"# A\n\n" + b">" * 10_000 + b" x\n\n<script>alert(1)</script> [x](javascript:alert(1))\n"
    assert one(app.upload.uploads.read(demo("author"), [("a.md", raw)])).included


# ---------------------------------------------------------------- many


def test_in_a_batch_of_fifty_three_bad_files_do_not_hold_up_the_others(app: App) -> None:
    files = [(f"d{n}.md", GOOD.format(f"X-{n}").encode()) for n in range(50)]
    files[7], files[20], files[33] = (
        ("d7.md", b"\xff\xfe"),
        ("../d20.md", b"# D\n\nText.\n"),
        ("d33.md", b"---\nid: a b\n---\nT\n"),
    )
    app.upload.uploads.changes = changes = ProposedChanges()
    made, left = app.upload.uploads.submit(
        demo("author"), app.upload.uploads.read(demo("author"), files, "it"), "Fifty", "why"
    )
    assert (made.id, len(changes.made[0][2]), changes.made[0][3]) == ("c1", 47, "why")
    assert [item.name for item in left.items] == ["d7.md", "../d20.md", "d33.md"]
    assert all(refusal(item) for item in left.items)
    assert app.knowledge.repository.head() == ""


def test_names_that_differ_only_in_case_or_form_are_refused(app: App) -> None:
    put(app, {"it/Vpn.md": "# V\n\nText.\n"})
    batch = app.upload.uploads.read(
        demo("author"),
        [("vpn.md", b"# A\n\nOne.\n"), ("Caf\u00e9.md", b"# B\n\nTwo.\n"), ("cafe\u0301.md", b"# C\n\nThree.\n")],
        "it",
    )
    assert "it/Vpn.md already" in refusal(batch.items[0])
    assert all("differs only in case" in refusal(item) for item in batch.items[1:])
    assert app.upload.uploads.remove(batch, 1).items[1].included


def test_links_between_documents_of_one_upload_are_not_broken(app: App) -> None:
    files = [("a.md", b"# A\n\n[b](b.md#two)\n"), ("b.md", b"# B\n\n## Two\n\n[a](a.md) [c](c.md)\n")]
    batch = app.upload.uploads.read(demo("author"), files, "it")
    broken = [(item.name, finding.line) for item in batch.items for finding in item.findings if finding.rule == "links"]
    assert broken == [("b.md", 5)]


def test_of_two_documents_with_one_id_the_second_is_refused(app: App) -> None:
    batch = app.upload.uploads.read(
        demo("author"), [("a.md", GOOD.format("X-1").encode()), ("b.md", GOOD.format("X-1").encode() + b"More.\n")]
    )
    states = [item.state for item in batch.items]
    assert states[1] == "refused"
    assert "belongs to a.md" in refusal(batch.items[1])


# ---------------------------------------------------------------- zips


def test_a_zip_keeps_its_folders_and_leaves_clutter_behind(app: App) -> None:
    raw = uploads.zipped(
        {"it/a.md": "# A\n\nOne.\n", "it/deep/b.md": "# B\n\nTwo.\n", "__MACOSX/it/._a.md": "x", ".DS_Store": "x"}
    )
    batch = app.upload.uploads.read(demo("author"), [("kb.zip", raw)], "new")
    assert [item.path for item in batch.items] == ["new/it/a.md", "new/it/deep/b.md"]


def test_bad_entries_of_a_zip_are_refused_alone(app: App) -> None:
    files = {
        "ok.md": "# Ok\n\nText.\n",
        "../up.md": "# U\n\nText.\n",
        "/abs.md": "# A\n\nText.\n",
        "..\\win.md": "# W\n\nText.\n",
        "in.zip": uploads.zipped({"x.md": "x"}),
        "prog.exe": b"MZ",
    }
    batch = app.upload.uploads.read(demo("author"), [("kb.zip", uploads.zipped(files))])
    assert [item.path for item in batch.included] == ["ok.md"]
    assert len(batch.items) == 6


def test_links_in_a_zip_are_not_followed(app: App) -> None:
    link, good = app.upload.uploads.read(demo("author"), [("kb.zip", uploads.link_zip())]).items
    assert "links are not followed" in refusal(link)
    assert "root:" not in link.text
    assert good.included


def test_a_locked_zip_says_so(app: App) -> None:
    assert "password" in refusal(one(app.upload.uploads.read(demo("author"), [("kb.zip", uploads.locked_zip())])))


def test_bombs_are_refused_by_ratio_number_total_and_list(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = uploads.zipped({"big.md": b"a" * 5_000_000, "ok.md": "# Ok\n\nText.\n"})
    bomb, good = app.upload.uploads.read(demo("author"), [("kb.zip", ratio)]).items
    assert "zip bomb" in refusal(bomb)
    assert good.included
    many = uploads.zipped({f"{n}.md": "x" for n in range(501)})
    assert "501 files" in refusal(one(app.upload.uploads.read(demo("author"), [("kb.zip", many)])))
    assert "far more than 500" in refusal(
        one(app.upload.uploads.read(demo("author"), [("kb.zip", uploads.crowded_zip(2**31))]))
    )
    monkeypatch.setattr(archives, "MAX_TOTAL", 1024 * 1024)
    total = uploads.zipped({f"{n}.md": bytes(range(1, 256)) * 2000 for n in range(3)})
    assert "unpacks to more than 1 MB" in refusal(one(app.upload.uploads.read(demo("author"), [("kb.zip", total)])))


def test_reading_a_zip_stops_at_the_limit_whatever_its_header_says() -> None:
    raw = bytearray(uploads.zipped({"a.md": b"a" * 300_000}))
    at = raw.index(b"PK\x01\x02")
    raw[at + 24 : at + 28] = (10).to_bytes(4, "little")  # the size it claims
    assert all(len(member.raw) <= 300_000 for member in archives.unpack(bytes(raw)))


# ---------------------------------------------------------------- other formats


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        (
            "Badge Policy.docx",
            uploads.docx(),
            ["# Badge policy", "within 2 hours", "| Site | Hours |", "| CMH2 | 06 to 22 |"],
        ),
        ("Limits.xlsx", uploads.xlsx(), ["# Limits", "| Role | Limit |", "| Director | 25000 |"]),
        ("Dock.pptx", uploads.pptx(), ["# Dock safety\n", "## Doors", "| Door | Lock |"]),
        ("badge.pdf", uploads.pdf(), ["# badge", "Report a lost badge within 2 hours."]),
        ("badge.html", uploads.HTML, ["# Badges", "Report within 2 hours.", "| CMH2 | 06 to 22 |"]),
    ],
)
def test_other_formats_become_markdown_with_their_tables(
    app: App, conversion: Converters, name: str, raw: bytes, expected: list[str]
) -> None:
    app.upload.uploads.converter = conversion
    item = one(app.upload.uploads.read(demo("author"), [(name, raw)]))
    assert item.included, item.findings
    assert item.converted
    for text in expected:
        assert text in item.text
    assert "alert" not in item.text
    assert item.unseen
    assert item.state == "needs attention"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.docx", uploads.zipped({"x.txt": "not word"})),
        ("a.xlsx", uploads.zipped({"xl/workbook.xml": "<x/>"})),
        ("a.pptx", uploads.docx()),
        ("a.pdf", b"%PDF-1.4\n" + b"nonsense " * 50),
        ("a.pdf", uploads.pdf()[:200]),
        ("a.docx", uploads.zipped({"word/document.xml": b"a" * 40_000_000})),
        ("a.pdf", uploads.pdf("")),
    ],
)
def test_damaged_files_are_refused_and_the_next_one_is_converted(
    app: App, conversion: Converters, name: str, raw: bytes
) -> None:
    app.upload.uploads.converter = conversion
    bad, good = app.upload.uploads.read(demo("author"), [(name, raw), ("ok.html", uploads.HTML)]).items
    assert refusal(bad).endswith(".")
    assert good.included


# ---------------------------------------------------------------- duplicates


def test_the_same_text_at_the_same_place_is_dropped_by_itself(app: App) -> None:
    put(app, {"it/a.md": "# A\n\nText.\n"})
    item = one(app.upload.uploads.read(demo("author"), [("a.md", b"# A\r\n\r\nText.\r\n")], "it"))
    assert (item.duplicates[0].kind, item.choice, item.included) == ("same content", "drop", False)


def test_a_new_version_waits_for_a_choice_and_each_choice_does_what_it_says(app: App) -> None:
    put(app, {"it/a.md": GOOD.format("X-1")})
    newer = GOOD.format("X-1").replace("number", "figure").encode()
    batch = app.upload.uploads.read(demo("author"), [("a.md", newer)], "it")
    assert (one(batch).duplicates[0].kind, one(batch).undecided) == ("same path", True)
    assert app.upload.uploads.files(batch) == {}
    assert app.upload.uploads.files(app.upload.uploads.choose(batch, 0, "replace")) == {"it/a.md": newer}
    assert app.upload.uploads.files(app.upload.uploads.choose(batch, 0, "drop")) == {}
    kept = app.upload.uploads.choose(batch, 0, "keep")
    assert one(kept).path == "it/a-2.md"
    assert "belongs to it/a.md" in refusal(one(kept))
    other = app.upload.uploads.edit(kept, 0, text=newer.decode().replace("X-1", "X-2"))
    assert "it/a-2.md" in {item.place for item in other.items}


def test_a_document_that_moved_can_replace_the_one_with_its_id(app: App) -> None:
    put(app, {"old/place.md": GOOD.format("X-1")})
    batch = app.upload.uploads.read(
        demo("author"), [("new.md", b"---\nid: X-1\ntitle: N\n---\n# N\n\nAll other words.\n")], "it"
    )
    assert [duplicate.kind for duplicate in one(batch).duplicates] == ["same id"]
    assert list(app.upload.uploads.files(app.upload.uploads.choose(batch, 0, "replace"))) == ["old/place.md"]


def test_two_copies_in_one_upload_are_told(app: App) -> None:
    text = "# A\n\n" + " ".join(f"word{n}" for n in range(40)) + "\n"
    batch = app.upload.uploads.read(demo("author"), [("a.md", text.encode()), ("b.md", text.encode())])
    assert all(item.duplicates[0].batch for item in batch.items)
    with pytest.raises(BadInput, match="Only a document of the knowledge base"):
        app.upload.uploads.choose(batch, 0, "replace")
    assert len(app.upload.uploads.choose(app.upload.uploads.choose(batch, 0, "keep"), 1, "drop").included) == 1


def test_near_copies_are_found_with_the_passages_that_match(kb_app: App) -> None:
    path = "supply-chain/safety/dock-safety-cmh2.md"
    text = (ROOT / "kb" / path).read_text().replace("CMH2", "ATL4").replace("\nid: ", "\nformer: ")
    item = one(
        kb_app.upload.uploads.read(demo("author"), [("dock-safety-atl4.md", text.encode())], "supply-chain/safety")
    )
    first = item.duplicates[0]
    assert (first.kind, first.path) == ("near copy", path)
    assert first.score > 0.9
    assert first.pairs
    assert first.pairs[0].mine != first.pairs[0].theirs or first.pairs[0].score == 1.0


def test_a_text_that_says_the_same_in_its_own_order_is_found_by_meaning(kb_app: App) -> None:
    source = kb_app.knowledge.documents.show("BSA-SOP-002")
    reworded = " ".join(source.text[source.body :].split()).replace(" must ", " has to ").replace(" the ", " ")
    sentences = [part.strip() for part in reworded.replace("#", "").replace("|", " ").split(". ") if len(part) > 40]
    parts = "\n\n".join(f"## Part {n}\n\n{sentence}." for n, sentence in enumerate(sentences[:12]))
    batch = kb_app.upload.uploads.read(demo("author"), [("sar.md", f"# {source.title}\n\n{parts}\n".encode())])
    found = kb_app.upload.uploads.meaning(batch, 0).items[0].duplicates
    assert any("sar-filing" in duplicate.path for duplicate in found)


def test_what_is_not_there_has_no_duplicates(kb_app: App) -> None:
    text = (
        "# Espresso machine\n\nDescale it every month with citric acid and rinse twice.\n\n## Beans\n\nStore them "
        "dark.\n"
    )
    item = one(kb_app.upload.uploads.read(demo("author"), [("espresso.md", text.encode())]))
    assert item.duplicates == ()
    assert item.probed == item.passages > 0, "every passage was compared"


def test_a_passage_about_the_same_thing_is_shown_and_asks_for_no_decision(kb_app: App) -> None:
    rule = (
        "If the seal of an inbound trailer is broken, hold the load at the door and report it to dispatch in 30 "
        "minutes."
    )
    text = f"# Trailer seals\n\n## Broken seals\n\n{rule} Do not unload until the shipper has answered.\n"
    item = one(kb_app.upload.uploads.read(demo("author"), [("seals.md", text.encode())]))
    first = item.duplicates[0]
    assert (first.kind, first.path) == ("close passage", "supply-chain/receiving/inbound-receiving.md")
    assert "seal" in first.pairs[0].theirs
    assert item.included
    assert not item.undecided
    with pytest.raises(BadInput, match="Only a document"):
        kb_app.upload.uploads.choose(Batch((item,)), 0, "replace")


def test_a_path_that_was_taken_meanwhile_waits_for_a_choice(app: App) -> None:
    batch = app.upload.uploads.read(demo("author"), [("a.md", b"# A\n\nText.\n")], "it")
    assert one(batch).included
    put(app, {"it/a.md": "# Other\n\nOther.\n"})
    app.upload.uploads.changes = changes = ProposedChanges()
    with pytest.raises(BadInput, match="No document is ready"):
        app.upload.uploads.submit(demo("author"), batch, "T")
    assert changes.made == []


# ---------------------------------------------------------------- handing on


def test_a_conversion_that_nobody_looked_at_is_not_submitted(app: App, conversion: Converters) -> None:
    app.upload.uploads.converter, app.upload.uploads.changes = conversion, ProposedChanges()
    kept: dict[str, bytes] = {}
    batch = app.upload.uploads.read(
        demo("author"), [("badge.html", uploads.HTML)], "it", keep=lambda digest, raw: kept.update({digest: raw})
    )
    assert kept == {one(batch).original: uploads.HTML}
    with pytest.raises(BadInput, match=r"Compare it/badge\.md with the original first"):
        app.upload.uploads.submit(demo("author"), batch, "T")
    change, left = app.upload.uploads.submit(demo("author"), look_at(batch, 0, "Ann"), "T")
    assert (change.id, left.items) == ("c1", ())


def test_a_folder_for_all_moves_items_and_their_pictures_and_leaves_typed_paths(app: App) -> None:
    files = {"doc/a.md": "# A\n\n![Map](img/map.png)\n\nSee [b](b.md).\n", "doc/b.md": "# B\n\nText.\n"}
    raw = uploads.zipped({**files, "doc/img/map.png": uploads.png()})
    batch = app.upload.uploads.read(demo("author"), [("kb.zip", raw)])
    pinned = app.upload.uploads.edit(batch, 1, path="here/b.md")
    moved = app.upload.uploads.move(app.upload.uploads.move(pinned, "it"), "hr/new")
    assert [item.path for item in moved.items] == ["hr/new/doc/a.md", "here/b.md"]
    assert moved.items[0].text == "# A\n\n![Map](img/map.png)\n\nSee [b](../../../here/b.md).\n"
    assert [picture.path for picture in moved.pictures] == ["hr/new/doc/img/map.png"]
    assert "hr/new/doc/img/map.png" in app.upload.uploads.files(moved)


def test_a_reader_may_not_submit_and_a_change_needs_a_title(app: App) -> None:
    app.upload.uploads.changes = changes = ProposedChanges()
    batch = app.upload.uploads.read(demo("author"), [("a.md", b"# A\n\nText.\n")])
    with pytest.raises(Refused, match="Only authors and above may propose a change"):
        app.upload.uploads.submit(demo("reader"), batch, "T")
    with pytest.raises(BadInput, match="title"):
        app.upload.uploads.submit(demo("author"), batch, "  ")
    with pytest.raises(BadInput, match="No document is ready"):
        app.upload.uploads.submit(demo("author"), Batch(), "T")
    app.upload.uploads.changes = None
    with pytest.raises(Unavailable):
        app.upload.uploads.submit(demo("author"), batch, "T")
    assert changes.made == []


def test_pasted_text_gets_a_path_from_its_name(app: App) -> None:
    batch = app.upload.uploads.add(
        Batch(), app.upload.uploads.paste(demo("author"), "Lost badge!", "# Lost badge\r\n\r\nCall 4400.\r\n", "it")
    )
    assert app.upload.uploads.files(batch) == {"it/lost-badge.md": b"# Lost badge\n\nCall 4400.\n"}
    with pytest.raises(BadInput):
        app.upload.uploads.paste(demo("author"), "", "text")


def test_check_prints_findings_and_duplicates_and_exits_1_when_a_file_is_refused(
    app: App, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    from core.entrypoints.cli import main

    monkeypatch.setattr(session, "open_app", lambda settings: app)
    put(app, {"a.md": "# A\n\nText.\n"})
    (tmp_path / "a.md").write_text("# A\n\n### Far\n\nOther.\n")
    (tmp_path / "bad.md").write_bytes(b"\xff")
    assert main(["check", str(tmp_path / "a.md"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["items"][0]
    assert {key: shown["findings"][0][key] for key in ("rule", "line")} == {"rule": "headings", "line": 3}
    assert shown["duplicates"][0]["kind"] == "same path"
    assert main(["check", str(tmp_path / "a.md"), str(tmp_path / "bad.md")]) == 1
    assert "not valid UTF-8" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "none.md")]) == 1


def test_import_takes_a_zip_too_and_says_what_it_refused(
    app: App, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    from core.entrypoints.cli import main

    monkeypatch.setattr(session, "open_app", lambda settings: app)
    put(app, {"it/a.md": GOOD.format("X-1"), "it/same.md": GOOD.format("X-3")})
    newer = GOOD.format("X-1").replace("number", "figure")
    files = {"a.md": newer, "b.md": GOOD.format("X-2"), "../c.md": "# C\n\nText.\n", "same.md": GOOD.format("X-3")}
    (tmp_path / "kb.zip").write_bytes(uploads.zipped(files))
    assert main(["import", str(tmp_path / "kb.zip"), "--into", "it", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["added"], done["edited"], done["unchanged"]) == (["it/b.md"], ["it/a.md"], ["it/same.md"])
    assert [one["path"] for one in done["refused"]] == ["it/../c.md"]
    assert app.knowledge.documents.show("X-1").text == newer


def test_upload_submits_files_for_review_and_names_what_stays_behind(
    app: App,
    conversion: Converters,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import json

    from core.entrypoints.cli import main

    monkeypatch.setattr(session, "open_app", lambda settings: app)
    put(app, {"it/a.md": GOOD.format("X-1")})
    app.people.accounts.seed()
    app.upload.uploads.converter = conversion
    (tmp_path / "Badge.html").write_bytes(uploads.HTML)
    (tmp_path / "a.md").write_text(GOOD.format("X-1").replace("number", "figure"))
    both = [str(tmp_path / "Badge.html"), str(tmp_path / "a.md"), "--into", "it", "--as", "author"]
    assert main(["upload", *both, "--title", "Badges"]) == 1
    assert "Compare it/badge.md with the original first" in capsys.readouterr().err
    assert main(["upload", *both, "--title", "Badges", "--looked", "--owner", "Ann", "--type", "sop", "--json"]) == 1
    done = json.loads(capsys.readouterr().out)
    assert (done["change"], done["state"]) == (1, "in review")
    assert [one["name"] for one in done["left_out"]] == ["a.md"]
    text = app.knowledge.repository.read(app.reviews.changes.get(1).head, "it/badge.md").decode()
    assert text.startswith("---\nowner: Ann\ndoc_type: sop\n---\n# Badges\n")
