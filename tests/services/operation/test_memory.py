"""Nobody fills memory: tabs, uploads, bodies, waiting requests and caches have limits, and each says so in a
sentence.
"""

from __future__ import annotations

import asyncio
import io
import logging
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import anyio
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from streamlit import error_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette import starlette_websocket

from core.adapters.system.processes import PAUSE, ProcessMemory, available, resident
from core.bootstrap import App
from core.curation.upload.items import MAX_UNPACKED, Batch, UploadItem, packed, unzipped
from core.entrypoints.limits import Turns
from core.errors import BadInput, Busy, ConcordError, Refused, Unavailable
from core.retrieval.cache import LEGS_KEPT, QueryCache
from core.services.evaluation import querysets
from core.services.jobs import jobs
from core.services.search import queries
from core.services.search.as_of import AsOf
from core.settings import Settings
from pages.ui import batches, frame, keys, pictures
from pages.ui.batches import Batches, HeldBatch
from pages.ui.server import errors, intake, listening, uploaded
from pages.ui.server.intake import Bodies, Intake
from pages.ui.server.uploaded import MB
from pages.ui.sign_in import cookies
from pages.ui.sign_in import routes as sign_in_routes
from pages.ui.sign_in.gate import SignInGate
from pages.ui.sign_in.tabs import BURST, DRAWN, RATE, RELOADED, PageDrawing, Tabs
from tests.conftest import demo


class Inner:
    """What stands behind a middleware: counts who comes that far."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls += 1
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})


def called(app: Any, kind: str = "http", path: str = "/", method: str = "GET", **headers: str) -> list[dict[str, Any]]:
    """What a middleware sends to one call, without a body: whoever reads it has let the call pass."""
    scope = {
        "type": kind,
        "path": path,
        "method": method,
        "query_string": b"",
        "subprotocols": ["streamlit"],
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect" if kind == "websocket" else "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def status(sent: list[dict[str, Any]]) -> tuple[int, str]:
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode()


def signed_in(app: App, who: str) -> str:
    token = app.people.sessions.start(app.people.accounts.actor(who), cookies.SESSION)
    return f"{cookies.SESSION}={token}"


# ---------------------------------------------------------------- tabs


def test_without_a_session_a_tab_gets_one_message_and_no_session_of_streamlit(sign_in_app: App) -> None:
    inner = Inner()
    gate = SignInGate(inner)
    ended = signed_in(sign_in_app, "zoe")
    sign_in_app.people.sessions.sign_out(cookies.SESSION, ended.partition("=")[2])
    for cookie in ({}, {"cookie": f"{cookies.SESSION}=guess"}, {"cookie": ended}):
        accepted, told, closed = called(gate, "websocket", "/_stcore/stream", **cookie)
        message = ForwardMsg()
        message.ParseFromString(told["bytes"])
        assert (accepted["subprotocol"], message.WhichOneof("type")) == ("streamlit", "auth_redirect")
        assert (closed["type"], closed["code"]) == ("websocket.close", 1008)
    assert inner.calls == 0
    called(gate, "websocket", "/_stcore/stream", cookie=signed_in(sign_in_app, "zoe"))
    assert inner.calls == 1


def test_an_account_has_so_many_tabs_and_reads_the_limit_on_the_next_page(sign_in_app: App) -> None:
    inner = Inner()
    gate = SignInGate(inner)
    gate.tabs = Tabs(2)
    zoe, root = signed_in(sign_in_app, "zoe"), signed_in(sign_in_app, "root")

    def open_one():
        return gate.tabs.opened("zoe", AsyncMock(), AsyncMock())

    with open_one(), open_one():
        code, page = status(called(gate, path="/search", accept="text/html", cookie=zoe))
        assert (code, "You have 2 tabs of Concord open" in page) == (429, True)
        assert status(called(gate, path="/search", accept="text/html", cookie=root))[0] == 204
        assert gate.tabs.room("zoe", RELOADED), "a tab that is loaded again is not cut off"
    assert status(called(gate, path="/search", accept="text/html", cookie=zoe))[0] == 204


def test_sixty_clicks_pass_at_once_and_five_a_second_after_them() -> None:
    now = [0.0]
    tabs = Tabs(0, lambda: now[0])
    assert max(tabs.wait("zoe") for _ in range(BURST)) == 0
    assert [round(tabs.wait("zoe"), 3) for _ in range(3)] == [0.2, 0.4, 0.6]
    assert tabs.wait("ann") == 0, "nobody waits for another's clicks"
    now[0] = (BURST + 3) / RATE
    assert max(tabs.wait("zoe") for _ in range(BURST)) < 0.001


# ---------------------------------------------------------------- uploads


class Streamlit:
    """The part of its runtime that holds files and knows open tabs, by the cookies they came with."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/_stcore/upload_file")
        self.tabs: dict[str, str] = {}

    def get_client(self, tab: str) -> Any:
        if tab not in self.tabs:
            return None
        name, _, value = self.tabs[tab].partition("=")
        return SimpleNamespace(client_context=SimpleNamespace(cookies={name: value}))

    def bring(self, tab: str, size: int, name: str = "a") -> None:
        self.uploaded_file_mgr.add_file(tab, UploadedFileRec(f"{tab}{name}", name, "text/plain", b"x" * size))

    def held(self) -> int:
        return sum(uploaded._sizes().values())


@pytest.fixture
def streamlit(monkeypatch: pytest.MonkeyPatch) -> Streamlit:
    made = Streamlit()
    for module in (batches, intake, uploaded):
        monkeypatch.setattr(module, "Runtime", SimpleNamespace(instance=lambda: made, exists=lambda: True))
    return made


def put(door: Intake, tab: str, size: int, cookie: str, **headers: str) -> tuple[int, str]:
    path = f"/_stcore/upload_file/{tab}/0d2a"
    return status(called(door, path=path, method="PUT", cookie=cookie, content_length=str(size), **headers))


def test_a_file_is_taken_from_the_sign_in_of_its_tab_by_somebody_who_may_use_it(
    sign_in_app: App, streamlit: Streamlit
) -> None:
    inner = Inner()
    door, zoe, root = Intake(inner), signed_in(sign_in_app, "zoe"), signed_in(sign_in_app, "root")
    streamlit.tabs = {"t1": zoe}
    assert put(door, "t1", 10, "a=b") == (401, '{"error":"Sign in to upload files."}')
    assert put(door, "t1", 10, root)[0] == 403
    assert put(door, "t2", 10, zoe)[0] == 404
    assert put(door, "t1", 10, zoe)[0] == 204
    sign_in_app.people.accounts.set_role(demo("admin"), "zoe", "reader")
    code, sentence = put(door, "t1", 10, zoe)
    assert (code, "Only authors and above may propose a change; Zoe Zahn is a reader." in sentence) == (403, True)
    assert inner.calls == 1


def test_in_a_demo_a_file_belongs_to_an_open_tab(
    sign_in_app: App, streamlit: Streamlit, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, streamlit.tabs = Intake(Inner()), {"t1": "a=b"}
    shown = SimpleNamespace(settings=Settings(), platform=sign_in_app.platform)
    monkeypatch.setattr(intake, "current_app", lambda: shown)
    assert [put(door, tab, 10, "a=b")[0] for tab in ("t1", "guess")] == [204, 404]


def test_a_tab_an_account_and_everybody_have_a_quota_of_files_that_wait(sign_in_app: App, streamlit: Streamlit) -> None:
    door, zoe, root = Intake(Inner()), signed_in(sign_in_app, "zoe"), signed_in(sign_in_app, "root")
    door.uploads.settings = Settings(upload_session=2, upload_account=3, upload_total=4)
    streamlit.tabs = {"t1": zoe, "t2": zoe, "t3": root}
    assert put(door, "t1", MB, zoe)[0] == 204
    streamlit.bring("t1", MB)
    assert put(door, "t1", 2 * MB, zoe) == (
        413,
        '{"error":"This tab has 3 MB of files that were not read in yet, and 2 MB is the limit. Bring fewer at once."}',
    )
    assert put(door, "t2", 2 * MB, zoe)[0] == 204
    streamlit.bring("t2", 2 * MB)
    streamlit.uploaded_file_mgr.remove_session_files("t1")
    code, sentence = put(door, "t1", 2 * MB, zoe)
    assert (code, sentence.partition("Your tabs have 4 MB")[1] != "") == (413, True)
    streamlit.bring("t1", MB)
    code, sentence = put(door, "t3", 2 * MB, root)
    assert (code, "Try again in a minute." in sentence) == (503, True)
    assert put(door, "t3", 0, root, transfer_encoding="chunked")[0] == 413, "without a length it counts as the largest"


def test_files_on_their_way_count_like_those_that_are_here(sign_in_app: App, streamlit: Streamlit) -> None:
    quota = uploaded.UploadQuota(Settings(upload_session=2))
    with quota.taking("t1", "zoe", 2 * MB), pytest.raises(Refused, match="2 MB is the limit"):
        quota.taking("t1", "zoe", MB).__enter__()
    with quota.taking("t1", "zoe", 2 * MB):
        pass


def test_files_leave_memory_with_their_tab(sign_in_app: App, streamlit: Streamlit) -> None:
    gate, zoe = SignInGate(Inner()), signed_in(sign_in_app, "zoe")
    streamlit.bring("t1", MB)
    streamlit.bring("t2", MB)
    streamlit.tabs = {"t2": zoe}
    called(gate, "websocket", "/_stcore/stream", cookie=zoe)
    assert list(uploaded._sizes()) == ["t2"]


def held(account: str, size: int, name: str = "") -> HeldBatch:
    return HeldBatch(name, account, Batch((UploadItem("a.md", "a.md"),)), size)


def test_documents_that_wait_for_submission_have_a_limit_by_account_and_in_all() -> None:
    waiting = Batches(of_account=3 * MB, of_all=4 * MB)
    waiting.put("t1", held("zoe", 2 * MB))
    waiting.put("t1", held("zoe", 3 * MB))
    with pytest.raises(Busy, match="4 MB of documents wait for their submission in your tabs, and 3 MB is the limit"):
        waiting.put("t2", held("zoe", MB))
    with pytest.raises(Unavailable, match="Try again in a minute"):
        waiting.put("t3", held("ann", 2 * MB))
    waiting.drop("t1")
    waiting.put("t3", held("ann", 2 * MB))


def test_a_text_with_one_wide_letter_counts_with_all_its_bytes() -> None:
    batch = Batch((UploadItem("a.md", "a.md", "x" * 1000 + "\U0001f600"),))
    assert 4000 < batches.size(batch, packed(batch)) < 5000


def test_documents_leave_memory_with_their_tab(sign_in_app: App, streamlit: Streamlit) -> None:
    batches.BATCHES._held.clear()
    zoe = signed_in(sign_in_app, "zoe")
    batches.BATCHES.put("t1", held("zoe", MB))
    batches.BATCHES.put("t2", held("zoe", MB))
    streamlit.tabs = {"t2": zoe}
    called(SignInGate(Inner()), "websocket", "/_stcore/stream", cookie=zoe)
    assert list(batches.BATCHES._held) == ["t2"]
    batches.BATCHES._held.clear()


def test_one_account_reads_one_upload_at_a_time_and_nobody_else_waits() -> None:
    waiting = Batches()
    with waiting.turn("zoe"), waiting.turn("ann"), pytest.raises(Busy, match="Another upload of yours"):
        waiting.turn("zoe", 0.01).__enter__()
    with waiting.turn("zoe", 0.01):
        pass


def zipped(**files: bytes) -> bytes:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return box.getvalue()


def test_many_small_zips_unpack_to_no_more_than_one_upload_may_hold() -> None:
    random = Random(1)
    bomb = zipped(**{"big.txt": b"".join(random.randbytes(300) + b"x" * 39_700 for _ in range(1000))})
    assert len(bomb) < 500_000
    files = list(unzipped((f"{number}.zip", bomb) for number in range(20)))
    assert sum(len(file.raw) for file in files) <= MAX_UNPACKED
    assert files[-1].refused.startswith("The files before it fill what one upload may hold (128 MB).")


def test_what_becomes_of_files_stops_at_what_one_upload_may_hold(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.services.upload.uploads.MAX_HELD", 3000)
    files = [(f"{number}.md", f"# D{number}\n\n{'word ' * 250}".encode()) for number in range(6)]
    items = sign_in_app.upload.uploads.read(demo("author"), files).items
    assert [item.readable for item in items] == [True] * 3 + [False] * 3
    assert "The files before it fill" in items[-1].findings[0].message
    assert not items[-1].text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\v", "\u2028"])
def test_an_uploaded_query_set_has_so_many_lines(sign_in_app: App, end: str) -> None:
    raw = ("question" + end + end.join(f"q{number}" for number in range(querysets.MAX_LINES))).encode()
    with pytest.raises(BadInput, match="at most 10,000,000 and 50,000 can be uploaded. Split it."):
        sign_in_app.evaluation.querysets.read_upload(demo("author"), "big.csv", raw)


def test_an_account_has_so_many_open_jobs_and_nobody_elses_are_refused(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = sign_in_app.platform.jobs
    monkeypatch.setattr(jobs, "MOST_OPEN", 3)
    monkeypatch.setattr(platform.crew, "fill", lambda: None)
    for number in range(3):
        platform.start("drift", {"number": number}, demo("author"))
    platform.start("drift", {"number": 2}, demo("author"))  # the same again is no other job
    with pytest.raises(Busy, match="3 jobs that you asked for wait or run. Ask for more when some of them are done"):
        platform.start("drift", {"number": 3}, demo("author"))
    platform.start("drift", {"number": 3}, demo("reviewer"))
    platform.start("reindex", {})


def test_what_waits_for_submission_is_half_of_one_account_at_most_and_the_oldest_goes_first() -> None:
    waiting = pictures._Waiting(most=8)
    for name in "abc":
        waiting.put("zoe", b"xx", name)
    assert [waiting.get("zoe", name) for name in "abc"] == [None, b"xx", b"xx"]
    waiting.put("ann", b"xxxx", "d")
    waiting.put("eve", b"x", "e")
    assert [waiting.get("zoe", "b"), waiting.get("zoe", "c"), waiting.get("ann", "d")] == [None, b"xx", b"xxxx"]


# ---------------------------------------------------------------- bodies


def test_a_large_body_of_nobody_is_refused_before_it_is_read(sign_in_app: App) -> None:
    inner = Inner()
    door = Intake(inner)
    for path in ("/api/v1/changes", "/mcp", "/api/v1/page/playground"):
        for length in ({"content_length": "100000"}, {"transfer_encoding": "chunked"}):
            code, sentence = status(called(door, path=path, method="POST", authorization="Bearer guess", **length))
            assert (code, "oken" in sentence) == (401, True), path
        assert status(called(door, path=path, method="POST", content_length="60000"))[0] == 204
    assert inner.calls == 3


def test_bodies_on_their_way_have_a_limit_by_account_and_in_all() -> None:
    bodies = Bodies(of_account=3, of_all=4)
    with bodies.taking("zoe", 2):
        with pytest.raises(Busy):
            bodies.taking("zoe", 2).__enter__()
        with bodies.taking("ann", 2), pytest.raises(Unavailable):
            bodies.taking("eve", 1).__enter__()
    with bodies.taking("zoe", 3):
        pass
    assert bodies._coming == {}


def test_an_account_takes_no_more_than_its_share_through_the_door(sign_in_app: App) -> None:
    door = Intake(Inner())
    text, _ = sign_in_app.people.tokens.make(sign_in_app.people.accounts.actor("zoe"), "laptop")

    def post():
        return status(
            called(
                door, path="/api/v1/changes", method="POST", authorization=f"Bearer {text}", content_length="4000000"
            )
        )

    assert post()[0] == 204
    with door.bodies.taking("zoe", 14 * MB):
        code, sentence = post()
    assert (code, "18 MB are on their way from this account" in sentence) == (429, True)


# ---------------------------------------------------------------- turns


def test_one_account_has_a_few_turns_and_nobody_else_waits_for_it() -> None:
    turns, order = Turns(2, waiting=3), []

    async def work(who: str, number: int) -> None:
        async with turns.of(who):
            order.append(who)
            await anyio.sleep(0.01)

    async def everybody() -> list[BaseException | None]:
        greedy = [asyncio.create_task(work("eve", number)) for number in range(8)]
        await asyncio.sleep(0)
        await work("ann", 0)
        return await asyncio.gather(*greedy, return_exceptions=True)

    ends = asyncio.run(everybody())
    assert [type(end) for end in ends] == [type(None)] * 5 + [Busy] * 3
    assert order.index("ann") == 2
    assert turns._queues == {}


# ---------------------------------------------------------------- caches, and the whole server


def test_a_cache_of_a_run_keeps_what_was_used_last() -> None:
    cache = QueryCache()
    for number in range(1000):
        cache.vector(f"question {number}", lambda text: [0.0])  # type: ignore[arg-type, return-value]
    assert len(cache._vectors) <= LEGS_KEPT


def test_near_its_limit_the_server_empties_caches_and_then_begins_nothing_large() -> None:
    taken, now, emptied = [700], [0.0], []
    memory = ProcessMemory(1000, lambda: taken[0], lambda: now[0])
    memory.releases.append(lambda: emptied.append(1))
    memory.require_room("no file is taken")
    taken[0] = 900_000_000
    memory.limit = 1_000_000_000
    with pytest.raises(Unavailable, match="900 of 1,000 MB\\), so no file is taken. Try again in a minute"):
        memory.require_room("no file is taken")
    assert emptied == [1]
    with pytest.raises(Unavailable):
        memory.require_room("no file is taken")
    assert emptied == [1], "not at every request"
    now[0] = PAUSE
    memory.releases.append(lambda: taken.__setitem__(0, 100))
    memory.require_room("no file is taken")
    assert emptied == [1, 1]


def test_a_process_knows_what_it_takes_and_what_there_is() -> None:
    assert 10 * MB < resident() < available()


def test_an_account_has_so_many_tokens_gaps_and_kept_questions(sign_in_app: App) -> None:
    from core.services.knowledge.gaps import MOST_OPEN
    from core.services.people.tokens import MOST_TOKENS

    people, zoe = sign_in_app.people, sign_in_app.people.accounts.actor("zoe")
    for number in range(MOST_TOKENS):
        people.tokens.make(zoe, f"laptop {number}")
    with pytest.raises(Refused, match="20 access tokens, which is the limit. Revoke one first."):
        people.tokens.make(zoe, "one more")
    gaps = sign_in_app.knowledge.gaps
    with sign_in_app.knowledge.gaps.database.transaction() as state:
        for number in range(MOST_OPEN):
            gaps._add(state, (), query=f"q{number}", note="", who="Zoe", account="zoe", hits=0, commit_id="")
    with pytest.raises(Refused, match="100 questions that you reported are open."):
        gaps.report(zoe, "one more")
    gaps.report(replace(zoe, id="root"), "one more")


def test_questions_beyond_two_hundred_in_half_an_hour_are_not_kept(sign_in_app: App) -> None:
    log = sign_in_app.search.queries
    now = datetime.fromisoformat(log.clock.stamp())
    log._visits = {("zoe", f"q{number}"): (number, now) for number in range(queries.MOST_KEPT)}
    assert not log._keep("zoe", "what is new", False, "")
    with pytest.raises(ConcordError):  # somebody else's is looked up, in an index that this workspace does not have
        log._keep("ann", "what is new", False, "")


def test_an_earlier_state_is_opened_in_the_place_of_others_where_memory_is_short() -> None:
    short = [True, False]

    def require_room(what: str) -> None:
        if short.pop(0):
            raise Unavailable(what)

    as_of: Any = AsOf(Path(), None, None, None, require_room)  # type: ignore[arg-type]
    as_of._open["kept"] = "an index"
    as_of._found = lambda commit, profile, progress: "another"
    assert as_of._another("c", None, None) == "another"
    assert not as_of._open
    short += [True, True]
    with pytest.raises(Unavailable):
        as_of._another("c", None, None)


def test_a_message_of_a_tab_is_refused_before_it_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn.Config, "ws_max_size", 0, raising=False)
    listening.bound_messages()
    assert uvicorn.Config("app", ws_max_size=50_000_000).ws_max_size == 4 * 1024 * 1024


def test_what_was_brought_to_a_page_is_dropped_when_it_is_left(
    sign_in_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    monkeypatch.setattr(frame.uploaded, "leave", lambda: left.append("x"))
    monkeypatch.setattr(frame.st, "session_state", {})
    monkeypatch.setattr(batches, "tab", lambda: "t1")
    for page in ("upload", "upload", "search", "search", "upload"):
        frame._turn_to(page)
        if page == "upload":
            frame.st.session_state[keys.UPLOAD] = "name"
            batches.BATCHES.put("t1", held("zoe", MB, "name"))
        assert ("t1" in batches.BATCHES._held, keys.UPLOAD in frame.st.session_state) == (page == "upload",) * 2
    batches.BATCHES.drop("t1")
    assert len(left) == 3


def drawn_by(message: int) -> bytes:
    finished = ForwardMsg()
    finished.script_finished = message  # type: ignore[assignment]
    return finished.SerializeToString()


def test_four_pages_of_an_account_are_drawn_at_a_time_and_nobody_elses_waits() -> None:
    async def everybody() -> list[int]:
        tabs, click = Tabs(0), BackMsg()
        click.rerun_script.page_name = "search"
        raw, seen = click.SerializeToString(), []
        receive, send = AsyncMock(return_value={"type": "websocket.receive", "bytes": raw}), AsyncMock()
        with ExitStack() as opened:
            pages = [opened.enter_context(tabs.opened("eve", receive, send)) for _ in range(DRAWN + 1)]
            ann = opened.enter_context(tabs.opened("ann", receive, send))
            for page in pages[:DRAWN]:
                await page[0]()
            await pages[0][0]()  # a page that is being drawn starts anew
            fifth = asyncio.create_task(pages[DRAWN][0]())
            await ann[0]()
            await asyncio.sleep(0)
            seen.append(fifth.done())
            await pages[1][1]({"bytes": drawn_by(ForwardMsg.FINISHED_EARLY_FOR_RERUN)})
            await asyncio.sleep(0)
            seen.append(fifth.done())
            await pages[1][1]({"bytes": drawn_by(ForwardMsg.FINISHED_SUCCESSFULLY)})
            await asyncio.wait_for(fifth, 300)
        return [*seen, len(tabs._open), len(tabs._places)]

    assert asyncio.run(everybody()) == [False, False, 0, 0]


def test_a_page_that_takes_long_gives_its_place_to_others() -> None:
    async def two() -> int:
        places = anyio.Semaphore(1)
        await PageDrawing(places, 0.01).begin()
        await asyncio.wait_for(PageDrawing(places).begin(), 300)
        return places.value

    assert asyncio.run(two()) == 0, "the second page has the place, once"


def test_a_thread_for_searches_is_free_however_many_passwords_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, checked = Event(), []

    def check(request: Any, form: Any) -> Response:
        checked.append(1)
        waiting.wait(300)
        return Response()

    async def everybody() -> int:
        requests = [
            Request({"type": "http", "headers": []}, AsyncMock(return_value={"type": "http.request"}))
            for _ in range(60)
        ]
        signing = [asyncio.create_task(sign_in_routes.sign_in(request)) for request in requests]
        while len(checked) < 4:
            await anyio.sleep(0.01)
        await asyncio.wait_for(anyio.to_thread.run_sync(waiting.is_set), 300)
        at_once = len(checked)
        waiting.set()
        await asyncio.gather(*signing)
        return at_once

    monkeypatch.setattr(sign_in_routes, "_sign_in", check)
    monkeypatch.setattr(sign_in_routes, "_SIGN_INS", anyio.CapacityLimiter(sign_in_routes._SIGN_INS.total_tokens))
    assert asyncio.run(asyncio.wait_for(everybody(), 300)) == 4


# ---------------------------------------------------------------- what authors compare


def test_comparisons_take_no_quick_thread() -> None:
    from core.entrypoints.api.operations import of_module, operations

    own = of_module("pages.ui.server.operations")
    lanes = {each.name: each.lane for each in (*own, *(each for _, each in operations()))}
    assert (lanes["compare"], lanes["where"], lanes["playground"]) == ("slow", "slow", "knobs")


# ---------------------------------------------------------------- the log


def test_the_same_fault_again_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "_LOGGED", {})
    monkeypatch.setattr(errors.st, "error", lambda words: None)
    for key in "abcab":
        try:
            {}[key]
        except KeyError as error:
            assert errors.show(error)
    assert errors.show(ValueError("another"))
    assert [bool(record.exc_info) for record in caplog.records] == [True, False, False, False, False, True]
    first = caplog.records[0].getMessage()
    assert caplog.records[4].getMessage().endswith(f": KeyError, as in {first}")


def test_streamlit_repeats_no_fault_and_a_tab_that_left_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    streamlit = [logging.getLogger(f"streamlit.{name}") for name in ("error_util", errors.WEBSOCKET)]
    before = [[*logger.filters] for logger in streamlit]
    errors.keep_log_short()
    try:
        for logger, words in zip(streamlit, (errors.UNCAUGHT, "Error sending websocket payload"), strict=True):
            logger.addHandler(caplog.handler)
            logger.error(words, exc_info=RuntimeError("closed"))
            logger.removeHandler(caplog.handler)
    finally:
        for logger, filters in zip(streamlit, before, strict=True):
            logger.filters = filters
    said = {(record.getMessage(), bool(record.exc_info)) for record in caplog.records}
    assert said == {("Error sending websocket payload: RuntimeError: closed", False)}
    assert error_util._LOGGER.name == "streamlit.error_util"
    assert starlette_websocket._LOGGER.name == f"streamlit.{errors.WEBSOCKET}"
