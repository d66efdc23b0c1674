"""The Python client: a method for every operation with its parameters, and a conversation with a real server."""

from __future__ import annotations

import inspect
import subprocess
import sys
import urllib.request
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from clients.concord_client import Client, Problem
from core.entrypoints.api import application, reference
from core.evaluation.querysets.queryset import Judgment, QuerySet, Question
from core.settings import Settings
from tests.conftest import ROOT, NoProcesses, put, small_app
from tests.support.api_server import ApiServer, listening, served

OWN = {"limit", "offset", "Idempotency-Key"}  # what the client says by itself
WITHOUT = {"metrics": "Prometheus reads it, in a format of its own."}


@cache
def operations() -> dict[str, set[str]]:
    """Every operation with the names of what it takes; `head` is what If-Match carries, lists come whole."""
    described = reference.document(application.create(lambda: small_app(Path()), Settings()))
    found = {}
    for methods in described["paths"].values():
        for operation in methods.values():
            names = {parameter["name"] for parameter in operation.get("parameters", ())} - OWN
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            form = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            names |= set(described["components"]["schemas"][form]["properties"]) if form else set()
            found[operation["operationId"]] = {"head" if name == "If-Match" else name for name in names}
    return found


def test_every_operation_has_a_method_that_takes_what_it_takes() -> None:
    for name, parameters in operations().items():
        if name not in WITHOUT:
            given = set(inspect.signature(getattr(Client, name)).parameters) - {"self"}
            assert given == parameters, name
    methods = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")}
    assert methods == set(operations()) - set(WITHOUT)


def test_the_file_is_enough() -> None:
    """Whoever has only this file can use it: nothing but the standard library is imported."""
    code = "import sys, concord_client; print([n for n in ('core', 'requests', 'pydantic') if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'clients')!r}); {code}"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_program_finds_proposes_and_a_reviewer_merges(tmp_path: Path) -> None:
    server = served(tmp_path / "home")
    with listening(server) as address:
        author, reviewer = (Client(address, server.tokens[role]) for role in ("author", "reviewer"))
        assert author.search("currency reports", tag=["cash"], k=1)["hits"][0]["doc"] == "BSA-1"
        known = author.read_document("fin/ctr.md")
        text, read = known["text"] + "\nKeep a copy.\n", {"fin/ctr.md": known["blob"]}
        made = author.propose_change("Keep a copy", {"fin/ctr.md": text}, message="Asked for", read=read)
        with pytest.raises(Problem, match="403: Only Avery Lindqvist may submit this change"):
            reviewer.submit_change(made["id"])
        invited = author.invite_co_authors(made["id"], ["reviewer"])
        assert [one["account"] for one in invited["co_authors"]] == ["reviewer"]
        reviewer.submit_change(made["id"])
        assert author.invite_co_authors(made["id"], ["reviewer"], remove=True)["co_authors"] == []
        reviewer.comment_on_change(made["id"], "Good.", path="fin/ctr.md", line=1, head=made["head"])
        reviewer.judge_change(made["id"], "approve", head=made["head"])
        with pytest.raises(Problem) as refused:
            reviewer.merge_change(made["id"], head="0" * 40)
        assert (refused.value.status, bool(refused.value.request)) == (412, True)
        assert reviewer.merge_change(made["id"], head=made["head"])["state"] == "merged"
        assert [version["version"] for version in author.document_history("BSA-1")] == [2, 1]
        assert author.document_diff("BSA-1")["added"] == 2
        assert author.report_gap("Who signs?")["query"] == "Who signs?"
        assert author.health()["status"] == "ok"
        with pytest.raises(Problem, match="403: Only authors"):
            Client(address, server.tokens["reader"]).propose_change("No", {"a.md": "# A\n"})
        with pytest.raises(Problem, match="401: Send an access token"):
            Client(address).freshness()


def test_a_lost_answer_is_asked_for_again_and_nothing_is_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, opened, lost = served(tmp_path / "home"), urllib.request.urlopen, []

    def cut(request: Any, **options: Any) -> Any:
        """The server has answered; nobody hears it the first two times."""
        answer = opened(request, **options)
        if len(lost) < 2:
            lost.append(request.get_header("Idempotency-key"))
            raise ConnectionResetError
        return answer

    monkeypatch.setattr("clients.concord_client.time", SimpleNamespace(sleep=lambda seconds: None))
    with listening(server) as address, monkeypatch.context() as patch:
        patch.setattr(urllib.request, "urlopen", cut)
        made = Client(address, server.tokens["author"]).propose_change("Once", {"a.md": "# A\n\nText.\n"})
        assert (made["id"], len(set(lost)), len(lost)) == (1, 1, 2)
        assert len(list(Client(address, server.tokens["author"]).list_changes())) == 1
        lost.clear()
        with pytest.raises(ConnectionResetError):
            Client(address, server.tokens["author"], retries=0).report_gap("Who signs?")


class Counted(Client):
    """A client that writes down which of its methods were called."""

    called: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and callable(getattr(Client, name, None)):
            Counted.called.add(name)
        return super().__getattribute__(name)


def test_every_call_of_the_client_is_answered_by_a_real_server(tmp_path: Path) -> None:
    server = served(tmp_path / "home")
    author = server.app.people.accounts.actor("author")
    asked = QuerySet("cash", (Question("q1", "Form 112 for cash"),), (Judgment("q1", "fin/ctr.md"),))
    server.app.evaluation.querysets.keep(author, asked)
    server.app.evaluation.runs.measure(author, "cash", [("", "bm25"), ("", "dense")])
    with listening(server) as address:
        one, other, admin = (Counted(address, server.tokens[role]) for role in ("author", "reviewer", "admin"))
        _changes(one, other)
        _reads(one)
        gap = one.report_gap("Who signs?", note="Asked at the counter")["id"]
        assert [line["id"] for line in one.list_gaps()] == [gap]
        assert other.assign_gap(gap, "author")["owner"] == "author"
        assert other.close_gap(gap) == {"closed": gap}
        runs = [line["id"] for line in one.list_runs(queryset="cash")]
        assert {one.show_run(run)["id"] for run in runs} == set(runs)
        assert one.compare_runs(*runs)["measure"] == "nDCG@10"
        assert [line["name"] for line in one.list_querysets()] == ["cash"]
        assert one.show_queryset("cash", questions=True)["name"] == "cash"
        job = one.start_run("cash", configs=["bm25"])["job"]
        assert one.show_job(job)["id"] == job in [line["id"] for line in admin.list_jobs()]
        assert other.confirm_document("BSA-1", until="2027-01-01")
    assert Counted.called == set(operations()) - set(WITHOUT)


def _changes(author: Client, reviewer: Client) -> None:
    """A change from its proposal to its undoing, and one that is closed."""
    made = author.propose_change("Tills", {"fin/till.md": "# Tills\n\nCount tills twice.\n"})
    number = made["id"]
    edited = author.edit_change(number, {"fin/till.md": "# Tills\n\nCount tills daily.\n"}, title="Tills, daily")
    assert edited["head"] != made["head"]
    author.invite_co_authors(number, ["author2"])
    author.submit_change(number, reviewers=["reviewer"])
    author.withdraw_change(number)
    author.submit_change(number)
    reviewer.comment_on_change(number, "Good.", path="fin/till.md", line=1)
    assert reviewer.show_change(number)["state"] == "in review"
    assert reviewer.change_diff(number)
    assert reviewer.change_conflicts(number) == []
    assert author.measure_impact(number)
    assert author.change_impact(number)
    reviewer.judge_change(number, "approve")
    assert reviewer.merge_change(number)["state"] == "merged"
    undoing = author.revert_change(number)["id"]
    assert author.close_change(undoing, message="Not now.")["state"] == "closed"
    assert author.reopen_change(undoing)["state"] == "draft"
    assert {line["id"] for line in author.list_changes(mine=True)} >= {undoing}


def _reads(author: Client) -> None:
    assert author.search("Form 112", k=1)["hits"][0]["doc"] == "BSA-1"
    assert author.compare("Form 112", config=["bm25", "dense"])
    assert author.where("Form 112", "BSA-1")
    with pytest.raises(Problem, match=r"503|No language model"):
        author.answer("Which form?")
    assert {line["path"] for line in author.list_documents(folder="fin")} >= {"fin/ctr.md", "fin/till.md"}
    assert author.read_document("BSA-1")["path"] == "fin/ctr.md"
    assert [line["version"] for line in author.document_history("BSA-1")] == [1]
    assert author.document_diff("BSA-1")["added"] == 0
    assert author.document_links("BSA-1")
    assert author.freshness()
    assert author.health()["status"] == "ok"


def test_a_list_comes_whole_and_a_full_bucket_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = small_app(tmp_path / "home", NoProcesses(), api_rate=1)
    server = ApiServer(app)
    put(app, {f"many/{n:04}.md": f"# Number {n}\n\nText.\n" for n in range(1005)})
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        server.api.state.service.desk.buckets._buckets.clear()

    monkeypatch.setattr("clients.concord_client.time", SimpleNamespace(sleep=wait))
    with listening(server) as address:
        listed: list[dict[str, Any]] = list(Client(address, server.tokens["reader"]).list_documents())
        assert len({line["path"] for line in listed}) == 1005
        assert len(waits) == 1
        with pytest.raises(Problem, match="429"):
            Client(address, server.tokens["reader"], retries=0).freshness()
