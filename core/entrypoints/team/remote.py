"""The git remote on the command line: add, show, push, fetch, remove."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from core import strict
from core.curation.checks.findings import github, gitlab
from core.cures import ACCEPT_REWRITTEN
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.session import acting, build_app
from core.evaluation.impact import as_json
from core.services.remote.pull_requests import PullSource, markdown
from core.services.remote.remotes import Remote
from core.settings import PROJECT

FolderInput = Annotated[str, Option("the folder of it that holds the documents (default: all of it)")]


@form
class RemoteAddOptions:
    url: Annotated[str, Argument("URL", "its address over https, ssh, git or file, without a password")]
    branch: Annotated[str, Option("the branch of it (default: main)")] = "main"
    folder: FolderInput = ""
    trust: Annotated[bool, Option("take commits that another Concord made without a second review")] = False


@form
class RemoteFetchOptions:
    accept_rewritten: Annotated[bool, Option("accept that the branch was rewritten there")] = False


@form
class PullRequestOptions:
    base: Annotated[str, Option("what it would be merged into", metavar="COMMIT")]
    head: Annotated[str, Option("its newest commit (default: HEAD)", metavar="COMMIT")] = "HEAD"
    repository: Annotated[Path, Option("the repository (default: here)", metavar="DIR")] = Path(".")
    folder: FolderInput = ""
    no_impact: Annotated[bool, Option("only check the documents; needs no model")] = False
    summary: Annotated[Path | None, Option("add a summary in Markdown to this file", metavar="FILE")] = None
    annotations: Annotated[
        str | None, Option("print findings as GitHub shows them beside the lines", choices=("github",))
    ] = None
    code_quality: Annotated[Path | None, Option("write findings as GitLab shows them", metavar="FILE")] = None


@command(
    "remote add",
    "name the repository; an empty knowledge base takes its history over",
    "remote.remotes.add",
    example="remote add https://git.example.org/team/handbook.git",
)
def remote_add(call: CommandCall, form: RemoteAddOptions) -> Shown:
    remotes = call.app.remote.remotes
    added = remotes.add(call.actor, form.url, form.branch, form.folder, trust=form.trust)
    return _show(added)


@command("remote show", "where both sides stand, what waits, and the last error", "remote.remotes.show")
def remote_show(call: CommandCall) -> Shown:
    remote = call.app.remote.remotes.show(call.actor)
    if remote is None:
        return Shown(None, ["There is no remote. Name one with: python -m core remote add URL"])
    return _show(remote)


@command("remote push", "push now; exit 1 if that fails or must wait", "remote.remotes.push")
def remote_push(call: CommandCall) -> Shown:
    remote = call.app.remote.remotes.push(call.actor)
    return _show(remote)._replace(code=1 if remote.backlog else 0)


@command("remote fetch", "look for commits made elsewhere now", "remote.remotes.fetch")
def remote_fetch(call: CommandCall, form: RemoteFetchOptions) -> Shown:
    return _show(call.app.remote.remotes.fetch(call.actor, accept=form.accept_rewritten))


@command("remote remove", "forget the repository; nothing changes there or here", "remote.remotes.remove")
def remote_remove(call: CommandCall) -> Shown:
    removed = call.app.remote.remotes.remove(call.actor)
    return Shown(strict.plain(removed), [f"{removed.url} is forgotten. Nothing changed there or here."])


@command(
    "pull-request",
    "check a pull request of your own repository, and what it does to search",
    "remote.pull_requests.look",
    example="pull-request --base main",
)
def pull_request(call: CommandCall, form: PullRequestOptions) -> Shown:
    """Exit 1 when the documents could not be merged. Without --home, in a workspace that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="concord-pull-request-") as folder:
        home = call.settings.home if call.home else Path(folder) / "home"
        database = call.settings.database if call.home else ""
        cache = call.settings.cache or PROJECT / ".cache" / "pull-requests"
        app = build_app(replace(call.settings, home=home, cache=cache, database=database, store=""))
        app.platform.workspace.create()
        actor = acting(app, call.user)
        look = app.remote.pull_requests.look
        source = PullSource(form.repository.resolve(), form.base, form.head, form.folder)
        request = look(actor, source, impact=not form.no_impact, progress=call.progress)
    for file, text in (
        (form.summary, markdown(request)),
        (form.code_quality, gitlab(request.findings, request.folder)),
    ):
        if file:
            with file.open("a" if file == form.summary else "w", encoding="utf-8") as out:
                out.write(text)
    lines = github(request.findings, request.folder) if form.annotations else markdown(request).splitlines()
    value = {**strict.plain(request), "ok": request.ok, "impact": as_json(request.impact) if request.impact else None}
    return Shown(value, lines, 0 if request.ok else 1)


def _show(remote: Remote) -> Shown:
    place = f"{remote.url}, branch {remote.branch}" + (f", folder {remote.folder}" if remote.folder else "")
    lines = [place, f"{remote.state}: {remote.sentence}"]
    lines += [str(ACCEPT_REWRITTEN)] if remote.state == "rewritten" else []
    lines += [
        f"{remote.backlog} to push, {remote.incoming} to take over"
        + (f" by change {remote.change}" * bool(remote.change))
    ]
    lines += [f"last push {remote.pushed or 'never'}, last fetch {remote.fetched or 'never'}"]
    return Shown(strict.plain(remote), lines)
