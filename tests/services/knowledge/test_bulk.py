"""Owner, tags, review date and status of many documents as one change: the service, the command and the page."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import App, build
from core.curation.document.frontmatter import decode, read_document
from core.entrypoints.cli import main
from core.errors import BadInput, Refused
from core.services.reviews.authoring import Target
from core.services.reviews.bulk_edit import BulkEdit, bulk_files, chosen, save_bulk, save_owners
from core.types import Document, Filters, Person
from tests.conftest import SHARED, NoProcesses, demo, kb_settings, put, small_app
from tests.support import browser
from tests.support.apptest import Open, words
from tests.support.small_kb import FILES

AUTHOR = demo("author")
ODD = "---\n{title: Odd, owner: Ann}\n---\n# Odd\n\nA frontmatter in one line.\n"


@pytest.fixture
def library(app: App) -> App:
    put(app, {**FILES, "odd.md": ODD})
    return app


def at(app: App, commit: str, path: str) -> Document:
    return read_document(path, decode(app.knowledge.repository.read(commit, path)))


def saved(app: App, names: list[str], edit: BulkEdit, **target: Any) -> Any:
    target = {"title": "Many", **target}
    return save_bulk(app.reviews.changes, app.knowledge.documents, AUTHOR, names, edit, Target(**target))


def test_many_documents_become_one_change_with_one_commit(library: App) -> None:
    edit = BulkEdit(owner="Dana", review_due=date(2027, 5, 1), add_tags=("cash", "new"), remove_tags=("bsa",))
    change, made = saved(library, ["BSA-1", "fin/sar.md", "IT-1"], edit)
    assert [entry.path for entry in change.documents] == ["fin/ctr.md", "fin/sar.md", "it/vpn.md"]
    assert change.state == "draft"
    assert len(library.knowledge.repository.log(change.head, since=library.knowledge.repository.head())) == 1
    meta = at(library, change.head, "fin/ctr.md").meta
    assert (meta.owner, meta.review_due, meta.tags) == ("Dana", date(2027, 5, 1), ("cash", "new"))
    before, after = FILES["it/vpn.md"], library.knowledge.repository.read(change.head, "it/vpn.md").decode()
    assert after.split("---\n", 2)[2] == before.split("---\n", 2)[2], "the text is untouched"
    assert made.unchanged == made.refused == ()


def test_what_cannot_be_rewritten_is_named_and_left_out(library: App) -> None:
    change, made = saved(library, ["odd", "IT-1", "BSA-1"], BulkEdit(owner="Mei"), why="Farid left.")
    assert [entry.path for entry in change.documents] == ["it/vpn.md"]
    assert made.unchanged == ("fin/ctr.md",), "Mei owns it already"
    ((path, why),) = made.refused
    assert path == "odd.md"
    assert "Edit the whole file" in why
    assert change.description.startswith("Farid left.")
    assert "odd.md" in change.description


@pytest.mark.parametrize(
    ("names", "edit", "sentence"),
    [
        (["IT-1"], BulkEdit(), "Say what to set"),
        (["IT-1"], BulkEdit(status="wip"), "There is no status 'wip'"),
        (["IT-1"], BulkEdit(owner="Farid"), "no document would change"),
        (["odd"], BulkEdit(owner="Farid"), "1 cannot be edited this way"),
    ],
)
def test_an_edit_that_does_nothing_says_so(library: App, names: list[str], edit: BulkEdit, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        saved(library, names, edit)
    assert library.reviews.changes.all() == ()


def test_readers_edit_nothing_and_a_change_is_not_overwritten(library: App) -> None:
    with pytest.raises(Refused, match="Only authors"):
        save_bulk(
            library.reviews.changes,
            library.knowledge.documents,
            demo("reader"),
            ["IT-1"],
            BulkEdit(owner="x"),
            Target(),
        )
    change, _ = saved(library, ["IT-1"], BulkEdit(owner="Dana"))
    with pytest.raises(BadInput, match=r"already edits it/vpn\.md"):
        saved(library, ["IT-1"], BulkEdit(owner="Eve"), change=change.id)
    more, _ = saved(library, ["BSA-1"], BulkEdit(owner="Eve"), change=change.id)
    assert (more.id, len(more.documents)) == (change.id, 2)


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (Filters(owners=("",)), ["fin/old.md", "hr/draft.md", "hr/soon.md", "it/fob.md"]),
        (Filters(folders=("it/",), statuses=("approved",)), ["it/vpn.md"]),
        (Filters(tags=("cash",), types=("sop",)), ["fin/ctr.md"]),
        (Filters(docs=("IT-1", "odd.md")), ["it/vpn.md", "odd.md"]),
    ],
)
def test_documents_are_chosen_by_filters(library: App, filters: Filters, paths: list[str]) -> None:
    assert [document.path for document in chosen(library.knowledge.documents.all(), filters)] == paths


def test_the_command_edits_what_the_filters_choose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(small_app(tmp_path, processes=NoProcesses()), {**FILES, "odd.md": ODD})

    def run(*arguments: str) -> tuple[int, Any, str]:
        code = main(["--home", str(tmp_path), "documents", "edit", *arguments, "--quiet", "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    code, value, _ = run("--owner", "", "--folder", "it", "--set-owner", "Dana", "--dry-run")
    assert (code, value["change"], value["edited"]) == (0, None, ["it/fob.md"])
    code, value, _ = run("--all", "--set-owner", "Dana", "--set-review-due", "2027-01-01", "--title", "Dana owns all")
    assert (value["change"], len(value["edited"]), [row["path"] for row in value["refused"]]) == (1, 7, ["odd.md"])
    for arguments, sentence in (
        (("--set-owner", "x"), "Say which documents"),
        (("--all", "--set-review-due", "soon"), "'soon' is no date"),
        (("--folder", "nowhere", "--set-owner", "x"), "No document fits"),
    ):
        code, _, err = run(*arguments)
        assert code == 1
        assert sentence in err


def test_documents_move_together_with_their_links_pictures_and_fields(app: App) -> None:
    picture = b'<svg xmlns="http://www.w3.org/2000/svg" />'
    files = {
        "hr/leave.md": "# Leave\n\nSee [pay](pay/pay.md), [VPN](../it/vpn.md).\n\n![Map](leave.assets/map.svg)\n",
        "hr/pay/pay.md": "# Pay\n\nSee [leave](../leave.md).\n",
        "it/vpn.md": "# VPN\n\nSee [leave](../hr/leave.md#leave).\n",
        "it/leave.md": "# Another\n",
        "other.md": "# Other\n",
    }
    put(app, {**files, "hr/leave.assets/map.svg": picture.decode()})
    change, made = saved(app, ["hr/leave.md", "hr/pay/pay.md"], BulkEdit(owner="Dana", folder="people/"))

    def text(path):
        return app.knowledge.repository.read(change.head, path).decode()

    assert made.moves == {"hr/leave.md": "people/leave.md", "hr/pay/pay.md": "people/pay/pay.md"}
    assert "owner: Dana" in text("people/leave.md")
    assert text("people/leave.md").endswith(files["hr/leave.md"]), "what moved along is found as before"
    assert text("people/pay/pay.md").endswith(files["hr/pay/pay.md"])
    assert "(../people/leave.md#leave)" in text("it/vpn.md"), "the links of others follow"
    assert app.knowledge.repository.read(change.head, "people/leave.assets/map.svg") == picture
    assert {one.path for one in app.knowledge.repository.entries(change.head)} == {
        "people/leave.md",
        "people/pay/pay.md",
        "it/vpn.md",
        "it/leave.md",
        "other.md",
    }
    assert made.edited == ("people/leave.md", "people/pay/pay.md", "it/vpn.md")
    for names, edit, sentence in (
        (["hr/leave.md"], BulkEdit(folder="it"), "There already is a document at it/leave.md"),
        (["hr/leave.md", "it/leave.md"], BulkEdit(folder="x", flat=True), "would both become x/leave.md"),
        (["other.md"], BulkEdit(folder="../out"), "not a plain file or folder name"),
        (["other.md"], BulkEdit(folder=""), "no document would change"),
    ):
        with pytest.raises(BadInput, match=sentence):
            saved(app, names, edit)


def test_a_folder_moves_into_itself_and_the_command_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = small_app(tmp_path, processes=NoProcesses())
    put(app, {"a/x.md": "# X\n", "a/a/x.md": "# Inner\n\nSee [x](../x.md).\n"})
    assert main(["--home", str(tmp_path), "documents", "edit", "--folder", "a", "--move-to", "a/a", "--json"]) == 0
    moves = {"a/a/x.md": "a/a/a/x.md", "a/x.md": "a/a/x.md"}
    assert json.loads(capsys.readouterr().out)["moved"] == moves
    change = app.reviews.changes.get(1)
    assert change.title == "Move 2 documents"
    assert app.knowledge.repository.read(change.head, "a/a/x.md") == b"# X\n"
    assert b"(../x.md)" in app.knowledge.repository.read(change.head, "a/a/a/x.md")


def test_the_page_edits_chosen_documents_as_one_change(visit: Open, tmp_path: Path) -> None:
    app = build(kb_settings(tmp_path / "kb"), processes=NoProcesses())
    app.platform.workspace.create()
    put(app, FILES)
    chosen = {"home": tmp_path / "kb", "persona": "author", "docs": ["IT-1", "BSA-1", "BSA-2"]}
    page = visit("documents", **chosen)
    assert [title.value for title in page.header] == ["Edit 3 documents"]
    page.selectbox(key="bulk_owner").set_value("Farid").run()
    page.multiselect(key="bulk_remove").set_value(["bsa"]).run()
    page.selectbox(key="bulk_folder").set_value("fin").run()
    assert "it/vpn.md becomes fin/vpn.md." in words(page), "documents of two folders go into one"
    page.checkbox(key="bulk_keep").check().run()
    assert "fin/ctr.md becomes fin/fin/ctr.md, and 2 more documents likewise." in words(page)
    page.checkbox(key="bulk_keep").uncheck().run()
    page.date_input(key="bulk_due").set_value(date(2027, 3, 1)).run()
    page.text_input(key="bulk_into_why").set_value("New team").run()
    second, page = page, visit("documents", **chosen)
    assert not page.exception
    second.text_input(key="bulk_into_why").set_value("From a second tab").run()
    page.selectbox(key="bulk_type").set_value("policy").run()
    assert "You also typed in another tab" in words(page), "neither overwrites the other"
    page = visit("documents", **chosen)
    assert page.text_input(key="bulk_into_why").value == "From a second tab"
    assert page.button(key="bulk_save").label == "Save as a new change"
    page.button(key="bulk_save").click().run()
    assert not page.exception
    (change,) = app.reviews.changes.all()
    assert change.title == "Edit 3 documents"
    assert [entry.path for entry in change.documents] == ["fin/ctr.md", "fin/sar.md", "fin/vpn.md"]
    assert at(app, change.head, "fin/ctr.md").meta.tags == ("cash",)
    assert at(app, change.head, "fin/ctr.md").meta.review_due == date(2027, 3, 1), "a reload keeps the form"
    assert not app.knowledge.drafts.rows.ending("author", ""), "a draft ends with its change"
    reader = visit("documents", **{**chosen, "persona": "reader"})
    assert "Edit 1 document" not in words(reader), "readers have no such form"


def test_an_address_that_names_would_make_too_long_names_a_draft(visit: Open, tmp_path: Path) -> None:
    def choose_all() -> None:
        from pages.ui import identity
        from pages.ui.documents import bulk
        from pages.ui.workspace import app

        bulk.begin([document.id for document in app().knowledge.documents.all()], identity.me())

    app = small_app(tmp_path / "kb", NoProcesses())
    put(app, {f"it/a-document-with-a-rather-long-name-{n}.md": f"# D {n}\n\nText.\n" for n in range(50)})
    visit("documents", home=tmp_path / "kb", persona="author")
    chosen = AppTest.from_function(choose_all)
    chosen.session_state["persona"] = "author"
    chosen.run()
    assert not chosen.exception
    named = "".join(chosen.query_params["docs"])
    assert len(named) < 20, "one value, not fifty"
    page = visit("documents", home=tmp_path / "kb", persona="author", docs=named)
    assert [title.value for title in page.header] == ["Edit 50 documents"]


def test_owners_of_an_import_come_from_folders_history_or_a_table_in_one_change(tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    ann, jane = demo("author"), Person("Jane Doe", "jane@elsewhere.org")
    put(app, {f"{folder}/{n}.md": f"# {folder} {n}\n\nText.\n" for folder in ("hr", "it") for n in range(12)})
    store = app.knowledge.repository
    for n, (who, path) in enumerate(
        [(ann.person, "hr/0.md"), (jane, "hr/0.md"), (ann.person, "hr/0.md"), (jane, "it/1.md")]
    ):
        store.commit("main", {path: f"# {path}\n\nText {n}.\n".encode()}, who, "Edit", expected=store.head())

    owners, documents = app.inbox.owners, app.knowledge.documents.all()
    found = owners.by_history(documents, app.knowledge.documents.authored())
    assert dict(found.known().owners) == {"hr/0.md": ann.name}, "who imported 24 documents wrote none of them"
    assert (found.shares, dict(found.unknown)) == ({ann.name: 1, "Jane Doe": 1}, {"Jane Doe": 1})
    by_folder = owners.by_folder(documents, {"hr": ann.name, "nowhere": "Ann"})
    assert (by_folder.known().shares, list(by_folder.missing)) == ({ann.name: 12}, ["nowhere"])
    table = f"Path,Keeper\nhr,{ann.name}\nhr/3.md,Petra Voss\nit/1.md,Nobody Known\nit/99.md,Petra Voss\n"
    by_table = owners.by_table(documents, table, "keeper")
    assert (by_table.known().shares, dict(by_table.unknown)) == ({ann.name: 11, "Petra Voss": 1}, {"Nobody Known": 1})
    assert list(by_table.missing) == ["it/99.md"]
    wanted, target = by_table.known().owners, Target(0, "Name the owners", "")
    change, _ = save_owners(app.reviews.changes, app.knowledge.documents, ann, wanted, target)
    assert len(change.documents) == 12
    assert at(app, change.head, "hr/3.md").meta.owner == "Petra Voss"


def test_the_page_names_owners_by_folder(visit: Open, tmp_path: Path) -> None:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {f"{folder}/{n}.md": f"# {folder} {n}\n" for folder in ("hr", "it") for n in range(3)})
    page = visit("documents", home=tmp_path / "home", persona="author", do="owners")
    page.selectbox(key="owners_folder_0").set_value("Petra Voss").run()
    assert "Petra Voss: 3 documents" in words(page).replace("*", "")
    page.button(key="owners_save").click().run()
    assert not page.exception
    (change,) = app.reviews.changes.all()
    assert [entry.path for entry in change.documents] == ["hr/0.md", "hr/1.md", "hr/2.md"]


@pytest.mark.browser
def test_documents_are_selected_over_a_filtered_list(chromium: Any) -> None:
    empty = {"type": "sop", "typeName": "SOP", "status": "approved", "fresh": "x"}
    filters = [{"name": "owner", "label": "Any owner", "labels": {"-": "No owner"}}]
    more = {"badges": [], "version": 1, "updated": "", "updatedText": "", "review": "", "reviewText": "–", "sub": ""}
    rows = [
        {
            **empty,
            **more,
            "doc": f"d{n}",
            "title": f"Doc {n}",
            "folder": "a" if n % 2 else "b",
            "owner": "-" if n < 70 else "Ann",
            "search": f"doc {n}",
        }
        for n in range(200)
    ]
    with browser.component(chromium, "library", "rows") as page:
        page.evaluate("show", {"rows": rows, "filters": filters, "select": False})
        assert page.get_by_role("checkbox").count() == 0
    with browser.component(chromium, "library", "rows") as page:
        page.evaluate("show", {"rows": rows, "filters": filters, "select": True})
        page.get_by_label("Any owner").select_option(label="No owner (70)")
        page.get_by_label("Select all 70 documents").check()
        page.get_by_label("Select Doc 0").uncheck()
        page.get_by_label("Any owner").select_option(label="Any owner")
        page.get_by_label("Select Doc 100").check()
        assert page.get_by_role("status").inner_text().startswith("70 documents selected")
        page.get_by_role("button", name="Edit 70 documents").click()
        ((name, value),) = page.evaluate("sent")
        assert name == "edit"
        assert sorted(value["docs"]) == sorted([f"d{n}" for n in range(1, 70)] + ["d100"])
        page.get_by_role("button", name="Clear").click()
        assert page.get_by_role("status").inner_text() == ""


@pytest.mark.slow
@pytest.mark.data
def test_nine_hundred_documents_are_edited_within_seconds(app: App) -> None:
    source = SHARED / "markdown"
    if not source.is_dir():
        pytest.skip("the shared handbook is missing")
    for folder in ("a", "b"):
        app.knowledge.documents.import_folder(demo("admin"), source, into=folder)
    documents = app.knowledge.documents.all()
    assert len(documents) > 900
    began = time.process_time()
    change, made = saved(app, [document.id for document in documents], BulkEdit(owner="Dana"))
    assert len(change.documents) + len(made.refused) == len(documents)
    assert time.process_time() - began < 30
    assert len(bulk_files(documents, BulkEdit(owner="Dana")).files) == len(made.files)
