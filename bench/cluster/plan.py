"""What belongs to a cluster: its folder, its ports, its secrets, and the environment that every node shares."""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadInput, Refused
from core.settings import PROJECT

HERE = "127.0.0.1"
VOLUMES, GATEWAYS = 3, 2  # with two volume servers and two copies, the loss of one blocks writing
BUCKET, REPOSITORY, DATABASE = "concord", "kb.git", "concord"
GRPC = 10_000  # SeaweedFS speaks with itself on the port of a server plus this
MOST_NODES, MOST_WORKERS = 8, 8


@dataclass(frozen=True, slots=True)
class Plan:
    """A cluster on this machine. `port` is where people come; the other ports follow it."""

    folder: Path = PROJECT / "data" / "cluster"
    port: int = 8600
    nodes: int = 3
    workers: int = 2
    pause: float = 3.0  # seconds until a program that ended is started again

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= MOST_NODES or not 0 <= self.workers <= MOST_WORKERS:
            raise BadInput(f"A cluster here has 1 to {MOST_NODES} nodes and 0 to {MOST_WORKERS} workers.")
        if not 1024 <= self.port <= 65_535 - GRPC - 64:
            raise BadInput(f"The port must be from 1024 to {65_535 - GRPC - 64}, got {self.port}.")

    @property
    def address(self) -> str:
        """Where people come."""
        return f"http://{HERE}:{self.port}"

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(f"node-{n}" for n in range(1, self.nodes + 1))

    @property
    def worker_names(self) -> tuple[str, ...]:
        return tuple(f"worker-{n}" for n in range(1, self.workers + 1))

    def home(self, name: str) -> Path:
        """The workspace of a node or a worker: a cache, which may be lost."""
        return self.folder / name


def checkout(folder: Path) -> Path:
    """The code that nodes and workers start with: this one, until a roll names another."""
    link = folder / "code"
    return link if link.exists() else PROJECT


def use_checkout(folder: Path, code: Path) -> None:
    """Let nodes and workers that start from now on have other code; those that run keep theirs."""
    draft = folder / ".code"
    draft.unlink(missing_ok=True)
    draft.symlink_to(code.resolve(strict=True))
    draft.replace(folder / "code")


def ports(plan: Plan) -> dict[str, int]:
    """The port of every program that listens.

    >>> ports(Plan(port=9000, nodes=2))["node-2"]
    9012
    """
    first = plan.port
    return {
        "proxy": first,
        "store": first + 1,  # of the proxy, in front of both gateways
        "git": first + 2,
        "postgres": first + 3,
        **{name: first + 11 + n for n, name in enumerate(plan.node_names)},
        "master": first + 30,
        **{f"volume-{n}": first + 30 + n for n in range(1, VOLUMES + 1)},
        "filer": first + 40,
        **{f"gateway-{n}": first + 40 + n for n in range(1, GATEWAYS + 1)},
    }


def every_port(plan: Plan) -> dict[str, int]:
    """The same with the second port that each server of the store has."""
    found = ports(plan)
    stored = {name: port for name, port in found.items() if name.startswith(("master", "volume", "filer", "gateway"))}
    return {**found, **{f"{name} (gRPC)": port + GRPC for name, port in stored.items()}}


def taken(wanted: Mapping[str, int]) -> dict[str, int]:
    """Those ports on which somebody listens already."""
    return {name: port for name, port in wanted.items() if _listens(port)}


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HERE, port))
        except OSError:
            return True
    return False


def check_ports(plan: Plan) -> None:
    """Refuse to start where somebody else listens."""
    if found := taken(every_port(plan)):
        listed = ", ".join(f"{port} ({name})" for name, port in found.items())
        raise Refused(
            f"Another program listens on {listed}. End it, or choose other ports with --port"
            " (make cluster CLUSTER_PORT=9600); all of them follow the first."
        )


@dataclass(frozen=True, slots=True)
class Secrets:
    """Made once for each cluster, and kept in its folder where only its owner can read."""

    postgres: str
    access_key: str
    secret_key: str
    admin: str


def kept_secrets(folder: Path) -> Secrets:
    """The secrets of the cluster in a folder; made at the first call."""
    path = folder / "secrets.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = {name: secrets.token_hex(16) for name in Secrets.__dataclass_fields__}
        private(path, json.dumps(made))
    return Secrets(**json.loads(path.read_text()))


def private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def database_url(plan: Plan, known: Secrets, name: str = DATABASE) -> str:
    return f"postgresql://concord:{known.postgres}@{HERE}:{ports(plan)['postgres']}/{name}"


def environment(plan: Plan, known: Secrets, name: str) -> dict[str, str]:
    """What a node or a worker is told: what all share, a name and a folder of its own."""
    at = ports(plan)
    return {
        **inherited(os.environ),
        "CONCORD_HOME": str(plan.home(name)),
        "CONCORD_NODE": name,
        "CONCORD_DATABASE": database_url(plan, known),
        "CONCORD_STORE": f"s3://{BUCKET}/main",
        "CONCORD_REPOSITORY": f"git://{HERE}:{at['git']}/{REPOSITORY}",
        "CONCORD_SIGN_IN": "local",
        "CONCORD_HOSTS": f"{HERE},localhost",
        "CONCORD_URL": plan.address,
        "CONCORD_THREADS": "1",  # several processes share the cores
        "OMP_NUM_THREADS": "1",
        "AWS_ENDPOINT_URL_S3": f"http://{HERE}:{at['store']}",
        "AWS_ACCESS_KEY_ID": known.access_key,
        "AWS_SECRET_ACCESS_KEY": known.secret_key,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONUNBUFFERED": "1",
    }


def inherited(variables: Mapping[str, str]) -> dict[str, str]:
    """The machine's own environment without what another Concord or another store was told."""
    kept: Iterable[str] = ("CONCORD_MODELS", "CONCORD_CACHE")
    return {
        name: value
        for name, value in variables.items()
        if name in kept or not name.startswith(("CONCORD_", "AWS_", "STREAMLIT_"))
    }
