"""Pictures beside documents: what may come in, where it lives, and that it goes wherever its document goes."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Iterator

import pytest
from PIL import Image

from core.adapters.conversion.converter import Converters
from core.bootstrap import App
from core.curation import limits, pictures, svg
from core.errors import BadInput
from tests import uploads
from tests.conftest import demo

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


@pytest.fixture(scope="module")
def conversion() -> Iterator[Converters]:
    made = Converters()
    yield made
    made.close()


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
    assert pictures.checked(name, raw) == raw


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
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * (limits.PICTURE_BYTES + 1), "the limit is 5 MB"),
        ("a.gif", uploads.gif(65_000, 65_000), "65,000 by 65,000 pixels"),
        ("a.gif", uploads.gif(frames=501), "more than 500 frames"),
    ],
)  # fmt: skip
def test_what_is_no_picture_or_too_much_is_refused_with_the_reason(name: str, raw: bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        pictures.checked(name, raw)


def test_a_small_file_with_a_huge_picture_is_refused_by_its_header() -> None:
    bomb = bytearray(uploads.png())
    bomb[16:24] = struct.pack(">II", 30_000, 30_000)
    with pytest.raises(BadInput, match="30,000 by 30,000"):
        pictures.checked("bomb.png", bytes(bomb))


def test_a_gif_frame_that_is_larger_than_its_screen_counts_as_large() -> None:
    raw = bytearray(uploads.gif())
    at = raw.index(b",")
    raw[at + 5 : at + 9] = struct.pack("<HH", 60_000, 60_000)
    with pytest.raises(BadInput, match="60,000"):
        pictures.checked("a.gif", bytes(raw))


@pytest.mark.parametrize(
    ("name", "raw"), [("a.png", uploads.png()), ("a.gif", uploads.gif()), ("a.webp", drawn("WEBP"))]
)
def test_what_follows_a_picture_is_cut_off(name: str, raw: bytes) -> None:
    hidden = uploads.zipped({"x.html": "<script>alert(1)</script>"})
    assert pictures.checked(name, raw + hidden) == raw


# ---------------------------------------------------------------- drawings

HOSTILE = [
    "<script>alert(1)</script>",
    "<g><script xlink:href='https://evil.example/x.js'/></g>",
    "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><iframe src='javascript:alert(1)'/></body></foreignObject>",
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
        b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>',
        b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>',
        b'<svg xmlns="http://www.w3.org/2000/svg"><g></svg>',
        b'<svg xmlns="https://evil.example"/>',
        SVG.format("<g>" * 70 + "</g>" * 70).encode(),
        SVG.format("<g id='a'><use href='#a'/></g>").encode(),
        SVG.format("".join(f"<g id='a{n}'>" + f"<use href='#a{n + 1}'/>" * 10 + "</g>" for n in range(9)) + "<g id='a9'/>").encode(),
        SVG.format("".join(
            f"<pattern id='p{n}'>" + f"<rect fill='url(#p{n + 1})'/>" * 10 + "</pattern>" for n in range(9)
        ) + "<pattern id='p9'/>").encode(),
    ],
)  # fmt: skip
def test_a_drawing_that_hides_or_repeats_without_end_is_refused(raw: bytes) -> None:
    with pytest.raises(BadInput, match="drawing"):
        pictures.checked("a.svg", raw)


def test_an_ordinary_drawing_looks_the_same_after_it_was_written_anew() -> None:
    inside = (
        "<defs><linearGradient id='g'><stop offset='0' stop-color='red'/></linearGradient></defs>"
        "<style>.a { fill: url(#g); font-weight: bold }</style><g transform='scale(2)'>"
        "<rect class='a' width='9' height='9' style='stroke:#000;stroke-width:2px'/><text x='1'>Dock &amp; door</text></g>"
        f"<image href='data:image/png;base64,{base64.b64encode(uploads.png()).decode()}'/>"
    )
    kept = svg.sanitised(SVG.format(inside).encode()).decode()
    for part in ("url(#g)", "font-weight: bold", "stroke-width:2px", "Dock &amp; door", "data:image/png;base64,", 'transform="scale(2)"'):  # fmt: skip
        assert part in kept
    assert svg.sanitised(kept.encode()) == kept.encode()


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.png", "..\\..\\x.png", "C:\\pictures\\Map.PNG", "a\x00b.png", "  .svg"],
)
def test_a_picture_gets_a_plain_name_in_the_folder_of_its_document(name: str) -> None:
    path = pictures.place("it/access/vpn.md", name)
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
