"""What Prometheus reads: requests, latencies, faults, searches, jobs and the age of the index."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily

from core.access import SYSTEM

if TYPE_CHECKING:
    from core.bootstrap import App

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Meters:
    """Counters of this process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "concord_http_requests", "Requests by operation and status.", ("method", "route", "status"), registry=self.registry
        )  # fmt: skip
        self.seconds = Histogram(
            "concord_http_request_seconds", "Seconds to an answer.", ("route",), buckets=SECONDS, registry=self.registry
        )
        self.faults = Counter("concord_http_faults", "Answers that were faults of the server.", registry=self.registry)
        self.searches = Counter("concord_searches", "Searches by whether something fits.", ("fits",), registry=self.registry)  # fmt: skip

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
        state = self.app.knowledge.home.index_state()
        jobs = Counts(job.state for job in self.app.platform.jobs.listed(SYSTEM, limit=1000))
        by_state = GaugeMetricFamily("concord_jobs", "Jobs that are kept, by state.", labels=["state"])
        for name in ("queued", "running", "done", "failed", "cancelled"):
            by_state.add_metric([name], jobs[name])
        yield by_state
        waiting = self.app.platform.workers.waiting(SYSTEM)
        yield GaugeMetricFamily("concord_jobs_waiting", "Jobs that no worker has taken.", value=waiting.jobs)
        yield GaugeMetricFamily("concord_workers", "Workers that are alive.", value=len(waiting.workers))
        yield GaugeMetricFamily(
            "concord_documents", "Approved documents.", value=len(self.app.knowledge.documents.all())
        )
        yield GaugeMetricFamily("concord_index_behind", "Commits that the index does not have yet.", value=state.behind)
        if state.serving:
            age = (datetime.now(UTC) - datetime.fromisoformat(state.serving.built)).total_seconds()
            yield GaugeMetricFamily(
                "concord_index_age_seconds", "Seconds since the serving index was built.", value=age
            )
            yield GaugeMetricFamily("concord_index_generation", "The serving generation.", value=state.serving.number)
