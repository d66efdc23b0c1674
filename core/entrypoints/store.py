"""The store on the command line: what is there, whether it can be relied on, and what it may forget."""

from __future__ import annotations

from core import strict
from core.entrypoints.record import CommandCall, Shown, command
from core.entrypoints.terminal import table


@command("store status", "whether it answers, and what each node serves", "index.following.nodes")
def status(call: CommandCall) -> Shown:
    """Exit 0 only if the store answers."""
    nodes = call.app.index.following.nodes(call.actor)
    value = {
        **strict.plain(call.app.index.following.state),
        "nodes": [{**strict.plain(n), "alive": n.alive} for n in nodes],
    }
    rows = [(node.name, "yes" if node.alive else "gone", f"{node.age:.0f} s", node.summary) for node in nodes]
    lines = [f"{value['url']}: {'answers' if value['usable'] else value['error']}"]
    return Shown(value, lines + table(rows, ("node", "alive", "said", "serves")), 0 if value["usable"] else 1)


@command("store check", "whether it honours conditions of writes", "index.following.check")
def check(call: CommandCall) -> Shown:
    call.app.index.following.check(call.actor)
    return Shown({"store": call.settings.store, "ok": True}, [f"{call.settings.store} honours conditions of writes."])


@command("store collect", "delete generations and files that nothing needs any more", "index.following.collect")
def collect(call: CommandCall) -> Shown:
    gone = call.app.index.following.collect(call.actor)
    line = f"Deleted {gone.generations} generations and {gone.files} files, {gone.bytes / 1e6:.1f} MB."
    return Shown(strict.plain(gone), [line])
