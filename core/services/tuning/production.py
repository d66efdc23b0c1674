"""What is in production: promoted with evidence, rolled back with one call, watched after every merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import profiles
from core.access import Actor, require
from core.errors import BadInput, NotFound
from core.evaluation.comparisons import MEASURE, RunComparison, compare
from core.evaluation.runs import Run, label
from core.ports import Progress, no_progress
from core.retrieval import config as configs
from core.retrieval.config import PRODUCTION
from core.services.evaluation.runs import RunPlan, Runs
from core.services.people.audit import Audit
from core.services.platform.settings import Production, Promotion, TeamSettings


@dataclass(frozen=True, slots=True)
class Promoted:
    """A promotion that happened: what is in production now, and on what evidence."""

    production: Production
    evidence: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True)
class Drift:
    """Production at this commit against production at the last one measured, on one query set."""

    queryset: str
    now: Run
    before: Run | None
    compared: RunComparison | None
    lost: bool
    sentence: str


class ProductionSettings:
    """Promotes, rolls back, watches."""

    def __init__(self, team_settings: TeamSettings, runs: Runs, audit: Audit) -> None:
        self.team_settings, self.runs, self.audit = team_settings, runs, audit

    def evidence(self, run: str, measure: str = MEASURE, progress: Progress = no_progress) -> RunComparison:
        """What a run tried against what is in production, both on the questions and the generation of now.

        A run of an earlier commit, or of the query set as it was, is made again: it is cheap, and kept.
        """
        candidate = self.runs.get(run)
        now = self.team_settings.production()
        plans = [RunPlan(now.profile, now.config), self._plan_of(candidate)]
        current, again = self.runs.evaluate(candidate.queryset, plans, candidate.unit, progress)
        return compare(current, again, measure)

    def _plan_of(self, run: Run) -> RunPlan:
        found = self.team_settings.profile(run.profile)
        if profiles.identity(found) != run.profile_digest:
            raise BadInput(f"The profile {found.name!r} is not the one of the run any more. Run it again.")
        return RunPlan(found, run.config)

    def promote(
        self,
        actor: Actor,
        run: str = "",
        *,
        profile: str = "",
        config: str = "",
        reason: str = "",
        measure: str = MEASURE,
    ) -> Promoted:
        """Put a run's configuration into production; without evidence that it is better, a reason is needed."""
        require(actor, "change what is in production")
        reason = " ".join(reason.split())[:500]
        seen = self.team_settings.head()
        compared = self.evidence(run, measure) if run else None
        if not run and not config and not profile:
            raise BadInput("Name a run, or a configuration with a reason.")
        if (compared is None or not proven(compared)) and not reason:
            said = _said(compared) if compared else "There is no run that shows that it is better."
            raise BadInput(f"{said} A promotion without evidence needs a reason: add --reason TEXT.")
        plan = self._plan(compared, profile, config)
        evidence = _evidence(compared, reason)
        message = _message(plan, compared, reason)
        made = self.team_settings.promote(plan.profile.name, plan.config, evidence, actor.person, message, seen)
        self._note(actor, "promote", made, message)
        return Promoted(made, evidence, message)

    def _plan(self, compared: RunComparison | None, profile: str, config: str) -> RunPlan:
        if compared is None:
            return self.runs.plan(profile, config)
        found = self._plan_of(compared.after)
        return replace(found, config=replace(found.config, k=self.team_settings.production().config.k))

    def rollback(self, actor: Actor, reason: str = "") -> Promoted:
        """Search again as before the last promotion."""
        require(actor, "change what is in production")
        seen, past = self.team_settings.head(), self.team_settings.promotions()
        if not past:
            raise NotFound("Nothing was promoted yet, so there is nothing to roll back.")
        before = _before(past)
        target = before.production if before else _untouched()
        evidence = {"rolled_back": past[0].commit, "to": before.commit if before else "", "reason": reason}
        message = f"Roll back to {label(target.config)} on {target.profile.name}\n\n{reason}".strip()
        made = self.team_settings.promote(target.profile.name, target.config, evidence, actor.person, message, seen)
        self._note(actor, "roll back production", made, reason)
        return Promoted(made, evidence, message)

    def _note(self, actor: Actor, action: str, made: Production, why: str) -> None:
        self.audit.note(actor, action, f"{label(made.config)} on {made.profile.name}", detail=why)

    def history(self) -> tuple[Promotion, ...]:
        """What was in production, newest first."""
        return self.team_settings.promotions()

    # ------------------------------------------------------------ drift

    def watched(self) -> tuple[str, ...]:
        """Query sets that production was measured on before."""
        now = self.team_settings.production()
        mine = (profiles.identity(now.profile), configs.identity(now.config))
        known = {one.name for one in self.runs.querysets.all()}
        return tuple(
            dict.fromkeys(
                run.queryset
                for run in self.runs.all()
                if (run.profile_digest, run.config_digest) == mine and run.queryset in known
            )
        )

    def drift(self, measure: str = MEASURE, progress: Progress = no_progress) -> tuple[Drift, ...]:
        """Run production again on every watched query set, and mark a loss that is not chance."""
        return tuple(self._drift(name, measure, progress) for name in self.watched())

    def check(self, actor: Actor, measure: str = MEASURE, progress: Progress = no_progress) -> tuple[Drift, ...]:
        """The same for somebody who waits."""
        require(actor, "run an evaluation")
        return self.drift(measure, progress)

    def _drift(self, queryset: str, measure: str, progress: Progress) -> Drift:
        now = self.team_settings.production()
        mine = (profiles.identity(now.profile), configs.identity(now.config))
        past = [one for one in self.runs.all(queryset) if (one.profile_digest, one.config_digest) == mine]
        run = self.runs.evaluate(queryset, [RunPlan(now.profile, now.config)], past[0].unit, progress)[0]
        older = next((one for one in past if one.commit != run.commit and one.unit == run.unit), None)
        if older is None:
            return Drift(queryset, run, None, None, False, f"{queryset}: nothing older to compare with.")
        compared = compare(self.runs.get(older.id), run, measure)
        lost = compared.overall.verdict == "worse"
        return Drift(queryset, run, older, compared, lost, f"{queryset}: {compared.overall.sentence}")

    def work(self, arguments: Mapping[str, Any], progress: Progress) -> Any:
        """The job `drift`."""
        found = self.drift(arguments.get("measure", MEASURE), progress)
        return {"lost": [one.queryset for one in found if one.lost], "sentences": [one.sentence for one in found]}


def _before(past: Sequence[Promotion]) -> Promotion | None:
    """What was there before what is there now; a rollback takes back all that came after its target."""
    line: tuple[Promotion, ...] = ()
    lines = {"": line}
    for one in reversed(past):
        line = lines.get(one.evidence["to"], ()) if "rolled_back" in one.evidence else (*line, one)
        lines[one.commit] = line
    if not line:
        raise NotFound("Production is as it was before anything was promoted; there is nothing earlier.")
    return line[-2] if len(line) > 1 else None


def _untouched() -> Production:
    """What is in production before anybody promotes anything."""
    return Production(profiles.check(profiles.DEFAULT), PRODUCTION)


def proven(compared: RunComparison) -> bool:
    """Whether a comparison is evidence of being better: on one query set, at one commit, and not by chance."""
    return compared.overall.verdict == "better" and not compared.note


def _said(compared: RunComparison) -> str:
    return " ".join(filter(None, (compared.overall.sentence, compared.note)))


def _evidence(compared: RunComparison | None, reason: str) -> dict[str, Any]:
    """What the settings file says about why; plain values only."""
    said: dict[str, Any] = {"reason": reason} if reason else {}
    if compared is None:
        return said
    found = compared.overall
    return {
        "run": compared.after.id,
        "against": compared.before.id,
        "queryset": compared.after.queryset,
        "commit": compared.after.commit,
        "measure": compared.measure,
        "difference": round(found.difference.mean, 6),
        "low": round(found.difference.low, 6),
        "high": round(found.difference.high, 6),
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "verdict": found.verdict,
        **({"note": compared.note} if compared.note else {}),
        **said,
    }


def _message(plan: RunPlan, compared: RunComparison | None, reason: str) -> str:
    lines = [f"Promote {label(plan.config)} on {plan.profile.name}"]
    if compared is not None:
        lines += ["", f"{compared.measure} on {compared.after.queryset}: {_said(compared)}"]
        lines += [f"Run: {compared.after.id}", f"Against: {compared.before.id}"]
    return "\n".join([*lines, *(["", f"Reason: {reason}"] if reason else [])])
