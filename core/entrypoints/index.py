"""The index on the command line: reindex, profiles, generations."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from core import profiles, strict
from core.chunking import CHUNKERS, presets
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.errors import BadInput
from core.llm.bill import dollars_of
from core.services.index import builder
from core.services.index.admin import Estimate
from core.services.models.estimates import total
from core.settings import Settings
from core.types import Generation


def register(add: Any) -> None:
    again = add("reindex", reindex)
    again.add_argument("--profile", default="", help="which profile (default: the one in production)")
    again.add_argument(
        "--words", action="store_true", help="end when words can be searched; the app adds vectors that take long"
    )
    again.add_argument("--full", action="store_true", help="rebuild everything, also what did not change")
    again.add_argument(
        "--on",
        default="",
        metavar="CLUSTER",
        help="chunk and embed on Ray: ray://HOST:10001, HOST:6379, or ray for a cluster of this machine alone",
    )
    _profiles(add.group_of("profiles"))
    _generations(add.group_of("generations"))


def _profiles(add: Any) -> None:
    add("list", profiles_list, "every profile")
    new = add("add", profiles_add, "keep a new profile")
    new.add_argument("name", metavar="NAME")
    new.add_argument(
        "--chunker",
        default="markdown",
        help=f"{_about('chunker')}: {', '.join(CHUNKERS)}, or a setting such as hierarchical-2000-500-100",
    )
    new.add_argument(
        "--param", action="append", default=[], metavar="KEY=N", help="a parameter of the chunker; repeat for several"
    )
    new.add_argument(
        "--embedder",
        action="append",
        default=[],
        help=f"{_about('embedder')}; repeat to combine several",
    )
    new.add_argument("--combine", default="concatenation", help=_about("combine"))
    new.add_argument("--context", default="structural", help=_about("context"))
    new.add_argument("--writer", action="append", default=[], metavar="MODEL", help=f"{_about('writer')}; repeat")
    new.add_argument("--graph", default="", help=f"{_about('graph')} (default: rules; none with the engine lance)")
    new.add_argument("--engine", default=profiles.IMAGE, help=_about("engine"))
    lexical = f'{_about("lexical")}, for example {{"k1": 1.2, "stemmer": "none"}}'
    new.add_argument("--lexical", default="{}", metavar="JSON", help=lexical)
    new.add_argument("--estimate", action="store_true", help="say what building it would take, and keep nothing")
    for name, run, about in (
        ("default", profiles_default, "search with another profile from now on"),
        ("delete", profiles_delete, "delete a profile that was added, with its generations"),
        ("estimate", profiles_estimate, "what building a profile would take"),
    ):
        add(name, run, about).add_argument("name", metavar="NAME")


def _about(part: str) -> str:
    """What a part of a profile is, as a help text: no capital, no full stop."""
    text = profiles.ABOUT[part].rstrip(".")
    return text[0].lower() + text[1:]


def _generations(add: Any) -> None:
    listing = add("list", generations_list, "every generation")
    back = add("rollback", generations_rollback, "serve an older one")
    for command in (listing, back):
        command.add_argument("--profile", default="", help="which profile (default: the one in production)")
    back.add_argument("number", type=int, metavar="N")


def reindex(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Build in this process or on a cluster, with a progress bar."""
    app = open_app(settings)
    built = app.index.jobs.build(
        acting(app, options),
        options.profile,
        full=options.full,
        progress=terminal.progress,
        on=options.on,
        words=options.words,
    )
    lines = [builder.describe(built)]
    lines += [f"  {name:<8} {seconds:8.2f} s" for name, seconds in built.seconds.items()]
    lines += [f"left out {path}: {why}" for path, why in built.skipped]
    lines += built.generation.notes if built.fresh else ()
    terminal.show(builder.as_json(built), lines)
    return 0


def profiles_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    production = app.platform.settings.production().profile
    value = []
    for profile, serving in app.index.admin.profiles(acting(app, options)):
        value.append(
            {
                **strict.plain(profile),
                "digest": profiles.identity(profile),
                "production": profile == production,
                "generation": serving.number if serving else None,
            }
        )
    rows = [
        (
            p["name"],
            p["chunker"]["name"],
            "+".join((p["embedder"], *p["embedders"])),
            p["context"],
            p["engine"],
            p["digest"],
            p["generation"] or "-",
            "yes" if p["production"] else "",
        )
        for p in value
    ]
    terminal.show(
        value, table(rows, ("name", "chunker", "embedder", "context", "engine", "digest", "generation", "production"))
    )
    return 0


def _chunker(name: str, params: dict[str, int]) -> dict[str, Any]:
    """A chunker with its parameters, or a setting that experiments compare, such as fixed-700-70."""
    preset = presets().get(name)
    return {"name": preset.name, "params": {**preset.params, **params}} if preset else {"name": name, "params": params}


def profiles_add(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    raw: dict[str, Any] = {
        "name": options.name,
        "context": options.context,
        "engine": options.engine,
        "graph": options.graph or profiles.usual_graph(options.engine),
        "chunker": _chunker(options.chunker, params_of(options.param)),
    }
    if options.embedder:
        raw["embedder"], *raw["embedders"] = options.embedder
    if options.writer:
        raw["writers"] = options.writer
    raw["combine"] = options.combine
    try:
        raw["lexical"] = json.loads(options.lexical)
    except ValueError as error:
        raise BadInput(f"--lexical is not valid JSON: {error}.") from None
    app = open_app(settings)
    if options.estimate:
        profile = app.index.admin.check_profile(acting(app, options), profiles.from_mapping(raw))
        return _show_estimate(app.index.admin.estimate(acting(app, options), profile), terminal)
    profile = app.index.admin.add_profile(acting(app, options), profiles.from_mapping(raw))
    digest = profiles.identity(profile)
    terminal.show(
        {**strict.plain(profile), "digest": digest},
        [f"Added {profile.name} ({digest}). Build it with: python -m core reindex --profile {profile.name}"],
    )
    return 0


def profiles_default(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    production = app.index.admin.make_default(acting(app, options), options.name)
    terminal.show(strict.plain(production), [f"The profile {production.profile.name} is in production now."])
    return 0


def profiles_delete(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    app.index.admin.delete_profile(acting(app, options), options.name)
    terminal.show({"deleted": options.name}, [f"The profile {options.name} was deleted with its generations."])
    return 0


def profiles_estimate(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    estimate = app.index.admin.estimate(acting(app, options), app.platform.settings.profile(options.name))
    return _show_estimate(estimate, terminal)


def _show_estimate(estimate: Estimate, terminal: Terminal) -> int:
    low, high = estimate.price
    cost = dollars_of(low) if low == high else f"{dollars_of(low)} to {dollars_of(high)}"
    seconds = " to ".join(dict.fromkeys(f"{value:.0f}" for value in estimate.time))
    lines = [
        f"{estimate.documents} documents, about {estimate.chunks} chunks, {estimate.to_embed} to embed, about {seconds} s, {cost}."
    ]
    lines += [f"{row.purpose}: {total([row])}" for row in estimate.calls]
    terminal.show({**strict.plain(estimate), "time": estimate.time, "price": estimate.price}, lines)
    return 0


def params_of(pairs: Sequence[str]) -> dict[str, int]:
    """Chunker parameters from KEY=N pairs."""
    params = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not value.isdigit():
            raise BadInput(f"--param {pair!r} must look like max_tokens=400.")
        params[key] = int(value)
    return params


def generations_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    generations = app.index.admin.generations_of(acting(app, options), options.profile)
    terminal.show(
        [strict.plain(g) for g in generations],
        table(
            [_row(g) for g in generations],
            ("n", "commit", "documents", "chunks", "without vector", "MB", "built", "serving"),
        ),
    )
    return 0


def generations_rollback(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    generation = app.index.admin.rollback(acting(app, options), options.number, options.profile)
    terminal.show(
        strict.plain(generation),
        [f"Generation {generation.number} ({generation.commit[:12]}) serves now, until the next reindex."],
    )
    return 0


def _row(g: Generation) -> tuple[Any, ...]:
    return (
        g.number,
        g.commit[:12],
        g.documents,
        g.chunks,
        g.pending or "",
        f"{g.bytes / 1e6:.1f}",
        g.built,
        "yes" if g.current else "",
    )
