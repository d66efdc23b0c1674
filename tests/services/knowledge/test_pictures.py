"""Pictures beside documents: what may come in, where it lives, and that it goes wherever its document goes."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from core.adapters.conversion.converter import Converters
from core.bootstrap import App
from core.chunking import chunker, embedded_text
from core.chunking.chunker import Tools
from core.curation.document import size_limits
from core.curation.pictures import picture_files, svg
from core.curation.review.diffs import rendered_diff
from core.curation.text.render import plain, render, with_pictures
from core.curation.upload import conversions
from core.errors import BadInput
from core.services.reviews.authoring import moved, restored
from core.types import ChunkerSpec, Document
from tests.conftest import ROOT, demo, put, serve
from tests.services.team.test_sessions import sign_in, visitor
from tests.support import apptest, uploads
from tests.support.apptest import page_of

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


@pytest.fixture(scope="module")
def conversion() -> Converters:
    """Its readers end with the session, after whoever needs them next."""
    return Converters()


def drawn(kind: str, size: tuple[int, int] = (3, 2)) -> bytes:
    box = io.BytesIO()
    Image.new("RGB", size, "teal").save(box, kind)
    return box.getvalue()


# ---------------------------------------------------------------- what may come in


@pytest.mark.parametrize(
    ("name", "kind"), [("a.png", "PNG"), ("a.JPG", "JPEG"), ("a.jpeg", "JPEG"), ("a.gif", "GIF"), ("a.webp", "WEBP")]
)
def test_pictures_of_every_kind_are_kept_as_they_are(name: str, kind: str) -> None:
    raw = drawn(kind)
    assert picture_files.checked(name, raw) == raw


@pytest.mark.parametrize(
    ("name", "raw", "sentence"),
    [
        ("a.png", drawn("JPEG"), "named .png and is a jpeg picture"),
        ("a.jpg", b"<html><script>alert(1)</script></html>", "named .jpg and is no picture"),
        ("a.png", b"MZ" + b"\0" * 80, "no picture of a known kind"),
        ("a.svg", b"<html><svg></svg></html>", "no picture of a known kind"),
        ("a.bmp", drawn("BMP"), "no picture that can be kept"),
        ("a.png", b"", "empty"),
        ("a.png", uploads.png()[:40], "damaged"),
        ("a.gif", uploads.gif()[:-1], "damaged"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * (size_limits.PICTURE_BYTES + 1), "the limit is 5 MB"),
        ("a.gif", uploads.gif(65_000, 65_000), "65,000 by 65,000 pixels"),
        ("a.gif", uploads.gif(frames=501), "more than 500 frames"),
    ],
)
def test_what_is_no_picture_or_too_much_is_refused_with_the_reason(name: str, raw: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        picture_files.checked(name, raw)


def test_a_small_file_with_a_huge_picture_is_refused_by_its_header() -> None:
    bomb = bytearray(uploads.png())
    bomb[16:24] = struct.pack(">II", 30_000, 30_000)
    with pytest.raises(BadInput, match="30,000 by 30,000"):
        picture_files.checked("bomb.png", bytes(bomb))


def test_a_gif_frame_that_is_larger_than_its_screen_counts_as_large() -> None:
    raw = bytearray(uploads.gif())
    at = raw.index(b",")
    raw[at + 5 : at + 9] = struct.pack("<HH", 60_000, 60_000)
    with pytest.raises(BadInput, match="60,000"):
        picture_files.checked("a.gif", bytes(raw))


@pytest.mark.parametrize(
    ("name", "raw"), [("a.png", uploads.png()), ("a.gif", uploads.gif()), ("a.webp", drawn("WEBP"))]
)
def test_what_follows_a_picture_is_cut_off(name: str, raw: bytes) -> None:
    hidden = uploads.zipped({"x.html": "<script>alert(1)</script>"})
    assert picture_files.checked(name, raw + hidden) == raw


def photographed(kind: str, **more: Any) -> bytes:
    """A picture with a place, a camera and a remark in it, lying on its side."""
    picture, box = Image.effect_noise((40, 24), 60).convert("RGB"), io.BytesIO()
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x9286] = 6, "SECRET camera", "SECRET remark"
    exif.get_ifd(0x8825)[1] = "SECRET place"
    words = PngImagePlugin.PngInfo()
    words.add_text("Author", "SECRET author")
    picture.save(
        box,
        kind,
        **{"exif": exif, "comment": b"SECRET words", "xmp": b"<x>SECRET</x>", **more},
        **({"pnginfo": words} if kind == "PNG" else {}),
    )
    return box.getvalue()


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.png", photographed("PNG")),
        ("a.jpg", photographed("JPEG")),
        ("b.jpg", photographed("JPEG", progressive=True) + b"SECRET film that a phone appends"),
        ("a.gif", photographed("GIF")),
        ("a.webp", photographed("WEBP", lossless=True)),
    ],
)
def test_pictures_keep_their_pixels_and_tell_nothing_of_people(name: str, raw: bytes) -> None:
    assert b"SECRET" in raw
    kept = picture_files.checked(name, raw)
    assert b"SECRET" not in kept
    before, after = (Image.open(io.BytesIO(data)) for data in (raw, kept))
    assert after.convert("RGB").tobytes() == before.convert("RGB").tobytes()
    assert picture_files.checked(name, kept) == kept
    if name.endswith(".jpg"):
        assert dict(after.getexif()) == {0x0112: 6}


def test_an_animation_still_repeats_after_its_remarks_are_taken_out() -> None:
    frames, box = [Image.new("RGB", (4, 4), shade) for shade in ("red", "green", "blue")], io.BytesIO()
    frames[0].save(box, "GIF", save_all=True, append_images=frames[1:], loop=0, duration=50, comment=b"SECRET")
    kept = picture_files.checked("a.gif", box.getvalue())
    assert b"SECRET" not in kept
    shown = Image.open(io.BytesIO(kept))
    assert (shown.n_frames, shown.info["loop"], shown.info["duration"]) == (3, 0, 50)


# ---------------------------------------------------------------- drawings

HOSTILE = [
    "<script>alert(1)</script>",
    "<g><script xlink:href='https://evil.example/x.js'/></g>",
    "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><iframe "
    "src='javascript:alert(1)'/></body></foreignObject>",
    "<rect onclick='alert(1)' ONLOAD='alert(1)' width='1' height='1'/>",
    "<a xlink:href='javascript:alert(1)'><text>go</text></a>",
    "<image xlink:href='https://evil.example/x.png'/>",
    "<image href='data:image/svg+xml;base64,PHN2Zz4='/>",
    "<image href='data:text/html,alert'/>",
    "<use href='https://evil.example/x.svg#a'/>",
    "<rect style='fill:url(https://evil.example/x)'/>",
    "<rect style='fill: u\\72l(https://evil.example/x)'/>",
    "<rect fill='url(https://evil.example/#x)'/>",
    "<style>@import url(https://evil.example/x.css);</style>",
    "<style>rect { background: u/**/rl(https://evil.example) }</style>",
    "<style>@font-face { font-family: x; src: url(https://evil.example) }</style>",
    "<animate attributeName='href' values='javascript:alert(1)'/>",
    "<set attributeName='onload' to='alert(1)'/>",
    "<handler xmlns:ev='http://www.w3.org/2001/xml-events' ev:event='load'>alert(1)</handler>",
    "<feImage href='https://evil.example/x.png'/>",
    "<rect xmlns:x='https://evil.example' x:onload='alert(1)'/>",
    "<!-- alert(1) --><?xml-stylesheet href='https://evil.example/x.css'?>",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_a_drawing_keeps_nothing_that_runs_or_loads(part: str) -> None:
    kept = svg.sanitised(SVG.format(part + "<circle r='4'/>").encode()).decode()
    assert '<circle r="4" />' in kept
    for word in ("alert", "evil.example", "script", "onload", "foreignObject", "@import", "animate", "text/html"):
        assert word.lower() not in kept.lower()


@pytest.mark.parametrize(
    "raw",
    [
        b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><svg '
        b'xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>',
        b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg '
        b'xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>',
        b'<svg xmlns="http://www.w3.org/2000/svg"><g></svg>',
        b'<svg xmlns="https://evil.example"/>',
        SVG.format("<g>" * 70 + "</g>" * 70).encode(),
        SVG.format("<g id='a'><use href='#a'/></g>").encode(),
        SVG.format(
            "".join(f"<g id='a{n}'>" + f"<use href='#a{n + 1}'/>" * 10 + "</g>" for n in range(9)) + "<g id='a9'/>"
        ).encode(),
        SVG.format(
            "".join(f"<pattern id='p{n}'>" + f"<rect fill='url(#p{n + 1})'/>" * 10 + "</pattern>" for n in range(9))
            + "<pattern id='p9'/>"
        ).encode(),
    ],
)
def test_a_drawing_that_hides_or_repeats_without_end_is_refused(raw: bytes) -> None:
    with pytest.raises(BadInput, match="drawing"):
        picture_files.checked("a.svg", raw)


def test_an_ordinary_drawing_looks_the_same_after_it_was_written_anew() -> None:
    inside = (
        "<defs><linearGradient id='g'><stop offset='0' stop-color='red'/></linearGradient></defs>"
        "<style>.a { fill: url(#g); font-weight: bold }</style><g transform='scale(2)'>"
        "<rect class='a' width='9' height='9' style='stroke:#000;stroke-width:2px'/><text x='1'>Dock &amp; "
        "door</text></g>"
        f"<image href='data:image/png;base64,{base64.b64encode(uploads.png()).decode()}'/>"
    )
    kept = svg.sanitised(SVG.format(inside).encode()).decode()
    for part in (
        "url(#g)",
        "font-weight: bold",
        "stroke-width:2px",
        "Dock &amp; door",
        "data:image/png;base64,",
        'transform="scale(2)"',
    ):
        assert part in kept
    assert svg.sanitised(kept.encode()) == kept.encode()


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.png", "..\\..\\x.png", "C:\\pictures\\Map.PNG", "a\x00b.png", "  .svg"],
)
def test_a_picture_gets_a_plain_name_in_the_folder_of_its_document(name: str) -> None:
    path = picture_files.place("it/access/vpn.md", name)
    assert path.startswith("it/access/vpn.assets/")
    assert ".." not in path
    assert path.count("/") == 3


# ---------------------------------------------------------------- converted files


def test_a_word_file_brings_its_title_its_tables_and_its_pictures(app: App, conversion: Converters) -> None:
    app.upload.uploads.converter = conversion
    batch = app.upload.uploads.read(demo("author"), [("SC-SOP-031 (Rev C FINAL v2).docx", uploads.rich_docx())], "dock")
    item, folder = batch.items[0], "sc-sop-031-rev-c-final-v2.assets"
    assert item.text.startswith("# Dock doors\n\n## Scope\n")
    assert "| Kind | Rule |\n| --- | --- |\n| reefers \\| containers | close it<br>tell dispatch |\n" in item.text
    assert "| all doors are locked at night |  |" in item.text
    assert f"![Dock door 14 with its chock]({folder}/picture-1.png)" in item.text
    assert [(part.kind, part.line, part.words) for part in item.to_check] == [
        ("table", 5, "Kind, Rule"),
        ("picture", 10, "Dock door 14 with its chock"),
    ]
    assert "1 merged cell" in item.to_check[0].note
    assert app.upload.uploads.files(batch)[f"dock/{folder}/picture-1.png"] == uploads.png()


def test_a_pdf_says_on_which_page_its_tables_pictures_and_scans_are(app: App, conversion: Converters) -> None:
    app.upload.uploads.converter = conversion
    (item,) = app.upload.uploads.read(demo("author"), [("hours.pdf", uploads.mixed_pdf())]).items
    title, table, picture, scan = item.to_check
    assert [(part.kind, part.page) for part in item.to_check] == [
        ("title", 0),
        ("table", 1),
        ("picture", 1),
        ("scan", 2),
    ]
    assert (table.words, table.note) == ("Site, Hours", "")
    lines = item.text.split("\n")
    assert [lines[part.line - 1] for part in (title, table)] == ["# hours", "| Site | Hours |"]
    assert [lines[part.line - 1] for part in (picture, scan)] == [
        "![](hours.assets/picture-1.png)",
        "![Scanned page 2](hours.assets/picture-2.jpg)",
    ]
    assert len(app.upload.uploads.read(demo("author"), [("hours.pdf", uploads.mixed_pdf())]).pictures) == 2


def test_a_table_that_a_pdf_reader_guessed_is_named_as_a_guess() -> None:
    text = "# Hours\n\n| Site | Hours |\n| --- | --- |\n| CMH2 | 6 |\n"
    facts = (conversions.PartFacts(page=7, guessed=True),)
    (part,) = conversions.tidied(conversions.Conversion(text, tables=facts), ".pdf", "x").to_check
    assert (part.kind, part.page, part.line, part.words) == ("table", 7, 3, "Site, Hours")
    assert "guessed" in part.note


def test_pictures_of_a_page_are_taken_out_or_said_to_be_left_out(conversion: Converters) -> None:
    inside = base64.b64encode(uploads.png()).decode()
    page = (
        f"<title>Doors</title><nav>Menu</nav><p>A <img alt='Door [14]' src='data:image/png;base64,{inside}'></p>"
        "<img alt='Old drawing' src='data:image/x-emf;base64,AAAA'><img src='img/gate.png' alt='Gate'>"
        "<a href='javascript:alert(1)'>click</a><table><tr><th "
        "colspan=2>Both</th></tr><tr><td>a|b</td><td>c</td></tr></table>"
    )
    found = conversion.convert(".html", page.encode())
    assert "![Door 14](picture-1.png)" in found.text
    assert "(Old drawing)" in found.text
    assert "![Gate](img/gate.png)" in found.text
    assert "| Both |  |\n| --- | --- |\n| a\\|b | c |" in found.text
    assert not any(word in found.text for word in ("data:", "javascript", "Menu"))
    assert (found.title, [part.kind for part in found.to_check]) == ("Doors", ["left out"])
    assert found.tables == (conversions.PartFacts(merged=1),)


def test_a_picture_inside_a_text_becomes_a_file_beside_it(app: App) -> None:
    inside = f"# A\n\n![Map](data:image/png;base64,{base64.b64encode(uploads.png()).decode()})\n"
    batch = app.upload.uploads.read(demo("author"), [("a.md", inside.encode())])
    assert batch.items[0].text == "# A\n\n![Map](a.assets/picture-1.png)\n"
    assert app.upload.uploads.files(batch)["a.assets/picture-1.png"] == uploads.png()


def test_a_zip_brings_the_pictures_that_its_documents_show_and_names_the_others(app: App) -> None:
    box = uploads.zipped(
        {
            "hb/a.md": '# A\n\n![Map](img/map.png)\n\n<img src="img/Photo.JPG" alt="Gate">\n\n![Bad](img/bad.png)\n',
            "hb/img/map.png": uploads.png(),
            "hb/img/Photo.JPG": drawn("JPEG"),
            "hb/img/other.png": uploads.png(),
            "hb/img/bad.png": b"no picture",
        }
    )
    batch = app.upload.uploads.read(demo("author"), [("hb.zip", box)], "in")
    assert {picture.path for picture in batch.pictures} == {"in/hb/img/map.png", "in/hb/img/Photo.JPG"}
    assert {name: why.split(".")[0] for name, why in batch.left_out} == {
        "hb/img/other.png": "No document of this upload shows this picture",
        "hb/img/bad.png": "The file is named ",
    }
    moved = app.upload.uploads.edit(batch, 0, path="deep/er/b.md")
    assert "![Map](../../in/hb/img/map.png)" in moved.items[0].text
    assert set(app.upload.uploads.files(moved)) == {"deep/er/b.md", "in/hb/img/map.png", "in/hb/img/Photo.JPG"}


def test_pictures_of_a_converted_file_follow_when_its_path_is_changed(app: App, conversion: Converters) -> None:
    app.upload.uploads.converter = conversion
    batch = app.upload.uploads.read(demo("author"), [("Doors.docx", uploads.rich_docx())])
    moved = app.upload.uploads.edit(batch, 0, path="dock/safety/doors-2.md")
    assert "(doors-2.assets/picture-1.png)" in moved.items[0].text
    assert "dock/safety/doors-2.assets/picture-1.png" in app.upload.uploads.files(moved)


# ---------------------------------------------------------------- in git, wherever the document goes

PNG, OTHER = uploads.png(), uploads.png(shade=9)
SHOWS = b"# VPN\n\n![How the tunnel runs](vpn.assets/map.png)\n\n![Floor](../shared/floor.png)\n"


@pytest.fixture
def shown(app: App) -> App:
    """A document with a picture of its own and one that another document shows too."""
    files = {"it/vpn.md": SHOWS, "it/vpn.assets/map.png": PNG, "shared/floor.png": OTHER}
    files["hr/plan.md"] = b"# Plan\n\n![Floor](../shared/floor.png)\n\n[VPN](../it/vpn.md)\n"
    app.knowledge.repository.commit("main", files, demo("admin").person, "Start")
    app.reviews.merger.repair()
    return app


def merged(app: App, number: int) -> None:
    app.reviews.changes.submit(demo("author"), number)
    app.reviews.discussion.approve(demo("reviewer"), number)
    app.reviews.merger.merge(demo("author"), number)


def stored(app: App) -> dict[str, bytes]:
    store = app.knowledge.repository
    return {entry.path: store.read(store.head(), entry.path) for entry in store.pictures(store.head())}


def test_a_change_adds_replaces_and_removes_a_picture_and_the_reader_of_documents_stays_calm(shown: App) -> None:
    new = {
        "it/vpn.md": SHOWS + b"\n![Box](vpn.assets/box.png)\n",
        "it/vpn.assets/box.png": OTHER,
        "it/vpn.assets/map.png": OTHER,
    }
    change = shown.reviews.changes.propose(demo("author"), "Pictures", new)
    kinds = {edit.path: edit.kind for edit in change.documents}
    assert kinds == {"it/vpn.md": "edited", "it/vpn.assets/box.png": "added", "it/vpn.assets/map.png": "edited"}
    assert not [finding for finding in change.findings if finding.rule == "pictures"]
    merged(shown, change.id)
    assert stored(shown)["it/vpn.assets/map.png"] == OTHER
    assert [document.path for document in shown.knowledge.documents.all()] == ["hr/plan.md", "it/vpn.md"]
    gone = shown.reviews.changes.propose(demo("author"), "Less", {"it/vpn.assets/box.png": None})
    assert [finding.message for finding in gone.findings] == []  # the text itself is not part of this change
    merged(shown, gone.id)
    assert "it/vpn.assets/box.png" not in stored(shown)
    missing = shown.reviews.changes.propose(demo("author"), "Again", {"it/vpn.md": new["it/vpn.md"] + b"\nMore.\n"})
    assert any("is missing" in finding.message for finding in missing.findings)


def test_a_change_refuses_what_is_no_picture_before_anything_is_written(shown: App) -> None:
    for path, raw, sentence in (
        ("it/a.png", b"<html>", "named .png"),
        ("it/../a.png", PNG, "not a plain file"),
        ("it/a.exe", PNG, "must end in .md"),
        (".hidden.png", PNG, "must end in .md|not a plain"),
    ):
        with pytest.raises(BadInput, match=sentence):
            shown.reviews.changes.propose(demo("author"), "Bad", {path: raw})
    assert shown.reviews.changes.listed(demo("author")) == ()


def test_a_drawing_is_cleaned_on_its_way_into_a_change(shown: App) -> None:
    change = shown.reviews.changes.propose(demo("author"), "Draw", {"it/a.svg": SVG.format(HOSTILE[0]).encode()})
    assert b"script" not in shown.knowledge.repository.read(change.head, "it/a.svg")


def test_moving_a_document_moves_its_own_pictures_and_leaves_shared_ones(shown: App) -> None:
    files = moved(shown.knowledge.documents, "it/vpn.md", "net/deep/tunnel.md")
    assert files["net/deep/tunnel.assets/map.png"] == PNG
    assert files["it/vpn.assets/map.png"] is None
    text = files["net/deep/tunnel.md"] or b""
    assert b"(tunnel.assets/map.png)" in text
    assert b"(../../shared/floor.png)" in text
    merged(shown, shown.reviews.changes.propose(demo("author"), "Move", files).id)
    assert set(stored(shown)) == {"net/deep/tunnel.assets/map.png", "shared/floor.png"}
    document = shown.knowledge.documents.show("net/deep/tunnel.md")
    assert all(picture.blob for picture in shown.knowledge.pictures.of(document))


def test_deleting_a_document_deletes_the_pictures_that_no_other_one_shows(shown: App) -> None:
    merged(shown, shown.reviews.changes.propose(demo("author"), "Delete", {"it/vpn.md": None}).id)
    assert set(stored(shown)) == {"shared/floor.png"}
    old = shown.knowledge.repository.log(shown.knowledge.repository.head())[-1][0].id
    merged(shown, shown.reviews.merger.revert(demo("author"), 1).id)
    assert stored(shown)["it/vpn.assets/map.png"] == PNG
    assert old


def test_restoring_a_version_brings_back_the_picture_that_it_showed(shown: App) -> None:
    head = shown.knowledge.repository.head()
    less = {"it/vpn.md": b"# VPN\n\nNo picture.\n", "it/vpn.assets/map.png": None}
    merged(shown, shown.reviews.changes.propose(demo("author"), "Less", less).id)
    files = restored(shown.knowledge.documents, "it/vpn.md", head, "it/vpn.md")
    assert files == {"it/vpn.md": SHOWS, "it/vpn.assets/map.png": PNG}


def test_two_versions_of_a_picture_are_a_conflict_that_takes_one_side(shown: App) -> None:
    third = uploads.png(shade=77)
    mine = shown.reviews.changes.propose(demo("author"), "Mine", {"it/vpn.assets/map.png": OTHER})
    shown.knowledge.repository.commit("main", {"it/vpn.assets/map.png": third}, demo("admin").person, "Theirs")
    (collision,) = shown.reviews.merger.collisions(demo("author"), mine.id)
    assert (collision.path, collision.others) == ("it/vpn.assets/map.png", ("Ada Brandt",))
    assert "map.png: a picture of 1 KB" in collision.parts[0].mine[0]
    with pytest.raises(BadInput, match="decide for mine or theirs"):
        shown.reviews.merger.solve(demo("author"), mine.id, {collision.path: ("=x",)})
    shown.reviews.merger.solve(demo("author"), mine.id, {collision.path: ("mine",)})
    merged(shown, mine.id)
    assert stored(shown)["it/vpn.assets/map.png"] == OTHER


def test_too_many_pictures_of_one_document_are_refused(shown: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "PICTURES_OF_DOCUMENT", 1)
    with pytest.raises(BadInput, match="it/vpn.md shows 2 pictures"):
        shown.reviews.changes.propose(demo("author"), "More", {"it/vpn.md": SHOWS + b"\nMore.\n"})
    monkeypatch.setattr(size_limits, "PICTURES_OF_DOCUMENT", 9)
    monkeypatch.setattr(size_limits, "PICTURE_BYTES_OF_ALL", 10)
    with pytest.raises(BadInput, match="The pictures of the knowledge base"):
        shown.reviews.changes.propose(demo("author"), "More", {"it/b.png": PNG})


def test_an_import_brings_the_pictures_that_its_documents_show(app: App, tmp_path: Path) -> None:
    folder = tmp_path / "handbook"
    (folder / "img").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\n![Map](img/map.png) ![Bad](img/bad.gif) ![Link](img/link.png)\n")
    for name, raw in (("map.png", PNG), ("other.png", PNG), ("bad.gif", b"GIF89a")):
        (folder / "img" / name).write_bytes(raw)
    (folder / "img" / "link.png").symlink_to("/etc/passwd")
    imported = app.knowledge.documents.import_folder(demo("admin"), folder, into="hb")
    assert imported.pictures == ("hb/img/map.png",)
    assert {path: why.split(".")[0] for path, why in imported.skipped} == {
        "img/bad.gif": "The picture is damaged",
        "img/link.png": "It is not a plain file (links are not followed)",
        "img/other.png": "No document of this folder shows this picture",
    }
    assert app.knowledge.documents.import_folder(demo("admin"), folder, into="hb").pictures == ()


def test_a_rule_for_a_document_counts_for_its_pictures(shown: App) -> None:
    rules = b"rules:\n  - match: it/*.md\n    approvals: 2\n"
    shown.knowledge.repository.commit("main", {"review-rules.yaml": rules}, demo("admin").person, "Rules")
    change = shown.reviews.changes.propose(demo("author"), "Mine", {"it/vpn.assets/map.png": OTHER})
    assert any("2" in sentence for sentence in change.requirements)


# ---------------------------------------------------------------- in a draft


def test_a_picture_waits_in_a_draft_and_goes_with_its_text(shown: App) -> None:
    author, pictures_of = demo("author"), shown.knowledge.pictures
    kept = pictures_of.hold(author, "new", "untitled.md", "My Map.png", OTHER)
    assert (kept.path, kept.markdown) == ("untitled.assets/my-map.png", "![my map](untitled.assets/my-map.png)")
    pictures_of.hold(author, "new", "untitled.md", "unused.png", PNG)
    assert pictures_of.read(author, kept.blob, "my-map.png") == OTHER
    files = pictures_of.with_text(author, "new", "it/door.md", f"# Door\n\n{kept.markdown}\n")
    assert files == {"it/door.md": b"# Door\n\n![my map](door.assets/my-map.png)\n", "it/door.assets/my-map.png": OTHER}
    pictures_of.forget(author, "new")
    assert pictures_of.held(author, "new") == {}


def test_pictures_of_two_tabs_go_beside_each_other(shown: App, monkeypatch: pytest.MonkeyPatch) -> None:
    author, pictures_of = demo("author"), shown.knowledge.pictures
    stage = shown.knowledge.repository.stage

    def with_another(raw: bytes) -> str:
        monkeypatch.undo()
        pictures_of.hold(author, "new", "untitled.md", "map.png", PNG)
        return stage(raw)

    monkeypatch.setattr(shown.knowledge.repository, "stage", with_another)
    mine = pictures_of.hold(author, "new", "untitled.md", "map.png", OTHER)
    assert mine.path == "untitled.assets/map-2.png"
    assert set(pictures_of.held(author, "new")) == {"untitled.assets/map.png", mine.path}


# ---------------------------------------------------------------- shown


def test_pictures_are_nodes_with_an_address_and_others_keep_their_words() -> None:
    text = (
        "![Map](vpn.assets/m.png) ![Web](https://a.example/x.png) ![Js](javascript:x) <img src='../b.gif' "
        "alt='Gate'> a<br>b\n"
    )
    (block,) = with_pictures(render(Document("d", "it/vpn.md", "", text)).nodes, lambda path: f"/at/{path}")
    drawn_nodes = [node for node in block[2] if not isinstance(node, str)]
    assert drawn_nodes == [
        ["img", {"picture": "it/vpn.assets/m.png", "alt": "Map", "src": "/at/it/vpn.assets/m.png"}, []],
        ["span", {"image": "Web", "elsewhere": "https://a.example/x.png"}, []],
        ["img", {"picture": "b.gif", "alt": "Gate", "src": "/at/b.gif"}, []],
        ["br", {}, []],
    ]
    assert "Gate" in plain(text)


def test_another_content_under_the_same_name_is_another_block_of_the_diff() -> None:
    document = Document("d", "a.md", "A", "![Map](m.png)\n\nText.\n")
    sides = (lambda path: "/old", lambda path: "/new")
    assert [block.kind for block in rendered_diff(document, document, render, sides)] == ["removed", "added", "equal"]


def test_the_reader_draws_pictures_where_a_demo_has_them(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.md": b"# A\n\n![Map](a.assets/m.png)\n", "a.assets/m.png": PNG}
    app.knowledge.repository.commit("main", files, demo("admin").person, "Start")
    app.reviews.merger.repair()
    serve(app, monkeypatch)
    (source,) = re.findall(r'"src": "([^"]+)"', json.dumps(apptest.drawn(page_of("documents", doc="a"), "reader")))
    taken = re.search("PICTURE_ADDRESS = /(.+)/;", (ROOT / "pages/ui/components/nodes.js").read_text(encoding="utf-8"))
    assert taken
    assert re.search(taken[1].replace(r"\/", "/"), source)


def test_the_route_serves_approved_pictures_to_readers_and_those_of_changes_to_authors(
    sign_in_app: App,
) -> None:
    app, store = sign_in_app, sign_in_app.knowledge.repository
    svg_raw = SVG.format("<circle r='2'/>").encode()
    app.knowledge.repository.commit(
        "main", {"a.assets/m.png": PNG, "a.assets/d.svg": svg_raw, "a.md": b"# A\n"}, demo("admin").person, "Start"
    )
    app.reviews.merger.repair()
    change = app.reviews.changes.propose(demo("admin"), "Draft", {"a.assets/m.png": OTHER})
    approved, draft = (store_blob(app, commit, "a.assets/m.png") for commit in (store.head(), change.head))
    text = next(entry.blob for entry in store.entries(store.head()) if entry.path == "a.md")
    browser = visitor()
    browser.headers["accept"] = "image/*"
    assert browser.get(f"/pictures/{approved}/m.png").status_code == 401
    assert sign_in(browser).status_code == 303
    seen = browser.get(f"/pictures/{approved}/m.png")
    assert (seen.status_code, seen.content, seen.headers["content-type"]) == (200, PNG, "image/png")
    assert "immutable" in seen.headers["cache-control"]
    assert "private" in seen.headers["cache-control"]
    drawing = browser.get(f"/pictures/{store_blob(app, store.head(), 'a.assets/d.svg')}/d.svg")
    assert drawing.headers["content-type"] == "image/svg+xml"
    assert drawing.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert drawing.headers["content-disposition"] == "inline; filename*=UTF-8''d.svg"
    assert browser.get(f"/pictures/{approved}/m.svg").status_code == 404, "the name must fit the content"
    assert browser.get(f"/pictures/{text}/a.png").status_code in (403, 404), "a text is no picture"
    for name in ("HEAD", "main:a.md", approved[:12], "0" * 40):
        assert browser.get(f"/pictures/{name}/a.png").status_code == 404
    assert browser.get(f"/pictures/{draft}/m.png").content == OTHER
    app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    assert browser.get(f"/pictures/{draft}/m.png").status_code == 403
    assert browser.get(f"/pictures/{draft}/m.png", headers={"if-none-match": f'"{draft}"'}).status_code == 403
    assert browser.get(f"/pictures/{approved}/m.png", headers={"if-none-match": f'"{approved}"'}).status_code == 304


def store_blob(app: App, commit: str, path: str) -> str:
    return app.knowledge.pictures.blobs(commit)[path]


# ---------------------------------------------------------------- found


def test_a_picture_is_found_by_its_words_and_not_by_its_address(app: App) -> None:
    data = base64.b64encode(b"zzqqvv" * 20).decode()
    text = (
        "# Dock\n\nBefore.\n\n![Wheel chock beside door "
        f"fourteen](dock.assets/xylophone-1.png)\n\n![Old](data:image/png;base64,{data})\n"
    )
    put(app, {"dock.md": text})
    app.index.builder.build(app.platform.settings.profile())
    hits = app.search.searcher.search("wheel chock").hits
    assert [hit.path for hit in hits] == ["dock.md"]
    (chunk,) = chunker(ChunkerSpec("markdown"), Tools())(app.knowledge.documents.show("dock.md"))
    read = embedded_text(chunk)
    assert "Wheel chock beside door fourteen" in read
    assert "xylophone" not in read
    assert data[:20] not in read
    assert "Wheel chock" in plain(chunk.text)
