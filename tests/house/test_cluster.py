"""A cluster on one machine: its ports, its proxy, its supervisor, and the arithmetic of its reports."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.cluster import checks, faults, running
from bench.cluster.boot import refuse_second
from bench.cluster.faults import SCHEDULE, Happened
from bench.cluster.line import Line, Lost, NodeReply
from bench.cluster.people import Diary, Merged, Trouble, Visitor
from bench.cluster.plan import Plan, check_ports, environment, every_port, kept_secrets, ports, taken
from bench.cluster.programs import Program, found_program
from bench.cluster.proxy import configuration
from bench.cluster.report import clean, counted, latency, markdown
from bench.cluster.searches import CitedPassage
from bench.cluster.supervisor import Supervisor
from bench.cluster.walk import Serving
from core.errors import BadInput, Refused, Unavailable
from core.settings import Settings
from tests.conftest import ROOT, until

HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


# ---------------------------------------------------------------- ports and settings


@pytest.mark.parametrize("nodes", [1, 3, 8])
def test_every_program_has_a_port_of_its_own(nodes: int) -> None:
    given = every_port(Plan(nodes=nodes))
    assert len(set(given.values())) == len(given)


def test_a_taken_port_is_named_and_nothing_starts() -> None:
    free = next(port for port in range(21_000, 50_000, 97) if not taken({"proxy": port}))
    with socket.create_server(("127.0.0.1", free)), pytest.raises(Refused, match=rf"{free} \(proxy\).*--port"):
        check_ports(Plan(port=free))


def test_a_plan_that_cannot_be_is_refused() -> None:
    with pytest.raises(BadInput, match="1 to 8 nodes"):
        Plan(nodes=0)
    with pytest.raises(BadInput, match="port"):
        Plan(port=80)


def test_secrets_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    known = kept_secrets(tmp_path)
    assert kept_secrets(tmp_path) == known
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_a_node_is_told_nothing_of_another_concord(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SMTP_URL", "smtp://mail.example.org")
    monkeypatch.setenv("AWS_PROFILE", "production")
    told = environment(Plan(tmp_path), kept_secrets(tmp_path), "node-2")
    assert "CONCORD_SMTP_URL" not in told
    assert "AWS_PROFILE" not in told
    assert (told["CONCORD_NODE"], told["CONCORD_HOME"]) == ("node-2", str(tmp_path / "node-2"))


def test_what_is_not_installed_is_named_with_its_package() -> None:
    with pytest.raises(Unavailable, match="nosuchproxy is not installed.*apt install nosuchproxy"):
        found_program("nosuchproxy", "nosuchproxy")


# ---------------------------------------------------------------- the proxy


def test_the_proxy_knows_every_node_and_sends_no_write_twice() -> None:
    text = configuration(ports(Plan(port=9000, nodes=2)), "/tmp/socket")
    assert "server node-1 127.0.0.1:9011 cookie node-1" in text
    assert "server node-2 127.0.0.1:9012 cookie node-2" in text
    assert "node-3" not in text
    assert "disable-l7-retry unless METH_GET" in text
    assert "bind 127.0.0.1:9000" in text
    assert all("127.0.0.1" in line for line in text.splitlines() if "bind" in line)


@pytest.mark.skipif(not HAPROXY, reason="NO HAPROXY ON THIS MACHINE: apt install haproxy")
def test_haproxy_accepts_both_configurations(tmp_path: Path) -> None:
    (tmp_path / "one.cfg").write_text(configuration(ports(Plan()), str(tmp_path / "socket")))
    text = (ROOT / "deploy" / "cluster" / "haproxy.cfg").read_text()
    (tmp_path / "several.cfg").write_text(text.replace(" ssl crt /usr/local/etc/haproxy/certificates/concord.pem", ""))
    for name in ("one.cfg", "several.cfg"):
        done = subprocess.run([str(HAPROXY), "-c", "-f", str(tmp_path / name)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_both_proxies_treat_people_the_same() -> None:
    """What decides where people go is word by word the same on one machine and in containers."""
    written = configuration(ports(Plan()), "/tmp/socket")
    kept = (ROOT / "deploy" / "cluster" / "haproxy.cfg").read_text()
    for line in (
        "balance",
        "option httpchk",
        "retry-on",
        "http-request disable-l7-retry",
        "option redispatch",
        "retries",
        "timeout",
    ):
        assert sorted(x for x in written.splitlines() if x.strip().startswith(line)) == sorted(
            x for x in kept.splitlines() if x.strip().startswith(line)
        )


# ---------------------------------------------------------------- the compose file


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "cluster" / "compose.yaml").read_text())
    return read


def test_the_compose_file_has_every_part_of_the_cluster() -> None:
    plan = Plan()
    assert {*plan.node_names, *plan.worker_names, *ports(plan)} - {"store"} <= set(compose()["services"])


def test_nothing_but_the_proxy_is_published() -> None:
    assert [name for name, service in compose()["services"].items() if service.get("ports")] == ["proxy"]


def test_the_example_environment_names_what_nodes_are_told_and_holds_no_secret(tmp_path: Path) -> None:
    lines = (ROOT / "deploy" / "cluster" / "env.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    known = {f"CONCORD_{option.name.upper()}" for option in fields(Settings)}
    assert {name for name in given if name.startswith("CONCORD_")} <= known
    told = environment(Plan(tmp_path), kept_secrets(tmp_path), "node-1")
    shared = {name for name in told if name.startswith(("CONCORD_", "AWS_"))}
    assert shared - {
        "CONCORD_NODE",
        "CONCORD_THREADS",
        "AWS_EC2_METADATA_DISABLED",
        "CONCORD_MODELS",
        "CONCORD_CACHE",
    } <= set(given)
    assert all("CHANGE-ME" in value for name, value in given.items() if "SECRET" in name or "PASSWORD" in name)


# ---------------------------------------------------------------- the supervisor


def sleeper(name: str) -> Program:
    return Program(name, ("sleep", "60"), lambda: True, {"PATH": os.environ["PATH"]})


def test_what_ends_is_started_again_and_all_end_together(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(tmp_path, 0.0, said.append)
    supervisor.start([sleeper("one"), sleeper("two")])
    census = running.read(tmp_path)
    assert census is not None
    os.kill(census.programs["one"].pid, signal.SIGKILL)
    until(lambda: (supervisor._look(supervisor.held["one"]), supervisor.held["one"].starts == 2)[1])
    again = running.read(tmp_path)
    assert again is not None
    assert (again.programs["one"].starts, again.programs["two"].starts) == (2, 1)
    assert again.programs["one"].alive
    assert not census.programs["one"].alive
    assert "  one serves." in said
    assert any("one ended with -9" in line for line in said)
    supervisor.stop()
    assert not any(program.alive for program in again.programs.values())
    assert running.read(tmp_path) is None


def test_a_program_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, 0.0, lambda line: None)
    broken = Program("broken", (sys.executable, "-c", "raise SystemExit('no such disk')"), lambda: False)
    with pytest.raises(Unavailable, match=r"broken ended at once.*broken\.log.*no such disk"):
        supervisor.start([broken])
    supervisor.stop()


def test_a_second_cluster_in_one_folder_is_refused(tmp_path: Path) -> None:
    running.write(tmp_path, running.Census(running.this_process(os.getpid())))
    with pytest.raises(Refused, match="runs already"):
        refuse_second(Plan(tmp_path))


def test_what_a_killed_supervisor_left_is_ended(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "60"], start_new_session=True)
    gone = running.Running(2**22 + 1, 1)
    running.write(tmp_path, running.Census(gone, {"sleep": running.this_process(left.pid)}, True))
    refuse_second(Plan(tmp_path))
    assert left.wait(60) == -signal.SIGTERM


def test_a_number_that_another_process_got_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    stale = running.Running(other.pid, running.started_at(other.pid) - 1)
    assert running.end_orphans(running.Census(stale, {"sleep": stale})) == []
    assert other.poll() is None
    other.kill()
    other.wait()


# ---------------------------------------------------------------- what is counted at the end


@pytest.fixture
def repository(tmp_path: Path) -> checks.RepositoryOnDisk:
    """Two merges, each with its line, in the place of the shared repository."""
    plan = Plan(tmp_path)
    place = tmp_path / "git" / "kb.git"
    place.mkdir(parents=True)
    git(place, "init", "--quiet", "--initial-branch=main", ".")
    for change in (1, 2):
        (place / "a.md").write_text("# A\n" + "".join(f"- mark{n}\n" for n in range(1, change + 1)))
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", f"Add mark{change}\n\nChange: {change}")
    return checks.RepositoryOnDisk(plan)


def merged(repository: checks.RepositoryOnDisk) -> list[Merged]:
    second, first = repository.main_line()
    return [Merged(n, commit, "a.md", f"mark{n}", 0.0, "node-1") for n, commit in ((1, first), (2, second))]


def test_merges_that_are_everywhere_are_kept(repository: checks.RepositoryOnDisk) -> None:
    merges = merged(repository)
    found = checks.kept(repository, merges, {merge.change: merge.commit for merge in merges})
    assert (found.acknowledged, found.lost, found.twice) == (2, 0, ())


def test_a_merge_that_is_missing_anywhere_is_lost(repository: checks.RepositoryOnDisk) -> None:
    merges = merged(repository)
    database = {merge.change: merge.commit for merge in merges}
    assert checks.kept(repository, merges, {1: database[1]}).not_in_database == (2,)
    elsewhere = [replace(merges[0], commit="0" * 40), merges[1]]
    assert checks.kept(repository, elsewhere, {**database, 1: "0" * 40}).not_in_main == (1,)
    unsaid = [replace(merges[0], mark="markX"), merges[1]]
    assert checks.kept(repository, unsaid, database).without_text == ("markX",)


def test_a_change_that_main_has_twice_is_counted(repository: checks.RepositoryOnDisk) -> None:
    git(repository.path, "commit", "--quiet", "--allow-empty", "-m", "Add mark1 again\n\nChange: 1")
    assert checks.kept(repository, [], {}).twice == ("1",)


def test_a_passage_of_another_commit_is_mixed(repository: checks.RepositoryOnDisk) -> None:
    newest, oldest = repository.main_line()
    digest = hashlib.sha256(b"- mark2").hexdigest()
    right, wrong = CitedPassage(newest, "a.md", 12, 19, digest), CitedPassage(oldest, "a.md", 12, 19, digest)
    assert checks.mixed(repository, [right, wrong]) == [wrong]


def test_a_node_that_answers_otherwise_differs() -> None:
    answer = {
        "hits": [{"chunk": "a", "score": 1.0}],
        "confidence": 1,
        "fits": True,
        "commit": "c",
        "also": [],
        "warnings": [],
    }
    other = {**answer, "hits": [{"chunk": "a", "score": 1.0000001}]}
    fresh = {"answers": {"one": answer, "two": answer}}
    assert checks.differing(fresh, {"one": {**answer, "generation": 7}, "two": other}) == ["two"]
    assert checks.doubled_chunks({"one": {"hits": [{"chunk": "a"}, {"chunk": "a"}, {"chunk": "b"}]}}) == 1


def test_how_long_a_merge_takes_to_be_served_counts_later_commits_too() -> None:
    serving = Serving({"node-1": [(10.0, "a"), (12.0, "c")], "node-2": [(10.5, "b")]})
    assert sorted(serving.delays({"a": 9.0, "b": 9.5}, ["c", "b", "a"])) == [1.0, 1.0, 1.5, 2.5]


class Answering(Line):
    """A line whose merge is answered with a status, 0 for none, and whose change was merged by somebody else."""

    status = 0

    async def ask(self, method: str, path: str, body: bytes = b"", more: Any = None) -> NodeReply:
        if method == "POST" and not self.status:
            raise Lost("ConnectionResetError")
        found = {"merged": "c" * 40, "conflicts": [], "detail": "This one is merged."}
        return NodeReply(self.status if method == "POST" else 200, json.dumps(found).encode(), "node-1", 0.1)


@pytest.mark.parametrize(("status", "counted_as_mine"), [(0, 1), (502, 1), (403, 0)])
def test_a_merge_without_an_answer_counts_if_it_is_there_and_that_of_another_person_does_not(
    status: int, counted_as_mine: int
) -> None:
    diary = Diary()
    person = Visitor({"name": "ann", "role": "reviewer", "token": "t"}, "http://127.0.0.1:1", diary, 1.0, 1)
    person.line = Answering("http://127.0.0.1:1", "t")
    person.line.status = status
    diary.met("bob", "comment", None, "somebody else's trouble")
    asyncio.run(person.merge(1, "h", {"documents": [{"path": "a.md"}], "title": "Add x"}))
    assert len(diary.merges) == diary.unknown == counted_as_mine


# ---------------------------------------------------------------- the report


def report() -> dict[str, Any]:
    happened = [Happened(SCHEDULE[0].words, "node-2", 10.0, 14.0)]
    troubles = [Trouble(11.0, "ann", "merge", 0, "ConnectionResetError"), Trouble(300.0, "bob", "search", 503, "Down.")]
    return {
        "people": 30,
        "rate": 50.0,
        "minutes": 10.0,
        "merges": {
            "acknowledged": 12,
            "lost": 0,
            "not_in_main": 0,
            "not_in_database": 0,
            "without_text": 0,
            "twice": 0,
        },
        "searches": {
            "answered": 30_000,
            "per_second": 50.0,
            "gave_up": 4,
            "passages": 99,
            "mixed": 0,
            "ms": latency([0.01, 0.02]),
        },
        "doings": {"merge": {"ms": latency([0.1])}},
        "freshness": {"p50": 3.0, "p95": 5.0, "max": 6.0},
        "errors": {"people": 1, "searches": 1, "listed": counted(troubles, happened)},
        "faults": [
            {"words": one.words, "at": one.at, "again": one.again, "no_search": 0.4, "no_write": 2.0}
            for one in happened
        ],
        "no_search": 0.4,
        "no_write": 2.0,
        "stale": 0,
        "end": {"questions": 80, "differing": {"node-1": 0, "node-2": 0}, "doubled_chunks": 0},
        "settled_after": 2.0,
        "browsers": [{"did": 9, "failed": ["/search: late"]}],
    }


def test_a_report_says_what_was_seen_and_why() -> None:
    table = markdown(report())
    assert "| merges acknowledged | 12 |" in table
    assert "| connection ConnectionResetError | merge | kill -9 of an app node | 1 |" in table
    assert "| 503 Down. | search | none of the faults | 1 |" in table
    assert "| kill -9 of an app node | 10 | 4.0 s | 0.4 s | 2.0 s |" in table


def test_a_program_that_is_paused_hangs_with_all_it_started_and_goes_on() -> None:
    started = "import subprocess, sys; c = subprocess.Popen(['sleep', '60']); print(c.pid, flush=True); c.wait()"
    with subprocess.Popen([sys.executable, "-c", started], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        child = int(program.stdout.readline())

        def state(pid):
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

        async def looked() -> list[str]:
            hanging = asyncio.create_task(faults._hang(program.pid, 300))
            while not hanging.done() and {state(child), state(program.pid)} != {"T"}:
                await asyncio.sleep(0.01)
            assert hanging.cancel(), "both stop"
            with suppress(asyncio.CancelledError):
                await hanging
            return [state(child), state(program.pid)]

        assert "T" not in asyncio.run(looked())
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("merges", "lost", 1),
        ("merges", "twice", 1),
        ("merges", "acknowledged", 0),
        ("searches", "mixed", 1),
        ("end", "doubled_chunks", 1),
        ("end", "differing", {"node-1": 1}),
    ],
)
def test_only_a_walk_without_loss_is_clean(part: str, name: str, value: object) -> None:
    assert clean(report())
    spoilt = report()
    spoilt[part] = {**spoilt[part], name: value}
    assert not clean(spoilt)
    assert not clean({**report(), "settled_after": -1.0})
