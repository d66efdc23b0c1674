"""Share a comparison: as a command, as Python, as an HTTP call, as a file."""

from __future__ import annotations

import json
import shlex

import streamlit as st

from core import strict
from core.retrieval.presets import spell
from core.services.playground.compare import Comparison, to_json
from core.services.playground.notebook import Setup
from core.spreadsheet import csv_text

HEADS = (
    "query",
    "column",
    "profile",
    "rank",
    "move",
    "steps",
    "doc",
    "path",
    "heading",
    "chunk",
    "start",
    "end",
    "score",
)


def draw(now: Setup, comparison: Comparison) -> None:
    """Code to copy and files to download."""
    st.caption("Command line")
    st.code(as_cli(now), language="shell", wrap_lines=True)
    st.caption("Python")
    st.code(as_python(now), language="python", wrap_lines=True)
    st.caption("cURL, with an access token of your Account page")
    st.code(as_curl(now), language="shell", wrap_lines=True)
    with st.container(horizontal=True):
        st.download_button(
            "CSV", as_csv(comparison), "comparison.csv", "text/csv", icon=":material/download:", on_click="ignore"
        )
        text = json.dumps(to_json(comparison), indent=2, ensure_ascii=False)
        st.download_button(
            "JSON", text, "comparison.json", "application/json", icon=":material/download:", on_click="ignore"
        )


def as_cli(now: Setup) -> str:
    """The command that prints the same comparison."""
    columns = [part for column in now.columns for part in ("--config", shlex.quote(spell(column.config)))]
    profiles = list(dict.fromkeys(column.profile for column in now.columns))
    named = (
        [part for column in now.columns for part in ("--profile", column.profile)]
        if len(profiles) > 1
        else ["--profile", profiles[0]]
    )
    chosen = {"--type": now.filters.types, "--folder": now.filters.folders, "--tag": now.filters.tags}
    filters = [part for option, values in chosen.items() for value in values for part in (option, shlex.quote(value))]
    history = ["--history"] if now.filters.history else []
    return " ".join(["python -m core compare", shlex.quote(now.query), *columns, *named, *filters, *history])


def as_python(now: Setup) -> str:
    columns = ",\n    ".join(f"Column({c.profile!r}, parse({spell(c.config)!r}), {c.title!r})" for c in now.columns)
    chosen = {name: value for name, value in strict.plain(now.filters).items() if value}
    filters = (
        f", Filters({', '.join(f'{k}={tuple(v) if isinstance(v, list) else v!r}' for k, v in chosen.items())})"
        if chosen
        else ""
    )
    imports = "from core.types import Filters\n" if chosen else ""
    return (
        "from core.bootstrap import build\nfrom core.retrieval.config import parse\n"
        "from core.services.people.accounts import local_admin\nfrom core.services.playground.compare import Column\n"
        f"from core.settings import load\n{imports}\ncolumns = [\n    {columns},\n]\n"
        f"comparison = build(load()).playground.comparer.run(local_admin('script'), {now.query!r}, columns{filters})"
    )


def as_curl(now: Setup) -> str:
    words = {
        "types": "type",
        "statuses": "status",
        "folders": "folder",
        "tags": "tag",
        "owners": "owner",
        "docs": "doc",
    }
    chosen = strict.plain(now.filters)
    values = [("q", now.query), *(("config", spell(column.config)) for column in now.columns)]
    values += [("profile", column.profile) for column in now.columns]
    values += [(word, value) for name, word in words.items() for value in chosen[name]]
    values += [("freshness", value) for value in chosen["freshness"]]
    values += [("history", "true")] if now.filters.history else []
    sent = " ".join(f"--data-urlencode {shlex.quote(f'{name}={value}')}" for name, value in values)
    address = f"http://127.0.0.1:{st.get_option('server.port')}/api/v1/compare"
    return f'curl -sG -H "Authorization: Bearer $CONCORD_TOKEN" {address} {sent}'


def as_csv(comparison: Comparison) -> str:
    """One row per hit."""
    legs = list(dict.fromkeys(leg for outcome in comparison.outcomes for leg in outcome.column.config.legs))
    heads = [f"{leg}_{what}" for leg in legs for what in ("rank", "score", "normalised")]
    rows: list[list[object]] = [[*HEADS, *heads]]
    for outcome in comparison.outcomes:
        for n, hit in enumerate(outcome.result.hits if outcome.result else ()):
            move = outcome.moves[n] if outcome.moves else None
            scores = [part for leg in legs for part in _leg(hit.legs.get(leg))]
            place = [hit.doc, hit.path, " > ".join(hit.heading), hit.chunk, hit.start, hit.end, hit.score]
            change = [move.kind, move.steps] if move else ["", ""]
            column = [comparison.query, outcome.column.title, outcome.column.profile]
            rows.append([*column, hit.rank, *change, *place, *scores])
    return csv_text(rows)


def _leg(score: object) -> tuple[object, object, object]:
    return (score.rank, score.score, score.normalised) if score else ("", "", "")  # type: ignore[attr-defined]
