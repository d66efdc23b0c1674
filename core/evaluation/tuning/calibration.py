"""Tau with evidence: the smallest that keeps most of what reranking gains, or that skips reranking only where the fused
ranking alone has proved good (thesis, 3.4.2.2)."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from core.evaluation.statistics import BETTER, OPEN, PairedComparison, compare, wilson_lower, wilson_upper

BETA = 0.5  # the precision that skipped queries must have (thesis, 5.4)
LEAST = 30  # skipped queries; fewer prove nothing
KEEP = 0.9  # the share of what reranking gains that tau must keep
CHANCE, SCORE = "chance", "score"  # tau's scale: that the first hit answers, or the thesis's best fused score
GAIN, PRECISION = RULES = ("gain", "precision")  # what tau is chosen by
HELD_OUT = 0.2
STEPS = 101
CONFIRMED, NOT_CONTRADICTED, CONTRADICTED = "confirmed", "not contradicted", "contradicted"  # by what was held out
NO_GAIN, THIN = "no gain", "thin"  # reranking is not better; or too few questions to choose a tau by what it gains
FEWEST = 100  # questions; of fewer, the held-out fifth could not say how much of a gain is kept


@dataclass(frozen=True, slots=True)
class Observed:
    """One judged query: how sure the fusion is of it on the scale of tau, whether the fused top five hold the answer,
    the measure of the fused and of the reranked order, and what reranking it takes."""

    query: str
    sureness: float
    answered: bool
    fused: float
    reranked: float
    seconds: float = 0.0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """What one tau does. `uplift` is against the tau before it, `share` how many queries are reranked; seconds and
    dollars are what reranking takes for a query on average, skipped ones included."""

    tau: float
    skipped: int
    answered: int
    precision: float
    lower: float
    upper: float
    measure: float
    uplift: float
    share: float
    seconds: float = 0.0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tau with its evidence. `tau` is None when no threshold is good enough, then every query is reranked, or when
    reranking gains nothing, then none is.

    `event` is what counts as answered. `gain` is the sentence about reranking everything against nothing, `seconds`
    and `dollars` what reranking one query takes; `kept` is the share of the gain of always reranking that tau keeps on
    the queries that were held out, None where reranking gains nothing there; `verdict` says whether their precision
    confirms beta, does not contradict it or contradicts it, `holds` whether it still allows beta.
    """

    tau: float | None
    beta: float
    least: int
    curve: tuple[Point, ...]
    chosen: Point | None
    held_out: Point | None
    kept: float | None
    holds: bool
    sentence: str
    verdict: str = ""
    rule: str = PRECISION
    keep: float = KEEP
    gain: str = ""
    seconds: float = 0.0
    dollars: float = 0.0
    event: str = ""
    scale: str = SCORE  # what tau is compared with; those of before say nothing of it


def tau_curve(observed: Sequence[Observed], steps: int = STEPS) -> tuple[Point, ...]:
    """Every tau from 0 to 1: queries at or above it are skipped, the others reranked.

    >>> [(p.tau, p.skipped, p.precision, p.measure) for p in tau_curve(
    ...     [Observed("q", 0.9, True, 1.0, 1.0), Observed("r", 0.4, False, 0.0, 1.0)], 3)]
    [(0.0, 2, 0.5, 0.5), (0.5, 1, 1.0, 1.0), (1.0, 0, 0.0, 1.0)]
    """
    return points_at(observed, [step / (steps - 1) for step in range(steps)])


def points_at(observed: Sequence[Observed], taus: Iterable[float]) -> tuple[Point, ...]:
    """The same at chosen taus in ascending order; any above 1 reranks everything."""
    ordered = sorted(observed, key=lambda observation: (observation.sureness, observation.query))
    scores = [observation.sureness for observation in ordered]
    answered = [0, *accumulate(int(observation.answered) for observation in ordered)]
    fused = [0.0, *accumulate(observation.fused for observation in ordered)]
    reranked = [0.0, *accumulate(observation.reranked for observation in ordered)]
    seconds = [0.0, *accumulate(observation.seconds for observation in ordered)]
    dollars = [0.0, *accumulate(observation.dollars for observation in ordered)]
    points: list[Point] = []
    for tau in taus:
        below = bisect_left(scores, tau)
        n, hits = len(ordered) - below, answered[-1] - answered[below]
        measure = (reranked[below] + fused[-1] - fused[below]) / max(1, len(ordered))
        points.append(
            Point(
                tau=tau,
                skipped=n,
                answered=hits,
                precision=hits / n if n else 0.0,
                lower=wilson_lower(hits, n),
                upper=wilson_upper(hits, n),
                measure=measure,
                uplift=measure - points[-1].measure if points else 0.0,
                share=below / max(1, len(ordered)),
                seconds=seconds[below] / max(1, len(ordered)),
                dollars=dollars[below] / max(1, len(ordered)),
            )
        )
    return tuple(points)


def choose(points: Sequence[Point], beta: float = BETA, least: int = LEAST) -> Point | None:
    """The smallest tau whose skipped queries are at least `least` and, at 95 %, at least `beta` precise (eq. 32).

    >>> choose(tau_curve([Observed(str(n), 0.8, n > 3, 0.0, 0.0) for n in range(50)], 11)).tau
    0.0
    """
    return next((point for point in points if point.lower >= beta and point.skipped >= least), None)


@dataclass(frozen=True, slots=True)
class TauRule:
    """How tau is chosen: by what is kept of the gain, or by how precise the queries are that it skips."""

    by: str = GAIN
    beta: float = BETA  # the precision that is wanted
    least: int = LEAST  # skipped queries
    keep: float = KEEP  # of what reranking everything gains
    measure: str = "nDCG@10"  # that the gain is of


def calibrate(
    observed: Sequence[Observed],
    rule: TauRule = TauRule(PRECISION),
    *,
    share_held_out: float = HELD_OUT,
    seed: int = 42,
) -> Calibration:
    """Choose tau on most of the queries and verify it on the rest."""
    by, beta = rule.by, rule.beta
    least, keep = rule.least, rule.keep
    order = sorted(observed, key=lambda observation: observation.query)
    random.Random(seed).shuffle(order)
    cut = round(len(order) * share_held_out)
    held_out, fitted = order[:cut], order[cut:]
    points = tau_curve(fitted)
    everything = compare([each.fused for each in order], [each.reranked for each in order]) if order else None
    about: dict[str, Any] = {"rule": by, "keep": keep, "gain": everything.sentence if everything else ""}
    shown = tau_curve(order)
    if by == GAIN and (everything is None or everything.verdict != BETTER or len(order) < FEWEST):
        why, word = _no_tau_by_gain(everything)
        return Calibration(None, beta, least, shown, None, None, None, False, why, word, **about)
    chosen = keeping(points, fitted, keep) if by == GAIN else choose(points, beta, least)
    if chosen is None:
        why = _nothing_kept(keep) if by == GAIN else _no_tau(points, beta, least)
        return Calibration(None, beta, least, shown, None, None, None, False, why, **about)
    held_out_curve = tau_curve(held_out)
    at = held_out_curve[points.index(chosen)]
    base, gain = (
        _mean(observation.fused for observation in held_out),
        _mean(observation.reranked - observation.fused for observation in held_out),
    )
    kept = (at.measure - base) / gain if gain > 1e-12 else None
    outcome = verdict(at, beta) if by == PRECISION else _kept_verdict(kept, keep)
    holds = bool(held_out) and outcome != CONTRADICTED
    sentence = (
        _sentence(chosen, at, beta, outcome)
        if by == PRECISION
        else _kept_sentence(chosen, (at.measure - base, gain), keep, len(held_out))
    )
    return Calibration(chosen.tau, beta, least, shown, chosen, at, kept, holds, sentence, outcome, **about)


def keeping(points: Sequence[Point], observed: Sequence[Observed], keep: float = KEEP) -> Point | None:
    """The smallest tau that keeps a share of what reranking everything gains.

    >>> seen = [Observed("a", 0.2, False, 0.0, 1.0), Observed("b", 0.6, True, 1.0, 1.0)]
    >>> keeping(tau_curve(seen, 11), seen).tau
    0.3
    """
    base = _mean(each.fused for each in observed)
    least = base + keep * (_mean(each.reranked for each in observed) - base)
    return next((point for point in points if point.measure >= least - 1e-12), None)


def _kept_verdict(kept: float | None, keep: float) -> str:
    """Whether the held-out queries keep as much."""
    if kept is None:
        return NOT_CONTRADICTED
    if kept >= keep:
        return CONFIRMED
    return NOT_CONTRADICTED if kept >= keep / 2 else CONTRADICTED


def _kept_sentence(chosen: Point, gains: tuple[float, float], keep: float, held_out: int) -> str:
    """The chosen tau, and what it and reranking everything gain on the held-out questions."""
    return (
        f"Tau {chosen.tau:.2f} is the smallest that keeps {keep:.0%} of what reranking gains: {chosen.share:.0%} of "
        "the "
        f"questions are reranked, {chosen.skipped} are not. On the {held_out} held-out questions it gains "
        f"{gains[0]:+.3f}, "
        f"reranking everything {gains[1]:+.3f}."
    )


def _no_tau_by_gain(everything: PairedComparison | None) -> tuple[str, str]:
    """Why no tau is recommended, and a word for it: reranking gains nothing, that is open, or the questions are too
    few.
    """
    if everything is None:
        return "There is no judged question to calibrate on.", THIN
    if everything.verdict == BETTER:
        few = f"{everything.queries} questions are too few to choose a tau on: it takes {FEWEST}."
        return f"Reranking everything is better, but {few}", THIN
    if everything.verdict == OPEN and everything.differ:
        return "No tau is recommended: it is open whether reranking gains anything here.", THIN
    return "Reranking gains nothing here: leave it off.", NO_GAIN


def _nothing_kept(keep: float) -> str:
    return f"No tau below 1 keeps {keep:.0%} of what reranking gains: rerank every query."


def verdict(at: Point, beta: float) -> str:
    """Whether the held-out queries confirm a promised precision.

    >>> [
    ...     verdict(tau_curve([Observed(str(n), 0.8, n < hits, 0.0, 0.0) for n in range(5)], 3)[0], 0.5)
    ...     for hits in (5, 1, 0)
    ... ]
    ['confirmed', 'not contradicted', 'contradicted']
    """
    if at.lower >= beta:
        return CONFIRMED
    return NOT_CONTRADICTED if at.upper >= beta else CONTRADICTED


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / max(1, len(listed))


def _no_tau(points: Sequence[Point], beta: float, least: int) -> str:
    enough = [point.lower for point in points if point.skipped >= least]
    if not enough:
        return (
            f"There are fewer than {least} judged queries to calibrate on. Judge more, or keep reranking every query."
        )
    return (
        f"No threshold makes skipped queries at least {beta:.0%} precise with 95 % certainty; the best lower bound is "
        f"{max(enough):.0%}. Lower beta, or keep reranking every query."
    )


def _sentence(chosen: Point, at: Point, beta: float, outcome: str) -> str:
    meaning = {
        CONFIRMED: f"which confirms {beta:.0%}.",
        NOT_CONTRADICTED: f"which neither confirms nor contradicts {beta:.0%}.",
        CONTRADICTED: f"which contradicts {beta:.0%}: do not use this tau.",
    }
    return (
        f"At tau {chosen.tau:.2f}, {chosen.skipped} queries are skipped; their precision is {chosen.precision:.0%}, "
        f"at least {chosen.lower:.0%} with 95 % certainty. Held out: {at.answered} of {at.skipped} skipped queries "
        "answered, "
        f"{meaning[outcome]}"
    )
