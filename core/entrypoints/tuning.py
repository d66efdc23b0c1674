"""Tuning on the command line: alpha, tau, learned alpha, and what is in production."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core import strict
from core.entrypoints.querysets import ESTIMATE, show_estimate
from core.entrypoints.session import acting, open_app
from core.entrypoints.terminal import Terminal, table
from core.evaluation.learning.triplets import FineTuning
from core.evaluation.reports import charts, report
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.runs.run import label
from core.evaluation.tuning import calibration
from core.evaluation.tuning.answerable import ALARMS
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.retrieval.rerankers.features import ABOUT
from core.services.evaluation.jobs import trained_ranker_json
from core.services.tuning import prompts
from core.services.tuning.confidence import ConfidenceReport
from core.services.tuning.embedders import tuned_embedder_json
from core.services.tuning.production import PromotionResult
from core.services.tuning.sweeps import position
from core.settings import Settings
from core.types import SearchConfig

CONVEX = "convex-0.5"


def register(add: Any) -> None:
    add = add.group_of("tune")
    alpha = add("alpha", tune_alpha, "a measure over alpha 0 to 1 with intervals, by category and question")
    tau = add("tau", tune_tau, "the smallest tau that is safe: calibrated, verified on held-out questions")
    train = add("train", tune_train, "learn alpha per question: ridge, xgboost, mlp or distribution")
    for command in (alpha, tau, train):
        command.add_argument("queryset", metavar="QUERYSET")
        command.add_argument("--profile", default="", help="which index (default: the one in production)")
        command.add_argument("--config", default="", help="the configuration to start from")
        command.add_argument(
            "--measure",
            default="nDCG@10",
            help="for example nDCG@10, Recall@5, MRR@10; T1EM, T1C, T1O or SpanMRR where answers are quoted",
        )
    for command in (alpha, tau):
        command.add_argument("--out", type=Path, default=None, help="write an HTML report")
    alpha.add_argument("--unit", default="document", help="what is ranked: document or passage")
    alpha.add_argument(
        "--whole", action="store_true", help="all questions, not only the half that things are chosen on"
    )
    tau.add_argument(
        "--by", default=calibration.GAIN, help="what tau keeps: gain (most of what reranking gains) or precision (beta)"
    )
    tau.add_argument("--keep", type=float, default=calibration.KEEP, help="the share of the gain that tau must keep")
    tau.add_argument("--beta", type=float, default=calibration.BETA, help="how precise skipped questions must be")
    tau.add_argument("--least", type=int, default=calibration.LEAST, help="how many skipped questions are needed")
    train.add_argument("--kind", default="ridge", help="ridge, xgboost, mlp or distribution")
    train.add_argument(
        "--folds", type=int, default=5, help="of cross-validation, whose spread is shown; 0 leaves it out"
    )
    train.add_argument("--target", default="lss", help="what the best alpha of a question is best at: lss or ranking")
    train.add_argument("--name", default="", help="what to call the model")
    ranker = add("ranker", tune_ranker, "learn an order from judged questions: boosted trees over readable features")
    ranker.add_argument("querysets", nargs="+", metavar="QUERYSET")
    ranker.add_argument("--config", default="", help="the search that it reranks (default: the one in production)")
    ranker.add_argument("--name", default="", help="what to call the ranker")
    embedder = add("embedder", tune_embedder, "fine-tune the embedder on judged questions; the result is a new profile")
    embedder.add_argument("querysets", nargs="+", metavar="QUERYSET")
    embedder.add_argument("--epochs", type=int, default=4, help="how often each question is learned from")
    embedder.add_argument("--rate", type=float, default=2e-5, help="the learning rate")
    embedder.add_argument("--batch", type=int, default=0, help="questions at once (default: what the device holds)")
    embedder.add_argument("--seed", type=int, default=42, help="the same seed draws the same examples")
    embedder.add_argument("--name", default="", help="what to call the embedder and its profile")
    prompt = add("prompt", tune_prompt, "let a language model rewrite its reranking prompt where it failed")
    prompt.add_argument("queryset", metavar="QUERYSET")
    prompt.add_argument("--name", default="", help="what to call it (default: as the query set)")
    prompt.add_argument("--start", default="one-shot", help="the prompt to start from")
    prompt.add_argument("--config", default="", help="what brings the fifty that are reranked (default: dense)")
    prompt.add_argument("--model", default="", help="which language model (default: the configured one)")
    prompt.add_argument("--samples", type=int, default=prompts.SAMPLES, help="questions that are looked at")
    prompt.add_argument("--rounds", type=int, default=prompts.ROUNDS, help="failures that are shown to the model")
    prompt.add_argument("--estimate", action="store_true", help=ESTIMATE)
    prompt.add_argument("--seed", type=int, default=42, help="the same seed takes the same questions")
    add("prompts", tune_prompts, "prompts that were tuned here, every version")
    sure = add("confidence", tune_confidence, "how well confidence tells what is answered here, and its threshold")
    sure.add_argument("queryset", nargs="?", default="", metavar="QUERYSET")
    sure.add_argument("--profile", default="", help="which index (default: the one in production)")
    sure.add_argument("--alarms", type=float, default=ALARMS, help="the share of answerable questions it may doubt")
    sure.add_argument("--choose", action="store_true", help="make the suggested threshold that of the team")
    sure.add_argument("--threshold", type=float, default=None, help="choose this threshold instead; needs a reason")
    sure.add_argument("--reason", default="", help="why, where the evidence is not enough")
    promote = add("promote", tune_promote, "put a run's configuration into production, with its evidence")
    promote.add_argument("run_id", nargs="?", default="", metavar="RUN")
    promote.add_argument("--config", default="", help="a configuration without a run; needs a reason")
    promote.add_argument("--profile", default="", help="a profile without a run; needs a reason")
    promote.add_argument("--reason", default="", help="why, where the evidence is not enough")
    promote.add_argument("--measure", default="nDCG@10", help="what the evidence is about")
    back = add("rollback", tune_rollback, "search again as before the last promotion")
    back.add_argument("--reason", default="", help="why")
    offer = add("offer", tune_offer, "the recommended configuration, where production is another one")
    offer.add_argument("--measure", action="store_true", help="run both on the team's own query sets")
    offer.add_argument("--decline", default="", metavar="REASON", help="do not offer it again")
    add("history", tune_history, "what was in production, newest first")


def tune_alpha(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    config = configs.parse(options.config or CONVEX)
    if not options.config:  # what is measured is what would be served
        now = app.platform.settings.production().config
        config = position(now, "convex", now.normalisation if now.normalisation != "none" else "", alpha=config.alpha)
    sweep = app.tuning.sweeps.curve(
        acting(app, options),
        options.queryset,
        config,
        options.profile,
        options.measure,
        options.unit,
        terminal.progress,
        options.whole,
    )
    best = sweep.overall.points[sweep.overall.alphas.index(sweep.overall.best)]
    value = {
        "queryset": options.queryset,
        "measure": options.measure,
        "questions": sweep.overall.questions,
        "best": {"alpha": sweep.overall.best, **strict.plain(best)},
        "curve": _points(sweep.overall),
        "categories": {
            name: {"best": curve.best, "questions": curve.questions, "curve": _points(curve)}
            for name, curve in sweep.by_category.items()
        },
        "per_question": {question: list(span) for question, span in sweep.per_question.items()},
        "note": sweep.note,
    }
    step = range(0, len(sweep.overall.alphas), 10)
    rows = [
        (f"{sweep.overall.alphas[n]:.1f}", *(f"{getattr(sweep.overall.points[n], key):.4f}" for key in ("mean", "low", "high")))
        for n in step
    ]  # fmt: skip
    lines = [
        f"Best alpha {sweep.overall.best:.2f}: {options.measure} {best.mean:.4f} ({best.low:.4f} to {best.high:.4f}).",
        *table(rows, ("alpha", "mean", "low", "high")),
        *(f"  {name}: best alpha {curve.best:.2f}" for name, curve in sweep.by_category.items()),
        *([f"! {sweep.note}"] if sweep.note else []),
    ]
    if options.out:
        lines.append(_write(options.out, _alpha_report(value, sweep, config)))
    terminal.show(value, lines)
    return 0


def _points(curve: Any) -> list[dict[str, float]]:
    return [
        {"alpha": alpha, "mean": point.mean, "low": point.low, "high": point.high}
        for alpha, point in zip(curve.alphas, curve.points, strict=True)
    ]


def _alpha_report(value: Any, sweep: Any, config: SearchConfig) -> Report:
    overall = sweep.overall
    means = {name: [point.mean for point in curve.points] for name, curve in sweep.by_category.items()}
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


def _write(path: Path, content: Report) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.html(content), encoding="utf-8")
    return f"Report: {path}"


def tune_tau(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    config = app.evaluation.runs.plan(config=options.config).config
    calibrated = app.tuning.sweeps.tau(
        acting(app, options),
        options.queryset,
        options.profile,
        config,
        options.measure,
        options.beta,
        options.least,
        terminal.progress,
        options.by,
        options.keep,
    )
    rows = [
        (f"{point.tau:.2f}", point.skipped, f"{point.precision:.3f}", f"{point.lower:.3f}", f"{point.measure:.4f}", f"{gained:+.4f}", f"{point.share:.0%}", *_price(point))
        for point, gained in _steps(calibrated.curve[::10])
    ]  # fmt: skip
    heads = (
        "tau",
        "skipped",
        "precision",
        "lower bound",
        options.measure,
        "uplift",
        "reranked",
        "s per 1,000",
        "$ per 1,000",
    )
    lines = [calibrated.sentence, f"Answered means {calibrated.event}.", *table(rows, heads)]
    if options.out:
        lines.append(_write(options.out, _tau_report(options, calibrated, rows, heads, config)))
    terminal.show({"queryset": options.queryset, "measure": options.measure, **strict.plain(calibrated)}, lines)
    return 0


def _steps(points: Sequence[calibration.Point]) -> list[tuple[calibration.Point, float]]:
    """Points with what each gains over the one before it."""
    before = [points[0], *points]
    return [(point, point.measure - last.measure) for point, last in zip(points, before, strict=False)]


def _price(point: calibration.Point) -> tuple[str, str]:
    """What reranking takes for 1,000 questions at a tau."""
    return f"{1000 * point.seconds:.0f}", f"{1000 * point.dollars:.2f}"


def _tau_report(options: Namespace, calibration: Any, rows: Any, heads: Any, config: SearchConfig) -> Report:
    taus = [point.tau for point in calibration.curve]
    shares = {
        "precision of skipped questions": [point.precision for point in calibration.curve],
        "its lower bound": [point.lower for point in calibration.curve],
        options.measure: [point.measure for point in calibration.curve],
        "share reranked": [point.share for point in calibration.curve],
    }
    return Report(
        "tau",
        "Calibrated tau",
        calibration.sentence,
        {
            "query set": options.queryset,
            "beta": str(calibration.beta),
            "least": str(calibration.least),
            "depth": _depth(config),
            "answered": calibration.event,
        },
        (
            Chart("Over tau", charts.lines(taus, shares, "tau", "share or measure")),
            Chart(
                "Uplift of each tau",
                charts.lines(taus, {"uplift": [point.uplift for point in calibration.curve]}, "tau", options.measure),
            ),
            ReportTable("Every tenth tau", tuple(heads), tuple(tuple(str(cell) for cell in row) for row in rows)),
            Text("What it means", ("Questions whose best fused score is at or above tau are not reranked.",)),
        ),
    )


def tune_train(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    config = configs.parse(options.config) if options.config else None
    training = app.tuning.training.train(
        acting(app, options),
        options.queryset,
        options.kind,
        name=options.name,
        profile=options.profile,
        config=config,
        measure=options.measure,
        target=options.target,
        folds=options.folds,
        progress=terminal.progress,
    )
    trained = training.trained
    value = {
        "model": trained.model.name,
        "kind": trained.model.kind,
        "trained_for": trained.model.trained_for,
        "r2": dict(trained.r2),
        "regret": dict(trained.regret),
        "best_fixed_alpha": training.best_fixed,
        "coefficients": dict(trained.coefficients),
        "chosen": dict(trained.chosen),
        "quality": strict.plain(training.quality),
        "against_best_fixed": strict.plain(training.against_best_fixed),
        "folds": strict.plain(training.folds),
        "spread": training.spread,
        "warning": trained.warning,
        "wins": training.wins,
        "advice": training.advice,
        "config": strict.plain(training.config),
        "path": training.path,
    }
    rows = [
        (name, f"{interval.mean:.4f}", f"{interval.low:.4f}", f"{interval.high:.4f}")
        for name, interval in training.quality.items()
    ]
    lines = [
        f"{trained.model.name}: R2 on test {trained.r2['test']:.3f}.",
        *table(rows, (f"{training.measure} on test", "mean", "low", "high")),
        f"Against the fixed alpha: {training.against_best_fixed.sentence}",
        *([training.spread] if training.spread else []),
        *([f"! {trained.warning}"] if trained.warning else []),
        training.advice,
        f'The model is served by: {{"alpha_from": "learned", "alpha_model": "{trained.model.name}"}}',
    ]
    terminal.show(value, lines)
    return 0


def tune_ranker(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    trained = app.tuning.rankers.train(
        acting(app, options),
        options.querysets,
        name=options.name,
        config=configs.parse(options.config) if options.config else None,
        progress=terminal.progress,
    )
    rows = [
        (name, f"{point.mean:.4f}", f"{point.low:.4f}", f"{point.high:.4f}") for name, point in trained.quality.items()
    ]
    shares = [(name, f"{share:.0%}", ABOUT[name]) for name, share in list(trained.importances.items())[:10]]
    lines = [
        f"{trained.model.name}: {trained.rounds} trees from {trained.learned_from} questions.",
        *table(rows, ("nDCG@10, unseen questions", "mean", "low", "high")),
        f"All unseen questions: {trained.unseen.sentence}",
        f"The half that promotions are judged on: {trained.held_out.sentence}",
        *table(shares, ("feature", "share", "what it is")),
        *([f"! {trained.note}"] if trained.note else []),
        trained.advice,
        f"It is served by: {spell(trained.config)}",
    ]
    terminal.show(trained_ranker_json(trained), lines)
    return 0


def tune_embedder(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    how = FineTuning(epochs=options.epochs, rate=options.rate, batch=options.batch, seed=options.seed)
    tuned = app.tuning.embedders.train(
        acting(app, options), options.querysets, name=options.name, settings=how, progress=terminal.progress
    )
    value = tuned_embedder_json(tuned)
    rows = [
        (name, f"{one['before']:.4f}", f"{one['after']:.4f}", one["sentence"], one["run"][:8])
        for name, one in value["compared"].items()
    ]
    facts = tuned.facts
    lines = [
        f"{tuned.name}: {tuned.base} trained on {tuned.learned_from} questions, {facts['steps']} steps in {facts['seconds']:.0f} s on {facts['device']}.",
        *table(rows, ("questions it has not seen", "before", "after", "nDCG@10", "run")),
        tuned.advice,
        f"Its profile is {tuned.profile.name}; nothing uses it until a run on it is promoted.",
    ]
    terminal.show(value, lines)
    return 0


def tune_prompt(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    asked = {name: getattr(options, name) for name in ("start", "config", "model", "samples", "rounds", "seed")}
    if options.estimate:
        return show_estimate(terminal, app.tuning.prompts.estimate(acting(app, options), options.queryset, **asked))
    result = app.tuning.prompts.tune(
        acting(app, options), options.queryset, name=options.name, progress=terminal.progress, **asked
    )
    rows = [(n, f"{tried.recall:.4f}", tried.failures, tried.analysis[:80]) for n, tried in enumerate(result.rounds)]
    lines = [result.sentence, *table(rows, ("round", "recall at 10", "failures", "why it was rewritten"))]
    if result.kept:
        lines += [result.kept.task, f'It is chosen by: {{"rerank_prompt": "{result.kept.title}"}}']
    terminal.show({"sentence": result.sentence, **strict.plain(result)}, lines)
    return 0


def tune_prompts(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    kept = app.tuning.prompts.listed(acting(app, options))
    value = [{"title": prompt.title, **strict.plain(prompt)} for prompt in kept]
    terminal.show(value, table([(prompt.title, prompt.prompt.about) for prompt in kept], ("prompt", "about")))
    return 0


# ---------------------------------------------------------------- confidence


def tune_confidence(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor = acting(app, options)
    if options.choose or options.threshold is not None:
        chosen = app.tuning.confidence.choose(
            actor,
            options.queryset,
            threshold=options.threshold,
            alarms=options.alarms,
            reason=options.reason,
            progress=terminal.progress,
        )
        terminal.show(strict.plain(chosen), [f"A search says that nothing fits well below {chosen.threshold:.2f}."])
        return 0
    if not options.queryset:
        now = app.tuning.confidence.current(actor)
        terminal.show(strict.plain(now), [f"A search says that nothing fits well below {now.threshold:.2f}."])
        return 0
    report = app.tuning.confidence.measure(actor, options.queryset, options.profile, options.alarms, terminal.progress)
    return _show_confidence(report, terminal)


def _show_confidence(report: ConfidenceReport, terminal: Terminal) -> int:
    rows = [
        (f"{point.threshold:.2f}", f"{point.false_alarms.mean:.3f}", f"{point.misses.mean:.3f}")
        for point in report.curve
    ]
    area = report.area
    lines = [
        f"{report.queryset}: {report.questions} questions, area {area.mean:.3f} ({area.low:.3f} to {area.high:.3f}).",
        *table(rows, ("threshold", "false alarms", "misses")),
        f"Now {report.now.threshold:.2f}: {report.now.false_alarms.mean:.0%} false alarms, {report.now.misses.mean:.0%} misses.",
        report.sentence,
    ]
    terminal.show({"sentence": report.sentence, "proven": report.proven, **strict.plain(report)}, lines)
    return 0


# ---------------------------------------------------------------- production


def tune_offer(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    actor, recommendation = acting(app, options), app.tuning.recommendation
    if options.decline:
        recommendation.decline(actor, options.decline)
        terminal.show({"offer": None, "declined": options.decline}, ["Declined; it is not offered again."])
        return 0
    compared = recommendation.measure(actor, terminal.progress) if options.measure else ()
    offer = recommendation.offer(actor)
    if offer is None:
        terminal.show(
            {"offer": None, "measured": []},
            ["Nothing is offered: production is what is recommended, or it was declined."],
        )
        return 0
    rows = [{"queryset": each.after.queryset, "run": each.after.id, "verdict": each.overall.verdict, "sentence": each.overall.sentence, "basis": each.basis} for each in compared]  # fmt: skip
    run = f"Promote it with: python -m core tune promote {offer.run}"
    ask = "Measure it on your questions with: python -m core tune offer --measure"
    lines = [f"{offer.title}: {offer.about}", *(f"{row['queryset']}: {row['sentence']} {row['basis']}" for row in rows)]
    terminal.show({"offer": strict.plain(offer), "measured": rows}, [*lines, run if offer.run else ask])
    return 0


def tune_promote(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    promoted = app.tuning.production.promote(
        acting(app, options),
        options.run_id,
        profile=options.profile,
        config=options.config,
        reason=options.reason,
        measure=options.measure,
    )
    return _promoted(promoted, terminal)


def tune_rollback(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    return _promoted(app.tuning.production.rollback(acting(app, options), options.reason), terminal)


def _promoted(promoted: PromotionResult, terminal: Terminal) -> int:
    now = promoted.production
    value = {
        "profile": now.profile.name,
        "config": {"name": label(now.config), **strict.plain(now.config)},
        "evidence": dict(promoted.evidence),
        "message": promoted.message,
    }
    terminal.show(value, [f"In production: {label(now.config)} on {now.profile.name}.", promoted.message])
    return 0


def tune_history(settings: Settings, options: Namespace, terminal: Terminal) -> int:
    app = open_app(settings)
    history = app.tuning.production.history(acting(app, options))
    value = [
        {
            "commit": entry.commit,
            "when": entry.when,
            "author": entry.author,
            "profile": entry.production.profile.name,
            "config": label(entry.production.config),
            "evidence": dict(entry.evidence),
        }
        for entry in history
    ]
    rows = [
        (entry.commit[:12], entry.when, entry.author, label(entry.production.config), entry.production.profile.name)
        for entry in history
    ]
    terminal.show(value, table(rows, ("commit", "when", "who", "configuration", "profile")))
    return 0
