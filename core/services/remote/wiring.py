"""The room of the git remote, wired."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.jobs.jobs import Jobs
from core.services.platform.base import Base
from core.services.remote.incoming import IncomingCommits
from core.services.remote.pull_requests import PullRequests
from core.services.remote.remotes import JOB, Remotes
from core.services.reviews.wiring import Reviews
from core.storage.git.git_remote import GitRemote


@dataclass(frozen=True, slots=True)
class RemoteRoom:
    """The repository elsewhere that merges are pushed to, and pull requests in somebody's own."""

    remotes: Remotes
    pull_requests: PullRequests


def wire(base: Base, jobs: Jobs, reviews: Reviews) -> RemoteRoom:
    git, settings = GitRemote(base.repository, base.access), base.settings
    incoming = IncomingCommits(reviews.changes, reviews.merger, git)
    remotes = Remotes(git, incoming, jobs, settings.remote_token, settings.remote_minutes)
    base.events.moved.then(remotes.start)
    base.events.imported.then(remotes.start)
    base.upkeep.works[JOB] = remotes.work
    base.upkeep.minutely.append(remotes.tick)
    return RemoteRoom(remotes, PullRequests(git, remotes, reviews.changes, reviews.impacts.measure))
