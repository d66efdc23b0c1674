"""The Upload page: bring in, see what is wrong, fix it, choose, submit; refused for readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import build
from pages.ui import keys
from tests import uploads
from tests.apptest import Open, drawn, words
from tests.conftest import ROOT, kb_settings, put
from tests.uploads import GOOD, ProposedChanges

BAD = "---\ntitle: Badges\nstatus: wip\n---\n# Badges\n\n### Steps\n\nCall 4400.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small workspace without an index; texts are compared by wording alone."""
    app = build(kb_settings(tmp_path / "small"))
    app.platform.workspace.create()
    put(app, {"it/vpn.md": GOOD.format("IT-1")})
    return tmp_path / "small"


@pytest.fixture
def changes() -> ProposedChanges:
    return ProposedChanges()


def opened(visit: Open, home: Path, changes: ProposedChanges, persona: str = "author") -> AppTest:
    app = visit("upload", home=home, persona=persona)
    from pages.ui.workspace import app as workspace

    workspace().upload.uploads.changes = changes
    return app


def bring(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, raw, "text/markdown") for name, raw in files]).run()
    assert not app.exception, app.exception
    return app


def button(app: AppTest, key: str) -> Any:
    return next(one for one in app.button if one.key and one.key.startswith(key))


def test_an_empty_desk_says_what_will_happen(visit: Open, home: Path, changes: ProposedChanges) -> None:
    app = opened(visit, home, changes)
    assert "before anything is written" in words(app)
    assert not [one for one in app.button if one.key == "upload_submit"]


def test_a_reader_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import streamlit as st

    st.cache_resource.clear()
    monkeypatch.setenv("CONCORD_HOME", str(home))
    app = AppTest.from_file(str(ROOT / "pages" / "upload.py"), default_timeout=60)  # a deep link runs the page alone
    app.session_state["persona"] = "reader"
    app.run()
    assert "Not for this role" in words(app)
    assert len(app.file_uploader) == 0


def test_one_good_and_one_bad_file_then_the_bad_one_is_fixed_and_both_are_submitted(
    visit: Open,
    home: Path,
    changes: ProposedChanges,
) -> None:
    app = bring(opened(visit, home, changes), ("new.md", GOOD.format("IT-2").encode()), ("badges.md", BAD.encode()))
    assert [item["state"] for item in drawn(app, "upload")["items"]] == ["ready", "refused"]
    assert button(app, "upload_submit").label == "Submit 1 document as a change"

    app.session_state[keys.UPLOAD_ITEM] = 1
    app.run()
    found = drawn(app, "findings")["findings"]
    assert (found[0]["line"], found[0]["severity"]) == (3, "error")
    assert found[0]["excerpt"] == "status: wip"

    app.session_state[keys.UPLOAD_SIDE] = "text"
    app.run()
    app.text_area[0].set_value(BAD.replace("wip", "approved").replace("###", "##")).run()
    assert [item["state"] for item in drawn(app, "upload")["items"]] == ["ready", "ready"]
    assert drawn(app, "reader")["nodes"]

    app.text_input(key=keys.UPLOAD_TITLE).set_value("Badges and more").run()
    button(app, "upload_submit").click().run()
    assert not app.exception
    ((who, title, files, _),) = changes.made
    assert (who, title, sorted(files)) == ("author", "Badges and more", ["badges.md", "new.md"])
    assert "Open change #c1" in app.get("page_link")[0].proto.label, "the next step is one click away"
    assert "before anything is written" in words(app)


def test_what_is_refused_stays_on_the_desk(visit: Open, home: Path, changes: ProposedChanges) -> None:
    app = bring(opened(visit, home, changes), ("new.md", GOOD.format("IT-2").encode()), ("bad.md", b"\xff"))
    button(app, "upload_submit").click().run()
    assert sorted(changes.made[0][2]) == ["new.md"]
    assert changes.made[0][1] == "Add Document IT-2"
    assert [item["title"] for item in drawn(app, "upload")["items"]] == ["bad.md"]
    assert button(app, "upload_submit").disabled


def test_a_duplicate_waits_for_a_choice(visit: Open, home: Path, changes: ProposedChanges) -> None:
    app = opened(visit, home, changes)
    app.selectbox(key=keys.UPLOAD_INTO).set_value("it").run()
    bring(
        app, ("vpn.md", (GOOD.format("IT-1") + "\nCall 4400 when the tunnel drops twice within one hour.\n").encode())
    )
    assert drawn(app, "upload")["items"][0]["state"] == "waits"
    app.session_state[keys.UPLOAD_SIDE] = "duplicates"
    app.run()
    assert drawn(app, "duplicates")["theirs"] == "it/vpn.md"
    app.radio[0].set_value("replace").run()
    assert not app.exception
    assert drawn(app, "upload")["items"][0]["why"] == "Becomes a new version of it/vpn.md."
    button(app, "upload_submit").click().run()
    assert list(changes.made[0][2]) == ["it/vpn.md"]


def test_a_zip_of_a_folder_brings_its_documents_and_their_chunks_can_be_seen(
    visit: Open,
    home: Path,
    changes: ProposedChanges,
) -> None:
    raw = uploads.zipped({"hr/a.md": GOOD.format("H-1"), "hr/../../x.md": "# X\n\nText.\n"})
    app = bring(opened(visit, home, changes), ("kb.zip", raw))
    assert [item["state"] for item in drawn(app, "upload")["items"]] == ["ready", "refused"]
    app.session_state[keys.UPLOAD_SIDE] = "chunks"
    app.run()
    assert len(drawn(app, "chunks")["sides"][0]["chunks"]) == 1


def test_pasted_text_and_templates_become_items(visit: Open, home: Path, changes: ProposedChanges) -> None:
    app = opened(visit, home, changes)
    app.segmented_control(key="upload_way").set_value("paste").run()
    button(app, "paste_add").click().run()
    assert not app.exception
    app.text_input(key="paste_name_0").set_value("Lost badge")
    app.text_area(key="paste_text_0").set_value("# Lost badge\n\nCall 4400.").run()
    button(app, "paste_add").click().run()
    app.segmented_control(key="upload_way").set_value("template").run()
    next(one for one in app.text_input if one.key.startswith("template_title")).set_value("Swap a shift").run()
    button(app, "template_add").click().run()
    assert not app.exception
    shown = drawn(app, "upload")["items"]
    assert [item["path"] for item in shown] == ["lost-badge.md", "swap-a-shift.md"]
    assert shown[1]["state"] == "ready"


def test_a_role_that_was_lost_meanwhile_is_refused_inside_the_act(
    visit: Open,
    home: Path,
    changes: ProposedChanges,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = bring(opened(visit, home, changes), ("new.md", GOOD.format("IT-2").encode()))
    from pages.ui import identity
    from tests.conftest import demo

    monkeypatch.setattr(identity, "me", lambda: demo("reader"))
    button(app, "upload_submit").click().run()
    assert changes.made == []
