"""What is in production: promoted with evidence, rolled back, and checked for drift after every merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import profiles
from core.access import READS, SYSTEM, UPKEEP, Actor, reading_as, use_case
from core.errors import BadInput, NotFound, Unavailable
from core.evaluation.querysets.queryset import FRONTMATTER
from core.evaluation.runs.comparisons import MEASURE, RunComparison, compare, corrected, judge
from core.evaluation.runs.run import Run, label
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.services.evaluation.runs import RunPlan, Runs
from core.services.models.fitness import Fitness
from core.services.people.audit import Audit
from core.services.platform.settings import Production, Promotion, TeamSettings
from core.types import SearchConfig


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """What is in production after a promotion, and on what evidence."""

    production: Production
    evidence: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class Drift:
    """Production now against what served before, whatever that was, on one query set."""

    queryset: str
    now: Run | None
    before: Run | None
    compared: RunComparison | None
    lost: bool
    sentence: str


class ProductionSettings:
    """Promotes, rolls back, and checks for drift."""

    def __init__(self, team_settings: TeamSettings, runs: Runs, audit: Audit, fitness: Fitness | None = None) -> None:
        self.team_settings = team_settings
        self.runs = runs
        self.audit = audit
        self.fitness = fitness

    @use_case("run an evaluation", READS)
    def evidence(
        self, actor: Actor, run: str, measure: str = MEASURE, progress: Progress = no_progress
    ) -> RunComparison:
        """A run's configuration against production, both on today's questions and generation.

        A run of an older commit or query set is repeated; most of it is cached. The verdict is on the questions that
        nothing is chosen on, corrected for every configuration that was ever tried on one of them.
        """
        candidate = self.runs.show(actor, run)
        current, remeasured = self._against_production(candidate, candidate.queryset, progress)
        return self.runs.shown_comparison(self.judged(current, remeasured, measure))

    def judged(self, current: Run, candidate: Run, measure: str = MEASURE) -> RunComparison:
        """A candidate against production, corrected for all tries: the verdict that every page and command gives."""
        compared = judge(current, candidate, measure)
        tried = self.runs.tried(candidate, [row.question for row in compared.rows])
        return corrected(compared, len(tried - {(current.profile_digest, current.config_digest)}))

    @use_case("run an evaluation", READS)
    def guardrails(
        self, actor: Actor, run: str, measure: str = MEASURE, progress: Progress = no_progress
    ) -> tuple[RunComparison, ...]:
        """The same on every other query set that production was measured on."""
        candidate = self.runs.show(actor, run)
        others = [name for name in self.watched(actor) if name != candidate.queryset]
        pairs = [self._against_production(candidate, name, progress) for name in others]
        return tuple(self.runs.shown_comparison(compare(before, after, measure)) for before, after in pairs)

    def _against_production(self, candidate: Run, queryset: str, progress: Progress) -> tuple[Run, Run]:
        production = self.team_settings.production()
        plans = [RunPlan(production.profile, production.config), self._plan_of(candidate)]
        before, after = self.runs.evaluate(queryset, plans, candidate.unit, progress)
        return before, after

    def _plan_of(self, run: Run) -> RunPlan:
        profile = self.team_settings.profile(run.profile)
        if profiles.identity(profile) != run.profile_digest:
            raise BadInput(f"The profile {profile.name!r} is not the one of the run any more. Run it again.")
        return RunPlan(profile, run.config)

    @use_case("change what is in production", whole=True)
    def promote(
        self,
        actor: Actor,
        run: str = "",
        *,
        profile: str = "",
        config: str = "",
        reason: str = "",
        measure: str = MEASURE,
    ) -> PromotionResult:
        """Put a run's configuration into production; a reason is needed without evidence that it is better, and where
        it loses on another query set."""
        reason = " ".join(reason.split())[:500]
        seen = self.team_settings.head()
        compared = self.evidence(actor, run, measure) if run else None
        if not run and not config and not profile:
            raise BadInput(
                "Name the run to promote, as eval runs lists it; or a configuration (--config) with a reason "
                "(--reason)."
            )
        guards = self.guardrails(actor, run, measure) if run else ()
        if not reason:
            _demand_reason(compared, guards)
        plan = self._plan(compared, profile, config)
        self._require_fit(plan.config)
        evidence = _evidence(compared, guards, reason)
        message = _message(plan, compared, guards, reason)
        production = self.team_settings.promote(plan.profile.name, plan.config, evidence, actor.person, message, seen)
        self._note(actor, "promote", production, message)
        return PromotionResult(production, evidence, message)

    def _require_fit(self, config: SearchConfig) -> None:
        """Refuse a language model that was not checked for what the configuration asks it, or was found unfit."""
        uses = self.runs.searcher.model_uses(config)
        if self.fitness is None or not uses:
            return
        try:
            llm = self.runs.searcher.llm(config)
        except Unavailable:  # the search goes without it, and says so
            return
        self.fitness.require_checked(llm.name, llm.server, uses)

    def _plan(self, compared: RunComparison | None, profile: str, config: str) -> RunPlan:
        if compared is None:
            return self.runs.plan(profile, config)
        plan = self._plan_of(compared.after)
        return replace(plan, config=replace(plan.config, k=self.team_settings.production().config.k))

    @use_case("change what is in production", whole=True)
    def rollback(self, actor: Actor, reason: str = "") -> PromotionResult:
        """Go back to what was in production before the last promotion."""
        seen, past = self.team_settings.head(), self.team_settings.promotions()
        if not past:
            raise NotFound("Nothing was promoted yet, so there is nothing to roll back.")
        before = _before(past)
        target = before.production if before else self.team_settings.original()
        evidence = {"rolled_back": past[0].commit, "to": before.commit if before else "", "reason": reason}
        message = f"Roll back to {label(target.config)} on {target.profile.name}\n\n{reason}".strip()
        production = self.team_settings.promote(
            target.profile.name, target.config, evidence, actor.person, message, seen
        )
        self._note(actor, "roll back production", production, reason)
        return PromotionResult(production, evidence, message)

    def _note(self, actor: Actor, action: str, production: Production, why: str) -> None:
        self.audit.note(actor, action, f"{label(production.config)} on {production.profile.name}", detail=why)

    @use_case("run an evaluation", READS)
    def history(self, actor: Actor) -> tuple[Promotion, ...]:
        """What was in production, newest first."""
        return self.team_settings.promotions()

    @use_case("see query sets", READS)
    def default_queryset(self, actor: Actor) -> tuple[str, str]:
        """The set that tuning starts with, and why: what production was promoted or measured on, else what authors
        wrote.

        It stays the same whatever sets others make meanwhile.
        """
        known = [summary.name for summary in self.runs.querysets.all()][::-1]  # oldest first
        promoted = str(self.team_settings.evidence().get("queryset", ""))
        if promoted in known:
            return promoted, "production was promoted on it"
        watched, authors = set(self.watched(actor)), self.runs.querysets.judged_by(FRONTMATTER)
        for names, why in (
            ([name for name in authors if name in watched], "production was measured on what authors wrote"),
            ([name for name in known if name in watched], "production was measured on it first"),
            (authors, "authors wrote its questions"),
            (known, "it is the oldest"),
        ):
            if names:
                return names[0], why
        return "", ""

    # ------------------------------------------------------------ drift

    @use_case(UPKEEP)
    def follow(self, cause: Actor) -> None:
        """After a build: a job that looks whether the index still answers as it was measured, where it was."""
        if self.watched(SYSTEM):
            self.runs.jobs.start("drift", {}, cause=cause)

    @use_case("see query sets", READS)
    def watched(self, actor: Actor) -> tuple[str, ...]:
        """The query sets that production was measured on, with this configuration or one that served before."""
        served = self._served()
        known = {summary.name for summary in self.runs.querysets.all()}
        return tuple(
            dict.fromkeys(
                run.queryset
                for run in self.runs.all()
                if (run.profile_digest, run.config_digest) in served and run.queryset in known
            )
        )

    def _served(self) -> set[tuple[str, str]]:
        """Everything that is or was in production, as digests of profile and configuration."""
        past = [promotion.production for promotion in self.team_settings.promotions()]
        return {
            (profiles.identity(production.profile), configs.identity(production.config))
            for production in (self.team_settings.production(), *past, self.team_settings.original())
        }

    @use_case("run an evaluation", whole=True)
    def check(self, actor: Actor, measure: str = MEASURE, progress: Progress = no_progress) -> tuple[Drift, ...]:
        """Run production again on every watched query set, and mark losses that are not chance."""
        drifts = tuple(self._drift(name, measure, progress) for name in self.watched(actor))
        self.audit.note(actor, "check for drift", ", ".join(drift.queryset for drift in drifts) or "nothing is watched")
        with reading_as(actor):
            return tuple(map(self._shown, drifts))

    def _shown(self, drift: Drift) -> Drift:
        """Without the questions that whoever reads now may not read."""
        compared = drift.compared and self.runs.shown_comparison(drift.compared)
        now, older = (run and self.runs.shown(run) for run in (drift.now, drift.before))
        return replace(drift, now=now, before=older, compared=compared)

    def _drift(self, queryset: str, measure: str, progress: Progress) -> Drift:
        now, served = self.team_settings.production(), self._served()
        past = [run for run in self.runs.all(queryset) if (run.profile_digest, run.config_digest) in served]
        try:
            run = self.runs.evaluate(queryset, [RunPlan(now.profile, now.config)], past[0].unit, progress)[0]
        except BadInput as error:  # its documents are gone; the other query sets are looked at
            return Drift(queryset, None, None, None, False, f"{queryset}: cannot be measured any more. {error}")
        older = next((other for other in past if other.unit == run.unit and _state(other) != _state(run)), None)
        if older is None:
            return Drift(queryset, run, None, None, False, f"{queryset}: nothing to compare with yet.")
        compared = compare(self.runs.get(older.id), run, measure)
        lost = compared.overall.verdict == "worse"
        return Drift(queryset, run, older, compared, lost, f"{queryset}: {compared.overall.sentence}")

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `drift`."""
        actor = self.runs.jobs.actor(arguments, "run an evaluation")
        return drifted(self.check(actor, arguments.get("measure", MEASURE), progress))


def drifted(drifts: Sequence[Drift]) -> dict[str, list[str]]:
    """A check for drift as plain values."""
    return {
        "lost": [drift.queryset for drift in drifts if drift.lost],
        "unknown": [drift.queryset for drift in drifts if drift.compared is None],
        "sentences": [drift.sentence for drift in drifts],
    }


def _state(run: Run) -> tuple[str, str, str]:
    """What answered: profile, configuration and the documents."""
    return run.profile_digest, run.config_digest, run.commit


def _before(past: Sequence[Promotion]) -> Promotion | None:
    """The promotion before the current one; a rollback undoes all that came after its target."""
    line: tuple[Promotion, ...] = ()
    lines = {"": line}
    for promotion in reversed(past):
        line = lines.get(promotion.evidence["to"], ()) if "rolled_back" in promotion.evidence else (*line, promotion)
        lines[promotion.commit] = line
    if not line:
        raise NotFound("Production is as it was before anything was promoted; there is nothing earlier.")
    return line[-2] if len(line) > 1 else None


def proven(compared: RunComparison) -> bool:
    """Whether a comparison is evidence of being better: on one query set, at one commit, and not by chance."""
    return compared.overall.verdict == "better" and not compared.note


def losses(guards: Sequence[RunComparison]) -> tuple[RunComparison, ...]:
    """The query sets where a candidate is worse, and not by chance."""
    return tuple(guard for guard in guards if guard.overall.verdict == "worse")


def _demand_reason(compared: RunComparison | None, guards: Sequence[RunComparison]) -> None:
    """BadInput unless the evidence speaks for itself."""
    if lost := losses(guards):
        where = " ".join(f"On {guard.after.queryset}: {guard.overall.sentence}" for guard in lost)
        raise BadInput(f"{where} A promotion that loses on a query set needs a reason: add --reason TEXT.")
    if compared is None or not proven(compared):
        verdict = _verdict(compared) if compared else "There is no run that shows that it is better."
        raise BadInput(f"{verdict} A promotion without evidence needs a reason: add --reason TEXT.")


def _verdict(compared: RunComparison) -> str:
    return " ".join(filter(None, (compared.overall.sentence, compared.basis, compared.note)))


def _evidence(compared: RunComparison | None, guards: Sequence[RunComparison], reason: str) -> dict[str, Any]:
    """The evidence as plain values, for the settings file."""
    why: dict[str, Any] = {"reason": reason} if reason else {}
    if compared is None:
        return why
    overall = compared.overall
    return {
        "run": compared.after.id,
        "against": compared.before.id,
        "queryset": compared.after.queryset,
        "commit": compared.after.commit,
        "measure": compared.measure,
        "difference": round(overall.difference.mean, 6),
        "low": round(overall.difference.low, 6),
        "high": round(overall.difference.high, 6),
        "wins": overall.wins,
        "ties": overall.ties,
        "losses": overall.losses,
        "verdict": overall.verdict,
        "p": round(overall.p, 6),
        "questions": overall.queries,
        **({"guards": {guard.after.queryset: guard.overall.sentence for guard in guards}} if guards else {}),
        **({"note": compared.note} if compared.note else {}),
        **why,
    }


def _message(plan: RunPlan, compared: RunComparison | None, guards: Sequence[RunComparison], reason: str) -> str:
    lines = [f"Promote {label(plan.config)} on {plan.profile.name}"]
    if compared is not None:
        lines += ["", f"{compared.measure} on {compared.after.queryset}: {_verdict(compared)}"]
        lines += [f"{guard.measure} on {guard.after.queryset}: {guard.overall.sentence}" for guard in guards]
        lines += [f"Run: {compared.after.id}", f"Against: {compared.before.id}"]
    return "\n".join([*lines, *(["", f"Reason: {reason}"] if reason else [])])
