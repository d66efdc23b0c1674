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
LONGEST_WAIT = 60.0  # seconds that a client waits when it is told to ask less


class Problem(Exception):
    """A request was refused: the status, the sentence, and the id under which the server's log has it."""

    def __init__(self, status: int, detail: str, request: str = "", errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail, self.request, self.errors = status, detail, request, tuple(errors)


class Client:
    """A connection to one Concord as one account. Lists come whole, page by page."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 60.0, retries: int = 3) -> None:
        """`retries` is how often a request goes on after a 429, a lost connection or a gateway without an answer; other
        refusals are raised at once. Whatever writes carries a key of its own, so that no retry does it twice."""
        self.base, self.token = url.rstrip("/") + "/api/v1", token
        self.timeout, self.retries = timeout, retries

    # ------------------------------------------------------------ search

    def search(
        self,
        q: str,
        *,
        k: int = 0,
        profile: str = "",
        config: str = "",
        as_of: str = "",
        asked: bool = False,
        type: Sequence[str] = (),
        status: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Passages of the approved documents that answer a question; `as_of` a day or a commit."""
        where = {"type": type, "status": status, "tag": tag, "owner": owner, "folder": folder, "doc": doc}
        how = {"k": k, "profile": profile, "config": config, "as_of": as_of, "asked": asked, "history": history}
        return self._object("GET", "/search", {"q": q, **how, **where})

    def answer(
        self,
        q: str,
        *,
        type: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        as_of: str = "",
    ) -> Json:
        """An answer with citations, written by the configured language model; this may cost money."""
        where = {"type": type, "tag": tag, "owner": owner, "folder": folder, "doc": doc}
        return self._object("GET", "/answer", {"q": q, "as_of": as_of, **where})

    def compare(
        self,
        q: str,
        *,
        config: Sequence[str] = (),
        profile: Sequence[str] = (),
        type: Sequence[str] = (),
        status: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Configurations side by side."""
        where = {"type": type, "status": status, "tag": tag, "owner": owner, "folder": folder, "doc": doc}
        return self._object(
            "GET", "/compare", {"q": q, "config": config, "profile": profile, "history": history, **where}
        )

    def where(
        self,
        q: str,
        document: str,
        *,
        profile: str = "",
        config: str = "",
        type: Sequence[str] = (),
        status: Sequence[str] = (),
        tag: Sequence[str] = (),
        owner: Sequence[str] = (),
        folder: Sequence[str] = (),
        doc: Sequence[str] = (),
        history: bool = False,
    ) -> Json:
        """Where a document ranks for a question, and what would bring it in."""
        where = {"type": type, "status": status, "tag": tag, "owner": owner, "folder": folder, "doc": doc}
        how = {"document": document, "profile": profile, "config": config, "history": history}
        return self._object("GET", "/where", {"q": q, **how, **where})

    # ------------------------------------------------------------ documents

    def list_documents(self, *, folder: str = "") -> Iterator[Json]:
        """Every document without its text, by path."""
        return self._list("/documents", {"folder": folder})

    def read_document(self, document: str, *, as_of: str = "") -> Json:
        """One document with its text, by id or path; `as_of` a day or a commit."""
        return self._object("GET", f"/documents/{quote(document)}", {"as_of": as_of})

    def document_history(self, document: str) -> Iterator[Json]:
        """The versions of a document, newest first."""
        return self._list(f"/history/{quote(document)}")

    def document_diff(self, document: str, *, old: int = 0, new: int = 0) -> Json:
        """What changed between two versions; the newest two if not given."""
        return self._object("GET", f"/diff/{quote(document)}", {"old": old, "new": new})

    def document_links(self, document: str) -> Json:
        """Where a document leads, and what links to it."""
        return self._object("GET", f"/links/{quote(document)}")

    def freshness(self) -> Json:
        """Documents that are due for review or have no owner."""
        return self._object("GET", "/freshness")

    def confirm_document(self, document: str, *, until: str = "") -> Json:
        """Say that a document is still right."""
        return self._object("POST", "/confirmations", body={"document": document, "until": until})

    # ------------------------------------------------------------ changes

    def list_changes(
        self, *, state: str = "", mine: bool = False, waiting: bool = False, asked: bool = False, text: str = ""
    ) -> Iterator[Json]:
        """Changes, the one last touched first."""
        wanted = {"state": state, "mine": mine, "waiting": waiting, "asked": asked, "text": text}
        return self._list("/changes", wanted)

    def propose_change(
        self, title: str, files: Mapping[str, str | None], *, message: str = "", read: Mapping[str, str] | None = None
    ) -> Json:
        """Propose documents by path with their whole text; None deletes one.

        With `read`, the `blob` of each text that was edited by its path, it is refused with 412 if one was edited since.
        """
        body = {"title": title, "files": _files(files), "message": message, "read": dict(read or {})}
        return self._object("POST", "/changes", body=body)

    def show_change(self, change: int) -> Json:
        """One change with its discussion. Its `head` is what the methods below take as `head`."""
        return self._object("GET", f"/changes/{change}")

    def change_diff(self, change: int, *, since_look: bool = False) -> Json:
        """What a change does, line by line."""
        return self._object("GET", f"/changes/{change}/diff", {"since_look": since_look})

    def change_conflicts(self, change: int) -> list[Json]:
        """What must be decided before it can be merged."""
        conflicts: list[Json] = self._ask("GET", f"/changes/{change}/conflicts")[0]
        return conflicts

    def change_impact(self, change: int) -> Json:
        """What a change does to search, as it was measured last."""
        return self._object("GET", f"/changes/{change}/impact")

    def measure_impact(self, change: int) -> Json:
        """Measure what a change does to search."""
        return self._object("POST", f"/changes/{change}/impact")

    def edit_change(
        self, change: int, files: Mapping[str, str | None], *, title: str = "", message: str = "", head: str = ""
    ) -> Json:
        """Add an edit. With `head`, refused with 412 if the change was edited since."""
        body = {"files": _files(files), "title": title, "message": message}
        return self._object("POST", f"/changes/{change}/edits", body=body, head=head)

    def submit_change(self, change: int, *, reviewers: Sequence[str] = ()) -> Json:
        """Ask for review."""
        return self._object("POST", f"/changes/{change}/submit", body={"reviewers": list(reviewers)})

    def invite_co_authors(self, change: int, accounts: Sequence[str], *, remove: bool = False) -> Json:
        """Invite others to work on a change as its author does, or remove them."""
        body = {"accounts": list(accounts), "remove": remove}
        return self._object("POST", f"/changes/{change}/co-authors", body=body)

    def withdraw_change(self, change: int) -> Json:
        """Take it back to draft."""
        return self._object("POST", f"/changes/{change}/withdraw")

    def close_change(self, change: int, *, message: str = "") -> Json:
        """Give it up."""
        return self._object("POST", f"/changes/{change}/close", body={"message": message})

    def reopen_change(self, change: int) -> Json:
        """Take a closed change up again."""
        return self._object("POST", f"/changes/{change}/reopen")

    def revert_change(self, change: int) -> Json:
        """Propose to undo a merged change."""
        return self._object("POST", f"/changes/{change}/revert")

    def comment_on_change(
        self, change: int, message: str, *, path: str = "", line: int = 0, last: int = 0, reply: int = 0, head: str = ""
    ) -> Json:
        """Say something about a change, about lines of it, or in answer to a comment."""
        body = {"message": message, "path": path, "line": line, "last": last, "reply": reply}
        return self._object("POST", f"/changes/{change}/comments", body=body, head=head)

    def judge_change(self, change: int, verdict: str, *, message: str = "", head: str = "") -> Json:
        """ "approve", "request changes" or "take back"."""
        body = {"verdict": verdict, "message": message}
        return self._object("POST", f"/changes/{change}/verdicts", body=body, head=head)

    def merge_change(self, change: int, *, head: str = "") -> Json:
        """Make it part of the knowledge base."""
        return self._object("POST", f"/changes/{change}/merge", head=head)

    # ------------------------------------------------------------ gaps

    def list_gaps(self) -> Iterator[Json]:
        """Questions without an answer."""
        return self._list("/gaps")

    def report_gap(self, query: str, *, note: str = "") -> Json:
        """Keep a question for the owners."""
        return self._object("POST", "/gaps", body={"query": query, "note": note})

    def assign_gap(self, gap: int, account: str) -> Json:
        """Let somebody look after a question."""
        return self._object("POST", f"/gaps/{gap}/assign", body={"account": account})

    def close_gap(self, gap: int) -> Json:
        """Mark a question as answered."""
        return self._object("POST", f"/gaps/{gap}/close")

    # ------------------------------------------------------------ evaluation and jobs

    def list_querysets(self) -> Iterator[Json]:
        """Every query set, newest first."""
        return self._list("/querysets")

    def show_queryset(self, queryset: str, *, questions: bool = False) -> Json:
        """A query set, and with `questions` each of them with its judgments."""
        return self._object("GET", f"/querysets/{quote(queryset, safe='')}", {"questions": questions})

    def list_runs(self, *, queryset: str = "") -> Iterator[Json]:
        """Runs that were kept, newest first."""
        return self._list("/runs", {"queryset": queryset})

    def start_run(
        self, queryset: str, *, configs: Sequence[str] = (), profiles: Sequence[str] = (), unit: str = "document"
    ) -> Json:
        """Run configurations over a query set, as a job."""
        body = {"queryset": queryset, "configs": list(configs), "profiles": list(profiles), "unit": unit}
        return self._object("POST", "/runs", body=body)

    def show_run(self, run: str) -> Json:
        """One run with its measures."""
        return self._object("GET", f"/runs/{quote(run, safe='')}")

    def compare_runs(self, before: str, after: str, *, measure: str = "nDCG@10") -> Json:
        """Two runs: difference, interval, wins, ties, losses."""
        return self._object("GET", "/comparisons", {"before": before, "after": after, "measure": measure})

    def list_jobs(self) -> Iterator[Json]:
        """Running and past jobs, newest first."""
        return self._list("/jobs")

    def show_job(self, job: int) -> Json:
        """One job and how far it is."""
        return self._object("GET", f"/jobs/{job}")

    def health(self) -> Json:
        """Whether the app serves, and with a token what."""
        return self._object("GET", "/health")

    # ------------------------------------------------------------ how it asks

    def _object(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None, head: str = ""
    ) -> Json:
        answer: Json = self._ask(method, path, query, body, head)[0]
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
