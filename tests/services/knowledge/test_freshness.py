"""Freshness: what is due, who may confirm it, on the page and by the API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import App
from core.errors import BadInput, NotFound, Refused
from core.services.people.accounts import DEMO
from tests.conftest import NoProcesses, put, small_app
from tests.support.api_server import ApiServer
from tests.support.apptest import drawn

READER, AUTHOR, AUTHOR2, REVIEWER, REVIEWER2, ADMIN = DEMO
PATH = "finance/records.md"
TEXT = (
    "---\nid: FIN-1\ntitle: Records\nowner: Ann\nreview_due: 2020-01-01\n---\n\n# Records\n\nKeep invoices 5 years.\n"
)


@pytest.fixture
def kb(tmp_path: Path) -> App:
    app = small_app(tmp_path / "home", NoProcesses())
    put(app, {PATH: TEXT, "it/vpn.md": "# Using the VPN\n\nUse it.\n"})
    app.reviews.merger.repair()
    return app


def test_the_page_lists_what_is_due_and_confirming_takes_it_off(visit: Callable[..., Any], kb: App) -> None:
    def due(role):
        return drawn(visit("freshness", kb.settings.home, role), "listing")["items"]

    assert [(row["doc"], row["kind"]) for row in due("reviewer")] == [("FIN-1", "overdue"), ("it/vpn", "no owner")]
    assert [bool(row["action"]) for row in due("reviewer")] == [True, False]
    assert not any(row["action"] for row in due("author"))
    kb.knowledge.freshness.confirm(REVIEWER, PATH, date(2030, 1, 1))
    assert [row["doc"] for row in due("reviewer")] == ["it/vpn"]


@pytest.mark.parametrize("page", ["home", "freshness"])
def test_documents_with_keys_of_their_own_are_shown_again_from_the_cache(
    visit: Callable[..., Any], kb: App, page: str
) -> None:
    put(kb, {"it/odd.md": "---\ntitle: Odd\nweight: 3\nreview_due: 2020-01-01\n---\n# Odd\n"})
    app = visit(page, kb.settings.home).run()  # the second run reads the cache
    assert not app.exception
    assert any('"Odd"' in element.proto.json for element in app.get("bidi_component"))


def test_confirming_a_document_moves_only_its_review(kb: App) -> None:
    with pytest.raises(Refused, match="Only reviewers and admins may confirm a document"):
        kb.knowledge.freshness.confirm(AUTHOR, PATH, date(2027, 6, 1))
    kb.knowledge.freshness.confirm(REVIEWER, PATH, date(2027, 6, 1))
    assert kb.knowledge.documents.show(PATH).text == TEXT.replace("2020-01-01", "2027-06-01")
    assert "Verified-by: Petra Voss" in kb.knowledge.repository.log(kb.knowledge.repository.head())[0][0].message
    assert tuple(kb.people.audit.problems()) == ()


def test_what_is_not_there_or_lies_in_the_past_is_refused_with_a_sentence(kb: App) -> None:
    with pytest.raises(NotFound, match=r"There is no document 'nope\.md'"):
        kb.knowledge.freshness.confirm(REVIEWER, "nope.md", date(2027, 6, 1))
    with pytest.raises(BadInput, match="must lie in the future"):
        kb.knowledge.freshness.confirm(REVIEWER, PATH, kb.knowledge.freshness.clock.today())


def test_programs_list_and_confirm_until_nothing_is_left(kb: App) -> None:
    api = ApiServer(kb)

    def listed() -> dict[str, list[str]]:
        return {kind: [row["doc"] for row in rows] for kind, rows in api.get("/freshness").json().items() if rows}

    imported = ["FIN-1", "it/vpn"]
    assert listed() == {"overdue": ["FIN-1"], "without_owner": ["it/vpn"], "imported": imported}
    assert kb.knowledge.freshness.attention().ownerless_folders == {}, "one is named"
    put(kb, {f"hr/{n}.md": f"# Paper {n}\n\nText.\n" for n in range(6)})
    assert kb.knowledge.freshness.attention().ownerless_folders == {"hr": 6, "it": 1}, "an import is a line per folder"
    put(kb, {f"hr/{n}.md": None for n in range(6)})
    put(kb, {"it/vpn.md": "---\nowner: Farid\n---\n# Using the VPN\n"})
    for document, left in (("FIN-1", {"imported": ["it/vpn"]}), ("it/vpn", {})):
        confirmed = api.post("/confirmations", {"document": document, "until": "2040-01-01"}, "reviewer")
        assert (confirmed.status_code, confirmed.json()["review_due"]) == (201, "2040-01-01")
        assert listed() == left
    refused = api.post("/confirmations", {"document": "FIN-1", "until": "3040-31-01"}, "reviewer").json()
    assert refused["detail"] == "The next review is '3040-31-01'; write the date as YYYY-MM-DD."


def test_an_import_is_counted_in_documents_and_confirmed_folder_by_folder(visit: Callable[..., Any], kb: App) -> None:
    put(kb, {f"hr/{name}.md": f"# Paper {name}\n\nText.\n" for name in ("1", "2", "3", "pay/4", "pay/5", "pay/6")})
    found = kb.knowledge.freshness.attention()
    assert kb.knowledge.home.overview().folders == {"hr": 3, "hr/pay": 3, "finance": 1, "it": 1}, "not one bar for most"
    listed = drawn(visit("freshness", kb.settings.home), "listing")["items"]
    for kind, documents in (("no owner", found.without_owner), ("imported", found.imported)):
        assert sum(row.get("count", 1) for row in listed if row["kind"] == kind) == len(documents)
    seen = []
    for row in listed:
        if row["kind"] == "imported":
            inside = drawn(visit("freshness", kb.settings.home, folder=row["folder"]), "listing")["items"]
            assert len(inside) == row["count"], "each of its documents, with its button"
            assert all(one["action"] for one in inside)
            seen += [one["key"] for one in inside]
    assert sorted(seen) == sorted(document.path for document in found.imported)


def test_an_import_is_approved_by_nobody_until_a_text_is_reviewed_or_confirmed(
    visit: Callable[..., Any], kb: App
) -> None:
    def merged(edit: bytes) -> None:
        change = kb.reviews.changes.propose(AUTHOR, "Say more", {"it/vpn.md": edit})
        kb.reviews.changes.submit(AUTHOR, change.id)
        kb.reviews.discussion.approve(REVIEWER, change.id)
        kb.reviews.merger.merge(AUTHOR, change.id)

    put(kb, {"hr/leave.md": "---\nstatus: Approved\n---\n# Leave\n"})

    def status():
        return {document.path: document.status for document in kb.knowledge.documents.all()}

    assert status() == {"hr/leave.md": "approved", "it/vpn.md": "imported", PATH: "imported"}, "one file says it itself"
    merged(b"---\nowner: Ann\ntags: [net]\n---\n# Using the VPN\n\nUse it.\n")
    assert status()["it/vpn.md"] == "imported", "a change of owner and tags approves no text"

    def said():
        return [b["text"] for b in drawn(visit("documents", kb.settings.home, doc="it/vpn"), "header")["badges"]]

    assert said() == ["Document", "Imported"]
    merged(b"---\nowner: Ann\ntags: [net]\n---\n# Using the VPN\n\nAlways use it.\n")
    assert status()["it/vpn.md"] == "approved"
    assert said() == ["Document", "Approved"]
