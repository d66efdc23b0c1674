"""Bulk work on Ray: on a cluster that is there, or on one that is started on this machine and stopped again.

A machine that dies takes nothing with it: what it had not given back is done again elsewhere. On a cluster of this
machine Ray itself may die, too; it is started again, and only what is missing is done.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from core.adapters.models.registry import ModelRegistry
from core.adapters.models.weights import BUNDLED
from core.adapters.web.endpoints import Endpoints, is_remote
from core.bulk import WORKS
from core.cures import install
from core.errors import BadInput, ConcordError, Unavailable
from core.ports import Bulk, Progress, no_progress
from core.settings import PROJECT, Settings, load
from core.types import Profile

LOCAL = ("ray", "local")
VERSION = "2.60.0"
RETRIES = 5  # of one batch, when a process or a machine dies under it
PATIENCE = 120.0  # seconds without any machine that could do the work
_GPU_BATCH = 1024  # texts that travel together to a GPU
_STORE = 256 * 2**20  # bytes of shared memory of a cluster on this machine: what is under way is a few batches


class RayCluster:
    """The `Bulk` port on Ray. Nothing is started or connected to before the first work."""

    def __init__(self, address: str, settings: Settings, here: Bulk) -> None:
        """`here` does what must not leave this process: calls of paid endpoints."""
        if address not in LOCAL and not re.fullmatch(r"(ray://)?[\w.-]+:\d+", address):
            raise BadInput(
                f"{address!r} is no Ray cluster. Write ray://HOST:10001, HOST:6379 on a machine that belongs to the "
                "cluster, "
                "or ray for a cluster of this machine alone."
            )
        self.address, self.settings, self.here = address, settings, here
        self.started = 0  # how often Ray was started or connected to
        self._starting = threading.Lock()
        self._folder: str | None = None

    @property
    def at_once(self) -> int:
        """Processors of the cluster."""
        self._connect()
        return max(2, int(_resources().get("CPU", 0)))

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def map(
        self, work: str, key: Any, things: Sequence[Any], progress: Progress = no_progress
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        """Batches are sent as fast as results come back; what a dead machine held is sent again."""
        if not things:
            return
        if _stays(work, key):
            yield from self.here.map(work, key, things, progress)
            return
        self._connect()
        yield from _Batches(self, work, key, things, progress).results()

    # ------------------------------------------------------------ the cluster

    @property
    def is_local(self) -> bool:
        return self.address in LOCAL

    def _connect(self, seen: int = 0) -> None:
        """Start or connect, unless somebody did after the start number `seen`."""
        with self._starting:
            if self.started > seen:
                return
            ray = _ray(self.address)
            self._stop()
            try:
                path = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))
                with _variables(PYTHONPATH=path):  # for workers on this machine; others get the code
                    ray.init(**self._options())
            except (ConnectionError, TimeoutError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
                raise Unavailable(
                    f"The Ray cluster {self.address} cannot be used: {_first_line(error)} "
                    f"It must run Ray {ray.__version__} on Python "
                    f"{platform.python_version_tuple()[0]}.{platform.python_version_tuple()[1]}."
                ) from None
            self.started += 1

    def _options(self) -> dict[str, Any]:
        quiet = {"log_to_driver": False, "logging_level": "CRITICAL"}
        if not self.is_local:
            code = {"py_modules": [str(PROJECT / "core")], "excludes": ["__pycache__"]}
            return {"address": self.address, "runtime_env": code, **quiet}
        self._folder = tempfile.mkdtemp(prefix="concord-ray-")
        cpus = self.settings.threads or os.cpu_count() or 1
        own = {"num_cpus": cpus, "object_store_memory": _STORE, "_temp_dir": self._folder}
        return {"address": "local", "include_dashboard": False, **own, **quiet}

    def _stop(self) -> None:
        if not self.started:
            return
        import ray

        ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def revive(self, seen: int) -> None:
        """Start a cluster of this machine again, if it died since `seen`."""
        if self.is_local:
            self._connect(seen)

    def variables(self) -> tuple[tuple[str, str], ...]:
        """What workers take from here instead of their own environment."""
        offline = ("CONCORD_OFFLINE", "yes" if self.settings.offline else "no")
        models = ("CONCORD_MODELS", str(self.settings.models))
        if not self.is_local:
            return offline, models
        return offline, models, ("CONCORD_HOME", str(self.settings.home)), ("CONCORD_DEVICE", self.settings.device)


class _Batches:
    """One map: what waits, what runs, and what came back."""

    def __init__(self, cluster: RayCluster, work: str, key: Any, things: Sequence[Any], progress: Progress) -> None:
        self.cluster = cluster
        self.work = work
        self.key = key
        self.things = things
        self.progress = progress
        self.options, self.size = _request(work, key, _resources())
        self.remote = _ray(cluster.address).remote(**self.options)(work_on)
        self.waiting = list(range(0, len(things), self.size))[::-1]
        self.running: dict[Any, int] = {}
        self.tries: dict[int, int] = {}
        self.seen, self.done, self.moved = cluster.started, 0, time.monotonic()

    def results(self) -> Iterator[tuple[int, Sequence[Any]]]:
        try:
            while self.waiting or self.running:
                self._send()
                for ref in self._ready():
                    first = self.running.pop(ref)
                    rows = self._take(ref, first)
                    if rows is not None:
                        self.done, self.moved = self.done + len(rows), time.monotonic()
                        yield first, rows
                self.progress(
                    self.done, len(self.things), WORKS[self.work].title
                )  # also while nothing comes: it may cancel
        finally:
            self._cancel()

    def _send(self) -> None:
        if self.seen != self.cluster.started:  # started again by another thread: what ran there is gone
            self.waiting += self.running.values()
            self.running, self.seen = {}, self.cluster.started
        slots = _slots(self.options)
        if not slots and time.monotonic() - self.moved > PATIENCE:
            kind = "GPU" if "num_gpus" in self.options else "processor"
            raise Unavailable(
                f"The Ray cluster {self.cluster.address} has offered no {kind} for {PATIENCE:.0f} s. What is done is "
                "kept: "
                "start machines and run the same command again."
            )
        while self.waiting and len(self.running) < 2 * slots + 2:
            first = self.waiting.pop()
            batch = list(self.things[first : first + self.size])
            self.running[self.remote.remote(self.cluster.variables(), self.work, self.key, batch)] = first

    def _ready(self) -> list[Any]:
        import ray

        ready: list[Any] = ray.wait(list(self.running), num_returns=1, timeout=1.0)[0]
        return ready

    def _take(self, ref: Any, first: int) -> Sequence[Any] | None:
        """The rows of a batch; None if it has to be sent again."""
        import ray

        try:
            rows: Sequence[Any] = ray.get(ref)
            return rows
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, ConcordError) else error from None
        except ray.exceptions.RayError as error:
            self.tries[first] = self.tries.get(first, 0) + 1
            if self.tries[first] > RETRIES:
                raise Unavailable(
                    f"{WORKS[self.work].title} on the Ray cluster {self.cluster.address} failed {RETRIES + 1} times "
                    "on the same "
                    f"{self.size} things, the last time because: {_first_line(error)} What is done is kept: run the "
                    "same command again."
                ) from None
            self.waiting.append(first)
            if isinstance(error, ray.exceptions.LocalRayletDiedError):
                self.cluster.revive(self.seen)
            return None

    def _cancel(self) -> None:
        import ray

        for ref in self.running:
            with suppress(Exception):  # a cluster that is gone has cancelled it
                ray.cancel(ref, force=True)


def _stays(work: str, key: Any) -> bool:
    """Whether the work asks an endpoint that is paid for, counted and opened with a key of this process."""
    name = key.embedder if isinstance(key, Profile) else key
    return work in ("chunk", "embed") and is_remote(name)


def _request(work: str, key: Any, resources: Mapping[str, float]) -> tuple[dict[str, Any], int]:
    """What a batch asks of the cluster, and its size: bundled models compute on processors, others on a GPU where
    there is one.

    >>> _request("embed", "org/model", {"CPU": 64.0, "GPU": 2.0})
    ({'max_retries': 5, 'num_gpus': 1, 'max_calls': 0}, 1024)
    >>> _request("embed", "org/model", {"CPU": 64.0}) == _request("embed", "potion-base-8m", {"CPU": 64.0, "GPU": 2.0})
    True
    """
    if work == "embed" and resources.get("GPU") and key not in {weights.name for weights in BUNDLED}:
        return {"max_retries": RETRIES, "num_gpus": 1, "max_calls": 0}, _GPU_BATCH  # 0: the process and its model stay
    return {"max_retries": RETRIES, "num_cpus": 1}, WORKS[work].batch


def _slots(options: Mapping[str, Any]) -> int:
    """How many batches the cluster can work on at the same time now."""
    return int(_resources().get("GPU" if "num_gpus" in options else "CPU", 0))


def _resources() -> Mapping[str, float]:
    import ray

    resources: Mapping[str, float] = ray.cluster_resources()
    return resources


def _ray(address: str) -> Any:
    """The package, which is not installed by itself."""
    quiet = {"RAY_USAGE_STATS_ENABLED": "0"} | ({"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"} if address in LOCAL else {})
    os.environ.update(
        quiet
    )  # Ray reads them when it is imported; the second keeps a cluster of this machine on the loopback
    try:
        import ray

        if address.startswith("ray://"):
            import grpc  # noqa: F401
    except ImportError:
        raise Unavailable(
            "Work on a cluster needs Ray, which is not installed.", install("Ray", f"ray[client]=={VERSION}")
        ) from None
    return ray


@contextmanager
def _variables(**values: str) -> Iterator[None]:
    """Environment variables for processes that are started in the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".") + "."


# ---------------------------------------------------------------- on a worker


def work_on(variables: tuple[tuple[str, str], ...], work: str, key: Any, things: Sequence[Any]) -> Sequence[Any]:
    """What a process of the cluster runs. Models stay loaded for the next batch."""
    try:
        return WORKS[work].run(_tool(variables, work, key), things, no_progress)
    except ConcordError as error:
        raise type(error)(f"On {platform.node()}, a machine of the cluster: {error}") from None


@cache
def _tool(variables: tuple[tuple[str, str], ...], work: str, key: Any) -> Any:
    return WORKS[work].prepare(_models(variables), key)


def worker_environment(given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: what it is given, but for the models of a machine that says itself where it has
    them.

    >>> worker_environment({"CONCORD_MODELS": "/here", "CONCORD_OFFLINE": "yes"}, {"CONCORD_MODELS": "/there"})
    {'CONCORD_MODELS': '/there', 'CONCORD_OFFLINE': 'yes'}
    >>> worker_environment({"CONCORD_MODELS": "/here", "CONCORD_HOME": "/home"}, {"CONCORD_MODELS": "/there"})[
    ...     "CONCORD_MODELS"
    ... ]
    '/here'
    """
    elsewhere = "CONCORD_HOME" not in given and "CONCORD_MODELS" in own
    return {**own, **given, **({"CONCORD_MODELS": own["CONCORD_MODELS"]} if elsewhere else {})}


@cache
def _models(variables: tuple[tuple[str, str], ...]) -> ModelRegistry:
    settings = load(worker_environment(dict(variables), os.environ))
    tuned = settings.home / "models" / "embedders"
    return ModelRegistry(settings.models, 1, settings.offline, Endpoints(settings), tuned)
