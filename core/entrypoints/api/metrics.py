"""What Prometheus reads: requests, latencies, faults, searches, and what somebody is woken for: a late index, jobs and
deliveries that fail, an old backup, a full disk or memory, and wrong passwords."""

from __future__ import annotations

import shutil
import time
from collections import Counter as Counts
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily

from core.access import SYSTEM
from core.services.deliveries.outbox import STATES

if TYPE_CHECKING:
    from core.bootstrap import App

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
JOB_STATES = ("queued", "running", "done", "failed", "cancelled")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Meters:
    """Counters of this process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "concord_http_requests",
            "Requests by operation and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "concord_http_request_seconds", "Seconds to an answer.", ("route",), buckets=SECONDS, registry=self.registry
        )
        self.faults = Counter("concord_http_faults", "Answers that were faults of the server.", registry=self.registry)
        self.searches = Counter(
            "concord_searches", "Searches by whether something fits.", ("fits",), registry=self.registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer. `route` is the operation, never the address: that has no end."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)
        if status >= 500:
            self.faults.inc()

    def text(self, app: App) -> bytes:
        """Everything in the format of Prometheus, with the state of the workspace as it is now."""
        return generate_latest(self.registry) + generate_latest(_Workspace(app))  # type: ignore[arg-type]


class _Workspace:
    """Gauges that are read at the moment they are asked for."""

    def __init__(self, app: App) -> None:
        self.app = app

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._work()
        yield from self._index()
        yield from self._machine()

    def _work(self) -> Iterator[GaugeMetricFamily]:
        jobs = Counts(job.state for job in self.app.platform.jobs.listed(SYSTEM, limit=1000))
        yield _by("concord_jobs", "Jobs that are kept, by state.", "state", {name: jobs[name] for name in JOB_STATES})
        waiting = self.app.platform.workers.waiting(SYSTEM)
        yield _gauge("concord_jobs_waiting", "Jobs that no worker has taken.", waiting.jobs)
        yield _gauge("concord_workers", "Workers that are alive.", len(waiting.workers))
        sent = dict.fromkeys(STATES, 0) | self.app.deliveries.board.counts(SYSTEM)
        yield _by("concord_deliveries", "Mail and calls of webhooks, by state.", "state", sent)
        wrong = self.app.people.accounts.wrong_passwords(SYSTEM)
        yield _gauge("concord_sign_in_failures", "Wrong passwords in the last five minutes.", wrong)

    def _index(self) -> Iterator[GaugeMetricFamily]:
        state = self.app.knowledge.home.index_state()
        yield _gauge("concord_documents", "Documents of the knowledge base.", len(self.app.knowledge.documents.all()))
        yield _gauge("concord_index_behind", "Commits that the index does not have yet.", state.behind)
        if state.serving:
            age = _seconds_since(state.serving.built)
            yield _gauge("concord_index_age_seconds", "Seconds since the serving index was built.", age)
            yield _gauge("concord_index_generation", "The serving generation.", state.serving.number)

    def _machine(self) -> Iterator[GaugeMetricFamily]:
        newest = self.app.people.audit.entries(SYSTEM, action="back up", limit=1)
        if newest:
            age = _seconds_since(newest[0].at)
            yield _gauge("concord_backup_age_seconds", "Seconds since the last backup.", age)
        free = shutil.disk_usage(self.app.settings.home).free
        yield _gauge("concord_disk_free_bytes", "Free bytes on the disk of the workspace.", free)
        memory = self.app.platform.memory
        yield _gauge("concord_memory_bytes", "Memory that this process has taken.", memory.taken())
        yield _gauge("concord_memory_limit_bytes", "Memory that this process may take.", memory.limit)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value=value)


def _by(name: str, about: str, label: str, values: Mapping[str, int]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, about, labels=[label])
    for each, value in values.items():
        gauge.add_metric([each], value)
    return gauge


def _seconds_since(stamp: str) -> float:
    return time.time() - datetime.fromisoformat(stamp).timestamp()
