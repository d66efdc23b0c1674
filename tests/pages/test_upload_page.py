"""The Upload page: bring in, fill in, see what is wrong, fix it, choose, submit for review; refused for readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import build
from core.curation.upload.conversions import Picture
from core.curation.upload.items import Batch, UploadItem, packed, restored
from core.services.reviews.changes import Change
from pages.ui import keys
from pages.ui.batches import BATCHES
from tests.conftest import ROOT, demo, forget_app, kb_settings, put
from tests.support import blank, uploads
from tests.support.apptest import PATIENCE, Open, all_drawn, drawn, words
from tests.support.uploads import GOOD

BAD = "---\ntitle: Badges\nreview_due: soon\n---\n# Badges\n\n### Steps\n\nCall 4400.\n"


def made(home: Path) -> None:
    app = build(kb_settings(home))
    app.platform.workspace.create()
    put(app, {"it/vpn.md": GOOD.format("IT-1")})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small workspace without an index; texts are compared by wording alone."""
    blank.fill(tmp_path / "small", made)
    return tmp_path / "small"


def opened(visit: Open, home: Path, persona: str = "author") -> AppTest:
    return visit("upload", home=home, persona=persona)


def bring(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, raw, "text/markdown") for name, raw in files]).run()
    assert not app.exception, app.exception
    return app


def button(app: AppTest, key: str) -> Any:
    return next(one for one in app.button if one.key and one.key.startswith(key))


def box(app: AppTest, kind: str, label: str) -> Any:
    """The field of the opened file, below those for all files."""
    return [one for one in getattr(app, kind) if one.label == label][-1]


def items(app: AppTest) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = drawn(app, "listing")["items"]
    return shown


def state(item: dict[str, Any]) -> str:
    return str(item["badges"][0]["text"])


def waiting(app: AppTest) -> Batch:
    """What the page holds, or would read from its draft."""
    from pages.ui.workspace import app as workspace

    name = app.session_state[keys.UPLOAD] if keys.UPLOAD in app.session_state else None  # noqa: SIM401
    held = next((each.batch for each in BATCHES._held.values() if each.name == name), None)
    left = workspace().knowledge.drafts.find(demo("author"), "upload")
    return held or (restored(left.text) if left else Batch())


def texts(app: AppTest) -> list[str]:
    return [item.text for item in waiting(app).items]


def change(number: int = 1) -> Change:
    from pages.ui.workspace import app

    return app().reviews.changes.get(number)


def test_an_upload_in_two_tabs_joins_files_and_asks_before_it_overwrites_an_edit(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ["one"]
    monkeypatch.setattr("pages.ui.batches.tab", lambda: here[0])
    first = bring(opened(visit, home), ("a.md", b"# A\n\nThe first file.\n"))
    here[0] = "two"
    second = bring(opened(visit, home), ("b.md", b"# B\n\nAnother file.\n"))
    here[0] = "one"
    bring(first, ("c.md", b"# C\n\nOne more file.\n"))
    assert [item["title"] for item in items(first)] == ["A", "B", "C"]
    here[0] = "two"
    box(second, "text_input", "Title").set_value("Typed").run()
    assert "You also changed this upload in another tab" in words(second)
    assert "Typed" not in "".join(item.text for item in restored(kept_draft()).items), "nothing is overwritten"
    second.button(key="use_other").click().run()
    assert [item["title"] for item in items(second)] == ["A", "B", "C"]
    box(second, "text_input", "Title").set_value("Typed").run()
    assert "You also changed" not in words(second)
    assert "Typed" in "".join(item.text for item in restored(kept_draft()).items)
    here[0] = "one"
    box(first, "text_input", "Title").set_value("Mine").run()
    first.button(key="keep_mine").click().run()
    assert "Typed" not in "".join(item.text for item in restored(kept_draft()).items), "this upload replaces the other"


def kept_draft() -> str:
    from pages.ui.workspace import app as workspace

    draft = workspace().knowledge.drafts.find(demo("author"), "upload")
    assert draft
    return draft.text


def test_an_empty_desk_says_what_will_happen(visit: Open, home: Path) -> None:
    app = opened(visit, home)
    assert "before anything is written" in words(app)
    assert not [one for one in app.button if one.key == "upload_submit"]


def test_a_reader_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_app()
    monkeypatch.setenv("CONCORD_HOME", str(home))
    app = AppTest.from_file(
        str(ROOT / "pages" / "upload.py"), default_timeout=PATIENCE
    )  # a deep link runs the page alone
    app.session_state["persona"] = "reader"
    app.run()
    assert "Not for this role" in words(app)
    assert len(app.file_uploader) == 0


def test_fields_that_cannot_be_read_are_started_fresh_and_what_is_good_of_them_stays(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("badges.md", BAD.encode()))
    assert [state(item) for item in items(app)] == ["Refused"]
    assert "is 'soon'; write the date" in words(app)
    assert not [one for one in app.text_input if one.label == "Title"]
    button(app, "item_fresh").click().run()
    assert box(app, "text_input", "Title").value == "Badges"
    assert [state(item) for item in items(app)] == ["Look at it"]


def test_missing_fields_are_named_at_their_place_and_filled_in_without_typing_any_markup(
    visit: Open, home: Path
) -> None:
    app = bring(opened(visit, home), ("lost badge.md", b"# Lost badge\n\nCall 4400.\n"))
    assert "Nobody owns this document. Name who keeps it true." in words(app)
    assert "`" not in words(app)
    assert not [one for one in app.selectbox if one.label == "Status"], "a new document has no status to choose"
    box(app, "selectbox", "Type").set_value("sop").run()
    assert box(app, "selectbox", "Owner").options[:2] == ["Avery Lindqvist (me)", "Ada Brandt"], "people first"
    box(app, "selectbox", "Owner").set_value("Ada Brandt").run()
    form = box(app, "text_input", "Title").key
    box(app, "text_input", "Title").set_value("Replace a badge").run()
    assert box(app, "text_input", "Title").key == form, "the form stays, and what is typed in it meanwhile"
    assert "Nobody owns this document" not in words(app)
    (text,) = texts(app)
    assert (
        text == "---\ndoc_type: sop\nowner: Ada Brandt\ntitle: Replace a badge\n---\n# Replace a badge\n\nCall 4400.\n"
    )
    assert not app.exception


def test_a_folder_chosen_after_the_drop_moves_the_files_but_not_a_path_that_was_typed(visit: Open, home: Path) -> None:
    files = [("a.md", b"# A\n\nSee [b](b.md).\n"), ("b.md", b"# B\n\nText.\n")]
    app = bring(opened(visit, home), *files)
    box(app, "text_input", "File name").set_value("first.md").run()
    assert [item["sub"] for item in items(app)] == ["first.md", "b.md"]
    app.selectbox(key=keys.UPLOAD_INTO).set_value("it").run()
    assert [item["sub"] for item in items(app)] == ["first.md", "it/b.md"]
    assert "[b](it/b.md)" in texts(app)[0]
    assert not app.exception


def test_an_owner_and_a_type_chosen_for_all_stand_in_every_file_also_in_later_ones(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("a.md", b"# A\n\nOne.\n"), ("b.md", b"---\nowner: Bob\n---\n# B\n\nTwo.\n"))
    app.selectbox(key=keys.UPLOAD_OWNER).set_value("Ada Brandt").run()
    app.selectbox(key=keys.UPLOAD_TYPE).set_value("policy").run()
    bring(app, ("c.md", b"# C\n\nThree.\n"))
    kept = texts(app)
    assert len(kept) == 3
    assert all("owner: Ada Brandt\n" in text and "doc_type: policy\n" in text for text in kept)
    assert box(app, "selectbox", "Owner").value == "Ada Brandt", "the form follows"


def test_submit_for_review_submits_asks_and_leaves_what_is_refused(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("new.md", GOOD.format("IT-2").encode()), ("bad.md", b"\xff"))
    app.text_input(key=keys.UPLOAD_TITLE).set_value("A new one")
    app.multiselect(key=keys.UPLOAD_ASK).set_value(["reviewer"]).run()
    button(app, "upload_submit").click().run()
    made = change()
    assert (made.title, made.state) == ("A new one", "in review")
    assert [edit.path for edit in made.documents] == ["new.md"]
    assert [asked.account for asked in made.asked] == ["reviewer"]
    assert [item.path for item in waiting(app).items] == ["bad.md"]


def test_a_draft_is_kept_as_one(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("new.md", GOOD.format("IT-2").encode()))
    button(app, "upload_draft").click().run()
    assert (change().title, change().state) == ("Add Document IT-2", "draft")
    assert waiting(app) == Batch()


def test_a_conversion_is_amber_until_somebody_looked_at_it_and_the_change_says_who(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("Badges.html", uploads.HTML))
    assert (state(items(app)[0]), items(app)[0]["note"]) == (
        "Look at it",
        "Converted from HTML: compare it with the original.",
    )
    assert "1 table to check" in words(app)
    button(app, "upload_submit").click().run()
    with pytest.raises(Exception, match="There is no change 1"):
        change()
    button(app, "item_looked").click().run()
    assert state(items(app)[0]) == "Ready"
    button(app, "upload_submit").click().run()
    assert change().state == "in review"
    from pages.ui.workspace import app as workspace

    (entry,) = [one for one in workspace().people.audit.of_change(demo("author"), 1) if one.action == "propose"]
    assert entry.detail.startswith("badges.md was converted from HTML (Badges.html); ")
    assert entry.detail.endswith(" compared it with the original.")


def test_a_pdf_stands_as_a_picture_beside_its_text(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("badge.pdf", uploads.pdf()))
    assert box(app, "selectbox", "Owner").value == "Avery Lindqvist", (
        "whoever brings it keeps it, until another is named"
    )
    assert app.session_state[keys.UPLOAD_PAGE]["picture"].startswith(b"\xff\xd8"), "a JPEG of the page"
    assert drawn(app, "reader")["nodes"]
    assert app.get("download_button")


def test_a_duplicate_waits_for_a_choice(visit: Open, home: Path) -> None:
    app = opened(visit, home)
    app.selectbox(key=keys.UPLOAD_INTO).set_value("it").run()
    more = GOOD.format("IT-1") + "\nCall 4400 when the tunnel drops twice within one hour.\n"
    bring(app, ("vpn.md", more.encode()))
    assert state(items(app)[0]) == "Choose"
    app.segmented_control[-1].set_value("duplicates").run()
    assert "Compared with 1 document by wording" in words(app)
    assert all_drawn(app, "listing")[-1]["items"][0]["sides"][1]["title"] == "it/vpn.md"
    app.radio[0].set_value("replace").run()
    assert not app.exception
    assert items(app)[0]["note"] == "Becomes a new version of it/vpn.md."
    button(app, "upload_submit").click().run()
    assert [edit.path for edit in change().documents] == ["it/vpn.md"]


def test_a_zip_of_a_folder_brings_its_documents_and_names_what_it_leaves_out(visit: Open, home: Path) -> None:
    files = {"hr/a.md": GOOD.format("H-1"), "hr/../../x.md": "# X\n\nText.\n", "hr/page.exe": "x", "hr/.DS_Store": "x"}
    app = bring(opened(visit, home), ("kb.zip", uploads.zipped(files)))
    assert [(item["sub"], state(item)) for item in items(app)][:1] == [("hr/a.md", "Ready")]
    said = words(app) + str([item["note"] for item in items(app)])
    assert "Files of this kind cannot be used" in said
    assert "It is a hidden file" in said
    assert not app.exception


def test_what_is_typed_into_the_text_stays_and_is_checked(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("a.md", b"# A\n\n#Steps\n\nText.\n"))
    shown = drawn(app, "editor")
    assert [check[:2] for check in shown["checks"]] == [[3, "warning"]]
    assert shown["text"] == "# A\n\n#Steps\n\nText.\n"


def test_pasted_text_and_templates_become_items(visit: Open, home: Path) -> None:
    app = opened(visit, home)
    app.segmented_control(key="upload_way").set_value("Paste text").run()
    button(app, "paste_add").click().run()
    assert not app.exception
    app.text_input(key="paste_name_0").set_value("Lost badge")
    app.text_area(key="paste_text_0").set_value("# Lost badge\n\nCall 4400.").run()
    button(app, "paste_add").click().run()
    app.segmented_control(key="upload_way").set_value("Template").run()
    next(one for one in app.text_input if one.key.startswith("template_title")).set_value("Swap a shift").run()
    button(app, "template_add").click().run()
    assert not app.exception
    assert [item["sub"] for item in items(app)] == ["lost-badge.md", "swap-a-shift.md"]
    assert state(items(app)[1]) == "Look at it", "the template's own words are still there"


def test_a_role_that_was_lost_meanwhile_is_refused_inside_the_act(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = bring(opened(visit, home), ("new.md", GOOD.format("IT-2").encode()))
    from pages.ui import identity
    from pages.ui.workspace import app as workspace

    monkeypatch.setattr(identity, "me", lambda: demo("reader"))
    button(app, "upload_submit").click().run()
    assert workspace().reviews.changes.all() == ()


def test_an_upload_that_is_not_submitted_is_there_after_a_reload_for_its_author_alone(visit: Open, home: Path) -> None:
    raw = GOOD.format("IT-9").replace("VPN", "Badges")
    bring(opened(visit, home), ("badges.md", raw.encode()), ("doors.md", GOOD.format("IT-10").encode()))
    again = opened(visit, home)
    assert [item["sub"] for item in items(again)] == ["badges.md", "doors.md"]
    assert "before anything is written" in words(opened(visit, home, "reviewer"))
    button(again, "item_remove").click().run()
    assert [item["sub"] for item in items(opened(visit, home))] == ["doors.md"]
    button(again, "upload_submit").click().run()
    assert "before anything is written" in words(opened(visit, home)), "what was submitted is not brought back"


def test_pictures_of_an_upload_survive_being_kept() -> None:
    batch = Batch((UploadItem("a.md", "a.md", "# A\n"),), (Picture("a.png", bytes(range(256))),), (("b.exe", "no"),))
    assert restored(packed(batch)) == batch


def test_an_upload_beyond_what_a_draft_holds_is_refused_with_a_sentence_and_the_rest_stays(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = bring(opened(visit, home), ("badges.md", GOOD.format("IT-9").encode()))
    monkeypatch.setattr("pages.ui.upload.session.MAX_KEPT", 10)
    bring(app, ("doors.md", GOOD.format("IT-10").encode()))
    assert "Bring fewer at once, or submit what is here first." in app.session_state[keys.FLASH][0][1]
    assert [item["sub"] for item in items(app)] == ["badges.md"]


def test_an_upload_that_left_memory_with_its_page_is_there_when_it_is_opened_again(visit: Open, home: Path) -> None:
    app = bring(opened(visit, home), ("badges.md", GOOD.format("IT-9").encode()))
    BATCHES._held.clear()
    assert [item["sub"] for item in items(app.run())] == ["badges.md"]
    assert [held.batch.items[0].path for held in BATCHES._held.values()] == ["badges.md"]


def test_the_address_of_compared_passages_shows_them(visit: Open, home: Path) -> None:
    bring(opened(visit, home), ("badges.md", GOOD.format("IT-9").encode()))
    shown = visit("upload", home=home, persona="author", compare="true")
    assert [toggle.label for toggle in shown.toggle] == ["Compare with another chunker"]
    assert not opened(visit, home).toggle, "otherwise they wait until they are opened"


def test_the_address_names_the_open_file(visit: Open, home: Path) -> None:
    files = [("a.md", b"# First\n\nOne.\n"), ("b.md", b"# Second\n\nTwo things.\n")]
    bring(opened(visit, home), *files)
    assert box(visit("upload", home=home, persona="author", file="2"), "text_input", "Title").value == "Second"
    assert box(visit("upload", home=home, persona="author", file="99"), "text_input", "Title").value == "Second"
    assert box(visit("upload", home=home, persona="author", file="x"), "text_input", "Title").value == "First"


def test_an_unknown_status_word_is_said_at_its_field_and_admins_name_what_it_counts_as(visit: Open, home: Path) -> None:
    raw = b"---\ntitle: Cards\nstatus: beta\n---\nNew cards cost 5 dollars.\n"
    app = bring(opened(visit, home), ("cards.md", raw))
    assert "The status 'beta' is not known here" in words(app)
    assert box(app, "selectbox", "Status").value == "approved"
    assert not [one for one in app.text_input if one.label == "Counts as draft"]
    admin = opened(visit, home, "admin")
    box(admin, "text_input", "Counts as draft").set_value("Beta, pre-release")
    button(admin, "status_words_save").click().run()
    assert not admin.exception
    mapped = bring(opened(visit, home, "admin"), ("new.md", raw))
    assert box(mapped, "selectbox", "Status").value == "draft"
    assert "The status 'beta' was written as draft" in str(drawn(mapped, "editor")["checks"])
