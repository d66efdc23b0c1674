"""Commands that tune: alpha, tau, learned alpha, and what is in production."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from core import strict
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.evaluation import calibration, charts, report
from core.evaluation.report import Chart, Report, ReportTable, Text
from core.evaluation.runs import label
from core.retrieval import config as configs
from core.services.tuning.production import PromotionResult
from core.settings import Settings
from core.types import SearchConfig

CONVEX = "convex-0.5"


def register(add: Any) -> None:
    """The commands of `tune`."""
    add = add.group_of("tune", "move alpha and tau with evidence, and put the winner into production")
    alpha = add("alpha", tune_alpha, "a measure over alpha 0 to 1 with intervals, by category and question")
    tau = add("tau", tune_tau, "the smallest tau that is safe: calibrated, verified on held-out questions")
    train = add("train", tune_train, "learn alpha per question: ridge, xgboost, mlp or distribution")
    for command in (alpha, tau, train):
        command.add_argument("queryset", metavar="QUERYSET")
        command.add_argument("--profile", default="", help="which index (default: the one in production)")
        command.add_argument("--config", default="", help="the configuration to start from")
        command.add_argument("--measure", default="nDCG@10", help="for example nDCG@10, Recall@5, MRR@10")
    for command in (alpha, tau):
        command.add_argument("--out", type=Path, default=None, help="write an HTML report")
    alpha.add_argument("--unit", default="document", help="what is ranked: document or passage")
    tau.add_argument("--beta", type=float, default=calibration.BETA, help="how precise skipped questions must be")
    tau.add_argument("--least", type=int, default=calibration.LEAST, help="how many skipped questions are needed")
    train.add_argument("--kind", default="ridge", help="ridge, xgboost, mlp or distribution")
    train.add_argument("--target", default="lss", help="what the best alpha of a question is best at: lss or ranking")
    train.add_argument("--name", default="", help="what to call the model")
    promote = add("promote", tune_promote, "put a run's configuration into production, with its evidence")
    promote.add_argument("run_id", nargs="?", default="", metavar="RUN")
    promote.add_argument("--config", default="", help="a configuration without a run; needs a reason")
    promote.add_argument("--profile", default="", help="a profile without a run; needs a reason")
    promote.add_argument("--reason", default="", help="why, where the evidence is not enough")
    promote.add_argument("--measure", default="nDCG@10", help="what the evidence is about")
    back = add("rollback", tune_rollback, "search again as before the last promotion")
    back.add_argument("--reason", default="", help="why")
    add("history", tune_history, "what was in production, newest first")


def tune_alpha(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """The curve of a measure over alpha."""
    app = open_app(settings)
    config = configs.parse(options.config or CONVEX)
    if not options.config:
        config = configs.from_mapping(
            {**strict.plain(config), "depth": app.platform.settings.production().config.depth}
        )
    found = app.tuning.sweeps.curve(
        acting(app, options),
        options.queryset,
        config,
        options.profile,
        options.measure,
        options.unit,
        terminal.progress,
    )
    best = found.overall.points[found.overall.alphas.index(found.overall.best)]
    value = {
        "queryset": options.queryset,
        "measure": options.measure,
        "questions": found.overall.questions,
        "best": {"alpha": found.overall.best, **strict.plain(best)},
        "curve": _points(found.overall),
        "categories": {
            name: {"best": one.best, "questions": one.questions, "curve": _points(one)}
            for name, one in found.by_category.items()
        },
        "per_question": {question: list(span) for question, span in found.per_question.items()},
        "note": found.note,
    }
    step = range(0, len(found.overall.alphas), 10)
    rows = [
        (f"{found.overall.alphas[n]:.1f}", *(f"{getattr(found.overall.points[n], key):.4f}" for key in ("mean", "low", "high")))
        for n in step
    ]  # fmt: skip
    lines = [
        f"Best alpha {found.overall.best:.2f}: {options.measure} {best.mean:.4f} ({best.low:.4f} to {best.high:.4f}).",
        *table(rows, ("alpha", "mean", "low", "high")),
        *(f"  {name}: best alpha {one.best:.2f}" for name, one in found.by_category.items()),
        *([f"! {found.note}"] if found.note else []),
    ]
    if options.out:
        lines.append(_write(options.out, _alpha_report(value, found, config)))
    terminal.show(value, lines)
    return 0


def _points(curve: Any) -> list[dict[str, float]]:
    return [
        {"alpha": alpha, "mean": one.mean, "low": one.low, "high": one.high}
        for alpha, one in zip(curve.alphas, curve.points, strict=True)
    ]


def _alpha_report(value: Any, found: Any, config: SearchConfig) -> Report:
    overall = found.overall
    means = {name: [point.mean for point in one.points] for name, one in found.by_category.items()}
    return Report(
        "alpha",
        f"{overall.measure} over alpha",
        "0 is BM25 alone, 1 is vectors alone.",
        {"query set": value["queryset"], "questions": str(overall.questions), "depth": _depth(config)},
        (
            Chart(
                "All questions", charts.curve(overall.alphas, overall.points, "alpha", overall.measure, overall.best)
            ),
            Chart("By category", charts.lines(overall.alphas, means, "alpha", overall.measure)),
        ),
    )


def _depth(config: SearchConfig) -> str:
    return f"{config.depth} candidates per leg"


def _write(path: Path, made: Report) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.html(made), encoding="utf-8")
    return f"Report: {path}"


def tune_tau(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Calibrate tau."""
    app = open_app(settings)
    config = app.evaluation.runs.plan(config=options.config).config
    found = app.tuning.sweeps.tau(
        acting(app, options),
        options.queryset,
        options.profile,
        config,
        options.measure,
        options.beta,
        options.least,
        terminal.progress,
    )
    rows = [
        (f"{one.tau:.2f}", one.skipped, f"{one.precision:.3f}", f"{one.lower:.3f}", f"{one.measure:.4f}", f"{one.share:.0%}")
        for one in found.curve[::10]
    ]  # fmt: skip
    heads = ("tau", "skipped", "precision", "lower bound", options.measure, "reranked")
    lines = [found.sentence, *table(rows, heads)]
    if options.out:
        lines.append(_write(options.out, _tau_report(options, found, rows, heads, config)))
    terminal.show({"queryset": options.queryset, "measure": options.measure, **strict.plain(found)}, lines)
    return 0


def _tau_report(options: Namespace, found: Any, rows: Any, heads: Any, config: SearchConfig) -> Report:
    taus = [one.tau for one in found.curve]
    shares = {
        "precision of skipped questions": [one.precision for one in found.curve],
        "its lower bound": [one.lower for one in found.curve],
        options.measure: [one.measure for one in found.curve],
        "share reranked": [one.share for one in found.curve],
    }
    return Report(
        "tau",
        "Calibrated tau",
        found.sentence,
        {"query set": options.queryset, "beta": str(found.beta), "least": str(found.least), "depth": _depth(config)},
        (
            Chart("Over tau", charts.lines(taus, shares, "tau", "share or measure")),
            ReportTable("Every tenth tau", tuple(heads), tuple(tuple(str(cell) for cell in row) for row in rows)),
            Text("What it means", ("Questions whose best fused score is at or above tau are not reranked.",)),
        ),
    )


def tune_train(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Learn alpha, and say whether it is worth it."""
    app = open_app(settings)
    config = configs.parse(options.config) if options.config else None
    made = app.tuning.training.train(
        acting(app, options),
        options.queryset,
        options.kind,
        name=options.name,
        profile=options.profile,
        config=config,
        measure=options.measure,
        target=options.target,
        progress=terminal.progress,
    )
    trained = made.trained
    value = {
        "model": trained.model.name,
        "kind": trained.model.kind,
        "trained_for": trained.model.trained_for,
        "r2": dict(trained.r2),
        "regret": dict(trained.regret),
        "best_fixed_alpha": trained.fixed,
        "coefficients": dict(trained.coefficients),
        "chosen": dict(trained.chosen),
        "quality": strict.plain(made.quality),
        "against_best_fixed": strict.plain(made.against_best_fixed),
        "warning": trained.warning,
        "advice": made.advice,
        "config": strict.plain(made.config),
        "path": made.path,
    }
    rows = [(name, f"{one.mean:.4f}", f"{one.low:.4f}", f"{one.high:.4f}") for name, one in made.quality.items()]
    lines = [
        f"{trained.model.name}: R2 on test {trained.r2['test']:.3f}.",
        *table(rows, (f"{made.measure} on test", "mean", "low", "high")),
        f"Against the best fixed alpha: {made.against_best_fixed.sentence}",
        *([f"! {trained.warning}"] if trained.warning else []),
        made.advice,
        f'The model is served by: {{"alpha_from": "learned", "alpha_model": "{trained.model.name}"}}',
    ]
    terminal.show(value, lines)
    return 0


# ---------------------------------------------------------------- production


def tune_promote(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Put a configuration into production."""
    app = open_app(settings)
    made = app.tuning.production.promote(
        acting(app, options),
        options.run_id,
        profile=options.profile,
        config=options.config,
        reason=options.reason,
        measure=options.measure,
    )
    return _promoted(made, terminal)


def tune_rollback(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """Search again as before."""
    app = open_app(settings)
    return _promoted(app.tuning.production.rollback(acting(app, options), options.reason), terminal)


def _promoted(made: PromotionResult, terminal: Terminal) -> int:
    now = made.production
    value = {
        "profile": now.profile.name,
        "config": {"name": label(now.config), **strict.plain(now.config)},
        "evidence": dict(made.evidence),
        "message": made.message,
    }
    terminal.show(value, [f"In production: {label(now.config)} on {now.profile.name}.", made.message])
    return 0


def tune_history(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    """What was in production."""
    found = open_app(settings).tuning.production.history()
    value = [
        {
            "commit": one.commit,
            "when": one.when,
            "author": one.author,
            "profile": one.production.profile.name,
            "config": label(one.production.config),
            "evidence": dict(one.evidence),
        }
        for one in found
    ]
    rows = [
        (one.commit[:12], one.when, one.author, label(one.production.config), one.production.profile.name)
        for one in found
    ]
    terminal.show(value, table(rows, ("commit", "when", "who", "configuration", "profile")))
    return 0
