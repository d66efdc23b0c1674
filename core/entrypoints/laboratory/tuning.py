"""Tuning on the command line: alpha, tau, what questions teach, and what is in production."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from core import strict
from core.entrypoints.record import ANY, MAYBE, Argument, CommandCall, Option, Shown, command, form
from core.entrypoints.terminal import table
from core.evaluation.reports import charts, report
from core.evaluation.reports.report import Chart, Report, ReportTable, Text
from core.evaluation.runs.run import label
from core.evaluation.statistics import PairedComparison
from core.evaluation.tuning import calibration
from core.evaluation.tuning.answerable import ALARMS
from core.evaluation.tuning.calibration import Calibration, TauRule
from core.evaluation.tuning.sweep import AlphaCurve
from core.retrieval import config as configs
from core.retrieval.presets import spell
from core.services.tuning.confidence import ConfidenceReport
from core.services.tuning.production import PromotionResult
from core.services.tuning.sweeps import AlphaCurves, SweepScope, below_tau, with_fusion
from core.types import SearchConfig

CONVEX = "convex-0.5"


ProfileInput = Annotated[str, Option("which index (default: the one in production)")]
OutInput = Annotated[Path | None, Option("write an HTML report")]
ReasonInput = Annotated[str, Option("why, where the evidence is not enough")]


@form
class OnQuerySet:
    queryset: Annotated[str, Argument("QUERYSET", "the name of a query set, as eval querysets lists it")]
    profile: ProfileInput = ""
    config: Annotated[str, Option("the configuration to start from")] = ""
    measure: Annotated[
        str, Option("for example nDCG@10, Recall@5, MRR@10; T1EM, T1C, T1O or SpanMRR where answers are quoted")
    ] = "nDCG@10"


@form
class TuneAlphaOptions(OnQuerySet):
    out: OutInput = None
    unit: Annotated[str, Option("what is ranked: document or passage")] = "document"
    whole: Annotated[bool, Option("all questions, not only the half that things are chosen on")] = False


@form
class TuneTauOptions(OnQuerySet):
    out: OutInput = None
    by: Annotated[str, Option("what tau keeps: gain (most of what reranking gains) or precision (beta)")] = (
        calibration.GAIN
    )
    keep: Annotated[float, Option("the share of the gain that tau must keep")] = calibration.KEEP
    beta: Annotated[float, Option("how precise skipped questions must be")] = calibration.BETA
    least: Annotated[int, Option("how many skipped questions are needed")] = calibration.LEAST


@form
class TuneLearnOptions:
    querysets: Annotated[
        tuple[str, ...], Argument("QUERYSET", "names of query sets, as eval querysets lists them", nargs=ANY)
    ] = ()


@form
class TuneConfidenceOptions:
    queryset: Annotated[
        str, Argument("QUERYSET", "the name of a query set, as eval querysets lists it", nargs=MAYBE)
    ] = ""
    profile: ProfileInput = ""
    alarms: Annotated[float, Option("the share of answerable questions it may doubt")] = ALARMS
    choose: Annotated[bool, Option("make the suggested threshold that of the team")] = False
    threshold: Annotated[float | None, Option("choose this threshold instead; needs a reason")] = None
    reason: ReasonInput = ""


@form
class TunePromoteOptions:
    run_id: Annotated[
        str,
        Argument(
            "RUN",
            "the run whose configuration is promoted, as eval runs prints it; or name one with --config",
            nargs=MAYBE,
        ),
    ] = ""
    config: Annotated[str, Option("a configuration without a run; needs a reason")] = ""
    profile: Annotated[str, Option("a profile without a run; needs a reason")] = ""
    reason: ReasonInput = ""
    measure: Annotated[str, Option("what the evidence is about")] = "nDCG@10"


@form
class TuneRollbackOptions:
    reason: Annotated[str, Option("why")] = ""


@command(
    "tune alpha",
    "a measure over alpha 0 to 1 with intervals, by category and question",
    "tuning.sweeps.alpha_curves",
    example="tune alpha few",
)
def tune_alpha(call: CommandCall, form: TuneAlphaOptions) -> Shown:
    config = configs.parse(form.config or CONVEX)
    if not form.config:  # what is measured is what would be served
        now = call.app.platform.settings.production().config
        config = with_fusion(
            now, "convex", now.normalisation if now.normalisation != "none" else "", alpha=config.alpha
        )
    sweep = call.app.tuning.sweeps.alpha_curves(
        call.actor, form.queryset, config, SweepScope(form.profile, form.unit, form.whole), form.measure, call.progress
    )
    best = sweep.overall.points[sweep.overall.alphas.index(sweep.overall.best)]
    value = {
        "queryset": form.queryset,
        "measure": form.measure,
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
        (
            f"{sweep.overall.alphas[n]:.1f}",
            *(f"{getattr(sweep.overall.points[n], key):.4f}" for key in ("mean", "low", "high")),
        )
        for n in step
    ]
    lines = [
        f"Best alpha {sweep.overall.best:.2f}: {form.measure} {best.mean:.4f} ({best.low:.4f} to {best.high:.4f}).",
        *table(rows, ("alpha", "mean", "low", "high")),
        *(f"  {name}: best alpha {curve.best:.2f}" for name, curve in sweep.by_category.items()),
        *([f"! {sweep.note}"] if sweep.note else []),
    ]
    if form.out:
        lines.append(_write(form.out, _alpha_report(form.queryset, sweep, config)))
    return Shown(value, lines)


def _points(curve: AlphaCurve) -> list[dict[str, float]]:
    return [
        {"alpha": alpha, "mean": point.mean, "low": point.low, "high": point.high}
        for alpha, point in zip(curve.alphas, curve.points, strict=True)
    ]


def _alpha_report(queryset: str, sweep: AlphaCurves, config: SearchConfig) -> Report:
    overall = sweep.overall
    means = {name: [point.mean for point in curve.points] for name, curve in sweep.by_category.items()}
    return Report(
        "alpha",
        f"{overall.measure} over alpha",
        "0 is BM25 alone, 1 is vectors alone.",
        {"query set": queryset, "questions": str(overall.questions), "depth": _depth(config)},
        (
            Chart(
                "All questions",
                charts.plot_curve(overall.alphas, overall.points, "alpha", overall.measure, overall.best),
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


@command(
    "tune tau",
    "the smallest tau that is safe: calibrated, verified on held-out questions",
    "tuning.sweeps.tau",
    example="tune tau few --by precision",
)
def tune_tau(call: CommandCall, form: TuneTauOptions) -> Shown:
    app = call.app
    config = below_tau(app.evaluation.runs.plan(config=form.config).config)
    calibrated = app.tuning.sweeps.tau(
        call.actor,
        form.queryset,
        TauRule(form.by, form.beta, form.least, form.keep, form.measure),
        form.profile,
        config,
        call.progress,
    )
    app.evaluation.jobs.keep_result(
        call.actor,
        "calibrate",
        strict.plain(calibrated),
        queryset=form.queryset,
        config=spell(config),
        measure=form.measure,
    )
    rows = [
        (
            f"{point.tau:.2f}",
            point.skipped,
            f"{point.precision:.3f}",
            f"{point.lower:.3f}",
            f"{point.measure:.4f}",
            f"{gained:+.4f}",
            f"{point.share:.0%}",
            *_price(point),
        )
        for point, gained in _steps(calibrated.curve[::10])
    ]
    heads = (
        "tau",
        "skipped",
        "precision",
        "lower bound",
        form.measure,
        "uplift",
        "reranked",
        "s per 1,000",
        "$ per 1,000",
    )
    lines = [f"{label(config)}: {calibrated.sentence}", f"Reranking everything: {calibrated.gain}"]
    lines += [f"Answered means {calibrated.event}.", *table(rows, heads)]
    if form.out:
        lines.append(_write(form.out, _tau_report(form, calibrated, rows, heads, config)))
    return Shown({"queryset": form.queryset, "measure": form.measure, **strict.plain(calibrated)}, lines)


def _steps(points: Sequence[calibration.Point]) -> list[tuple[calibration.Point, float]]:
    """Points with what each gains over the one before it."""
    before = [points[0], *points]
    return [(point, point.measure - last.measure) for point, last in zip(points, before, strict=False)]


def _price(point: calibration.Point) -> tuple[str, str]:
    """What reranking takes for 1,000 questions at a tau."""
    return f"{1000 * point.seconds:.0f}", f"{1000 * point.dollars:.2f}"


def _tau_report(
    form: TuneTauOptions,
    calibration: Calibration,
    rows: Sequence[tuple[object, ...]],
    heads: Sequence[str],
    config: SearchConfig,
) -> Report:
    taus = [point.tau for point in calibration.curve]
    shares = {
        "precision of skipped questions": [point.precision for point in calibration.curve],
        "its lower bound": [point.lower for point in calibration.curve],
        form.measure: [point.measure for point in calibration.curve],
        "share reranked": [point.share for point in calibration.curve],
    }
    return Report(
        "tau",
        "Calibrated tau",
        calibration.sentence,
        {
            "query set": form.queryset,
            "beta": str(calibration.beta),
            "least": str(calibration.least),
            "depth": _depth(config),
            "answered": calibration.event,
        },
        (
            Chart("Over tau", charts.lines(taus, shares, "tau", "share or measure")),
            Chart(
                "Uplift of each tau",
                charts.lines(taus, {"uplift": [point.uplift for point in calibration.curve]}, "tau", form.measure),
            ),
            ReportTable("Every tenth tau", tuple(heads), tuple(tuple(str(cell) for cell in row) for row in rows)),
            Text(
                "What it means",
                (
                    "Questions at or above tau are not reranked: where the first hit answers with at least this "
                    "chance, or, for the thesis's tau, where the best fused score is as high.",
                ),
            ),
        ),
    )


@command(
    "tune learn",
    "learn alpha, a ranker and an embedder from your questions; what wins is promoted",
    "tuning.learning.learn",
    example="tune learn few",
)
def tune_learn(call: CommandCall, form: TuneLearnOptions) -> Shown:
    """Each part is judged on questions that it has not seen. The best is promoted where it wins; else production
    stays.
    """
    report = call.app.tuning.learning.learn(call.actor, form.querysets, progress=call.progress)
    call.app.evaluation.jobs.keep_result(call.actor, "learn-all", report.plain(), querysets=list(form.querysets))
    rows = [
        (part.title, part.name or "-", _gained(part.gain), "yes" if part.wins else "no", part.more or "-")
        for part in report.parts
    ]
    lines = [
        f"{report.questions} judged questions of {', '.join(report.querysets)}.",
        *table(rows, ("learned", "name", "gained on unseen questions", "wins", "more questions would tell")),
        *(f"{part.title}: {part.sentence}" for part in report.parts),
        report.advice,
        *([f"python -m core tune promote {report.run[:8]}"] if report.run and not report.promoted else []),
    ]
    return Shown(report.plain(), lines)


def _gained(gain: PairedComparison | None) -> str:
    return f"{gain.difference.mean:+.4f} ({gain.difference.low:+.4f} to {gain.difference.high:+.4f})" if gain else "-"


# ---------------------------------------------------------------- confidence


@command(
    "tune confidence",
    "how well confidence tells what is answered here, and its threshold",
    "tuning.confidence.current",
    example="tune confidence few",
)
def tune_confidence(call: CommandCall, form: TuneConfidenceOptions) -> Shown:
    app = call.app
    actor = call.actor
    if form.choose or form.threshold is not None:
        chosen = app.tuning.confidence.choose(
            actor,
            form.queryset,
            threshold=form.threshold,
            alarms=form.alarms,
            reason=form.reason,
            progress=call.progress,
        )
        return Shown(strict.plain(chosen), [f"A search says that nothing fits well below {chosen.threshold:.2f}."])
    if not form.queryset:
        now = app.tuning.confidence.current(actor)
        return Shown(strict.plain(now), [f"A search says that nothing fits well below {now.threshold:.2f}."])
    report = app.tuning.confidence.measure(actor, form.queryset, form.profile, form.alarms, call.progress)
    shown = _show_confidence(report)
    app.evaluation.jobs.keep_result(actor, "confidence", shown.value, queryset=form.queryset)
    return shown


def _show_confidence(report: ConfidenceReport) -> Shown:
    rows = [
        (f"{point.threshold:.2f}", f"{point.false_alarms.mean:.3f}", f"{point.misses.mean:.3f}")
        for point in report.curve
    ]
    area = report.area
    lines = [
        f"{report.queryset}: {report.questions} questions, area {area.mean:.3f} ({area.low:.3f} to {area.high:.3f}).",
        *table(rows, ("threshold", "false alarms", "misses")),
        f"Now {report.now.threshold:.2f}: {report.now.false_alarms.mean:.0%} false alarms, "
        f"{report.now.misses.mean:.0%} misses.",
        report.sentence,
    ]
    return Shown({"sentence": report.sentence, "proven": report.proven, **strict.plain(report)}, lines)


# ---------------------------------------------------------------- production


@command(
    "tune promote",
    "put a run's configuration into production, with its evidence",
    "tuning.production.promote",
    example='tune promote RUN --reason "It finds more"',
)
def tune_promote(call: CommandCall, form: TunePromoteOptions) -> Shown:
    promoted = call.app.tuning.production.promote(
        call.actor,
        form.run_id,
        profile=form.profile,
        config=form.config,
        reason=form.reason,
        measure=form.measure,
    )
    return _promoted(promoted)


@command("tune rollback", "search again as before the last promotion", "tuning.production.rollback")
def tune_rollback(call: CommandCall, form: TuneRollbackOptions) -> Shown:
    return _promoted(call.app.tuning.production.rollback(call.actor, form.reason))


def _promoted(promoted: PromotionResult) -> Shown:
    now = promoted.production
    value = {
        "profile": now.profile.name,
        "config": {"name": label(now.config), **strict.plain(now.config)},
        "evidence": dict(promoted.evidence),
        "message": promoted.message,
    }
    return Shown(value, [f"In production: {label(now.config)} on {now.profile.name}.", promoted.message])
