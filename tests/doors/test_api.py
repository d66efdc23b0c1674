"""The HTTP API: who gets in, what comes out, and how refusals read."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from core.adapters.system.processes import Presence
from core.curation.document.names import MAX_PATH_BYTES
from core.curation.review.proposals import MAX_TEXT, MAX_TITLE
from core.entrypoints.api import application, reference
from core.entrypoints.api.gateway import MAX_BYTES
from core.entrypoints.limits import TokenBuckets
from core.errors import Refused
from core.services.knowledge.gaps import MAX_NOTE
from tests.conftest import ROOT, demo, put
from tests.support.api_server import ApiServer, listening, served

NOTE = "---\nid: FIN-7\ntitle: Cash drawers\nowner: Mei\n---\n# Cash drawers\n\nCount the drawer twice.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> ApiServer:
    return served(tmp_path_factory.mktemp("api") / "home")


def proposed(server: ApiServer, path: str = "fin/drawers.md", text: str = NOTE) -> dict[str, Any]:
    body = {"title": "Cash drawers", "files": [{"path": path, "text": text}], "message": "Asked often"}
    answer = server.post("/changes", body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


# ---------------------------------------------------------------- keys


def with_key(server: ApiServer, key: str, title: str = "Keys", role: str = "author") -> Any:
    body = {"title": title, "files": [{"path": "fin/keys.md", "text": NOTE}]}
    return server.post("/changes", body, role, Idempotency_Key=key)


def test_a_request_that_comes_again_with_its_key_is_answered_and_not_done_again(server: ApiServer) -> None:
    first, again = with_key(server, "once"), with_key(server, "once")
    assert (first.status_code, again.status_code, first.content) == (201, 201, again.content)
    assert [answer.headers.get("idempotent-replayed") for answer in (first, again)] == [None, "true"]
    for name in ("location", "etag", "content-type"):
        assert first.headers[name] == again.headers[name]
    assert with_key(server, "twice").json()["id"] != first.json()["id"]
    assert with_key(server, "once", role="reviewer").json()["id"] != first.json()["id"], "a key is its token's own"
    refused = with_key(server, "once", "Other words")
    assert (refused.status_code, "with another request before" in refused.json()["detail"]) == (422, True)


def test_a_refusal_did_nothing_so_its_key_is_free(server: ApiServer) -> None:
    assert with_key(server, "refused", " ").status_code == 422
    assert with_key(server, "refused").status_code == 201
    assert server.post("/gaps", {"query": "Who?"}, Idempotency_Key="").status_code == 422
    assert server.post("/gaps", {"query": "Who?"}, Idempotency_Key="k" * 201).status_code == 422


def test_a_key_is_kept_for_a_day_and_then_swept(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    replies, start = server.app.people.replies, time.time()
    first = with_key(server, "a day").json()["id"]
    monkeypatch.setattr(replies, "now", lambda: start + 24 * 3600 - 5)
    assert (with_key(server, "a day").json()["id"], replies.sweep()) == (first, 0)
    monkeypatch.setattr(replies, "now", lambda: start + 25 * 3600)
    assert replies.sweep() > 0
    assert with_key(server, "a day").json()["id"] != first


def test_a_request_that_is_still_being_worked_on_is_not_begun_again(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ends, propose = threading.Event(), threading.Event(), type(server.app.reviews.changes).propose

    def slow(*arguments: Any, **named: Any) -> Any:
        begun.set()
        ends.wait(600)
        return propose(*arguments, **named)

    monkeypatch.setattr(type(server.app.reviews.changes), "propose", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(with_key, server, "slow")
        assert begun.wait(600)
        second = with_key(server, "slow")
        ends.set()
        assert first.result().status_code == 201
    assert (second.status_code, second.headers["retry-after"]) == (409, "1")
    assert with_key(server, "slow").json() == first.result().json()


def die(server: ApiServer) -> None:
    """What the app's process leaves when it is killed."""
    replies = server.app.people.replies
    replies.process = Presence(replies.process.folder)
    replies._in_hand.clear()
    gc.collect()


def test_a_request_whose_server_died_after_its_work_is_answered_and_not_done_again(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = proposed(server, "fin/died.md")["id"]
    sends: list[Callable[[], Any]] = [
        lambda: with_key(server, "died", "Died"),
        lambda: server.post(f"/changes/{number}/submit", {}, Idempotency_Key="died too"),
        lambda: server.post("/gaps", {"query": "Who died?"}, Idempotency_Key="died three"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(type(server.app.people.replies), "keep", lambda *_: None)
        first = [send() for send in sends]
        assert [(send().status_code, send().headers["retry-after"]) for send in sends] == [(409, "1")] * 3
    die(server)
    again = [send() for send in sends]
    assert [answer.status_code for answer in again] == [201, 200, 409]
    assert [answer.json()["id"] for answer in again[:2]] == [answer.json()["id"] for answer in first[:2]]
    assert again[0].headers["location"] == first[0].headers["location"]
    assert ("took effect" in again[2].json()["detail"], "retry-after" in again[2].headers) == (True, False)
    assert [send().status_code for send in sends] == [201, 200, 409]
    assert sum(change.title == "Died" for change in server.app.reviews.changes.all()) == 1


def test_a_request_whose_server_died_before_its_work_is_done_by_the_next_try(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(type(server.app.people.replies), "drop", lambda *_: None)
        patch.setattr(type(server.app.reviews.changes), "propose", lambda *_: 1 / 0)
        assert with_key(server, "never done", "Never done").status_code == 500
    die(server)
    assert [with_key(server, "never done", "Never done").status_code for _ in range(2)] == [201, 201]
    assert sum(change.title == "Never done" for change in server.app.reviews.changes.all()) == 1


def test_a_merge_whose_server_died_between_git_and_the_database_is_answered_as_merged(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, changes = proposed(server, "fin/between.md", "# Between\n\nWords.\n")["id"], server.app.reviews.changes
    changes.submit(demo("author"), number)
    server.app.reviews.discussion.approve(demo("reviewer"), number)

    def merge():
        return server.post(f"/changes/{number}/merge", {}, "reviewer", Idempotency_Key="between")

    with monkeypatch.context() as patch:
        patch.setattr(type(server.app.people.replies), "drop", lambda *_: None)
        patch.setattr(type(server.app.reviews.merger), "_record", lambda *_: 1 / 0)
        assert merge().status_code == 500
    die(server)
    answer = merge()
    assert (answer.status_code, answer.json()["state"]) == (200, "merged")
    other = server.post(f"/changes/{number}/merge", {}, "reviewer", Idempotency_Key="another")
    assert (other.status_code, other.json()["detail"]) == (409, "This change is already merged.")


# ---------------------------------------------------------------- methods and limits


def test_head_is_get_without_a_body_wherever_there_is_a_get(server: ApiServer) -> None:
    for path in ("/search?q=cash", "/documents", "/documents/BSA-1", "/gaps", "/health", "/openapi.json", "/nothing"):
        got, head = server.get(path), server.ask("author", "HEAD", path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        for name in ("content-type", "content-length", "etag", "x-total-count"):
            assert head.headers.get(name) == got.headers.get(name) or path == "/search?q=cash", (path, name)


def test_allow_names_every_method_of_an_address(server: ApiServer) -> None:
    described = reference.document(server.api)["paths"]
    for path, methods in described.items():
        refused = server.ask("author", "PUT", re.sub(r"{\w+}", "1", path))
        names = {method.upper() for method in methods}
        assert refused.status_code == 405
        assert set(refused.headers["allow"].split(", ")) == names | ({"HEAD"} if "GET" in names else set()), path
    assert server.ask("author", "PUT", "/gaps").json()["detail"] == "This address takes GET, HEAD, POST."


def test_the_address_of_the_api_says_where_to_read_on(server: ApiServer) -> None:
    outside = TestClient(application.ApiDoor(None, server.api))
    for path in ("/api/v1", "/api/v1/"):
        answer = outside.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert outside.get(answer.json()["docs"]).status_code == 200
        assert outside.head(path).status_code == 200
    head = outside.head("/api/v1/search?q=cash", headers={"Authorization": f"Bearer {server.tokens['author']}"})
    assert (head.status_code, head.content) == (200, b"")


def test_the_schema_has_the_limits_that_the_services_have(server: ApiServer) -> None:
    schemas = reference.document(server.api)["components"]["schemas"]
    limits = {
        ("GapForm", "note"): MAX_NOTE,
        ("ProposalForm", "title"): MAX_TITLE,
        ("ProposalForm", "message"): MAX_TEXT,
        ("EditForm", "title"): MAX_TITLE,
        ("EditForm", "message"): MAX_TEXT,
        ("MessageForm", "message"): MAX_TEXT,
        ("CommentForm", "message"): MAX_TEXT,
        ("VerdictForm", "message"): MAX_TEXT,
        ("FileForm", "path"): MAX_PATH_BYTES,
    }
    for (form, field), most in limits.items():
        assert schemas[form]["properties"][field]["maxLength"] == most, (form, field)
    for form, schema in schemas.items():
        if form.endswith("Form"):
            for field, about in schema["properties"].items():
                kinds = [about, *about.get("anyOf", ()), about.get("items", {}), about.get("additionalProperties", {})]
                texts = [kind for kind in kinds if isinstance(kind, dict) and kind.get("type") == "string"]
                assert all({"maxLength", "enum", "pattern"} & set(kind) for kind in texts), (form, field)
    refused = server.post("/gaps", {"query": "Who?", "note": "x" * (MAX_NOTE + 1)})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "body.note")
    for operation in (
        methods["post"] for methods in reference.document(server.api)["paths"].values() if "post" in methods
    ):
        assert "Idempotency-Key" in {parameter["name"] for parameter in operation["parameters"]}


@pytest.mark.parametrize("second", ["fin/café.md", "fin/cafe\u0301.md"])  # the same letters in another form
def test_a_path_that_stands_twice_in_a_change_is_refused(server: ApiServer, second: str) -> None:
    files = [{"path": "fin/café.md", "text": NOTE}, {"path": second, "text": "# Other\n\nText.\n"}]
    change = proposed(server, "fin/edited.md")["id"]
    for path in ("/changes", f"/changes/{change}/edits"):
        refused = server.post(path, {"title": "Twice", "files": files})
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith("fin/café.md stands twice in this change.")
    assert server.get(f"/changes/{change}").json()["title"] == "Cash drawers"


# ---------------------------------------------------------------- who gets in


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer concord_nothing", "Basic abc", "Bearer ÿ\x7f"])
def test_nobody_gets_in_without_a_token_that_counts(server: ApiServer, header: str) -> None:
    answer = server.client.get("/search?q=cash", headers={"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "Account page" in answer.json()["detail"]


def test_a_revoked_token_is_refused_at_the_next_request(server: ApiServer) -> None:
    secret, token = server.app.people.tokens.make(demo("author"), "short", "read")

    def ask():
        return server.client.get("/search?q=cash", headers={"Authorization": f"Bearer {secret}"})

    assert ask().status_code == 200
    server.app.people.tokens.revoke(demo("author"), token.id)
    assert ask().status_code == 401
    assert "was revoked" in ask().json()["detail"]


def test_scope_and_role_are_refused_with_the_rule(server: ApiServer) -> None:
    body = {"title": "T", "files": [{"path": "a.md", "text": NOTE}]}
    refused = server.post("/changes", body, role="reader")
    assert refused.status_code == 403
    assert refused.json()["detail"].startswith("Only authors and above may propose a change")
    narrow, _ = server.app.people.tokens.make(demo("reviewer"), "narrow", "read")
    answer = server.client.post("/changes", json=body, headers={"Authorization": f"Bearer {narrow}"})
    assert answer.status_code == 403
    assert "has the scope read, which may not propose a change" in answer.json()["detail"]


def test_a_reader_gets_no_draft_by_its_commit(server: ApiServer) -> None:
    head = proposed(server, "it/secret.md")["head"]
    assert server.get(f"/documents/it/secret.md?as_of={head}", role="reader").status_code == 403


def test_programs_are_told_what_they_can_do_about_it(server: ApiServer) -> None:
    answer = server.get("/changes/4711")
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "There is no change 4711. View all changes on the Reviews page.",
    )
    secret, _ = server.app.people.tokens.make(demo("author"), "plain", "propose")
    body = json.dumps({"query": "Who signs?"}).encode()
    answer = server.client.post("/gaps", content=body, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["detail"]


# ---------------------------------------------------------------- search and documents


def test_a_search_finds_passages_with_version_and_status(server: ApiServer) -> None:
    answer = server.get("/search?q=currency+reports&k=2").json()
    first = answer["hits"][0]
    assert (first["doc"], first["status"], first["version"]) == ("BSA-1", "approved", 1)
    assert len(answer["hits"]) <= 2
    assert server.get("/search?q=form&tag=cash").json()["hits"][0]["doc"] == "BSA-1"


def test_a_search_is_kept_only_where_a_person_asked(server: ApiServer) -> None:
    server.get("/search?q=cash+over+the+counter")
    assert not server.app.search.queries.listed(demo("author"))
    server.get("/search?q=cash+over+the+counter&asked=true")
    assert [asked.question for asked in server.app.search.queries.listed(demo("author"))] == ["cash over the counter"]


def test_an_unchanged_answer_is_not_sent_again(server: ApiServer) -> None:
    for path in ("/search?q=cash", "/documents", "/documents/BSA-1", "/history/BSA-1", "/freshness", "/gaps"):
        first = server.get(path)
        again = server.get(path, If_None_Match=f'"other", {first.headers["etag"]}')
        assert (again.status_code, again.content) == (304, b""), path
        for name in ("etag", "cache-control"):
            assert again.headers[name] == first.headers[name]
    assert (
        server.get("/search?q=cash&k=3", If_None_Match=server.get("/search?q=cash").headers["etag"]).status_code == 200
    )


def test_an_edit_makes_the_old_tag_stale(tmp_path: Path) -> None:
    server = served(tmp_path / "home")
    old = server.get("/documents/BSA-1").headers["etag"]
    put(server.app, {"fin/ctr.md": "---\nid: BSA-1\ntitle: Currency reports\n---\n# Currency reports\n\nNew words.\n"})
    answer = server.get("/documents/BSA-1", If_None_Match=old)
    assert answer.status_code == 200
    assert answer.json()["version"] == 2


def test_a_document_is_read_by_id_or_path_and_as_of_a_commit(server: ApiServer) -> None:
    by_id, by_path = server.get("/documents/BSA-1").json(), server.get("/documents/fin/ctr.md").json()
    assert by_id == by_path
    commit = server.get("/history/BSA-1").json()[-1]["commit"]
    assert server.get(f"/documents/BSA-1?as_of={commit}").json()["text"] == by_id["text"]
    missing = server.get("/documents/nothing")
    assert (missing.status_code, missing.json()["title"]) == (404, "Not Found")
    assert missing.json()["detail"].startswith("There is no document 'nothing'")


def test_lists_come_in_parts_that_lead_to_each_other(server: ApiServer) -> None:
    everything = [line["doc"] for line in server.get("/documents").json()]
    address, found = "/documents?limit=3", []
    while address:
        part = server.get(address)
        assert part.headers["x-total-count"] == str(len(everything))
        found += [line["doc"] for line in part.json()]
        links = dict(reversed(link.strip().split("; rel=")) for link in part.headers["link"].split(", "))
        address = links.get('"next"', "").strip("<>")
    assert found == everything
    assert server.get("/documents?limit=3&offset=100").json() == []


# ---------------------------------------------------------------- changes


def test_a_change_goes_from_proposal_to_merge_by_three_people(tmp_path: Path) -> None:
    server = served(tmp_path / "home")
    change = proposed(server)
    number, head = change["id"], change["head"]
    assert server.post(f"/changes/{number}/submit", {}).json()["state"] == "in review"
    seen = server.get(f"/changes/{number}", role="reviewer").headers["etag"]
    own = server.post(f"/changes/{number}/verdicts", {"verdict": "approve"})
    assert own.status_code == 403
    approved = server.post(f"/changes/{number}/verdicts", {"verdict": "approve"}, "reviewer", If_Match=seen)
    assert (approved.status_code, approved.json()["state"]) == (200, "approved")
    merged = server.post(f"/changes/{number}/merge", role="reviewer", If_Match=f'"{head}"')
    assert merged.json()["state"] == "merged"
    assert server.get("/documents/FIN-7").json()["path"] == "fin/drawers.md"


def test_whoever_read_an_older_text_neither_judges_nor_merges(server: ApiServer) -> None:
    change = proposed(server)
    number, seen = change["id"], server.get(f"/changes/{change['id']}").headers["etag"]
    server.post(f"/changes/{number}/submit", {})
    newer = {"files": [{"path": "fin/drawers.md", "text": NOTE + "\nThen sign.\n"}]}
    assert server.post(f"/changes/{number}/edits", newer, If_Match=seen).status_code == 200
    for path, body in (
        ("verdicts", {"verdict": "approve"}),
        ("verdicts", {"verdict": "request changes", "message": "No."}),
        ("comments", {"message": "Why?"}),
        ("edits", newer),
    ):
        stale = server.post(f"/changes/{number}/{path}", body, "reviewer", If_Match=seen)
        assert stale.status_code == 412, path
        assert stale.json()["detail"] == "The change was edited after you opened it. Look at the new text first."
    assert server.post(f"/changes/{number}/verdicts", {"verdict": "approve"}, "reviewer").status_code == 200
    assert server.post(f"/changes/{number}/merge", role="reviewer", If_Match=seen).status_code == 412


def test_a_whole_text_cannot_undo_an_edit_that_its_writer_has_not_read(server: ApiServer) -> None:
    put(server.app, {"fin/till.md": "# Till\n\nOne.\n"})
    blob = server.get("/documents/fin/till.md").json()["blob"]
    files = [{"path": "fin/till.md", "text": "# Till\n\nOne.\nTwo.\n"}]
    proposal = {"title": "Till", "files": files, "read": {"fin/till.md": blob}}
    assert server.post("/changes", proposal).status_code == 201
    put(server.app, {"fin/till.md": "# Till\n\nOne.\nThree.\n"})
    stale = server.post("/changes", proposal)
    assert stale.status_code == 412
    assert stale.json()["detail"] == "fin/till.md was edited after you read it. Read it again, and edit that text."
    assert server.post("/changes", {**proposal, "read": {"fin/till.md": ""}}).status_code == 412


def test_the_tag_of_a_change_moves_with_a_comment_and_its_head_does_not(server: ApiServer) -> None:
    number = proposed(server)["id"]
    before = server.get(f"/changes/{number}").headers["etag"]
    said = server.post(f"/changes/{number}/comments", {"message": "Two people?", "path": "fin/drawers.md", "line": 8})
    assert said.json()["quote"] == "Count the drawer twice."
    assert server.get(f"/changes/{number}", If_None_Match=before).status_code == 200
    assert server.post(f"/changes/{number}/comments", {"message": "Yes"}, If_Match=before).status_code == 201


def test_the_audit_names_door_token_and_request(server: ApiServer) -> None:
    body = {"title": "Named", "files": [{"path": "fin/named.md", "text": NOTE.replace("FIN-7", "FIN-8")}]}
    server.post("/changes", body, X_Request_ID="ticket-4711")
    entry = server.app.people.audit.entries(demo("admin"))[0]
    assert (entry.action, entry.door) == ("propose", "api")
    assert "tests" in json.dumps([entry.token, entry.request])
    assert entry.request == "ticket-4711"


# ---------------------------------------------------------------- how it speaks


def test_every_answer_has_a_request_id_that_the_log_has_too(server: ApiServer, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, "concord.api"):
        assert server.get("/search?q=a+private+question", X_Request_ID="mine.1").headers["x-request-id"] == "mine.1"
        made = server.get("/nowhere", X_Request_ID="two words\x7f").headers["x-request-id"]
    assert len(made) == 32
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("mine.1 GET /search 200 ")
    assert lines[0].endswith("by author (tests)")
    assert any(line.startswith(f"{made} GET /nowhere 404") for line in lines)
    assert "private" not in " ".join(lines)


def test_what_is_not_there_and_what_cannot_be_read_are_problems(server: ApiServer) -> None:
    wrong = {
        ("GET", "/nowhere"): 404,
        ("DELETE", "/documents"): 405,
        ("GET", "/changes/nine"): 422,
        ("GET", "/changes/99999999999999999999"): 422,
        ("GET", "/search"): 422,
        ("GET", "/search?q=%00"): 422,
        ("GET", "/search?q=x&foldr=fin"): 422,
        ("GET", "/search?q=x&config=nothing"): 422,
        ("GET", "/search?q=x&as_of=soon"): 422,
        ("GET", "/runs/nothing"): 404,
        ("GET", "/changes/99999"): 404,
    }
    for (method, path), status in wrong.items():
        answer = server.ask("author", method, path)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), path
        body = answer.json()
        assert (body["status"], body["request"]) == (status, answer.headers["x-request-id"])
        assert " " in body["detail"], body
    assert "foldr" in server.get("/search?q=x&foldr=fin").json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"query": "\\ud800"}',
        b'{"query": "a\\u0000b"}',
        b"[" * 100_000,
        b'{"query": "a", "x": 1}',
        b'{"query": 3}',
    ],
)
def test_a_body_that_cannot_be_used_is_refused_with_a_sentence(server: ApiServer, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {server.tokens['author']}", "Content-Type": "application/json"}
    answer = server.client.post("/gaps", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


def test_a_body_that_is_too_long_is_not_read(server: ApiServer) -> None:
    headers = {"Authorization": f"Bearer {server.tokens['author']}", "Content-Type": "application/json"}
    answer = server.client.post("/gaps", content=b" " * (MAX_BYTES + 1), headers=headers)
    assert answer.status_code == 413


def test_a_fault_is_answered_without_its_reason_and_logged_with_the_id(
    server: ApiServer, monkeypatch: Any, caplog: Any
) -> None:
    monkeypatch.setattr(type(server.app.knowledge.gaps), "open", lambda *_: 1 / 0)
    answer = server.get("/gaps")
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert f"Request {answer.headers['x-request-id']} failed." in caplog.text


# ---------------------------------------------------------------- limits and metrics


def test_a_bucket_gives_a_minutes_worth_and_fills_evenly() -> None:
    now = [0.0]
    buckets = TokenBuckets(60, lambda: now[0])
    assert [buckets.take("a").wait for _ in range(61)] == [0] * 60 + [1]  # type: ignore[union-attr]
    assert buckets.take("b").remaining == 59  # type: ignore[union-attr]
    now[0] = 2.0
    assert [buckets.take("a").wait for _ in range(3)] == [0, 0, 1]  # type: ignore[union-attr]
    assert TokenBuckets(0).take("a") is None


def test_each_token_has_a_limit_of_its_own(tmp_path: Path) -> None:
    server = served(tmp_path / "home", api_rate=3)
    answers = [server.get("/documents?limit=1") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answers[0].headers[f"ratelimit-{name}"] for name in ("limit", "remaining")] == ["3", "2"]
    assert int(answers[3].headers["retry-after"]) > 0
    assert server.get("/documents?limit=1", role="reader").status_code == 200
    assert server.get("/health", role="").status_code == 200


def test_metrics_are_for_the_metrics_token_alone(tmp_path: Path) -> None:
    server = served(tmp_path / "home", metrics_token="scrape-me")
    server.get("/search?q=cash")
    server.get("/changes/7")
    for role in ("", "admin"):
        assert server.get("/metrics", role=role).status_code == 401
    text = server.client.get("/metrics", headers={"Authorization": "Bearer scrape-me"}).text
    assert 'concord_http_requests_total{method="GET",route="/search",status="200"} 1.0' in text
    assert 'concord_http_requests_total{method="GET",route="/changes/{change}",status="404"} 1.0' in text
    for name in (
        "concord_http_request_seconds_bucket",
        "concord_searches_total",
        'concord_jobs{state="failed"} 0.0',
        "concord_index_age_seconds",
        "concord_documents 7.0",
    ):
        assert name in text, name
    for name in ("concord_disk_free_bytes", "concord_memory_bytes", "concord_sign_in_failures 0.0"):
        assert name in text, name
    assert "concord_backup_age_seconds" not in text
    server.app.platform.jobs.start("reindex", {})
    with pytest.raises(Refused):
        server.app.people.accounts.sign_in("author", "wrong")
    server.app.people.audit.note(demo("admin"), "back up", "a folder")
    text = server.client.get("/metrics", headers={"Authorization": "Bearer scrape-me"}).text
    assert "concord_sign_in_failures 1.0" in text
    assert "\nconcord_backup_age_seconds " in text
    assert "concord_jobs_waiting 1.0" in text
    assert "concord_workers 0.0" in text
    assert served(tmp_path / "other").get("/metrics").status_code == 401


def test_health_says_more_to_whoever_has_a_token(server: ApiServer) -> None:
    assert server.get("/health", role="").json() == {"status": "ok"}
    known = server.get("/health").json()
    assert (known["status"], known["generation"]) == ("ok", 1)
    assert server.client.get("/health", headers={"Authorization": "Bearer no"}).status_code == 401


# ---------------------------------------------------------------- the description


def test_the_page_about_the_api_names_every_operation_and_loads_nothing_from_elsewhere(server: ApiServer) -> None:
    page = server.client.get("/docs").text
    for path, methods in reference.document(server.api)["paths"].items():
        for method in methods:
            assert f"data-method='{method.upper()}' data-path='{path}'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>" not in page
    assert server.client.get("/docs.js").headers["content-type"].startswith("text/javascript")
    assert server.client.get("/openapi.json").json()["openapi"].startswith("3.1")


def test_every_operation_says_what_it_refuses(server: ApiServer) -> None:
    for path, methods in reference.document(server.api)["paths"].items():
        for method, operation in methods.items():
            answers = operation["responses"]
            assert {"401", "403", "422", "429", "500", "503"} <= set(answers), (method, path)
            assert operation["summary"]
            assert operation["description"].endswith("."), path


def test_the_examples_of_the_docs_work(tmp_path: Path) -> None:
    """Every block of docs/api.md, in order, by curl against a real server."""
    server = served(tmp_path / "home", metrics_token="scrape-me")
    starter = (
        "finance/compliance/ctr-filing.md"  # the examples are about what everybody has who runs the app as it comes
    )
    put(server.app, {starter: (ROOT / "kb" / starter).read_text()})
    blocks = re.findall(r"^```bash\n(.*?)^```", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    with listening(server) as address:
        given = {
            "CONCORD": address,
            "TOKEN": server.tokens["author"],
            "REVIEWER": server.tokens["reviewer"],
            "METRICS": "scrape-me",
        }
        for block in blocks:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, env={**os.environ, **given}
            )
            assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
            assert done.stdout
