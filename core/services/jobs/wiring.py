"""The queue of jobs, wired."""

from __future__ import annotations

from core.adapters.system.processes import SystemProcesses, worker_limit
from core.ports import Processes
from core.services.jobs.crew import Crew
from core.services.jobs.jobs import Jobs
from core.services.people.accounts import Accounts
from core.services.platform.base import Base


def wire(base: Base, accounts: Accounts, processes: Processes | None = None) -> Jobs:
    settings, shared = base.settings, bool(base.settings.database)
    limit = worker_limit(settings.workers, shared)
    workers = processes or SystemProcesses(settings.home, limit, settings.worker_memory)
    return Jobs(base.database, Crew(base.database, workers, shared=shared), base.clock, accounts, base.audit)
