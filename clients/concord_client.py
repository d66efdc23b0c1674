"""Concord for Python programs: one file, the standard library, one method for each operation of the HTTP API.

    client = Client("https://concord.example.org", token)
    for hit in client.search("how long do we keep SAR records")["hits"]:
        print(hit["title"], hit["text"])

Answers are dictionaries with the keys that /api/v1/docs describes. A refusal is a `Problem` with the server's sentence.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

__all__ = ["Client", "Problem"]

Json = dict[str, Any]
AGAIN = (429, 502, 504)  # too many requests, or a gateway that got no answer
SLOW = (
    "The server has worked on this for {:.0f} seconds, and it may still take effect. Read the result before you send it"
    " again."
)
LONGEST_WAIT = 60.0  # seconds that a client waits when it is told to ask less


class Problem(Exception):
    """A request was refused: the status, the sentence, and the id under which the server's log has it."""

    def __init__(self, status: int, detail: str, request: str = "", errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail = status, detail
        self.request, self.errors = request, tuple(errors)


class Client:
    """A connection to one Concord as one account. Lists come whole, page by page."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 60.0, retries: int = 3) -> None:
        """`retries` is how often a request goes on after a 429, a lost connection or a gateway without an answer; other
        refusals are raised at once. Whatever writes carries a key of its own, so that no retry does it twice."""
        self.base, self.token = url.rstrip("/") + "/api/v1", token
        self.timeout, self.retries = timeout, retries

    def health(self) -> Json:
        """Whether the app serves, and with a token what."""
        return self._object("GET", "/health")

    # ---- made from the code by: make reference

    def search(
        self,
        q: str,
        *,
        profile: str = "",
        config: str = "",
        k: int = 0,
        as_of: str = "",
        asked: bool = False,
        type: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        status: Sequence[str] = (),
        freshness: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Passages of the approved documents that answer a question."""
        return self._object(
            "GET",
            "/search",
            {
                "q": q,
                "profile": profile,
                "config": config,
                "k": k,
                "as_of": as_of,
                "asked": asked,
                "type": type,
                "tag": tag,
                "owner": owner,
                "folder": folder,
                "doc": doc,
                "status": status,
                "freshness": freshness,
                "history": history,
            },
        )

    def answer(
        self,
        q: str,
        *,
        as_of: str = "",
        type: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        status: Sequence[str] = (),
        freshness: Sequence[str] = (),
    ) -> Json:
        """An answer with citations from documents in effect.

        It asks the configured language model, which may cost money.
        """
        return self._object(
            "GET",
            "/answer",
            {
                "q": q,
                "as_of": as_of,
                "type": type,
                "tag": tag,
                "owner": owner,
                "folder": folder,
                "doc": doc,
                "status": status,
                "freshness": freshness,
            },
        )

    def list_documents(self, *, folder: str = "") -> Iterator[Json]:
        """Every document, by path."""
        return self._list("/documents", {"folder": folder})

    def read_document(self, document: str, *, as_of: str = "") -> Json:
        """One document with its text, as it is now or as it was."""
        return self._object("GET", f"/documents/{quote(document)}", {"as_of": as_of})

    def document_history(self, document: str) -> Iterator[Json]:
        """The versions of a document, newest first."""
        return self._list(f"/history/{quote(document)}")

    def document_diff(self, document: str, *, old: int = 0, new: int = 0) -> Json:
        """What changed between two versions of a document."""
        return self._object("GET", f"/diff/{quote(document)}", {"old": old, "new": new})

    def document_links(self, document: str) -> Json:
        """Where a document leads, and what links to it."""
        return self._object("GET", f"/links/{quote(document)}")

    def freshness(self) -> Json:
        """Documents that are due for review, have no owner, or came in and were approved by nobody."""
        return self._object("GET", "/freshness")

    def confirm_document(self, document: str, *, until: str = "") -> Json:
        """Say that a document is still right."""
        return self._object("POST", "/confirmations", body={"document": document, "until": until})

    def propose_change(
        self, title: str, files: Mapping[str, str | None], *, message: str = "", read: Mapping[str, str] = {}
    ) -> Json:
        """Propose a change of one or more documents.

        It is a draft until it is submitted for review.
        """
        return self._object(
            "POST", "/changes", body={"title": title, "files": _files(files), "message": message, "read": dict(read)}
        )

    def edit_change(
        self, change: int, files: Mapping[str, str | None], *, title: str = "", message: str = "", head: str = ""
    ) -> Json:
        """Add an edit, or give another title.

        Earlier approvals are void.
        """
        return self._object(
            "POST",
            f"/changes/{change}/edits",
            body={"title": title, "files": _files(files), "message": message},
            head=head,
        )

    def submit_change(self, change: int, *, reviewers: Sequence[str] = ()) -> Json:
        """Ask for review."""
        return self._object("POST", f"/changes/{change}/submit", body={"reviewers": list(reviewers)})

    def invite_co_authors(self, change: int, accounts: Sequence[str], *, remove: bool = False) -> Json:
        """Invite others to work on it as its author does, or remove them.

        Whoever is no author of a change comments with a suggestion.
        """
        return self._object(
            "POST", f"/changes/{change}/co-authors", body={"accounts": list(accounts), "remove": remove}
        )

    def withdraw_change(self, change: int) -> Json:
        """Take it back to draft."""
        return self._object("POST", f"/changes/{change}/withdraw")

    def comment_on_change(
        self,
        change: int,
        message: str,
        *,
        path: str = "",
        line: int = 0,
        last: int = 0,
        removed: bool = False,
        reply: int = 0,
        head: str = "",
    ) -> Json:
        """Say something about a change, about lines of it, or in answer to a comment."""
        return self._object(
            "POST",
            f"/changes/{change}/comments",
            body={"message": message, "path": path, "line": line, "last": last, "removed": removed, "reply": reply},
            head=head,
        )

    def judge_change(self, change: int, verdict: str, *, message: str = "", head: str = "") -> Json:
        """Approve a change, request changes, or take one's verdict back."""
        return self._object(
            "POST", f"/changes/{change}/verdicts", body={"verdict": verdict, "message": message}, head=head
        )

    def merge_change(self, change: int, *, head: str = "") -> Json:
        """Make it part of the knowledge base.

        It can be found once the index has it, which a job sees to.
        """
        return self._object("POST", f"/changes/{change}/merge", head=head)

    def measure_impact(self, change: int) -> Json:
        """Measure what a change does to search, unless that is known; this can take a while."""
        return self._object("POST", f"/changes/{change}/impact")

    def change_impact(self, change: int) -> Json:
        """What a change does to search, as it was measured last; `head` and `main` say on which texts."""
        return self._object("GET", f"/changes/{change}/impact")

    def close_change(self, change: int, *, message: str = "") -> Json:
        """Give it up."""
        return self._object("POST", f"/changes/{change}/close", body={"message": message})

    def reopen_change(self, change: int) -> Json:
        """Take a closed change up again."""
        return self._object("POST", f"/changes/{change}/reopen")

    def revert_change(self, change: int) -> Json:
        """Propose to undo a merged change."""
        return self._object("POST", f"/changes/{change}/revert")

    def show_change(self, change: int) -> Json:
        """One change with its discussion.

        Its ETag goes into If-Match.
        """
        return self._object("GET", f"/changes/{change}")

    def list_changes(
        self, *, state: str = "", mine: bool = False, waiting: bool = False, asked: bool = False, text: str = ""
    ) -> Iterator[Json]:
        """Changes, the one last touched first."""
        return self._list("/changes", {"state": state, "mine": mine, "waiting": waiting, "asked": asked, "text": text})

    def change_diff(self, change: int, *, since_look: bool = False) -> Json:
        """What a change does, line by line; remembers that the account looked."""
        return self._object("GET", f"/changes/{change}/diff", {"since_look": since_look})

    def change_conflicts(self, change: int) -> list[Json]:
        """What must be decided before it can be merged."""
        return self._objects("GET", f"/changes/{change}/conflicts")

    def list_gaps(self) -> Iterator[Json]:
        """Questions without an answer."""
        return self._list("/gaps")

    def assign_gap(self, gap: int, account: str) -> Json:
        """Let somebody look after a question."""
        return self._object("POST", f"/gaps/{gap}/assign", body={"account": account})

    def report_gap(self, query: str, *, note: str = "") -> Json:
        """Keep a question for the owners."""
        return self._object("POST", "/gaps", body={"query": query, "note": note})

    def close_gap(self, gap: int) -> Json:
        """Mark a question as answered."""
        return self._object("POST", f"/gaps/{gap}/close")

    def compare(
        self,
        q: str,
        *,
        config: Sequence[str] = (),
        profile: Sequence[str] = (),
        type: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        status: Sequence[str] = (),
        freshness: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Several configurations side by side; without any, both legs alone and what is in production."""
        return self._object(
            "GET",
            "/compare",
            {
                "q": q,
                "config": config,
                "profile": profile,
                "type": type,
                "tag": tag,
                "owner": owner,
                "folder": folder,
                "doc": doc,
                "status": status,
                "freshness": freshness,
                "history": history,
            },
        )

    def where(
        self,
        q: str,
        document: str,
        *,
        config: str = "",
        profile: str = "",
        type: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        status: Sequence[str] = (),
        freshness: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Where a document ranks for a question and why, and what would bring it into the list."""
        return self._object(
            "GET",
            "/where",
            {
                "q": q,
                "document": document,
                "config": config,
                "profile": profile,
                "type": type,
                "tag": tag,
                "owner": owner,
                "folder": folder,
                "doc": doc,
                "status": status,
                "freshness": freshness,
                "history": history,
            },
        )

    def list_querysets(self) -> Iterator[Json]:
        """Every query set, newest first."""
        return self._list("/querysets")

    def show_queryset(self, queryset: str, *, questions: bool = False) -> Json:
        """A query set, how far its judges agree, and which judgments find no place."""
        return self._object("GET", f"/querysets/{quote(queryset, safe='')}", {"questions": questions})

    def start_run(
        self, queryset: str, *, configs: Sequence[str] = (), profiles: Sequence[str] = (), unit: str = "document"
    ) -> Json:
        """Run configurations over a query set, as a job."""
        return self._object(
            "POST",
            "/runs",
            body={"queryset": queryset, "configs": list(configs), "profiles": list(profiles), "unit": unit},
        )

    def show_run(self, run: str) -> Json:
        """One run with its measures."""
        return self._object("GET", f"/runs/{quote(run, safe='')}")

    def list_runs(self, *, queryset: str = "") -> Iterator[Json]:
        """Runs that were kept, newest first."""
        return self._list("/runs", {"queryset": queryset})

    def compare_runs(self, before: str, after: str, *, measure: str = "nDCG@10") -> Json:
        """Two runs: difference, interval, wins, ties, losses."""
        return self._object("GET", "/comparisons", {"before": before, "after": after, "measure": measure})

    def list_jobs(self) -> Iterator[Json]:
        """Running and past jobs, newest first."""
        return self._list("/jobs")

    def show_job(self, job: int) -> Json:
        """One job and how far it is."""
        return self._object("GET", f"/jobs/{job}")

    # ---- how it asks

    def _object(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None, head: str = ""
    ) -> Json:
        answer: Json = self._ask(method, path, query, body, head)[0]
        return answer

    def _objects(self, method: str, path: str) -> list[Json]:
        answer: list[Json] = self._ask(method, path)[0]
        return answer

    def _list(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Json]:
        offset, total = 0, 1
        while offset < total:
            part, headers = self._ask("GET", path, {**(query or {}), "limit": 1000, "offset": offset})
            yield from part
            offset, total = offset + 1000, int(headers["X-Total-Count"])

    def _ask(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None, head: str = ""
    ) -> tuple[Any, Mapping[str, str]]:
        asked = urlencode([pair for name, value in (query or {}).items() for pair in _pairs(name, value)])
        request = urllib.request.Request(f"{self.base}{path}{'?' + asked if asked else ''}", method=method)
        request.add_header("Accept", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        if method == "POST":
            request.add_header("Idempotency-Key", str(uuid.uuid4()))
        if head:
            request.add_header("If-Match", f'"{head}"')
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        return self._sent(request)

    def _sent(self, request: urllib.request.Request) -> tuple[Any, Mapping[str, str]]:
        left, busy = self.retries, self.timeout
        while True:
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return json.load(answer), answer.headers
            except urllib.error.HTTPError as error:
                with error:
                    wait = float(error.headers.get("Retry-After", 1))
                    if error.code == 409 and "Retry-After" in error.headers and busy > 0:
                        busy -= wait  # the first try is still being worked on
                    elif error.code == 409 and "Retry-After" in error.headers:
                        raise Problem(409, SLOW.format(self.timeout), error.headers.get("X-Request-ID", "")) from None
                    elif error.code in AGAIN and left:
                        left -= 1
                    else:
                        raise _problem(error) from None
            except (urllib.error.URLError, OSError, http.client.HTTPException):
                if not left:
                    raise
                left, wait = left - 1, 1.0
            time.sleep(min(LONGEST_WAIT, wait))


def _pairs(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A parameter as it stands in an address; what is not given is left out."""
    if isinstance(value, (list, tuple)):
        yield from ((name, each) for each in value)
    elif value not in ("", None, False):
        yield name, "true" if value is True else value


def _files(files: Mapping[str, str | None]) -> list[Json]:
    return [{"path": path, "text": text} for path, text in files.items()]


def _problem(error: urllib.error.HTTPError) -> Problem:
    try:
        told = json.loads(error.read())
    except ValueError:
        told = {}
    if not isinstance(told, dict):
        told = {}
    detail = told.get("detail") or told.get("error") or str(error.reason)
    return Problem(error.code, detail, told.get("request", ""), told.get("errors", ()))
