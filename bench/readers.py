"""Search for somebody who may read half of the knowledge base, beside somebody who may read all of it, in turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.building import workspace
from bench.corpus import queries
from bench.measure import in_turns
from core.access import Actor, reading_as
from core.storage.serving import kernels

FOLDERS, GROUPS = 500, 200
SOMEBODY = Actor("ann", "Ann", "ann@example.org", "reader")
EVERYBODY = Actor("bob", "Bob", "bob@example.org", "reader", groups=("g0",))


def measure(home: Path, chunks: int) -> dict[str, Any]:
    """CPU milliseconds of a search without and with a filter for half of it, by a policy of 500 folders and 200 groups."""
    app = workspace(home / f"readers{chunks}", chunks)
    app.index.builder.build(app.platform.settings.profile())
    kernels.warm()
    asked = queries(200)
    embedder = app.models.registry.embedder("")
    known = {query: embedder.query(query) for query in asked}
    app.search.searcher.query_vector = lambda profile, text: known[text]
    alone = in_turns([lambda query: _search(app, SOMEBODY, query)], asked)[0]
    groups = ", ".join(f"group:g{n}" for n in range(GROUPS))
    lines = [f"  f{n:02d}/: [{groups if n < 2 else 'group:g0'}]" for n in range(25)]
    lines += [f"  other{n}/: [group:g{n % GROUPS}]" for n in range(FOLDERS - 25)]
    policy = "readers:\n" + "\n".join(lines) + "\n"
    app.knowledge.repository.commit("main", {"review-rules.yaml": policy.encode()}, SOMEBODY.person, "policy")
    with reading_as(SOMEBODY):
        hidden = len(app.knowledge.documents.whole()) - len(app.knowledge.documents.all())
    half, whole = in_turns([lambda query, who=who: _search(app, who, query) for who in (SOMEBODY, EVERYBODY)], asked)
    times = {"no policy": alone.cpu50, "half": half.cpu50, "all of it, by a group": whole.cpu50}
    return {"chunks": chunks, "hidden": hidden, **{name: round(ms, 3) for name, ms in times.items()}}


def _search(app: Any, actor: Actor, query: str) -> Any:
    with reading_as(actor):
        return app.search.searcher.search(query)
