"""`python -m bench.exhaust [MINUTES [DOOR ...]]`: a reader and an author try to exhaust a server of 2 GB through every
door, while five
others search.

The server is real and its memory limited by a control group where one can be made (as root), else only watched. The
attacker is a
process of its own, so that its work does not count as the waiting of the five. Everything stays on the loopback and
ends by itself.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.corpus import ROOT
from bench.measure import markdown_table
from bench.sessions import WORDS, Tab, _wait, starter
from core import strict
from core.access import SYSTEM
from core.bootstrap import App, build
from core.evaluation.querysets.queryset import QuerySet, Question
from core.retrieval import config as configs
from core.services.people.accounts import NewAccount
from core.settings import load
from pages.ui.sign_in.cookies import SESSION

MEMORY = 2_000_000_000  # bytes of the server and its children
OTHERS, THINKING = 5, 1.0  # people who search, and seconds between two of their questions
PATIENCE = 30.0  # seconds after which one of them gives up
AT_ONCE = 60  # connections of the attacker
STARTING = 180.0  # seconds until the attacker's process has begun, on a busy machine, and has ended
PASSWORD = "a long password of nobody"
QUERYSET = "attacked"  # questions that an author has evaluated again and again
GROUP = Path("/sys/fs/cgroup/memory/concord_exhaust")


# ---------------------------------------------------------------- the server


@contextmanager
def limited(home: Path, log: Path) -> Iterator[tuple[str, int, bool]]:
    """The app with sign-in and 2 GB: its address, its process, and whether the kernel holds it to them."""
    grouped, port = _group(), random.randrange(20_000, 30_000)
    variables = {"CONCORD_HOME": str(home), "CONCORD_SIGN_IN": "local", "CONCORD_MEMORY": str(MEMORY // 1_000_000)}
    flags = ["--server.port", str(port), "--server.headless", "true"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", *flags],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=log.open("w"),
        stderr=subprocess.STDOUT,
        preexec_fn=_join if grouped else None,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url)
        yield url, server.pid, grouped
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(30)
        server.kill()
        server.wait()
        with suppress(OSError):
            GROUP.rmdir()


def _group() -> bool:
    try:
        GROUP.mkdir(exist_ok=True)
        (GROUP / "memory.limit_in_bytes").write_text(str(MEMORY))
    except OSError:
        return False
    return True


def _join() -> None:
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))


def resident(process: int) -> int:
    """Bytes of a process in memory; 0 once it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def grouped() -> int:
    """Bytes of the control group without what the kernel can drop; 0 where there is none."""
    with suppress(OSError, StopIteration, ValueError):
        lines = (GROUP / "memory.stat").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("total_rss ")))
    return 0


# ---------------------------------------------------------------- people


class SignedIn(Tab):
    """A tab of somebody with a session."""

    def __init__(self, url: str, cookie: str) -> None:
        super().__init__(url)
        self.cookie = cookie
        self.line.timeout = PATIENCE

    async def __aenter__(self) -> SignedIn:
        self.socket = await connected(self.url, self.cookie)
        return self


async def connected(url: str, cookie: str = "") -> Any:
    import websockets

    return await websockets.connect(
        url.replace("http", "ws") + "/_stcore/stream",
        origin=url,
        subprotocols=["streamlit"],
        additional_headers={"Cookie": f"{SESSION}={cookie}"} if cookie else {},
        max_size=None,
        open_timeout=60,
    )


@dataclass
class Phase:
    """What the five saw while one door was attacked, and what the attacker got."""

    door: str
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    peak: int = 0
    group: int = 0  # with the processes that the server started
    got: dict[str, int] = field(default_factory=dict)


async def _searcher(url: str, cookie: str, number: int, now: list[Phase], ends: asyncio.Event) -> None:
    chance = random.Random(number)
    async with SignedIn(url, cookie) as tab:
        await tab.start()
        while not ends.is_set():
            phase, started = now[0], time.perf_counter()
            try:
                await tab.ask(" ".join(chance.sample(WORDS, 3)))
                phase.seconds.append(time.perf_counter() - started)
            except Exception as error:  # whatever somebody would see as a search that failed
                phase.errors[type(error).__name__] += 1
                tab.line.close()
            await asyncio.sleep(chance.expovariate(1 / THINKING))


# ---------------------------------------------------------------- the attacker


@dataclass(frozen=True)
class Attacker:
    """Somebody with twenty access tokens and a session, and how long they have: a reader, or at the doors of authors
    an author.
    """

    url: str
    cookie: str
    tokens: tuple[str, ...]
    days: tuple[str, ...]
    ends: float
    got: Counter[str] = field(default_factory=Counter)

    async def many(self, work: Callable[[Any, int], Awaitable[str]], at_once: int = AT_ONCE) -> None:
        """The same again and again, from many connections, until the time is up."""
        import httpx2

        async def again(client: Any, number: int) -> None:
            while time.time() < self.ends:
                try:
                    self.got[await asyncio.wait_for(work(client, number), max(1.0, self.ends - time.time()))] += 1
                except Exception as error:  # every way to be refused counts
                    self.got[type(error).__name__] += 1
                    await asyncio.sleep(0.05)

        limits = httpx2.Limits(max_connections=at_once)
        async with httpx2.AsyncClient(base_url=self.url, timeout=PATIENCE, limits=limits) as client:
            await asyncio.gather(*(again(client, number) for number in range(at_once)))

    def bearer(self, number: int) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[number % len(self.tokens)]}"}


def question(number: int) -> str:
    return " ".join(random.sample(WORDS, 3)) + f" {number}"


async def uploads(eve: Attacker) -> None:
    """Files of 40 MB for a tab of one's own."""
    await _files(eve, eve.cookie)


async def strangers(eve: Attacker) -> None:
    """Tabs and files without any session."""
    await _files(eve, "")


async def _files(eve: Attacker, cookie: str) -> None:
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    socket, opening, message = await connected(eve.url, cookie), BackMsg(), ForwardMsg()
    opening.rerun_script.page_name = "search"
    with suppress(Exception):
        await socket.send(opening.SerializeToString())
        message.ParseFromString(await asyncio.wait_for(socket.recv(), 20))
    tab, body = message.new_session.initialize.session_id or "guess", b"x" * 40_000_000

    async def put(client: Any, number: int) -> str:
        xsrf = (await client.get("/_stcore/health")).cookies.get("_streamlit_xsrf", "")
        jar = f"_streamlit_xsrf={xsrf}; {SESSION}={cookie}"
        name = f"{random.getrandbits(64):x}"
        answer = await client.put(
            f"/_stcore/upload_file/{tab}/{name}",
            files={"file": ("big.pdf", body)},
            headers={"Cookie": jar, "X-Xsrftoken": xsrf},
        )
        return str(answer.status_code)

    await eve.many(put, 8)
    await socket.close()


async def tabs(eve: Attacker) -> None:
    """Tabs without end, each drawing one page after another, with all the state that a message may carry."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    async def draw(_: Any, number: int) -> str:
        socket = await connected(eve.url, eve.cookie)
        for turn in range(20):
            message = BackMsg()
            message.rerun_script.page_name = ("search", "documents", "home", "inbox")[turn % 4]
            message.rerun_script.query_string = f"q={number}"
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.string_value = f"w{turn}", "x" * 3_000_000
            await socket.send(message.SerializeToString())
        await asyncio.sleep(5)
        return "drawn"

    await eve.many(draw)


async def bodies(eve: Attacker) -> None:
    """Bodies of 4 MB that come slowly, half of them with a token."""

    async def slow() -> Any:
        for _ in range(39):
            yield b" " * 100_000
            await asyncio.sleep(0.1)

    async def post(client: Any, number: int) -> str:
        headers = {**(eve.bearer(number) if number % 2 else {}), "Content-Type": "application/json"}
        path = ("/api/v1/gaps", "/mcp", "/api/v1/page/playground")[number % 3]
        return str((await client.post(path, content=slow(), headers=headers)).status_code)

    await eve.many(post, 200)


async def box(eve: Attacker) -> None:
    """The search box, typed into by sixty hands."""
    async with SignedIn(eve.url, eve.cookie) as tab:
        await tab.start()
        headers = {"Authorization": f"Bearer {tab.token}"}

        async def find(client: Any, number: int) -> str:
            return str(
                (await client.get("/api/v1/page/search", params={"q": question(number)}, headers=headers)).status_code
            )

        await eve.many(find)


async def past(eve: Attacker) -> None:
    """Every earlier state of the knowledge base, from the search box and by token."""
    async with SignedIn(eve.url, eve.cookie) as tab:
        await tab.start()
        page = {"Authorization": f"Bearer {tab.token}"}

        async def find(client: Any, number: int) -> str:
            path, headers = (("/api/v1/page/search", page), ("/api/v1/search", eve.bearer(number)))[number % 2]
            asked = {"q": question(number), "as_of": random.choice(eve.days)}
            return str((await client.get(path, params=asked, headers=headers)).status_code)

        await eve.many(find)


async def searches(eve: Attacker) -> None:
    """A thousand hits, every one reranked, with twenty tokens."""
    config = strict.canonical(
        replace(configs.parse("convex-0.5+rerank"), rerank="always", rerank_depth=1000, depth=1000)
    )

    async def search(client: Any, number: int) -> str:
        asked = {"q": question(number), "k": "1000", **({"config": config} if number % 3 == 0 else {})}
        return str((await client.get("/api/v1/search", params=asked, headers=eve.bearer(number))).status_code)

    await eve.many(search)


async def lists(eve: Attacker) -> None:
    """Lists of a thousand, whole documents, comparisons."""
    paths = ("/api/v1/documents?limit=1000", "/api/v1/documents?limit=1000&offset=1", "/api/v1/openapi.json")

    async def get(client: Any, number: int) -> str:
        return str((await client.get(paths[number % len(paths)], headers=eve.bearer(number))).status_code)

    await eve.many(get)


async def assistants(eve: Attacker) -> None:
    """MCP: the largest replies that a caller may ask for."""
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

    async def call(client: Any, number: int) -> str:
        asked = {"name": "search", "arguments": {"question": question(number), "token_budget": 50_000}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
        return str((await client.post("/mcp", json=body, headers=eve.bearer(number) | accept)).status_code)

    await eve.many(call)


async def notes(eve: Attacker) -> None:
    """Gaps and asked questions without end."""

    async def report(client: Any, number: int) -> str:
        if number % 2:
            asked = {"q": question(random.getrandbits(40)), "asked": "true"}
            return str((await client.get("/api/v1/search", params=asked, headers=eve.bearer(number))).status_code)
        body = {"query": question(random.getrandbits(40)), "note": "x" * 2000}
        return str((await client.post("/api/v1/gaps", json=body, headers=eve.bearer(number))).status_code)

    await eve.many(report)


async def passwords(eve: Attacker) -> None:
    """Hashes of 64 MiB each."""

    async def sign_in(client: Any, number: int) -> str:
        form = {"name": f"nobody{number}", "password": PASSWORD, "next": "/"}
        return str((await client.post("/sign-in", data=form)).status_code)

    await eve.many(sign_in)


# ---------------------------------------------------------------- doors of authors


async def columns(mal: Attacker) -> None:
    """Four columns at a time, every passage of each reranked, as knobs and by token."""
    config = replace(configs.parse("convex-0.5+rerank"), rerank="always", rerank_depth=1000, depth=1000)
    async with SignedIn(mal.url, mal.cookie) as tab:
        await tab.start()
        page = {"Authorization": f"Bearer {tab.token}"}

        async def compare(client: Any, number: int) -> str:
            shown = [replace(config, alpha=random.random()) for _ in range(4)]
            if number % 2:
                asked = {"q": question(number), "config": [strict.canonical(each) for each in shown]}
                return str((await client.get("/api/v1/compare", params=asked, headers=mal.bearer(number))).status_code)
            setup = {"query": question(number), "columns": [{"config": strict.plain(each)} for each in shown]}
            body = {"setup": setup, "run": f"{random.getrandbits(64):x}"}
            return str((await client.post("/api/v1/page/playground", json=body, headers=page)).status_code)

        await mal.many(compare)


async def converters(mal: Attacker) -> None:
    """Upload pages in twelve tabs, each with twenty small zips of large texts, twenty Word files and ten endless
    lists to read.
    """
    large, word = _large_zip(), _word()
    brought = [*((f"z{n}.zip", large) for n in range(20)), *((f"w{n}.docx", word) for n in range(20))]
    brought += [(f"t{n}.md", b"- a\n" * 200_000) for n in range(10)]

    async def read(client: Any, number: int) -> str:
        async with SignedIn(mal.url, mal.cookie) as tab:
            session, widget = await _upload_page(tab)
            xsrf = (await client.get("/_stcore/health")).cookies.get("_streamlit_xsrf", "")
            headers = {"Cookie": f"_streamlit_xsrf={xsrf}; {SESSION}={mal.cookie}", "X-Xsrftoken": xsrf}
            names = []
            for name, raw in brought:
                ident = f"{random.getrandbits(64):x}"
                put = f"/_stcore/upload_file/{session}/{ident}"
                if (await client.put(put, files={"file": (name, raw)}, headers=headers)).status_code == 204:
                    names.append((ident, name, len(raw)))
            await _brought(tab, widget, names)
            return f"{len(names)} files read"

    await mal.many(read, 12)


async def _upload_page(tab: SignedIn) -> tuple[str, str]:
    """The session of a tab and its box for files."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    opening, session, widget = BackMsg(), "", ""
    opening.rerun_script.page_name = "upload"
    await tab.socket.send(opening.SerializeToString())
    while True:
        message = ForwardMsg()
        message.ParseFromString(await asyncio.wait_for(tab.socket.recv(), PATIENCE))
        kind = message.WhichOneof("type")
        if kind == "new_session":
            session = message.new_session.initialize.session_id or session
        elif kind == "delta":
            widget = message.delta.new_element.file_uploader.id or widget
        elif kind == "script_finished" and widget:
            return session, widget


async def _brought(tab: SignedIn, widget: str, files: Sequence[tuple[str, str, int]]) -> None:
    """Have the page read what was brought to it."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    message = BackMsg()
    message.rerun_script.page_name = "upload"
    state = message.rerun_script.widget_states.widgets.add()
    state.id = widget
    for ident, name, size in files:
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = ident, name, size
    await tab._send(message)


def _large_zip() -> bytes:
    """40 MB of text in less than half a megabyte."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(40):
            archive.writestr(f"{n}.md", b"".join(random.randbytes(8).hex().encode() + b" x" * 2000 for _ in range(240)))
    return box.getvalue()


def _word(paragraphs: int = 20_000) -> bytes:
    """A Word file that takes long to convert."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>Words {random.random()}</w:t></w:r></w:p>" for _ in range(paragraphs))
    parts = {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override'
            ' PartName="/word/document.xml"'
            ' ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
        ),
        "_rels/.rels": (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a"'
            ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"'
            ' Target="word/document.xml"/></Relationships>'
        ),
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
    }
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return box.getvalue()


async def proposals(mal: Attacker) -> None:
    """Changes of 3.5 MB, with texts that take long to read, by API and MCP."""
    slow = (
        "| a | b |\n|---|---|\n" + "|b\n" * 30_000,
        "> - " * 19 + "a\n" + "a|\n" * 4_900,
        "*a **b " * 6_000,
        "- a\n" * 4_900,
    )
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

    async def propose(client: Any, number: int) -> str:
        texts = [(slow[n % 4] + "\n\n" + "word " * 9_000 + "\n")[:900_000] for n in range(40)]
        if number % 3 == 0:
            given = {"document": f"eve/{random.getrandbits(40):x}.md", "text": slow[number % 4]}
            asked = {"name": "propose_change", "arguments": {"title": "T", "edits": [given]}}
            body: Any = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
            return str((await client.post("/mcp", json=body, headers=mal.bearer(number) | accept)).status_code)
        files = [{"path": f"eve/{random.getrandbits(40):x}.md", "text": text} for text in texts]
        body = {"title": "T", "files": files}
        return str((await client.post("/api/v1/changes", json=body, headers=mal.bearer(number))).status_code)

    await mal.many(propose, 20)


async def jobs(mal: Attacker) -> None:
    """Evaluations without end."""

    async def run(client: Any, number: int) -> str:
        body = {"queryset": QUERYSET, "configs": [f"convex-{random.randrange(1000) / 1000:g}"]}
        return str((await client.post("/api/v1/runs", json=body, headers=mal.bearer(number))).status_code)

    await mal.many(run)


READERS = (uploads, strangers, tabs, bodies, box, past, searches, lists, assistants, notes, passwords)
AUTHORS = (columns, converters, proposals, jobs)
DOORS = {door.__name__: door for door in (*READERS, *AUTHORS)}
ROLES = {door.__name__: "author" if door in AUTHORS else "reader" for door in DOORS.values()}


# ---------------------------------------------------------------- all of it


def measure(home: Path, minutes: float, doors: Sequence[str]) -> dict[str, Any]:
    """Every door for its share of the time, after the same time without an attacker."""
    app = starter(home)
    _earlier(app)
    cookies, attackers = _people(app)
    with limited(home, home / "exhaust.log") as (url, process, grouped):
        phases = asyncio.run(_run(url, process, cookies, attackers, doors, 60 * minutes / len(doors)))
        alive = resident(process) > 0
        group = (
            {
                name: (GROUP / name).read_text().split()
                for name in ("memory.max_usage_in_bytes", "memory.failcnt", "memory.oom_control")
            }
            if grouped
            else {}
        )
    log = (home / "exhaust.log").read_text(errors="replace")
    return {"phases": phases, "alive": alive, "group": group, "tracebacks": log.count("Traceback")}


def _earlier(app: App, commits: int = 12) -> None:
    """So many states of the knowledge base that somebody can ask for."""
    store = app.knowledge.repository
    for number in range(len(store.log(store.head())), commits):
        with TemporaryDirectory() as folder:
            text = (
                f"---\nid: OLD-{number}\ntitle: Note {number}\ntype: sop\nstatus: active\n---\n# Note"
                f" {number}\n\nPallet {number}.\n"
            )
            (Path(folder) / f"note-{number}.md").write_text(text)
            app.knowledge.documents.import_folder(SYSTEM, Path(folder), f"Note {number}", "notes")
    app.index.builder.build(app.platform.settings.profile())


def _people(app: App) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Cookies of five readers, and what the attacker of each role has."""
    settled = build(load(home=app.settings.home, sign_in="local"))
    people, known = settled.people, {account.id for account in settled.people.accounts.all()}
    roles = {**{f"reader{n}": "reader" for n in range(OTHERS)}, "eve": "reader", "mal": "author"}
    for name, role in roles.items():
        if name not in known:
            people.accounts.add(SYSTEM, NewAccount(name, name.title(), f"{name}@example.org", role), PASSWORD)

    def enter(name: str) -> str:
        return people.sessions.start(people.accounts.actor(name), SESSION)

    store = app.knowledge.repository
    days = [commit.id for commit, _ in store.log(store.head(), limit=40)]
    asked = tuple(Question(f"q{n}", f"What about {WORDS[n % len(WORDS)]} {n}?") for n in range(200))
    settled.evaluation.querysets.keep(people.accounts.actor("mal"), QuerySet(QUERYSET, asked))
    attackers = {
        role: {"cookie": enter(name), "tokens": _tokens(settled, name), "days": days}
        for name, role in (("eve", "reader"), ("mal", "author"))
    }
    return [enter(f"reader{n}") for n in range(OTHERS)], attackers


def _tokens(app: App, name: str) -> list[str]:
    tokens, who = app.people.tokens, app.people.accounts.actor(name)
    for token in tokens.listed(who, name):
        tokens.revoke(who, token.id)
    return [tokens.make(who, f"t{n} {time.time_ns()}", "propose" if n % 2 else "read")[0] for n in range(20)]


async def _run(
    url: str, process: int, cookies: list[str], attackers: dict[str, Any], doors: Sequence[str], seconds: float
) -> list[Phase]:
    now, ends, phases = [Phase("opening")], asyncio.Event(), []
    people = [asyncio.create_task(_searcher(url, cookie, n, now, ends)) for n, cookie in enumerate(cookies)]
    await asyncio.sleep(min(30.0, seconds))
    for door in ("nobody attacks", *doors):
        phases.append(Phase(door))
        now[0] = phases[-1]
        watched = asyncio.create_task(_watch(process, phases[-1]))
        if door in DOORS:
            phases[-1].got = await _attack(url, attackers[ROLES[door]], door, seconds)
        else:
            await asyncio.sleep(seconds)
        watched.cancel()
        print(json.dumps(_row(phases[-1])), flush=True)
    ends.set()
    for person in people:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(person, PATIENCE + 10)
    return phases


async def _watch(process: int, phase: Phase) -> None:
    while True:
        phase.peak = max(phase.peak, resident(process))
        phase.group = max(phase.group, grouped())
        await asyncio.sleep(0.2)


async def _attack(url: str, eve: dict[str, Any], door: str, seconds: float) -> dict[str, int]:
    work = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.exhaust", "attack", door, str(seconds)),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        said, _ = await asyncio.wait_for(work.communicate(json.dumps({"url": url, **eve}).encode()), seconds + STARTING)
        return dict(json.loads(said or b"{}"))
    except TimeoutError:
        work.send_signal(signal.SIGKILL)
        await work.wait()
        return {"gave up": 1}


def _attacking(door: str, seconds: float) -> None:
    given = json.load(sys.stdin)
    eve = Attacker(given["url"], given["cookie"], tuple(given["tokens"]), tuple(given["days"]), time.time() + seconds)
    try:
        asyncio.run(asyncio.wait_for(DOORS[door](eve), seconds + 10))
    except TimeoutError:  # some of it hangs
        eve.got["no end"] += 1
    except Exception as error:  # the door did not open at all
        eve.got[repr(error)[:80]] += 1
    print(json.dumps(eve.got), flush=True)
    os._exit(0)


def _row(phase: Phase) -> dict[str, Any]:
    ordered = sorted(phase.seconds) or [0.0]
    return {
        "door": phase.door,
        "searches": len(phase.seconds),
        "errors": dict(phase.errors),
        "p50_ms": round(1000 * median(ordered)),
        "p95_ms": round(1000 * ordered[int(0.95 * len(ordered))]),
        "peak_mb": phase.peak // 1_000_000,
        "group_mb": phase.group // 1_000_000,
        "got": phase.got,
    }


def main() -> None:
    if sys.argv[1:2] == ["attack"]:
        _attacking(sys.argv[2], float(sys.argv[3]))
        return
    result = measure(
        ROOT / "bench" / "out" / "exhaust", float(sys.argv[1]) if sys.argv[1:] else 10.0, sys.argv[2:] or list(DOORS)
    )
    rows = [_row(phase) for phase in result["phases"]]
    print(markdown_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    print(json.dumps({name: result[name] for name in ("alive", "group", "tracebacks")}))


if __name__ == "__main__":
    main()
