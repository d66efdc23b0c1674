"""From nothing to a cluster that serves, and back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from bench.cluster import programs, running
from bench.cluster.plan import (
    BUCKET,
    DATABASE,
    VOLUMES,
    Plan,
    Secrets,
    check_ports,
    database_url,
    environment,
    kept_secrets,
    ports,
)
from bench.cluster.supervisor import Supervisor
from core.errors import NotFound, Refused, Unavailable
from core.settings import PROJECT

ADMIN = "admin"
Say = Callable[[str], None]


def up(plan: Plan, say: Say) -> None:
    """Start everything, say where it is, and look after it until it is ended."""
    refuse_second(plan)
    check_ports(plan)
    known = kept_secrets(plan.folder)
    supervisor = Supervisor(plan.folder, plan.pause, say)
    supervisor.listen()
    try:
        boot(plan, known, supervisor, say)
        if not supervisor.ending:
            say(f"Open {plan.address} and sign in as {ADMIN} with the password {known.admin}")
            say("End it with Ctrl-C, or from elsewhere with: make cluster-down")
            supervisor.serve()
    finally:
        say("Ending ...")
        supervisor.stop()
        say(f"Everything has ended. Documents, database and index stay in {plan.folder}.")


def boot(plan: Plan, known: Secrets, supervisor: Supervisor, say: Say) -> None:
    """Servers first, then what they hold, then nodes and workers."""
    say("Starting PostgreSQL, the git remote and the store ...")
    supervisor.start([programs.postgres(plan, known), programs.git(plan), *programs.store(plan, known)])
    supervisor.start([programs.proxy(plan)])
    if supervisor.ending:
        return
    make_database(plan, known)
    make_bucket(plan, known)
    say("Preparing the knowledge base ...")
    prepare(plan, known, say)
    say(f"Starting {plan.nodes} nodes and {plan.workers} workers ...")
    supervisor.start(
        [
            *(programs.node(plan, known, name) for name in plan.node_names),
            *(programs.worker(plan, known, name) for name in plan.worker_names),
        ]
    )


def refuse_second(plan: Plan) -> None:
    """One supervisor for each folder; what a killed one left is ended first."""
    found = running.read(plan.folder)
    if found and found.supervisor.alive:
        raise Refused(f"The cluster in {plan.folder} runs already, at {plan.address}. End it with: make cluster-down")
    if found:
        running.end_orphans(found)


def make_database(plan: Plan, known: Secrets) -> None:
    import psycopg

    with psycopg.connect(database_url(plan, known, "postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")  # type: ignore[call-overload]


def make_bucket(plan: Plan, known: Secrets, patience: float = 60.0) -> None:
    """The bucket of the store, once all volume servers take part: until then two copies have no place."""
    until = time.monotonic() + patience
    while True:
        try:
            _try_bucket(plan, known)
            return
        except Exception as error:  # every kind of failure of boto3, while the store comes up
            if time.monotonic() > until:
                raise Unavailable(
                    f"The store takes no files: {error}. Its logs are in {plan.folder / 'logs'}."
                ) from error
            time.sleep(0.5)


def _try_bucket(plan: Plan, known: Secrets) -> None:
    import boto3
    from botocore.config import Config

    quick = Config(connect_timeout=2, read_timeout=10, retries={"max_attempts": 1}, s3={"addressing_style": "path"})
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{ports(plan)['store']}",
        aws_access_key_id=known.access_key,
        aws_secret_access_key=known.secret_key,
        region_name="us-east-1",
        config=quick,
    )
    if BUCKET not in {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}:
        client.create_bucket(Bucket=BUCKET)
    for n in range(2 * VOLUMES):
        client.put_object(Bucket=BUCKET, Key=f"probe-{n}", Body=b"probe")
        client.delete_object(Bucket=BUCKET, Key=f"probe-{n}")


def prepare(plan: Plan, known: Secrets, say: Say) -> None:
    """The knowledge base with its first documents, its index and its first admin, made as the first node."""
    for command, about in (("init", "its first documents"), ("reindex", "its index")):
        say(f"  {about} ...")
        run_core(plan, known, command, say=say)
    listed = run_core(plan, known, "accounts", "list")
    if not any(line.split()[:1] == [ADMIN] for line in listed.splitlines()):
        run_core(plan, known, "accounts", "add", ADMIN, "--role", "admin", "--password", given=known.admin)


def run_core(plan: Plan, known: Secrets, *arguments: str, given: str = "", say: Say = lambda line: None) -> str:
    """A command of Concord with the environment of the first node; `say` gets its progress line by line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *arguments],
        cwd=PROJECT,
        env=environment(plan, known, plan.node_names[0]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise Unavailable(f"python -m core {' '.join(arguments)} has no pipes.")
        stdin.write(given)
        stdin.close()
        errors = list[str]()
        for line in stderr:
            errors.append(line)
            say(f"  {line.rstrip()}")
        out = stdout.read()
    if process.returncode:
        raise Unavailable(f"python -m core {' '.join(arguments)} failed: {(''.join(errors) or out).strip()[-600:]}")
    return out


def down(plan: Plan, say: Say, patience: float = 60.0) -> None:
    """End the cluster in a folder, whoever started it."""
    found = running.read(plan.folder)
    if found is None:
        raise NotFound(f"No cluster runs in {plan.folder}. Start one with: make cluster")
    if found.supervisor.alive:
        os.kill(found.supervisor.pid, signal.SIGTERM)
        until = time.monotonic() + patience
        while found.supervisor.alive:
            if time.monotonic() > until:
                raise Unavailable(f"The supervisor (process {found.supervisor.pid}) does not end.")
            time.sleep(0.2)
    running.end_orphans(running.read(plan.folder) or found)
    (plan.folder / running.FILE).unlink(missing_ok=True)
    say("The cluster has ended.")


def detached(plan: Plan, arguments: list[str], say: Say) -> None:
    """Start a supervisor that goes on by itself, and wait until people can come."""
    refuse_second(plan)
    check_ports(plan)
    plan.folder.mkdir(parents=True, exist_ok=True)
    log = plan.folder / "supervisor.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "cluster", *arguments, "up"],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    while not ((found := running.read(plan.folder)) and found.ready):
        if process.poll() is not None:
            raise Unavailable(f"The cluster did not start: {log.read_text().strip()[-1500:]}")
        time.sleep(0.5)
    say(log.read_text().strip())
