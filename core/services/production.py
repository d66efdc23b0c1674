"""What is in production: promoted with evidence, rolled back with one call, watched after every merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import profiles, strict
from core.access import Actor, require
from core.errors import BadInput, NotFound
from core.evaluation.comparisons import MEASURE, Compared, compare
from core.evaluation.runs import Run, label
from core.ports import Progress, no_progress
from core.retrieval.config import PRODUCTION
from core.services.auditing import Auditing
from core.services.preferences import Preferences, Production, Promotion
from core.services.runs import Plan, Runs


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
    compared: Compared | None
    lost: bool
    sentence: str


class ProductionSettings:
    """Promotes, rolls back, watches."""

    def __init__(self, preferences: Preferences, runs: Runs, auditing: Auditing) -> None:
        self.preferences, self.runs, self.auditing = preferences, runs, auditing

    def evidence(self, run: str, measure: str = MEASURE, progress: Progress = no_progress) -> Compared:
        """A run against what is in production now, on the same questions and at the same commit."""
        candidate = self.runs.get(run)
        now = self.preferences.production()
        current = self.runs.evaluate(candidate.queryset, [Plan(now.profile, now.config)], candidate.unit, progress)[0]
        return compare(current, candidate, measure)

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
        compared = self.evidence(run, measure) if run else None
        if not run and not config and not profile:
            raise BadInput("Name a run, or a configuration with a reason.")
        if (compared is None or compared.overall.verdict != "better") and not reason:
            said = compared.overall.sentence if compared else "There is no run that shows that it is better."
            raise BadInput(f"{said} A promotion without evidence needs a reason: add --reason TEXT.")
        plan = self._plan(compared, profile, config)
        evidence = _evidence(compared, reason)
        message = _message(plan, compared, reason)
        made = self.preferences.promote(plan.profile.name, plan.config, evidence, actor.person, message)
        self._note(actor, "promote", made, message)
        return Promoted(made, evidence, message)

    def _plan(self, compared: Compared | None, profile: str, config: str) -> Plan:
        if compared is None:
            return self.runs.plan(profile, config)
        found = self.preferences.profile(compared.after.profile)
        if profiles.identity(found) != compared.after.profile_digest:
            raise BadInput(f"The profile {found.name!r} is not the one of the run any more. Run it again.")
        return Plan(found, replace(compared.after.config, k=self.preferences.production().config.k))

    def rollback(self, actor: Actor, reason: str = "") -> Promoted:
        """Search again as before the last promotion."""
        require(actor, "change what is in production")
        past = self.preferences.promotions()
        if not past:
            raise NotFound("Nothing was promoted yet, so there is nothing to roll back.")
        before = _before(past)
        target = before.production if before else _untouched()
        evidence = {"rolled_back": past[0].commit, "to": before.commit if before else "", "reason": reason}
        message = f"Roll back to {label(target.config)} on {target.profile.name}\n\n{reason}".strip()
        made = self.preferences.promote(target.profile.name, target.config, evidence, actor.person, message)
        self._note(actor, "roll back production", made, reason)
        return Promoted(made, evidence, message)

    def _note(self, actor: Actor, action: str, made: Production, why: str) -> None:
        self.auditing.note(actor, action, f"{label(made.config)} on {made.profile.name}", detail=why)

    def history(self) -> tuple[Promotion, ...]:
        """What was in production, newest first."""
        return self.preferences.promotions()

    # ------------------------------------------------------------ drift

    def watched(self) -> tuple[str, ...]:
        """Query sets that production was measured on before."""
        now = self.preferences.production()
        mine = (profiles.identity(now.profile), strict.digest(now.config))
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

    def _drift(self, queryset: str, measure: str, progress: Progress) -> Drift:
        now = self.preferences.production()
        mine = (profiles.identity(now.profile), strict.digest(now.config))
        past = [one for one in self.runs.all(queryset) if (one.profile_digest, one.config_digest) == mine]
        run = self.runs.evaluate(queryset, [Plan(now.profile, now.config)], past[0].unit, progress)[0]
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
    """What was there before the newest promotion; after a rollback, what was there before the one it went back to."""
    newest, commits = past[0], [one.commit for one in past]
    if "rolled_back" not in newest.evidence:
        return past[1] if len(past) > 1 else None
    if newest.evidence["to"] not in commits:
        raise NotFound("Production is as it was before anything was promoted; there is nothing earlier.")
    at = commits.index(newest.evidence["to"])
    return past[at + 1] if at + 1 < len(past) else None


def _untouched() -> Production:
    """What is in production before anybody promotes anything."""
    return Production(profiles.check(profiles.DEFAULT), PRODUCTION)


def _evidence(compared: Compared | None, reason: str) -> dict[str, Any]:
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
        **said,
    }


def _message(plan: Plan, compared: Compared | None, reason: str) -> str:
    lines = [f"Promote {label(plan.config)} on {plan.profile.name}"]
    if compared is not None:
        lines += ["", f"{compared.measure} on {compared.after.queryset}: {compared.overall.sentence}"]
        lines += [f"Run: {compared.after.id}", f"Against: {compared.before.id}"]
    return "\n".join([*lines, *(["", f"Reason: {reason}"] if reason else [])])
