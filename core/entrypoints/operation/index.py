"""The index on the command line: reindex, profiles, generations, and the store that machines share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from core import profiles, strict
from core.chunking import CHUNKERS, presets
from core.entrypoints.record import Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.errors import BadInput
from core.llm.asking import dollars_of
from core.services.index import builder
from core.services.index.admin import Estimate
from core.services.models.call_estimates import total
from core.types import Generation

ProfileInput = Annotated[str, Option("which profile (default: the one in production)")]


def _about(part: str) -> str:
    """What a part of a profile is, as a help text: no capital, no full stop."""
    text = profiles.ABOUT[part].rstrip(".")
    return text[0].lower() + text[1:]


_LEXICAL = f'{_about("lexical")}, for example {{"k1": 1.2, "stemmer": "none"}}'


@form
class ReindexOptions:
    profile: ProfileInput = ""
    words: Annotated[bool, Option("end when words can be searched; the app adds vectors that take long")] = False
    full: Annotated[bool, Option("rebuild everything, also what did not change")] = False
    on: Annotated[
        str,
        Option(
            "chunk and embed on Ray: ray://HOST:10001, HOST:6379, or ray for a cluster of this machine alone",
            metavar="CLUSTER",
        ),
    ] = ""


@form
class ProfilesAddOptions:
    name: Annotated[str, Argument("NAME", "the name of the new profile")]
    chunker: Annotated[
        str,
        Option(f"{_about('chunker')}: {', '.join(CHUNKERS)}, or a setting such as hierarchical-2000-500-100"),
    ] = "markdown"
    param: Annotated[tuple[str, ...], Option("a parameter of the chunker; repeat for several", metavar="KEY=N")] = ()
    embedder: Annotated[tuple[str, ...], Option(f"{_about('embedder')}; repeat to combine several")] = ()
    combine: Annotated[str, Option(_about("combine"))] = "concatenation"
    context: Annotated[str, Option(_about("context"))] = "structural"
    questions: Annotated[int, Option(_about("questions"), metavar="N")] = 0
    writer: Annotated[tuple[str, ...], Option(f"{_about('writer')}; repeat", metavar="MODEL")] = ()
    graph: Annotated[str, Option(_about("graph"))] = profiles.DEFAULT.graph
    lexical: Annotated[str, Option(_LEXICAL, metavar="JSON")] = "{}"
    estimate: Annotated[bool, Option("say what building it would take, and keep nothing")] = False


@form
class OneProfile:
    name: Annotated[str, Argument("NAME", "the name of the profile")]


@form
class GenerationsListOptions:
    profile: ProfileInput = ""


@form
class GenerationsRollbackOptions:
    profile: ProfileInput = ""
    number: Annotated[int, Argument("N", "the number of a generation, as generations list prints it")]


@command("reindex", "make the newest commit searchable", "index.jobs.build")
def reindex(call: CommandCall, form: ReindexOptions) -> Shown:
    """Build in this process or on a cluster, with a progress bar."""
    built = call.app.index.jobs.build(
        call.actor,
        form.profile,
        full=form.full,
        progress=call.progress,
        on=form.on,
        words=form.words,
    )
    lines = [builder.describe(built)]
    lines += [f"  {name:<8} {seconds:8.2f} s" for name, seconds in built.seconds.items()]
    lines += [f"left out {path}: {why}" for path, why in built.skipped]
    lines += built.generation.notes if built.fresh else ()
    return Shown(builder.as_json(built), lines)


@command("profiles list", "every profile", "index.admin.profiles")
def profiles_list(call: CommandCall) -> Shown:
    production = call.app.platform.settings.production().profile
    value = []
    for profile, serving in call.app.index.admin.profiles(call.actor):
        value.append(
            {
                **strict.plain(profile),
                "digest": profiles.identity(profile),
                "production": profile == production,
                "generation": serving.number if serving else None,
                "absent_models": call.app.index.admin.absent_models(call.actor, profile),
            }
        )
    rows = [
        (
            p["name"],
            p["chunker"]["name"],
            "+".join((p["embedder"], *p["embedders"])),
            p["context"],
            p["digest"],
            p["generation"] or "-",
            "yes" if p["production"] else "",
        )
        for p in value
    ]
    heads = ("name", "chunker", "embedder", "context", "digest", "generation", "production")
    fetch = [
        f"! {p['name']} needs a model that is not on this machine. Fetch it with: python -m core models fetch {name}"
        for p in value
        for name in p["absent_models"]
    ]
    return Shown(value, [*table(rows, heads), *fetch])


def _chunker(name: str, params: dict[str, int]) -> dict[str, Any]:
    """A chunker with its parameters, or a setting that experiments compare, such as fixed-700-70."""
    preset = presets().get(name)
    return {"name": preset.name, "params": {**preset.params, **params}} if preset else {"name": name, "params": params}


@command(
    "profiles add",
    "keep a new profile",
    "index.admin.check_profile",
    example="profiles add small --chunker fixed --param max_tokens=200",
)
def profiles_add(call: CommandCall, form: ProfilesAddOptions) -> Shown:
    raw: dict[str, Any] = {
        "name": form.name,
        "context": form.context,
        "questions": form.questions,
        "graph": form.graph,
        "chunker": _chunker(form.chunker, params_of(form.param)),
    }
    if form.embedder:
        raw["embedder"], *raw["embedders"] = form.embedder
    if form.writer:
        raw["writers"] = form.writer
    raw["combine"] = form.combine
    try:
        raw["lexical"] = json.loads(form.lexical)
    except ValueError as error:
        raise BadInput(f"--lexical is not valid JSON: {error}.") from None
    app = call.app
    if form.estimate:
        profile = app.index.admin.check_profile(call.actor, profiles.from_mapping(raw))
        return _show_estimate(app.index.admin.estimate(call.actor, profile))
    profile = app.index.admin.add_profile(call.actor, profiles.from_mapping(raw))
    digest = profiles.identity(profile)
    return Shown(
        {**strict.plain(profile), "digest": digest},
        [f"Added {profile.name} ({digest}). Build it with: python -m core reindex --profile {profile.name}"],
    )


@command(
    "profiles default",
    "search with another profile from now on",
    "index.admin.make_default",
    example="profiles default local",
)
def profiles_default(call: CommandCall, form: OneProfile) -> Shown:
    production = call.app.index.admin.make_default(call.actor, form.name)
    return Shown(strict.plain(production), [f"The profile {production.profile.name} is in production now."])


@command(
    "profiles delete",
    "delete a profile that was added, with its generations",
    "index.admin.delete_profile",
    example="profiles delete finer",
)
def profiles_delete(call: CommandCall, form: OneProfile) -> Shown:
    call.app.index.admin.delete_profile(call.actor, form.name)
    return Shown({"deleted": form.name}, [f"The profile {form.name} was deleted with its generations."])


def _show_estimate(estimate: Estimate) -> Shown:
    low, high = estimate.price
    cost = dollars_of(low) if low == high else f"{dollars_of(low)} to {dollars_of(high)}"
    seconds = " to ".join(dict.fromkeys(f"{value:.0f}" for value in estimate.time))
    lines = [
        f"{estimate.documents} documents, about {estimate.chunks} chunks, {estimate.to_embed} to embed, about "
        f"{seconds} s, {cost}."
    ]
    lines += [f"{row.purpose}: {total([row])}" for row in estimate.calls]
    return Shown({**strict.plain(estimate), "time": estimate.time, "price": estimate.price}, lines)


def params_of(pairs: Sequence[str]) -> dict[str, int]:
    """Chunker parameters from KEY=N pairs."""
    params = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not value.isdigit():
            raise BadInput(f"--param {pair!r} must look like max_tokens=400.")
        params[key] = int(value)
    return params


@command("generations list", "every generation", "index.admin.generations_of")
def generations_list(call: CommandCall, form: GenerationsListOptions) -> Shown:
    generations = call.app.index.admin.generations_of(call.actor, form.profile)
    return Shown(
        [strict.plain(g) for g in generations],
        table(
            [_row(g) for g in generations],
            ("n", "commit", "documents", "chunks", "without vector", "MB", "built", "serving"),
        ),
    )


@command("generations rollback", "serve an older one", "index.admin.rollback", example="generations rollback 1")
def generations_rollback(call: CommandCall, form: GenerationsRollbackOptions) -> Shown:
    generation = call.app.index.admin.rollback(call.actor, form.number, form.profile)
    return Shown(
        strict.plain(generation),
        [f"Generation {generation.number} ({generation.commit[:12]}) serves now, until the next reindex."],
    )


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
